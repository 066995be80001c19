// What a failing storage does to a charge: either it is acknowledged and there, or nothing is
// acknowledged and the ledger says whether a retry may help.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "connection.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// What happened to one release under faults.
struct Attempt {
  bool acknowledged = false;
  bool busy = false;  ///< LedgerBusy: nothing happened
  bool io = false;    ///< LedgerIo: unknown, poisoned
};

Attempt attempt_release(ledger::Ledger& ledger, const std::string& key) {
  Attempt attempt;
  try {
    release(ledger, kTenth, Rational(42), key);
    attempt.acknowledged = true;
  } catch (const LedgerBusy&) {
    attempt.busy = true;
  } catch (const LedgerIo&) {
    attempt.io = true;
  }
  return attempt;
}

void check_after_fault(const LedgerFixture& fixture, const Attempt& attempt) {
  auto snapshot = fixture.look();
  CHECK(balances_fold(snapshot));
  const auto found = snapshot.find_by_key("ada", "under fault");
  if (attempt.acknowledged) CHECK(found);
  if (attempt.busy) CHECK_FALSE(found);
  CHECK(snapshot.poison_reason().has_value() >= attempt.io);
  // Once poisoned, what the disk holds is unknown, of earlier decisions too.
  const auto before = snapshot.find_by_key("ada", "before");
  CHECK(before->durable == !snapshot.poison_reason());
  CHECK(before->values == (before->durable ? std::vector<Rational>{1} : std::vector<Rational>{}));
}

/// Fails every operation of one release in turn; returns how many points there were.
int fail_every_operation(int code, bool from_then_on) {
  int points = 0;
  for (std::int64_t nth = 1;; ++nth) {
    CAPTURE(nth, code, from_then_on);
    FaultVfs vfs;
    const LedgerFixture fixture;
    Attempt attempt;
    {
      auto ledger = fixture.open();
      release(ledger, kTenth, Rational(1), "before");
      vfs.fail_at(nth, code, from_then_on);
      attempt = attempt_release(ledger, "under fault");
      if (!vfs.failed()) return points;
      if (code == SQLITE_FULL) CHECK_FALSE(attempt.io);
      if (attempt.io) {
        CHECK(ledger.poison_reason());
        CHECK_THROWS_AS(ledger.begin(), LedgerIo);
      }
      vfs.stop_failing();
      if (!attempt.io && !ledger.poison_reason()) {
        CHECK(release_if_it_fits(ledger, kTenth, Rational(42),
                                 "under fault"));  // the retry replays or succeeds
        attempt.busy = false;
        attempt.acknowledged = true;
      }
    }
    check_after_fault(fixture, attempt);
    ++points;
  }
}

/// The same while a reservation is made or resolved: it is recorded as acknowledged, or not at all and can
/// be recorded afterwards, and the balances say which.
int fail_every_operation_of(ledger::Outcome outcome, int code) {
  int points = 0;
  for (std::int64_t nth = 1;; ++nth) {
    CAPTURE(nth, code, ledger::outcome_name(outcome));
    FaultVfs vfs;
    const LedgerFixture fixture;
    auto ledger = fixture.open();
    auto opening = ledger.begin();
    auto draft = draft_of(outcome);
    if (outcome != ledger::Outcome::reserved)
      draft.parent = record_outcome(opening, draft_of(ledger::Outcome::reserved), kTenth);
    draft.key = "under fault";
    static_cast<void>(ledger.commit(std::move(opening)));
    vfs.fail_at(nth, code, false);
    Attempt attempt;
    try {
      commit_one(ledger, [&](auto& t) { record_outcome(t, draft, kTenth); });
      attempt.acknowledged = true;
    } catch (const LedgerBusy&) {
      attempt.busy = true;
    } catch (const LedgerIo&) {
      attempt.io = true;
    }
    if (!vfs.failed()) return points;
    ++points;
    vfs.stop_failing();
    auto snapshot = fixture.look();
    CHECK(balances_fold(snapshot));
    const bool there = snapshot.find_by_key("ada", "under fault").has_value();
    if (attempt.acknowledged) CHECK(there);
    if (attempt.busy) CHECK_FALSE(there);
    CHECK(snapshot.poison_reason().has_value() >= attempt.io);
    if (code == SQLITE_FULL) CHECK_FALSE(attempt.io);
    if (attempt.busy && !snapshot.poison_reason()) {
      auto again = ledger.begin();
      record_outcome(again, draft, kTenth);
      CHECK(ledger.commit(std::move(again)).size() == 1);
    }
  }
}

}  // namespace

