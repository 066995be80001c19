// A ledger that was poisoned and goes on: on record, once, whatever happens meanwhile.
#include <unistd.h>

#include "commit_mark.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/replica.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kShare = Epsilon::parse_down("0.01");
constexpr const char* kReason = "2026-01-05T09:00:00.000Z committing: disk I/O error";

/// With one release, and poisoned before this boot.
struct PoisonedLedger : ReplicatedLedger {
  explicit PoisonedLedger(const std::string& replica_name = "replica") : ReplicatedLedger(replica_name) {
    auto ledger = open();
    release(ledger, kShare, Rational(1), "1");
    mark();
  }
  void mark() const {
    write_file(path + ".poisoned", R"({"reason": "committing: disk I/O error", "boot_id": "an earlier boot",)"
                                   R"("time": "2026-01-05T09:00:00.000Z"})");
  }
  void clear(const std::string& why = "") const {
    ledger::Ledger::clear_poison(path, {.by = "cleo", .why = why}, replicating(directory.path()));
  }
  [[nodiscard]] std::string recoveries() const {
    return query_sql(
        path, "SELECT coalesce(group_concat(cause || ' ' || by || ': ' || why, '|'), '') FROM recovery");
  }
  void require_sound() const {
    auto ledger = open();
    release(ledger, kShare, Rational(2), "2");
    auto view = look();
    CHECK(balances_fold(view));
    ledger::Inspection inspection(view);
    CHECK(inspection.storage_faults(true).empty());
    CHECK(inspection.record_faults().empty());
    if (fs::is_regular_file(replica)) CHECK(replica_fault(replica, look()) == "");
    CHECK(view.find_by_key("ada", "1")->values == std::vector<Rational>{1});
  }
};

}  // namespace

TEST_CASE("recovery from poison: it is on record with who, when and what had failed", "[ledger][poison]") {
  const PoisonedLedger fixture;
  fixture.clear("a new cable");
  CHECK(fixture.recoveries() == std::string("poisoned cleo: ") + kReason + "; a new cable");
  CHECK_FALSE(fs::exists(fixture.path + ".poisoned"));
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  fixture.require_sound();
  // Of another failure it is another one, right after the first or not.
  write_file(fixture.path + ".poisoned", R"({"reason": "again", "boot_id": "b", "time": "t"})");
  fixture.clear();
  write_file(fixture.path + ".poisoned", R"({"reason": "again", "boot_id": "b", "time": "u"})");
  fixture.clear();
  CHECK(fixture.recoveries().ends_with("|poisoned cleo: t again|poisoned cleo: u again"));
  CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, ledger::PoisonRecovery{}), InvalidParameter);
}

TEST_CASE("recovery from poison: a record that is there already, by one who was killed, is not made again",
          "[ledger][poison]") {
  const PoisonedLedger fixture;
  fixture.clear();
  const std::string lines = query_sql(fixture.path, "SELECT log_size FROM meta");
  fixture.mark();
  fixture.clear("another time");
  CHECK(query_sql(fixture.path, "SELECT log_size FROM meta") == lines);
  CHECK_FALSE(fs::exists(fixture.path + ".poisoned"));
  fixture.require_sound();
}

TEST_CASE("recovery from poison: a replica that cannot be used keeps nobody from it, and gets it later",
          "[ledger][poison][replica]") {
  const PoisonedLedger fixture;
  fs::rename(fixture.replica, fixture.replica + "-away");
  fixture.clear();
  CHECK(fixture.recoveries() == std::string("poisoned cleo: ") + kReason);
  CHECK_FALSE(fs::exists(fixture.path + ".poisoned"));
  CHECK_THROWS_AS(fixture.open().begin(), ledger::ReplicaUnavailable);
  // What readers are told goes by what the replica is known to hold.
  CHECK(query_sql(fixture.path, "SELECT replica_size > 0 AND replica_size < log_size FROM meta") == "1");
  fs::rename(fixture.replica + "-away", fixture.replica);
  fixture.require_sound();
}

TEST_CASE("recovery from poison: what the replica holds and the ledger lost is put back first",
          "[ledger][poison][replica]") {
  const PoisonedLedger fixture;
  const TemporaryDirectory elsewhere;
  copy_ledger(fixture.path, elsewhere.path() + "/L");
  fs::remove(fixture.path + ".poisoned");
  release(fixture.open(), kShare, Rational(3), "3");
  copy_ledger(elsewhere.path() + "/L", fixture.path);
  fixture.mark();
  const std::string before = read_file(fixture.path);
  CHECK_THROWS_AS(fixture.clear(), ledger::LedgerRolledBack);
  CHECK(fs::exists(fixture.path + ".poisoned"));
  CHECK(read_file(fixture.path) == before);
  CHECK(fixture.recoveries().empty());
  const auto put_back = [&] {
    return ledger::Ledger::recover_from(fixture.path, fixture.replica, {.by = "cleo", .why = "lost"},
                                        replicating(fixture.directory.path()));
  };
  // Not before the machine was restarted: what is read may not be what is on the disk.
  REQUIRE(fs::remove(fixture.path + ".poisoned"));
  REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "fsync failed"));
  CHECK_THROWS_AS(put_back(), LedgerIo);
  fixture.mark();
  CHECK(put_back().restored == 1);
  CHECK(fs::exists(fixture.path + ".poisoned"));
  fixture.clear();
  CHECK(fixture.recoveries() == std::string("behind_replica cleo: lost|poisoned cleo: ") + kReason);
  CHECK(fixture.look().find_by_key("ada", "3")->values == std::vector<Rational>{3});
  fixture.require_sound();
}

