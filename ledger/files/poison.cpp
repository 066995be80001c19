#include "poison.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::size_t kMarkerMax = 65'536;

bool write_all(const Descriptor& descriptor, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

bool write_marker(const LedgerFiles& files, const Descriptor& marker, const PoisonMarker& says) {
  const nlohmann::ordered_json json = {
      {"reason", says.reason}, {"boot_id", says.boot_id}, {"time", says.time}};
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  share_as_database(files, marker);
  const bool written = write_all(marker, text) && ::fsync(marker.get()) == 0;
  sync_directory(files.directory);
  return written;
}

Descriptor new_marker(const LedgerFiles& files) {
  return Descriptor(
      ::open(files.poison_marker().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/// A marker that an earlier boot left would let a recovery trust the page cache of this one. Its name stays
/// whatever happens, and what has that name poisons.
bool renew_marker(const LedgerFiles& files, const std::string& reason) {
  const std::optional<PoisonMarker> earlier = read_poison(files);
  if (!earlier || earlier->boot_id == current_boot_id()) return true;
  const Descriptor marker(
      ::open(files.poison_marker().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!marker.valid()) return false;
  return write_marker(files, marker,
                      {.reason = reason + "; before that: " + poison_text(*earlier),
                       .boot_id = current_boot_id(),
                       .time = time_text(wall_clock_ms())});
}

}  // namespace

const std::string& current_boot_id() {
  static const std::string kBoot = [] {
    std::string id = read_small_file("/proc/sys/kernel/random/boot_id", 64).value_or("");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id.empty() ? std::string("unknown") : id;
  }();
  return kBoot;
}

std::optional<PoisonMarker> read_poison(const LedgerFiles& files) {
  return read_poison(files, [&files] { return read_commit_mark(files); });
}

std::optional<PoisonMarker> read_poison(const LedgerFiles& files,
                                        accounting::CallbackRef<CommitMark()> mark_left) {
  struct stat status {};
  if (::lstat(files.poison_marker().c_str(), &status) != 0) {
    const int error = errno;
    if (error != ENOENT) return PoisonMarker{system_message("the marker cannot be examined", error), "", ""};
    CommitMark mark = mark_left();
    if (mark.state != CommitMark::State::poisoned) return std::nullopt;
    return PoisonMarker{std::move(mark.reason), std::move(mark.boot_id), std::move(mark.time)};
  }
  if (!S_ISREG(status.st_mode)) {
    return PoisonMarker{"what lies at " + files.poison_marker() + " is not a regular file", "", ""};
  }
  const auto json =
      nlohmann::json::parse(read_small_file(files.poison_marker(), kMarkerMax).value_or(""), nullptr,
                            /*allow_exceptions=*/false);
  const auto field = [&](const char* name, const char* otherwise) -> std::string {
    if (!json.is_object() || !json.contains(name) || !json[name].is_string()) return otherwise;
    return json[name].get<std::string>();
  };
  return PoisonMarker{.reason = field("reason", "the marker cannot be read"),
                      .boot_id = field("boot_id", ""),
                      .time = field("time", "")};
}

std::string poison_text(const PoisonMarker& marker) {
  const std::string reason = marker.reason.empty() ? "nobody knows why" : marker.reason;
  return marker.time.empty() ? reason : marker.time + " " + reason;
}

bool write_poison(const LedgerFiles& files, const std::string& reason) noexcept {
  try {
    const Descriptor marker = new_marker(files);
    if (!marker.valid()) return errno == EEXIST && renew_marker(files, reason);
    // The name alone poisons, so a failure to write the explanation is no failure to poison.
    return write_marker(files, marker,
                        {.reason = reason, .boot_id = current_boot_id(), .time = time_text(wall_clock_ms())});
  } catch (const std::exception&) {
    return false;
  }
}

void write_poison(int lock_file, const std::string& reason) noexcept {
  try {
    static_cast<void>(write_commit_mark(lock_file, {.state = CommitMark::State::poisoned,
                                                    .boot_id = current_boot_id(),
                                                    .time = time_text(wall_clock_ms()),
                                                    .reason = reason}));
    static_cast<void>(::fsync(lock_file));
  } catch (const std::exception&) {
    return;
  }
}

void copy_poison_to_marker(const LedgerFiles& files, int lock_file) {
  const CommitMark mark = read_commit_mark(lock_file);
  if (mark.state != CommitMark::State::poisoned || exists(files.poison_marker())) return;
  const Descriptor marker = new_marker(files);
  if (!marker.valid() || !write_marker(files, marker, {mark.reason, mark.boot_id, mark.time})) {
    throw LedgerIo(system_message("cannot write " + files.poison_marker(), errno));
  }
}

void remove_poison(const LedgerFiles& files, int lock_file) {
  if (::unlink(files.poison_marker().c_str()) != 0 && errno != ENOENT) {
    throw LedgerIo(system_message("cannot remove " + files.poison_marker(), errno));
  }
  sync_directory(files.directory);
  if (read_commit_mark(lock_file).state != CommitMark::State::poisoned) return;
  const int error = write_commit_mark(lock_file, {.boot_id = current_boot_id()});
  if (error != 0) throw LedgerIo(system_message("cannot write " + files.lock(), error));
}

}  // namespace epsilog::ledger
