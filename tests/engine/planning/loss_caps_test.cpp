// What one release may lose, in every measure that is named; and requests of rho.
#include "loss_caps.hpp"
#include "canonical_request.hpp"
#include "clinic.hpp"
#include "decide.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/measure.hpp"
#include "policy_text.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kGaussian = "    release: {default: {mechanism: discrete_gaussian}}\n";

std::string per_release(const std::string& cap) {
  return "    per_release: {" + cap + "}\n";
}

Request with_delta(Request asked, const std::string& delta) {
  asked.delta = accounting::parse_rational(delta, "delta");
  return asked;
}

Request of_rho(const std::string& statistic, const std::string& rho, const std::string& key = "") {
  Request asked = request(statistic, "1", key);
  asked.epsilon = 0;
  asked.rho = accounting::parse_rational(rho, "rho");
  return asked;
}

/// "rho 0.02 over 0.01" for each reason.
std::vector<std::string> over(const Answer& answer) {
  std::vector<std::string> texts;
  for (const Reason& reason : answer.recorded.reasons) {
    CHECK(reason.code == RefusalCode::per_release_limit_exceeded);
    CHECK(reason.scope == "per_release");
    CHECK(reason.fits == reason.limit);
    texts.push_back(reason.measure + " " + reason.asked + " over " + reason.limit);
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("per_release: under zCDP and RDP no asker chooses a delta that makes epsilon small",
          "[engine][caps][negative]") {
  for (const std::string budget : {"measure: zcdp, rho: 10", "measure: rdp, orders: {2: 20}"}) {
    for (const std::string cap : {"", "    per_release: {epsilon: 1}\n"}) {
      CAPTURE(budget, cap);
      auto [clinic, engine] = Open<Clinic>(budget, kGaussian + cap);
      const Answer refused = release(engine, with_delta(request("count", "0.5"), "0.9"));
      CHECK(over(refused) == Texts{"delta 0.9 over 0.000001"});
      CHECK(refused.recorded.reasons.at(0).message ==
            "delta of one release of 'clinic': limit 0.000001, spent 0, asked 0.9, over by 0.899999; at most "
            "0.000001 fits");
      CHECK(release(engine, with_delta(request("count", "0.5"), "1e-6")).recorded.granted);
      CHECK(audit_verify(clinic.ledger()).ok);
    }
  }
  // The curator may say otherwise, and then that release loses more of rho than one of epsilon 5 would.
  auto [clinic, engine] =
      Open<Clinic>("measure: zcdp, rho: 10", kGaussian + per_release("epsilon: 5, delta: 0.95"));
  const Answer granted = release(engine, with_delta(request("count", "0.5"), "0.9"));
  REQUIRE(granted.recorded.granted);
  const Answer large = engine.plan(with_delta(request("count", "5"), "1e-6"), {});
  CHECK(granted.planned.record.components.at(0).rho.value() >
        large.planned.record.components.at(0).rho.value());
}

TEST_CASE("per_release: a delta that an account counts is bounded there alone", "[engine][caps]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3, delta: 1e-3", kGaussian);
  CHECK(release(engine, with_delta(request("count", "0.5"), "1e-4")).recorded.granted);
  // And where nothing can be lost of it, the refusal says so and no more.
  auto [pure, of_pure] = Open<Clinic>("epsilon: 3", kGaussian);
  const Answer refused = release(of_pure, with_delta(request("count", "0.5"), "0.9"));
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].code == RefusalCode::measure_not_expressible);
}

TEST_CASE("per_release: what no account counts is derived, and every measure that is exceeded is named",
          "[engine][caps][exact]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 3", per_release("epsilon: 0.3, rho: 0.02, orders: {2: 0.04, 3/2: 1}"));
  // epsilon^2/2 is just 0.02; at order 2 a pure release of epsilon loses a little less than epsilon^2.
  CHECK(release(engine, request("count", "0.2")).recorded.granted);
  CHECK(over(release(engine, request("count", "0.200000000001"))) ==
        Texts{"rho 0.020000000000201 over 0.02"});
  const Rational divergence = accounting::renyi_of_pure_up(Rational(2, 5), 2);
  CHECK(over(release(engine, request("count", "0.4"))) ==
        Texts{"epsilon 0.4 over 0.3", "rho 0.08 over 0.02",
              "rdp(2) " + Epsilon::from_rational_up(divergence).text() + " over 0.04"});
  CHECK(divergence < Rational(4, 25));  // alpha epsilon^2/2
  CHECK(audit_verify(clinic.ledger()).ok);
}

TEST_CASE("per_release: the losses of several components add in every measure", "[engine][caps][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", per_release("rho: 0.01"));
  // A mean is two releases of half of epsilon each: 2 (0.1^2/2) = 0.01.
  CHECK(release(engine, request("mean:cost", "0.2")).recorded.granted);
  CHECK(over(release(engine, request("mean:cost", "0.2000001"))).size() == 1);
  CHECK(over(release(engine, request("count", "0.2"))) == Texts{"rho 0.02 over 0.01"});
}

