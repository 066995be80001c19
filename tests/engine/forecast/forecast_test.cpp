// Forecasts against what then happens: so many releases pass, and one more is refused.
#include "epsilog/engine/forecast.hpp"

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::vector<Rational> kAlphas = {Rational(1, 20)};

/// A clinic under some budget, and a question that can be asked of it.
struct Ward {
  const char* budget;
  const char* more;
  const char* statistic;
  const char* where;
  const char* delta;
};

constexpr const char* kGaussian = "    release: {default: {mechanism: discrete_gaussian}}\n";
constexpr const char* kLimits =
    "    lifetime: {epsilon: 0.9}\n"
    "    blocks: {by: ward}\n"
    "    limits: [{each: principal, epsilon: 0.7}, {principal: bob, measure: zcdp, rho: 0.02}]\n"
    "    allow: {principals: [alice, bob, carol]}\n"
    "principals: {alice: {}, bob: {}, carol: {}}\n";

/// Every measure, several at once, and every kind of scope without a clock.
const std::vector<Ward> kWards = {
    {"epsilon: 1", "", "count", "", ""},
    {"epsilon: 1", "    per_release: {epsilon: 0.25}\n", "value:score", "", ""},
    {"epsilon: 2, delta: 1e-5", kGaussian, "sum:cost", "", "1e-6"},
    {"measure: zcdp, rho: 0.05", "", "histogram:ward", "", ""},
    {"measure: zcdp, rho: 0.05", kGaussian, "count", "", "1e-6"},
    {"measure: rdp, orders: {2: 0.05, 8: 0.3}", "", "mean:cost", "", ""},
    {"epsilon: 0.8", kLimits, "count", "", ""},
    {"epsilon: 0.8", kLimits, "sum:age", "ward in ('A', 'C')", ""},
    {"epsilon: 0.8", kLimits, "units", "ward = 'B'", ""},
    {"measure: zcdp, epsilon: 1, delta: 1e-6",
     "    renew: month\n    lifetime: {measure: rdp, order: 8, epsilon: 2, delta: 1e-6}\n", "count", "", ""},
};

std::string policy_of(const Ward& ward) {
  // `renew` belongs to the budget.
  std::string budget = ward.budget;
  std::string more = ward.more;
  const std::string renew = "    renew: month\n";
  if (const auto at = more.find(renew); at != std::string::npos) {
    more.erase(at, renew.size());
    budget += ", renew: month";
  }
  return clinic_policy(budget, more);
}

class Asked {
 public:
  explicit Asked(const Ward& ward) : ward_(ward) {
    folder_.write("visits.csv", kVisits);
    folder_.write("policy.yaml", policy_of(ward));
    (void)Engine::init(folder_.path("policy.yaml"), folder_.path("L"), "curator");
  }
  [[nodiscard]] Engine open() const { return Engine::open(folder_.path("L")); }

  [[nodiscard]] Request request(const Rational& epsilon, const std::string& who) const {
    const std::string where = ward_.where;
    Request request = test::request(ward_.statistic, "1", "", std::nullopt,
                                    where.empty() ? std::nullopt : std::optional(where));
    request.epsilon = epsilon;
    request.principal = who;
    if (*ward_.delta != '\0') request.delta = accounting::parse_rational(ward_.delta, "delta");
    if (request.question.statistic.kind == StatisticKind::value) request.supplied = "5";
    return request;
  }

 private:
  Ward ward_;
  TemporaryFolder folder_;
};

Request asking_no_value(Request request) {
  request.supplied.reset();
  return request;
}

/// What is left, as grid units between 1 and `most`.
Rational random_epsilon(std::mt19937_64& random, std::int64_t most) {
  const auto units = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  return Epsilon::from_units(units).rational();
}

}  // namespace

