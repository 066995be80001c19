// Intervals against the laws they invert: coverage summed over every output, and the inversion itself by
// trying answers one after the other (mechanisms/proofs/intervals.md).
//
// Coverage  exact: at each answer, the probabilities of all outputs whose interval misses it, rounded up.
//           Answers are a lattice over the range, the ends of the range, every end of an interval and what
//           lies between.
#include "epsilog/mechanisms/answer_interval.hpp"

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::mechanisms;
using namespace accounting;

namespace {

Rational number(const std::string& text) {
  return parse_rational(text, "number");
}

/// What is shown, with probabilities rounded up: by value, because different outputs may show the same.
using ShownLaw = std::map<Rational, Rational>;

/// P(noise >= d) of a Laplace variable.
Rational laplace_tail(const Rational& d, const Rational& lambda, mpfr_rnd_t direction) {
  constexpr unsigned kBits = 256;
  if (d >= 0) return exp_directed(-d / lambda, kBits, direction) / 2;
  return 1 - exp_directed(d / lambda, kBits, direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU) / 2;
}

// --------------------------------------------------------------------------------------------- snapping

struct Snapped {
  std::string name;
  SnappingOptions options;
  Shown shown = Shown::as_released;
};

SnappingOptions over(const char* epsilon, const char* lower, const char* upper, Arithmetic arithmetic) {
  SnappingOptions options{.epsilon = Epsilon::from_rational_down(number(epsilon)),
                          .sensitivity = 1,
                          .lower = number(lower),
                          .upper = number(upper),
                          .arithmetic = arithmetic};
  return options;
}

std::vector<Snapped> snapped_laws() {
  std::vector<Snapped> laws;
  const auto add = [&](const std::string& name, SnappingOptions options) {
    laws.push_back({name, std::move(options)});
  };
  for (const Arithmetic arithmetic : {Arithmetic::exact, Arithmetic::mpfr}) {
    add("a grid of 1", over("1", "0", "9", arithmetic));
    add("lambda half of the grid", over("1.99", "-2.7", "3.1", arithmetic));
    add("a range below the grid", over("0.3", "0", "2.5", arithmetic));
    add("a wide range", over("1.3", "0", "40", arithmetic));
    SnappingOptions narrow = over("1", "0", "9", arithmetic);
    narrow.bound = number("9/4");
    add("a bound within the range", narrow);
    SnappingOptions wide = over("0.7", "0", "6", arithmetic);
    wide.binding_probability = number("0.001");
    add("a bound beyond the range", wide);
  }
  SnappingOptions elsewhere = over("0.01", "100", "101", Arithmetic::exact);
  elsewhere.bound = 1;
  add("releases that no answer can be", elsewhere);
  for (const char* epsilon : {"2", "3", "4.1", "11"}) {
    laws.push_back({"rounded", over(epsilon, "0", "9", Arithmetic::exact), Shown::rounded});
    SnappingOptions narrow = over(epsilon, "0", "9", Arithmetic::exact);
    narrow.bound = number("25/8");
    laws.push_back({"rounded, a bound within the range", narrow, Shown::rounded});
    SnappingOptions wide = over(epsilon, "-3", "4", Arithmetic::mpfr);
    wide.binding_probability = number("0.01");
    laws.push_back({"rounded, a bound beyond the range", wide, Shown::rounded});
  }
  return laws;
}

Rational shown(const Rational& released, const SnappingParameters& p, Shown how) {
  if (how == Shown::as_released) return released;
  return std::clamp<Rational>(floor(released + Rational(1, 2)), ceil(p.centre - p.bound),
                              floor(p.centre + p.bound));
}

ShownLaw law_at(const Rational& y, const SnappingParameters& p, Shown how) {
  const Rational inside = std::clamp<Rational>(y - p.centre, -p.bound, p.bound);
  const long last = ceil(p.bound / p.grid).get_si();
  const auto reached = [&](long k, mpfr_rnd_t direction) {
    if (k == -last) return Rational(1);
    if (k > last) return Rational(0);
    return laplace_tail((k - Rational(1, 2)) * p.grid - inside, p.scale, direction);
  };
  ShownLaw law;
  for (long k = -last; k <= last; ++k) {
    const Rational released = p.centre + std::clamp<Rational>(k * p.grid, -p.bound, p.bound);
    law[shown(released, p, how)] += reached(k, MPFR_RNDU) - reached(k + 1, MPFR_RNDD);
  }
  return law;
}

// --------------------------------------------------------------------------------------------- what is held

struct Range {
  Rational lower;
  Rational upper;
};

using LawAt = std::function<ShownLaw(const Rational&)>;

/// Beyond alpha by no more than the roundings of the sum.
const Rational kSlack = power_of_two(-90);

/// Answers to try: a lattice, the ends of all intervals, and between them.
std::vector<Rational> answers_to_try(const std::map<Rational, AnswerInterval>& intervals,
                                     const Range& range) {
  std::set<Rational> places;
  for (int i = 0; i <= 24; ++i) places.insert(range.lower + i * (range.upper - range.lower) / 24);
  for (const auto& [value, interval] : intervals) {
    places.insert(interval.low);
    places.insert(interval.high);
  }
  std::vector<Rational> tried(places.begin(), places.end());
  for (std::size_t i = 0; i + 1 < places.size(); ++i) tried.push_back((tried[i] + tried[i + 1]) / 2);
  return tried;
}

/// The largest probability, over the answers, that the interval of what is shown misses the answer.
Rational worst_miss(const LawAt& law_at_answer, const std::map<Rational, AnswerInterval>& intervals,
                    const std::vector<Rational>& answers) {
  Rational worst = 0;
  for (const Rational& y : answers) {
    Rational missed = 0;
    for (const auto& [value, probability] : law_at_answer(y)) {
      const AnswerInterval& interval = intervals.at(value);
      if (y < interval.low || y > interval.high) missed += probability;
    }
    worst = std::max(worst, missed);
  }
  return worst;
}

std::map<Rational, AnswerInterval> intervals_of(const AnswerIntervals& inverted, const ShownLaw& law) {
  std::map<Rational, AnswerInterval> intervals;
  for (const auto& [value, probability] : law) intervals.emplace(value, inverted.of(value));
  return intervals;
}

/// P(|V - y| >= |v - y|), all clamped to the range, by the sum.
Rational as_far(const ShownLaw& law, const Rational& y, const Rational& v, const Range& ends) {
  const auto inside = [&](const Rational& x) { return std::clamp(x, ends.lower, ends.upper); };
  const Rational answer = inside(y);
  Rational sum = 0;
  for (const auto& [value, probability] : law) {
    if (abs(inside(value) - answer) >= abs(inside(v) - answer)) sum += probability;
  }
  return sum;
}

const std::vector<Rational>& alphas() {
  static const std::vector<Rational> values{Rational(1, 2), Rational(1, 10), Rational(1, 20),
                                            Rational(1, 1000), Rational(9, 10)};
  return values;
}

}  // namespace

