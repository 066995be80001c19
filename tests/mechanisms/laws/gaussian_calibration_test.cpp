#include "epsilog/mechanisms/gaussian_calibration.hpp"

#include "epsilog/accounting/errors.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

/// `value` is the published `expected`, given to 10^-digits of itself.
bool published(const Rational& value, double expected, int digits = 12) {
  return std::abs(value.get_d() / expected - 1) <= std::pow(10.0, -digits);
}

const Rational kResultError = power_of_two(-100);

/// What the function that a row names makes of its arguments.
Rational calibrated(const ReferenceRow& row) {
  const std::string& quantity = row.at("quantity");
  const std::string& third = row.at("third");
  const Rational first = number(row.at("first")), second = number(row.at("second"));
  if (quantity == "gaussian_delta") return gaussian_delta_up(first, second, number(third));
  if (quantity == "gaussian_sigma") return gaussian_sigma_up(first, second, number(third));
  if (quantity == "discrete_delta") return discrete_gaussian_delta_up(first, second, Integer(third));
  if (quantity == "discrete_scale") return discrete_gaussian_scale_up(first, second, Integer(third));
  if (quantity == "zcdp_delta") return zcdp_delta_up(first, second);
  REQUIRE(quantity == "zcdp_rho");
  return zcdp_rho_down(first, second);
}

/// The definition of delta for the discrete law, in long double.
long double discrete_delta_by_definition(double s, double epsilon, int d) {
  const auto weight = [&](int x) { return std::exp(-static_cast<long double>(x) * x / (2 * s * s)); };
  const int reach = static_cast<int>(40 * s) + d + 10;
  long double total = 0;
  long double excess = 0;
  for (int x = -reach; x <= reach; ++x) {
    total += weight(x);
    excess += std::max(0.0L, weight(x) - std::exp(static_cast<long double>(epsilon)) * weight(x + d));
  }
  return excess / total;
}

}  // namespace

TEST_CASE("gaussian calibration: reference values, each on its safe side",
          "[mechanisms][gaussian_calibration]") {
  const auto rows = reference_table(EPSILOG_SOURCE_DIR "/tests/reference/gaussian_calibration.csv");
  REQUIRE(rows.size() == 89);
  for (const auto& row : rows) {
    CAPTURE(row.at("quantity"), row.at("first"), row.at("second"), row.at("third"));
    const Rational expected = std::max(reference_value(row.at("value")), power_of_two(-16384));
    const bool down = row.at("quantity") == "zcdp_rho";
    CHECK(just_beyond(calibrated(row), expected, down ? Rational(-kResultError) : kResultError));
  }
}

TEST_CASE("gaussian calibration: published figures of all laws, to the digits that were published",
          "[mechanisms][gaussian_calibration]") {
  const auto rows = reference_table(EPSILOG_SOURCE_DIR "/tests/mechanisms/laws/published_calibrations.csv");
  REQUIRE(rows.size() == 61);
  for (const auto& row : rows) {
    CAPTURE(row.at("quantity"), row.at("first"), row.at("second"), row.at("third"));
    CHECK(published(calibrated(row), std::stod(row.at("value")), std::stoi(row.at("digits"))));
  }
}

TEST_CASE("gaussian calibration: published sigmas of derived sensitivities",
          "[mechanisms][gaussian_calibration]") {
  // Two answers that change by 3 each: an L2 sensitivity of 3 sqrt 2.
  const Rational root_of_18 = number("4.2426406871192851464050661726290942357");
  CHECK(published(gaussian_sigma_up(1, number("1e-6"), root_of_18), 17.923794545871943, 14));
  const Rational sigma = gaussian_sigma_up(number("0.109861228866810969139524523692"), number("2e-6"), 1);
  CHECK(published(1 / (2 * sigma * sigma), 4.946819611450154e-4, 7));  // found there by a search to 10^-8
  CHECK(zcdp_delta_up(0, 0) == 0);
}

TEST_CASE("gaussian calibration: the continuous delta is not a bound for the discrete law",
          "[mechanisms][gaussian_calibration]") {
  const Rational continuous = gaussian_delta_up(5, 1, 1);
  const Rational discrete = discrete_gaussian_delta_up(5, 1, 1);
  CHECK(discrete * 100 > continuous * 104);
  CHECK(discrete * 100 < continuous * 105);
  CHECK(discrete_gaussian_delta_up(1, 1, 1) > gaussian_delta_up(1, 1, 1));
}

