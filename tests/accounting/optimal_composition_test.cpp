// Optimal composition: published figures, figures of tests/reference/composition.py, and one algorithm
// against another.
#include "epsilog/accounting/optimal_composition.hpp"

#include "composition_reference.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/failure_probability.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

using Groups = std::vector<LossGroup>;

LossGroup group(const char* epsilon, std::uint64_t count, const char* delta = "0") {
  return {number(epsilon), number(delta), count};
}

Rational epsilon_at(const Groups& groups, const char* delta) {
  const auto epsilon = optimal_epsilon_up(groups, number(delta));
  REQUIRE(epsilon);
  return *epsilon;
}

}  // namespace

TEST_CASE("optimal composition: epsilon of equal mechanisms, as published",
          "[accounting][composition][optimal]") {
  CHECK(epsilon_at({group("1", 30)}, "0") == 30);
  // Theirs are grid values; between two of them less suffices.
  CHECK(epsilon_at({group("1", 30, "0.001")}, "0.06") > 20);
  CHECK(epsilon_at({group("1", 30, "0.001")}, "0.06") <= 22);
  CHECK_FALSE(optimal_epsilon_up(Groups{group("1", 1, "0.2")}, number("0.1")));
  CHECK_FALSE(optimal_epsilon_up(Groups{group("1", 30, "0.01")}, number("0.26")));
  CHECK_FALSE(optimal_epsilon_up(Groups{group("0.1", 30, "0.2")}, number("0.26")));
}

TEST_CASE("optimal composition: the grid of Kairouz, Oh and Viswanath",
          "[accounting][composition][optimal]") {
  // Their theorem states epsilon on the grid (k - 2i) epsilon_0: the least of it with a delta that suffices.
  const Groups groups{group("1", 30, "0.001")};
  CHECK(optimal_delta_up(groups, 22) <= number("0.06"));
  CHECK(optimal_delta_up(groups, 20) > number("0.06"));
  CHECK(optimal_delta_up(groups, 20) <= number("0.1"));
  CHECK(optimal_delta_up(groups, 18) > number("0.1"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("1", 30)}, 22), "0.02027624554984596", "1e-12"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("1", 30)}, 20), "0.05829678742512802", "1e-12"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("0.1", 10)}, number("0.8")), "2.88233857618648e-4",
                      "1e-12"));
  CHECK(
      is_just_above(optimal_delta_up(Groups{group("0.1", 10)}, number("0.4")), "0.016080131993213", "1e-12"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("0.1", 100)}, 6), "6.20163909818372e-10", "1e-15"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("0.1", 100)}, 4), "3.422312319196773e-5", "1e-15"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("0.5", 20)}, 6), "0.01782164613662001", "1e-14"));
  CHECK(is_just_above(optimal_delta_up(Groups{group("0.01", 1000)}, 2), "1.393482720845995e-11", "1e-14"));
}

TEST_CASE("optimal composition: the largest epsilon of each that keeps a total, as published",
          "[accounting][composition][optimal]") {
  const auto total = [](const char* each, std::uint64_t count, const char* delta, const char* whole) {
    return epsilon_at({group(each, count, delta)}, whole);
  };
  CHECK(total("1", 30, "0", "0") == 30);
  CHECK(total("1.000001", 30, "0", "0") > 30);
  // On their grid epsilon_0 = 1 reaches 22 and 0.25 reaches 5.
  CHECK(optimal_delta_up(Groups{group("1", 30, "0.001")}, 22) <= number("0.06"));
  CHECK(optimal_delta_up(Groups{group("0.25", 50)}, 5) <= number("0.01"));
  CHECK(optimal_delta_up(Groups{group("0.26", 50)}, 5) > number("0.01"));
}

TEST_CASE("optimal composition: one delta among pure losses stays itself",
          "[accounting][composition][optimal]") {
  const Groups groups{group("1", 1), group("1", 1, "0.5"), group("5", 1)};
  CHECK(epsilon_at(groups, "0.5") == 7);
  CHECK(optimal_delta_up(groups, 7) == number("0.5"));
  CHECK_FALSE(optimal_epsilon_up(groups, number("0.49")));
}

TEST_CASE("optimal composition: different mechanisms, as published", "[accounting][composition][optimal]") {
  CHECK(is_just_above(epsilon_at({group("0.5", 1), group("1", 1)}, "0.01"), "1.4777795414415957", "1e-9"));
  CHECK(
      is_just_above(epsilon_at({group("0.1", 1), group("0.2", 1), group("0.3", 1), group("0.4", 1)}, "0.01"),
                    "0.89382272901306216", "1e-9"));
  CHECK(is_just_above(epsilon_at({group("0.1", 10)}, "0.001"), "0.75357315487905399", "1e-9"));
  CHECK(is_just_above(epsilon_at({group("0.1", 10, "0.000001")}, "1e-4"), "0.94173374153465102", "1e-9"));
  CHECK(is_just_above(
      epsilon_at({group("0.5", 1, "1e-6"), group("0.25", 1, "1e-6"), group("0.125", 1, "1e-6")}, "1e-5"),
      "0.87496234190845643", "1e-9"));
  CHECK(epsilon_at({group("1", 1, "0.1"), group("2", 1, "0.2")}, "0.28") == 3);
  CHECK(optimal_delta_up(Groups{group("1", 1, "0.1"), group("2", 1, "0.2")}, 3) == number("0.28"));
}

