// What other code of this process, and other programs, may do to a ledger's files while it is open: nothing
// that was told gets lost. Without the locks of held_files.hpp it does, which each test shows of itself.
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "epsilog/ledger/files_replaced.hpp"
#include "held_files.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/outsider.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kLittle = Epsilon::parse_down("0.001");

int no_lock(int, short, off_t, off_t) {
  return 0;
}

int no_such_lock(int, short, off_t, off_t) {
  return EINVAL;
}

/// What the library does about its files, until this is destroyed.
class Instead final {
 public:
  explicit Instead(ledger::HeldFileCalls calls) : before_(ledger::held_file_calls()) {
    ledger::held_file_calls() = calls;
  }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  ~Instead() { ledger::held_file_calls() = before_; }

 private:
  const ledger::HeldFileCalls before_;
};

/// Closing any descriptor of a file drops every POSIX lock that this process has on it.
void read_and_close(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  REQUIRE(::read(file, &byte, 1) == 1);
  ::close(file);
}

bool is_there(const LedgerFixture& fixture, const std::string& key) {
  return fixture.look().find_by_key("ada", key).has_value();
}

/// One way in which the log gets removed under an open ledger.
enum class Removal { second_library, same_library, delayed };

/// Whether a release that was told is in the ledger afterwards.
bool survives(Removal removal) {
  const LedgerFixture fixture;
  Outsider outsider(fixture.path);
  {
    auto ledger = fixture.open();
    release(ledger, kLittle, Rational(1), "before");
    bool removes = false;
    switch (removal) {
      case Removal::second_library:
        look_with_second_library(fixture.path);
        break;
      case Removal::same_library:
        read_and_close(fixture.path);
        outsider.look();
        break;
      case Removal::delayed:
        read_and_close(fixture.path);
        removes = outsider.look_until_removal();
        break;
    }
    REQUIRE(release(ledger, kLittle, Rational(42), "told").values == std::vector<Rational>{42});
    if (removes) outsider.remove_now();
  }
  forget_end(fixture.path);
  CHECK(is_there(fixture, "before"));
  return is_there(fixture, "told");
}

}  // namespace

TEST_CASE("held files: no release that was told is lost to a program that closes the ledger",
          "[ledger][held]") {
  for (const Removal removal : {Removal::second_library, Removal::same_library, Removal::delayed}) {
    CAPTURE(static_cast<int>(removal));
    if (removal == Removal::second_library && !has_second_library()) continue;
    CHECK(survives(removal));
    // The control: without locks, and without looking at the names afterwards, it is.
    const Instead neither({.lock = no_lock, .compare_names = false});
    CHECK_FALSE(survives(removal));
  }
}

TEST_CASE("held files: to compare the names after COMMIT does not find a removal that comes later",
          "[ledger][held]") {
  const Instead no_locks({.lock = no_lock});
  CHECK_FALSE(survives(Removal::delayed));
}

TEST_CASE("held files: a value that was recorded in files without a name is withheld and poisons nothing",
          "[ledger][held]") {
  const LedgerFixture fixture;
  Outsider outsider(fixture.path);
  const Instead no_locks({.lock = no_lock});
  {
    auto ledger = fixture.open();
    release(ledger, kLittle, Rational(1), "before");
    auto transaction = ledger.begin();
    record_release(transaction, kLittle, Rational(42), "under way");
    read_and_close(fixture.path);
    fs::remove(fixture.sibling("-wal"));  // what an outsider does, after the turn began
    CHECK_THROWS_AS(ledger.commit(std::move(transaction)), ledger::FilesReplaced);
    CHECK_THROWS_AS(ledger.begin(), ledger::FilesReplaced);
    CHECK_THROWS_AS(ledger.snapshot(), ledger::FilesReplaced);
    CHECK_FALSE(ledger.poison_reason());
    // Beside it nothing opens the new log with the old index.
    CHECK_THROWS_AS(fixture.open(), ledger::FilesReplaced);
  }
  CHECK_FALSE(fs::exists(fixture.sibling(".poisoned")));
  forget_end(fixture.path);  // the removed log had what it remembers
  auto again = fixture.open();
  CHECK(release(again, kLittle, Rational(7), "under way").values == std::vector<Rational>{7});
  CHECK(balances_fold(again.snapshot()));
}

