// What `release: {…: {mechanism: …}}` does: every mechanism from the question to the audit, charged in
// the measures it loses, to the last unit.

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace accounting;
using namespace engine;

namespace {

constexpr const char* kBoth = "epsilon: 30, delta: 1e-4";

std::string released_by(const std::string& mechanism, const std::string& more = "") {
  return "    release: {default: {mechanism: " + mechanism + more + "}}\n";
}

engine::Request at_delta(engine::Request request, const std::string& delta) {
  request.delta = parse_rational(delta, "delta");
  return request;
}

/// As `request` asks, with what the mechanism needs.
engine::Request asked_of(const std::string& mechanism, engine::Request request) {
  return mechanism.ends_with("gaussian") ? at_delta(std::move(request), "1e-6") : request;
}

Rational number(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) {
    const auto point = text.find('.');
    if (point == std::string::npos) return Rational(accounting::Integer(text));
    const std::string digits = text.substr(0, point) + text.substr(point + 1);
    return Rational(accounting::Integer(digits, 10)) *
           accounting::power_of_ten(-static_cast<long>(text.size() - point - 1));
  }
  return Rational(text);
}

/// What every discrete release states of itself, whatever was asked.
void check_record(const Answer& answer, const std::string& mechanism) {
  CHECK(answer.planned.record.mechanism == mechanism);
  CHECK(answer.planned.record.arithmetic == "exact");
  CHECK_FALSE(answer.planned.record.published);
  Rational epsilon = 0;
  Rational delta = 0;
  for (std::size_t i = 0; i < answer.planned.record.components.size(); ++i) {
    const ledger::ComponentRecord& component = answer.planned.record.components[i];
    CAPTURE(component.statistic);
    CHECK_FALSE(component.bound);
    CHECK_FALSE(component.centre);
    CHECK(component.precision == 0);
    for (const Rational& value : answer.released.component_values.at(i)) {
      CHECK(Rational(value / component.grid).get_den() == 1);
    }
    epsilon += component.epsilon.rational();
    const Rational scale = component.scale;
    if (mechanism == "discrete_laplace") {
      CHECK_FALSE(component.delta);
      CHECK_FALSE(component.rho);
      CHECK(component.grid_sensitivity >= component.sensitivity);
      CHECK_FALSE(component.grid_sensitivity_l2_squared);
      CHECK(Rational(component.grid_sensitivity.value() / scale) == component.adjusted);
      CHECK(component.adjusted <= component.epsilon.rational());
    } else {
      delta += component.delta.value().rational();
      CHECK(component.grid_sensitivity_l2_squared >= component.sensitivity_l2_squared.value());
      CHECK_FALSE(component.grid_sensitivity);
      CHECK(Rational(component.grid_sensitivity_l2_squared.value() / (2 * scale * scale)) == component.rho);
      CHECK(component.adjusted_delta.value() <= component.delta.value().rational());
      CHECK(component.adjusted_delta.value() > 0);
    }
  }
  CHECK(epsilon == answer.planned.record.charged.rational());
  if (mechanism == "discrete_laplace") {
    CHECK_FALSE(answer.planned.delta.has_value());
  } else {
    REQUIRE(answer.planned.delta.has_value());
    CHECK(answer.planned.delta->requested == "0.000001");
    CHECK(delta == number(answer.planned.delta->charged));
    CHECK(delta == Rational(1, 1'000'000));
    CHECK(number(answer.planned.delta->adjusted) <= delta);
  }
}

const std::vector<std::string> kMechanisms = {"discrete_laplace", "discrete_gaussian", "gaussian"};
std::vector<std::string> every_mechanism() {
  std::vector<std::string> all = kMechanisms;
  all.emplace_back("snapping");
  return all;
}

/// A generator that fails after some draws.
class FailingBits final : public mechanisms::BitSource {
 public:
  explicit FailingBits(int draws) : left_(draws) {}
  void fill(std::span<std::byte> bytes) override {
    if (left_-- <= 0) throw EntropyUnavailable("no entropy in this test");
    system_.fill(bytes);
  }

