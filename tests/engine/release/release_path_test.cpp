#include <sys/stat.h>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {}  // namespace

TEST_CASE("release: a granted value is a multiple of the grid within the bound, charged exactly",
          "[engine][release]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer answer = release(engine, request("count", "0.1"));
  REQUIRE(answer.recorded.granted);
  REQUIRE(answer.released.values.size() == 1);
  REQUIRE(answer.planned.record.components.size() == 1);
  const Rational& grid = answer.planned.record.components[0].grid;
  const Rational& centre = answer.planned.record.components[0].centre.value();
  const Rational& bound = answer.planned.record.components[0].bound.value();
  CHECK((Rational((answer.released.values[0] - centre) / grid).get_den() == 1 ||
         abs(answer.released.values[0] - centre) == bound));
  CHECK(answer.planned.record.charged.text() == "0.1");
  CHECK(answer.planned.record.adjusted <= Rational(1, 10));
  CHECK(answer.recorded.decision_id.size() == 26);
  CHECK(answer.recorded.ledger_id == clinic.report.ledger_id);
  CHECK(spent(engine) == "0.1");
}

TEST_CASE("release: a third asked as a fraction passes three times", "[engine][release][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  for (int i = 0; i < 3; ++i)
    CHECK(release(engine, request("count", "1/3")).planned.record.charged.text() == "0.333333333333");
  const Answer refused = release(engine, request("count", "1/3"));
  CHECK_FALSE(refused.recorded.granted);
  CHECK(refused.recorded.reasons[0].fits == "0.000000000001");
  CHECK(release(engine, request("count", "1e-12")).recorded.granted);
}

TEST_CASE("release: a retry with its key gets the same stored answer and costs nothing",
          "[engine][release][key]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer first = release(engine, request("mean:cost", "0.5", "k1"));
  for (int i = 0; i < 5; ++i) {
    const Answer again = release(engine, request("mean:cost", "0.5", "k1"));
    CHECK(again.recorded.replayed);
    CHECK(again.recorded.decision_id == first.recorded.decision_id);
    CHECK(again.released.values == first.released.values);
    CHECK(again.released.component_values == first.released.component_values);
    CHECK(again.planned.record == first.planned.record);
  }
  CHECK(spent(engine) == "0.5");
  CHECK(release(engine, request("mean:cost", "1/2", "k1")).recorded.decision_id ==
        first.recorded.decision_id);
}

TEST_CASE("release: a key replays with another supplied value and with none", "[engine][release][key]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer first = release(engine, supplied("3", "0.5", "k"));
  const Answer other = release(engine, supplied("9", "0.5", "k"));
  CHECK(other.recorded.replayed);
  CHECK(other.released.values == first.released.values);
  CHECK(release(engine, request("value:score", "0.5", "k")).recorded.replayed);
  CHECK(spent(engine) == "0.5");
}

TEST_CASE("release: a refused key stays refused after the budget is raised", "[engine][release][key]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  CHECK_FALSE(release(engine, request("count", "2", "k")).recorded.granted);
  clinic.folder.write("policy.yaml", clinic_policy("epsilon: 3"));
  CHECK(engine.apply_policy(clinic.folder.path("policy.yaml"), "curator", "more data").changed);
  const Answer again = release(engine, request("count", "2", "k"));
  CHECK_FALSE(again.recorded.granted);
  CHECK(again.recorded.replayed);
  CHECK(release(engine, request("count", "2", "k2")).recorded.granted);
}

TEST_CASE("release: a retry is answered even when the policy no longer admits the question",
          "[engine][release][key]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer first = release(engine, request("sum:age", "0.5", "k"));
  std::string policy = clinic_policy("epsilon: 3");
  policy.erase(policy.find("      age:"), policy.find("      cost:") - policy.find("      age:"));
  clinic.folder.write("policy.yaml", policy);
  (void)engine.apply_policy(clinic.folder.path("policy.yaml"), "curator", "test");
  const Answer again = release(engine, request("sum:age", "0.5", "k"));
  CHECK(again.released.values == first.released.values);
  CHECK_THROWS_AS(release(engine, request("sum:age", "0.5")), NotFound);
}