TEST_CASE("held files: an open ledger whose file was moved away is over, for readers too", "[ledger][held]") {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    CAPTURE(suffix);
    const LedgerFixture fixture;
    {
      auto ledger = fixture.open();
      release(ledger, kLittle, Rational(1), "k");
      CHECK(ledger.snapshot().find_by_key("ada", "k"));
      fs::rename(fixture.sibling(suffix), fixture.sibling(".away"));
      CHECK_THROWS_AS(ledger.snapshot(), ledger::FilesReplaced);
      fs::rename(fixture.sibling(".away"), fixture.sibling(suffix));
      CHECK_THROWS_AS(ledger.begin(), ledger::FilesReplaced);  // for good
    }
    auto again = fixture.open();
    CHECK(again.snapshot().find_by_key("ada", "k"));
    release(again, kLittle, Rational(2), "next");
  }
}

TEST_CASE("held files: a ledger that another program has to itself is busy and not damaged",
          "[ledger][held]") {
  const LedgerFixture fixture;
  Outsider outsider(fixture.path);
  outsider.lock_out();
  CHECK_THROWS_AS(fixture.open(), LedgerBusy);
  outsider.let_in();
  auto ledger = fixture.open();
  release(ledger, kLittle, Rational(1), "k");
}

TEST_CASE("held files: a system without such locks is refused by name", "[ledger][held]") {
  const LedgerFixture fixture;
  const Instead none({.lock = no_such_lock});
  CHECK_THAT(message_thrown<LedgerUnusable>([&] { return fixture.look(); }), says("F_OFD_SETLK"));
  CHECK_THAT(message_thrown<LedgerUnusable>([&] { return fixture.open(); }), says("F_OFD_SETLK"));
}

TEST_CASE(
    "held files: two descriptors are held for each ledger however often it is open, and none when it is not",
    "[ledger][held]") {
  const LedgerFixture fixture;
  CHECK(descriptors_of(fixture.path) == 0);
  {
    auto ledger = fixture.open();
    release(ledger, kLittle, Rational(1), "k");
    const std::size_t alone = descriptors_of(fixture.path);
    const std::size_t index = descriptors_of(fixture.sibling("-shm"));
    CHECK(alone == 2);
    CHECK(index == 2);
    auto view = fixture.look();
    CHECK(descriptors_of(fixture.path) == alone + 1);
    CHECK(descriptors_of(fixture.sibling("-shm")) == index);  // SQLite shares one as well
    for (const std::string& path : {fixture.path, fixture.sibling("-shm")}) {
      struct stat file {};
      REQUIRE(::stat(path.c_str(), &file) == 0);
      for (int descriptor = 0; descriptor < 1'024; ++descriptor) {
        struct stat status {};
        if (::fstat(descriptor, &status) != 0 || status.st_ino != file.st_ino || status.st_dev != file.st_dev)
          continue;
        CHECK((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
      }
    }
  }
  CHECK(descriptors_of(fixture.path) == 0);
  CHECK(descriptors_of(fixture.sibling("-shm")) == 0);
}

TEST_CASE("fork: a child holds nothing of its parent's ledger and drops nothing of it",
          "[ledger][held][processes]") {
  const LedgerFixture fixture;
  Outsider outsider(fixture.path);
  {
    auto ledger = fixture.open();
    release(ledger, kLittle, Rational(1), "before");
    const std::size_t database = descriptors_of(fixture.path);
    const std::size_t index = descriptors_of(fixture.sibling("-shm"));
    CHECK(in_child([&] {
            if (descriptors_of(fixture.path) != database - 1)
              throw std::runtime_error("the database is held");
            if (descriptors_of(fixture.sibling("-shm")) != index - 1)
              throw std::runtime_error("the index is held");
            auto own = fixture.open();  // with locks of its own
            if (descriptors_of(fixture.path) != database + 1)
              throw std::runtime_error("it holds nothing itself");
            release(own, kLittle, Rational(2), "of the child");
          }) == 0);
    read_and_close(fixture.path);
    outsider.look();
    release(ledger, kLittle, Rational(42), "told");
  }
  for (const char* key : {"before", "of the child", "told"}) CHECK(is_there(fixture, key));
}

TEST_CASE("fork: a child that outlives its killed parent keeps nobody out", "[ledger][held][processes]") {
  const LedgerFixture fixture;
  Outsider outsider(fixture.path);
  std::array<int, 2> told{};
  REQUIRE(::pipe2(told.data(), O_CLOEXEC) == 0);
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    try {
      auto ledger = fixture.open();
      release(ledger, kLittle, Rational(1), "k");
      const pid_t child = ::fork();
      const pid_t own = ::getpid();
      if (child == 0)
        static_cast<void>(::write(told[1], &own, sizeof own));  // it has closed its copies by now
      for (;;) ::pause();
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  pid_t child = -1;
  REQUIRE(::read(told[0], &child, sizeof child) == sizeof child);
  CHECK_THROWS(outsider.lock_out());
  REQUIRE(::kill(parent, SIGKILL) == 0);
  REQUIRE(::waitpid(parent, nullptr, 0) == parent);
  CHECK_NOTHROW(outsider.lock_out());
  outsider.let_in();
  ::kill(child, SIGKILL);
  ::close(told[0]);
  ::close(told[1]);
  CHECK(is_there(fixture, "k"));
}

TEST_CASE(
    "held files: 64 threads that open and close a ledger lose nothing beside a program that closes it too",
    "[ledger][held][threads]") {
  constexpr int kThreads = 64;
  constexpr int kTimes = 3;
  const LedgerFixture fixture;
  Outsider outsider(fixture.path);
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  std::atomic<int> at_work = kThreads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        for (int time = 0; time < kTimes; ++time) {
          if (thread % 4 != 0) {
            static_cast<void>(fixture.look().decision_count());
            continue;
          }
          auto ledger = fixture.open();
          release(ledger, kLittle, Rational(thread), std::to_string(thread) + "/" + std::to_string(time));
        }
      } catch (const std::exception& error) {
        UNSCOPED_INFO(error.what());
        ++failed;
      }
      --at_work;
    });
  }
  while (at_work > 0) outsider.look();
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  CHECK(descriptors_of(fixture.path) == 0);
  auto view = fixture.look();
  CHECK(view.decision_count() == kThreads / 4 * kTimes);
  CHECK(balances_fold(view));
}

