// What an audit finds when somebody rewrites the history of requests that wait.
#include <filesystem>

#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Holding;

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
    const std::string first = release(engine, request("count", "1", "k1")).decision_id;
    (void)engine.approve(first, "carol");
    (void)engine.approve(first, "dave");
    CHECK(waiting.commit(first).granted);
    (void)engine.reject(release(engine, request("count", "1", "k2")).decision_id, "dave", "no");
    (void)engine.cancel(release(engine, request("count", "1")).decision_id, "alice");
    (void)engine.cancel(waiting.reserve("count", "0.25").decision_id, "alice");
    (void)engine.cancel(waiting.reserve("value:score", "0.25").decision_id, "alice");
    const Answer guarded = waiting.reserve("value:score", "0.25", Holding::reserved_against_token);
    (void)engine.issue_token(guarded.decision_id, "alice");
    CHECK(waiting.commit(guarded.decision_id, "3").granted);
    (void)waiting.reserve("count", "0.25");
    (void)waiting.reserve("value:score", "0.25");
    waiting.clock.pass_seconds(3600);
    CHECK(release(engine, request("count", "0.5")).granted);
    (void)engine.approve(release(engine, request("count", "1")).decision_id, "carol");
    (void)waiting.reserve("count", "0.125");
  }

  /// Of a copy.
  [[nodiscard]] engine::AuditReport after(const std::string& sql) const {
    const TemporaryFolder folder;
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(waiting.clinic.ledger() + suffix, folder.path("copy.ledger") + suffix);
    }
    tamper(folder.path("copy.ledger"), sql);
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

bool names(const engine::AuditReport& report, const std::string& code) {
  for (const auto& fault : report.faults) {
    if (fault.code == code) return true;
  }
  return false;
}

std::string id_of(int seq) {
  return "(SELECT id FROM decision WHERE seq = " + std::to_string(seq) + ")";
}

