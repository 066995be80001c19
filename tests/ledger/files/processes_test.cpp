// Several processes and threads on one ledger, and processes that are killed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"

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

/// How the reservation of that number ends.
ledger::Outcome end_of(int number) {
  constexpr std::array<ledger::Outcome, 3> kEnds = {ledger::Outcome::granted, ledger::Outcome::voided,
                                                    ledger::Outcome::forfeited};
  return kEnds[static_cast<std::size_t>(number) % kEnds.size()];
}

/// Reserves and resolves, a transaction each, keys "rN" and "eN", and reports the second's commit. What a
/// child killed before left open it resolves first.
[[noreturn]] void reserve_until_killed(const LedgerFixture& fixture, int first, int report) {
  try {
    auto ledger = fixture.open();
    for (int number = first;; ++number) {
      const std::string name = std::to_string(number);
      auto reserving = ledger.begin();
      auto draft = draft_of(ledger::Outcome::reserved);
      draft.key = "r" + name;
      const auto before = reserving.find_by_key("ada", draft.key);
      const std::string id = before ? before->id : record_outcome(reserving, draft, Epsilon::from_units(1));
      static_cast<void>(ledger.commit(std::move(reserving)));
      auto resolving = ledger.begin();
      draft = draft_of(end_of(number), id);
      draft.key = "e" + name;
      record_outcome(resolving, draft, Epsilon::from_units(1));
      static_cast<void>(ledger.commit(std::move(resolving)));
      if (::write(report, &number, sizeof number) != sizeof number) ::_exit(1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    ::_exit(1);
  }
}

using Work = void (*)(const LedgerFixture& fixture, int first, int report);

/// Numbers acknowledged by a child that was killed `life` after it started or, when `once_at_work`, after
/// its first report.
std::vector<int> run_and_kill(Work work, const LedgerFixture& fixture, int first,
                              std::chrono::microseconds life, bool once_at_work) {
  Pipe reports;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) work(fixture, first, reports.write_end);
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
    const std::vector<int> acknowledged =
        run_and_kill(release_until_killed, fixture, next, life, kill % 4 != 0);
    acknowledged_ever += acknowledged.size();
    auto snapshot = fixture.look();
    for (const int number : acknowledged) {
      const auto found = snapshot.find_by_key("ada", std::to_string(number));
      REQUIRE(found);
      CHECK(found->values == std::vector<Rational>{Rational(number)});
    }
    CHECK_FALSE(snapshot.poison_reason());
    const std::int64_t recorded = snapshot.decision_count();
    CHECK(recorded >= static_cast<std::int64_t>(acknowledged_ever));
    CHECK(snapshot.accounts("").at(0).balance.spent == recorded);  // one unit each
    next = static_cast<int>(recorded) + 1;
    acknowledged_ever = static_cast<std::size_t>(recorded);
  }
  CHECK(acknowledged_ever >= 150);
  CHECK(balances_fold(fixture.look()));
}