TEST_CASE("release: a mean of private size is charged once and follows from its parts", "[engine][release]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer answer = release(engine, request("mean:cost", "0.5"));
  REQUIRE(answer.released.component_values.size() == 2);
  const Rational sum = answer.released.component_values[0][0];
  const Rational count = answer.released.component_values[1][0];
  const Rational mean = 2500 + Rational(sum / std::max(count, Rational(1)));
  CHECK(answer.released.values[0] == std::clamp(mean, Rational(0), Rational(5000)));
  CHECK(answer.planned.record.charged.text() == "0.5");
  CHECK(spent(engine) == "0.5");
}

TEST_CASE("release: an odd grid unit is not lost when a mean splits its epsilon",
          "[engine][release][exact]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer answer = release(engine, request("mean:cost", "0.333333333333"));
  CHECK(answer.planned.record.components[0].epsilon.text() == "0.166666666666");
  CHECK(answer.planned.record.components[1].epsilon.text() == "0.166666666667");
  CHECK(spent(engine) == "0.333333333333");
}

TEST_CASE("release: a histogram has one value for each declared cell and one charge", "[engine][release]") {
  auto [clinic, engine] = Open<Clinic>();
  const Answer answer = release(engine, request("histogram:ward", "0.5"));
  CHECK(answer.planned.record.cells.lists() == std::vector<std::vector<std::string>>{{"A", "B", "C"}});
  CHECK(answer.released.values.size() == 3);
  CHECK(spent(engine) == "0.5");
  CHECK(release(engine, request("mean:cost", "0.5", "", "ward", "age > 20")).released.values.size() == 3);
}

TEST_CASE("release: bad input leaves no trace in the ledger", "[engine][release][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  CHECK_THROWS_AS(release(engine, request("sum:weight", "0.1")), NotFound);
  CHECK_THROWS_AS(release(engine, request("sum:ward", "0.1")), Underivable);
  CHECK_THROWS_AS(release(engine, request("count", "1e-13")), InvalidParameter);
  CHECK_THROWS_AS(release(engine, request("value:score", "0.1")), InvalidParameter);
  engine::Request elsewhere = request("count", "0.1");
  elsewhere.dataset = "clinics";
  CHECK_THROWS_AS(release(engine, elsewhere), NotFound);
  engine::Request nobody = request("count", "0.1");
  nobody.principal = "";
  CHECK_THROWS_AS(release(engine, nobody), InvalidParameter);
  engine::Request counted = request("count", "0.1");
  counted.supplied = "3";
  CHECK_THROWS_AS(release(engine, counted), InvalidParameter);
  std::filesystem::remove(clinic.folder.path("visits.csv"));
  CHECK_THROWS_AS(release(engine, request("count", "0.1")), SourceError);
  CHECK(decisions(engine) == 0);
  CHECK(spent(engine) == "0");
}

TEST_CASE("release: a refusal does not need the source", "[engine][release]") {
  Clinic clinic("epsilon: 1");
  std::filesystem::remove(clinic.folder.path("visits.csv"));
  Engine engine = clinic.open();
  CHECK_FALSE(release(engine, request("count", "2")).recorded.granted);
}

