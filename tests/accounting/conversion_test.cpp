// Closed-form composition, zCDP and Renyi divergences: published figures, those of
// tests/reference/composition.py, and bounds of one accountant by another.
#include "composition_reference.hpp"
#include "epsilog/accounting/advanced_composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

using Groups = std::vector<LossGroup>;

LossGroup group(const char* epsilon, std::uint64_t count, const char* delta = "0") {
  return {number(epsilon), number(delta), count};
}

Rational advanced(const Groups& groups, const Rational& delta) {
  const auto epsilon = advanced_epsilon_up(groups, delta);
  REQUIRE(epsilon);
  return *epsilon;
}

ComposedLaw composed(ComposedLaw::Kind kind, const char* scale, const char* sensitivity,
                     std::uint64_t count = 1) {
  return {kind, number(scale), number(sensitivity), 0, 0, count};
}

}  // namespace

TEST_CASE("advanced composition: the least of three, as published", "[accounting][composition][advanced]") {
  CHECK(is_just_above(advanced({group("0.05", 20)}, number("0.001")), "0.7613352285668461", "1e-12"));
  CHECK(is_just_above(advanced({group("1/512", 700)}, power_of_two(-25)),
                      "0.27832280615743646366122002955588987576913442137093", "1e-14"));
  // 300 of (0.1, 0.001) with slack 0.0005, of which delta is 0.2596633213599788.
  Rational survival = number("0.9995");
  for (int i = 0; i < 300; ++i) survival *= number("0.999");
  CHECK(is_just_above(1 - survival, "0.2596633213599788", "1e-9"));
  CHECK(is_just_above(advanced({group("0.1", 300, "0.001")}, 1 - survival), "8.2519293714614687", "1e-9"));
  CHECK(is_just_above(advanced({group("0.1", 100)}, number("1e-6")), "5.756105519335732", "1e-9"));
  CHECK(is_just_above(advanced({group("0.01", 10'000)}, number("1e-6")), "5.756517603131932", "1e-9"));
  CHECK(advanced({group("0.5", 10)}, number("1e-6")) == 5);
  CHECK(advanced({group("0.5", 10)}, 0) == 5);
  CHECK_FALSE(advanced_epsilon_up(Groups{group("0.1", 3, "0.1")}, number("0.27")));
  // A published odometer says (8.4917, 0.19256) here, which is too little: the deltas alone are 0.2593.
  CHECK_FALSE(advanced_epsilon_up(Groups{group("0.1", 300, "0.001")}, number("0.19256")));
}

TEST_CASE("advanced composition: the form of Dwork, Rothblum and Vadhan",
          "[accounting][composition][advanced]") {
  const auto epsilon = [](const Groups& groups) {
    return dwork_rothblum_vadhan_epsilon_up(groups, number("1e-6")).value();
  };
  CHECK(is_just_above(epsilon({group("0.1", 100)}), "6.308230950513408", "1e-9"));
  CHECK(is_just_above(epsilon({group("0.01", 10'000)}), "6.261538478173738", "1e-9"));
  CHECK(is_just_above(
      dwork_rothblum_vadhan_epsilon_up(Groups{group("0.1", 100, "1e-8")}, number("2e-6")).value(),
      "6.308230950513408", "1e-9"));
  CHECK_FALSE(dwork_rothblum_vadhan_epsilon_up(Groups{group("0.1", 100, "1e-8")}, number("1e-6")));
}

TEST_CASE("advanced composition: delta is the inverse of epsilon", "[accounting][composition][advanced]") {
  for (const Groups& groups :
       {Groups{group("0.1", 100)}, Groups{group("0.05", 200, "1e-15"), group("0.2", 5)}}) {
    for (const char* text : {"1e-3", "1e-6", "1e-12"}) {
      const Rational delta = advanced_delta_up(groups, advanced(groups, number(text)));
      CHECK(abs(delta - number(text)) <= number(text) * power_of_two(-70));
    }
    CHECK(advanced_delta_up(groups, 0) == 1);
  }
  CHECK(advanced_delta_up(Groups{group("0.1", 100)}, 10) == 0);
}

TEST_CASE("advanced composition: never below the optimum", "[accounting][composition][advanced]") {
  for (const Groups& groups :
       {Groups{group("0.1", 100)}, Groups{group("0.4", 12, "1e-9"), group("0.2", 5)}}) {
    for (const char* delta : {"0.1", "1e-3", "1e-6"}) {
      const Rational best = optimal_epsilon_up(groups, number(delta)).value();
      CHECK(best <= advanced(groups, number(delta)));
      CHECK(best <= fully_adaptive_epsilon_up(groups, number(delta)).value());
      CHECK(best <= dwork_rothblum_vadhan_epsilon_up(groups, number(delta)).value());
    }
  }
}

TEST_CASE("fully adaptive composition: published figures", "[accounting][composition][adaptive]") {
  const auto epsilon = [](const Groups& groups, const char* delta) {
    return fully_adaptive_epsilon_up(groups, number(delta)).value();
  };
  CHECK(is_just_above(epsilon({group("0.1", 100)}, "1e-6"), "5.756521769756932", "1e-12"));
  CHECK(is_just_above(epsilon({group("0.05", 400)}, "1e-5"), "5.2985259121880812", "1e-12"));
  CHECK(is_just_above(epsilon({group("0.01", 10'000)}, "1e-6"), "5.756521769756932", "1e-12"));
  CHECK(is_just_above(epsilon({group("0.5", 10)}, "1e-6"), "9.5612906813455496", "1e-12"));
  const auto fit = [&](const char* each, std::uint64_t count, const Rational& cap) {
    return epsilon({group(each, count)}, "1e-6") <= cap;
  };
  CHECK((fit("0.01", 349, 1) && !fit("0.01", 350, 1)));
  CHECK((fit("0.1", 3, 1) && !fit("0.1", 4, 1)));
  CHECK((fit("0.01", 2945, 3) && !fit("0.01", 2946, 3)));
}

TEST_CASE("basic composition: sums, and none where they do not fit", "[accounting][composition][basic]") {
  const Groups groups{group("0.1", 9, "0.01"), group("0.5", 1, "0.1")};
  CHECK(basic_epsilon(groups, number("0.19")).value() == number("1.4"));
  CHECK_FALSE(basic_epsilon(groups, number("0.1899")));
  CHECK(basic_delta(groups, number("1.4")).value() == number("0.19"));
  CHECK_FALSE(basic_delta(groups, number("1.3999")));
  CHECK(basic_delta(Groups{group("1", 20, "0.1")}, 20).value() == 1);
  for (std::uint64_t n = 1; n <= 150; ++n) {
    CHECK(basic_epsilon(Groups{{Rational(1, static_cast<unsigned long>(n)), 0, n}}, 0).value() == 1);
  }
}

TEST_CASE("zCDP: epsilon at a delta, as published", "[accounting][zcdp]") {
  CHECK(is_just_above(zcdp_epsilon_up(Rational(1, 32), number("1e-3")), "0.68800245548780839", "1e-12"));
  const std::vector<std::vector<const char*>> rows = {
      {"0.1", "1.9142388320035978", "2.1419389283854737", "2.8818280091742425"},
      {"0.5", "4.7283869849433139", "5.221534444530169", "6.8393294131208485"},
      {"1", "7.0771966958063398", "7.7662166253117207", "10.03434358134763"},
      {"2.63", "12.691562216993866", "13.792327690123114", "17.430584487345112"}};
  for (const auto& row : rows) {
    CHECK(is_just_above(zcdp_epsilon_up(number(row[0]), number("1e-5")), row[1], "1e-9"));
    CHECK(is_just_above(zcdp_epsilon_up(number(row[0]), number("1e-6")), row[2], "1e-9"));
    CHECK(is_just_above(zcdp_epsilon_up(number(row[0]), number("1e-10")), row[3], "1e-9"));
  }
  for (const test::CompositionRow& row : test::composition_rows("zcdp_epsilon")) {
    CAPTURE(row.line);
    const Rational epsilon = zcdp_epsilon_up(row.groups.front().epsilon, row.given);
    CHECK(epsilon >= row.low);
    CHECK(epsilon <= row.high * (1 + power_of_two(-70)));
  }
}

TEST_CASE("zCDP: epsilon, delta and rho are inverse to each other", "[accounting][zcdp]") {
  for (const char* rho : {"0.001", "0.1", "3"}) {
    const Rational epsilon = zcdp_epsilon_up(number(rho), number("1e-6"));
    CHECK(abs(zcdp_delta_up(number(rho), epsilon) - number("1e-6")) < number("1e-24"));
    CHECK(abs(zcdp_rho_down(epsilon, number("1e-6")) - number(rho)) < number("1e-18"));
  }
}

TEST_CASE("zCDP: delta at the best order, where an optimiser is known to stop early", "[accounting][zcdp]") {
  // Published with theta = 10^-12 of another relaxation, which adds (1 + e^epsilon) theta: 0.265095482951544.
  CHECK(is_just_above(zcdp_delta_up(number("0.3"), number("0.5")), "0.26509548294889", "1e-13"));
}

TEST_CASE("zCDP: how many pure releases fit", "[accounting][zcdp]") {
  const Rational rho = zcdp_rho_down(1, number("1e-6"));
  CHECK(floor(Rational(rho / zcdp_rho_of_pure(number("0.1")))) == 4);
  CHECK(floor(Rational(rho / zcdp_rho_of_pure(number("0.01")))) == 487);
  CHECK(zcdp_rho_of_pure(number("0.5")) == number("0.125"));
  CHECK(zcdp_rho_of_gaussian(10, 2) == number("0.02"));
}

TEST_CASE("zCDP: no input makes epsilon too small or fails", "[accounting][zcdp]") {
  CHECK(zcdp_epsilon_up(0, number("1e-6")) == 0);
  for (const char* rho : {"1e-300", "1e-20", "1", "1e20", "1e300"}) {
    for (const char* delta : {"1e-300", "1e-9", "0.5", "0.999999999999999999999999999999"}) {
      CAPTURE(rho, delta);
      const Rational epsilon = zcdp_epsilon_up(number(rho), number(delta));
      CHECK(epsilon >= 0);
      CHECK(zcdp_delta_up(number(rho), epsilon) <= number(delta) * (1 + power_of_two(-40)));
    }
  }
  CHECK_THROWS_AS(zcdp_epsilon_up(-1, number("0.1")), InvalidParameter);
  CHECK_THROWS_AS(zcdp_epsilon_up(1, 0), InvalidParameter);
  CHECK_THROWS_AS(zcdp_epsilon_up(1, 1), InvalidParameter);
  CHECK_THROWS_AS(zcdp_rho_of_pure(-1), InvalidParameter);
  CHECK_THROWS_AS(zcdp_rho_of_gaussian(0, 1), InvalidParameter);
}

TEST_CASE("Renyi: divergences as published", "[accounting][renyi]") {
  CHECK(is_just_above(renyi_of_gaussian(number("2.71828"), 1, number("3.14159")), "0.2125842722222397",
                      "1e-12"));
  const std::vector<std::vector<const char*>> laplace = {
      {"1", "0.5128835112945086", "0.61912362999859288", "0.92868290209668022", "0.98912215868096953"},
      {"2", "0.1559778784857395", "0.20030389617361596", "0.42869038646727483", "0.48912215868096953"},
      {"10", "0.0072474853893285342", "0.0096442078403446747", "0.042715182465686923",
       "0.089122206354734784"}};
  for (const auto& row : laplace) {
    const char* orders[] = {"1.5", "2", "10", "64"};
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(is_just_above(renyi_of_laplace_up(number(row[0]), 1, number(orders[i])), row[i + 1], "1e-12"));
    }
  }
  for (const test::CompositionRow& row : test::composition_rows("laplace_renyi")) {
    CAPTURE(row.line);
    const Rational divergence = renyi_of_laplace_up(1, row.groups.front().epsilon, row.given);
    CHECK(divergence >= row.low);
    CHECK(divergence <= row.high * (1 + power_of_two(-99)));
  }
}

TEST_CASE("Renyi: the conversion, as published", "[accounting][renyi]") {
  RenyiCurve constant;
  RenyiCurve gaussian;
  for (long order = 2; order <= 32; ++order) constant.push_back({Rational(order), number("1.1")});
  CHECK(is_just_above(renyi_epsilon_up(constant, number("1e-5")), "1.3278380617", "1e-10"));
  for (long thousandth = 20'000; thousandth <= 40'000; ++thousandth) {
    const Rational order(thousandth, 1000);
    gaussian.push_back({order, renyi_of_gaussian(number("4.530877117"), 1, order)});
  }
  CHECK(abs(renyi_epsilon_up(gaussian, number("1e-6")) - 1) < number("1e-6"));
}

TEST_CASE("Renyi: the grid of orders loses little against all orders", "[accounting][renyi]") {
  for (const char* sigma : {"0.5", "1", "4", "30"}) {
    const RenyiCurve curve = renyi_curve_up(composed(ComposedLaw::Kind::gaussian, sigma, "1", 10));
    const Rational rho = 10 * zcdp_rho_of_gaussian(number(sigma), 1);
    for (const char* delta : {"1e-3", "1e-6", "1e-12"}) {
      const Rational all = zcdp_epsilon_up(rho, number(delta));
      const Rational grid = renyi_epsilon_up(curve, number(delta));
      CAPTURE(sigma, delta, all.get_d(), grid.get_d());
      CHECK(grid >= all * (1 - power_of_two(-60)));
      CHECK(grid <= all * Rational(1005, 1000));
      CHECK(renyi_delta_up(curve, grid) <= number(delta) * (1 + power_of_two(-60)));
      CHECK(renyi_delta_up(curve, grid) >= zcdp_delta_up(rho, grid) * (1 - power_of_two(-60)));
    }
  }
}

TEST_CASE("Renyi: pure mechanisms and discrete noise keep their order", "[accounting][renyi]") {
  for (const Rational& order : renyi_orders()) {
    const Rational pure = renyi_of_pure_up(number("0.7"), order);
    CHECK(pure <= number("0.7") * (1 + power_of_two(-60)));
    CHECK(pure <= order * number("0.245") * (1 + power_of_two(-60)));
    CHECK(renyi_of_laplace_up(10, 7, order) < pure);
    // Two-sided geometric noise of sensitivity 1 is randomised response, post-processed.
    const Rational geometric = renyi_of_discrete_laplace_up(Rational(10, 7), 1, order);
    CHECK(abs(geometric - pure) <= pure * power_of_two(-90));
    // A finer grid comes near the continuous law.
    const Rational fine = renyi_of_discrete_laplace_up(10'000, 7'000, order);
    CHECK(abs(fine - renyi_of_laplace_up(10, 7, order)) < number("1e-6"));
  }
}

TEST_CASE("Renyi: the geometric divergence is the sum of its definition", "[accounting][renyi]") {
  // At order 2 with q = e^(-1/s) replaced by nothing: sum of P(x)^2/P(x - 3), in doubles.
  const double scale = 2;
  double sum = 0;
  double total = 0;
  for (int x = -200; x <= 200; ++x) total += std::exp(-std::abs(x) / scale);
  for (int x = -200; x <= 200; ++x) sum += std::exp((-2 * std::abs(x) + std::abs(x - 3)) / scale);
  const double expected = std::log(sum / total);
  CHECK(std::abs(renyi_of_discrete_laplace_up(2, 3, 2).get_d() - expected) < 1e-13);
}

TEST_CASE("Renyi: curves add order by order only", "[accounting][renyi]") {
  RenyiCurve sum = renyi_curve_up(composed(ComposedLaw::Kind::laplace, "2", "1", 3));
  compose_renyi(sum, renyi_curve_up(composed(ComposedLaw::Kind::laplace, "2", "1", 2)));
  const RenyiCurve five = renyi_curve_up(composed(ComposedLaw::Kind::laplace, "2", "1", 5));
  for (std::size_t i = 0; i < five.size(); ++i) {
    CHECK(abs(sum[i].divergence - five[i].divergence) <= five[i].divergence * power_of_two(-100));
  }
  RenyiCurve other = five;
  other.front().order = 3;
  CHECK_THROWS_AS(compose_renyi(sum, other), InvalidParameter);
  other.pop_back();
  CHECK_THROWS_AS(compose_renyi(sum, other), InvalidParameter);
}

TEST_CASE("Renyi: bad input is refused by name", "[accounting][renyi][negative]") {
  CHECK_THROWS_AS(renyi_of_gaussian(0, 1, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_gaussian(1, 1, 1), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_laplace_up(-1, 1, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_laplace_up(1, -1, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_pure_up(-1, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_of_discrete_laplace_up(1, -1, 2), InvalidParameter);
  CHECK_THROWS_AS(renyi_curve_up(composed(ComposedLaw::Kind::laplace, "1", "1", 0)), InvalidParameter);
  CHECK_THROWS_AS(renyi_curve_up(composed(ComposedLaw::Kind::discrete_gaussian, "1", "0.5")),
                  InvalidParameter);
  CHECK_THROWS_AS(renyi_epsilon_up({}, number("0.1")), InvalidParameter);
  const RenyiCurve curve = renyi_curve_up(composed(ComposedLaw::Kind::laplace, "1", "1"));
  CHECK_THROWS_AS(renyi_epsilon_up(curve, 0), InvalidParameter);
  CHECK_THROWS_AS(renyi_epsilon_up(curve, 1), InvalidParameter);
  CHECK_THROWS_AS(renyi_delta_up(curve, -1), InvalidParameter);
}

TEST_CASE("Renyi: snapping costs Laplace noise and a little, and never more than its pure loss",
          "[accounting][renyi]") {
  ComposedLaw snapping = composed(ComposedLaw::Kind::snapping, "5", "1");
  const RenyiCurve laplace = renyi_curve_up(composed(ComposedLaw::Kind::laplace, "5", "1"));
  const RenyiCurve exact = renyi_curve_up(snapping);
  snapping.extra = number("1e-3");
  const RenyiCurve rounded = renyi_curve_up(snapping);
  for (std::size_t i = 0; i < laplace.size(); ++i) {
    const Rational& order = laplace[i].order;
    CAPTURE(order.get_d());
    CHECK(exact[i].divergence == laplace[i].divergence);
    CHECK(rounded[i].divergence > laplace[i].divergence);
    const Rational sum = laplace[i].divergence + order * snapping.extra / (order - 1);
    CHECK(rounded[i].divergence <= sum * (1 + power_of_two(-50)));
    const Rational pure = renyi_of_pure_up(number("0.201"), order);
    CHECK(rounded[i].divergence <= pure * (1 + power_of_two(-50)));
    CHECK(rounded[i].divergence >= std::min(sum, pure) * (1 - power_of_two(-50)));
  }
  snapping.extra = -1;
  CHECK_THROWS_AS(renyi_curve_up(snapping), InvalidParameter);
}
