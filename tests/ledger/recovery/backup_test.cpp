// A copy of a ledger that can take its place: what is in it, when it is refused, and under load.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commit_mark.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/replica.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "merkle_tree.hpp"
#include "replica_tail.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kSmall = Epsilon::parse_down("0.00001");

struct Copied : ReplicatedLedger {
  explicit Copied(const std::string& replica_name = "replica")
      : ReplicatedLedger(replica_name), file(elsewhere.path() + "/copy") {
    auto ledger = open();
    release(ledger, kSmall, Rational(1), "1");
  }
  ledger::Backup backup(std::vector<ledger::StoredFault> found = {}, int wait_ms = 30'000) const {
    auto options = replicating(directory.path());
    options.wait = std::chrono::milliseconds(wait_ms);
    return ledger::Ledger::backup(path, file, {.verify = [found](const std::string&) { return found; }},
                                  options);
  }
  [[nodiscard]] std::vector<std::string> files_elsewhere() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(elsewhere.path()))
      names.push_back(entry.path().filename());
    return names;
  }
  void require_copy(const ledger::Backup& made) const {
    CHECK(made.faults.empty());
    REQUIRE(files_elsewhere() == std::vector<std::string>{"copy"});
    struct stat status {};
    REQUIRE(::lstat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    CHECK(made.bytes == status.st_size);
    auto copy = ledger::Ledger::open_read_only(file).snapshot();
    CHECK(copy.ledger_id() == made.ledger_id);
    CHECK(balances_fold(copy));
    ledger::Inspection inspection(copy);
    CHECK(inspection.storage_faults(true).empty());
    CHECK(inspection.facts().decisions.rows == made.decisions);
    CHECK(inspection.facts().last_time == made.last_time);
    std::uint64_t lines = 0;
    ledger::Frontier tree;
    copy.each_line(0, [&](std::string_view line) {
      ++lines;
      tree.append(ledger::leaf_hash(line), [](unsigned, std::uint64_t, const ledger::Hash&) {});
    });
    CHECK(tree.head() == made.tree);
  }

  TemporaryDirectory elsewhere;
  std::string file;
};

/// The locks that this process has on a file, as the kernel lists them.
int locks_on(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  std::ifstream locks("/proc/locks");
  // The kernel hands the list out in pieces, and tells a lock twice if others change between two of them.
  std::set<std::string> found;
  for (std::string line; std::getline(locks, line);) {
    const bool ours = line.find(" " + std::to_string(::getpid()) + " ") != std::string::npos;
    if (ours && line.find(":" + std::to_string(status.st_ino) + " ") != std::string::npos)
      found.insert(line.substr(line.find(' ')));  // without its place in the list
  }
  return static_cast<int>(found.size());
}

}  // namespace

TEST_CASE("backup: it holds what the ledger does, at the size and root that it says", "[ledger][backup]") {
  const Copied fixture;
  const ledger::Backup made = fixture.backup();
  fixture.require_copy(made);
  CHECK(made.replica == ledger::Backup::ReplicaCheck::agrees);
  CHECK(made.tree == fixture.look().tree());
  CHECK(made.decisions == 1);
  auto ledger = fixture.open();
  release(ledger, kSmall, Rational(2), "2");
  CHECK_FALSE(ledger::Ledger::open_read_only(fixture.file).snapshot().find_by_key("ada", "2"));
  const Copied alone("");
  CHECK(alone.backup().replica == ledger::Backup::ReplicaCheck::none);
}

TEST_CASE("backup: nothing is overwritten, nor given the name of a file of the ledger", "[ledger][backup]") {
  Copied fixture;
  const std::string copy = fixture.file;
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".poisoned"}) {
    CAPTURE(suffix);
    write_file(copy + suffix, "mine");
    CHECK_THROWS_AS(fixture.backup(), LedgerUnusable);
    CHECK(read_file(copy + suffix) == "mine");
    fs::remove(copy + suffix);
    CHECK(fixture.files_elsewhere().empty());
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".poisoned", ".lock", ".queue"}) {
    CAPTURE(suffix);
    fixture.file = fixture.path + suffix;
    CHECK_THROWS_AS(fixture.backup(), LedgerUnusable);
  }
  CHECK(ledger::Ledger::open(fixture.path, replicating(fixture.directory.path())).begin().is_open());
  fixture.file = fixture.elsewhere.path() + "/no such/copy";
  CHECK_THROWS_AS(fixture.backup(), LedgerUnusable);
}

