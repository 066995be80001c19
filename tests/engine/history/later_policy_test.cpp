// What a later policy makes of a request that waits: approvals, decisions and commits go by the active one.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "implied_object.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// The policy of a WaitingClinic with some of its texts replaced.
std::string changed(std::string yaml, const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [before, after] : changes) {
    const auto place = yaml.find(before);
    REQUIRE(place != std::string::npos);
    yaml.replace(place, before.size(), after);
  }
  return yaml;
}

const std::string kApprovals = "    approvals: " + std::string(kTwoApprovals) + "\n";

std::string policy_of(const std::string& budget = "epsilon: 3",
                      const std::string& approvals = kTwoApprovals) {
  return clinic_policy(budget, waiting_rules(approvals));
}

void make_active(WaitingClinic& waiting, const std::string& yaml) {
  waiting.clinic.folder.write("next.yaml", yaml);
  REQUIRE(waiting.engine.apply_policy(waiting.clinic.folder.path("next.yaml"), "curator", "test").changed);
}

std::string codes(const Answer& answer) {
  std::string text;
  for (const engine::Reason& reason : answer.recorded.reasons) {
    text += (text.empty() ? "" : ", ") + std::string(engine::name(reason.code));
  }
  return text;
}

/// "balance" of an account, "none" when it is not there.
std::string limit_of(const WaitingClinic& waiting, const std::string& scope, const std::string& measure) {
  const auto accounts = ledger::Ledger::open_read_only(waiting.clinic.ledger()).snapshot().accounts("clinic");
  for (const auto& account : accounts) {
    if (account.scope.starts_with(scope) && account.measure == measure) {
      return accounting::Epsilon::from_units(account.balance.limit).text();
    }
  }
  return "none";
}

using Changes = std::vector<std::pair<std::string, std::string>>;

/// The cells from `first` on, in pairs.
Changes changes_of(const CaseRow& row, std::size_t first) {
  Changes changes;
  for (std::size_t i = first; i < row.size(); i += 2) changes.emplace_back(row[i], row.at(i + 1));
  return changes;
}

struct Later {
  std::string what;
  Changes changes;
  std::string state;    ///< after the second approval
  std::string reasons;  ///< then
  std::string says;     ///< in its message
};

/// One row for each part of a policy that a pending request depends on, and for some it does not.
std::vector<Later> later_policies() {
  std::vector<Later> result;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/history/later_policies.tsv")) {
    result.emplace_back(row.at(0), changes_of(row, 4), row.at(1), row.at(2), row.at(3));
  }
  return result;
}

}  // namespace

