// What an audit finds when somebody rewrites the history of requests that wait.
#include <filesystem>

#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// 1 pending, 2 and 3 its approvals, 4 reserved, 5 token of its commit, 6 granted
/// 7 pending, 8 rejected      9 pending, 10 voided by cancel
/// 11 reserved (count), 12 voided by cancel    13 reserved (value), 14 forfeited by cancel
/// 15 reserved (token), 16 token issued, 17 granted
/// 18 reserved (count), 19 reserved (value); an hour later 20 voided and 21 forfeited by expiry, 22 granted
/// 23 pending, 24 approved, 25 reserved (count), both open
class WaitingHistory {
 public:
  WaitingHistory()
      : waiting("{required: 2, by: {principals: [dave], roles: [custodian]}, above: {epsilon: 0.5}}",
                "epsilon: 9") {
    engine::Engine& engine = waiting.engine;
    const std::string first = release(engine, request("count", "1", "k1")).recorded.decision_id;
    (void)engine.approve(first, "carol");
    (void)engine.approve(first, "dave");
    CHECK(waiting.commit(first).recorded.granted);
    (void)engine.reject(release(engine, request("count", "1", "k2")).recorded.decision_id, "dave", "no");
    (void)engine.cancel(release(engine, request("count", "1")).recorded.decision_id, "alice");
    (void)engine.cancel(waiting.reserve("count", "0.25").recorded.decision_id, "alice");
    (void)engine.cancel(waiting.reserve("value:score", "0.25").recorded.decision_id, "alice");
    const Answer guarded = waiting.reserve("value:score", "0.25", Holding::reserved_against_token);
    (void)engine.issue_token(guarded.recorded.decision_id, "alice");
    CHECK(waiting.commit(guarded.recorded.decision_id, "3").recorded.granted);
    (void)waiting.reserve("count", "0.25");
    (void)waiting.reserve("value:score", "0.25");
    waiting.clock.pass_seconds(3600);
    CHECK(release(engine, request("count", "0.5")).recorded.granted);
    (void)engine.approve(release(engine, request("count", "1")).recorded.decision_id, "carol");
    (void)waiting.reserve("count", "0.125");
  }

  /// Of a copy.
  [[nodiscard]] engine::AuditReport after(const std::string& sql) const {
    const TemporaryFolder folder;
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(waiting.clinic.ledger() + suffix, folder.path("copy.ledger") + suffix);
    }
    tamper_with_log(folder.path("copy.ledger"), sql);
    return engine::audit_verify(folder.path("copy.ledger"));
  }

  WaitingClinic waiting;
};

std::string faults_of(const engine::AuditReport& report) {
  std::string text;
  for (const auto& fault : report.faults)
    text += fault.record + " " + fault.code + ": " + fault.message + "\n";
  return text;
}

bool faults_name(const engine::AuditReport& report, const std::string& code) {
  for (const auto& fault : report.faults) {
    if (fault.code == code) return true;
  }
  return false;
}

/// Sets columns of one decision.
std::string change(int seq, const std::string& columns) {
  return "UPDATE decision SET " + columns + " WHERE seq = " + std::to_string(seq);
}
std::string by(int seq, const std::string& principal) {
  return with_name(principal) + change(seq, "principal = " + number_of(principal));
}

}  // namespace

TEST_CASE("audit: an honest history of reservations and approvals verifies", "[engine][audit][requests]") {
  const WaitingHistory history;
  const auto report = engine::audit_verify(history.waiting.clinic.ledger());
  INFO(faults_of(report));
  CHECK(report.ok);
  CHECK(report.records == 25);
  CHECK(history.waiting.balance() == "2.25/0.125");
}