TEST_CASE("backup: what does not verify gets no name", "[ledger][backup]") {
  const Copied fixture;
  CHECK(fixture.backup({{"decision 1", "wrong", "is wrong"}}).faults.size() == 1);
  CHECK(fixture.files_elsewhere().empty());
}

TEST_CASE("backup: only what is durable is in it, in every state of the ledger", "[ledger][backup]") {
  const Copied fixture;
  SECTION("poisoned: refused") {
    write_file(fixture.path + ".poisoned", "{}");
    CHECK_THROWS_AS(fixture.backup(), LedgerIo);
    CHECK(fixture.files_elsewhere().empty());
  }
  SECTION("a COMMIT that did not return: made durable first") {
    CHECK(in_child([&] {
            auto options = replicating(fixture.directory.path());
            options.before_commit = [] { ::_exit(kKilled); };
            auto ledger = ledger::Ledger::open(fixture.path, options);
            release(ledger, kSmall, Rational(2), "2");
          }) != 0);
    fixture.require_copy(fixture.backup());
    CHECK(ledger::read_commit_mark(ledger::locate(fixture.path)).state == ledger::CommitMark::State::settled);
  }
  SECTION("the same while somebody else has the turn: busy") {
    const auto ledger = fixture.open();
    auto held = fixture.open();
    const auto turn = held.begin();
    CHECK_THROWS_AS(fixture.backup({}, 0), LedgerBusy);
    CHECK(fixture.files_elsewhere().empty());
  }
  SECTION("the replica lacks lines: it gets them first") {
    {
      const FailingReplica failing(FailingReplica::Call::sync, EIO, false);
      auto ledger = fixture.open();
      auto transaction = ledger.begin();
      record_release(transaction, kSmall, Rational(2), "2");
      CHECK_THROWS_AS(ledger.commit(std::move(transaction)), ledger::ReplicaBehind);
    }
    fixture.require_copy(fixture.backup());
    CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  }
  SECTION("the replica cannot be used: it is made, and says so") {
    fs::rename(fixture.replica, fixture.replica + "-away");
    const ledger::Backup made = fixture.backup();
    CHECK(made.replica == ledger::Backup::ReplicaCheck::unusable);
    fixture.require_copy(made);
  }
  SECTION("the replica holds more: refused, for the ledger lacks what was acknowledged") {
    const std::string old = fixture.elsewhere.path() + "-old";
    copy_ledger(fixture.path, old);
    release(fixture.open(), kSmall, Rational(2), "2");
    copy_ledger(old, fixture.path);
    CHECK_THROWS_AS(fixture.backup(), ledger::LedgerRolledBack);
    CHECK(fixture.files_elsewhere().empty());
  }
  SECTION("made of lines: its lines are the backup") {
    const std::vector<std::string> lines = lines_of(fixture.look());
    remove_ledger(fixture.path);
    (void)ledger::Ledger::import_lines(fixture.path, each_of(lines));
    CHECK_THROWS_AS(fixture.backup(), LedgerUnusable);
  }
}

TEST_CASE("backup: the locks of this process on the ledger stay", "[ledger][backup][lock]") {
  const Copied fixture;
  auto ledger = fixture.open();
  const auto view = ledger.snapshot();
  const int on_database = locks_on(fixture.path);
  const int on_index = locks_on(fixture.path + "-shm");
  CHECK(on_database > 0);
  CHECK(on_index > 0);
  fixture.require_copy(fixture.backup());
  CHECK(locks_on(fixture.path) == on_database);
  CHECK(locks_on(fixture.path + "-shm") == on_index);
}

