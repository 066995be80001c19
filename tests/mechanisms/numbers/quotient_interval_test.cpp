// Quantiles of differences of two noises against the exact laws of toy mechanisms, and the hull of the
// quotients that are left against what trying parts of the range leaves (mechanisms/proofs/quotients.md).
// That whole releases are covered is summed over tables in tests/engine/planning/plan_intervals_test.cpp.
//
// Exact  up to doubles: probabilities are sums of at most 10^5 terms, each within 2^-50 of itself, so that
// 10^-9 is far more than is lost.
#include "epsilog/mechanisms/quotient_interval.hpp"

#include "difference_quantile.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::mechanisms;
using namespace accounting;

namespace {

constexpr double kLost = 1e-9;

Rational decimal(const std::string& text) {
  return parse_rational(text, "number");
}

/// Errors of a release at one answer, ascending, with their probabilities.
struct Errors {
  std::vector<double> errors;
  std::vector<double> probabilities;
  std::vector<double> from;  ///< [i]: of i and all beyond it

  void add(double error, double probability) {
    errors.push_back(error);
    probabilities.push_back(probability);
  }
  void summed() {
    from.assign(errors.size() + 1, 0);
    for (std::size_t i = errors.size(); i-- > 0;) from[i] = from[i + 1] + probabilities[i];
  }
  /// P(error > x)
  [[nodiscard]] double above(double x) const {
    return from[static_cast<std::size_t>(std::upper_bound(errors.begin(), errors.end(), x) - errors.begin())];
  }
  /// P(error < x)
  [[nodiscard]] double below(double x) const {
    return from[0] -
           from[static_cast<std::size_t>(std::lower_bound(errors.begin(), errors.end(), x) - errors.begin())];
  }
};

/// A mechanism, its noise as it tells it, and its laws at answers all over its range, ends and places within
/// a step included.
struct Toy {
  std::string name;
  AnswerNoise noise;
  Rational accuracy;  ///< at `alpha`, where it is asked
  std::vector<Errors> laws;
};

Toy snapped(const char* epsilon, const char* upper, Arithmetic arithmetic) {
  const SnappingMechanism mechanism({.epsilon = Epsilon::from_rational_down(decimal(epsilon)),
                                     .sensitivity = 1,
                                     .lower = 0,
                                     .upper = decimal(upper),
                                     .arithmetic = arithmetic});
  const SnappingParameters& p = mechanism.parameters();
  Toy toy{std::string("snapped, epsilon ") + epsilon + " up to " + upper, mechanism.noise().value(), 0, {}};
  const double scale = p.scale.get_d(), bound = p.bound.get_d(), grid = p.grid.get_d();
  const long last = accounting::ceil(p.bound / p.grid).get_si();
  constexpr int kAnswers = 24;
  for (int i = 0; i <= kAnswers; ++i) {
    const double y = Rational(decimal(upper) * i / kAnswers - p.centre).get_d();
    Errors law;
    double before = 0;
    for (long k = -last; k <= last; ++k) {
      const double d = (static_cast<double>(k) + 0.5) * grid - y;
      const double up_to = k == last ? 1 : d < 0 ? std::exp(d / scale) / 2 : 1 - std::exp(-d / scale) / 2;
      law.add(std::clamp(static_cast<double>(k) * grid, -bound, bound) - y, up_to - before);
      before = up_to;
    }
    law.summed();
    toy.laws.push_back(std::move(law));
  }
  return toy;
}

Toy discrete(DiscreteNoise noise, const char* epsilon, bool whole) {
  DiscreteOptions options;
  options.noise = noise;
  options.loss = Epsilon::from_rational_down(decimal(epsilon));
  if (noise == DiscreteNoise::gaussian)
    options.loss.delta = accounting::Delta::from_rational_down(decimal("1e-3"));
  options.sensitivity = 1;
  options.sensitivity_l2_squared = 1;
  options.lower = 0;
  options.upper = 12;
  options.grid = 1;
  if (whole) options.answer_step = 1;
  const DiscreteMechanism mechanism(options);
  const DiscreteParameters& p = mechanism.parameters();
  const bool gaussian = noise == DiscreteNoise::gaussian;
  Toy toy{std::string(gaussian ? "Gaussian" : "Laplace") +
              (whole ? ", epsilon " : " off its grid, epsilon ") + epsilon,
          mechanism.noise(),
          0,
          {}};
  const double s = p.scale.get_d();
  const long reach = std::lround(std::ceil((gaussian ? 9 : 30) * s)) + 2;
  double total = 0;
  const auto weight = [&](long x) {
    const double a = std::abs(static_cast<double>(x));
    return gaussian ? std::exp(-a * a / (2 * s * s)) : std::exp(-a / s);
  };
  for (long x = -reach; x <= reach; ++x) total += weight(x);
  for (const double moved : whole ? std::vector<double>{0} : std::vector<double>{-0.5, -0.3, 0, 0.4, 0.499}) {
    Errors law;
    for (long x = -reach; x <= reach; ++x) law.add(static_cast<double>(x) - moved, weight(x) / total);
    law.summed();
    toy.laws.push_back(std::move(law));
    if (!whole || moved != 0) continue;
    // Brought into the range, as intervals have it.
    for (const long to_end : {0, 2}) {
      Errors cut;
      double beyond = 0;
      for (long x = -reach; x <= reach; ++x) {
        if (x <= -to_end) beyond += weight(x) / total;
        if (x == -to_end) cut.add(static_cast<double>(x), beyond);
        if (x > -to_end) cut.add(static_cast<double>(x), weight(x) / total);
      }
      cut.summed();
      toy.laws.push_back(std::move(cut));
    }
  }
  return toy;
}

const std::vector<Toy>& laplace_toys() {
  static const std::vector<Toy> toys{
      snapped("1", "9", Arithmetic::exact),        snapped("1.9", "40", Arithmetic::exact),
      snapped("0.7", "30", Arithmetic::mpfr),      snapped("1.3", "60", Arithmetic::exact),
      snapped("5", "3", Arithmetic::exact),        discrete(DiscreteNoise::laplace, "0.4", true),
      discrete(DiscreteNoise::laplace, "3", true), discrete(DiscreteNoise::laplace, "0.6", false),
  };
  return toys;
}

const std::vector<Toy>& gaussian_toys() {
  static const std::vector<Toy> toys{
      discrete(DiscreteNoise::gaussian, "0.5", true),
      discrete(DiscreteNoise::gaussian, "0.8", false),
      discrete(DiscreteNoise::gaussian, "9", true),
  };
  return toys;
}

/// P(first - b second > q) + P(first - c second < -q)
double missed(const Errors& first, const Errors& second, double b, double c, double q) {
  double sum = 0;
  for (std::size_t i = 0; i < second.errors.size(); ++i) {
    const double e = second.errors[i];
    sum += second.probabilities[i] * (first.above(q + b * e) + first.below(-q + c * e));
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "quotients: what a difference of two noises exceeds with probability alpha is a bound, and a near one",
    "[mechanisms][intervals][exhaustive]") {
  for (const std::vector<Toy>& toys : {laplace_toys(), gaussian_toys()}) {
    for (const Toy& first : toys) {
      for (const Toy& second : toys) {
        for (const char* factor : {"0", "0.05", "0.4", "1", "2.3", "17"}) {
          for (const Rational& alpha : {Rational(1, 5), Rational(1, 20), Rational(1, 500)}) {
            CAPTURE(first.name, second.name, factor, accounting::text(alpha));
            const Rational b = decimal(factor);
            const Rational q = difference_quantile_up(first.noise, second.noise, b, Multiple::one, alpha, 0);
            const Rational found =
                difference_quantile_up(first.noise, second.noise, b, Multiple::one, alpha, q);
            CHECK(abs(Rational(q - found)) <= q / 512);  // wherever it was looked for
            double worst = 0;
            // A number beside q may be one that is reached: what is not above q may equal it.
            const double above = q.get_d() * (1 + 1e-12) + 1e-12;
            for (const Errors& one : first.laws) {
              for (const Errors& other : second.laws) {
                for (const double sign : {1., -1.})
                  worst = std::max(worst, missed(one, other, sign * b.get_d(), sign * b.get_d(), above));
              }
            }
            CHECK(worst <= alpha.get_d() + kLost);
          }
        }
      }
    }
  }
}

TEST_CASE("quotients: each side may have a multiple of its own, and the errors of counts be cut off",
          "[mechanisms][intervals][exhaustive]") {
  for (const std::vector<Toy>& toys : {laplace_toys(), gaussian_toys()}) {
    for (const Toy& first : toys) {
      for (const Toy& second : toys) {
        for (const char* factor : {"0.1", "1", "6"}) {
          const Rational alpha(1, 20), b = decimal(factor);
          const Rational q = difference_quantile_up(first.noise, second.noise, b, Multiple::any, alpha, 0);
          CHECK(q >=
                difference_quantile_up(first.noise, second.noise, b, Multiple::one, alpha, 0) * 511 / 512);
          const double above = q.get_d() * (1 + 1e-12) + 1e-12;
          double worst = 0;
          for (const Errors& one : first.laws) {
            for (const Errors& other : second.laws) {
              for (const double up : {-1., -0.5, 0.3, 1.}) {
                for (const double down : {-1., 0., 0.7, 1.})
                  worst = std::max(worst, missed(one, other, up * b.get_d(), down * b.get_d(), above));
              }
            }
          }
          CAPTURE(first.name, second.name, factor);
          CHECK(worst <= alpha.get_d() + kLost);
        }
      }
    }
  }
}

TEST_CASE("quotients: a certified quantile is that of the noise alone where nothing is rounded",
          "[mechanisms][intervals]") {
  for (const AnswerNoise::Law law : {AnswerNoise::Law::laplace, AnswerNoise::Law::gaussian}) {
    const AnswerNoise noise{.law = law, .scale = 1, .rounding = 0, .step = 0, .share = 1};
    for (const Rational& b : {Rational(0), Rational(1, 3), Rational(1), Rational(5)}) {
      const double q = difference_quantile_up(noise, noise, b, Multiple::one, Rational(1, 20), 0).get_d();
      const double x = b.get_d();
      // (e^-q - x^2 e^(-q/x))/(1 - x^2), and at x = 1 its limit; erfc(q/sqrt(2 + 2 x^2)).
      const double tail = law == AnswerNoise::Law::gaussian ? std::erfc(q / std::sqrt(2 + 2 * x * x))
                          : x == 1                          ? (1 + q / 2) * std::exp(-q)
                          : x == 0                          ? std::exp(-q)
                                   : (std::exp(-q) - x * x * std::exp(-q / x)) / (1 - x * x);
      CAPTURE(q, x);
      CHECK(tail <= 0.05 + kLost);
      CHECK(tail >= 0.05 * 0.99);  // the search, and scales that are taken apart
    }
  }
}

namespace {

QuotientPart part_of(const Toy& toy) {
  return {toy.noise, 30 * toy.noise.scale};
}

}  // namespace

TEST_CASE("quotients: what is left is the hull of what is left in each part of the range, ends included",
          "[mechanisms][intervals]") {
  for (const std::vector<Toy>& toys : {laplace_toys(), gaussian_toys()}) {
    const QuotientIntervals intervals(part_of(toys[0]), part_of(toys[1]), 3, Rational(1, 20));
    long some = 0;
    for (const char* dividend : {"-90", "-7.5", "0", "2.25", "41"}) {
      for (const char* divisor : {"-3", "0", "2", "30", "400"}) {
        const Rational s = decimal(dividend), n = decimal(divisor);
        CAPTURE(dividend, divisor);
        for (const AnswerInterval& within :
             {AnswerInterval{-3, 3}, AnswerInterval{-1, 2}, AnswerInterval{1, 1}}) {
          const std::optional<AnswerInterval> whole = intervals.of(s, n, within);
          std::optional<AnswerInterval> hull;
          constexpr long kParts = 37;
          const Rational step = (within.high - within.low) / kParts;
          for (long i = 0; i < kParts; ++i) {
            const auto one = intervals.of(s, n, {within.low + i * step, within.low + (i + 1) * step});
            if (!one) continue;
            CHECK(one->low <= one->high);
            if (!hull) hull = one;
            hull->high = one->high;
          }
          REQUIRE(whole.has_value() == hull.has_value());
          if (!whole) continue;
          ++some;
          CHECK((whole->low == hull->low && whole->high == hull->high));
          CHECK((whole->low >= within.low && whole->high <= within.high));
          // Every sign changed.
          const auto mirrored = intervals.of(-s, n, {-within.high, -within.low});
          REQUIRE(mirrored);
          CHECK((mirrored->low == -whole->high && mirrored->high == -whole->low));
        }
        // The quotient of the releases is always left.
        if (n > 0 && abs(s) <= 3 * n) CHECK(intervals.of(s, n, {s / n, s / n}));
      }
    }
    CHECK(some > 20);
  }
}

TEST_CASE("quotients: one of errors that are certain is that of the releases", "[mechanisms][intervals]") {
  // Counts with noise so small beside their grid that they are what is released.
  const AnswerNoise tiny{
      .law = AnswerNoise::Law::laplace, .scale = Rational(1, 50), .rounding = 1, .step = 0, .share = 1};
  const QuotientIntervals intervals({tiny, 0}, {tiny, 0}, 1, Rational(1, 20));
  CHECK(intervals.largest() == 0);
  const auto third = intervals.of(1, 3, {0, 1});
  REQUIRE(third);
  CHECK((third->low == Rational(1, 3) && third->high == Rational(1, 3)));
  CHECK_FALSE(intervals.of(4, 3, {0, 1}));
  // An alpha, or a share of it, that says nothing of the law leaves the accuracies.
  AnswerNoise unlike = tiny;
  unlike.share = accounting::power_of_two(-20'000);
  const auto by_accuracy = QuotientIntervals({unlike, 1}, {unlike, 1}, 1, Rational(1, 20)).of(10, 40, {0, 1});
  REQUIRE(by_accuracy);
  CHECK((by_accuracy->low == Rational(9, 41) && by_accuracy->high == Rational(11, 39)));
}
