// Batches from the request to the audit: several questions that are decided, charged, answered and recorded
// as one.
#include "batch_plan.hpp"
#include "canonical_request.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/comparison.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "plan_intervals.hpp"
#include "question_checks.hpp"
#include "recordable.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

/// Where the data decide: noise of discrete Laplace in a whole number that is not 0, here of a sum of at most
/// 3 ages of a unit, has a probability below 2 e^-300.
const std::string kExact = "    release: {default: {mechanism: discrete_laplace}}\n";
const std::string kBeyondDoubt = "100000";

engine::Request batch(const std::vector<engine::Request>& rows, const std::string& key = "") {
  engine::Request result;
  result.dataset = "clinic";
  result.principal = "alice";
  result.key = key;
  for (const engine::Request& row : rows)
    result.rows.push_back({row.question, row.epsilon, row.delta, row.rho});
  return result;
}

std::vector<std::pair<RefusalCode, std::size_t>> reasons(const Answer& answer) {
  std::vector<std::pair<RefusalCode, std::size_t>> codes;
  for (const engine::Reason& reason : answer.recorded.reasons) codes.emplace_back(reason.code, reason.row);
  return codes;
}

std::vector<std::vector<Rational>> values(const Answer& answer) {
  std::vector<std::vector<Rational>> all;
  for (const Answer& row : answer.rows) all.push_back(row.released.values);
  return all;
}

/// One of each kind of answer.
std::vector<engine::Request> every_kind(const std::string& epsilon) {
  return {request("count", epsilon),
          request("mean:cost", epsilon, "", "ward"),
          request("sum:age", epsilon, "", std::nullopt, "ward = 'A' or ward = 'B'"),
          request("units", epsilon, "", "ward"),
          request("median:age", epsilon),
          request("quantiles:age:0.2,0.8", epsilon),
          request("quantiles:age:0.2,0.8", epsilon, "", "ward"),
          request("proportion:ward:A", epsilon),
          request("distinct:ward", epsilon),
          request("count:age", epsilon, "", "ward")};
}
const std::string kEveryKind =
    "    allow: {statistics: [count, units, sum, mean, quantile, proportion, distinct, count_of]}\n";

}  // namespace