/// Sets columns of one decision.
std::string change(int seq, const std::string& columns) {
  return "UPDATE decision SET " + columns + " WHERE seq = " + std::to_string(seq);
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
  const std::string early = "'2020-01-01T00:00:00.000Z'";
  const std::string swapped_verb = "replace(request, '\"verb\":\"cancel\"', '\"verb\":\"expire\"')";
  const std::vector<Tampering> tamperings = {
      {"approved by one who may not", change(2, "principal = 'eve'"), "approver_not_entitled"},
      {"approved by who asked", change(2, "principal = 'alice'"), "approver_not_entitled"},
      {"approved twice by the same", "DROP INDEX decision_votes_once; " + change(3, "principal = 'carol'"),
       "approved_twice"},
      {"rejected by one who may not", change(8, "principal = 'bob'"), "approver_not_entitled"},
      {"an approval made out of a rejection", change(8, "outcome = 'approved'"), "act_changed"},
      {"an approval that is about another request", change(2, "parent = " + id_of(7)), "parent_not_open"},
      {"approved after the deadline", change(1, "deadline = created_at"), "overdue"},
      {"another deadline of a pending request", change(1, "deadline = '2099-01-01T00:00:00.000Z'"),
       "deadline_changed"},
      {"another deadline of a reservation", change(4, "deadline = '2099-01-01T00:00:00.000Z'"),
       "deadline_changed"},
      {"reserved in the name of another", change(4, "principal = 'bob'"), "actor_not_entitled"},
      {"what was reserved restated", "UPDATE charge SET amount = 1 WHERE decision_id = " + id_of(4),
       "charge_changed"},
      {"what was posted restated", "UPDATE charge SET amount = 1 WHERE decision_id = " + id_of(6),
       "charge_changed"},
      {"a release without the token of its reading", change(5, "parent = ''"), "token_missing"},
      {"committed by another", change(6, "principal = 'bob'"), "actor_not_entitled"},
      {"the posted request restated", change(6, "request = replace(request, '\"1\"', '\"2\"')"),
       "request_changed"},
      {"a posted value restated", "UPDATE release SET value = '[\"123\"]' WHERE decision_id = " + id_of(6),
       "value_changed"},
      {"released although it was pending", change(7, "outcome = 'granted', deadline = ''"),
       "approval_missing"},
      {"reserved although it was pending", change(9, "outcome = 'reserved'"), "approval_missing"},
      {"made to wait though nobody asks for it", change(11, "outcome = 'pending'"), "decision_differs"},
      {"cancelled by one who may not", change(10, "principal = 'eve'"), "actor_not_entitled"},
      {"a reservation cancelled by one who may not", change(12, "principal = 'bob'"), "actor_not_entitled"},
      {"a cancellation called expiry", change(12, "request = " + swapped_verb), "expired_early"},
      {"a void called forfeit", change(12, "outcome = 'forfeited'"), "forfeit_unfounded"},
      {"a forfeit called void", change(14, "outcome = 'voided'"), "void_unfounded"},
      {"a forfeit given back",
       change(14, "outcome = 'voided'") + "; DELETE FROM charge WHERE decision_id = " + id_of(14) +
           "; UPDATE account SET spent = spent - 250000000000",
       "void_unfounded"},
      {"a forfeit restated", "UPDATE charge SET amount = 1 WHERE decision_id = " + id_of(14),
       "charge_changed"},
      {"a token issued by another", change(16, "principal = 'bob'"), "actor_not_entitled"},
      {"a token of another kind", change(16, "request = replace(request, 'issue_token', 'read_source')"),
       "token_unfounded"},
      {"a guarded reservation said to be plain",
       change(15, "request = replace(request, 'data_token', 'plain')"), "token_unfounded"},
      {"expired too early", change(18, "deadline = '2099-01-01T00:00:00.000Z'"), "expired_early"},
      {"expired in the name of another", change(20, "principal = 'bob'"), "actor_not_entitled"},
      {"an expiry called a late cancellation", change(20, "request = replace(request, 'expire', 'cancel')"),
       "overdue"},
      {"an act about another decision",
       change(20, "request = replace(request, parent, '" + std::string(26, '0') + "')"), "act_changed"},
      {"the reason of an act", change(20, "reasons = '[1]'"), "act_changed"},
      {"an act that is none", change(20, "request = '{\"x\":1}'"), "decision_unreadable"},
      {"a reservation forgotten in the balance", "UPDATE account SET reserved = 0", "reservation_unfounded"},
      {"a resolution taken back", change(14, "parent = ''"), "reservation_unfounded"},
      {"an open one not listed", "DELETE FROM open_decision WHERE decision_id = " + id_of(25),
       "open_changed"},
      {"an ended one listed as open",
       "INSERT INTO open_decision SELECT id, deadline FROM decision WHERE seq = 11", "open_changed"},
      {"the balances recorded with an expiry",
       change(21, "accounts = replace(accounts, '\"reserved\":0', '\"reserved\":1')"), "balance_changed"},
      {"a request that waits moved to another policy version", change(24, "policy_version = 7"),
       "policy_missing"},
      {"an act bound to a key", change(20, "key = 'k9'"), "parent_differs"},
      {"an act dated back", change(20, "created_at = " + early), "time_order"},
  };
  const WaitingHistory history;
  for (const Tampering& tampering : tamperings) {
    const auto report = history.after(tampering.sql);
    INFO(tampering.what << "\n" << faults_of(report));
    CHECK_FALSE(report.ok);
    CHECK(names(report, tampering.code));
  }
}

TEST_CASE("audit: an approval or the decision it led to cannot be left out",
          "[engine][audit][requests][negative]") {
  // The rows after it move up, so that no gap is left.
  const auto left_out = [](int seq) {
    const std::string which = std::to_string(seq);
    return "PRAGMA foreign_keys = OFF; DELETE FROM charge WHERE decision_id = " + id_of(seq) +
           "; DELETE FROM release WHERE decision_id = " + id_of(seq) +
           "; DELETE FROM decision WHERE seq = " + which + "; UPDATE decision SET seq = -seq WHERE seq > " +
           which +
           "; UPDATE decision SET seq = -seq - 1 WHERE seq < 0; UPDATE meta SET decisions = decisions - 1";
  };
  for (const auto& [seq, code] :
       {std::pair(2, "approval_missing"), std::pair(3, "approval_missing"), std::pair(4, "approval_ignored"),
        std::pair(5, "token_missing"), std::pair(16, "token_missing"), std::pair(11, "parent_not_open")}) {
    const WaitingHistory history;
    const auto report = history.after(left_out(seq));
    INFO(seq << "\n" << faults_of(report));
    CHECK(names(report, code));
  }
}