TEST_CASE("audit: every rule of reservations and approvals is checked again",
          "[engine][audit][requests][negative]") {
  struct Tampering {
    const char* what;
    std::string sql;
    const char* code;
  };
  const std::string early = ms_of("2020-01-01T00:00:00.000Z");
  const std::string late = ms_of("2099-01-01T00:00:00.000Z");
  const std::vector<Tampering> tamperings = {
      {"approved by one who may not", by(2, "eve"), "approver_not_entitled"},
      {"approved by who asked", by(2, "alice"), "approver_not_entitled"},
      {"approved twice by the same", "DROP INDEX decision_votes_once; " + by(3, "carol"), "approved_twice"},
      {"rejected by one who may not", by(8, "bob"), "approver_not_entitled"},
      {"an approval made out of a rejection", change(8, "outcome = 5"), "act_changed"},
      {"an approval that is about another request", change(2, "parent = 7"), "parent_not_open"},
      {"approved after the deadline", change(1, "deadline = time"), "overdue"},
      {"another deadline of a pending request", change(1, "deadline = " + late), "deadline_changed"},
      {"another deadline of a reservation", change(4, "deadline = " + late), "deadline_changed"},
      {"reserved in the name of another", by(4, "bob"), "actor_not_entitled"},
      {"what was reserved restated", "UPDATE movement SET reserved_change = 1 WHERE seq = 4",
       "charge_changed"},
      {"what was posted restated", "UPDATE movement SET spent_change = 1 WHERE seq = 6", "charge_changed"},
      {"a release without the token of its reading", change(5, "parent = 0"), "token_missing"},
      {"committed by another", by(6, "bob"), "actor_not_entitled"},
      {"the posted request restated",
       "UPDATE plan SET question = replace(question, '\"1\"', '\"2\"') WHERE no = " + plan_of(6),
       "request_changed"},
      {"a posted value restated", change(6, "\"values\" = '[\"123\"]'"), "value_changed"},
      {"released although it was pending",
       change(7,
              "outcome = 1, deadline = 0, (plan, component_values, \"values\") ="
              " (SELECT plan, component_values, \"values\" FROM decision WHERE seq = 6)"),
       "approval_missing"},
      {"reserved although it was pending", change(9, "outcome = 3"), "approval_missing"},
      {"made to wait though nobody asks for it", change(11, "outcome = 4"), "decision_differs"},
      {"cancelled by one who may not", by(10, "eve"), "actor_not_entitled"},
      {"a reservation cancelled by one who may not", by(12, "bob"), "actor_not_entitled"},
      {"a cancellation called expiry", change(12, "verb = 'expire'"), "expired_early"},
      {"a void called forfeit", change(12, "outcome = 9"), "forfeit_unfounded"},
      {"a forfeit called void", change(14, "outcome = 8"), "void_unfounded"},
      {"a forfeit given back",
       change(14, "outcome = 8") + "; UPDATE movement SET spent_change = 0 WHERE seq = 14; UPDATE account "
                                   "SET spent = spent - 250000000000",
       "void_unfounded"},
      {"a forfeit restated", "UPDATE movement SET spent_change = 1 WHERE seq = 14", "charge_changed"},
      {"a token issued by another", by(16, "bob"), "actor_not_entitled"},
      {"a token of another kind", change(16, "verb = 'read_source'"), "token_unfounded"},
      {"a guarded reservation said to be plain", change(15, "holding = 1"), "token_unfounded"},
      {"expired too early", change(18, "deadline = " + late), "expired_early"},
      {"expired in the name of another", by(20, "bob"), "actor_not_entitled"},
      {"an expiry called a late cancellation", change(20, "verb = 'cancel'"), "overdue"},
      {"the reason of an act", change(20, "reasons = '[1]'"), "act_changed"},
      {"an act that is none", change(20, "verb = 'x'"), "decision_unreadable"},
      {"a reservation forgotten in the balance", "UPDATE account SET reserved = 0", "reservation_unfounded"},
      {"a resolution taken back", change(14, "parent = 0"), "reservation_unfounded"},
      {"an open one not listed", "DELETE FROM open_decision WHERE seq = 25", "open_changed"},
      {"an ended one listed as open",
       "INSERT INTO open_decision SELECT seq, deadline FROM decision WHERE seq = 11", "open_changed"},
      {"the balances recorded with an expiry",
       "UPDATE movement SET reserved = 1 WHERE seq = 21 AND reserved = 0", "balance_changed"},
      {"a request that waits moved to another policy version", change(24, "policy_version = 7"),
       "policy_missing"},
      {"an act bound to a key", change(20, "key = 'k9'"), "parent_differs"},
      {"an act dated back", change(20, "time = " + early), "time_order"},
  };
  const WaitingHistory history;
  for (const Tampering& tampering : tamperings) {
    const auto report = history.after(tampering.sql);
    INFO(tampering.what << "\n" << faults_of(report));
    CHECK_FALSE(report.ok);
    CHECK(faults_name(report, tampering.code));
  }
}

TEST_CASE("audit: an approval or the decision it led to cannot be left out",
          "[engine][audit][requests][negative]") {
  // The rows after it move up, so that no gap is left.
  const auto left_out = [](int seq) {
    const std::string which = std::to_string(seq);
    std::string sql = "PRAGMA foreign_keys = OFF; DELETE FROM open_decision WHERE seq = " + which;
    for (const char* table : {"movement", "decision"})
      sql += "; DELETE FROM " + std::string(table) + " WHERE seq = " + which;
    for (const char* table : {"decision", "movement", "open_decision"}) {
      sql += "; UPDATE " + std::string(table) + " SET seq = -seq WHERE seq > " + which + "; UPDATE " + table +
             " SET seq = -seq - 1 WHERE seq < 0";
    }
    return sql + "; UPDATE decision SET parent = parent - 1 WHERE parent > " + which +
           "; UPDATE meta SET decisions = decisions - 1";
  };
  for (const auto& [seq, code] :
       {std::pair(2, "approval_missing"), std::pair(3, "approval_missing"), std::pair(4, "approval_ignored"),
        std::pair(5, "token_missing"), std::pair(16, "token_missing"), std::pair(11, "parent_not_open")}) {
    const WaitingHistory history;
    const auto report = history.after(left_out(seq));
    INFO(seq << "\n" << faults_of(report));
    CHECK(faults_name(report, code));
  }
}
