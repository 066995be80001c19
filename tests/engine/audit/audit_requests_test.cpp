// What an audit finds when somebody rewrites the history of requests that wait.
#include "audit/tamperings.hpp"
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
    const Answer guarded = waiting.reserve("value:score", "0.25", ReservationKind::reserved_against_token);
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
  const WaitingHistory history;
  for (const Tampering& tampering : tamperings_of("request_tamperings.tsv")) {
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
