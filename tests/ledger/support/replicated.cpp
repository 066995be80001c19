#include "ledger/support/replicated.hpp"

#include <unistd.h>

#include <cerrno>

#include "ledger/support/power_failure.hpp"
#include "merkle_tree.hpp"
#include "replica_tail.hpp"

namespace epsilog::ledger_tests {
namespace fs = std::filesystem;
namespace {

FaultVfs* faults = nullptr;
std::string replica_path;
bool failing_sync = false;
bool passing_over = false;

/// Whether the operation is to fail: errno is set then.
bool fails(const char* kind, bool write_like) {
  if (faults->step(kind, write_like) == SQLITE_OK) return false;
  errno = EIO;
  return true;
}

using Kind = StorageEvent::Kind;

ssize_t counted_write(int file, const void* bytes, std::size_t count, off_t at) {
  if (fails("write", true)) return -1;
  std::string there(count, '\0');
  if (passing_over && ::pread(file, there.data(), count, at) == static_cast<ssize_t>(count) &&
      there == std::string(static_cast<const char*>(bytes), count)) {
    return static_cast<ssize_t>(count);
  }
  const ssize_t written = ::pwrite(file, bytes, count, at);
  if (written > 0) {
    faults->record({.kind = Kind::write,
                    .file = replica_path,
                    .offset = at,
                    .bytes = {static_cast<const char*>(bytes), static_cast<std::size_t>(written)}});
  }
  return written;
}

int counted_sync(int file) {
  if (fails("sync", true) || std::exchange(failing_sync, false)) {
    errno = EIO;
    faults->record({.kind = Kind::failed_sync, .file = replica_path, .offset = 0, .bytes = ""});
    return -1;
  }
  const int result = ::fdatasync(file);
  faults->record({.kind = Kind::sync, .file = replica_path, .offset = 0, .bytes = ""});
  return result;
}

int counted_cut(int file, off_t size) {
  if (fails("truncate", true)) return -1;
  const int result = ::ftruncate(file, size);
  faults->record({.kind = Kind::truncate, .file = replica_path, .offset = size, .bytes = ""});
  return result;
}

int counted_reserve(int, off_t, off_t) {
  return fails("reserve", false) ? -1 : 0;
}

struct Failing {
  FailingReplica::Call call = FailingReplica::Call::write;
  int error = 0;
  bool from_then_on = true;
  bool failed = false;

  bool now(FailingReplica::Call made) {
    if (made != call || (failed && !from_then_on)) return false;
    failed = true;
    errno = error;
    return true;
  }
};
Failing failing;

}  // namespace

ledger::PolicyVersion policy_with_replica(const std::string& name, bool synced) {
  return policy("replica: " + name + "\nsync: " + (synced ? "commit" : "none") + "\n");
}

ledger::Options replicating(const std::string& directory) {
  ledger::Options options;
  options.replica = [directory](const ledger::PolicyVersion& version) -> std::optional<ledger::Replica> {
    std::istringstream text(version.yaml);
    std::string word;
    std::string name;
    text >> word;
    std::getline(text, name);
    if (word != "replica:" || name.size() < 2) return std::nullopt;
    return ledger::Replica{.path = fs::path(directory) / name.substr(1),
                           .sync = version.yaml.find("sync: none") == std::string::npos
                                       ? ledger::Replica::Sync::commit
                                       : ledger::Replica::Sync::none};
  };
  return options;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  fs::permissions(path, fs::perms(0600));
}

void remove_ledger(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", ".lock", ".queue"}) fs::remove(path + suffix);
}

void copy_ledger(const std::string& from, const std::string& to) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::remove(to + suffix);
    if (fs::exists(from + suffix)) fs::copy_file(from + suffix, to + suffix);
  }
}

ReplicatedLedger::ReplicatedLedger(const std::string& name, bool synced)
    : path(directory.path() + "/L"), replica(fs::path(directory.path()) / name) {
  static_cast<void>(ledger::Ledger::create(path, policy_with_replica(name, synced),
                                           {account("clinic", "epsilon", Epsilon::parse_down("1").units())},
                                           replicating(directory.path())));
}

std::string replica_fault(const std::string& replica, ledger::Snapshot snapshot) {
  std::istringstream file(read_file(replica));
  ledger::Frontier tree;
  std::string line;
  bool trailer_last = false;
  std::string fault;
  const auto next = [&] { return static_cast<bool>(std::getline(file, line)) && !file.eof(); };
  const auto trailers = [&] {
    trailer_last = false;
    while (next() && line.starts_with("= ")) {
      trailer_last = true;
      if (ledger::parse_trailer(line) != std::optional(tree.head())) fault = "a trailer is wrong: " + line;
    }
  };
  trailers();
  snapshot.each_line(0, [&](std::string_view expected) {
    if (!fault.empty()) return;
    if (line != expected) {
      fault = "line " + std::to_string(tree.size()) + " is not that of the ledger";
      return;
    }
    tree.append(ledger::leaf_hash(expected), [](unsigned, std::uint64_t, const ledger::Hash&) {});
    line.clear();
    trailers();
  });
  if (!fault.empty()) return fault;
  if (!trailer_last) return "no trailer at the end";
  return line.starts_with("= ") || line.empty() ? "" : "there is more than the ledger has: " + line;
}

ReplicaCallsOf::ReplicaCallsOf(FaultVfs& vfs, std::string replica) : before_(ledger::replica_calls()) {
  faults = &vfs;
  replica_path = std::move(replica);
  ledger::replica_calls() = {counted_write, counted_sync, counted_cut, counted_reserve};
}

ReplicaCallsOf::~ReplicaCallsOf() {
  ledger::replica_calls() = before_;
  faults = nullptr;
  failing_sync = passing_over = false;
}

void ReplicaCallsOf::fail_next_sync() {
  failing_sync = true;
}

void ReplicaCallsOf::pass_over_same_bytes() {
  passing_over = true;
}

FailingReplica::FailingReplica(Call call, int error, bool from_then_on) : before_(ledger::replica_calls()) {
  failing = {.call = call, .error = error, .from_then_on = from_then_on};
  ledger::replica_calls() = {
      [](int file, const void* bytes, std::size_t count, off_t at) -> ssize_t {
        if (failing.now(Call::write)) return -1;
        if (count > 1 && failing.now(Call::short_write)) {
          failing.call = Call::write;  // the rest of it finds no room
          return ::pwrite(file, bytes, count / 2, at);
        }
        return ::pwrite(file, bytes, count, at);
      },
      [](int file) { return failing.now(Call::sync) ? -1 : ::fdatasync(file); },
      [](int file, off_t size) { return failing.now(Call::cut) ? -1 : ::ftruncate(file, size); },
      [](int, off_t, off_t) { return failing.now(Call::reserve) ? -1 : 0; }};
}

FailingReplica::~FailingReplica() {
  ledger::replica_calls() = before_;
}

bool FailingReplica::failed() {
  return failing.failed;
}

}  // namespace epsilog::ledger_tests