 private:
  mechanisms::SystemBits system_;
  int left_;
};

}  // namespace

TEST_CASE("mechanism: each releases every statistic, states its parameters and passes the audit",
          "[engine][mechanism]") {
  for (const std::string& mechanism : kMechanisms) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism));
    const std::vector<engine::Request> questions = {
        request("count", "0.5"),
        request("units", "0.5"),
        request("sum:age", "0.5"),
        request("sum:cost", "0.5"),
        request("mean:age", "0.5"),
        request("mean:cost", "0.5"),
        request("histogram:ward", "0.5"),
        request("units", "0.5", "", "ward"),
        request("sum:cost", "0.5", "", "ward", "age > 20"),
        request("mean:cost", "0.5", "", "ward"),
        request("variance:age", "0.5", "", "ward"),
        supplied("7.25", "0.5"),
    };
    for (const engine::Request& question : questions) {
      CAPTURE(mechanism, question.question.statistic.text(), engine::by_text(question.question.by));
      const Answer answer = release(engine, asked_of(mechanism, question));
      REQUIRE(answer.recorded.granted);
      CHECK(answer.released.values.size() == std::max<std::size_t>(answer.planned.record.cells.size(), 1));
      check_record(answer, mechanism);
      const Answer shown = engine.show(answer.recorded.decision_id, {});
      CHECK(shown.planned.record == answer.planned.record);
      CHECK(shown.released.values == answer.released.values);
      CHECK(shown.planned.delta.has_value() == answer.planned.delta.has_value());
    }
    CHECK(spent(engine) == "6");
    CHECK(spent_units(engine, "delta") == (mechanism == "discrete_laplace" ? 0 : 12'000'000'000'000));
    const engine::AuditReport report = engine::audit_verify(clinic.ledger());
    CAPTURE(report.faults.empty() ? "" : report.faults[0].code + " " + report.faults[0].message);
    CHECK(report.ok);
    CHECK(report.records == 12);
  }
}

TEST_CASE("mechanism: whole numbers keep their step and cost no inflation, gaussian takes a fine grid",
          "[engine][mechanism][exact]") {
  for (const std::string& mechanism : kMechanisms) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism));
    CAPTURE(mechanism);
    for (const char* statistic : {"count", "units", "sum:age"}) {
      const auto component =
          engine.plan(asked_of(mechanism, request(statistic, "0.5")), {}).planned.record.components[0];
      CAPTURE(statistic);
      if (mechanism == "gaussian") {
        CHECK(component.grid < Rational(1, 16));
        continue;
      }
      CHECK(component.grid == 1);
      if (mechanism == "discrete_laplace") {
        CHECK(component.grid_sensitivity == component.sensitivity);
      } else {
        CHECK(component.grid_sensitivity_l2_squared == component.sensitivity_l2_squared.value());
      }
    }
    const auto cents =
        engine.plan(asked_of(mechanism, request("sum:cost", "0.5")), {}).planned.record.components[0];
    CHECK(cents.grid != 1);
  }
}

TEST_CASE("mechanism: a declared grid is the step of every release, but not of the parts of a quotient",
          "[engine][mechanism][exact]") {
  for (const std::string& mechanism : kMechanisms) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism, ", grid: 8"));
    CAPTURE(mechanism);
    for (const char* statistic : {"count", "sum:cost", "histogram:ward"}) {
      const Answer answer = release(engine, asked_of(mechanism, request(statistic, "0.5")));
      CHECK(answer.planned.record.components[0].grid == 8);
      for (const Rational& value : answer.released.values) CHECK(Rational(value / 8).get_den() == 1);
    }
    const Answer mean = release(engine, asked_of(mechanism, request("mean:cost", "0.5")));
    CHECK(mean.planned.record.components[1].grid != 8);
  }
}