TEST_CASE("batch: each row is answered as it would be alone, from one reading", "[engine][batch][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 2000000", kEveryKind + kExact);
  const std::vector<engine::Request> asked = every_kind(kBeyondDoubt);
  const Answer answer = release(engine, batch(asked));
  REQUIRE(answer.recorded.granted);
  REQUIRE(answer.rows.size() == asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CAPTURE(i);
    const Answer alone = release(engine, asked[i]);
    const Answer& row = answer.rows[i];
    CHECK(row.asked.statistic == alone.asked.statistic);
    // Any value between two rows is as good a quantile, and a mean is drawn on a fine grid.
    if (row.asked.statistic.find("quantile") == std::string::npos && row.asked.statistic != "mean:cost") {
      CHECK(row.released.values == alone.released.values);
      CHECK(row.released.component_values == alone.released.component_values);
    }
    CHECK(row.planned.record == alone.planned.record);
    CHECK(row.planned.post_processing == alone.planned.post_processing);
  }
  CHECK(answer.asked.statistic == "batch");
  CHECK(answer.released.values.empty());
  CHECK(answer.planned.record.charged.text() == "1000000");
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("batch: it is one decision and one charge, and a retry under its key is free",
          "[engine][batch][G5]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", kEveryKind);
  const Answer answer = release(engine, batch(every_kind("0.1"), "monday"));
  REQUIRE(answer.recorded.granted);
  CHECK(spent(engine) == "1");
  const Answer again = release(engine, batch(every_kind("0.1"), "monday"));
  CHECK(again.recorded.replayed);
  CHECK(again.recorded.decision_id == answer.recorded.decision_id);
  CHECK(values(again) == values(answer));
  CHECK(values(engine.show(answer.recorded.decision_id, {})) == values(answer));
  CHECK(engine.same_question(batch(every_kind("0.1"))) == answer.recorded.decision_id);
  CHECK(spent(engine) == "1");
  std::vector<engine::Request> others = every_kind("0.1");
  std::swap(others[0], others[1]);
  CHECK(reasons(release(engine, batch(others, "monday"))) ==
        std::vector<std::pair<RefusalCode, std::size_t>>{{RefusalCode::key_conflict, 0}});
  std::vector<std::string> told;
  engine.history("", 0, [&](const Answer& one) { told.push_back(one.asked.statistic); });
  CHECK(told == std::vector<std::string>{"batch", "batch"});
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("batch: a row that is refused refuses all of it, and every row that is says why",
          "[engine][batch][refused]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3",
                                       "    per_release: {epsilon: 1}\n"
                                       "    allow: {columns: [age], by: [ward]}\n"
                                       "    forbid: [{by: [ward], statistics: [units]}]\n");
  const Answer refused = release(
      engine, batch({request("count", "0.1"), request("sum:cost", "0.1"), request("units", "0.1", "", "ward"),
                     request("median:age", "0.1"), request("count", "1.5"), request("sum:age", "0.3")}));
  CHECK_FALSE(refused.recorded.granted);
  CHECK(reasons(refused) ==
        std::vector<std::pair<RefusalCode, std::size_t>>{{RefusalCode::forbidden, 3},
                                                         {RefusalCode::statistic_not_allowed, 4},
                                                         {RefusalCode::column_not_allowed, 2},
                                                         {RefusalCode::per_release_limit_exceeded, 5},
                                                         {RefusalCode::per_release_limit_exceeded, 0}});
  CHECK_THAT(refused.recorded.reasons[2].message, says("row 2: column 'cost'"));
  CHECK_THAT(refused.recorded.reasons[3].message, says("row 5: epsilon of one release"));
  CHECK_THAT(refused.recorded.reasons[4].message, says("all rows: epsilon of one release"));
  CHECK(refused.recorded.reasons[4].asked == "2.2");
  CHECK(spent(engine) == "0");
  // Each fits, and all of them do not.
  const Answer together = release(engine, batch({request("count", "0.6"), request("sum:age", "0.6")}));
  CHECK(reasons(together) ==
        std::vector<std::pair<RefusalCode, std::size_t>>{{RefusalCode::per_release_limit_exceeded, 0}});
  const Answer shown = engine.show(refused.recorded.decision_id, {});
  CHECK(shown.recorded.reasons == refused.recorded.reasons);
  CHECK(shown.rows.size() == 6);
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("batch: what cannot be asked names its row, and nothing is recorded", "[engine][batch][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  const engine::Request fine = request("count", "0.1");
  const auto refuses = [&](const engine::Request& asked, const char* why) {
    CHECK_THROWS_WITH(release(engine, asked), says(why));
    CHECK_THROWS_WITH(engine.plan(asked, {}), says(why));
  };
  refuses(batch({fine, request("value:score", "0.1")}), "row 2: 'value:score' is computed elsewhere");
  refuses(batch({fine, fine, request("sum:costs", "0.1")}), "row 3: ");
  refuses(batch({request("count", "0.1", "", std::nullopt, "age > 3 and age < 2")}), "row 1: ");
  engine::Request with_delta = fine;
  with_delta.delta = Rational(1, 1000);
  refuses(batch({with_delta}), "row 1: delta: ");
  engine::Request free = batch({fine});
  free.rows[0].epsilon = Rational(0);
  CHECK_THROWS_WITH(release(engine, free), says("row 1: epsilon: must be positive"));
  refuses(batch(std::vector<engine::Request>(engine::kBatchRowsMax + 1, fine)), "more than 1000");
  engine::Request supplied_too = batch({fine});
  supplied_too.supplied = "1";
  CHECK_THROWS_WITH(release(engine, supplied_too), says("a batch is computed from the data source"));
  engine::Request guarded = batch({fine});
  guarded.reservation = engine::ReservationKind::reserved_against_token;
  CHECK_THROWS_WITH(engine.reserve(guarded, {}), says("a batch is computed here"));
  CHECK_THROWS_WITH(engine.forecast(batch({fine}), {}), says("batch: "));
  CHECK_THROWS_WITH(engine.compare(batch({fine}), {}), says("batch: "));
  CHECK(engine.newest_seq() == 0);
}

