#include "epsilog/mechanisms/snapping_for_accuracy.hpp"

#include "epsilog/accounting/errors.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using epsilog::InvalidParameter;
using epsilog::accounting::power_of_two;

namespace {

SnappingMechanism mechanism(const Epsilon& epsilon, const AccuracyGoal& goal, const Rational& bound) {
  return SnappingMechanism({.epsilon = epsilon,
                            .sensitivity = goal.sensitivity,
                            .coordinates = goal.coordinates,
                            .lower = -bound,
                            .upper = bound,
                            .arithmetic = goal.arithmetic,
                            .precision = goal.precision});
}

bool meets(std::int64_t units, const AccuracyGoal& goal, const Rational& bound) {
  return mechanism(Epsilon::from_units(units), goal, bound).accuracy_up(goal.alpha) <= goal.accuracy;
}

AccuracyGoal goal_of(const char* accuracy, const char* alpha, const char* sensitivity) {
  return {.accuracy = number(accuracy), .alpha = number(alpha), .sensitivity = number(sensitivity)};
}

}  // namespace

TEST_CASE("accuracy: the probability of the accuracy is at most the one asked for",
          "[mechanisms][snapping][accuracy][random]") {
  std::mt19937_64 bits(20190909);
  const auto between = [&](long low, long high, long denominator) -> Rational {
    return Rational(std::uniform_int_distribution<long>(low, high)(bits)) / denominator;
  };
  for (int i = 0; i < 300; ++i) {
    const AccuracyGoal goal{.accuracy = 1,
                            .alpha = between(1, 9999, 10000) / (i % 5 == 0 ? 1000000 : 1),
                            .sensitivity = between(1, 300, 100),
                            .arithmetic = i % 2 == 0 ? Arithmetic::exact : Arithmetic::mpfr,
                            .precision = {i % 4 == 1 ? 53U : 0U}};
    const Rational bound = between(1, 2000, 100);
    CAPTURE(i, goal.alpha, goal.sensitivity, bound);
    const SnappingMechanism asked = mechanism(Epsilon::from_units(300'000'000'000), goal, bound);
    const Rational a = asked.accuracy_up(goal.alpha);
    CHECK(asked.tail_up(a) <= goal.alpha);
    CHECK(asked.tail_up(a * (1 - power_of_two(-60))) > goal.alpha);
    CHECK(asked.tail_up(0) == 1);
    CHECK(asked.tail_up(2 * asked.parameters().bound) == 0);
    const Rational tail = asked.tail_up(bound / 2);
    if (tail < 1) CHECK(asked.accuracy_up(tail) <= bound / 2 * (1 + power_of_two(-100)));
  }
}

TEST_CASE("accuracy: it stays inverse where probabilities hug a step of the law",
          "[mechanisms][snapping][accuracy][random]") {
  // Just above and below e^(-h kappa), where S is flat to the left of a jump, and at its value at a step.
  for (const Arithmetic arithmetic : {Arithmetic::exact, Arithmetic::mpfr}) {
    const SnappingMechanism asked({.epsilon = Epsilon::parse_down("0.6"),
                                   .sensitivity = 1,
                                   .lower = -100,
                                   .upper = 100,
                                   .arithmetic = arithmetic});
    for (int steps = 1; steps <= 12; ++steps) {
      const Rational edge = asked.parameters().grid * steps / 2;
      const Rational before = asked.tail_up(edge - power_of_two(-200));
      for (const Rational& level : {before, asked.tail_up(edge)}) {
        for (const long bits : {60L, 100L, 128L, 140L, 250L}) {
          for (const int sign : {-1, 0, 1}) {
            const Rational alpha = level * (1 + sign * power_of_two(-bits));
            if (alpha >= 1) continue;
            CHECK(asked.tail_up(asked.accuracy_up(alpha)) <= alpha);
          }
        }
      }
      if (before < 1) CHECK(asked.tail_up(edge) < before * Rational(7, 10));
    }
  }
}

TEST_CASE("accuracy: mpfr promises less than exact by no more than its rounding",
          "[mechanisms][snapping][accuracy]") {
  const AccuracyGoal exact = goal_of("1", "0.05", "1");
  AccuracyGoal rounded = exact;
  rounded.arithmetic = Arithmetic::mpfr;
  rounded.precision = {53};
  const Epsilon epsilon = Epsilon::parse_down("0.3");
  const SnappingMechanism ideal = mechanism(epsilon, exact, 1'000'000);
  const SnappingMechanism drawn = mechanism(epsilon, rounded, 1'000'000);
  const auto& p = drawn.parameters();
  const Rational rounding = (18 * p.bound / p.scale + 10) * power_of_two(-53);
  CHECK(drawn.accuracy_up(exact.alpha) > ideal.accuracy_up(exact.alpha));
  CHECK(drawn.tail_up(17) >= ideal.tail_up(17) / (1 - rounding) * (1 - power_of_two(-126)));
  // lambda is larger by no more than twice the rounding, and the tail decays over about 17/lambda of it.
  CHECK(drawn.tail_up(17) <= ideal.tail_up(17) * (1 + 20 * rounding));
}

TEST_CASE("accuracy: a made-up answer is clamped and shifted as a true one is",
          "[mechanisms][snapping][accuracy]") {
  const SnappingMechanism off_centre({.epsilon = Epsilon::parse_down("1"),
                                      .sensitivity = 1,
                                      .lower = 3,
                                      .upper = number("20.5"),
                                      .arithmetic = Arithmetic::exact});
  const auto at = [&](const char* y, const char* alpha) {
    return off_centre.accuracy_at_up(HypotheticalAnswer::parse(y), number(alpha));
  };
  CHECK(off_centre.parameters().centre == 12);
  CHECK(off_centre.parameters().bound == 9);  // released: 3 to 21
  CHECK(at("12", "0.05") == 3);
  CHECK(at("12.25", "0.05") == number("3.25"));
  CHECK(at("3", "0.05") == 2);
  CHECK(at("-1e300", "0.05") == 2);  // as 3
  CHECK(at("1e9", "0.05") == at("20.5", "0.05"));
  CHECK(at("20.5", "0.99") == number("0.5"));
  CHECK(at("61/3", "0.65") == Rational(1, 3));
  CHECK_THROWS_AS(at("3", "0"), InvalidParameter);
  CHECK_THROWS_AS(at("3", "1"), InvalidParameter);
  for (const char* text : {"nan", "inf", "", " 3", "0x1p3", "-0", "three"}) {
    CHECK_THROWS_AS(HypotheticalAnswer::parse(text), InvalidParameter);
  }
  CHECK_THROWS_AS(off_centre.tail_up(-1), InvalidParameter);
  CHECK_THROWS_AS(off_centre.accuracy_up(power_of_two(-20000)), InvalidParameter);
}

TEST_CASE("epsilon for an accuracy: the reference's, to the last unit",
          "[mechanisms][snapping][accuracy][calibration][exact]") {
  for (const ReferenceRow& row :
       reference_table(EPSILOG_SOURCE_DIR "/tests/reference/snapping_accuracy.csv")) {
    if (row.at("kind") != "epsilon") continue;
    CAPTURE(row.at("lambda"), row.at("bound"), row.at("argument"), row.at("y"));
    AccuracyGoal goal{.accuracy = reference_value(row.at("argument")),
                      .alpha = reference_value(row.at("y")),
                      .sensitivity = reference_value(row.at("lambda"))};
    if (!row.at("bound").empty()) goal.bound = reference_value(row.at("bound"));
    CHECK(snapping_epsilon_for_accuracy_up(goal).units() == std::stoll(row.at("value")));
  }
}

TEST_CASE("epsilon for an accuracy: the mechanism keeps it and one unit less does not",
          "[mechanisms][snapping][accuracy][calibration][random]") {
  std::mt19937_64 bits(118);
  const auto between = [&](long low, long high, long denominator) -> Rational {
    return Rational(std::uniform_int_distribution<long>(low, high)(bits)) / denominator;
  };
  for (int i = 0; i < 120; ++i) {
    AccuracyGoal goal{.accuracy = between(1, 5000, 100),
                      .alpha = between(1, 900, 1000),
                      .sensitivity = between(1, 500, 100),
                      .coordinates = 1U + static_cast<unsigned>(i % 3)};
    if (i % 3 != 0) goal.bound = goal.accuracy * between(110, 2000, 100);
    if (i % 3 == 2) {
      goal.arithmetic = Arithmetic::mpfr;
      goal.precision = {i % 2 == 0 ? 53U : 0U};
    }
    const Rational bound = goal.bound.value_or(4 * goal.accuracy);
    CAPTURE(i, goal.accuracy, goal.alpha, goal.sensitivity, bound);
    const std::int64_t units = snapping_epsilon_for_accuracy_up(goal).units();
    CHECK(meets(units, goal, bound));
    if (units > 1) CHECK_FALSE(meets(units - 1, goal, bound));
    // From there on always: whatever the octave, and across the jumps of the grid.
    for (int j = 0; j < 8; ++j) {
      const std::int64_t larger = units + units / 1000 * std::uniform_int_distribution<long>(0, 8000)(bits);
      CHECK(meets(larger, goal, bound));
    }
    if (!goal.bound) {  // what serves without a bound serves with any
      for (const Rational& any : {Rational(goal.accuracy / 7), goal.accuracy, Rational(goal.accuracy * 50)}) {
        CHECK(meets(units, goal, any));
      }
    }
  }
}

TEST_CASE("epsilon for an accuracy: it falls as the goal gets easier",
          "[mechanisms][snapping][accuracy][calibration]") {
  Epsilon last = snapping_epsilon_for_accuracy_up(goal_of("0.01", "0.05", "1"));
  for (int a = 2; a <= 400; ++a) {
    AccuracyGoal goal = goal_of("1", "0.05", "1");
    goal.accuracy = Rational(a) / 100;
    const Epsilon next = snapping_epsilon_for_accuracy_up(goal);
    CHECK(next <= last);
    last = next;
  }
  CHECK(snapping_epsilon_for_accuracy_up(goal_of("4", "0.01", "1")) >
        snapping_epsilon_for_accuracy_up(goal_of("4", "0.05", "1")));
}

TEST_CASE("epsilon for an accuracy: the jump of the grid is taken into account",
          "[mechanisms][snapping][accuracy][calibration][exact]") {
  // At lambda = 1 the grid is 1 and the accuracy 3.4075...; at any larger scale the grid is 2 and the
  // accuracy above 3.9: every goal in between needs an epsilon of 1.
  for (const char* accuracy : {"3.41", "3.5", "3.9"}) {
    CHECK(snapping_epsilon_for_accuracy_up(goal_of(accuracy, "0.05", "1")).units() == 1'000'000'000'000);
  }
  CHECK(snapping_epsilon_for_accuracy_up(goal_of("3.4", "0.05", "1")).units() > 1'000'000'000'000);
  CHECK(snapping_epsilon_for_accuracy_up(goal_of("3.91", "0.05", "1")).units() < 1'000'000'000'000);
}

TEST_CASE("epsilon for an accuracy: windows of smaller epsilons under a binding bound are passed over",
          "[mechanisms][snapping][accuracy][calibration][exact]") {
  // B = 1, a = 1.2: an error above it ends at the far bound, with probability e^(-Lambda/(2 lambda))/2 at
  // most, 0.30 where lambda is a power of two and 0.18 just above.
  AccuracyGoal goal = goal_of("1.2", "0.25", "1");
  goal.bound = 1;
  const std::int64_t units = snapping_epsilon_for_accuracy_up(goal).units();
  CHECK(units == 577'622'650'467);
  CHECK_FALSE(meets(units - 1, goal, 1));
  CHECK(meets(499'000'000'000, goal, 1));  // lambda just above 2, Lambda = 4
  CHECK_FALSE(meets(250'000'000'000, goal, 1));
  CHECK(meets(249'000'000'000, goal, 1));

  goal.alpha = Rational(1, 3);  // above every one of them: any epsilon will do
  CHECK(snapping_epsilon_for_accuracy_up(goal).units() == 1);
  goal.alpha = Rational(1, 1000000);
  goal.accuracy = 2;  // no error is larger than 2B
  CHECK(snapping_epsilon_for_accuracy_up(goal).units() == 1);
}

TEST_CASE("epsilon for an accuracy: goals out of their domain are refused by name",
          "[mechanisms][snapping][accuracy][calibration][negative]") {
  const auto refusal = [](const AccuracyGoal& goal) -> std::string {
    try {
      static_cast<void>(snapping_epsilon_for_accuracy_up(goal));
    } catch (const InvalidParameter& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal(goal_of("0", "0.05", "1")) == "accuracy: must be positive");
  CHECK(refusal(goal_of("-1", "0.05", "1")) == "accuracy: must be positive");
  CHECK(refusal(goal_of("1", "0", "1")) == "alpha: must lie strictly between 0 and 1");
  CHECK(refusal(goal_of("1", "1", "1")) == "alpha: must lie strictly between 0 and 1");
  CHECK(refusal(goal_of("1", "0.05", "0")) == "sensitivity: must be positive");
  AccuracyGoal goal = goal_of("1", "0.05", "1");
  goal.bound = -1;
  CHECK(refusal(goal) == "bound: must be positive");
  goal.bound.reset();
  goal.arithmetic = Arithmetic::mpfr;
  CHECK(refusal(goal).starts_with("bound: the mpfr arithmetic needs one"));
  goal.bound = 10;
  goal.precision = {60};
  CHECK(refusal(goal).starts_with("precision: 60 bits"));
  goal.precision = {};
  goal.coordinates = 0;
  CHECK(refusal(goal).starts_with("coordinates:"));
  goal.coordinates = 1;
  goal.accuracy = number("1e-12");
  CHECK(refusal(goal).starts_with("accuracy: no epsilon is large enough"));
  // lambda would have to be below 2^-46 B, where 53 bits prove nothing.
  goal.accuracy = 1;
  goal.bound = number("1e15");
  goal.precision = {53};
  CHECK(refusal(goal).starts_with("bound:"));
  goal.precision = {};
  CHECK(refusal(goal).empty());
}