TEST_CASE("gaussian calibration: the definition, summed term by term, gives the discrete delta",
          "[mechanisms][gaussian_calibration]") {
  for (const double s : {0.25, 0.5, 0.8125, 1.0, 1.75, 3.0, 6.5, 15.0, 40.0, 120.0}) {
    for (const double epsilon : {0.0, 0.03125, 0.25, 1.0, 2.5}) {
      for (const int d : {1, 2, 3, 10, 37}) {
        CAPTURE(s, epsilon, d);
        const auto expected = static_cast<double>(discrete_delta_by_definition(s, epsilon, d));
        const double value = discrete_gaussian_delta_up(Rational(s), Rational(epsilon), d).get_d();
        CHECK(std::abs(value - expected) <= 1e-12 * expected + 1e-18);
      }
    }
  }
}

TEST_CASE("gaussian calibration: a calibrated scale keeps its delta and a smaller neighbour breaks it",
          "[mechanisms][gaussian_calibration]") {
  const Rational less = 1 - 2 * kResultError;
  const std::vector<std::string> epsilons = {"1e-12", "1e-4", "0.3", "1", "7", "100", "1e4"};
  const std::vector<std::string> deltas = {"0.5", "1e-3", "1e-9", "1e-50", "1e-300"};
  for (const std::string& epsilon_text : epsilons) {
    for (const std::string& delta_text : deltas) {
      CAPTURE(epsilon_text, delta_text);
      const Rational epsilon = number(epsilon_text);
      const Rational delta = number(delta_text);
      const Rational sigma = gaussian_sigma_up(epsilon, delta, 3);
      CHECK(gaussian_delta_up(sigma, epsilon, 3) <= delta);
      CHECK(gaussian_delta_up(sigma * less, epsilon, 3) > delta);
      for (const long d : {1L, 5L, 1'000'000'000'000L}) {
        const Rational s = discrete_gaussian_scale_up(epsilon, delta, d);
        CHECK(discrete_gaussian_delta_up(s, epsilon, d) <= delta);
        CHECK(discrete_gaussian_delta_up(s * less, epsilon, d) > delta);
      }
      const Rational rho = zcdp_rho_down(epsilon, delta);
      CHECK(zcdp_delta_up(rho, epsilon) <= delta);
      CHECK(zcdp_delta_up(rho * (1 + 2 * kResultError), epsilon) > delta);
    }
  }
}

TEST_CASE("gaussian calibration: deltas are monotone in every argument",
          "[mechanisms][gaussian_calibration]") {
  Rational continuous = 1;
  Rational discrete = 1;
  Rational zcdp = 1;
  for (Rational epsilon = 0; epsilon < 5; epsilon += Rational(3, 11)) {
    CHECK(gaussian_delta_up(2, epsilon, 1) <= continuous);
    CHECK(discrete_gaussian_delta_up(2, epsilon, 1) <= discrete);
    CHECK(zcdp_delta_up(Rational(1, 8), epsilon) <= zcdp);
    continuous = gaussian_delta_up(2, epsilon, 1);
    discrete = discrete_gaussian_delta_up(2, epsilon, 1);
    zcdp = zcdp_delta_up(Rational(1, 8), epsilon);
  }
  for (const char* s : {"0.7", "6", "250", "1e10"}) {
    Rational before = 0;
    for (Integer d = 1; d < 4'000'000'000L; d = d * 5 / 3 + 1) {
      const Rational delta = discrete_gaussian_delta_up(number(s), Rational(1, 2), d);
      CHECK(delta >= before);
      before = delta;
    }
  }
  for (const char* epsilon : {"0", "0.1", "1", "6"}) {
    Rational before = 1;
    for (Rational sigma = Rational(1, 4); sigma < 300; sigma *= Rational(13, 11)) {
      const Rational delta = gaussian_delta_up(sigma, number(epsilon), 2);
      CHECK(delta <= before);
      before = delta;
    }
  }
}

TEST_CASE("gaussian calibration: more discrete noise can cost more, so a scale is verified as it is used",
          "[mechanisms][gaussian_calibration]") {
  // While the half-line of high loss starts at 1, its weight grows with the scale.
  const Rational narrow = discrete_gaussian_delta_up(number("0.58"), 6, 2);
  const Rational wide = discrete_gaussian_delta_up(number("0.65"), 6, 2);
  CHECK(wide * 10 > narrow * 11);
  CHECK(std::abs(narrow.get_d() - static_cast<double>(discrete_delta_by_definition(0.58, 6, 2))) < 1e-12);
  CHECK(std::abs(wide.get_d() - static_cast<double>(discrete_delta_by_definition(0.65, 6, 2))) < 1e-12);
}