TEST_CASE("recovery from poison: of a damaged replica nothing is given up before the ledger is verified",
          "[ledger][poison][replica]") {
  const PoisonedLedger fixture;
  std::string damaged = read_file(fixture.replica);
  damaged[damaged.find("\"key\":\"1\"") + 7] = '8';
  write_file(fixture.replica, damaged);
  const std::string before = read_file(fixture.path);
  const auto give_up = [&] {
    return ledger::Ledger::recover_from(fixture.path, fixture.replica,
                                        {.by = "cleo", .why = "lost", .accept_truncated = true},
                                        replicating(fixture.directory.path()));
  };
  CHECK_THROWS_AS(give_up(), LedgerIo);
  CHECK(read_file(fixture.path) == before);
  CHECK(read_file(fixture.replica) == damaged);
  fs::rename(fixture.replica, fixture.replica + "-away");
  fixture.clear();
  fs::rename(fixture.replica + "-away", fixture.replica);
  CHECK(give_up().truncated);
  CHECK(fixture.recoveries() == std::string("poisoned cleo: ") + kReason + "|behind_replica cleo: lost");
  fixture.require_sound();
}

TEST_CASE("recovery from poison: one that fails itself wants another reboot", "[ledger][poison][fault]") {
  const PoisonedLedger fixture;
  {
    FaultVfs vfs;
    vfs.fail_kind("sync", SQLITE_IOERR);
    CHECK_THROWS_AS(fixture.clear(), LedgerIo);
  }
  const auto state = ledger::Ledger::recovery_state(fixture.path);
  CHECK(state.poisoned);
  CHECK_FALSE(state.rebooted);
  CHECK(state.reason.find(kReason) != std::string::npos);  // the first cause, too
  CHECK_THROWS_AS(fixture.clear(), LedgerIo);
  fixture.mark();
  fixture.clear();
  fixture.require_sound();
}

TEST_CASE(
    "recovery from poison: where only the lock file says it, the marker does before anything is written",
    "[ledger][poison]") {
  const PoisonedLedger fixture;
  REQUIRE(fs::remove(fixture.path + ".poisoned"));
  const auto in_lock_file = [&] {
    write_file(fixture.path + ".lock",
               ledger::commit_mark_bytes({.state = ledger::CommitMark::State::poisoned,
                                          .boot_id = "earlier",
                                          .time = "t",
                                          .reason = "no room"}));
  };
  in_lock_file();
  const int status = in_child([&] {
    auto options = replicating(fixture.directory.path());
    options.before_commit = [] { ::_exit(kKilled); };
    ledger::Ledger::clear_poison(fixture.path, {.by = "cleo"}, options);
  });
  CHECK(status != 0);
  CHECK(fs::exists(fixture.path + ".poisoned"));
  CHECK(ledger::Ledger::recovery_state(fixture.path).reason == "no room");
  fixture.clear();
  CHECK(fixture.recoveries() == "poisoned cleo: t no room");
  fixture.require_sound();
}

TEST_CASE("kill: at any operation of a recovery from poison another one ends it, with one record",
          "[ledger][poison][crash]") {
  for (const bool replicated : {true, false}) {
    std::int64_t operations = 0;
    {
      const PoisonedLedger fixture(replicated ? "replica" : "");
      FaultVfs vfs;
      const ReplicaCallsOf calls(vfs, fixture.replica);
      fixture.clear();
      operations = vfs.operations();
    }
    for (std::int64_t at = 1; at <= operations; at += 13) {
      const PoisonedLedger fixture(replicated ? "replica" : "");
      REQUIRE(in_child([&] {
                FaultVfs vfs;
                const ReplicaCallsOf calls(vfs, fixture.replica);
                vfs.die_at(at);
                fixture.clear();
              }) != 0);
      CAPTURE(at, replicated);
      const bool recorded = !fixture.recoveries().empty();
      const bool poisoned = fs::exists(fixture.path + ".poisoned");  // else it was done but for closing
      REQUIRE((poisoned || recorded));
      if (poisoned) fixture.clear();
      REQUIRE(fixture.recoveries() == std::string("poisoned cleo: ") + kReason);
      fixture.require_sound();
    }
  }
}

TEST_CASE(
    "kill: between the record of a recovery from poison and the end of the marker, it is not made again",
    "[ledger][poison][crash]") {
  const PoisonedLedger fixture;
  REQUIRE(in_child([&] {
            ledger::replica_calls().sync = [](int) -> int { ::_exit(kKilled); };
            fixture.clear();
          }) != 0);
  CHECK(fs::exists(fixture.path + ".poisoned"));
  REQUIRE(fixture.recoveries() == std::string("poisoned cleo: ") + kReason);
  fixture.clear("again");
  CHECK(fixture.recoveries() == std::string("poisoned cleo: ") + kReason);
  fixture.require_sound();
}

TEST_CASE("faults: at any operation of a recovery from poison it stays poisoned, or is recovered on record",
          "[ledger][poison][fault]") {
  int failed = 0;
  for (std::int64_t at = 1;; at += 7) {
    const PoisonedLedger fixture;
    bool reached = false;
    bool threw = false;
    {
      FaultVfs vfs;
      const ReplicaCallsOf calls(vfs, fixture.replica);
      vfs.fail_at(at, SQLITE_IOERR, false);
      try {
        fixture.clear();
      } catch (const Error&) {
        threw = true;
      }
      reached = vfs.failed();
    }
    CAPTURE(at, reached, threw);
    if (reached) ++failed;
    CHECK(fs::exists(fixture.path + ".poisoned") == threw);
    if (threw) {
      fixture.mark();  // as after a reboot
      fixture.clear();
    }
    CHECK(fixture.recoveries().starts_with("poisoned cleo: "));
    CHECK(fixture.recoveries().find('|') == std::string::npos);
    fixture.require_sound();
    if (!reached) break;
  }
  CHECK(failed >= 10);
}