TEST_CASE("optimal composition: figures computed elsewhere", "[accounting][composition][optimal]") {
  for (const test::CompositionRow& row : test::composition_rows("optimal_delta")) {
    CAPTURE(row.line);
    const Rational delta = optimal_delta_up(row.groups, row.given);
    CHECK(delta >= row.low);
    CHECK(delta <= row.high * (1 + power_of_two(-99)));
  }
  for (const test::CompositionRow& row : test::composition_rows("optimal_epsilon")) {
    CAPTURE(row.line);
    const auto epsilon = optimal_epsilon_up(row.groups, row.given);
    REQUIRE(epsilon);
    CHECK(*epsilon >= row.low);
    CHECK(*epsilon <= row.high * (1 + power_of_two(-80)));
  }
}

TEST_CASE("optimal composition: three ways to form the law agree", "[accounting][composition][optimal]") {
  const std::vector<Groups> cases = {{group("0.1", 100)},
                                     {group("1/3", 40)},
                                     {group("0.1", 30), group("0.25", 20)},
                                     {group("0.1", 30), group("1/7", 20), group("3", 2)},
                                     {group("0.02", 500, "1e-15")},
                                     // Without a common divisor that could be the grid.
                                     {group("0.1234567", 12), group("0.3141593", 9), group("0.271828", 5)},
                                     {group("0.0123457", 200), group("0.0718281", 100)}};
  for (const Groups& groups : cases) {
    const Rational total = total_epsilon(groups);
    for (const Rational& part : {Rational(0), Rational(1, 10), Rational(1, 4), Rational(1, 2)}) {
      const Rational epsilon = total * part;
      const Rational best = optimal_delta_up(groups, epsilon);
      const Rational classes = optimal_delta_up(groups, epsilon, OptimalMethod::sign_classes);
      const Rational grid = optimal_delta_up(groups, epsilon, OptimalMethod::grid);
      CAPTURE(best.get_d(), classes.get_d(), grid.get_d());
      CHECK(abs(best - classes) <= best * power_of_two(-99));
      CHECK(grid >= best);
      CHECK(grid <= best * Rational(1001, 1000) + number("1e-40"));
    }
    for (const char* delta : {"0.01", "1e-6", "1e-12"}) {
      const Rational best = epsilon_at(groups, delta);
      const auto grid = optimal_epsilon_up(groups, number(delta), OptimalMethod::grid);
      REQUIRE(grid);
      CAPTURE(best.get_d(), grid->get_d());
      CHECK(*grid >= best);
      CHECK(*grid <= best * Rational(1001, 1000));
    }
  }
}

TEST_CASE("optimal composition: the distribution of the privacy loss encloses it",
          "[accounting][composition][optimal]") {
  using Kind = ComposedLaw::Kind;
  const auto check = [](const Groups& groups) {
    std::vector<ComposedLaw> laws;
    for (const LossGroup& group : groups) {
      laws.push_back({Kind::approximate, 0, 0, group.epsilon, group.delta, group.count});
    }
    const Rational total = total_epsilon(groups);
    for (const Rational& part : {Rational(1, 10), Rational(1, 4), Rational(1, 2)}) {
      const Rational best = optimal_delta_up(groups, total * part);
      const Rational above = pld_delta_up(laws, total * part);
      const Rational below = pld_delta_down(laws, total * part);
      CAPTURE(below.get_d(), best.get_d(), above.get_d());
      CHECK(above >= best * (1 - power_of_two(-90)));
      CHECK(below <= best);
    }
    for (const char* delta : {"0.01", "1e-6"}) {
      const Rational best = epsilon_at(groups, delta);
      const Rational above = pld_epsilon_up(laws, number(delta)).value();
      CAPTURE(best.get_d(), above.get_d());
      CHECK(above >= best * (1 - power_of_two(-80)));
      CHECK(above <= best * Rational(1001, 1000));
    }
  };
  check({group("0.1", 100)});
  check({group("0.1", 30, "1e-9"), group("0.25", 20)});
  check({group("0.1234567", 12), group("0.3141593", 9), group("0.271828", 5)});
}

