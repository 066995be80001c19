// Several processes and threads on one ledger, and processes that are killed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "epsilog/accounting/errors.hpp"
#include "ledger/support/fixture.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  void close_read() {
    if (read_end >= 0) ::close(read_end);
    read_end = -1;
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  int read_end = -1;
  int write_end = -1;
};

/// Releases keys from `first` on and reports each only after its commit returned.
[[noreturn]] void release_until_killed(const LedgerFixture& fixture, int first, int report) {
  try {
    auto ledger = fixture.open();
    for (int number = first;; ++number) {
      release(ledger, Epsilon::from_units(1), Rational(number), std::to_string(number));
      if (::write(report, &number, sizeof number) != sizeof number) ::_exit(1);
    }
  } catch (const std::exception&) {
    ::_exit(1);
  }
}

/// Keys acknowledged by a child that was killed `life` after it started or, when `once_at_work`, after
/// its first commit.
std::vector<int> run_and_kill(const LedgerFixture& fixture, int first, std::chrono::microseconds life,
                              bool once_at_work) {
  Pipe reports;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) release_until_killed(fixture, first, reports.write_end);
  reports.close_write();
  if (once_at_work) {
    pollfd first_report{.fd = reports.read_end, .events = POLLIN, .revents = 0};
    REQUIRE(::poll(&first_report, 1, 60'000) == 1);
  }
  std::this_thread::sleep_for(life);
  REQUIRE(::kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  std::vector<int> acknowledged;
  int number = 0;
  while (::read(reports.read_end, &number, sizeof number) == sizeof number) acknowledged.push_back(number);
  return acknowledged;
}

}  // namespace

TEST_CASE("crash: two hundred kills lose no acknowledged release and charge nothing twice",
          "[ledger][crash]") {
  const LedgerFixture fixture;
  std::mt19937_64 random(20'260'101);
  std::size_t acknowledged_ever = 0;
  int next = 1;
  for (int kill = 0; kill < 200; ++kill) {
    const auto life = std::chrono::microseconds(random() % 10'000);
    const std::vector<int> acknowledged = run_and_kill(fixture, next, life, kill % 4 != 0);
    acknowledged_ever += acknowledged.size();
    auto snapshot = fixture.look();
    for (const int number : acknowledged) {
      const auto found = snapshot.find_key("ada", std::to_string(number));
      REQUIRE(found);
      CHECK(found->values == std::vector<Rational>{Rational(number)});
    }
    CHECK_FALSE(snapshot.poisoned());
    const std::int64_t recorded = snapshot.decisions();
    CHECK(recorded >= static_cast<std::int64_t>(acknowledged_ever));
    CHECK(snapshot.accounts("").at(0).balance.spent == recorded);  // one unit each
    next = static_cast<int>(recorded) + 1;
    acknowledged_ever = static_cast<std::size_t>(recorded);
  }
  CHECK(acknowledged_ever >= 150);
  auto snapshot = fixture.look();
  CHECK(balances_fold(snapshot));
}

TEST_CASE("processes: eight with 200 releases each share room for exactly 1,000, and all finish",
          "[ledger][processes]") {
  const LedgerFixture fixture("0.000000001");  // 1,000 units
  Pipe reports;
  Pipe start;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      start.close_write();
      char go = 0;
      static_cast<void>(::read(start.read_end, &go, 1));  // ends when the parent lets everybody go
      try {
        auto ledger = fixture.open(120'000);
        int grants = 0;
        for (int n = 0; n < 200; ++n)
          grants += release_if_it_fits(ledger, Epsilon::from_units(1), Rational(n)) ? 1 : 0;
        ::_exit(::write(reports.write_end, &grants, sizeof grants) == sizeof grants ? 0 : 1);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  start.close_read();
  start.close_write();
  reports.close_write();
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  int total = 0;
  int grants = 0;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(::read(reports.read_end, &grants, sizeof grants) == sizeof grants);
    CHECK(grants > 0);
    total += grants;
  }
  CHECK(total == 1'000);
  auto snapshot = fixture.look();
  CHECK(snapshot.decisions() == 1'000);
  CHECK(snapshot.accounts("").at(0).balance.remaining() == 0);
  CHECK(balances_fold(snapshot));
}

TEST_CASE("threads: eight on one ledger take turns and overspend nothing", "[ledger][threads]") {
  const LedgerFixture fixture("0.0000000001");  // 100 units
  auto ledger = fixture.open();
  std::atomic<int> grants = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        for (int n = 0; n < 20; ++n) {
          if (release_if_it_fits(ledger, Epsilon::from_units(1), Rational(n))) ++grants;
          if (ledger.snapshot().accounts("clinic").at(0).balance.remaining() < 0) ++failures;
        }
      } catch (const std::exception&) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(grants == 100);
  auto snapshot = ledger.snapshot();
  CHECK(balances_fold(snapshot));
}

TEST_CASE("fork: a ledger opened before it is refused in the child and unharmed in the parent",
          "[ledger][processes]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto snapshot = ledger.snapshot();
  auto transaction = ledger.begin();
  CHECK(in_child([&] {
          const auto refused_here = [](const auto& call) {
            try {
              call();
            } catch (const InvalidParameter&) {
              return;
            }
            throw std::runtime_error("not refused");
          };
          refused_here([&] { static_cast<void>(ledger.begin()); });
          refused_here([&] { static_cast<void>(ledger.snapshot()); });
          refused_here([&] { static_cast<void>(snapshot.decisions()); });
          refused_here([&] { static_cast<void>(transaction.accounts("clinic")); });
          const auto abandoned =
              std::move(transaction);  // destroyed here: must not release the parent's lock
          static_cast<void>(abandoned);
        }) == 0);
  auto other = fixture.open(0);
  CHECK_THROWS_AS(other.begin(), LedgerBusy);  // the parent still holds its turn
  record_release(transaction, Epsilon::from_units(5), Rational(1));
  CHECK(ledger.commit(std::move(transaction)).size() == 1);
}