TEST_CASE("release: every rule that fails is named, in order of precedence", "[engine][release][negative]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 1",
                   "    per_release: {epsilon: 0.5}\n"
                   "    allow: {statistics: [count, sum], columns: [cost], by: [], where: [age]}\n");
  const Answer answer = release(engine, request("mean:age", "2", "", "ward", "ward = 'A' and ward != 'B'"));
  CHECK_FALSE(answer.recorded.granted);
  CHECK(reason_codes(answer) ==
        std::vector<RefusalCode>{RefusalCode::statistic_not_allowed, RefusalCode::column_not_allowed,
                                 RefusalCode::column_not_allowed, RefusalCode::column_not_allowed,
                                 RefusalCode::per_release_limit_exceeded,
                                 RefusalCode::dataset_budget_exceeded});
  CHECK(release(engine, request("sum:cost", "0.5", "", std::nullopt, "age > 30")).recorded.granted);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("release: a batch tells how far all its sources are read, each an equal part",
          "[engine][release][batch]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  mechanisms::SystemBits bits;
  const std::vector<engine::Request> asked = {request("count", "0.1", "a"), request("units", "0.1"),
                                              request("sum:cost", "0.1")};
  CHECK(release(engine, asked[0]).recorded.granted);
  std::vector<double> told;
  const auto answers =
      engine.release_many(asked, bits, {}, [&](double fraction) { told.push_back(fraction); });
  CHECK(answers.at(0).recorded.replayed);  // whose source is not read again
  CHECK(told == std::vector<double>{2.0 / 3, 1.0});
}

TEST_CASE("plan: shows cost and accuracy, spends nothing and records nothing", "[engine][plan]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  const std::vector<Rational> alphas = {Rational(1, 20), Rational(1, 100)};
  const Answer plan = engine.plan(request("count", "0.5"), alphas);
  CHECK(plan.recorded.granted);
  CHECK(plan.released.values.empty());
  REQUIRE(plan.planned.accuracy.size() == 1);
  REQUIRE(plan.planned.accuracy[0].size() == 2);
  CHECK(plan.planned.accuracy[0][0].a < plan.planned.accuracy[0][1].a);
  CHECK_FALSE(engine.plan(request("count", "2"), alphas).recorded.granted);
  CHECK(decisions(engine) == 0);
}

TEST_CASE("show: gives back a decision exactly as it was answered", "[engine][show]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  const Answer released = release(engine, request("mean:cost", "0.5", "", "ward"));
  (void)release(engine, request("count", "0.3"));
  const Answer shown = engine.show(released.recorded.decision_id, {});
  CHECK(shown.released.values == released.released.values);
  CHECK(shown.planned.record == released.planned.record);
  CHECK(shown.recorded.accounts.at(0).balance.spent == released.recorded.accounts.at(0).balance.spent);
  CHECK_THROWS_AS(engine.show("00000000000000000000000000", {}), NotFound);
}

TEST_CASE("same question: the last answer to exactly this request of this asker, not far back",
          "[engine][release]") {
  const Clinic clinic;
  std::vector<std::string> ids;
  {
    Engine engine = clinic.open();
    const auto asked = request("count", "0.1");
    CHECK(engine.same_question(asked).empty());
    for (int i = 0; i < 2; ++i) {
      ids.push_back(release(engine, asked).recorded.decision_id);
      CHECK(engine.same_question(asked) == ids.back());
    }
    // A refusal is no answer, and other words are another request.
    CHECK_FALSE(release(engine, request("count", "9")).recorded.granted);
    CHECK(engine.same_question(request("count", "9")).empty());
    CHECK(engine.same_question(request("count", "0.2")).empty());
    CHECK(engine.same_question(request("count", "0.10")) == ids.back());
    engine::Request of_another = asked;
    of_another.principal = "bob";
    CHECK(engine.same_question(of_another).empty());
  }
  for (const auto& [last, told] :
       {std::pair(ledger::kSameRequestWindow + 1, true), std::pair(ledger::kSameRequestWindow + 2, false)}) {
    tamper(clinic.ledger(), "UPDATE decision SET seq = " + std::to_string(last) +
                                " WHERE seq = (SELECT max(seq) FROM decision)");
    CHECK(clinic.open().same_question(request("count", "0.1")) == (told ? ids.back() : ""));
  }
}