TEST_CASE("gaussian calibration: at large scales the discrete delta comes to the continuous one",
          "[mechanisms][gaussian_calibration]") {
  for (const char* epsilon : {"0", "0.01", "1", "20"}) {
    CAPTURE(epsilon);
    const Rational scale = power_of_ten(12);
    const Integer distance = 700'000'000'000L;
    const Rational discrete = discrete_gaussian_delta_up(scale, number(epsilon), distance);
    const Rational continuous = gaussian_delta_up(scale, number(epsilon), distance);
    CHECK(abs(discrete / continuous - 1) < power_of_ten(-20));
  }
}

TEST_CASE("gaussian calibration: a delta by zCDP is never below the exact one",
          "[mechanisms][gaussian_calibration]") {
  for (const char* s : {"0.6", "3", "40"}) {
    for (const char* epsilon : {"0", "0.2", "1", "4"}) {
      const Rational rho = 9 / (2 * number(s) * number(s));
      CHECK(zcdp_delta_up(rho, number(epsilon)) >= discrete_gaussian_delta_up(number(s), number(epsilon), 3));
      CHECK(zcdp_delta_up(rho, number(epsilon)) >= gaussian_delta_up(number(s), number(epsilon), 3));
    }
  }
}

TEST_CASE("gaussian calibration: extremes give the limits", "[mechanisms][gaussian_calibration]") {
  const Rational smallest = power_of_two(-16384);
  CHECK(gaussian_delta_up(1, power_of_ten(9), 1) == smallest);
  CHECK(gaussian_delta_up(power_of_ten(300), 1, 1) == smallest);
  CHECK(gaussian_delta_up(power_of_ten(-300), 1, 1) == 1);
  CHECK(published(gaussian_delta_up(power_of_ten(200), 0, 1), 1e-200 / std::sqrt(2 * std::acos(-1.0))));
  CHECK(discrete_gaussian_delta_up(power_of_ten(12), 10'000, 1) == smallest);
  CHECK(discrete_gaussian_delta_up(1, 1, Integer(power_of_ten(12).get_num())) == 1);
  CHECK(discrete_gaussian_delta_up(power_of_ten(-10), 1, 1) == 1);
  CHECK(zcdp_delta_up(power_of_ten(6), 1) == 1);
  CHECK(zcdp_delta_up(power_of_ten(-6), 1'000'000) == smallest);
}

TEST_CASE("gaussian calibration: each argument outside its domain is named",
          "[mechanisms][gaussian_calibration]") {
  using Catch::Matchers::StartsWith;
  const Rational half(1, 2);
  for (const Rational& bad : {Rational(0), Rational(-2)}) {
    CHECK_THROWS_WITH(gaussian_delta_up(bad, 1, 1), StartsWith("sigma: "));
    CHECK_THROWS_WITH(gaussian_delta_up(1, 1, bad), StartsWith("sensitivity: "));
    CHECK_THROWS_WITH(gaussian_sigma_up(bad, half, 1), StartsWith("epsilon: "));
    CHECK_THROWS_WITH(gaussian_sigma_up(1, half, bad), StartsWith("sensitivity: "));
    CHECK_THROWS_WITH(discrete_gaussian_delta_up(bad, 1, 1), StartsWith("scale: "));
    CHECK_THROWS_WITH(discrete_gaussian_delta_up(1, 1, bad.get_num()), StartsWith("distance: "));
    CHECK_THROWS_WITH(discrete_gaussian_scale_up(bad, half, 1), StartsWith("epsilon: "));
    CHECK_THROWS_WITH(discrete_gaussian_scale_up(1, half, bad.get_num()), StartsWith("distance: "));
    CHECK_THROWS_WITH(zcdp_rho_down(bad, half), StartsWith("epsilon: "));
  }
  CHECK_THROWS_WITH(gaussian_delta_up(1, -half, 1), StartsWith("epsilon: "));
  CHECK_THROWS_WITH(discrete_gaussian_delta_up(1, -half, 1), StartsWith("epsilon: "));
  CHECK_THROWS_WITH(zcdp_delta_up(-half, 1), StartsWith("rho: "));
  CHECK_THROWS_WITH(zcdp_delta_up(1, -half), StartsWith("epsilon: "));
  for (const Rational& bad : {Rational(0), Rational(1), Rational(-1, 2), Rational(2)}) {
    CHECK_THROWS_WITH(gaussian_sigma_up(1, bad, 1), StartsWith("delta: "));
    CHECK_THROWS_WITH(discrete_gaussian_scale_up(1, bad, 1), StartsWith("delta: "));
    CHECK_THROWS_WITH(zcdp_rho_down(1, bad), StartsWith("delta: "));
  }
}