TEST_CASE("faults: an I/O error that SQLite takes for something else is one", "[ledger][faults]") {
  using ledger::FailureKind;
  CHECK(ledger::kind_of(SQLITE_READONLY, EIO) == FailureKind::transient);
  CHECK(ledger::kind_of(SQLITE_CANTOPEN, EIO) == FailureKind::transient);
  CHECK(ledger::kind_of(SQLITE_READONLY, EACCES) == FailureKind::forbidden);
  CHECK(ledger::kind_of(SQLITE_CORRUPT, EIO) == FailureKind::transient);
  CHECK(ledger::kind_of(SQLITE_CORRUPT, 0) == FailureKind::storage);
  const auto thrown = [](int code, int error) {
    ledger::throw_translated(ledger::StorageFailure(code, "failed", error), "reading");
  };
  CHECK_THROWS_AS(thrown(SQLITE_CORRUPT, EIO), LedgerBusy);
  CHECK_THROWS_AS(thrown(SQLITE_CORRUPT, 0), LedgerCorrupt);
  CHECK_THROWS_AS(thrown(SQLITE_READONLY, EIO), LedgerBusy);
}

TEST_CASE(
    "faults: reserving, posting, voiding and forfeiting are whole or nothing at any operation that fails",
    "[ledger][fault][lifecycle]") {
  for (const auto outcome : {ledger::Outcome::reserved, ledger::Outcome::granted, ledger::Outcome::voided,
                             ledger::Outcome::forfeited}) {
    CHECK(fail_every_operation_of(outcome, SQLITE_IOERR) >= 5);
    CHECK(fail_every_operation_of(outcome, SQLITE_FULL) >= 5);
  }
}

TEST_CASE("faults: an I/O error at any operation of a charge acknowledges nothing false", "[ledger][fault]") {
  CHECK(fail_every_operation(SQLITE_IOERR, false) >= 8);
  CHECK(fail_every_operation(SQLITE_IOERR, true) >= 8);
}

TEST_CASE("faults: a full disk at any operation of a charge is busy, never poison", "[ledger][fault]") {
  CHECK(fail_every_operation(SQLITE_FULL, false) >= 8);
  CHECK(fail_every_operation(SQLITE_FULL, true) >= 8);
}

TEST_CASE("faults: a full disk leaves every table unchanged and goes away with its cause",
          "[ledger][fault]") {
  FaultVfs vfs;
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  vfs.fail_kind("write", SQLITE_FULL);
  CHECK(attempt_release(ledger, "k").busy);
  CHECK(attempt_release(ledger, "k").busy);
  CHECK(ledger.snapshot().decision_count() == 0);
  vfs.stop_failing();
  CHECK(attempt_release(ledger, "k").acknowledged);
}

TEST_CASE("faults: a failed sync poisons the ledger before the next writer gets in",
          "[ledger][fault][poison]") {
  FaultVfs vfs;
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto other = fixture.open();
  vfs.fail_kind("sync", SQLITE_IOERR);
  CHECK(attempt_release(ledger, "k").io);
  vfs.stop_failing();
  CHECK(fs::exists(fixture.sibling(".poisoned")));
  CHECK_THROWS_AS(other.begin(), LedgerIo);
  auto later = fixture.open();
  CHECK_THROWS_AS(later.begin(), LedgerIo);
  auto snapshot = fixture.look();  // readers go on, and can warn
  CHECK(snapshot.poison_reason());
  CHECK(snapshot.accounts("clinic").size() == 1);
}