TEST_CASE("later policy: the last approval decides under the one that is active then",
          "[engine][approvals][policy]") {
  for (const Later& later : later_policies()) {
    CAPTURE(later.what);
    WaitingClinic waiting;
    const Answer pending = release(waiting.engine, request("sum:cost", "1", "k"));
    REQUIRE(text(pending.recorded.state) == "pending");
    REQUIRE(text(waiting.engine.approve(pending.recorded.decision_id, "carol").recorded.state) == "pending");
    make_active(waiting, changed(policy_of(), later.changes));
    const Answer decided = waiting.engine.approve(pending.recorded.decision_id, "dave");
    CHECK(text(decided.recorded.state) == later.state);
    CHECK(codes(decided) == later.reasons);
    if (!decided.recorded.reasons.empty()) {
      CHECK(decided.recorded.reasons[0].message.find(later.says) != std::string::npos);
      // Its key stays bound.
      CHECK(release(waiting.engine, request("sum:cost", "1", "k")).recorded.decision_id ==
            decided.recorded.decision_id);
      CHECK(waiting.balance() == "0/0");
    }
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE(
    "later policy: what is computed or labelled otherwise is planned otherwise, whichever way it is asked "
    "about",
    "[engine][approvals][policy][quantile]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/history/later_questions.tsv")) {
    CAPTURE(row);
    const std::string before = changed(policy_of(), {{"    columns:", row.at(0)}});
    const auto part = [](const std::string& text) {
      return text.empty() ? std::nullopt : std::optional(text);
    };
    WaitingClinic waiting;
    make_active(waiting, before);
    const Answer pending =
        release(waiting.engine, request(row.at(1), "1", "k", part(row.at(2)), part(row.at(3))));
    REQUIRE(text(pending.recorded.state) == "pending");
    REQUIRE(text(waiting.engine.approve(pending.recorded.decision_id, "carol").recorded.state) == "pending");
    make_active(waiting, changed(before, changes_of(row, 6)));
    const Answer decided = waiting.engine.approve(pending.recorded.decision_id, "dave");
    CHECK(codes(decided) == row.at(4));
    if (!row[4].empty()) CHECK_THAT(decided.recorded.reasons.at(0).message, says(row.at(5)));
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE("later policy: of a dataset that is declared no more nothing is approved, and a commit ends it",
          "[engine][approvals][policy]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1", "k"));
  std::string yaml = policy_of();
  yaml.replace(yaml.find("  clinic:"), 9, "  other:");
  make_active(waiting, yaml);
  CHECK_THROWS_AS(waiting.engine.approve(pending.recorded.decision_id, "dave"), engine::NotPermitted);
  const Answer ended = waiting.commit(pending.recorded.decision_id);
  CHECK(text(ended.recorded.state) == "refused");
  CHECK(codes(ended) == "policy_changed");
  CHECK(waiting.audit().empty());
}

TEST_CASE(
    "later policy: a commit that is wrong decides nothing, and one that lacks a token decides and says so",
    "[engine][approvals][policy]") {
  WaitingClinic waiting;
  const auto apply = [&](const std::string& approvals) {
    waiting.clinic.folder.write("policy.yaml", clinic_policy("epsilon: 3", waiting_rules(approvals)));
    (void)waiting.engine.apply_policy(waiting.clinic.folder.path("policy.yaml"), "curator", "test");
  };
  const Answer counted = waiting.reserve("count", "0.6");
  const Answer computed = waiting.reserve("value:score", "0.6");
  const Answer handed =
      waiting.reserve("value:score", "0.6", engine::ReservationKind::reserved_against_token);
  for (const Answer* each : {&counted, &computed, &handed}) REQUIRE(text(each->recorded.state) == "pending");
  apply("");
  CHECK_THROWS_AS(waiting.commit(counted.recorded.decision_id, "1"), InvalidParameter);
  CHECK_THROWS_AS(waiting.commit(computed.recorded.decision_id), InvalidParameter);
  CHECK_THROWS_AS(waiting.commit(handed.recorded.decision_id), InvalidParameter);
  CHECK(waiting.balance() == "0/0");
  for (const Answer* each : {&counted, &computed, &handed})
    CHECK(text(waiting.engine.show(each->recorded.decision_id, {}).recorded.state) == "pending");

  CHECK(waiting.commit(counted.recorded.decision_id).recorded.granted);
  CHECK(waiting.commit(computed.recorded.decision_id, "0.5").recorded.granted);
  CHECK(text(waiting.commit(handed.recorded.decision_id, "0.5").recorded.state) == "reserved");
  CHECK(waiting.balance() == "1.2/0.6");
  CHECK_THROWS_AS(waiting.commit(handed.recorded.decision_id, "0.5"), InvalidParameter);
  CHECK_FALSE(waiting.engine.issue_token(handed.recorded.decision_id, "alice").recorded.token.empty());
  CHECK(waiting.commit(handed.recorded.decision_id, "0.5").recorded.granted);
  CHECK(waiting.audit().empty());
}