TEST_CASE("batch: more cells than one decision holds are refused before anything is read",
          "[engine][batch][negative]") {
  std::string wards;
  for (int i = 0; i < 1'001; ++i) wards += (i == 0 ? "w" : ", w") + std::to_string(i);
  engine::Policy policy =
      engine::checked_policy(replaced(clinic_policy("epsilon: 3"), "[A, B, C]", "[" + wards + "]"), "test");
  const engine::Dataset& dataset = policy.dataset("clinic");
  const auto checked = [&](std::size_t rows) {
    const engine::Request asked =
        batch(std::vector<engine::Request>(rows, request("count", "0.01", "", "ward")));
    engine::require_answerable(dataset, asked, engine::plan_request(dataset, asked));
  };
  CHECK_NOTHROW(checked(99));
  CHECK_THROWS_WITH(checked(100), says("100100 cells together, more than 100000"));
}

TEST_CASE("batch: a block is charged by the rows that cover it, and the lifetime by all",
          "[engine][batch][blocks]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1", "    lifetime: {epsilon: 2}\n    blocks: {by: ward}\n");
  const Answer answer = release(
      engine, batch({request("count", "0.1"), request("sum:age", "0.2", "", std::nullopt, "ward = 'A'"),
                     request("count", "0.4", "", std::nullopt, "ward in ('A', 'B')")}));
  REQUIRE(answer.recorded.granted);
  std::map<std::string, std::string> charged;
  for (const auto& account : engine.budget("clinic"))
    charged[account.scope] = accounting::Epsilon::from_units(account.balance.spent).text();
  CHECK(charged == std::map<std::string, std::string>{
                       {"block:A", "0.7"}, {"block:B", "0.5"}, {"block:C", "0.1"}, {"lifetime", "0.7"}});
  // What is left of one block refuses the whole.
  const Answer refused = release(engine, batch({request("count", "0.1", "", std::nullopt, "ward = 'C'"),
                                                request("count", "0.4", "", std::nullopt, "ward = 'A'")}));
  REQUIRE(reasons(refused) ==
          std::vector<std::pair<RefusalCode, std::size_t>>{{RefusalCode::block_budget_exceeded, 0}});
  CHECK(refused.recorded.reasons[0].scope == "block:A");
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("batch: of a block no more is said in retrospect than what was charged to it",
          "[engine][batch][blocks][reaccount]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 5", "    lifetime: {epsilon: 5}\n    blocks: {by: ward}\n" + kExact);
  REQUIRE(release(engine, batch({request("count", "0.5", "", std::nullopt, "ward = 'A'"),
                                 request("count", "2", "", std::nullopt, "ward = 'B'")}))
              .recorded.granted);
  std::map<std::string, std::string> pure;
  engine::ReaccountQuestion question;
  question.accountants = {accounting::Accountant::pure};
  question.delta = Rational(0);
  question.scopes = true;
  for (const engine::Reaccount& one : engine::reaccount(clinic.ledger(), question)) {
    pure[one.scope] = accounting::text(one.figures.at(0).bound.value());
  }
  CHECK(pure["block:A"] == "0.5");
  CHECK(pure["block:B"] == "2");
  CHECK(pure["lifetime"] == "2.5");
}

TEST_CASE("batch: Gaussian rows add in rho and in delta, as they were asked", "[engine][batch][exact]") {
  const std::string gaussian = "    release: {default: {mechanism: discrete_gaussian}}\n";
  const auto by_rho = [](const char* statistic, const Rational& rho) {
    engine::Request asked = request(statistic, "0");
    asked.rho = rho;
    return asked;
  };
  auto [concentrated, zcdp] = Open<Clinic>("measure: zcdp, rho: 1", gaussian);
  REQUIRE(release(zcdp, batch({by_rho("count", Rational(1, 10)), by_rho("sum:age", Rational(1, 4))}))
              .recorded.granted);
  CHECK(accounting::Rho::from_units(zcdp.budget("clinic").at(0).balance.spent).text() == "0.35");
  CHECK(engine::audit_verify(concentrated.ledger()).faults.empty());

  auto [approximate, both] = Open<Clinic>("epsilon: 3, delta: 1e-5", gaussian);
  engine::Request first = request("count", "0.5");
  first.delta = Rational(1, 1'000'000);
  engine::Request second = request("sum:age", "0.25");
  second.delta = Rational(2, 1'000'000);
  const Answer answer = release(both, batch({first, second}));
  REQUIRE(answer.recorded.granted);
  REQUIRE(answer.planned.delta);
  CHECK(answer.planned.delta->requested == "0.000003");
  CHECK(answer.planned.delta->charged == "0.000003");
  for (const auto& account : both.budget("clinic")) {
    if (account.measure == "delta")
      CHECK(accounting::Delta::from_units(account.balance.spent).text() == "0.000003");
  }
  CHECK(spent(both) == "0.75");
  CHECK(engine::audit_verify(approximate.ledger()).faults.empty());
}