TEST_CASE("intervals: a snapped release covers every answer, ends and rounding included, by the exact law",
          "[mechanisms][intervals][exhaustive]") {
  for (const Snapped& snapped : snapped_laws()) {
    const SnappingMechanism mechanism(snapped.options);
    const SnappingParameters& p = mechanism.parameters();
    const Range range{snapped.options.lower, snapped.options.upper};
    const LawAt law = [&](const Rational& y) { return law_at(y, p, snapped.shown); };
    for (const Rational& alpha : alphas()) {
      const auto intervals = intervals_of(mechanism.intervals(alpha, snapped.shown), law(range.lower));
      std::vector<Rational> answers = answers_to_try(intervals, range);
      if (snapped.shown == Shown::rounded) {
        answers.clear();
        for (Rational n = range.lower; n <= range.upper; n += 1) answers.push_back(n);
      }
      CAPTURE(snapped.name, accounting::text(p.scale), accounting::text(p.grid), accounting::text(alpha));
      CHECK(worst_miss(law, intervals, answers) <= alpha + kSlack);
    }
  }
}

TEST_CASE("intervals: a snapped one is the hull of the answers that trying them leaves",
          "[mechanisms][intervals][exhaustive]") {
  constexpr int kPerStep = 16;
  long compared = 0;
  for (const Snapped& snapped : snapped_laws()) {
    if (snapped.options.arithmetic == Arithmetic::mpfr) continue;  // asks the ideal law for a little less
    const SnappingMechanism mechanism(snapped.options);
    const SnappingParameters& p = mechanism.parameters();
    const Range range{snapped.options.lower, snapped.options.upper};
    Range ends{std::max<Rational>(range.lower, p.centre - p.bound),
               std::min<Rational>(range.upper, p.centre + p.bound)};
    if (snapped.shown == Shown::rounded) ends = {ceil(ends.lower), floor(ends.upper)};
    if (ends.lower > ends.upper) continue;
    const Rational step = (snapped.shown == Shown::rounded ? Rational(1) : p.grid) / kPerStep;
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      const AnswerIntervals inverted = mechanism.intervals(alpha, snapped.shown);
      std::map<Rational, AnswerInterval> hulls;
      for (Rational y = ends.lower; y <= ends.upper; y += step) {
        const ShownLaw law = law_at(y, p, snapped.shown);
        for (const auto& [value, probability] : law) {
          if (as_far(law, y, value, ends) <= alpha) continue;
          const auto [found, is_new] = hulls.try_emplace(value, AnswerInterval{y, y});
          if (!is_new) found->second.high = y;
        }
      }
      for (const auto& [value, hull] : hulls) {
        const AnswerInterval interval = inverted.of(value);
        CAPTURE(snapped.name, accounting::text(p.scale), accounting::text(p.grid), accounting::text(alpha),
                accounting::text(value), interval.low.get_d(), interval.high.get_d());
        const bool at_end = interval.low == range.lower || interval.high == range.upper;
        CHECK((interval.low <= hull.low && interval.high >= hull.high));
        CHECK((interval.low >= hull.low - step || (at_end && hull.low < ends.lower + step)));
        CHECK((interval.high <= hull.high + step || (at_end && hull.high > ends.upper - step)));
        ++compared;
      }
    }
  }
  CHECK(compared > 300);
}

