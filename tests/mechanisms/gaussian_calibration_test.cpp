#include "epsilog/mechanisms/gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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
  const auto rows =
      epsilog::test::reference_table(EPSILOG_SOURCE_DIR "/tests/reference/gaussian_calibration.csv");
  REQUIRE(rows.size() == 89);
  for (const auto& row : rows) {
    const std::string& quantity = row.at("quantity");
    const std::string& third = row.at("third");
    CAPTURE(quantity, row.at("first"), row.at("second"), third);
    const Rational first = number(row.at("first"));
    const Rational second = number(row.at("second"));
    const Rational expected = std::max(epsilog::test::reference_value(row.at("value")), power_of_two(-16384));
    if (quantity == "gaussian_delta") {
      CHECK(just_beyond(gaussian_delta_up(first, second, number(third)), expected, kResultError));
    } else if (quantity == "gaussian_sigma") {
      CHECK(just_beyond(gaussian_sigma_up(first, second, number(third)), expected, kResultError));
    } else if (quantity == "discrete_delta") {
      CHECK(just_beyond(discrete_gaussian_delta_up(first, second, Integer(third)), expected, kResultError));
    } else if (quantity == "discrete_scale") {
      CHECK(just_beyond(discrete_gaussian_scale_up(first, second, Integer(third)), expected, kResultError));
    } else if (quantity == "zcdp_delta") {
      CHECK(just_beyond(zcdp_delta_up(first, second), expected, kResultError));
    } else {
      REQUIRE(quantity == "zcdp_rho");
      CHECK(just_beyond(zcdp_rho_down(first, second), expected, -kResultError));
    }
  }
}

TEST_CASE("gaussian calibration: published deltas and sigmas of the continuous law",
          "[mechanisms][gaussian_calibration]") {
  struct Delta {
    const char* sigma;
    const char* epsilon;
    const char* sensitivity;
    double delta;
    int digits;
  };
  for (const Delta& row : {Delta{"1", "1", "1", 0.12693673750664395, 14},
                           {"1", "2", "1", 0.020923635821113731, 14},
                           {"1", "1", "3", 0.78760074136038453, 14},
                           {"10", "0.1", "1", 0.0087517681458095931, 14},
                           {"20", "0.1", "2", 0.0087517681458095931, 14},
                           {"10", "1.09861228866810969139524523692", "5", 0.0041597422340007868, 13},
                           {"0.5", "0", "1", 0.6826894921370859, 14},
                           {"500", "0.5", "10", 3.129776772980134e-141, 14},
                           {"1", "1", "2", 0.50986166005467015, 14}}) {
    CAPTURE(row.sigma, row.epsilon, row.sensitivity);
    CHECK(published(gaussian_delta_up(number(row.sigma), number(row.epsilon), number(row.sensitivity)),
                    row.delta, row.digits));
  }
  struct Sigma {
    const char* epsilon;
    const char* delta;
    double sensitivity;
    double sigma;
    int digits;
  };
  for (const Sigma& row : {Sigma{"1.09861228866810969139524523692", "1e-5", 1, 3.4246623979089508, 13},
                           {"1.38629436111989061883446424292", "2e-5", 3, 7.9849116155470214, 13},
                           {"1", "6.486452831e-47", 1, 14.0, 9},
                           {"1", "1e-5", 1, 3.7306316348159418, 14},
                           {"0.5", "1e-5", 1, 7.0318266755824914, 14},
                           {"0.1", "1e-5", 1, 30.74956613197745, 14},
                           {"1", "1e-6", 1, 4.2246788893268353, 14},
                           {"2", "1e-6", 1, 2.2304762711864173, 14},
                           {"8", "1e-6", 1, 0.65293538435821595, 14},
                           {"1", "0.78760074136038453", 6, 2, 14},
                           {"1", "0.78760074136038453", 30, 10, 14},
                           {"1000", "1e-5", 1, 0.02458, 3}}) {
    CAPTURE(row.epsilon, row.delta);
    CHECK(published(gaussian_sigma_up(number(row.epsilon), number(row.delta), Rational(row.sensitivity)),
                    row.sigma, row.digits));
  }
}

