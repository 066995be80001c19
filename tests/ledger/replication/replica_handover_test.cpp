// A replica that the policy names no more: it is told so, and a restore from it does not take it for the last
// word.
#include "replica_handover.hpp"

#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// A release under the version of the policy that is active.
void release_now(ledger::Ledger& ledger, const Rational& value, const std::string& key) {
  auto transaction = ledger.begin();
  auto draft = granted(key);
  draft.policy_version = transaction.active_policy_version();
  auto receipt = transaction.charge(draft, charge_of(kHundredth), kHundredth);
  transaction.attach(record_of(kHundredth), sealed(std::move(receipt), kHundredth, {value}), {});
  (void)ledger.commit(std::move(transaction));
}

/// A release, a backup, then a policy that names another replica or none, and two releases under it.
struct Moved : ReplicatedLedger {
  explicit Moved(const std::string& next)
      : ReplicatedLedger("first"), next_replica(directory.path() + "/" + next) {
    auto ledger = open();
    release(ledger, kHundredth, 1, "1");
    backup = directory.path() + "/monday";
    (void)ledger::Ledger::backup(path, backup, {}, options());
    move_to(ledger, next);
  }

  [[nodiscard]] ledger::Options options() const {
    auto options = replicating(directory.path());
    options.warn = [this](const std::string& message) { warnings += message + "\n"; };
    return options;
  }
  void move_to(ledger::Ledger& ledger, const std::string& name) const {
    const ledger::PolicyVersion version = policy_with_replica(name);
    auto transaction = ledger.begin_to_apply(version);
    transaction.apply_policy(version, {}, "moved");
    (void)ledger.commit(std::move(transaction));
  }
  void release_two() const {
    auto ledger = ledger::Ledger::open(path, options());
    release_now(ledger, 2, "2");
    release_now(ledger, 3, "3");
  }
  [[nodiscard]] std::string untold() const {
    return query_sql(path, "SELECT coalesce(group_concat(path), '') FROM stale_replica");
  }
  ledger::Restoration restore(const ledger::RestoreOptions& steps) const {
    remove_ledger(path);
    fs::remove(path + ".lock");  // another machine
    return ledger::Ledger::restore(path, backup, steps, options());
  }

  std::string backup;
  std::string next_replica;
  mutable std::string warnings;
};

}  // namespace

TEST_CASE(
    "replica handover: the old replica ends with the policy that replaced it, and a restore from it is "
    "refused",
    "[ledger][replica][handover]") {
  for (const std::string& next : {std::string("second"), std::string()}) {
    CAPTURE(next);
    const Moved moved(next);
    moved.release_two();
    CHECK(moved.untold().empty());
    CHECK(has_part(read_file(moved.replica), R"("kind":"policy")"));
    const std::string first = read_file(moved.replica);
    const std::string message = message_of([&] { (void)moved.restore({.by = "cleo", .why = "disk"}); });
    CHECK(has_part(message, "ends at "));
    CHECK(has_part(message, next.empty() ? "ends it" : "/second"));
    CHECK_FALSE(fs::exists(moved.path));
    CHECK(read_file(moved.replica) == first);
    CHECK(has_part(message_of([&] {
                     (void)ledger::Ledger::recover_from(moved.path, moved.replica,
                                                        {.by = "cleo", .why = "disk"}, moved.options());
                   }),
                   "policy version 2"));
    if (!next.empty()) {
      const auto done = moved.restore({.by = "cleo", .replica = moved.next_replica});
      CHECK(done.replica_lines > done.kept);
      CHECK_FALSE(done.replica_end.empty());
      CHECK(moved.look().find_by_key("ada", "3")->values == std::vector<Rational>{3});
      continue;
    }
    (void)moved.restore({.by = "cleo", .why = "no replica", .accept_rollback = true});
    CHECK_FALSE(moved.look().find_by_key("ada", "3"));
  }
}

TEST_CASE(
    "replica handover: a replica that cannot be told is told by a later commit, and never when it is ahead",
    "[ledger][replica][handover]") {
  const Moved moved("second");
  REQUIRE(moved.untold().empty());
  const std::string away = moved.directory.path() + "/away";
  const std::string second = moved.next_replica;
  {
    auto ledger = ledger::Ledger::open(moved.path, moved.options());
    fs::rename(second, away);
    moved.move_to(ledger, "third");
  }
  CHECK(moved.untold() == second);
  CHECK(has_part(moved.warnings, second));
  SECTION("it comes back") {
    fs::rename(away, second);
    moved.release_two();
    CHECK(moved.untold().empty());
    CHECK(has_part(read_file(second), R"("version":3)"));
  }
  SECTION("it comes back ahead, or of another history") {
    std::string ahead = read_file(away);
    ahead += "{\"index\":99}\n= 100 " + std::string(43, 'A') + "=\n";
    write_file(second, ahead);
    moved.release_two();
    CHECK(moved.untold() == second);
    CHECK(read_file(second) == ahead);
  }
  SECTION("the policy names it again") {
    fs::rename(away, second);
    auto ledger = ledger::Ledger::open(moved.path, moved.options());
    moved.move_to(ledger, "second");
    CHECK(moved.untold().empty());  // the third was told
    CHECK(replica_fault(second, moved.look()) == "");
  }
  SECTION("a recovery keeps the note") {
    remove_ledger(moved.path);
    copy_ledger(moved.backup, moved.path);
    (void)run_sql(moved.path, "INSERT INTO stale_replica VALUES('/elsewhere', 1, 1, 2)");
    fs::remove(moved.path + ".lock");
    (void)ledger::Ledger::recover_from(moved.path, moved.directory.path() + "/third",
                                       {.by = "cleo", .why = "x"}, moved.options());
    CHECK(moved.untold() == "/elsewhere");
  }
}

TEST_CASE(
    "kill: at any operation around a policy that moves the replica the old file is told, or noted as untold",
    "[ledger][replica][handover][crash]") {
  int killed = 0;
  for (std::int64_t at = 1;; at += 13) {
    const ReplicatedLedger fixture("first");
    const int status = in_child([&] {
      FaultVfs vfs;
      const ReplicaCallsOf calls(vfs, fixture.replica);
      auto ledger = fixture.open();
      vfs.die_at(at);
      const ledger::PolicyVersion version = policy_with_replica("second");
      auto transaction = ledger.begin_to_apply(version);
      transaction.apply_policy(version, {}, "moved");
      (void)ledger.commit(std::move(transaction));
    });
    CAPTURE(at);
    if (status != 0) ++killed;
    const bool moved = query_sql(fixture.path, "SELECT max(version) FROM policy_version") == "2";
    if (moved) {
      const bool noted = query_sql(fixture.path, "SELECT count(*) FROM stale_replica") == "1";
      const bool told = has_part(read_file(fixture.replica), R"("version":2)");
      CHECK((noted || told));
    }
    {
      auto ledger = fixture.open();
      release_now(ledger, 1, "1");
    }
    if (moved) {
      CHECK(query_sql(fixture.path, "SELECT count(*) FROM stale_replica") == "0");
      CHECK(has_part(read_file(fixture.replica), R"("version":2)"));
    }
    if (status == 0) break;
  }
  CHECK(killed >= 4);
}