TEST_CASE("faults: a poisoned ledger is recovered only after a reboot and with a sound file",
          "[ledger][fault][poison]") {
  const LedgerFixture fixture;
  CHECK_FALSE(ledger::Ledger::recovery_state(fixture.path).poisoned);
  CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, {.by = "cleo"}), LedgerIo);
  REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "fsync failed"));
  REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "a later failure"));  // the first cause stays

  const auto now = ledger::Ledger::recovery_state(fixture.path);
  CHECK(now.poisoned);
  CHECK(now.reason == "fsync failed");
  CHECK(now.poisoned_at.size() == 24);
  CHECK_FALSE(now.rebooted);
  CHECK(now.advice.find("reboot") != std::string::npos);
  CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, {.by = "cleo"}), LedgerIo);
  CHECK(fs::exists(fixture.sibling(".poisoned")));

  const auto later = ledger::Ledger::recovery_state(fixture.path, "another-boot");
  CHECK(later.rebooted);
  CHECK(later.problems.empty());
  const int lock = ::open(fixture.sibling(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  const auto at_once = ledger::Options{.wait = std::chrono::milliseconds(0)};
  CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, "another-boot", {.by = "cleo"}, at_once),
                  LedgerBusy);
  std::thread holder([lock] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::close(lock);
  });
  ledger::Ledger::clear_poison(fixture.path, "another-boot", {.by = "cleo"},
                               {.wait = std::chrono::seconds(60)});
  holder.join();
  CHECK_FALSE(fs::exists(fixture.sibling(".poisoned")));
  auto ledger = fixture.open();
  CHECK(attempt_release(ledger, "k").acknowledged);
}

TEST_CASE("faults: a marker that says nothing still poisons, and no reboot is taken for granted",
          "[ledger][fault][poison]") {
  const LedgerFixture fixture;
  for (const char* text : {"", "{", "[]", "{\"reason\":1}", "{\"reason\":\"x\",\"boot_id\":\"unknown\"}"}) {
    CAPTURE(text);
    std::ofstream(fixture.sibling(".poisoned")) << text;
    auto ledger = fixture.open();
    CHECK_THROWS_AS(ledger.begin(), LedgerIo);
    CHECK_FALSE(ledger::Ledger::recovery_state(fixture.path, "another-boot").rebooted);
    CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, "another-boot", {.by = "cleo"}), LedgerIo);
    fs::remove(fixture.sibling(".poisoned"));
  }
}

TEST_CASE("faults: an I/O error or lack of memory at any operation of opening is no damage and no refusal",
          "[ledger][fault][open]") {
  for (const int code : {SQLITE_IOERR, SQLITE_NOMEM}) {
    for (const bool read_only : {false, true}) {
      int points = 0;
      for (std::int64_t nth = 1;; ++nth) {
        CAPTURE(code, read_only, nth);
        FaultVfs vfs;
        const LedgerFixture fixture;
        release(fixture.open(), kTenth, Rational(1), "k");
        vfs.fail_at(nth, code, false);
        try {
          if (read_only) {
            static_cast<void>(fixture.look());
          } else {
            static_cast<void>(fixture.open());
          }
        } catch (const LedgerIo&) {
        } catch (const LedgerBusy&) {
        }
        const bool failed = vfs.failed();
        vfs.stop_failing();
        CHECK_FALSE(fixture.look().poison_reason());
        if (!failed) break;
        ++points;
      }
      CHECK(points >= 2);
    }
  }
}

TEST_CASE("faults: a checkpoint that fails is told, loses nothing and poisons nothing", "[ledger][fault]") {
  for (const char* kind : {"write", "sync", "truncate"}) {
    CAPTURE(kind);
    FaultVfs vfs;
    const LedgerFixture fixture;
    std::string warning;
    {
      auto ledger = ledger::Ledger::open(fixture.path,
                                         {.warn = [&](const std::string& message) { warning = message; }});
      release(ledger, kTenth, Rational(1), "k");
      vfs.fail_kind(kind, SQLITE_IOERR);
    }
    CHECK(vfs.failed());
    CHECK(warning.find("checkpoint") != std::string::npos);
    vfs.stop_failing();
    CHECK(fixture.look().find_by_key("ada", "k")->values == std::vector<Rational>{1});
    auto ledger = fixture.open();
    CHECK(attempt_release(ledger, "next").acknowledged);
    CHECK_FALSE(ledger.poison_reason());
  }
}