TEST_CASE("forecast: as many releases as it says are granted, and one more is refused",
          "[engine][forecast][property]") {
  constexpr std::uint64_t kSeed = 31415;
  std::mt19937_64 random(kSeed);
  std::int64_t granted = 0;
  for (int round = 0; round < 3; ++round) {
    for (const Ward& ward : kWards) {
      const Asked asked(ward);
      Engine engine = asked.open();
      const std::string who = random() % 2 == 0 ? "alice" : "bob";
      // Balances from releases of other sizes, some of which may be refused.
      for (int i = 0; i < 2; ++i) {
        (void)release(engine, asked.request(random_epsilon(random, 100'000'000'000), who));
      }
      const Request request = asked.request(Rational(1, 40) + random_epsilon(random, 150'000'000'000), who);
      const Forecast forecast = engine.forecast(asking_no_value(request), kAlphas);
      INFO("seed " << kSeed << ": " << ward.budget << ", " << ward.statistic << " " << ward.where
                   << ", epsilon " << accounting::text(request.epsilon));
      REQUIRE(forecast.releases < 1000);
      CHECK((forecast.releases > 0) == forecast.each.recorded.granted);
      for (std::int64_t i = 0; i < forecast.releases; ++i) REQUIRE(release(engine, request).recorded.granted);
      REQUIRE_FALSE(release(engine, request).recorded.granted);
      CHECK(engine.forecast(asking_no_value(request), kAlphas).releases == 0);
      granted += forecast.releases;
    }
  }
  CHECK(granted > 100);
}

TEST_CASE("forecast: it names the accounts that have room for the fewest", "[engine][forecast][exact]") {
  const Asked asked(kWards[6]);
  Engine engine = asked.open();
  (void)release(engine, [&] {
    Request request = asked.request(Rational(3, 10), "carol");
    request.question = parse_question("count", std::nullopt, "ward = 'A'");
    return request;
  }());
  // Left: block A 0.5, B and C 0.8, lifetime 0.6, alice 0.7.
  const Forecast forecast = engine.forecast(asked.request(Rational(1, 5), "alice"), kAlphas);
  CHECK(forecast.releases == 2);
  CHECK_FALSE(forecast.never);
  std::vector<std::string> seen;
  for (const AccountForecast& account : forecast.accounts) {
    REQUIRE(account.releases);
    CHECK(account.asked == 200'000'000'000);
    seen.push_back(account.account.scope + " " + std::to_string(*account.releases) +
                   (account.binds ? " binds" : ""));
  }
  CHECK(seen == std::vector<std::string>{"block:A 2 binds", "block:B 4", "block:C 4", "lifetime 3",
                                         "principal:alice 3"});
}

TEST_CASE("forecast: what no balance overcomes never fits", "[engine][forecast][negative]") {
  const Asked capped(kWards[1]);
  const Engine engine = capped.open();
  const Forecast above = engine.forecast(asking_no_value(capped.request(Rational(3, 10), "alice")), kAlphas);
  CHECK(above.releases == 0);
  CHECK(above.never);
  REQUIRE(above.each.recorded.reasons.size() == 1);
  CHECK(above.each.recorded.reasons[0].code == RefusalCode::per_release_limit_exceeded);
  REQUIRE(above.accounts.size() == 1);
  CHECK(above.accounts[0].releases == 3);

  const Clinic gaussian("epsilon: 1", kGaussian);
  Request request = test::request("count", "0.1");
  request.delta = Rational(1, 1000000);
  const Forecast inexpressible = gaussian.open().forecast(request, kAlphas);
  CHECK(inexpressible.never);
  CHECK(inexpressible.releases == 0);
  CHECK_FALSE(gaussian.open().forecast_of_count(request, 1, kAlphas));
  CHECK(capped.open().forecast_of_count(asking_no_value(capped.request(0, "alice")), 1, kAlphas)->epsilon ==
        Rational(1, 4));
}

TEST_CASE("forecast: the largest epsilon for k more releases lets k pass, and one step more does not",
          "[engine][forecast][property]") {
  constexpr std::uint64_t kSeed = 27182;
  std::mt19937_64 random(kSeed);
  const Rational step = Epsilon::from_units(1).rational();
  for (const Ward& ward : kWards) {
    const Asked asked(ward);
    Engine engine = asked.open();
    (void)release(engine, asked.request(random_epsilon(random, 100'000'000'000), "alice"));
    const auto count = 1 + static_cast<std::int64_t>(random() % 7);
    INFO("seed " << kSeed << ": " << ward.budget << ", " << ward.statistic << " " << ward.where << ", count "
                 << count);
    const Request open_request = asking_no_value(asked.request(0, "alice"));
    const auto best = engine.forecast_of_count(open_request, count, kAlphas);
    REQUIRE(best);
    CHECK(best->releases >= count);
    CHECK(best->each.planned.accuracy.front().front().a > 0);
    const Forecast more =
        engine.forecast(asking_no_value(asked.request(best->epsilon + step, "alice")), kAlphas);
    CHECK(more.releases < count);
    const Request request = asked.request(best->epsilon, "alice");
    for (std::int64_t i = 0; i < count; ++i) REQUIRE(release(engine, request).recorded.granted);
  }
}

TEST_CASE("forecast: of a pure budget the largest epsilon for k releases is the quotient",
          "[engine][forecast][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  const auto best = engine.forecast_of_count(request("count", "1"), 3, kAlphas);
  REQUIRE(best);
  CHECK(best->epsilon == accounting::parse_rational("0.333333333333", "epsilon"));
  CHECK(best->releases == 3);
  CHECK_FALSE(engine.forecast_of_count(request("count", "1"), 1'000'000'000'001, kAlphas));
  CHECK_THROWS_AS(engine.forecast_of_count(request("count", "1"), 0, kAlphas), InvalidParameter);
}

TEST_CASE("forecast: k releases that cannot be planned at all say why", "[engine][forecast][negative]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1, delta: 1e-6", kGaussian);
  CHECK_THROWS_WITH(engine.forecast_of_count(request("count", "1"), 3, kAlphas),
                    Catch::Matchers::EndsWith("give --delta"));
  CHECK_THROWS_WITH(engine.forecast_of_accuracy(request("count", "1"), {Rational(1, 20), 10}, kAlphas),
                    Catch::Matchers::EndsWith("give --delta"));
}

TEST_CASE("forecast: a delta that does not fit k times fits at no epsilon", "[engine][forecast][negative]") {
  const Clinic clinic("epsilon: 1, delta: 1e-6", kGaussian);
  Request request = test::request("count", "1");
  request.delta = Rational(1, 2'000'000);
  CHECK(clinic.open().forecast_of_count(request, 2, kAlphas));
  CHECK_FALSE(clinic.open().forecast_of_count(request, 3, kAlphas));
}

TEST_CASE("forecast: the least epsilon for an accuracy has it, and one step less has not",
          "[engine][forecast][exact]") {
  struct Case {
    const char* mechanism;
    const char* statistic;
    const char* delta;
    const char* accuracy;
  };
  const Rational step = Epsilon::from_units(1).rational();
  for (const Case& c : std::vector<Case>{{"snapping", "count", "", "20"},
                                         {"snapping", "sum:cost", "", "12345.67"},
                                         {"snapping, arithmetic: exact", "count", "", "3"},
                                         {"snapping, binding_probability: 0.01", "units", "", "7"},
                                         {"discrete_laplace", "histogram:ward", "", "40"},
                                         {"discrete_gaussian", "count", "1e-6", "25"},
                                         {"gaussian", "sum:age", "1e-6", "3000"}}) {
    auto [clinic, engine] =
        Open<Clinic>("epsilon: 50, delta: 1e-3",
                     std::string("    release: {default: {mechanism: ") + c.mechanism + "}}\n");
    Request request = test::request(c.statistic, "1");
    if (*c.delta != '\0') request.delta = accounting::parse_rational(c.delta, "delta");
    CAPTURE(c.mechanism, c.statistic, c.accuracy);
    const Accuracy wanted{Rational(1, 20), accounting::parse_rational(c.accuracy, "accuracy")};
    const auto found = engine.forecast_of_accuracy(request, wanted, kAlphas);
    REQUIRE(found);
    CHECK(found->each.planned.accuracy.front().front().a <= wanted.a);
    CHECK(found->releases > 0);
    request.epsilon = found->epsilon - step;
    CHECK(engine.plan(request, kAlphas).planned.accuracy.front().front().a > wanted.a);
  }
}

TEST_CASE("forecast: the accuracy of a quotient is not one number", "[engine][forecast][negative]") {
  const Clinic clinic;
  CHECK_THROWS_AS(
      clinic.open().forecast_of_accuracy(request("mean:cost", "1"), {Rational(1, 20), 5}, kAlphas),
      Underivable);
}

TEST_CASE("forecast: it spends nothing and records nothing", "[engine][forecast][exact]") {
  auto [clinic, engine] = Open<Clinic>();
  (void)engine.forecast(request("count", "0.1"), kAlphas);
  (void)engine.forecast_of_count(request("count", "0.1"), 5, kAlphas);
  CHECK(spent(engine) == "0");
  CHECK(decisions(engine) == 0);
}

TEST_CASE("plan sequence: in order it says of each request what releasing them in order does",
          "[engine][forecast][property]") {
  constexpr std::uint64_t kSeed = 16180;
  std::mt19937_64 random(kSeed);
  std::uint64_t refused = 0;
  std::uint64_t replayed = 0;
  for (const Ward& ward : kWards) {
    const Asked asked(ward);
    Engine engine = asked.open();
    std::vector<Request> requests;
    for (int i = 0; i < 25; ++i) {
      Request request =
          asked.request(random_epsilon(random, 400'000'000'000), random() % 2 == 0 ? "alice" : "bob");
      if (random() % 2 == 0) request.key = "key " + std::to_string(random() % 4);
      if (!requests.empty() && random() % 3 == 0) request = requests[random() % requests.size()];
      requests.push_back(std::move(request));
    }
    // Some are there already when the sequence begins.
    for (std::size_t i = 0; i < 5; ++i) (void)release(engine, requests[i]);
    std::vector<Answer> planned;
    PlanSequence sequence = engine.plan_sequence();
    for (const Request& request : requests) planned.push_back(sequence.next(asking_no_value(request), {}));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Answer answer = release(engine, requests[i]);
      INFO("seed " << kSeed << ": " << ward.budget << ", request " << i);
      REQUIRE(planned[i].recorded.granted == answer.recorded.granted);
      REQUIRE(planned[i].recorded.replayed == answer.recorded.replayed);
      REQUIRE(planned[i].recorded.reasons.size() == answer.recorded.reasons.size());
      for (std::size_t r = 0; r < answer.recorded.reasons.size(); ++r) {
        REQUIRE(planned[i].recorded.reasons[r].code == answer.recorded.reasons[r].code);
        REQUIRE(planned[i].recorded.reasons[r].over_by == answer.recorded.reasons[r].over_by);
      }
      if (!answer.recorded.granted) ++refused;
      if (answer.recorded.replayed) ++replayed;
    }
    for (const ledger::AccountState& forecast : sequence.accounts()) {
      for (const ledger::AccountState& account : engine.budget("clinic")) {
        if (account.scope != forecast.scope || account.measure != forecast.measure) continue;
        CHECK(account.balance.spent == forecast.balance.spent);
      }
    }
  }
  CHECK(refused > 20);
  CHECK(replayed > 20);
}
