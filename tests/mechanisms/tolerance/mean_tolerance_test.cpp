#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/tolerance.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

MeanScenario scenario() {
  return {.epsilon = 1,
          .delta = 0,
          .lower = 0,
          .upper = 10,
          .sum = 2500,
          .count = 500,
          .max_rows = 1,
          .partitions = 1,
          .flakiness = 3};
}

/// The noises that a scenario allows for, from the calculator of single figures.
struct Reach {
  Rational count;
  Rational sum;
};
Reach laplace_reach(const MeanScenario& s) {
  const Rational scale = 2 * Rational(Integer(s.max_rows)) * Rational(Integer(s.partitions)) / s.epsilon;
  const Rational t = laplace_tolerance_at(scale, s.flakiness, false, 2).tolerance;
  return {epsilog::accounting::ceil(t), (s.upper - s.lower) / 2 * t};
}

Rational mean_error(const MeanScenario& s, const Rational& sum_noise, const Rational& count_noise) {
  const Rational midpoint = (s.lower + s.upper) / 2;
  const Rational mean = s.count == 0 ? midpoint : Rational(s.sum / s.count);
  const Rational below = std::max(Rational(1), Rational(s.count + count_noise));
  const Rational noisy = midpoint + (s.sum - s.count * midpoint + sum_noise) / below;
  return abs(std::clamp(noisy, s.lower, s.upper) - mean);
}

template <class Change>
void refused(const std::string& place, Change change) {
  MeanScenario wrong = scenario();
  change(wrong);
  CHECK_THAT(message_thrown<epsilog::InvalidParameter>([&] { return mean_tolerance_up(wrong); }),
             Catch::Matchers::StartsWith(place + ":"));
}

}  // namespace

TEST_CASE("mean tolerance: every digit of the reference table, rounded up",
          "[mechanisms][tolerance][mean][reference]") {
  for (const auto& row : reference_table(EPSILOG_SOURCE_DIR "/tests/reference/tolerance_mean.csv")) {
    CAPTURE(row.at("epsilon"), row.at("delta"), row.at("lower"), row.at("upper"), row.at("sum"),
            row.at("count"), row.at("k"));
    const Rational found = mean_tolerance_up({.epsilon = number(row.at("epsilon")),
                                              .delta = number(row.at("delta")),
                                              .lower = number(row.at("lower")),
                                              .upper = number(row.at("upper")),
                                              .sum = number(row.at("sum")),
                                              .count = number(row.at("count")),
                                              .max_rows = number(row.at("max_rows")).get_num().get_ui(),
                                              .partitions = number(row.at("partitions")).get_num().get_ui(),
                                              .flakiness = number(row.at("k"))});
    const Rational reference = number(row.at("tolerance"));
    CHECK(found >= reference * (1 - power_of_ten(-58)));
    CHECK(found <= reference * (1 + power_of_two(-96)));
  }
}

TEST_CASE("mean tolerance: no point of the box errs by more, and a corner by as much",
          "[mechanisms][tolerance][mean]") {
  for (const char* lower : {"-3", "0", "2"}) {
    for (const char* width : {"1/3", "6"}) {
      for (const char* epsilon : {"0.05", "1", "50"}) {
        for (const int count : {0, 1, 3, 7, 40}) {
          for (const int part : {0, 1, 2, 5, 8, 9}) {
            MeanScenario s = scenario();
            s.epsilon = number(epsilon);
            s.lower = number(lower);
            s.upper = s.lower + number(width);
            s.count = count;
            s.sum = s.count * (s.lower + (s.upper - s.lower) * part / 9);
            const Reach reach = laplace_reach(s);
            const Rational tolerance = mean_tolerance_up(s);
            Rational worst = 0;
            for (int i = -4; i <= 4; ++i) {
              for (int j = -4; j <= 4; ++j) {
                worst = std::max(worst, mean_error(s, reach.sum * i / 4, reach.count * j / 4));
              }
            }
            CAPTURE(lower, width, epsilon, count, part);
            // `worst` stands on a tolerance that was itself rounded up.
            CHECK(worst <= tolerance * (1 + power_of_two(-110)));
            CHECK(tolerance <= worst * (1 + power_of_two(-110)));
          }
        }
      }
    }
  }
}

