// The lock files while they are kept open: what forked children, removed files and lost patience do to a
// lock.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/support/fixture.hpp"
#include "writer_lock.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kLeast = Epsilon::parse_down("1e-12");

void release_once(ledger::Ledger& ledger) {
  static_cast<void>(release(ledger, kLeast, Rational(1)));
}

bool busy(ledger::Ledger& ledger) {
  try {
    static_cast<void>(ledger.begin());
  } catch (const LedgerBusy&) {
    return true;
  }
  return false;
}

std::ptrdiff_t threads_of_this_process() {
  // A sanitizer starts a thread of its own with the first one.
  static const bool started = [] {
    std::thread([] {}).join();
    return true;
  }();
  static_cast<void>(started);
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

/// Waits, for what the system does in its own time.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 5'000; ++i) {
    if (condition()) return true;
    ::usleep(1'000);
  }
  return false;
}

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status;
}

/// Somebody who has the lock file, as another process would.
class Holder {
 public:
  explicit Holder(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    REQUIRE(::flock(file_, LOCK_EX) == 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { ::close(file_); }

 private:
  int file_;
};

/// A child that only sleeps, until it is destroyed.
class Sleeper {
 public:
  Sleeper() : process_(::fork()) {
    REQUIRE(process_ >= 0);
    while (process_ == 0) ::pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_;
};

/// A process that opens the ledger, begins when `begins`, forks a child that only sleeps, and is then killed.
/// Returns the child, which belongs to nobody.
pid_t orphan_of_killed(const LedgerFixture& fixture, bool begins) {
  std::array<int, 2> told{};
  REQUIRE(::pipe2(told.data(), O_CLOEXEC) == 0);
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    try {
      auto ledger = fixture.open();
      release_once(ledger);
      pid_t child = begins ? -1 : ::fork();
      while (child == 0) ::pause();
      const auto transaction = ledger.begin();
      if (begins) child = ::fork();
      while (child == 0) ::pause();
      static_cast<void>(::write(told[1], &child, sizeof child));
      for (;;) ::pause();
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  ::close(told[1]);
  pid_t child = -1;
  REQUIRE(::read(told[0], &child, sizeof child) == sizeof child);
  ::close(told[0]);
  auto other = fixture.open(0);
  CHECK(busy(other));
  REQUIRE(::kill(parent, SIGKILL) == 0);
  REQUIRE(::waitpid(parent, nullptr, 0) == parent);
  return child;
}

}  // namespace

TEST_CASE("turns: the lock files stay open, and no turn that only threads wait for starts a thread",
          "[ledger][lock][threads]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release_once(ledger);
  const auto before = threads_of_this_process();
  CHECK(descriptors_of(status_of(fixture.sibling(".lock"))) == 1);
  CHECK(descriptors_of(status_of(fixture.sibling(".queue"))) == 1);
  std::atomic<int> at_work = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 25; ++n) release_once(ledger);
      --at_work;
    });
  }
  std::ptrdiff_t most = 0;
  while (at_work > 0) most = std::max(most, threads_of_this_process());
  for (std::thread& thread : threads) thread.join();
  CHECK(most <= before + 4);
  CHECK(descriptors_of(status_of(fixture.sibling(".lock"))) == 1);
}

