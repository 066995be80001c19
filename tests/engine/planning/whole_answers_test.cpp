// Answers that are known to be whole: rounded, advised to be discrete, and not sold where the policy states
// them (mechanisms/proofs/snapping.md, "Whole answers").
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "plan.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using namespace accounting;

namespace {

constexpr const char* kOneRow = "epsilon: 900";

/// A clinic whose patients have one row each, so that a count has sensitivity 1.
std::string one_row(const std::string& more = "") {
  std::string text = clinic_policy(kOneRow, more);
  return text.replace(text.find("max_rows: 3"), 11, "max_rows: 1");
}

Plan planned(const std::string& policy, const Request& asked) {
  return make_plan(checked_policy(policy, "policy").dataset("clinic"), asked);
}

bool is_rounded(const Plan& plan) {
  return plan.derivation.post_processing.kind == PostProcessing::Kind::rounded;
}

/// The law of one release: every output with its probability, by the Laplace distribution of the sum.
struct Law {
  std::vector<Rational> outputs;
  std::vector<double> probabilities;
};

Law law_of(const ledger::ComponentRecord& component, const Rational& answer) {
  const Rational &grid = component.grid, &centre = component.centre.value(), &bound = component.bound.value();
  const double scale = component.scale.get_d();
  const Rational shifted = std::clamp<Rational>(answer - centre, -bound, bound);
  const long most = accounting::ceil(bound / grid).get_si();
  // P(noise < d)
  const auto below = [scale](double d) {
    return d < 0 ? std::exp(d / scale) / 2 : 1 - std::exp(-d / scale) / 2;
  };
  Law law;
  double before = 0;
  for (long k = -most; k <= most; ++k) {
    const Rational threshold = (k + Rational(1, 2)) * grid - shifted;
    const double up_to = k == most ? 1 : below(threshold.get_d());
    law.outputs.push_back(centre + std::clamp<Rational>(k * grid, -bound, bound));
    law.probabilities.push_back(up_to - before);
    before = up_to;
  }
  return law;
}

}  // namespace