TEST_CASE("mean tolerance: a negative sum is least over the least count", "[mechanisms][tolerance][mean]") {
  MeanScenario s = scenario();
  s.epsilon = 50;
  s.lower = -3;
  s.upper = 3;
  s.count = 7;
  s.sum = -7;
  const Reach reach = laplace_reach(s);
  REQUIRE(reach.count == 1);
  // The document puts the least sum over the largest count and the largest sum over the least count.
  const Rational document =
      std::max(mean_error(s, -reach.sum, reach.count), mean_error(s, reach.sum, -reach.count));
  const Rational right = mean_tolerance_up(s);
  CHECK(right > document * 2);
  CHECK(std::abs(document.get_d() - 0.01465361935) < 1e-10);
  CHECK(std::abs(right.get_d() - 0.31867971398) < 1e-10);
  CHECK(mean_error(s, -reach.sum, -reach.count) > document);
}

TEST_CASE("mean tolerance: the mean never leaves its range, nor does the tolerance",
          "[mechanisms][tolerance][mean]") {
  MeanScenario s = scenario();
  s.epsilon = number("1e-6");
  CHECK(mean_tolerance_up(s) == 5);
  s.sum = 0;
  CHECK(mean_tolerance_up(s) == 10);
  s.count = 0;
  CHECK(mean_tolerance_up(s) == 5);
  s.epsilon = number("1e6");
  CHECK(mean_tolerance_up(s) < number("0.0001"));
}

TEST_CASE("mean tolerance: more rows or partitions a unit mean more noise", "[mechanisms][tolerance][mean]") {
  MeanScenario s = scenario();
  for (const char* delta : {"0", "1e-6"}) {
    s.delta = number(delta);
    s.max_rows = 1;
    s.partitions = 1;
    const Rational one = mean_tolerance_up(s);
    s.partitions = 4;
    const Rational four = mean_tolerance_up(s);
    s.partitions = 1;
    s.max_rows = s.delta == 0 ? 4 : 2;  // l1 = rows * partitions, l2 = rows * sqrt(partitions)
    CHECK(four > one);
    CHECK(abs(mean_tolerance_up(s) - four) <= four * power_of_two(-90));
  }
}

TEST_CASE("mean tolerance: each impossible scenario is refused by name",
          "[mechanisms][tolerance][mean][negative]") {
  refused("epsilon", [](MeanScenario& s) { s.epsilon = 0; });
  refused("epsilon", [](MeanScenario& s) { s.epsilon = -1; });
  refused("delta", [](MeanScenario& s) { s.delta = -1; });
  refused("delta", [](MeanScenario& s) { s.delta = 1; });
  refused("lower", [](MeanScenario& s) { s.lower = 10; });
  refused("lower", [](MeanScenario& s) { s.lower = 11; });
  refused("sum", [](MeanScenario& s) { s.sum = -1; });
  refused("sum", [](MeanScenario& s) { s.sum = 5001; });
  refused("sum", [](MeanScenario& s) { s.count = 0; });
  refused("count", [](MeanScenario& s) { s.count = -1; });
  refused("count", [](MeanScenario& s) { s.count = Rational(999, 2); });
  refused("max_rows", [](MeanScenario& s) { s.max_rows = 0; });
  refused("partitions", [](MeanScenario& s) { s.partitions = 0; });
  refused("flakiness", [](MeanScenario& s) { s.flakiness = 0; });
  refused("flakiness", [](MeanScenario& s) { s.flakiness = -3; });
}

