// Batches with a delta of their own: all rows are charged as one where epsilon and delta are counted.
#include "canonical_request.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "recordable.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace accounting;
using namespace engine;

namespace {

const std::string kOnGrid = "    release: {default: {mechanism: discrete_laplace}}\n";
const std::string kBudget = "epsilon: 5, delta: 1e-4";

engine::Request as_one(std::vector<engine::Request> rows, const std::optional<std::string>& delta,
                       const std::string& key = "") {
  engine::Request result;
  result.dataset = "clinic";
  result.principal = "alice";
  result.key = key;
  if (delta) result.delta = accounting::parse_rational(*delta, "delta");
  for (const engine::Request& row : rows)
    result.rows.push_back({row.question, row.epsilon, row.delta, row.rho});
  return result;
}

/// 200 rows of 0.01, of two kinds: 2 by the sum.
std::vector<engine::Request> many(std::size_t count = 200) {
  std::vector<engine::Request> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(request(i % 2 == 0 ? "count" : "units", "0.01"));
  return rows;
}

/// "spent" by scope and measure, of what is not 0.
std::map<std::string, std::string> all_spent(const Engine& engine) {
  std::map<std::string, std::string> result;
  for (const ledger::AccountState& account : engine.budget("clinic")) {
    if (account.balance.spent == 0) continue;
    const std::string name = (account.scope.empty() ? "" : account.scope + " ") + account.measure;
    const std::int64_t units = account.balance.spent;
    result[name] = account.measure == "delta" ? Delta::from_units(units).text()
                   : account.measure == "rho" ? accounting::Rho::from_units(units).text()
                                              : Epsilon::from_units(units).text();
  }
  return result;
}

std::vector<std::string> messages(const Answer& answer) {
  std::vector<std::string> all;
  for (const engine::Reason& reason : answer.recorded.reasons) all.push_back(reason.message);
  return all;
}

std::string charged_for(const Engine& engine, const engine::Request& asked) {
  return engine.plan(asked, {}).planned.record.charged.text();
}

}  // namespace

TEST_CASE("batch: one with a delta is charged under every declared precision", "[engine][batch][fixed]") {
  // Proved losses have more digits then than are composed, and lie just below what is charged.
  for (const char* settings : {"precision: 256", "precision: 512", "precision: 4096", "arithmetic: exact"}) {
    CAPTURE(settings);
    auto [clinic, engine] =
        Open<Clinic>(kBudget, std::string("    release: {default: {") + settings + "}}\n");
    std::vector<engine::Request> rows(3, request("count", "1/30", "", "ward"));
    const Answer answer = release(engine, as_one(rows, "1e-6"));
    CHECK(answer.recorded.granted);
    CHECK(answer.planned.record.composed);
    CHECK(audit_faults(clinic.ledger()).empty());
  }
}

TEST_CASE("batch: charged as one it costs an epsilon that is certified, and hardly more than the least",
          "[engine][batch][fixed][privacy]") {
  auto [clinic, engine] = Open<Clinic>(kBudget, kOnGrid);
  const Answer answer = release(engine, as_one(many(), "1e-6"));
  REQUIRE(answer.recorded.granted);
  const ledger::ReleaseRecord& record = answer.planned.record;
  REQUIRE(record.composed);
  CHECK(record.composed->by == accounting::ComposedBy::pld);
  CHECK(record.composed->delta.text() == "0.000001");
  CHECK(engine::sum_of_rows(answer) == accounting::ApproximateLoss(Epsilon::parse_down("2")));
  // Of a count a unit has three rows, so that its scale is three times that of units: one law for both.
  accounting::ComposedLaw law;
  law.kind = accounting::ComposedLaw::Kind::discrete_laplace;
  law.sensitivity = 3;
  law.scale = 300;
  law.count = 100;
  accounting::ComposedLaw of_units = law;
  of_units.sensitivity = 1;
  of_units.scale = 100;
  const Rational below =
      accounting::pld_epsilon_down(std::vector{law, of_units}, Rational(1, 1'000'000)).value();
  CHECK(record.charged.rational() >= below);
  CHECK(record.charged.rational() <= below * Rational(1001, 1000));
  CHECK(all_spent(engine) ==
        std::map<std::string, std::string>{{"epsilon", record.charged.text()}, {"delta", "0.000001"}});
  REQUIRE(answer.planned.delta);
  CHECK(answer.planned.delta->charged == "0.000001");
  CHECK(answer.planned.delta->adjusted == "0.000001");
  CHECK(audit_faults(clinic.ledger()).empty());
  const Answer shown = engine.show(answer.recorded.decision_id, {});
  CHECK(shown.planned.record == record);
  CHECK(shown.rows.at(199).released.values == answer.rows.at(199).released.values);
}

