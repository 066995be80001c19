// Losses that are more than an account of their measure can hold, and limits of others.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/measure.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// bob is limited in rho; the largest rho an account can hold is 2^61 * 10^-15.
constexpr const char* kLargestRho = "2305.843009213693952";

Clinic clinic_where_bob_has(const std::string& limit) {
  return Clinic("epsilon: 1000",
                "    release: {default: {mechanism: discrete_laplace}}\n"
                "    limits: [{principal: bob, " +
                    limit +
                    "}]\n"
                    "principals: {alice: {}, bob: {}}\n");
}

engine::Request asked_by(const std::string& who, const std::string& epsilon, const std::string& key = "") {
  engine::Request asked = request("count", epsilon, key);
  asked.principal = who;
  return asked;
}

}  // namespace

TEST_CASE("large amounts: a limit of somebody else plays no part, however it counts",
          "[engine][scopes][amounts]") {
  for (const char* limit :
       {"measure: zcdp, rho: 5", "measure: rdp, orders: {8: 5}", "measure: rdp, orders: {1000000: 5}"}) {
    CAPTURE(limit);
    const Clinic clinic = clinic_where_bob_has(limit);
    Engine engine = clinic.open();
    for (const char* epsilon : {"67", "68", "70", "400"}) {
      CAPTURE(epsilon);
      CHECK(engine.plan(asked_by("alice", epsilon), {}).recorded.granted);
      CHECK(release(engine, asked_by("alice", epsilon)).recorded.granted);
    }
    CHECK(engine.forecast(asked_by("alice", "100"), {}).releases == 3);
    CHECK(engine::audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE("large amounts: what is too large for a measure is refused with what fits, and costs nothing",
          "[engine][scopes][amounts][negative]") {
  for (const std::string& limit : {std::string("5"), std::string(kLargestRho)}) {
    CAPTURE(limit);
    const Clinic clinic = clinic_where_bob_has("measure: zcdp, rho: " + limit);
    Engine engine = clinic.open();
    // rho = epsilon^2/2, rounded up to 10^-15.
    const Answer refused = release(engine, asked_by("bob", "70.000000000001", "k"));
    CHECK_FALSE(refused.recorded.granted);
    REQUIRE(refused.recorded.reasons.size() == 1);
    const engine::Reason& reason = refused.recorded.reasons[0];
    CHECK(reason.code == RefusalCode::principal_limit_exceeded);
    CHECK(reason.scope == "principal:bob");
    CHECK(reason.measure == "rho");
    CHECK(reason.limit == limit);
    CHECK(reason.asked == "2450.000000000070001");
    CHECK(reason.over_by == (limit == "5" ? "2445.000000000070001" : "144.156990786376049"));
    CHECK(reason.fits == limit);
    CHECK(reason.message.find("asked 2450.000000000070001") != std::string::npos);
    CHECK(release(engine, asked_by("bob", "70.000000000001", "k")).recorded.replayed);
    CHECK(engine.plan(asked_by("bob", "68"), {}).recorded.reasons.at(0).asked == "2312");
    CHECK(spent(engine) == "0");
    CHECK(engine::audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE("large amounts: the largest rho that an account can hold is granted, the next one is not",
          "[engine][scopes][amounts][exact]") {
  const Clinic clinic = clinic_where_bob_has(std::string("measure: zcdp, rho: ") + kLargestRho);
  Engine engine = clinic.open();
  const auto most = engine.forecast_of_count(asked_by("bob", "1"), 1, {});
  REQUIRE(most);
  CHECK(most->releases == 1);
  CHECK(most->epsilon * most->epsilon / 2 <= accounting::parse_rational(kLargestRho, "rho"));
  const accounting::Rational next = most->epsilon + accounting::power_of_ten(-12);
  CHECK(next * next / 2 > accounting::parse_rational(kLargestRho, "rho"));
  CHECK_FALSE(release(engine, asked_by("bob", accounting::text(next))).recorded.granted);
  CHECK(release(engine, asked_by("bob", accounting::text(most->epsilon))).recorded.granted);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("large amounts: a forecast says what each would ask and that none fits",
          "[engine][forecast][amounts]") {
  const Clinic clinic = clinic_where_bob_has("measure: zcdp, rho: 5");
  const Engine engine = clinic.open();
  const engine::Forecast forecast = engine.forecast(asked_by("bob", "100"), {});
  CHECK(forecast.releases == 0);
  CHECK_FALSE(forecast.never);
  REQUIRE(forecast.accounts.size() == 2);
  CHECK_FALSE(forecast.accounts[0].binds);
  CHECK(forecast.accounts[0].releases == 10);
  CHECK(forecast.accounts[1].binds);
  CHECK(forecast.accounts[1].releases == 0);
  CHECK(engine::amount_text("rho", forecast.accounts[1].asked) == "5000");
  auto sequence = engine.plan_sequence();
  CHECK_FALSE(sequence.next(asked_by("bob", "100"), {}).recorded.granted);
  CHECK(sequence.next(asked_by("bob", "3"), {}).recorded.granted);
}

TEST_CASE("large amounts: their texts are those of the grid, below and above what an account can hold",
          "[engine][amounts][exact]") {
  using accounting::Integer;
  for (const char* measure : {"epsilon", "rho", "rdp(8)", "rdp(2.5)"}) {
    for (const std::int64_t units : {std::int64_t{0}, std::int64_t{1}, accounting::kUnitsMax}) {
      CHECK(engine::amount_text(measure, units) == engine::amount_text(measure, Integer(units)));
    }
  }
  CHECK(engine::amount_text("delta", Integer(1)) == "0.000000000000000001");
  CHECK(engine::amount_text("rho", Integer(accounting::kUnitsMax) + 1) == "2305.843009213693953");
  CHECK(engine::amount_text("epsilon", Integer(accounting::kUnitsMax) * 8) == "18446744.073709551616");
  CHECK_THROWS_AS(engine::amount_text("bits", Integer(1)), LedgerCorrupt);
}
