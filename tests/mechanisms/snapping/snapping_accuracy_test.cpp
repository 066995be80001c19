#include "snapping_accuracy.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "mechanisms/enumerated_accuracy.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;

namespace {

bool close(const Rational& value, double expected) {
  return std::abs(value.get_d() - expected) <= 1e-9 * expected;
}

double passes(double distance, double lambda) {  // P(noise >= distance)
  return distance >= 0 ? std::exp(-distance / lambda) / 2 : 1 - std::exp(distance / lambda) / 2;
}

/// sup over a fine grid of y of P(|M - y| > a), straight from the law, output by output.
double worst_error(double lambda, double grid, double bound, double a) {
  const int last = static_cast<int>(std::ceil(bound / grid));
  double worst = 0;
  const int steps = 4000;
  for (int i = -steps; i <= steps; ++i) {
    const double y = bound * i / steps;
    double error = 0;
    for (int k = -last; k <= last; ++k) {
      const double output = std::clamp(k * grid, -bound, bound);
      const double reached = k == -last ? 1 : passes((k - 0.5) * grid - y, lambda);
      const double passed = k == last ? 0 : passes((k + 0.5) * grid - y, lambda);
      if (std::abs(output - y) > a) error += reached - passed;
    }
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace

TEST_CASE("accuracy: the unclamped quantile has its tabulated values", "[mechanisms][snapping][accuracy]") {
  struct Row {
    const char* lambda;
    const char* alpha;
    double a;
  };
  for (const Row& row : {Row{"1", "0.05", 3.407546757}, Row{"0.75", "0.05", 2.5},
                         Row{"1.25", "0.05", 4.173582650}, Row{"1.9", "0.05", 6.0}, Row{"1", "0.01", 5.0},
                         Row{"1", "0.5", 1.0}, Row{"2", "0.05", 6.815093514}}) {
    const Rational lambda = number(row.lambda);
    const SnappingLaw law{lambda, power_of_two_at_least(lambda), 40};
    CHECK(close(smallest_error_unclamped_up(law, number(row.alpha)), row.a));
    CHECK(close(enumerated_smallest_error_up(law, number(row.alpha)), row.a));
  }
  CHECK(smallest_error_unclamped_up({number("0.75"), 1, 40}, number("0.05")) == Rational(5, 2));
  CHECK(enumerated_smallest_error_up({number("0.75"), 1, 40}, number("0.05")) == Rational(5, 2));
}

TEST_CASE("accuracy: a bound that binds shortens the quantile", "[mechanisms][snapping][accuracy]") {
  for (const Arithmetic arithmetic : {Arithmetic::exact, Arithmetic::mpfr}) {
    const SnappingMechanism mechanism({.epsilon = Epsilon::parse_down("0.1"),
                                       .sensitivity = 1,
                                       .lower = -20,
                                       .upper = 20,
                                       .arithmetic = arithmetic});
    CHECK(close(mechanism.accuracy_up(number("0.05")), 31.02585093));
    CHECK(mechanism.accuracy_up(number("0.01")) == 36);
    CHECK(mechanism.accuracy_up(number("1e-9")) == 40);
    CHECK_THROWS_AS(mechanism.accuracy_up(0), epsilog::InvalidParameter);
    CHECK_THROWS_AS(mechanism.accuracy_up(1), epsilog::InvalidParameter);
  }
}

TEST_CASE("accuracy: no answer errs by more, and a smaller claim is false",
          "[mechanisms][snapping][accuracy]") {
  for (const char* bound : {"0.3", "0.75", "1", "2.3", "5", "8.25"}) {
    for (const char* lambda : {"0.6", "1", "1.7"}) {
      for (const char* alpha : {"0.6", "0.2", "0.05", "0.003"}) {
        CAPTURE(bound, lambda, alpha);
        const SnappingLaw law{number(lambda), power_of_two_at_least(number(lambda)), number(bound)};
        const double a = smallest_error_up(law, number(alpha)).get_d();
        const double level = number(alpha).get_d();
        CHECK(worst_error(law.scale.get_d(), law.grid.get_d(), law.bound.get_d(), a * (1 + 1e-12)) <=
              level + 1e-12);
        // The grid of answers can miss the worst one by a step, so the claim is lowered by two.
        const double less = a - 2 * law.bound.get_d() / 4000;
        CHECK(worst_error(law.scale.get_d(), law.grid.get_d(), law.bound.get_d(), less) > level);
      }
    }
  }
}