TEST_CASE("turns: no program that is executed gets a lock file", "[ledger][lock]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release_once(ledger);
  for (const char* suffix : {".lock", ".queue"}) {
    const struct stat file = status_of(fixture.sibling(suffix));
    int found = 0;
    for (int descriptor = 0; descriptor < 1'024; ++descriptor) {
      struct stat status {};
      if (::fstat(descriptor, &status) != 0 || status.st_ino != file.st_ino || status.st_dev != file.st_dev)
        continue;
      ++found;
      CHECK((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(found == 1);
  }
}

TEST_CASE("fork: a child keeps no lock of its parent, neither of one that was killed nor of one that lives",
          "[ledger][lock][processes]") {
  const LedgerFixture fixture;
  for (const bool begins : {true, false}) {
    CAPTURE(begins);
    const pid_t child = orphan_of_killed(fixture, begins);
    auto next = fixture.open(2'000);
    CHECK_FALSE(busy(next));
    ::kill(child, SIGKILL);
  }
  auto ledger = fixture.open(0);
  auto other = fixture.open(0);
  auto transaction = std::make_unique<ledger::Transaction>(ledger.begin());
  const Sleeper during;
  CHECK(busy(other));  // the child gave nothing up for us
  transaction.reset();
  CHECK_FALSE(busy(other));
  CHECK_FALSE(busy(ledger));
}

TEST_CASE("fork: no child has a lock file, whatever the threads of its parent are doing",
          "[ledger][lock][processes][threads]") {
  const LedgerFixture fixture;
  const auto files = ledger::locate(fixture.path);
  ledger::ProcessLock(files).take(ledger::deadline_after(std::chrono::seconds(1)));
  const struct stat lock = status_of(files.lock());
  const struct stat queue = status_of(files.queue());
  std::atomic<bool> done = false;
  std::atomic<int> turns = 0;
  std::thread opener([&] {
    for (; !done; ++turns) {
      ledger::ProcessLock turn(files);
      if (!turn.take_until({})) break;
    }
  });
  int with_lock_file = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(descriptors_of(lock) + descriptors_of(queue) == 0 ? 0 : 1);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (status != 0) ++with_lock_file;
  }
  done = true;
  opener.join();
  CHECK(with_lock_file == 0);
  CHECK(turns > 300);
}

TEST_CASE("fork: a child opens the ledger itself while its parent has it open", "[ledger][lock][processes]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release_once(ledger);
  CHECK(in_child([&] {
          auto own = fixture.open();
          release_once(own);
        }) == 0);
  auto transaction = ledger.begin();
  CHECK(in_child([&] {
          auto own = fixture.open(0);
          if (!busy(own)) throw std::runtime_error("the parent has the turn");
        }) == 0);
  record_release(transaction, kLeast, Rational(1));
  CHECK(ledger.commit(std::move(transaction)).front().seq == 3);
}

TEST_CASE("turns: a lock file that was removed or replaced keeps nobody out, and is opened anew",
          "[ledger][lock]") {
  const LedgerFixture fixture;
  auto first = fixture.open(0);
  auto second = fixture.open(0);
  const auto only_one_at_a_time = [&] {
    {
      const auto turn = second.begin();
      CHECK(busy(first));
    }
    const auto turn = first.begin();
    CHECK(busy(second));
  };
  release_once(first);
  fs::remove(fixture.sibling(".lock"));
  only_one_at_a_time();
  fs::remove(fixture.sibling(".queue"));
  only_one_at_a_time();
  for (const char* suffix : {".lock", ".queue"}) {
    std::ofstream(fixture.sibling(".new"));
    fs::rename(fixture.sibling(".new"), fixture.sibling(suffix));
    only_one_at_a_time();
    CHECK(descriptors_of(status_of(fixture.sibling(suffix))) == 2);
  }
  // Who stands in today's turnstile is before whoever has another one open.
  const Holder queue(fixture.sibling(".queue"));
  CHECK_FALSE(first.begin_within({}).has_value());
}

TEST_CASE("turns: who lost patience with a lock file that was removed since waits for the new one",
          "[ledger][lock]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open(50);
  release_once(ledger);
  const Holder old(fixture.sibling(".lock"));
  CHECK(busy(ledger));
  fs::remove(fixture.sibling(".lock"));
  CHECK_FALSE(busy(ledger));
}

TEST_CASE("waiting: one thread stands in line for however many lose patience, and lets the next one in",
          "[ledger][lock]") {
  const LedgerFixture fixture;
  const auto before = threads_of_this_process();
  {
    auto ledger = fixture.open(10);
    release_once(ledger);
    {
      auto at_once = fixture.open(0);
      const Holder holder(fixture.sibling(".lock"));
      CHECK(busy(at_once));
      CHECK(threads_of_this_process() == before);  // who does not wait needs none
      for (int i = 0; i < 5; ++i) CHECK(busy(ledger));
      CHECK_FALSE(ledger.begin_within({}).has_value());
      CHECK(threads_of_this_process() == before + 1);
    }
    // It has the lock now, or will in a moment, and nobody wants it.
    auto other = fixture.open(5'000);
    release_once(other);
    CHECK(comes_true([&] { return !busy(ledger); }));
    release_once(ledger);
    release_once(other);
  }
  CHECK(comes_true([&] { return threads_of_this_process() == before; }));
}

TEST_CASE("waiting: a callback that throws leaves the line", "[ledger][lock]") {
  const LedgerFixture fixture;
  auto ledger = ledger::Ledger::open(
      fixture.path, {.report_wait = [](const std::string&) { throw std::runtime_error("told"); }});
  release_once(ledger);
  {
    const Holder holder(fixture.sibling(".lock"));
    CHECK_THROWS_AS(ledger.begin(), std::runtime_error);
  }
  auto other = fixture.open(5'000);
  release_once(other);
  release_once(ledger);
}