TEST_CASE("held files: an index that is cut off ends the process at most and loses nothing that was told",
          "[ledger][held][processes]") {
  const LedgerFixture fixture;
  std::array<int, 2> told{};
  REQUIRE(::pipe2(told.data(), O_CLOEXEC) == 0);
  const int status = in_child([&] {
    auto ledger = fixture.open();
    for (int n = 0; n < 4; ++n) {
      if (n == 2 && ::truncate(fixture.sibling("-shm").c_str(), 0) != 0)
        throw std::runtime_error("not cut off");
      const bool recorded = release(ledger, kLittle, Rational(n), std::to_string(n)).values.size() == 1;
      if (recorded && ::write(told[1], &n, sizeof n) != sizeof n) throw std::runtime_error("not told");
    }
  });
  ::close(told[1]);
  CAPTURE(status);
  int count = 0;
  for (int n = 0; ::read(told[0], &n, sizeof n) == sizeof n; ++count)
    CHECK(is_there(fixture, std::to_string(n)));
  ::close(told[0]);
  CHECK(count >= 2);
  auto ledger = fixture.open();
  release(ledger, kLittle, Rational(1), "next");
  CHECK(balances_fold(ledger.snapshot()));
}

TEST_CASE("held files: a closed index, a long reader and a log that begins anew lose nothing that was told",
          "[ledger][held][processes]") {
  const LedgerFixture fixture("1000");
  Outsider outsider(fixture.path);
  std::array<int, 2> go{};
  REQUIRE(::pipe2(go.data(), O_CLOEXEC) == 0);
  const pid_t other = ::fork();  // another process of this program
  REQUIRE(other >= 0);
  if (other == 0) {
    try {
      char what = 0;
      if (::read(go[0], &what, 1) != 1) ::_exit(1);
      auto ledger = ledger::Ledger::open(fixture.path, {.log_limit = 1});
      for (int n = 0; n < 20; ++n) release(ledger, kLittle, Rational(n), "other " + std::to_string(n));
      ::_exit(0);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  {
    auto ledger = fixture.open();
    release(ledger, kLittle, Rational(1), "first");
    auto view = std::make_unique<ledger::Snapshot>(ledger.snapshot());
    read_and_close(fixture.sibling("-shm"));
    REQUIRE(::write(go[1], "g", 1) == 1);
    int status = 0;
    REQUIRE(::waitpid(other, &status, 0) == other);
    CHECK(status == 0);
    outsider.look();
    view.reset();
    release(ledger, kLittle, Rational(42), "last");
  }
  ::close(go[0]);
  ::close(go[1]);
  CHECK(is_there(fixture, "first"));
  CHECK(is_there(fixture, "last"));
  for (int n = 0; n < 20; ++n) CHECK(is_there(fixture, "other " + std::to_string(n)));
  CHECK(balances_fold(fixture.look()));
}

TEST_CASE("held files: whatever is done with a ledger is done while another process holds it too",
          "[ledger][held][processes]") {
  const LedgerFixture fixture;
  const std::string backup = fixture.directory.path() + "/B";
  std::array<int, 2> ready{};
  REQUIRE(::pipe2(ready.data(), O_CLOEXEC) == 0);
  const pid_t holder = ::fork();
  REQUIRE(holder >= 0);
  if (holder == 0) {
    try {
      auto ledger = fixture.open();
      release(ledger, kLittle, Rational(1), "of the holder");
      auto view = ledger.snapshot();
      if (::write(ready[1], "r", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  char what = 0;
  ::close(ready[1]);
  REQUIRE(::read(ready[0], &what, 1) == 1);
  release(fixture.open(), kLittle, Rational(2), "k");
  CHECK(fixture.look().find_by_key("ada", "of the holder"));
  CHECK_THROWS_AS(ledger::Ledger::create(fixture.path, policy(), {}), LedgerUnusable);
  CHECK(ledger::Ledger::backup(fixture.path, backup, {}, {}).decisions == 2);
  CHECK_FALSE(fs::exists(backup + "-wal"));
  CHECK_FALSE(ledger::Ledger::recovery_state(fixture.path).poisoned);
  const std::string restored = fixture.directory.path() + "/R";
  CHECK(
      ledger::Ledger::restore(restored, backup, {.by = "cleo", .why = "a drill", .accept_rollback = true}, {})
          .kept > 0);
  auto ledger = ledger::Ledger::open(restored, {});
  release(ledger, kLittle, Rational(3), "after");
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  ::close(ready[0]);
  auto again = fixture.open();
  release(again, kLittle, Rational(3), "after");
}

TEST_CASE("held files: a copy that is in another journal mode is opened, and is in the ledger's then",
          "[ledger][held]") {
  const LedgerFixture fixture;
  release(fixture.open(), kLittle, Rational(1), "k");
  const std::string copy = fixture.directory.path() + "/copy";
  REQUIRE(run_sql(fixture.path, "VACUUM INTO '" + copy + "'").empty());
  REQUIRE(::chmod(copy.c_str(), 0600) == 0);
  REQUIRE(query_sql(copy, "PRAGMA journal_mode") != "wal");
  auto ledger = ledger::Ledger::open_on_demand(copy, {});
  CHECK(ledger.snapshot().find_by_key("ada", "k"));
  release(ledger, kLittle, Rational(2), "next");
  CHECK(ledger.snapshot().find_by_key("ada", "next"));
}

TEST_CASE("open: who finds no ledger where one was is not told to make a new one", "[ledger][open]") {
  const LedgerFixture fixture;
  const auto told = [&] {
    try {
      static_cast<void>(fixture.look());
    } catch (const LedgerUnusable& error) {
      return std::string(error.what());
    }
    return std::string("opened");
  };
  release(fixture.open(), kLittle, Rational(1), "k");
  fs::remove(fixture.path);
  CHECK(told().find("epsilog init") == std::string::npos);
  CHECK(told().find("epsilog recover --from") != std::string::npos);
  for (const char* suffix : {".lock", ".queue", "-wal", "-shm"}) fs::remove(fixture.sibling(suffix));
  CHECK(told().find("epsilog init") != std::string::npos);
}