TEST_CASE("batch: whole charge above what needs approval waits, and is answered by its commit",
          "[engine][batch][approvals]") {
  WaitingClinic waiting;
  const engine::Request asked =
      batch({request("count", "0.4"), request("mean:cost", "0.4", "", "ward")}, "k");
  const Answer pending = release(waiting.engine, asked);
  CHECK(text(pending.recorded.state) == "pending");
  CHECK(pending.rows.size() == 2);
  CHECK(waiting.balance() == "0/0");
  waiting.engine.approve(pending.recorded.decision_id, "carol");
  const Answer reserved = waiting.engine.approve(pending.recorded.decision_id, "dave");
  CHECK(text(reserved.recorded.state) == "reserved");
  CHECK(waiting.balance() == "0/0.8");
  const Answer granted = waiting.commit(pending.recorded.decision_id);
  REQUIRE(granted.recorded.granted);
  CHECK(values(granted)[1].size() == 3);
  CHECK(waiting.balance() == "0.8/0");
  CHECK(values(release(waiting.engine, asked)) == values(granted));
  const Answer waits =
      waiting.engine.reserve(held(batch({request("count", "0.1"), request("units", "0.1")})), {});
  CHECK(text(waits.recorded.state) == "reserved");
  CHECK(text(waiting.engine.cancel(waits.recorded.decision_id, "alice").recorded.state) == "cancelled");
  CHECK(waiting.balance() == "0.8/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("batch: a later policy that answers one row otherwise ends what waited",
          "[engine][batch][approvals]") {
  WaitingClinic waiting;
  const Answer pending =
      release(waiting.engine, batch({request("count", "0.4"), request("mean:cost", "0.4", "", "ward")}));
  waiting.engine.approve(pending.recorded.decision_id, "carol");
  waiting.clinic.folder.write(
      "later.yaml",
      replaced(clinic_policy("epsilon: 3", waiting_rules(kTwoApprovals)), "[0, 5000]", "[0, 6000]"));
  waiting.engine.apply_policy(waiting.clinic.folder.path("later.yaml"), "curator", "wider");
  const Answer refused = waiting.engine.approve(pending.recorded.decision_id, "dave");
  CHECK(text(refused.recorded.state) == "refused");
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].code == RefusalCode::policy_changed);
  CHECK_THAT(refused.recorded.reasons[0].message, says("sensitivity"));
  CHECK(waiting.audit().empty());
}

TEST_CASE("batch: simultaneous intervals hold for all rows together: each has its part of alpha",
          "[engine][batch][interval]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1000", kExact);
  mechanisms::SystemBits bits;
  const Rational alpha(1, 20);
  const Answer answer =
      engine.release(batch({request("count", "0.5"), request("count", "0.5", "", "ward")}), bits, {alpha});
  const auto& scalar = answer.rows[0].released.intervals.at(0);
  REQUIRE(scalar.each.size() == 1);
  REQUIRE(scalar.together.size() == 1);
  const engine::Policy policy = engine::checked_policy(clinic_policy("epsilon: 1000", kExact), "test");
  const engine::Plan plan = engine::make_plan(policy.dataset("clinic"), request("count", "0.5"));
  const std::vector<Rational> half{alpha / 2};
  const auto& released = answer.rows[0].released;
  const auto of_half = engine::PlanIntervals(plan, half).of(released.component_values, released.values);
  CHECK(scalar.together[0].low == of_half.at(0).each.at(0).low);
  CHECK(scalar.together[0].high == of_half.at(0).each.at(0).high);
  CHECK(scalar.together[0].high > scalar.each[0].high);
  const auto& cells = answer.rows[1].released.intervals.at(0);
  REQUIRE(cells.together.size() == 3);
  CHECK(cells.together[0].high - cells.together[0].low > cells.each[0].high - cells.each[0].low);
  // The least alpha of all leaves no part for each of them.
  const Answer narrow = engine.show(answer.recorded.decision_id, {engine::Alphas::least()});
  CHECK(narrow.rows[0].released.intervals.at(0).together.empty());
}