TEST_CASE(
    "backup: while two processes write it holds all that was acknowledged, as one of their commits left it",
    "[ledger][backup][processes]") {
  const Copied fixture;
  const auto told_file = [&](int writer) {
    return fixture.directory.path() + "/told" + std::to_string(writer);
  };
  const std::string stop = fixture.directory.path() + "/stop";
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 2; ++writer) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        auto ledger = fixture.open();
        std::ofstream told(told_file(writer), std::ios::binary);
        for (int i = 0; !fs::exists(stop) && i < 20'000; ++i) {
          const std::string key = std::to_string(writer) + "/" + std::to_string(i);
          auto transaction = ledger.begin();
          for (int member = 0; member <= i % 3; ++member) {
            record_release(transaction, kSmall, Rational(i), member == 0 ? key : "");
          }
          (void)ledger.commit(std::move(transaction));
          told << key << '\n' << std::flush;
        }
        ::_exit(0);
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    writers.push_back(child);
  }
  const auto told = [&] {
    std::vector<std::string> keys;
    for (int writer = 0; writer < 2; ++writer) {
      std::istringstream lines(fs::exists(told_file(writer)) ? read_file(told_file(writer)) : "");
      for (std::string line; std::getline(lines, line) && !lines.eof();) keys.push_back(line);
    }
    return keys;
  };
  while (told().size() < 20) ::usleep(1'000);
  std::vector<ledger::TreeHead> stood;
  std::size_t before_last = 0;
  for (int round = 0; round < 6; ++round) {
    const std::vector<std::string> acknowledged = told();
    const ledger::Backup made = fixture.backup();
    {
      auto copy = ledger::Ledger::open_read_only(fixture.file).snapshot();
      for (const std::string& key : acknowledged) REQUIRE(copy.find_by_key("ada", key));
    }
    before_last = acknowledged.size();
    stood.push_back(made.tree);
    fixture.require_copy(made);
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(fixture.file + suffix);
  }
  write_file(stop, "");
  for (const pid_t writer : writers) {
    int status = 0;
    REQUIRE(::waitpid(writer, &status, 0) == writer);
    CHECK(status == 0);
  }
  CHECK(told().size() > before_last);  // they went on meanwhile
  CHECK(stood.front().size < stood.back().size);
  // Every commit left a trailer in the replica.
  std::set<std::string> trailers;
  std::istringstream lines(read_file(fixture.replica));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("= ")) trailers.insert(line + "\n");
  }
  for (const ledger::TreeHead& tree : stood) {
    CAPTURE(tree.size);
    CHECK(trailers.count(ledger::trailer_text(tree)) == 1);
  }
}

TEST_CASE("power failure: what a backup holds is on the disk before it has its name",
          "[ledger][backup][durability]") {
  FaultVfs vfs;
  const Copied fixture;
  vfs.start_recording();
  const ledger::Backup made = fixture.backup();
  const std::vector<StorageEvent> events = vfs.events();
  const std::string bytes = read_file(fixture.file);
  CHECK(made.bytes == static_cast<std::int64_t>(bytes.size()));
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) {
    int found = 0;
    for (const auto& [name, content] : image_after_power_failure({}, events, events.size(), random)) {
      const std::string wal = "-wal";
      const bool database = name.starts_with(fixture.file + ".creating-") && !name.ends_with(wal);
      if (name.ends_with("-journal") || !database) continue;
      ++found;
      CHECK((content == bytes));
    }
    CHECK(found == 1);
  }
}

TEST_CASE("kill: at any operation of a backup there is a whole one or none, and another can be made",
          "[ledger][backup][crash]") {
  int killed = 0;
  for (std::int64_t at = 1;; at += at < 5 ? 1 : 31) {
    const Copied fixture;
    const int status = in_child([&] {
      FaultVfs vfs;
      vfs.die_at(at);
      static_cast<void>(fixture.backup());
    });
    CAPTURE(at);
    if (status != 0) ++killed;
    const bool there = fs::exists(fixture.file);
    if (status == 0) CHECK(there);
    for (const std::string& name : fixture.files_elsewhere()) {
      const bool expected = name == "copy" || name.starts_with("copy.creating-");
      CHECK(expected);
      if (name != "copy") fs::remove(fixture.elsewhere.path() + "/" + name);
    }
    if (!there) fixture.require_copy(fixture.backup());
    CHECK(ledger::Ledger::open_read_only(fixture.file).snapshot().find_by_key("ada", "1")->values ==
          std::vector<Rational>{1});
    auto ledger = fixture.open();
    release(ledger, kSmall, Rational(2), "2");
    if (status == 0) break;
  }
  CHECK(killed >= 6);
}

TEST_CASE("faults: at any operation of a backup there is a whole one or none", "[ledger][backup][fault]") {
  int failed = 0;
  for (const int code : {SQLITE_IOERR, SQLITE_FULL}) {
    for (std::int64_t at = 1;; at += at < 5 ? 1 : 31) {
      const Copied fixture;
      bool reached = false;
      bool threw = false;
      {
        FaultVfs vfs;
        vfs.fail_at(at, code, true);
        try {
          static_cast<void>(fixture.backup());
        } catch (const Error&) {
          threw = true;
        }
        reached = vfs.failed();
      }
      CAPTURE(at, code, threw);
      if (reached) ++failed;
      CHECK(fs::exists(fixture.file) == !threw);
      if (threw) CHECK(fixture.files_elsewhere().empty());
      if (!reached) break;
    }
  }
  CHECK(failed >= 6);
}