namespace {

/// P(|noisy mean - mean| <= t) under Laplace noise, in binary64: over a fine grid of the count's noise, which
/// is rounded to an integer or not, the sum's noise in closed form.
double near_probability(const MeanScenario& s, double t, bool rounded) {
  const double scale = 2 / s.epsilon.get_d();
  const double width = Rational(s.upper - s.lower).get_d() / 2;
  const double midpoint = Rational(s.lower + s.upper).get_d() / 2;
  const double count = s.count.get_d();
  const double offset = count == 0 ? 0 : s.sum.get_d() / count - midpoint;
  const auto below = [](double x, double b) {
    return x < 0 ? std::exp(x / b) / 2 : 1 - std::exp(-x / b) / 2;
  };
  constexpr int kSteps = 20'000;
  double total = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double p = (i + 0.5) / kSteps;
    double noise = p < 0.5 ? scale * std::log(2 * p) : -scale * std::log(2 * (1 - p));
    if (rounded) noise = std::floor(noise + 0.5);
    const double noisy = std::max(1.0, count + noise);
    const double shift = (noisy - count) * offset;
    total += below(shift + t * noisy, width * scale) - below(shift - t * noisy, width * scale);
  }
  return total / kSteps;
}

}  // namespace

TEST_CASE("mean complementary: every digit of the reference table, whose integrals stay below the level",
          "[mechanisms][tolerance][mean][reference]") {
  int rows = 0;
  for (const auto& row : reference_table(EPSILOG_SOURCE_DIR "/tests/reference/mean_complementary.csv")) {
    CAPTURE(row.at("epsilon"), row.at("delta"), row.at("sum"), row.at("count"), row.at("k"));
    const auto found = mean_complementary_down({.epsilon = number(row.at("epsilon")),
                                                .delta = number(row.at("delta")),
                                                .lower = number(row.at("lower")),
                                                .upper = number(row.at("upper")),
                                                .sum = number(row.at("sum")),
                                                .count = number(row.at("count")),
                                                .max_rows = number(row.at("max_rows")).get_num().get_ui(),
                                                .partitions = number(row.at("partitions")).get_num().get_ui(),
                                                .flakiness = number(row.at("k"))});
    REQUIRE(found);
    const Rational reference = number(row.at("complementary"));
    CHECK(*found <= reference * (1 + power_of_ten(-26)));
    CHECK(*found >= reference * (1 - power_of_ten(-26)));
    for (const char* share : {"share", "share_rounded"}) {
      CHECK(number(row.at(share)) <= 1);
      CHECK(number(row.at(share)) >= Rational(1, 20));  // a bound, but no idle one
    }
    ++rows;
  }
  CHECK(rows == 12);
}

TEST_CASE("mean complementary: no noisy mean is as near with more than the stated probability",
          "[mechanisms][tolerance][mean]") {
  for (const char* epsilon : {"0.1", "1", "20"}) {
    for (const int count : {0, 1, 2, 30}) {
      for (const int part : {1, 4, 8}) {
        for (const char* k : {"1/10", "1", "3"}) {
          MeanScenario s = scenario();
          s.epsilon = number(epsilon);
          s.count = count;
          s.sum = s.count * 10 * part / 9;
          s.flakiness = number(k);
          CAPTURE(epsilon, count, part, k);
          const auto t = mean_complementary_down(s);
          REQUIRE(t);
          CHECK(*t > 0);
          const Rational mean = count == 0 ? Rational(5) : Rational(s.sum / s.count);
          CHECK(*t < std::min<Rational>(mean, 10 - mean));
          const double level = std::pow(10.0, -number(k).get_d());
          CHECK(near_probability(s, t->get_d(), false) <= level * (1 + 1e-6));
          CHECK(near_probability(s, t->get_d(), true) <= level * (1 + 1e-6));
        }
      }
    }
  }
}

TEST_CASE("mean complementary: there is none where the mean is an end of the range",
          "[mechanisms][tolerance][mean][negative]") {
  MeanScenario s = scenario();
  s.sum = 0;
  CHECK_FALSE(mean_complementary_down(s));
  s.sum = 5000;
  CHECK_FALSE(mean_complementary_down(s));
  s.sum = number("1e-6");
  const auto narrow = mean_complementary_down(s);
  REQUIRE(narrow);
  CHECK(*narrow < s.sum / s.count);
  s.flakiness = 0;
  CHECK_THROWS_AS(mean_complementary_down(s), epsilog::InvalidParameter);
}