TEST_CASE("intervals: none goes farther from its value than the accuracy, and inner ones are as wide as that",
          "[mechanisms][intervals]") {
  for (const Snapped& snapped : snapped_laws()) {
    const SnappingMechanism mechanism(snapped.options);
    const SnappingParameters& p = mechanism.parameters();
    const Rational lower = snapped.options.lower, upper = snapped.options.upper;
    for (const Rational& alpha : alphas()) {
      const bool rounded = snapped.shown == Shown::rounded;
      const Rational drawn = mechanism.accuracy_up(alpha);
      const Rational a = rounded ? Rational(floor(drawn + Rational(1, 2))) : drawn;
      CHECK(mechanism.intervals(alpha, snapped.shown).accuracy_up().value_or(drawn) == drawn);
      for (const auto& [value, interval] :
           intervals_of(mechanism.intervals(alpha, snapped.shown), law_at(lower, p, snapped.shown))) {
        CAPTURE(snapped.name, accounting::text(value), accounting::text(alpha), a.get_d());
        const Rational v = std::clamp(value, lower, upper);
        CHECK((interval.low >= lower && interval.high <= upper));
        CHECK((interval.low <= v && v <= interval.high));
        // Of whole answers only whole numbers count.
        const Rational low = rounded ? Rational(ceil(interval.low)) : interval.low;
        const Rational high = rounded ? Rational(floor(interval.high)) : interval.high;
        CHECK((high <= v + a || (p.centre + p.bound < upper && high == upper)));
        CHECK((low >= v - a || (p.centre - p.bound > lower && low == lower)));
      }
    }
  }
  // An output with no end near: the width to that of the interval of the noise alone, had nothing been
  // rounded.
  for (const char* epsilon : {"0.501", "0.75", "1"}) {
    const SnappingMechanism mechanism(over(epsilon, "0", "1000", Arithmetic::exact));
    const SnappingParameters& p = mechanism.parameters();
    for (const Rational& alpha : {Rational(1, 10), Rational(1, 20), Rational(1, 100)}) {
      const Rational value = p.centre;
      const AnswerInterval interval = mechanism.intervals(alpha).of(value);
      const Rational ideal = p.scale * log_of_inverse_down(alpha, 128);
      const double ratio = Rational((interval.high - interval.low) / (2 * ideal)).get_d();
      CAPTURE(epsilon, accounting::text(alpha), ratio);
      CHECK(interval.high - value == value - interval.low);
      CHECK(ratio > 0.85);  // a value lies on the grid, so that less than half a step may be lost to it
      CHECK(ratio <= 1 + Rational(p.grid / 2 / ideal).get_d());
    }
  }
}

