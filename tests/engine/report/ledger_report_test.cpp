// What a report collects, held to a small history that was computed by hand, and to what the other readers
// say.
#include "epsilog/engine/ledger_report.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/named_keys.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr std::int64_t kWhole = 1'000'000'000'000;  // grid units of epsilon 1

/// A minute passes before everything that happens.
struct ReportedClinic {
  ReportedClinic() : begun(clinic.clock.options().clock().wall_ms) {
    released(request("count", "0.5"));  // 1
    minute();
    refused = release(clinic.engine, request("count", "2.75")).recorded.decision_id;  // 2
    minute();
    reserved = clinic.reserve("count", "0.25").recorded.decision_id;  // 3
    minute();
    (void)clinic.engine.cancel(reserved, "alice");  // 4
    minute();
    apply("epsilon: 4", "the board agreed");
    released(request("sum:cost", "1", "", "ward"));  // 5
  }
  void minute() { clinic.clock.pass_seconds(60); }
  void released(const engine::Request& asked) {
    minute();
    ids.push_back(release(clinic.engine, asked).recorded.decision_id);
  }
  void apply(const std::string& budget, const std::string& why) {
    minute();
    const std::string policy =
        clinic.clinic.folder.write("next.yaml", clinic_policy(budget, waiting_rules("")));
    (void)clinic.engine.apply_policy(policy, "curator", why);
  }
  [[nodiscard]] LedgerReport report(const std::string& dataset = "") const {
    return engine::ledger_report(clinic.clinic.ledger(), {.dataset = dataset}, clinic.clock.options());
  }
  [[nodiscard]] std::vector<std::string> told(const LedgerReport& report,
                                              std::optional<DecisionSort> sort) const {
    std::vector<std::string> found;
    CHECK_FALSE(engine::each_reported_decision(
        clinic.clinic.ledger(), report, sort, clinic.clock.options(),
        [&](const engine::Answer& answer) { found.push_back(answer.recorded.decision_id); }));
    return found;
  }

  WaitingClinic clinic{""};
  std::int64_t begun;
  std::vector<std::string> ids;  ///< of what was released
  std::string refused;
  std::string reserved;
};

}  // namespace