TEST_CASE("mechanism: a Gaussian spends both budgets to the last unit", "[engine][mechanism][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1, delta: 1e-6", released_by("discrete_gaussian"));
  for (int i = 0; i < 10; ++i) {
    CHECK(release(engine, at_delta(request("count", "0.1"), "1e-7")).recorded.granted);
  }
  const Answer refused = release(engine, at_delta(request("count", "1e-12"), "1e-18"));
  CHECK_FALSE(refused.recorded.granted);
  REQUIRE(refused.recorded.reasons.size() == 2);
  CHECK(reason_codes(refused) == std::vector<RefusalCode>(2, RefusalCode::dataset_budget_exceeded));
  CHECK(refused.recorded.reasons[0].measure == "delta");
  CHECK(refused.recorded.reasons[0].limit == "0.000001");
  CHECK(refused.recorded.reasons[0].spent == "0.000001");
  CHECK(refused.recorded.reasons[0].asked == "0.000000000000000001");
  CHECK(refused.recorded.reasons[0].over_by == "0.000000000000000001");
  CHECK(refused.recorded.reasons[0].fits == "0");
  CHECK(refused.recorded.reasons[1].measure == "epsilon");
  CHECK(refused.recorded.reasons[1].spent == "1");
  CHECK(refused.recorded.reasons[1].fits == "0");
  CHECK(spent(engine) == "1");
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("mechanism: the measure that runs out is named alone, and what fits still passes",
          "[engine][mechanism][exact]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 1, delta: 1e-6", released_by("gaussian") + "    per_release: {epsilon: 0.5}\n");
  CHECK(release(engine, at_delta(request("count", "0.1"), "9e-7")).recorded.granted);
  const Answer short_of_delta = release(engine, at_delta(request("count", "0.1"), "2e-7"));
  REQUIRE(short_of_delta.recorded.reasons.size() == 1);
  CHECK(short_of_delta.recorded.reasons[0].measure == "delta");
  CHECK(short_of_delta.recorded.reasons[0].over_by == "0.0000001");
  CHECK(short_of_delta.recorded.reasons[0].fits == "0.0000001");
  const Answer too_much = release(engine, at_delta(request("count", "0.6"), "1e-7"));
  CHECK(reason_codes(too_much) == std::vector<RefusalCode>{RefusalCode::per_release_limit_exceeded});
  CHECK(release(engine, at_delta(request("count", "0.5"), short_of_delta.recorded.reasons[0].fits))
            .recorded.granted);
  CHECK(spent_units(engine, "delta") == accounting::Delta::parse_down("1e-6").units());
  CHECK(spent(engine) == "0.6");
}