TEST_CASE("approvals: a request is above if it is in any of the measures that are named",
          "[engine][caps][approvals]") {
  const auto state = [](const std::string& above, const Request& asked, const std::string& budget,
                        const std::string& more) {
    auto [clinic, engine] = Open<Clinic>(
        budget, more + waiting_rules("{required: 1, by: {principals: [dave]}, above: {" + above + "}}"));
    return std::string(name(release(engine, asked).recorded.state));
  };
  const std::string zcdp = "measure: zcdp, rho: 10";
  CHECK(state("epsilon: 0.5, rho: 0.02", request("count", "0.2"), "epsilon: 3", "") == "granted");
  CHECK(state("epsilon: 0.5, rho: 0.02", request("count", "0.3"), "epsilon: 3", "") == "pending");
  CHECK(state("orders: {8: 0.1}", request("count", "0.15"), "epsilon: 3", "") == "granted");
  CHECK(state("orders: {8: 0.1}", request("count", "0.2"), "epsilon: 3", "") == "pending");
  CHECK(state("epsilon: 1, delta: 1e-7", with_delta(request("count", "0.5"), "1e-6"), zcdp, kGaussian) ==
        "pending");
  CHECK(state("epsilon: 1, delta: 1e-7", with_delta(request("count", "0.5"), "1e-8"), zcdp, kGaussian) ==
        "granted");
  // What is asked in rho is compared in epsilon too, as it implies one.
  CHECK(state("epsilon: 1", of_rho("count", "0.01"), zcdp, kGaussian) == "granted");
  CHECK(state("epsilon: 1", of_rho("count", "0.5"), zcdp, kGaussian) == "pending");
}

TEST_CASE("caps: a plan carries a note where cells may span lines, and nowhere else", "[engine][caps]") {
  PolicyText text;
  text.source = "{csv: visits.csv, multiline: true}";
  const auto notes = make_plan(text.dataset(), request("count", "1")).notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("cells may span lines: "));
  text.source = "{csv: visits.csv}";
  CHECK(make_plan(text.dataset(), request("count", "1")).notes.empty());
}

TEST_CASE("multiline: every plan, release and budget of such a dataset carries a note", "[engine][caps]") {
  TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  std::string policy = clinic_policy("epsilon: 3");
  policy.replace(policy.find("{csv: visits.csv}"), 17, "{csv: visits.csv, multiline: true}");
  folder.write("policy.yaml", policy);
  (void)Engine::init(folder.path("policy.yaml"), folder.path("l"), "curator");
  Engine engine = Engine::open(folder.path("l"));
  CHECK(engine.plan(request("count", "1"), {}).planned.notes.size() == 1);
  const Answer granted = release(engine, request("count", "1"));
  CHECK(granted.planned.notes.size() == 1);
  CHECK(engine.show(granted.recorded.decision_id, {}).planned.notes == granted.planned.notes);
  CHECK(engine.notes("clinic").size() == 1);
}

TEST_CASE("forecast: a cap in another measure bounds the epsilon that is sought",
          "[engine][caps][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", per_release("rho: 0.02"));
  const auto found = engine.forecast_of_count(request("count", "1"), 2, {});
  REQUIRE(found);
  CHECK(found->epsilon == Rational(1, 5));
  CHECK(found->releases == 15);
  CHECK(engine.forecast(request("count", "0.3"), {}).never);
  auto [zcdp, of_zcdp] = Open<Clinic>("measure: zcdp, rho: 10", kGaussian);
  CHECK_FALSE(of_zcdp.forecast_of_count(with_delta(request("count", "1"), "0.9"), 1, {}));
}