TEST_CASE("gaussian calibration: published sigmas of derived sensitivities",
          "[mechanisms][gaussian_calibration]") {
  // Two answers that change by 3 each: an L2 sensitivity of 3 sqrt 2.
  const Rational root_of_18 = number("4.2426406871192851464050661726290942357");
  CHECK(published(gaussian_sigma_up(1, number("1e-6"), root_of_18), 17.923794545871943, 14));
  const Rational sigma = gaussian_sigma_up(number("0.109861228866810969139524523692"), number("2e-6"), 1);
  CHECK(published(1 / (2 * sigma * sigma), 4.946819611450154e-4, 7));  // found there by a search to 10^-8
}

TEST_CASE("gaussian calibration: published deltas of the discrete law",
          "[mechanisms][gaussian_calibration]") {
  CHECK(published(discrete_gaussian_delta_up(1, 1, 1), 0.1413513394056219));
  CHECK(published(discrete_gaussian_delta_up(2, number("0.5"), 1), 0.05400722369415442));
  CHECK(published(discrete_gaussian_delta_up(4, number("0.25"), 1), 0.02366258987312663));
  CHECK(published(discrete_gaussian_delta_up(10, number("0.1"), 1), 0.008762353923948095));
  CHECK(published(discrete_gaussian_delta_up(5, 1, 1), 1.82933602487278e-8));
}

TEST_CASE("gaussian calibration: published deltas and rhos of zCDP", "[mechanisms][gaussian_calibration]") {
  CHECK(published(zcdp_delta_up(number("1/32"), 0), 0.15084578456228609, 14));
  CHECK(published(zcdp_delta_up(number("0.5"), 0), 0.55883563934743463, 14));
  CHECK(published(zcdp_delta_up(number("0.05"), number("0.25")), 0.081772753103695521, 14));
  CHECK(published(zcdp_delta_up(number("5e-30"), number("1e-13")), 2.619676329730346e-234, 9));
  CHECK(zcdp_delta_up(0, 0) == 0);
  struct Epsilon {
    const char* rho;
    const char* delta;
    const char* epsilon;
  };
  for (const Epsilon& row : {Epsilon{"1/32", "1e-3", "0.68800245548780839"},
                             {"0.1", "1e-6", "2.1419389283854737"},
                             {"0.5", "1e-5", "4.7283869849433139"},
                             {"0.5", "1e-10", "6.8393294131208485"},
                             {"1", "1e-6", "7.7662166253117207"},
                             {"2.63", "1e-5", "12.691562216993866"},
                             {"0.1", "1e-5", "1.9142388320035978"},
                             {"0.1", "1e-10", "2.8818280091742425"},
                             {"0.5", "1e-6", "5.221534444530169"},
                             {"1", "1e-5", "7.0771966958063398"},
                             {"1", "1e-10", "10.03434358134763"},
                             {"2.63", "1e-6", "13.792327690123114"},
                             {"2.63", "1e-10", "17.430584487345112"}}) {
    CAPTURE(row.rho, row.delta);
    CHECK(published(zcdp_delta_up(number(row.rho), number(row.epsilon)), number(row.delta).get_d()));
    CHECK(published(zcdp_rho_down(number(row.epsilon), number(row.delta)), number(row.rho).get_d()));
  }
  CHECK(published(zcdp_rho_down(1, number("1e-6")), 0.02435597035953837, 14));
  CHECK(published(zcdp_rho_down(1, number("1e-5")), 0.03055659519763957, 14));
  CHECK(published(zcdp_rho_down(3, number("1e-6")), 0.1850698406534015, 14));
  CHECK(published(zcdp_rho_down(number("0.5"), number("1e-8")), 0.004578181040251153, 14));
  CHECK(published(zcdp_rho_down(10, number("1e-10")), 0.9938913988995405, 14));
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