TEST_CASE("mechanism: delta is rounded down and split so that no unit is lost",
          "[engine][mechanism][exact]") {
  auto [clinic, engine] = Open<Clinic>(kBoth, released_by("discrete_gaussian") + "    mean_split: 2/3\n");
  const Answer mean = release(engine, at_delta(request("mean:cost", "0.5"), "1.00000000000000799e-3"));
  CHECK_FALSE(mean.recorded.granted);  // more than the budget, but planned
  CHECK(mean.planned.delta->requested == "0.00100000000000000799");
  CHECK(mean.planned.delta->charged == "0.001000000000000007");
  CHECK(mean.planned.record.components[0].delta.value().text() == "0.000666666666666671");
  CHECK(mean.planned.record.components[1].delta.value().text() == "0.000333333333333336");
  const Answer variance = release(engine, at_delta(request("variance:age", "0.5", "", "ward"), "1e-7"));
  REQUIRE(variance.recorded.granted);
  CHECK(variance.planned.record.components[0].delta.value().text() == "0.000000033333333333");
  CHECK(variance.planned.record.components[1].delta.value().text() == "0.000000033333333333");
  CHECK(variance.planned.record.components[2].delta.value().text() == "0.000000033333333334");
  CHECK(spent_units(engine, "delta") == 100'000'000'000);
  CHECK_THROWS_WITH(release(engine, at_delta(request("mean:cost", "0.5"), "1e-18")),
                    Catch::Matchers::StartsWith("delta: 0.000000000000000001 is too small to be split"));
}

TEST_CASE("mechanism: a pure budget cannot express a Gaussian, which is refused by name and costs nothing",
          "[engine][mechanism][negative]") {
  for (const char* mechanism : {"discrete_gaussian", "gaussian"}) {
    auto [clinic, engine] =
        Open<Clinic>("epsilon: 1", released_by(mechanism) + "    per_release: {epsilon: 0.5}\n");
    CAPTURE(mechanism);
    const engine::Request question = at_delta(request("count", "0.25", "k"), "1e-6");
    CHECK(reason_codes(engine.plan(question, {})) ==
          std::vector<RefusalCode>{RefusalCode::measure_not_expressible});
    const Answer refused = release(engine, question);
    CHECK_FALSE(refused.recorded.granted);
    REQUIRE(refused.recorded.reasons.size() == 1);
    const engine::Reason& reason = refused.recorded.reasons[0];
    CHECK(reason.code == RefusalCode::measure_not_expressible);
    CHECK(static_cast<int>(reason.code) == 6);
    CHECK(engine::name(reason.code) == "measure_not_expressible");
    CHECK(
        (reason.limit + reason.spent + reason.asked + reason.over_by + reason.fits + reason.measure).empty());
    CHECK(reason.message ==
          std::string(mechanism) +
              " loses (epsilon, delta), which the budget of dataset 'clinic' cannot express: "
              "its measure is pure");
    CHECK(refused.released.values.empty());
    CHECK(release(engine, question).recorded.replayed);
    CHECK(spent(engine) == "0");
    CHECK(decisions(engine) == 1);
    CHECK(reason_codes(release(engine, at_delta(request("count", "2"), "1e-6"))) ==
          std::vector<RefusalCode>{RefusalCode::measure_not_expressible,
                                   RefusalCode::per_release_limit_exceeded,
                                   RefusalCode::dataset_budget_exceeded});
    const engine::Forecast forecast = engine.forecast(at_delta(request("count", "0.25"), "1e-6"), {});
    CHECK(forecast.never);
    REQUIRE(forecast.accounts.size() == 1);
    CHECK(forecast.accounts[0].releases == 0);
    // No amount would pass, so none is said to.
    for (const Answer& told : {release(engine, at_delta(request("count", "3"), "1e-6")),
                               engine.plan(at_delta(request("count", "3"), "1e-6"), {})}) {
      for (const engine::Reason& one : told.recorded.reasons) {
        CHECK(one.fits.empty());
        CHECK(one.message.find("fits") == std::string::npos);
      }
    }
    CHECK(engine::audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE("mechanism: a budget that gains or loses its delta changes what can be expressed",
          "[engine][mechanism]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1, delta: 1e-6", released_by("gaussian"));
  const auto apply = [&](const std::string& budget) {
    clinic.folder.write("policy.yaml", clinic_policy(budget, released_by("gaussian")));
    return engine.apply_policy(clinic.folder.path("policy.yaml"), "curator", "test").changed;
  };
  const engine::Request question = at_delta(request("count", "0.25"), "1e-7");
  CHECK(apply("epsilon: 1"));
  CHECK(reason_codes(release(engine, question)) ==
        std::vector<RefusalCode>{RefusalCode::measure_not_expressible});
  CHECK(apply("epsilon: 1, delta: 1e-7"));
  CHECK(release(engine, question).recorded.granted);
  CHECK_THROWS_AS(apply("epsilon: 1"), PolicyError);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("mechanism: a delta that is missing, out of place or no probability leaves no trace",
          "[engine][mechanism][negative]") {
  auto [clinic, engine] = Open<Clinic>(
      kBoth, "    release: {count: {mechanism: gaussian}, units: {mechanism: discrete_laplace}}\n");
  CHECK_THROWS_WITH(release(engine, request("count", "0.5")),
                    "delta: 'count' is released by gaussian, which loses (epsilon, delta); give --delta");
  CHECK_THROWS_AS(engine.plan(request("count", "0.5"), {}), InvalidParameter);
  for (const char* pure : {"units", "sum:cost"}) {
    CAPTURE(pure);
    CHECK_THROWS_WITH(release(engine, at_delta(request(pure, "0.5"), "1e-6")),
                      Catch::Matchers::EndsWith("which loses epsilon only; leave --delta out"));
  }
  for (const char* delta : {"0", "1", "-1e-6", "2", "1e-19"}) {
    CAPTURE(delta);
    CHECK_THROWS_AS(release(engine, at_delta(request("count", "0.5"), delta)), InvalidParameter);
    CHECK_THROWS_AS(engine.plan(at_delta(request("count", "0.5"), delta), {}), InvalidParameter);
  }
  CHECK(decisions(engine) == 0);
  CHECK(spent(engine) == "0");
  CHECK(spent_units(engine, "delta") == 0);
}

TEST_CASE("mechanism: delta is part of the question that a key is bound to", "[engine][mechanism][key]") {
  auto [clinic, engine] = Open<Clinic>(kBoth, released_by("discrete_gaussian"));
  const Answer first = release(engine, at_delta(request("mean:cost", "0.5", "k"), "1e-6"));
  const Answer again = release(engine, at_delta(request("mean:cost", "0.5", "k"), "0.000001"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == first.released.values);
  CHECK(again.released.component_values == first.released.component_values);
  CHECK(again.planned.delta->charged == first.planned.delta->charged);
  CHECK(reason_codes(release(engine, at_delta(request("mean:cost", "0.5", "k"), "2e-6"))) ==
        std::vector<RefusalCode>{RefusalCode::key_conflict});
  CHECK(spent_units(engine, "delta") == 1'000'000'000'000);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("mechanism: a change of mechanism leaves what was released as it was", "[engine][mechanism][key]") {
  auto [clinic, engine] = Open<Clinic>(kBoth);
  const Answer snapped = release(engine, request("sum:cost", "0.5", "k"));
  for (const std::string& mechanism : kMechanisms) {
    clinic.folder.write("policy.yaml", clinic_policy(kBoth, released_by(mechanism)));
    CHECK(engine.apply_policy(clinic.folder.path("policy.yaml"), "curator", "test").changed);
    CHECK(release(engine, asked_of(mechanism, request("sum:cost", "0.5"))).planned.record.mechanism ==
          mechanism);
    const Answer again = release(engine, request("sum:cost", "0.5", "k"));
    CHECK(again.recorded.replayed);
    CHECK(again.planned.record == snapped.planned.record);
    CHECK(again.released.values == snapped.released.values);
  }
  CHECK(engine.show(snapped.recorded.decision_id, {}).planned.record.mechanism == "snapping");
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("mechanism: a batch of several mechanisms is decided in order within one transaction",
          "[engine][mechanism][batch]") {
  auto [clinic, engine] = Open<Clinic>(
      "epsilon: 1, delta: 1e-6",
      "    release: {count: {mechanism: discrete_laplace}, units: {mechanism: discrete_gaussian}, "
      "sum: {mechanism: gaussian}}\n");
  const std::vector<engine::Request> requests = {
      request("count", "0.25", "a"),
      at_delta(request("units", "0.25", "b"), "6e-7"),
      at_delta(request("sum:cost", "0.25", "c"), "6e-7"),
      at_delta(request("units", "0.25", "b"), "6e-7"),
      at_delta(request("sum:cost", "0.25", "d"), "4e-7"),
      request("mean:cost", "0.25", "e"),
  };
  const auto answers = release_many(engine, requests);
  REQUIRE(answers.size() == 6);
  CHECK(answers[0].planned.record.mechanism == "discrete_laplace");
  CHECK(answers[1].recorded.granted);
  CHECK_FALSE(answers[2].recorded.granted);
  CHECK(answers[2].recorded.reasons.at(0).measure == "delta");
  CHECK(answers[3].recorded.replayed);
  CHECK(answers[3].released.values == answers[1].released.values);
  CHECK(answers[4].recorded.granted);
  CHECK(answers[5].planned.record.mechanism == "snapping");
  CHECK(spent(engine) == "1");
  CHECK(spent_units(engine, "delta") == 1'000'000'000'000);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("mechanism: no answer and no error depends on a supplied value outside the bounds",
          "[engine][mechanism]") {
  for (const std::string& mechanism : every_mechanism()) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism));
    for (const char* value :
         {"1e300", "-1e300", "nan", "-inf", "0", "-0.0", "1/3", "1e99999", "", "twelve", "NA"}) {
      CAPTURE(mechanism, value);
      CHECK(release(engine, asked_of(mechanism, supplied(value, "0.1"))).recorded.granted);
    }
  }
}

// n = 2000 draws, alpha = 1/20. By Chernoff's bound a binomial count with p <= 0.05 reaches 185 with
// probability below 1e-13, and one with p >= 0.0499 stays at or below 30 with probability below 1e-14.
TEST_CASE("mechanism: releases keep to the accuracy that was announced, and do not keep far within it",
          "[engine][mechanism][law]") {
  const Rational alpha(1, 20);
  for (const std::string& mechanism : kMechanisms) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism));
    engine::Request asked = supplied("7.25", "0.01");
    if (mechanism != "discrete_laplace") asked = at_delta(asked, "1e-8");
    mechanisms::SystemBits bits;
    const auto answers = engine.release_many(std::vector<engine::Request>(2000, asked), bits, {alpha});
    int farther = 0;
    for (const Answer& answer : answers) {
      if (abs(answer.released.values.at(0) - Rational(29, 4)) > answer.planned.accuracy.at(0).at(0).a)
        ++farther;
    }
    CAPTURE(mechanism);
    CHECK(farther < 185);
    CHECK(farther > 30);
  }
}

TEST_CASE("mechanism: without entropy nothing is charged and nothing leaves",
          "[engine][mechanism][negative]") {
  for (const std::string& mechanism : every_mechanism()) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism));
    for (int draws = 0; draws < 3; ++draws) {
      CAPTURE(mechanism, draws);
      FailingBits bits(draws);
      try {
        (void)engine.release(asked_of(mechanism, request("histogram:ward", "0.5", std::to_string(draws))),
                             bits, {});
        CHECK(draws > 0);  // enough for the whole histogram
        break;
      } catch (const EntropyUnavailable&) {
        CHECK(spent(engine) == "0");
        CHECK(spent_units(engine, "delta") == 0);
        CHECK(decisions(engine) == 0);
      }
    }
  }
}

TEST_CASE("mechanism: accuracy is announced before spending and smaller for a larger alpha",
          "[engine][mechanism][plan]") {
  const std::vector<Rational> alphas = {Rational(1, 20), Rational(1, 1000)};
  for (const std::string& mechanism : kMechanisms) {
    auto [clinic, engine] = Open<Clinic>(kBoth, released_by(mechanism));
    CAPTURE(mechanism);
    const Answer plan = engine.plan(asked_of(mechanism, request("mean:cost", "0.5")), alphas);
    REQUIRE(plan.planned.accuracy.size() == 2);
    CHECK(plan.planned.accuracy[0][0].a > 0);
    CHECK(plan.planned.accuracy[0][0].a < plan.planned.accuracy[0][1].a);
    CHECK(release(engine, asked_of(mechanism, request("mean:cost", "0.5"))).planned.record ==
          plan.planned.record);
    CHECK(plan.planned.precision_reasons == std::vector<std::string>{"", ""});
  }
}