TEST_CASE("optimal composition: epsilon and delta are inverse to each other",
          "[accounting][composition][optimal]") {
  for (const Groups& groups :
       {Groups{group("0.1", 100)}, Groups{group("0.3", 7, "1e-5"), group("0.7", 3)}, Groups{group("2", 3)}}) {
    for (const char* delta : {"0.3", "0.01", "1e-4"}) {
      const Rational epsilon = epsilon_at(groups, delta);
      const Rational back = optimal_delta_up(groups, epsilon);
      CAPTURE(delta, epsilon.get_d(), back.get_d());
      CHECK(back <= number(delta) * (1 + power_of_two(-90)));
      if (epsilon > 0) CHECK(optimal_delta_up(groups, epsilon * (1 - power_of_two(-60))) > number(delta));
    }
  }
}

TEST_CASE("optimal composition: a million mechanisms", "[accounting][composition][optimal]") {
  const Groups groups{group("0.001", 1'000'000)};
  const Rational epsilon = epsilon_at(groups, "1e-6");
  // Above the Gaussian limit mu = 1 (delta = 1e-6 at 4.8865...), below the bound of zCDP.
  CHECK(epsilon > 4);
  CHECK(epsilon < number("5.7566"));
  const Rational delta = optimal_delta_up(groups, epsilon);
  CHECK(abs(delta - number("1e-6")) < number("1e-12"));
}

TEST_CASE("optimal composition: a thousand different mechanisms", "[accounting][composition][optimal]") {
  Groups groups;
  Rational squares;
  for (unsigned i = 0; i < 1000; ++i) {
    groups.push_back({Rational(10'000 + 7 * i + i % 3, 1'000'003), 0, 1});
    squares += groups.back().epsilon * groups.back().epsilon;
  }
  const Rational epsilon = epsilon_at(groups, "1e-6");
  CHECK(epsilon < total_epsilon(groups));
  // Between as many of the smallest and as many of the largest.
  CHECK(epsilon > epsilon_at({LossGroup{groups.front().epsilon, 0, 1000}}, "1e-6"));
  CHECK(epsilon < epsilon_at({LossGroup{groups.back().epsilon, 0, 1000}}, "1e-6"));
  CHECK(optimal_delta_up(groups, epsilon) <= number("1.01e-6"));
}

TEST_CASE("optimal composition: more of anything never costs less", "[accounting][composition][optimal]") {
  Rational before = 0;
  for (const std::uint64_t count : {1U, 2U, 3U, 10U, 100U, 1000U}) {
    const Rational epsilon = epsilon_at({group("0.1", count), group("0.35", 2)}, "1e-5");
    CHECK(epsilon >= before);
    before = epsilon;
  }
  before = 1;
  for (const char* epsilon : {"0", "0.001", "0.5", "1", "3", "9.9", "10", "11"}) {
    const Rational delta = optimal_delta_up(Groups{group("0.1", 100)}, number(epsilon));
    CHECK(delta <= before);
    before = delta;
  }
  CHECK(before == 0);
}

TEST_CASE("optimal composition: the ends of the range", "[accounting][composition][optimal]") {
  CHECK(optimal_delta_up(Groups{group("0", 5)}, 0) == 0);
  CHECK(epsilon_at({group("0", 5)}, "0") == 0);
  CHECK(optimal_delta_up(Groups{group("0", 2, "0.5")}, 0) == number("0.75"));
  CHECK(optimal_delta_up(Groups{group("0", 10'000, "1e-7")}, 0) > number("0.0009995002"));
  CHECK(optimal_delta_up(Groups{group("0", 10'000, "1e-7")}, 0) < number("0.0009995003"));
  CHECK(optimal_delta_up(Groups{group("1", 1, "1")}, 5) == 1);
  CHECK(epsilon_at({group("1", 3)}, "1") == 0);
  CHECK(optimal_delta_up(Groups{group("500", 1)}, 499) < 1);
  CHECK(optimal_delta_up(Groups{group("500", 1)}, 499) > number("0.63"));
}

TEST_CASE("optimal composition: what is out of range is refused by name",
          "[accounting][composition][negative]") {
  const auto refused = [](const Groups& groups) {
    CHECK_THROWS_AS(optimal_delta_up(groups, 1), InvalidParameter);
    CHECK_THROWS_AS(optimal_epsilon_up(groups, number("0.1")), InvalidParameter);
  };
  refused({});
  refused({group("1", 0)});
  refused({group("-1", 1)});
  refused({group("1", 1, "-0.1")});
  refused({group("1", 1, "1.1")});
  refused({group("1", kComposedMax + 1)});
  refused({group("1", kComposedMax), group("2", 1)});
  refused({group("100000001", 1)});
  refused({group("1000001", 100)});
  CHECK_THROWS_AS(optimal_delta_up(Groups{group("1", 1)}, -1), InvalidParameter);
  CHECK_THROWS_AS(optimal_epsilon_up(Groups{group("1", 1)}, number("-0.1")), InvalidParameter);
  CHECK_THROWS_AS(optimal_epsilon_up(Groups{group("1", 1)}, number("1.1")), InvalidParameter);
}
