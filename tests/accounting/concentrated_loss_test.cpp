// Limits and charges of the accounts that add rho or Renyi divergences.
#include "composition_reference.hpp"
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;
using epsilog::test::number;

namespace {

std::string message_of(const char* order, const char* epsilon, const char* delta) {
  try {
    const Rational limit = renyi_divergence_down(number(order), number(epsilon), number(delta));
    return "no error: " + text(limit);
  } catch (const InvalidParameter& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("Renyi limit: figures computed elsewhere, never above them", "[accounting][renyi][limit]") {
  for (const test::CompositionRow& row : test::composition_rows("renyi_limit")) {
    CAPTURE(row.line);
    const Rational limit =
        renyi_divergence_down(row.groups.front().epsilon, row.groups.front().delta, row.given);
    CHECK(limit <= row.high);
    CHECK(limit >= row.low * (1 - power_of_two(-99)));
  }
}

TEST_CASE("Renyi limit: what it converts to is within epsilon, and a little more is not",
          "[accounting][renyi][limit]") {
  for (const char* order : {"1.0625", "2", "5/2", "8", "64", "15361"}) {
    for (const char* epsilon : {"0.1", "3", "1/3", "1000"}) {
      for (const char* delta : {"0.25", "1e-3", "1e-6", "1e-12"}) {
        CAPTURE(order, epsilon, delta);
        if (message_of(order, epsilon, delta).starts_with("order: ")) continue;
        const Rational limit = renyi_divergence_down(number(order), number(epsilon), number(delta));
        const RenyiPoint at{number(order), limit};
        CHECK(limit > 0);
        CHECK(renyi_epsilon_up({&at, 1}, number(delta)) <= number(epsilon));
        const RenyiPoint above{number(order), limit + number(epsilon) * power_of_two(-100)};
        CHECK(renyi_epsilon_up({&above, 1}, number(delta)) > number(epsilon));
      }
    }
  }
}

TEST_CASE("Renyi limit: the formula that cancels gives epsilon itself", "[accounting][renyi][limit]") {
  // delta = (1 - 1/order)^(order - 1)/order: the two logarithms sum to nothing.
  const Rational limit = renyi_divergence_down(2, 3, number("0.25"));
  CHECK(limit <= 3);
  CHECK(limit >= 3 * (1 - power_of_two(-120)));
}

TEST_CASE("Renyi limit: an order at which delta takes all of epsilon is refused, with the least epsilon",
          "[accounting][renyi][limit][negative]") {
  // ln(1/(2 10^-6)) - ln 2 = ln(250000) = 12.4292...
  CHECK(message_of("2", "3", "1e-6") ==
        "order: at order 2 and delta 0.000001 a mechanism is (epsilon, delta)-DP only for an epsilon above "
        "12.4293, whatever its divergence; epsilon is 3");
  CHECK(message_of("2", "12.43", "1e-6").starts_with("no error: 0.0007"));
  CHECK(message_of("1", "3", "1e-6") == "order: 1 is not above 1");
  CHECK(message_of("8", "0", "1e-6") == "epsilon: 0 is not positive");
  CHECK(message_of("8", "3", "0") == "delta: 0 is not strictly between 0 and 1");
  CHECK(message_of("8", "3", "1") == "delta: 1 is not strictly between 0 and 1");
}

TEST_CASE("concentrated loss: a pure release costs half its square, and at an order what dominates it costs",
          "[accounting][concentrated]") {
  const LossFacts pure{LossFacts::Kind::pure, number("0.5"), -1};
  CHECK(rho_of_release_up(pure) == number("0.125"));
  for (const char* order : {"1.0625", "2", "5/2", "8", "64", "15361"}) {
    CAPTURE(order);
    const Rational cost = renyi_of_release_up(pure, number(order));
    CHECK(cost == renyi_of_pure_up(number("0.5"), number(order)));
    CHECK(cost <= number("0.5") * (1 + power_of_two(-99)));
    CHECK(cost <= number(order) * rho_of_release_up(pure) * (1 + power_of_two(-99)));
  }
  const LossFacts nothing{};
  CHECK(rho_of_release_up(nothing) == 0);
  CHECK(renyi_of_release_up(nothing, 8) == 0);
}

TEST_CASE("concentrated loss: a Gaussian release costs its rho, at an order so many times its rho",
          "[accounting][concentrated]") {
  const LossFacts gaussian{LossFacts::Kind::gaussian, -1, zcdp_rho_of_gaussian(10, 2)};
  CHECK(rho_of_release_up(gaussian) == number("0.02"));
  CHECK(renyi_of_release_up(gaussian, number("5/2")) == number("0.05"));
  CHECK(renyi_of_release_up(gaussian, 8) == renyi_of_gaussian(10, 2, 8));
}

TEST_CASE("concentrated loss: a bounded release costs its rho, and at no order more than any pure release",
          "[accounting][concentrated]") {
  // A selection by the exponential mechanism, and one in three levels of a third each.
  for (const char* rho : {"0.02", "1/150"}) {
    const LossFacts bounded{LossFacts::Kind::bounded, number("0.4"), number(rho)};
    CHECK(rho_of_release_up(bounded) == number(rho));
    for (const char* order : {"1.0625", "5/2", "8", "19", "20", "64", "1000", "15361"}) {
      CAPTURE(rho, order);
      const Rational cost = renyi_of_release_up(bounded, number(order));
      const Rational of_pure = renyi_of_pure_up(number("0.4"), number(order));
      CHECK(cost == std::min(Rational(number(order) * number(rho)), of_pure));
      CHECK(cost <= of_pure);
    }
    CHECK(renyi_of_release_up(bounded, number("5/2")) == number("5/2") * number(rho));
  }
  // Just below the order at which order rho reaches epsilon, randomised response loses less than either.
  const LossFacts one{LossFacts::Kind::bounded, number("0.4"), number("0.02")};
  CHECK(renyi_of_release_up(one, 19) < number("0.372"));
}

TEST_CASE("concentrated loss: bad input is refused by name", "[accounting][concentrated][negative]") {
  const LossFacts pure{LossFacts::Kind::pure, -1, 0};
  const LossFacts gaussian{LossFacts::Kind::gaussian, 0, -1};
  CHECK_THROWS_AS(rho_of_release_up(pure), InvalidParameter);
  CHECK_THROWS_AS(rho_of_release_up(gaussian), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up(pure, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up(gaussian, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up(LossFacts{}, 1), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up({LossFacts::Kind::gaussian, 0, 1}, 1), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up({LossFacts::Kind::bounded, 1, 1}, 1), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up({LossFacts::Kind::bounded, -1, 1}, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_release_up({LossFacts::Kind::bounded, 1, -1}, 2), InvalidParameter);
  CHECK_THROWS_AS(rho_of_release_up({LossFacts::Kind::bounded, 1, -1}), InvalidParameter);
}