TEST_CASE("batch: what is recorded of the request is read back, and nothing else is taken for one",
          "[engine][batch][G5]") {
  engine::Request asked = batch(every_kind("1/3"));
  asked.purpose = "audit";
  asked.rows[1].question.where = engine::parse_question("count", std::nullopt, "age > 3").where;
  const std::string canonical = engine::canonical_request(asked);
  CHECK_NOTHROW(engine::require_recordable(asked, canonical));
  const engine::Request read = engine::parse_stored_request(canonical).request;
  CHECK(read.rows.size() == asked.rows.size());
  CHECK(engine::canonical_request(read) == canonical);
  CHECK(engine::parse_stored_request(engine::conflicting_request(asked)).request.rows.size() ==
        asked.rows.size());
  for (const char* other :
       {R"({"dataset":"clinic","rows":[]})", R"({"dataset":"clinic","rows":{}})",
        R"({"dataset":"clinic","rows":[{"epsilon":"1"}]})",
        R"({"dataset":"clinic","epsilon":"1","rows":[{"epsilon":"1","statistic":"count"}]})",
        R"({"dataset":"clinic","rows":[{"epsilon":"1","statistic":"count"}],"statistic":"count"})",
        R"({"dataset":"clinic","rows":[{"epsilon":"1","rho":"1","statistic":"count"}]})"}) {
    CAPTURE(other);
    CHECK_THROWS_AS(engine::parse_stored_request(other), ledger::UnreadableRow);
  }
}

TEST_CASE("batch: an accuracy costs each row its least epsilon, and one grid step less is not enough",
          "[engine][batch][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100", kExact);
  const Rational alpha(1, 20);
  const std::vector<accounting::Exact> wanted{Rational(20), Rational(300), Rational(12)};
  const engine::Request asked =
      batch({request("count", "1"), request("sum:age", "1"), request("units", "1", "", "ward")});
  const engine::AccurateBatch found = engine.accurate_batch(asked, wanted, alpha, std::nullopt);
  CHECK(found.factor == 1);
  const Answer plan = engine.plan(found.batch, {alpha});
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    CAPTURE(row);
    CHECK(plan.rows[row].planned.accuracy.at(0).at(0).a <= wanted[row]);
    engine::Request less = engine::request_of_row(found.batch, row);
    less.epsilon = Rational(less.epsilon.rational() - accounting::power_of_ten(-12));
    CHECK(engine.plan(less, {alpha}).planned.accuracy.at(0).at(0).a > wanted[row]);
  }
}

TEST_CASE("batch: of a total all accuracies have the least factor that fits, and one step less does not",
          "[engine][batch][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100", kExact);
  const Rational alpha(1, 20);
  const engine::Request asked = batch({request("count", "1"), request("sum:age", "1")});
  const std::vector<accounting::Exact> wanted{Rational(20), Rational(300)};
  const auto spent_by = [](const engine::AccurateBatch& found) {
    Rational total = 0;
    for (const engine::RequestRow& row : found.batch.rows) total += row.epsilon.rational();
    return total;
  };
  for (const Rational& total : {Rational(1, 10), Rational(1), Rational(20)}) {
    CAPTURE(accounting::text(total));
    const engine::AccurateBatch found = engine.accurate_batch(asked, wanted, alpha, total);
    CHECK(spent_by(found) <= total);
    CHECK(Rational(found.factor * 1000).get_den() == 1);
    std::vector<accounting::Exact> finer;
    for (const accounting::Exact& one : wanted)
      finer.emplace_back(Rational(one.rational() * (found.factor - Rational(1, 1000))));
    CHECK(spent_by(engine.accurate_batch(asked, finer, alpha, std::nullopt)) > total);
    CHECK((found.factor > 1) ==
          (spent_by(engine.accurate_batch(asked, wanted, alpha, std::nullopt)) > total));
  }
  CHECK_THROWS_WITH(engine.accurate_batch(asked, wanted, alpha, Rational(1, 1'000'000'000'000)),
                    says("a million times less accurate"));
  CHECK_THROWS_WITH(engine.accurate_batch(asked, {wanted.data(), 1}, alpha, std::nullopt), says("each row"));
  const std::vector<std::optional<std::int64_t>> assumed{1'000};
  CHECK_THROWS_WITH(engine.accurate_batch(asked, wanted, alpha, std::nullopt, assumed), says("each row"));
  CHECK_THROWS_WITH(engine.accurate_batch(batch({request("count", "1"), request("mean:cost", "1")}), wanted,
                                          alpha, std::nullopt),
                    says("row 2: accuracy: "));
  CHECK(engine.newest_seq() == 0);
}