TEST_CASE("crash: kills between reserving and resolving lose no reservation and resolve none twice",
          "[ledger][crash][lifecycle]") {
  const LedgerFixture fixture;
  std::mt19937_64 random(20'260'301);
  int next = 1;
  int interrupted = 0;
  for (int kill = 0; kill < 100; ++kill) {
    CAPTURE(kill, next);
    const auto life = std::chrono::microseconds(random() % 10'000);
    const std::vector<int> acknowledged =
        run_and_kill(reserve_until_killed, fixture, next, life, kill % 4 != 0);
    auto snapshot = fixture.look();
    for (const int number : acknowledged) {
      const auto end = snapshot.find_by_key("ada", "e" + std::to_string(number));
      REQUIRE(end);
      CHECK(end->draft.outcome == end_of(number));
    }
    CHECK_FALSE(snapshot.poison_reason());
    CHECK(balances_fold(snapshot));
    CHECK(ledger::Inspection(snapshot).lifecycle_faults().empty());
    CHECK(ledger::Inspection(snapshot).completeness_faults().empty());
    const std::int64_t recorded = snapshot.decision_count();  // two a number, perhaps one more
    int open = 0;
    snapshot.each_open("", [&](const ledger::StoredDecision&) { ++open; });
    CHECK(open == recorded % 2);
    interrupted += open;
    next = static_cast<int>(recorded / 2) + 1;
    int spent = 0;
    for (int number = 1; number < next; ++number) spent += end_of(number) == ledger::Outcome::voided ? 0 : 1;
    CHECK(snapshot.accounts("").at(0).balance.spent == spent);
    CHECK(snapshot.accounts("").at(0).balance.reserved == open);
  }
  CHECK(next > 60);
  CHECK(interrupted > 0);
}

TEST_CASE("processes: four that resolve the same reservations resolve each once",
          "[ledger][processes][lifecycle]") {
  const LedgerFixture fixture;
  constexpr int kReservations = 60;
  std::vector<std::string> ids;
  {
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    for (int i = 0; i < kReservations; ++i)
      ids.push_back(
          transaction.reserve(draft_of(ledger::Outcome::reserved), charge_of(Epsilon::from_units(1))));
    static_cast<void>(ledger.commit(std::move(transaction)));
  }
  Pipe reports;
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        auto ledger = fixture.open(120'000);
        std::array<int, 2> ends = {0, 0};  // spent, given back
        for (int i = 0; i < kReservations; ++i) {
          const ledger::Outcome outcome = end_of(i + process);
          auto transaction = ledger.begin();
          try {
            record_outcome(transaction, draft_of(outcome, ids[static_cast<std::size_t>(i)]),
                           Epsilon::from_units(1));
          } catch (const InvalidParameter&) {
            continue;  // another one was first
          }
          static_cast<void>(ledger.commit(std::move(transaction)));
          ++ends[outcome == ledger::Outcome::voided ? 1 : 0];
        }
        ::_exit(::write(reports.write_end, ends.data(), sizeof ends) == sizeof ends ? 0 : 1);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  reports.close_write();
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  std::array<int, 2> total = {0, 0};
  std::array<int, 2> ends = {0, 0};
  while (::read(reports.read_end, ends.data(), sizeof ends) == sizeof ends) {
    total[0] += ends[0];
    total[1] += ends[1];
  }
  CHECK(total[0] + total[1] == kReservations);
  auto snapshot = fixture.look();
  CHECK(snapshot.decision_count() == 2 * kReservations);
  CHECK(snapshot.accounts("").at(0).balance.spent == total[0]);
  CHECK(snapshot.accounts("").at(0).balance.reserved == 0);
  CHECK(balances_fold(snapshot));
  CHECK(ledger::Inspection(snapshot).lifecycle_faults().empty());
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
  CHECK(snapshot.decision_count() == 1'000);
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
  CHECK(balances_fold(ledger.snapshot()));
}

TEST_CASE("threads: of eight that post and void one reservation, one succeeds",
          "[ledger][threads][lifecycle]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  for (int round = 0; round < 10; ++round) {
    auto reserving = ledger.begin();
    const std::string id =
        reserving.reserve(draft_of(ledger::Outcome::reserved), charge_of(Epsilon::from_units(1)));
    static_cast<void>(ledger.commit(std::move(reserving)));
    std::atomic<int> resolved = 0;
    std::atomic<int> rejected = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        try {
          commit_one(ledger,
                     [&](auto& t) { record_outcome(t, draft_of(end_of(i), id), Epsilon::from_units(1)); });
          ++resolved;
        } catch (const InvalidParameter&) {
          ++rejected;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(resolved == 1);
    CHECK(rejected == 7);
  }
  auto snapshot = ledger.snapshot();
  CHECK(balances_fold(snapshot));
  CHECK(snapshot.accounts("").at(0).balance.reserved == 0);
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
          refused_here([&] { static_cast<void>(snapshot.decision_count()); });
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