TEST_CASE("report: a budget goes down as it was charged, reserved, given back and raised",
          "[engine][report]") {
  const ReportedClinic clinic;
  const LedgerReport report = clinic.report();
  REQUIRE(report.budgets.size() == 1);
  const BurnDown& budget = report.budgets.front();
  CHECK(budget.account.measure == "epsilon");
  CHECK(budget.active);
  const auto minute = [&clinic](std::int64_t count) { return clinic.begun + 60'000 * count; };
  const std::int64_t quarter = kWhole / 4;
  const std::vector<BurnPoint> expected{
      {.after_decision = 0, .at = report.span.from, .limit = 3 * kWhole},
      {.after_decision = 1, .at = minute(1), .limit = 3 * kWhole, .spent = 2 * quarter},
      {.after_decision = 3, .at = minute(3), .limit = 3 * kWhole, .spent = 2 * quarter, .reserved = quarter},
      {.after_decision = 4, .at = minute(4), .limit = 3 * kWhole, .spent = 2 * quarter},
      {.after_decision = 4, .at = minute(6), .limit = 4 * kWhole, .spent = 2 * quarter},
      {.after_decision = 5, .at = minute(7), .limit = 4 * kWhole, .spent = 6 * quarter}};
  CHECK(budget.points == expected);
  CHECK(budget.changes == 6);
  CHECK(report.span.until == minute(7));
}

TEST_CASE("report: decisions are counted and told by their sort, each once", "[engine][report]") {
  const ReportedClinic clinic;
  const LedgerReport report = clinic.report();
  CHECK(report.audit.ok);
  CHECK(report.unread.empty());
  CHECK(report.recorded == 5);
  CHECK(report.decisions == 5);
  CHECK(report.count(DecisionSort::released) == 2);
  CHECK(report.count(DecisionSort::refused) == 1);
  CHECK(report.count(DecisionSort::waiting) == 2);
  CHECK(report.withheld == 0);
  CHECK(clinic.told(report, DecisionSort::released) == clinic.ids);
  CHECK(clinic.told(report, DecisionSort::refused) == std::vector<std::string>{clinic.refused});
  CHECK(clinic.told(report, DecisionSort::waiting).size() == 2);
  CHECK(clinic.told(report, {}).size() == 5);
}

TEST_CASE("report: who changed a limit and why, and under which version", "[engine][report]") {
  ReportedClinic clinic;
  const LedgerReport report = clinic.report();
  REQUIRE(report.limit_changes.size() == 1);
  const auto& [account, change] = report.limit_changes.front();
  CHECK(account.dataset == "clinic");
  CHECK(change.old_limit == 3 * kWhole);
  CHECK(change.new_limit == 4 * kWhole);
  CHECK(change.by == "curator");
  CHECK(change.why == "the board agreed");
  CHECK(change.policy_version == 2);
  REQUIRE(report.versions.size() == 2);
  CHECK(report.versions[1].by == "curator");
  CHECK(report.tree->size > 5);
  REQUIRE(report.accountants.size() == 1);
  CHECK(report.accountants[0].releases == 2);
  CHECK(report.accountants[0].charged == accounting::Rational(3, 2));
  CHECK(report.accountants[0].figures.size() == accounting::kAccountants.size());
}

TEST_CASE("report: what is recorded after it was read is not told with it", "[engine][report]") {
  ReportedClinic clinic;
  const LedgerReport report = clinic.report();
  clinic.released(request("count", "0.125"));
  CHECK(clinic.told(report, {}).size() == 5);
  CHECK(clinic.told(report, DecisionSort::released) ==
        std::vector<std::string>(clinic.ids.begin(), clinic.ids.begin() + 2));
  CHECK(clinic.told(clinic.report(), DecisionSort::released) == clinic.ids);
}

TEST_CASE("report: a limit that ends and comes back breaks the course", "[engine][report]") {
  ReportedClinic clinic;
  const std::string limited =
      clinic_policy("epsilon: 4", "    limits: [{principal: alice, epsilon: 3}]\n" + waiting_rules(""));
  const std::string policy = clinic.clinic.clinic.folder.write("limited.yaml", limited);
  const auto course = [&clinic](const LedgerReport& report) {
    std::vector<bool> limited_at;
    for (const BurnDown& budget : report.budgets) {
      if (budget.account.scope != "principal:alice") continue;
      for (const BurnPoint& point : budget.points) limited_at.push_back(point.limited);
    }
    return limited_at;
  };
  (void)clinic.clinic.engine.apply_policy(policy, "curator", "a limit");
  clinic.released(request("count", "0.125"));
  CHECK(course(clinic.report()) == std::vector<bool>{true, true});
  clinic.apply("epsilon: 4", "no limit");
  CHECK(course(clinic.report()) == std::vector<bool>{true, true, false});
  REQUIRE(clinic.report().limit_removals.size() == 1);
  CHECK(clinic.report().limit_removals[0].removal.why == "no limit");
  (void)clinic.clinic.engine.apply_policy(policy, "curator", "again");
  clinic.released(request("count", "0.125"));
  CHECK(course(clinic.report()).back());
  CHECK(clinic.report().audit.ok);
}

TEST_CASE("report: only the dataset that was asked, and none that is not there", "[engine][report]") {
  ReportedClinic clinic;
  CHECK(clinic.report("clinic").decisions == 5);
  CHECK(clinic.report("clinic").budgets.size() == 1);
  CHECK_THROWS_AS(clinic.report("clinc"), NotFound);
}

TEST_CASE("report: a poisoned ledger is told without a value, and the audit says so", "[engine][report]") {
  const ReportedClinic clinic;
  clinic.clinic.clinic.folder.write("clinic.ledger.poisoned", "{\"reason\": \"committing\"}");
  const LedgerReport report = clinic.report();
  CHECK_FALSE(report.audit.ok);
  REQUIRE(report.audit.faults.size() == 1);
  CHECK(report.audit.faults[0].code == engine::kPoisoned);
  CHECK(report.poisoned);
  CHECK(report.withheld == 2);
  CHECK(report.budgets.at(0).changes == 6);
  std::size_t told = 0;
  CHECK_FALSE(engine::each_reported_decision(clinic.clinic.clinic.ledger(), report, {},
                                             clinic.clinic.clock.options(),
                                             [&](const engine::Answer& answer) {
                                               ++told;
                                               CHECK(answer.released.values.empty());
                                               CHECK(answer.released.component_values.empty());
                                             }));
  CHECK(told == 5);
}

TEST_CASE("report: a decision that cannot be read is named, and hides no other", "[engine][report]") {
  const ReportedClinic clinic;
  tamper(clinic.clinic.clinic.ledger(), "UPDATE decision SET plan = 0 WHERE seq = 1");
  const LedgerReport report = clinic.report();
  CHECK_FALSE(report.audit.ok);
  CHECK(report.decisions == 5);
  std::vector<std::string> unreadable;
  engine::EngineOptions options = clinic.clinic.clock.options();
  options.unreadable = [&](const engine::UnreadableDecision& one) { unreadable.push_back(one.decision_id); };
  std::vector<std::string> told;
  CHECK_FALSE(engine::each_reported_decision(
      clinic.clinic.clinic.ledger(), report, DecisionSort::released, options,
      [&](const engine::Answer& answer) { told.push_back(answer.recorded.decision_id); }));
  CHECK(told == std::vector<std::string>{clinic.ids[1]});
  CHECK(unreadable == std::vector<std::string>{clinic.ids[0]});
  // Balances are those that later decisions left: the course ends where the account stands.
  CHECK(report.budgets.at(0).points.back().spent == report.budgets.at(0).account.balance.spent);
}

TEST_CASE("report: a part that cannot be read is named, and the others are told", "[engine][report]") {
  const ReportedClinic without_accounts;
  tamper(without_accounts.clinic.clinic.ledger(), "DELETE FROM account");
  CHECK(without_accounts.report().budgets.empty());
  CHECK_FALSE(without_accounts.report().audit.faults.empty());
  CHECK(without_accounts.report().versions.size() == 2);
  CHECK(without_accounts.report().tree);

  const ReportedClinic without_policy;
  tamper(without_policy.clinic.clinic.ledger(), "DELETE FROM policy_version");
  const LedgerReport report = without_policy.report();
  CHECK_FALSE(report.audit.ok);
  std::vector<std::string> parts;
  for (const engine::UnreadPart& one : report.unread) parts.push_back(one.part);
  CHECK(parts == std::vector<std::string>{"policy", "accountants"});
  CHECK(report.budgets.at(0).changes == 3);  // without decisions, none of which can be vouched for
  std::size_t unreadable = 0;
  engine::EngineOptions options = without_policy.clinic.clock.options();
  options.unreadable = [&unreadable](const engine::UnreadableDecision&) { ++unreadable; };
  CHECK_FALSE(
      engine::each_reported_decision(without_policy.clinic.clinic.ledger(), report, {}, options,
                                     [](const engine::Answer&) { FAIL("no plan can be made of it"); }));
  CHECK(unreadable == 5);
}