TEST_CASE("later policy: only votes of those who may approve under it count", "[engine][approvals][policy]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1"));
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  make_active(waiting, changed(policy_of(), {{"[dave, alice], roles: [custodian]", "[dave, eve]"}}));
  CHECK_THROWS_AS(waiting.engine.approve(pending.recorded.decision_id, "carol"), engine::NotPermitted);
  CHECK_THROWS_AS(waiting.engine.reject(pending.recorded.decision_id, "carol", ""), engine::NotPermitted);
  CHECK(text(waiting.engine.approve(pending.recorded.decision_id, "dave").recorded.state) == "pending");
  CHECK(text(waiting.commit(pending.recorded.decision_id).recorded.state) == "pending");
  CHECK(text(waiting.engine.approve(pending.recorded.decision_id, "eve").recorded.state) == "reserved");
  CHECK(waiting.audit().empty());
}

TEST_CASE("later policy: when it wants no more votes than there are, the asker's commit decides",
          "[engine][approvals][policy]") {
  const std::vector<Changes> enough{{{"required: 2", "required: 1"}},
                                    {{kApprovals, ""}},
                                    {{"above: {epsilon: 0.5}", "above: {epsilon: 1}"}}};
  for (std::size_t i = 0; i < enough.size(); ++i) {
    CAPTURE(i);
    WaitingClinic waiting;
    const Answer pending = release(waiting.engine, request("count", "1"));
    (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
    CHECK(text(waiting.commit(pending.recorded.decision_id).recorded.state) == "pending");
    make_active(waiting, changed(policy_of(), enough[i]));
    CHECK_THROWS_AS(waiting.commit(pending.recorded.decision_id, {}, "bob"), engine::NotPermitted);
    const Answer granted = waiting.commit(pending.recorded.decision_id);
    CHECK(granted.recorded.granted);
    CHECK_FALSE(granted.recorded.replayed);
    CHECK(waiting.balance() == "1/0");
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE("later policy: no account is opened with a limit that is not its own",
          "[engine][approvals][policy]") {
  const auto renewing = [](const std::string& epsilon) {
    return policy_of("epsilon: " + epsilon + ", renew: year, accept_unbounded_lifetime: true");
  };
  WaitingClinic waiting(kTwoApprovals, "epsilon: 3, renew: year, accept_unbounded_lifetime: true");
  const Answer pending = release(waiting.engine, request("count", "1"));
  make_active(waiting, renewing("2"));
  CHECK(limit_of(waiting, "period:", "epsilon") == "none");
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  CHECK(text(waiting.engine.approve(pending.recorded.decision_id, "dave").recorded.state) == "reserved");
  CHECK(limit_of(waiting, "period:", "epsilon") == "2");
  CHECK(waiting.audit().empty());
}

TEST_CASE("later policy: a reservation that it forbids ends with its commit or token",
          "[engine][requests][policy]") {
  struct Row {
    const char* statistic;
    ReservationKind reservation;
    bool token;        ///< asked for instead of the commit
    const char* ends;  ///< as
    const char* balance;
  };
  const std::vector<Row> rows{
      {"count", ReservationKind::reserved, false, "cancelled", "0/0"},
      {"value:score", ReservationKind::reserved, false, "forfeited", "0.25/0"},
      {"value:score", ReservationKind::reserved_against_token, true, "cancelled", "0/0"}};
  const std::vector<std::pair<const char*, Changes>> forbidding{
      {"asker", {{"  alice: {roles: [research]}\n", ""}, {"dave, alice", "dave"}}},
      {"purpose", {{"    columns:", "    purposes: [care]\n    columns:"}}},
      {"forbid", {{"    columns:", "    forbid: [{principals: [alice]}]\n    columns:"}}},
      {"allow", {{"    columns:", "    allow: {statistics: [mean]}\n    columns:"}}}};
  for (const auto& [what, changes] : forbidding) {
    for (const Row& row : rows) {
      CAPTURE(what, row.statistic, row.token);
      WaitingClinic waiting;
      const Answer reserved = waiting.reserve(row.statistic, "0.25", row.reservation);
      REQUIRE(text(reserved.recorded.state) == "reserved");
      make_active(waiting, changed(policy_of(), changes));
      const bool value = row.statistic == std::string("value:score");
      const Answer ended = row.token ? waiting.engine.issue_token(reserved.recorded.decision_id, "alice")
                                     : waiting.commit(reserved.recorded.decision_id,
                                                      value ? std::optional<std::string>("3") : std::nullopt);
      CHECK(text(ended.recorded.state) == row.ends);
      CHECK(ended.recorded.why == "policy_changed");
      CHECK(ended.released.values.empty());
      CHECK(waiting.balance() == row.balance);
      CHECK(waiting.audit().empty());
    }
  }
}

TEST_CASE("later policy: a reservation keeps its plan and reads the source of the active one",
          "[engine][requests][policy]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("sum:cost", "0.25");
  make_active(waiting, changed(policy_of(), {{"[0, 5000]", "[0, 9000]"}, {"[A, B, C]", "[A, B, C, D]"}}));
  const Answer granted = waiting.commit(reserved.recorded.decision_id);
  REQUIRE(granted.recorded.granted);
  CHECK(granted.planned.record == reserved.planned.record);
  CHECK(waiting.audit().empty());
}

// --- what an audit finds when the rule was not kept
// ---------------------------------------------------------

namespace {

/// The faults of a copy in which version 2 of the policy says something else: what was decided under the one
/// it was cannot have been decided under that.
std::string faults_under(const WaitingClinic& waiting, const Changes& changes) {
  const TemporaryFolder folder;
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(waiting.clinic.ledger() + suffix, folder.path("copy.ledger") + suffix);
  }
  const std::string yaml = changed(policy_of("epsilon: 4"), changes);
  const auto quoted = [](const std::string& text) {
    std::string sql = "'";
    for (const char c : text) sql += c == '\'' ? std::string("''") : std::string(1, c);
    return sql + "'";
  };
  ledger::PolicyVersion version;
  version.yaml = yaml;
  tamper_with_log(folder.path("copy.ledger"),
                  "UPDATE policy_version SET yaml = " + quoted(yaml) + ", sha256 = x'" +
                      ledger::sha256_hex(yaml) + "', implies = " +
                      quoted(engine::implied_object(engine::Policy::parse_stored(version.yaml, "policy"))) +
                      " WHERE version = 2");
  std::string codes;
  for (const auto& fault : engine::audit_verify(folder.path("copy.ledger")).faults) codes += fault.code + " ";
  return codes;
}

}  // namespace

TEST_CASE("audit: what was approved, decided or committed against the active policy is named",
          "[engine][audit][approvals][policy][negative]") {
  // Pending under version 1; version 2 is active when it is approved twice, reserved and committed.
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("sum:cost", "1"));
  make_active(waiting, policy_of("epsilon: 4"));
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  (void)waiting.engine.approve(pending.recorded.decision_id, "dave");
  REQUIRE(waiting.commit(pending.recorded.decision_id).recorded.granted);
  REQUIRE(faults_under(waiting, {{"epsilon: 4", "epsilon: 4"}}).empty());
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/history/against_the_policy.tsv")) {
    CAPTURE(row);
    CHECK(faults_under(waiting, changes_of(row, 2)).find(row.at(1)) != std::string::npos);
  }
}

TEST_CASE("audit: a reservation said to be planned under a version that is not there is named",
          "[engine][audit][requests][policy][negative]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("count", "0.25");
  REQUIRE(waiting.commit(reserved.recorded.decision_id).recorded.granted);
  tamper_with_log(waiting.clinic.ledger(), "UPDATE decision SET decided_under = 99 WHERE outcome = 3");
  CHECK(waiting.audit().find("is missing or invalid") != std::string::npos);
}

TEST_CASE("audit: a reservation said to be forbidden must be",
          "[engine][audit][requests][policy][negative]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("count", "0.25");
  make_active(waiting, policy_of("epsilon: 4"));
  (void)waiting.engine.cancel(reserved.recorded.decision_id, "alice");
  REQUIRE(waiting.audit().empty());
  tamper_with_log(waiting.clinic.ledger(), "UPDATE decision SET why = 'policy_changed' WHERE seq = 2");
  CHECK(waiting.audit().find("act_changed") != std::string::npos);
}