TEST_CASE("rho: asked in place of epsilon and delta it is charged exactly, and N of B/N use B up",
          "[engine][caps][rho][exact]") {
  for (const std::string mechanism : {"discrete_gaussian", "gaussian"}) {
    CAPTURE(mechanism);
    auto [clinic, engine] = Open<Clinic>("measure: zcdp, rho: 0.1",
                                         "    limits: [{each: principal, measure: rdp, orders: {8: 4}}]\n"
                                         "    release: {default: {mechanism: " +
                                             mechanism + "}}\n");
    const Rational epsilon = accounting::zcdp_epsilon_up(Rational(1, 50), Rational(1, 1'000'000));
    for (int i = 0; i < 4; ++i) {
      const Answer granted = release(engine, of_rho(i == 1 ? "mean:cost" : "count", "0.02"));
      REQUIRE(granted.recorded.granted);
      REQUIRE(granted.planned.rho);
      CHECK(granted.planned.rho->requested == "0.02");
      CHECK(granted.planned.rho->charged == "0.02");
      if (i == 1) continue;
      CHECK(granted.planned.record.charged == Epsilon::from_rational_up(epsilon));
      CHECK(granted.planned.delta->charged == "0.000001");
      const Rational proved = granted.planned.record.components.at(0).rho.value();
      CHECK(proved <= Rational(1, 50));
      CHECK(proved > Rational(1, 50) * (1 - accounting::power_of_two(-60)));
    }
    CHECK(spent_units(engine, "rho") == 80'000'000'000'000);
    CHECK(spent_units(engine, "rdp(8)") == 640'000'000'000);
    Request last = held(of_rho("units", "0.02", "k"));
    const Answer held = engine.reserve(last, {});
    REQUIRE(held.recorded.state == RequestState::reserved);
    CHECK(engine.reserve(last, {}).recorded.decision_id == held.recorded.decision_id);
    CHECK(commit(engine, held.recorded.decision_id).recorded.granted);
    CHECK(engine.show(held.recorded.decision_id, {}).planned.rho->charged == "0.02");
    const Answer refused = release(engine, of_rho("count", "0.000000000000001"));
    REQUIRE_FALSE(refused.recorded.granted);
    CHECK(refused.recorded.reasons.at(0).fits == "0");
    CHECK(engine.forecast(of_rho("count", "0.02"), {}).releases == 0);
    CHECK(audit_verify(clinic.ledger()).faults.empty());
  }
}

TEST_CASE("rho: stored, it is one member of the request, and reads back as what was asked",
          "[engine][caps][rho][exact]") {
  Request asked = of_rho("sum:cost", "1/3");
  asked.purpose = "quality";
  const std::string text = canonical_request(asked);
  CHECK(text == R"({"dataset":"clinic","purpose":"quality","rho":"1/3","statistic":"sum:cost"})");
  const StoredRequest stored = parse_stored_request(text);
  CHECK(stored.request.rho == Rational(1, 3));
  CHECK(stored.request.epsilon == 0);
  CHECK(canonical_request(stored.request) == text);
  CHECK(canonical_request(request("count", "0.1")) ==
        R"({"dataset":"clinic","epsilon":"0.1","statistic":"count"})");
  for (const char* contradiction : {R"({"dataset":"clinic","epsilon":"1","rho":"1","statistic":"count"})",
                                    R"({"dataset":"clinic","delta":"0.1","rho":"1","statistic":"count"})",
                                    R"({"dataset":"clinic","statistic":"count"})"}) {
    CHECK_THROWS_AS(parse_stored_request(contradiction), LedgerCorrupt);
  }
}

TEST_CASE("rho: what it cannot be asked of is said before anything is recorded",
          "[engine][caps][rho][negative]") {
  const auto refused = [](const Clinic& clinic, const Request& asked) {
    Engine engine = clinic.open();
    const std::string message = refused_for<InvalidParameter>([&] { return release(engine, asked); });
    CHECK(audit_verify(clinic.ledger()).records == 0);
    return message;
  };
  const std::string zcdp = "measure: zcdp, rho: 1";
  CHECK(refused(Clinic(zcdp), of_rho("count", "0.1")) ==
        "rho: 'count' is released by snapping, which loses epsilon; give --epsilon");
  CHECK(refused(Clinic("epsilon: 1, delta: 1e-6", kGaussian), of_rho("count", "0.1")) ==
        "rho: a budget of 'clinic' counts epsilon and delta; give --epsilon and --delta");
  CHECK(refused(Clinic(zcdp, kGaussian), of_rho("count", "1e-16")) ==
        "rho: 0.0000000000000001 is below the smallest loss kept, 0.000000000000001");
  CHECK(refused(Clinic(zcdp, kGaussian), of_rho("count", "-1")) == "rho: must be positive");
  Request both = of_rho("count", "0.1");
  both.epsilon = 1;
  CHECK(refused(Clinic(zcdp, kGaussian), both) ==
        "rho: stands in place of epsilon and delta, not beside them");
  CHECK(refused(Clinic(zcdp, kGaussian), with_delta(of_rho("count", "0.1"), "1e-6")) ==
        "rho: stands in place of epsilon and delta, not beside them");
  // The least there is can be asked, and a mean of it cannot be split.
  auto [clinic, engine] = Open<Clinic>(zcdp, kGaussian);
  CHECK(release(engine, of_rho("count", "1e-15")).recorded.granted);
  CHECK_THROWS_AS(release(engine, of_rho("mean:cost", "1e-15")), InvalidParameter);
  CHECK(audit_verify(clinic.ledger()).ok);
}

TEST_CASE("rho: the delta at which it implies an epsilon is that of per_release", "[engine][caps][rho]") {
  auto [clinic, engine] =
      Open<Clinic>("measure: zcdp, rho: 1", kGaussian + per_release("epsilon: 1, delta: 1e-9"));
  const Answer answer = release(engine, of_rho("count", "0.1"));
  CHECK(over(answer) == Texts{"epsilon " + answer.planned.record.charged.text() + " over 1"});
  CHECK(answer.planned.record.charged ==
        Epsilon::from_rational_up(accounting::zcdp_epsilon_up(Rational(1, 10), Rational(1, 1'000'000'000))));
  CHECK(answer.planned.delta->requested == "0.000000001");
}