TEST_CASE("intervals: a value at the end of the releases says nothing of what lies beyond",
          "[mechanisms][intervals]") {
  SnappingOptions options = over("1", "0", "100", Arithmetic::exact);
  options.bound = 10;
  const SnappingMechanism mechanism(options);
  const Rational centre = mechanism.parameters().centre;
  const AnswerIntervals intervals = mechanism.intervals(Rational(1, 20));
  const AnswerInterval top = intervals.of(centre + 10);
  CHECK(top.high == 100);
  CHECK((top.low < centre + 10 && top.low > centre));
  const AnswerInterval bottom = intervals.of(centre - 10);
  CHECK(bottom.low == 0);
  CHECK(bottom.high < centre);
  // A number that is no release, as a tampered record may have one, has the whole range.
  const AnswerInterval none = intervals.of(centre + Rational(1, 3));
  CHECK((none.low == 0 && none.high == 100));
  const AnswerInterval beyond_alpha = mechanism.intervals(power_of_two(-20'000)).of(centre);
  CHECK((beyond_alpha.low == 0 && beyond_alpha.high == 100));
  CHECK_THROWS_AS(mechanism.intervals(0), InvalidParameter);
  CHECK_THROWS_AS(mechanism.intervals(1), InvalidParameter);
  CHECK_THROWS_AS(mechanism.intervals(Rational(1, 20), Shown::rounded), InvalidParameter);
}

TEST_CASE("intervals: a million steps away from both ends an interval is the one near an end but shifted",
          "[mechanisms][intervals]") {
  const SnappingMechanism wide(over("1", "0", "1000000000000", Arithmetic::exact));
  const SnappingMechanism mpfr(over("1", "0", "1000000000000", Arithmetic::mpfr));
  for (const SnappingMechanism* mechanism : {&wide, &mpfr}) {
    const Rational centre = mechanism->parameters().centre;
    const AnswerIntervals intervals = mechanism->intervals(Rational(1, 20));
    const AnswerInterval here = intervals.of(centre);
    for (const Rational& by : {Rational(1), Rational(-1), Rational(1'000'000), Rational(-7'000'001)}) {
      const AnswerInterval there = intervals.of(centre + by);
      CHECK((there.low == here.low + by && there.high == here.high + by));
    }
  }
}

namespace {

struct Discrete {
  std::string name;
  DiscreteOptions options;
};

std::vector<Discrete> discrete_laws() {
  std::vector<Discrete> laws;
  for (const DiscreteNoise noise : {DiscreteNoise::laplace, DiscreteNoise::gaussian}) {
    DiscreteOptions options;
    options.noise = noise;
    options.loss = Epsilon::from_rational_down(number("0.8"));
    if (noise == DiscreteNoise::gaussian)
      options.loss.delta = accounting::Delta::from_rational_down(number("1e-3"));
    options.sensitivity = 1;
    options.sensitivity_l2_squared = 1;
    options.lower = 0;
    options.upper = 12;
    options.grid = 1;
    options.answer_step = 1;
    laws.push_back({"whole answers", options});
    options.answer_step = std::nullopt;
    laws.push_back({"answers between the grid", options});
    options.lower = number("-1.3");
    options.upper = number("3.6");
    laws.push_back({"ends between the grid", options});
    options.grid = Rational(1, 2);
    laws.push_back({"a grid of 1/2", options});
    options.upper = number("-1.1");
    laws.push_back({"a range below the noise", options});
    options.grid = 4;
    laws.push_back({"a range within one step", options});
  }
  return laws;
}

ShownLaw law_at(const Rational& y, const DiscreteParameters& p, const Range& range) {
  const auto index = [&](const Rational& x) { return Integer(floor(x / p.grid + Rational(1, 2))); };
  const Integer j = index(std::clamp(y, range.lower, range.upper));
  const Integer low = index(range.lower), high = index(range.upper);
  const auto reached = [&](const Integer& d) {  // P(X >= d)
    const auto two = [&](const Integer& a) {
      return p.noise == DiscreteNoise::laplace ? discrete_laplace_tail_up(p.scale / p.grid, a)
                                               : discrete_gaussian_tail_up(p.scale / p.grid, a);
    };
    return d >= 1 ? Rational(two(d) / 2) : Rational(1 - two(1 - d) / 2);
  };
  ShownLaw law;
  for (Integer k = low; k <= high; ++k) {
    // What lies beyond the ends has the interval of the end.
    const Rational above = k == high ? Rational(0) : reached(k + 1 - j);
    law[k * p.grid] = (k == low ? Rational(1) : reached(k - j)) - above;
  }
  return law;
}

}  // namespace

TEST_CASE("intervals: discrete noise covers every answer, those between the grid and the ends included",
          "[mechanisms][intervals][exhaustive]") {
  for (const Discrete& discrete : discrete_laws()) {
    const DiscreteMechanism mechanism(discrete.options);
    const DiscreteParameters& p = mechanism.parameters();
    const Range range{discrete.options.lower, discrete.options.upper};
    const LawAt law = [&](const Rational& y) { return law_at(y, p, range); };
    for (const Rational& alpha : alphas()) {
      const AnswerIntervals inverted = mechanism.intervals(alpha);
      const auto intervals = intervals_of(inverted, law(range.lower));
      std::vector<Rational> answers = answers_to_try(intervals, range);
      if (p.on_grid) {  // no other answers there
        answers.clear();
        for (Rational n = range.lower; n <= range.upper; n += p.grid) answers.push_back(n);
      }
      const Rational a = mechanism.accuracy_up(alpha);
      CAPTURE(discrete.name, static_cast<int>(p.noise), accounting::text(alpha), a.get_d());
      CHECK(worst_miss(law, intervals, answers) <= alpha + kSlack);
      for (const auto& [value, interval] : intervals) {
        CAPTURE(accounting::text(value));
        const Rational v = std::clamp(value, range.lower, range.upper);
        CHECK((interval.low >= range.lower && interval.high <= range.upper));
        CHECK((interval.low <= v && v <= interval.high));
        CHECK((interval.low >= value - a && interval.high <= value + a));
      }
      // Noise may carry a release anywhere: it is then what the end is.
      const AnswerInterval beyond = inverted.of(intervals.rbegin()->first + 1000 * p.grid);
      CHECK((beyond.low == intervals.rbegin()->second.low && beyond.high == range.upper));
    }
  }
}

TEST_CASE("intervals: with discrete noise one is the hull of the answers that trying them leaves",
          "[mechanisms][intervals][exhaustive]") {
  constexpr int kPerStep = 16;
  long compared = 0;
  for (const Discrete& discrete : discrete_laws()) {
    const DiscreteMechanism mechanism(discrete.options);
    const DiscreteParameters& p = mechanism.parameters();
    const Range range{discrete.options.lower, discrete.options.upper};
    const Rational step = p.on_grid ? p.grid : Rational(p.grid / kPerStep);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      const AnswerIntervals inverted = mechanism.intervals(alpha);
      std::map<Rational, AnswerInterval> hulls;
      for (Rational y = range.lower; y <= range.upper; y += step) {
        const ShownLaw law = law_at(y, p, range);
        const Range ends{law.begin()->first, law.rbegin()->first};
        for (const auto& [value, probability] : law) {
          // The answer itself is not moved to the grid here.
          Rational sum = 0;
          for (const auto& [other, mass] : law) sum += abs(other - y) >= abs(value - y) ? mass : Rational(0);
          if (sum <= alpha) continue;
          const auto [found, is_new] = hulls.try_emplace(value, AnswerInterval{y, y});
          if (!is_new) found->second.high = y;
        }
      }
      for (const auto& [value, hull] : hulls) {
        const AnswerInterval interval = inverted.of(value);
        CAPTURE(discrete.name, static_cast<int>(p.noise), accounting::text(alpha), accounting::text(value),
                interval.low.get_d(), interval.high.get_d(), hull.low.get_d(), hull.high.get_d());
        CHECK((interval.low <= hull.low && interval.high >= hull.high));
        // At no end of the range is more than half a step of the grid added.
        const Rational within = step + (p.on_grid ? Rational(0) : Rational(p.grid / 2));
        CHECK((interval.low >= hull.low - within && interval.high <= hull.high + within));
        ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("intervals: the alpha of each of many keeps them all together", "[mechanisms][intervals]") {
  for (const std::uint64_t values : {1, 2, 3, 7, 100, 2000}) {
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20), Rational(1, 1'000'000)}) {
      const Rational each = simultaneous_alpha_down(alpha, values);
      const auto all = [&](const Rational& one) {
        Rational power = 1;
        for (std::uint64_t i = 0; i < values; ++i) {
          power *= 1 - one;
          // Rounding a power of two would do as well; what matters is the side.
          if (mpz_sizeinbase(power.get_den_mpz_t(), 2) > 4096) {
            power = MpfrNumber::rounded(power, 2048, MPFR_RNDD).rational();
          }
        }
        return power;
      };
      CAPTURE(values, accounting::text(alpha));
      CHECK(all(each) >= 1 - alpha);
      CHECK(each >= alpha / Rational(values));
      if (values > 1) CHECK(all(each * (1 + power_of_two(-110))) < 1 - alpha);
    }
  }
  CHECK_THROWS_AS(simultaneous_alpha_down(Rational(1, 20), 0), InvalidParameter);
  CHECK_THROWS_AS(simultaneous_alpha_down(1, 3), InvalidParameter);
}
