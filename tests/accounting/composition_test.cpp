#include "epsilog/accounting/composition.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/filter.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;

namespace {

/// Spends `ask` until the filter refuses; returns how often it passed.
int grants_until_refusal(Balance& balance, Epsilon ask) {
  int granted = 0;
  while (filter(balance, ask.units()).granted) {
    balance.spent += ask.units();
    ++granted;
  }
  return granted;
}

}  // namespace

TEST_CASE("filter: B/N passes exactly N times for every N up to 150", "[accounting][filter][exhaustive]") {
  for (const char* budget : {"1", "0.1", "10"}) {
    for (long n = 1; n <= 150; ++n) {
      Balance balance{.limit = Epsilon::parse_down(budget).units()};
      const Epsilon ask = Epsilon::from_rational_down(parse_rational(budget, "budget") / n);
      CAPTURE(budget, n);
      CHECK(grants_until_refusal(balance, ask) == n);
      CHECK(balance.remaining() < ask.units());
    }
  }
}

TEST_CASE("composition: a million losses of a millionth are exactly one",
          "[accounting][composition][exact]") {
  const std::vector<Epsilon> losses(1'000'000, Epsilon::parse_down("1e-6"));
  CHECK(compose_sequential(losses) == Epsilon::parse_down("1"));
  CHECK(compose_sequential_repeated(Epsilon::parse_down("1e-7"), 10'000'000) == Epsilon::parse_down("1"));
  Balance balance{.limit = Epsilon::parse_down("1").units()};
  CHECK(grants_until_refusal(balance, Epsilon::parse_down("1e-6")) == 1'000'000);
  CHECK(balance.remaining() == 0);
}

TEST_CASE("composition: epsilon and delta add separately", "[accounting][composition][exact]") {
  const std::vector<ApproximateLoss> losses = {{Epsilon::parse_down("1"), Delta()},
                                               {Epsilon::parse_down("1"), Delta::parse_down("0.5")},
                                               {Epsilon::parse_down("5"), Delta()}};
  const ApproximateLoss total = compose_sequential(losses);
  CHECK(total.epsilon.text() == "7");
  CHECK(total.delta.text() == "0.5");
  CHECK(compose_sequential(std::vector<Epsilon>{}) == Epsilon());
}

TEST_CASE("composition: two deltas of 0.1 need the whole of 0.2", "[accounting][composition][exact]") {
  const std::vector<ApproximateLoss> losses(2, {Epsilon(), Delta::parse_down("0.1")});
  CHECK(compose_sequential(losses).delta == Delta::parse_down("0.2"));
}

TEST_CASE("composition: a sum that does not fit is refused, never wrapped",
          "[accounting][composition][negative]") {
  const Epsilon most = Epsilon::from_units(kUnitsMax);
  CHECK_THROWS_AS(compose_sequential(most, Epsilon::from_units(1)), InvalidParameter);
  CHECK_THROWS_AS(compose_sequential_repeated(most, 2), InvalidParameter);
  const std::vector<ApproximateLoss> losses(2, {Epsilon(), Delta::parse_down("0.6")});
  CHECK_THROWS_AS(compose_sequential(losses), InvalidParameter);
}

TEST_CASE("filter: a refusal says by how much and what would fit, and changes nothing",
          "[accounting][filter][exact]") {
  Balance balance{.limit = 100, .spent = 60, .reserved = 10};
  const FilterVerdict verdict = filter(balance, 31);
  CHECK_FALSE(verdict.granted);
  CHECK(verdict.over_by == 1);
  CHECK(verdict.fits == 30);
  CHECK(filter(balance, 30).granted);
  CHECK(filter(balance, 0).granted);
}

TEST_CASE("balance: overspent, negative and oversized states are not valid",
          "[accounting][filter][negative]") {
  CHECK(Balance{.limit = 10, .spent = 10}.valid());
  CHECK_FALSE(Balance{.limit = 10, .spent = 11}.valid());
  CHECK_FALSE(Balance{.limit = 10, .spent = 6, .reserved = 5}.valid());
  CHECK_FALSE(Balance{.limit = 10, .spent = -1}.valid());
  CHECK_FALSE(Balance{.limit = -1}.valid());
  CHECK_FALSE(Balance{.limit = 10, .reserved = -1}.valid());
  CHECK_FALSE(Balance{.limit = kUnitsMax + 1}.valid());
}