TEST_CASE("whole answers: every pair of answer and release within a rounds to within floor(a + 1/2)",
          "[engine][whole][exhaustive]") {
  long pairs = 0;
  for (const auto& [lower, upper] :
       std::vector<std::pair<Rational, Rational>>{{0, 3},
                                                  {Rational(-7, 8), Rational(25, 8)},
                                                  {Rational(1, 2), Rational(5, 2)},
                                                  {Rational(3, 4), 2}}) {
    const Rational least(accounting::ceil(lower)), most(accounting::floor(upper));
    const PostProcessing recipe{PostProcessing::Kind::rounded, 0, least, most};
    for (int n = -3; n <= 6; ++n) {
      const Rational clamped = std::clamp<Rational>(n, lower, upper);
      const Rational whole = std::clamp<Rational>(n, least, most);
      for (Rational x = lower; x <= upper; x += Rational(1, 16)) {
        const Rational rounded = accounting::post_process(recipe, {{x}}).front();
        const Rational a = abs(x - clamped);
        CAPTURE(accounting::text(x), n);
        CHECK(rounded.get_den() == 1);
        CHECK((rounded >= lower && rounded <= upper));
        CHECK(abs(rounded - whole) <= accounting::floor(a + Rational(1, 2)));
        ++pairs;
      }
    }
  }
  CHECK(pairs > 1'000);
  const PostProcessing recipe{PostProcessing::Kind::rounded, 0, -9, 9};
  const std::vector<Rational> ties{Rational(5, 2), Rational(-5, 2), Rational(1, 2), Rational(-1, 2)};
  CHECK(accounting::post_process(recipe, {ties}) == std::vector<Rational>{3, -2, 1, 0});  // upwards
}

TEST_CASE("whole answers: the accuracy stated of a rounded count holds for every answer, by enumeration",
          "[engine][whole][exhaustive]") {
  int whole_numbers = 0;
  for (const char* release :
       {"", "    release: {count: {bound: 25/4}}\n", "    release: {count: {arithmetic: exact}}\n"}) {
    std::string policy = one_row(release);
    policy.replace(policy.find("max: 100000"), 11, "max: 9");
    for (const char* epsilon : {"2", "2.5", "3", "4.1", "6", "11"}) {
      const Plan plan = planned(policy, request("count", epsilon));
      REQUIRE(is_rounded(plan));
      const PostProcessing& recipe = plan.derivation.post_processing;
      for (const Rational& alpha : {Rational(1, 2), Rational(1, 20), Rational(1, 1000)}) {
        const Rational a = accuracy_up(plan, 0, alpha);
        CHECK(a.get_den() == 1);
        double farthest = 0;
        for (int n = -2; n <= 12; ++n) {
          const Law law = law_of(plan.record.components.front(), n);
          const std::vector<Rational> answers = accounting::post_process(recipe, {law.outputs});
          const Rational truth = std::clamp<Rational>(n, recipe.lower, recipe.upper);
          double beyond = 0;
          for (std::size_t i = 0; i < answers.size(); ++i) {
            if (abs(answers[i] - truth) > a) beyond += law.probabilities[i];
          }
          farthest = std::max(farthest, beyond);
        }
        CAPTURE(release, epsilon, accounting::text(alpha), accounting::text(a));
        CHECK(farthest <= alpha.get_d() + 1e-12);
        ++whole_numbers;
      }
    }
  }
  CHECK(whole_numbers == 54);
}

TEST_CASE("whole answers: what is known to be whole and snapped to less than 1 is rounded, nothing else",
          "[engine][whole]") {
  const std::string policy = one_row("    release: {units: {mechanism: discrete_laplace}}\n");
  CHECK(is_rounded(planned(policy, request("count", "2"))));
  CHECK(is_rounded(planned(policy, request("histogram:ward", "2"))));
  CHECK(is_rounded(planned(policy, request("count", "2", "", std::nullopt, "age > 3"))));
  CHECK(is_rounded(planned(policy, request("sum:age", "220"))));
  CHECK_FALSE(is_rounded(planned(policy, request("count", "1"))));         // its grid is 1
  CHECK_FALSE(is_rounded(planned(policy, request("units", "9"))));         // discrete as it is
  CHECK_FALSE(is_rounded(planned(policy, request("sum:cost", "20000"))));  // has cents
  CHECK_FALSE(is_rounded(planned(policy, request("mean:age", "900"))));
  CHECK_FALSE(is_rounded(planned(policy, request("value:score", "9"))));
  // Between two whole numbers there is none to round to.
  const std::string narrow = one_row("    release: {count: {bound: 1/4}}\n");
  std::string odd = narrow;
  odd.replace(odd.find("max: 100000"), 11, "max: 3");
  CHECK_FALSE(is_rounded(planned(odd, request("count", "9"))));
  CHECK(is_rounded(planned(narrow, request("count", "9"))));
}

TEST_CASE("whole answers: a rounded release is told, recorded and verified as such", "[engine][whole]") {
  Clinic clinic;
  clinic.folder.write("one.yaml", one_row());
  const std::string ledger = clinic.folder.path("one.ledger");
  Engine::init(clinic.folder.path("one.yaml"), ledger, "curator");
  {
    Engine engine = Engine::open(ledger);
    // With lambda = 1/40 another whole number than the true one has a probability below 10^-8.
    const Answer count = release(engine, request("count", "40", "k"));
    CHECK(count.released.values == std::vector<Rational>{5});
    CHECK(count.planned.post_processing == PostProcessing::Kind::rounded);
    CHECK(count.planned.record.components.front().grid == Rational(1, 32));
    const Answer cells = release(engine, request("histogram:ward", "40"));
    CHECK(cells.released.values == std::vector<Rational>{3, 1, 1});
    CHECK(release(engine, request("count", "40", "k")).released.values == count.released.values);
    CHECK(engine.show(count.recorded.decision_id, {Rational(1, 20)}).planned.accuracy.front().front().a == 0);
    CHECK(engine.show(count.recorded.decision_id, {}).planned.post_processing ==
          PostProcessing::Kind::rounded);
  }
  CHECK(audit_verify(ledger).ok);
  int plans = 0;
  ledger::Ledger::open_read_only(ledger).snapshot().each_line(0, [&plans](std::string_view line) {
    if (line.find(R"("kind":"plan")") == std::string_view::npos) return;
    ++plans;
    CAPTURE(line);
    CHECK(line.find(R"("post_processing":{"kind":"rounded","lower":"0","upper":"100000"})") !=
          std::string_view::npos);
  });
  CHECK(plans == 2);
  const std::string drawn = "UPDATE decision SET component_values = '[[\"5.03125\"]]', \"values\" = ";
  tamper_with_log(ledger, drawn + "'[\"5.03125\"]' WHERE seq = 1");
  CHECK_FALSE(audit_verify(ledger).ok);
  // 5.03125 is a value that the mechanism can release, and rounds to 5.
  tamper_with_log(ledger, drawn + "'[\"5\"]' WHERE seq = 1");
  CHECK(audit_verify(ledger).ok);
  tamper_with_log(ledger, drawn +
                              "'[\"5.03125\"]' WHERE seq = 1; UPDATE plan SET release ="
                              " json_remove(release, '$.post_processing') WHERE number = " +
                              plan_of(1));
  const AuditReport report = audit_verify(ledger);
  REQUIRE_FALSE(report.ok);
  CHECK(report.faults.front().code == "release_changed");
}

TEST_CASE("whole answers: the least epsilon for an accuracy is that of the rounded count",
          "[engine][whole]") {
  Clinic clinic;
  clinic.folder.write("one.yaml", one_row());
  Engine::init(clinic.folder.path("one.yaml"), clinic.folder.path("one.ledger"), "curator");
  const Engine engine = Engine::open(clinic.folder.path("one.ledger"));
  const Accuracy wanted{Rational(1, 20), Rational(1, 2)};
  const auto found = engine.forecast_of_accuracy(request("count", "1"), wanted, {Rational(1, 20)});
  REQUIRE(found);
  CHECK(found->each.planned.accuracy.front().front().a == 0);
  Request less = request("count", "1");
  less.epsilon = found->epsilon - accounting::power_of_two(-30);
  CHECK(engine.plan(less, {Rational(1, 20)}).planned.accuracy.front().front().a > wanted.a);
}

TEST_CASE("whole answers: a plan advises discrete Laplace where it is more accurate", "[engine][whole]") {
  auto [clinic, engine] = Open<Clinic>();
  const auto advice = [&](const Request& asked) {
    return engine.plan(asked, {Rational(1, 20)}).planned.advice;
  };
  CHECK(advice(request("count", "0.3")) ==
        std::vector<std::string>{"discrete_laplace is within 30 at this cost (policy: release.count)"});
  CHECK(advice(request("sum:age", "1")).size() == 1);
  CHECK(advice(request("mean:age", "1")).empty());
  CHECK(advice(request("sum:cost", "1")).empty());
  CHECK(advice(supplied("1", "1")).empty());
  PlanSequence sequence = engine.plan_sequence();
  CHECK(sequence.next(request("units", "0.3"), {}).planned.advice.size() == 1);

  Clinic discrete("epsilon: 3", "    release: {default: {mechanism: discrete_laplace}}\n");
  CHECK(discrete.open().plan(request("count", "0.3"), {}).planned.advice.empty());
}

namespace {

/// kVisits has six rows.
std::string six_rows(const std::string& unit) {
  return "version: 1\n"
         "datasets:\n"
         "  clinic:\n"
         "    source: {csv: visits.csv}\n"
         "    unit: " +
         unit +
         "\n"
         "    rows: {exact: 6}\n"
         "    neighbours: replace-one\n"
         "    budget: {epsilon: 3}\n"
         "    columns: {age: {type: int, bounds: [0, 110], missing: 50}, ward: {type: string, values: [A, "
         "B]}}\n";
}

}  // namespace

TEST_CASE("whole answers: how many rows there are is no question where the policy says it",
          "[engine][whole][negative]") {
  TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  folder.write("policy.yaml", six_rows("{id: patient_id, max_rows: 3}"));
  const std::string ledger = folder.path("six.ledger");
  Engine::init(folder.path("policy.yaml"), ledger, "curator");
  Engine engine = Engine::open(ledger);
  const std::string message =
      "dataset 'clinic' declares `rows: {exact: 6}`, so that the count of all rows is public: the policy "
      "states it, and no budget has to be spent on it";
  const Request stated = request("count", "0.5", "k");
  Request held = stated;
  held.reservation = ReservationKind::reserved;
  CHECK_THROWS_AS(release(engine, stated), Underivable);
  CHECK_THROWS_WITH(release(engine, stated), message);
  CHECK_THROWS_WITH(engine.reserve(held, {}), message);
  CHECK_THROWS_WITH(engine.plan(stated, {}), message);
  CHECK_THROWS_WITH(engine.forecast(stated, {}), message);
  CHECK_THROWS_WITH(engine.plan_sequence().next(stated, {}), message);
  CHECK_THROWS_WITH(release_many(engine, std::vector<Request>{stated}), message);
  CHECK(spent(engine) == "0");
  // A condition, groups and patients are no public numbers.
  CHECK(release(engine, request("count", "0.5", "", std::nullopt, "age > 3")).recorded.granted);
  CHECK(release(engine, request("count", "0.5", "", "ward")).recorded.granted);
  CHECK(release(engine, request("units", "0.5")).recorded.granted);

  folder.write("rows.yaml", six_rows("row"));
  Engine::init(folder.path("rows.yaml"), folder.path("rows.ledger"), "curator");
  Engine rows = Engine::open(folder.path("rows.ledger"));
  CHECK_THROWS_AS(rows.plan(request("units", "0.5"), {}), Underivable);
}