TEST_CASE("batch: without a delta it costs the sum, and with one that does not help the sum and that delta",
          "[engine][batch][fixed][exact]") {
  auto [clinic, engine] = Open<Clinic>(kBudget, kOnGrid);
  const Answer plain = release(engine, as_one(many(4), std::nullopt));
  CHECK_FALSE(plain.planned.record.composed);
  CHECK(all_spent(engine) == std::map<std::string, std::string>{{"epsilon", "0.04"}});
  const Answer useless = release(engine, as_one(many(4), "1e-15"));
  REQUIRE(useless.planned.record.composed);
  CHECK(useless.planned.record.composed->by == accounting::ComposedBy::sum);
  CHECK(all_spent(engine) ==
        std::map<std::string, std::string>{{"epsilon", "0.08"}, {"delta", "0.000000000000001"}});
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE("batch: three that fill a budget pass, and the fourth does not", "[engine][batch][fixed][G4]") {
  const Clinic roomy(kBudget, kOnGrid);
  const Epsilon one = Epsilon::parse_down(charged_for(roomy.open(), as_one(many(), "1e-6")));
  const std::string limit = Epsilon::from_units(3 * one.units()).text();
  auto [clinic, engine] = Open<Clinic>("epsilon: " + limit + ", delta: 3e-6", kOnGrid);
  for (int i = 0; i < 3; ++i) CHECK(release(engine, as_one(many(), "1e-6")).recorded.granted);
  CHECK(all_spent(engine) == std::map<std::string, std::string>{{"epsilon", limit}, {"delta", "0.000003"}});
  const Answer refused = release(engine, as_one(many(), "1e-6"));
  REQUIRE(refused.recorded.reasons.size() == 2);
  CHECK(refused.recorded.reasons[0].measure == "delta");
  CHECK(refused.recorded.reasons[0].asked == "0.000001");
  CHECK(refused.recorded.reasons[1].asked == one.text());
  CHECK(refused.recorded.reasons[1].over_by == one.text());
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE("batch: its delta is part of the question that a key is bound to", "[engine][batch][fixed][G5]") {
  auto [clinic, engine] = Open<Clinic>(kBudget, kOnGrid);
  const Answer answer = release(engine, as_one(many(10), "1e-6", "k"));
  CHECK(release(engine, as_one(many(10), "0.000001", "k")).recorded.replayed);
  CHECK(reason_codes(release(engine, as_one(many(10), "2e-6", "k"))) ==
        std::vector{RefusalCode::key_conflict});
  CHECK(reason_codes(release(engine, as_one(many(10), std::nullopt, "k"))) ==
        std::vector{RefusalCode::key_conflict});
  CHECK(engine.same_question(as_one(many(10), "1e-6")) == answer.recorded.decision_id);
  CHECK(engine.same_question(as_one(many(10), std::nullopt)).empty());
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE("batch: what is recorded of its delta is read back, and nothing else is taken for one",
          "[engine][batch][fixed][G5]") {
  const engine::Request asked = as_one(many(2), "1/3");
  const std::string canonical = engine::canonical_request(asked);
  CHECK_THAT(canonical, says(R"({"dataset":"clinic","delta":"1/3","rows":[{)"));
  CHECK_NOTHROW(engine::require_recordable(asked, canonical));
  const engine::Request read = engine::parse_stored_request(canonical).request;
  REQUIRE(read.delta);
  CHECK(*read.delta == Rational(1, 3));
  CHECK(engine::canonical_request(read) == canonical);
  for (const char* const delta : {"1", "\"x\"", "null", "[]"}) {
    const std::string other = std::string(R"({"dataset":"clinic","delta":)") + delta +
                              R"(,"rows":[{"epsilon":"1","statistic":"count"}]})";
    CAPTURE(other);
    CHECK_THROWS_AS(engine::parse_stored_request(other), ledger::UnreadableRow);
  }
}

TEST_CASE("batch: each account is charged in its own way by one decision", "[engine][batch][fixed][exact]") {
  auto [clinic, engine] = Open<Clinic>(kBudget, kOnGrid +
                                                    "    limits:\n"
                                                    "      - {principal: alice, measure: pure, epsilon: 9}\n"
                                                    "      - {role: research, measure: zcdp, rho: 5}\n"
                                                    "principals: {alice: {roles: [research]}}\n");
  const Answer answer = release(engine, as_one(many(), "1e-6"));
  REQUIRE(answer.recorded.granted);
  CHECK(all_spent(engine) ==
        std::map<std::string, std::string>{{"epsilon", answer.planned.record.charged.text()},
                                           {"delta", "0.000001"},
                                           {"principal:alice epsilon", "2"},
                                           {"role:research rho", "0.01"}});
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE("batch: a block is charged as one for the rows that cover it, with the same delta",
          "[engine][batch][fixed][blocks]") {
  auto [clinic, engine] =
      Open<Clinic>(kBudget, "    lifetime: {epsilon: 9, delta: 1e-4}\n    blocks: {by: ward}\n" + kOnGrid);
  std::vector<engine::Request> in_a;
  std::vector<engine::Request> in_both;
  for (int i = 0; i < 60; ++i) {
    in_a.push_back(request("count", "0.02", "", std::nullopt, "ward = 'A'"));
    in_both.push_back(request("sum:age", "0.01", "", std::nullopt, "ward in ('A', 'B')"));
  }
  std::vector<engine::Request> rows = in_a;
  rows.insert(rows.end(), in_both.begin(), in_both.end());
  const std::string of_all = charged_for(engine, as_one(rows, "1e-6"));
  const std::string of_both = charged_for(engine, as_one(in_both, "1e-6"));
  REQUIRE(of_both != of_all);
  REQUIRE(of_both != "0.6");
  const Answer answer = release(engine, as_one(rows, "1e-6"));
  REQUIRE(answer.recorded.granted);
  CHECK(all_spent(engine) == std::map<std::string, std::string>{{"block:A epsilon", of_all},
                                                                {"block:A delta", "0.000001"},
                                                                {"block:B epsilon", of_both},
                                                                {"block:B delta", "0.000001"},
                                                                {"lifetime epsilon", of_all},
                                                                {"lifetime delta", "0.000001"}});
  CHECK(audit_faults(clinic.ledger()).empty());
  // In retrospect it is no more than what was charged, in the block and in all.
  engine::ReaccountQuestion question;
  question.accountants = {accounting::Accountant::pld};
  question.delta = Rational(1, 1'000'000);
  question.scopes = true;
  std::map<std::string, Rational> found;
  for (const engine::Reaccount& one : engine::reaccount(clinic.ledger(), question))
    found[one.scope] = one.figures.at(0).bound.value();
  CHECK(found["lifetime"] <= Epsilon::parse_down(of_all).rational());
  CHECK(found["block:B"] <= Epsilon::parse_down(of_both).rational());
}

TEST_CASE("batch: caps on one release see each row, and the whole as it is charged",
          "[engine][batch][fixed][refused]") {
  auto [clinic, engine] = Open<Clinic>(kBudget, kOnGrid + "    per_release: {epsilon: 1, delta: 1e-6}\n");
  CHECK(messages(release(engine, as_one(many(), std::nullopt))).at(0).find("all rows: epsilon") == 0);
  CHECK(release(engine, as_one(many(), "1e-6")).recorded.granted);
  const std::vector<std::string> too_much = messages(release(engine, as_one(many(), "2e-6")));
  REQUIRE(too_much.size() == 1);
  CHECK_THAT(too_much[0], says("all rows: delta of one release of 'clinic': limit 0.000001"));
  CHECK_THAT(too_much[0], says("asked 0.000002"));
  // At so large a delta the whole keeps less than 1, and its only row does not.
  auto [large, other] = Open<Clinic>("epsilon: 5, delta: 0.5", kOnGrid + "    per_release: {epsilon: 1}\n");
  const std::vector<std::string> of_row = messages(release(other, as_one({request("units", "1.05")}, "0.1")));
  REQUIRE(of_row.size() == 1);
  CHECK_THAT(of_row[0], says("row 1: epsilon of one release"));
  CHECK(audit_faults(clinic.ledger()).empty());
  CHECK(audit_faults(large.ledger()).empty());
}

TEST_CASE("batch: where a budget is pure, caps see the sum of the epsilons",
          "[engine][batch][fixed][refused]") {
  auto [clinic, engine] =
      Open<Clinic>(kBudget, kOnGrid +
                                "    per_release: {epsilon: 1, delta: 1e-6}\n"
                                "    limits: [{principal: bob, measure: pure, epsilon: 9}]\n"
                                "principals: {alice: {}, bob: {}}\n");
  const std::vector<std::string> why = messages(release(engine, as_one(many(), "1e-6")));
  REQUIRE(why.size() == 1);
  CHECK_THAT(why[0], says("all rows: epsilon of one release of 'clinic': limit 1"));
  CHECK_THAT(why[0], says("asked 2"));
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE(
    "batch: where no account that is debited counts delta, its delta is at most what one release may have",
    "[engine][batch][fixed][refused]") {
  auto [clinic, engine] =
      Open<Clinic>("measure: zcdp, rho: 1", kOnGrid +
                                                "    limits: [{principal: bob, epsilon: 9, delta: 1e-3}]\n"
                                                "principals: {alice: {}, bob: {}}\n");
  const std::vector<std::string> why = messages(release(engine, as_one(many(), "1e-5")));
  REQUIRE(why.size() == 1);
  CHECK_THAT(why[0], says("all rows: delta of one release of 'clinic': limit 0.000001"));
  CHECK(release(engine, as_one(many(), "1e-6")).recorded.granted);
  CHECK(all_spent(engine) == std::map<std::string, std::string>{{"rho", "0.01"}});
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE("batch: a delta that cannot be charged is refused, named, and nothing is recorded",
          "[engine][batch][fixed][negative]") {
  auto [clinic, engine] = Open<Clinic>(kBudget, kOnGrid + "    allow: {statistics: [count, units, sum]}\n");
  const auto refuses = [](Engine& asked_of, const engine::Request& asked, const char* why) {
    CHECK_THROWS_WITH(release(asked_of, asked), says(why));
    CHECK_THROWS_WITH(asked_of.plan(asked, {}), says(why));
  };
  refuses(engine, as_one(many(2), "0"), "delta: must lie strictly between 0 and 1");
  refuses(engine, as_one(many(2), "1"), "delta: must lie strictly between 0 and 1");
  refuses(engine, as_one(many(2), "1e-19"), "below the smallest one kept");
  CHECK(engine.newest_seq() == 0);

  auto [gaussian, both] = Open<Clinic>(kBudget, "    release: {default: {mechanism: discrete_gaussian}}\n");
  engine::Request row = request("count", "0.5");
  row.delta = Rational(1, 1'000'000);
  refuses(both, as_one({row, row}, "1.9e-6"),
          "delta: the rows lose 0.000002 together, more than the 0.0000019 of the whole batch");
  CHECK(release(both, as_one({row, row}, "2e-6")).recorded.granted);
  CHECK(audit_faults(gaussian.ledger()).empty());

  auto [concentrated, zcdp] = Open<Clinic>("measure: zcdp, rho: 1", kOnGrid);
  refuses(zcdp, as_one(many(2), "1e-6"), "delta: no budget of 'clinic' counts epsilon and delta");
  auto [pure, sums] = Open<Clinic>("epsilon: 3", kOnGrid);
  refuses(sums, as_one(many(2), "1e-6"), "delta: no budget of 'clinic' counts epsilon and delta");
}

TEST_CASE(
    "batch: of Gaussian rows, means, quantiles and snapped values each is charged by what is proved of it",
    "[engine][batch][fixed][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 50, delta: 1e-3",
                                       "    allow: {statistics: [count, units, mean, quantile, proportion]}\n"
                                       "    release: {units: {mechanism: discrete_gaussian}}\n");
  engine::Request noisy = request("units", "0.1", "", "ward");
  noisy.delta = Rational(1, 10'000'000);
  std::vector<engine::Request> rows;
  for (int i = 0; i < 12; ++i) {
    rows.push_back(request("mean:cost", "0.05", "", "ward"));
    rows.push_back(request("quantiles:age:0.2,0.8", "0.05"));
    rows.push_back(request("proportion:ward:A", "0.05"));
    rows.push_back(request("count", "0.05"));
    rows.push_back(noisy);
  }
  const Answer answer = release(engine, as_one(rows, "1e-5"));
  REQUIRE(answer.recorded.granted);
  CHECK(engine::sum_of_rows(answer).text() == "(3.6, 0.0000012)");
  REQUIRE(answer.planned.record.composed);
  CHECK(answer.planned.record.charged < Epsilon::parse_down("2"));
  CHECK(all_spent(engine)["delta"] == "0.00001");
  CHECK(audit_faults(clinic.ledger()).empty());
}

TEST_CASE("batch: a plan says where gaussian is charged less than discrete_gaussian, as it would be charged",
          "[engine][batch][fixed][plan]") {
  const std::string budget = "epsilon: 50, delta: 1e-3";
  auto [discrete, engine] = Open<Clinic>(budget, "    release: {default: {mechanism: discrete_gaussian}}\n");
  auto [other, continuous] = Open<Clinic>(budget, "    release: {default: {mechanism: gaussian}}\n");
  engine::Request table = request("count", "0.5", "", "ward"), count = request("count", "0.5");
  table.delta = count.delta = Rational(1, 10'000'000);
  const engine::Request asked = as_one({table, table, table, table}, "1e-5");
  const std::string charged = charged_for(engine, asked), cheaper = charged_for(continuous, asked);
  CHECK(Epsilon::parse_down(cheaper) < Epsilon::parse_down(charged));
  const std::vector<std::string> advice = engine.plan(asked, {}).planned.advice;
  REQUIRE(advice.size() == 1);
  CHECK_THAT(advice.front(), says("gaussian in place of discrete_gaussian would charge epsilon " + cheaper +
                                  " in place of " + charged + " for all rows, and no row would err more"));
  CHECK(continuous.plan(asked, {}).planned.advice.empty());
  CHECK(engine.plan(as_one({count, count}, "1e-5"), {}).planned.advice.empty());  // its law is known
  CHECK(engine.plan(as_one({table, table}, std::nullopt), {}).planned.advice.empty());
}

TEST_CASE("batch: charged as one it is held, waits, is cancelled and is answered like any other",
          "[engine][batch][fixed][approvals]") {
  WaitingClinic waiting(kTwoApprovals, "epsilon: 5, delta: 1e-4");
  const auto reserved = [&] {
    std::map<std::string, std::int64_t> units;
    for (const ledger::AccountState& account : waiting.engine.budget("clinic"))
      if (account.balance.reserved > 0) units[account.measure] = account.balance.reserved;
    return units;
  };
  engine::Request asked = as_one(many(), "1e-6");
  const Epsilon cost = Epsilon::parse_down(charged_for(waiting.engine, asked));
  const std::map<std::string, std::int64_t> kept{{"epsilon", cost.units()}, {"delta", 1'000'000'000'000}};
  REQUIRE(cost > Epsilon::parse_down("0.5"));
  // Above 0.5 it waits; its commit is charged what was reserved.
  const Answer pending = release(waiting.engine, asked);
  REQUIRE(text(pending.recorded.state) == "pending");
  waiting.engine.approve(pending.recorded.decision_id, "carol");
  waiting.engine.approve(pending.recorded.decision_id, "dave");
  CHECK(reserved() == kept);
  const Answer granted = waiting.commit(pending.recorded.decision_id);
  REQUIRE(granted.recorded.granted);
  CHECK(granted.planned.record.charged == cost);
  CHECK(reserved().empty());
  CHECK(all_spent(waiting.engine) ==
        std::map<std::string, std::string>{{"epsilon", cost.text()}, {"delta", "0.000001"}});
  // Below it, it is held at once; given back, or not.
  engine::Request small = held(as_one(many(20), "1e-6"));
  const Answer held = waiting.engine.reserve(small, {});
  REQUIRE(text(held.recorded.state) == "reserved");
  CHECK(reserved().at("delta") == 1'000'000'000'000);
  CHECK(text(waiting.engine.cancel(held.recorded.decision_id, "alice").recorded.state) == "cancelled");
  CHECK(reserved().empty());
  const Answer late = waiting.engine.reserve(small, {});
  waiting.clock.pass_seconds(3601);
  (void)release(waiting.engine, request("count", "0.1"));
  CHECK(text(waiting.engine.show(late.recorded.decision_id, {}).recorded.state) == "expired");
  CHECK(waiting.audit().empty());
}

TEST_CASE("batch: a row that needs approval by itself waits, though the whole is charged less",
          "[engine][batch][fixed][approvals]") {
  WaitingClinic waiting("{required: 1, by: {principals: [dave]}, above: {epsilon: 1}}",
                        "epsilon: 5, delta: 0.5");
  const engine::Request asked = as_one({request("units", "1.05")}, "0.1");
  const Answer answer = release(waiting.engine, asked);
  CHECK(answer.planned.record.charged < Epsilon::parse_down("1"));
  CHECK(text(answer.recorded.state) == "pending");
  CHECK(text(release(waiting.engine, as_one({request("units", "0.95")}, "0.1")).recorded.state) == "granted");
  CHECK(waiting.audit().empty());
}

TEST_CASE("batch: a policy that cannot charge it as one any more ends what waited",
          "[engine][batch][fixed][approvals]") {
  WaitingClinic waiting(kTwoApprovals, "epsilon: 5, delta: 1e-4");
  const Answer pending = release(waiting.engine, as_one(many(), "1e-6"));
  waiting.engine.approve(pending.recorded.decision_id, "carol");
  waiting.clinic.folder.write("later.yaml",
                              clinic_policy("measure: zcdp, rho: 5", waiting_rules(kTwoApprovals)));
  waiting.engine.apply_policy(waiting.clinic.folder.path("later.yaml"), "curator", "other measure");
  const Answer refused = waiting.engine.approve(pending.recorded.decision_id, "dave");
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].code == RefusalCode::policy_changed);
  CHECK_THAT(refused.recorded.reasons[0].message, says("whether it can be answered"));
  CHECK(waiting.audit().empty());
}

TEST_CASE("batch: of a total the accuracies have the least factor at which the charge fits",
          "[engine][batch][fixed][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100, delta: 1e-3", kOnGrid);
  const Rational alpha(1, 20);
  engine::Request asked = as_one(many(60), "1e-6");
  const std::vector<accounting::Exact> wanted(60, Rational(100));
  const Rational total(1, 2);
  const engine::AccurateBatch found = engine.accurate_batch(asked, wanted, alpha, total);
  REQUIRE(found.batch.delta);
  const Answer plan = engine.plan(found.batch, {});
  CHECK(plan.planned.record.charged.rational() <= total);
  CHECK(engine::sum_of_rows(plan).epsilon.rational() > total);
  const std::vector<accounting::Exact> finer(60, Rational(100 * (found.factor - Rational(1, 1000))));
  CHECK(engine.plan(engine.accurate_batch(asked, finer, alpha, std::nullopt).batch, {})
            .planned.record.charged.rational() > total);
  asked.delta.reset();
  CHECK(engine.accurate_batch(asked, wanted, alpha, total).factor > found.factor);
}

TEST_CASE("batch: a charge below the certified one is found, and so is another bound than it was by",
          "[engine][batch][fixed][audit][negative]") {
  const std::vector<std::pair<const char*, const char*>> forgeries{
      {"UPDATE plan SET release = json_set(release, '$.charged', '0.5')", "release_changed"},
      {"UPDATE plan SET release = json_set(release, '$.composed.accountant', 'zcdp')", "release_changed"},
      {"UPDATE plan SET release = json_set(release, '$.composed.delta', '0.000002')", "release_changed"},
      {"UPDATE plan SET release = json_remove(release, '$.composed')", "release_changed"},
      {"UPDATE movement SET spent_change = spent_change - 1, spent = spent - 1 WHERE spent <> 1000000000000",
       "charge_changed"},
      {"UPDATE movement SET spent_change = spent_change - 1, spent = spent - 1 WHERE spent = 1000000000000",
       "charge_changed"}};
  for (const auto& [sql, code] : forgeries) {
    CAPTURE(sql);
    const Clinic clinic(kBudget, kOnGrid);
    {
      Engine engine = clinic.open();
      REQUIRE(release(engine, as_one(many(), "1e-6")).recorded.granted);
    }
    tamper_with_log(clinic.ledger(), sql);
    CHECK_THAT(audit_faults(clinic.ledger()), says(code));
  }
}
