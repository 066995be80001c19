// The closed forms of the accuracy against the law itself and against reference values.
//
// References  tests/reference/snapping_accuracy.csv, by snapping_accuracy.py beside it: 62 digits, two ways.
// Random      Seeds are fixed and shown; no outcome depends on chance.
#include "epsilog/mechanisms/snapping.hpp"
#include "mechanisms/enumerated_accuracy.hpp"
#include "snapping_accuracy.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using namespace epsilog::accounting;

namespace {

/// The reference, cut or rounded at 62 digits, is met from above or within its own last digits.
bool agrees_from_above(const Rational& value, const Rational& reference) {
  return value >= reference * (1 - epsilog::accounting::power_of_ten(-60)) &&
         value <= reference * (1 + power_of_two(-90));
}

SnappingLaw law_of(const ReferenceRow& row) {
  return {reference_value(row.at("lambda")), reference_value(row.at("grid")),
          reference_value(row.at("bound"))};
}

/// Laws of every shape: bounds below, near and above the grid, multiples of it or not, lambda anywhere
/// from half of the grid to a little above it.
class RandomLaws final {
 public:
  explicit RandomLaws(std::uint64_t seed) : bits_(seed) {}

  Rational between(long low, long high, long denominator) {
    return Rational(std::uniform_int_distribution<long>(low, high)(bits_)) / denominator;
  }
  SnappingLaw law() {
    const Rational grid = power_of_two(std::uniform_int_distribution<long>(-3, 3)(bits_));
    const Rational lambda = grid * between(501, 1030, 1000);
    Rational bound;
    switch (bits_() % 4) {
      case 0:
        bound = grid * between(1, 7, 1);
        break;
      case 1:
        bound = grid * between(1, 100, 100);
        break;
      case 2:
        bound = grid * between(1, 12, 2);
        break;
      default:
        bound = grid * between(100, 700, 100);
    }
    return {lambda, grid, bound};
  }
  Rational alpha() { return between(1, 999, 1000) / (bits_() % 2 == 0 ? 1 : 50); }

 private:
  std::mt19937_64 bits_;
};

/// P(|M(y) - y| > a) as the sum over every output of the mass of its cell, enclosed.
Rational summed_error(const SnappingLaw& law, const Rational& y, const Rational& a, mpfr_rnd_t direction) {
  const ClampedOutputs outputs(law);
  const mpfr_rnd_t opposite = direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
  const auto reached = [&](long k, mpfr_rnd_t way) {
    if (k == -outputs.last()) return Rational(1);
    if (k > outputs.last()) return Rational(0);
    return Rational(doubled_tail({outputs.threshold(k) - y, 0}, law.scale, 0, 256, way) / 2);
  };
  Rational sum = 0;
  for (long k = -outputs.last(); k <= outputs.last(); ++k) {
    if (abs(outputs.output(k) - y) > a) sum += reached(k, direction) - reached(k + 1, opposite);
  }
  return sum;
}

std::vector<Rational> distances(const SnappingLaw& law, const Rational& y) {
  const ClampedOutputs outputs(law);
  std::vector<Rational> all;
  for (long k = -outputs.last(); k <= outputs.last(); ++k) all.push_back(abs(outputs.output(k) - y));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("accuracy: quantiles agree with the reference, never below it",
          "[mechanisms][snapping][accuracy][exact]") {
  for (const ReferenceRow& row :
       reference_table(EPSILOG_SOURCE_DIR "/tests/reference/snapping_accuracy.csv")) {
    if (row.at("kind") != "quantile") continue;
    CAPTURE(row.at("lambda"), row.at("bound"), row.at("argument"));
    const SnappingLaw law = law_of(row);
    const Rational alpha = reference_value(row.at("argument"));
    CHECK(agrees_from_above(smallest_error_up(law, alpha), reference_value(row.at("value"))));
    CHECK(agrees_from_above(enumerated_smallest_error_up(law, alpha), reference_value(row.at("value"))));
  }
}

TEST_CASE("accuracy: tails agree with the reference, never below it",
          "[mechanisms][snapping][accuracy][exact]") {
  for (const ReferenceRow& row :
       reference_table(EPSILOG_SOURCE_DIR "/tests/reference/snapping_accuracy.csv")) {
    if (row.at("kind") != "tail") continue;
    CAPTURE(row.at("lambda"), row.at("bound"), row.at("argument"));
    const SnappingLaw law = law_of(row);
    const Rational tail = probability_up(worst_error(law, reference_value(row.at("argument"))), law.scale, 1);
    CHECK(agrees_from_above(tail, reference_value(row.at("value"))));
    CHECK(MpfrNumber::rounded(tail, kResultBits, MPFR_RNDN).rational() == tail);
  }
}

TEST_CASE("accuracy: quantiles at one answer are the distances of the reference",
          "[mechanisms][snapping][accuracy][exact]") {
  for (const ReferenceRow& row :
       reference_table(EPSILOG_SOURCE_DIR "/tests/reference/snapping_accuracy.csv")) {
    if (row.at("kind") != "at") continue;
    CAPTURE(row.at("lambda"), row.at("bound"), row.at("y"), row.at("argument"));
    const Rational a =
        smallest_error_at(law_of(row), reference_value(row.at("y")), reference_value(row.at("argument")));
    CHECK(abs(a - reference_value(row.at("value"))) <= epsilog::accounting::power_of_ten(-58));
  }
}

TEST_CASE("accuracy: the closed form is the search over every breakpoint",
          "[mechanisms][snapping][accuracy][random]") {
  RandomLaws random(20190911);
  for (int i = 0; i < 400; ++i) {
    const SnappingLaw law = random.law();
    const Rational alpha = random.alpha();
    CAPTURE(i, law.scale, law.grid, law.bound, alpha);
    const Rational searched = enumerated_smallest_error_up(law, alpha);
    const Rational closed = smallest_error_up(law, alpha);
    // Both are rounded up from the same number; the search stops 2^-96 of a breakpoint's distance above.
    CHECK(abs(closed - searched) <= power_of_two(-90) * (searched + law.grid));
    for (const Rational& near : {closed, Rational(closed / 2), Rational(law.bound), Rational(law.grid / 2)}) {
      const Rational a = near + law.grid * power_of_two(-70) / 3;  // between breakpoints, where it holds
      CAPTURE(a);
      const Rational low =
          doubled_error(worst_answers(ClampedOutputs(law), a), law.scale, a, 256, MPFR_RNDD) / 2;
      const Rational up = probability_up(worst_error(law, a), law.scale, 1);
      CHECK(up >= low);
      CHECK(up <= low * (1 + power_of_two(-120)) + power_of_two(-240));
    }
  }
}

TEST_CASE("accuracy: at one answer it is the least distance whose tail is allowed",
          "[mechanisms][snapping][accuracy][random]") {
  RandomLaws random(20190829);
  for (int i = 0; i < 300; ++i) {
    const SnappingLaw law = random.law();
    const Rational alpha = random.alpha();
    Rational y = law.bound * random.between(-1000, 1000, 1000);
    if (i % 3 == 0) y = std::clamp<Rational>(law.grid * random.between(-8, 8, 2), -law.bound, law.bound);
    CAPTURE(i, law.scale, law.grid, law.bound, alpha, y);
    const Rational a = smallest_error_at(law, y, alpha);
    const std::vector<Rational> all = distances(law, y);
    const auto place = std::lower_bound(all.begin(), all.end(), a);
    CHECK((place != all.end() && *place == a));
    CHECK(summed_error(law, y, a, MPFR_RNDD) <= alpha);
    if (place != all.begin()) CHECK(summed_error(law, y, *std::prev(place), MPFR_RNDU) > alpha);
    CHECK(a <= smallest_error_up(law, alpha));
    CHECK(smallest_error_at(law, -y, alpha) == a);
  }
}

TEST_CASE("accuracy: some answer needs all of what is promised for every answer",
          "[mechanisms][snapping][accuracy][random]") {
  RandomLaws random(2012);
  for (int i = 0; i < 60; ++i) {
    const SnappingLaw law = random.law();
    const Rational alpha = random.alpha();
    CAPTURE(i, law.scale, law.grid, law.bound, alpha);
    const Rational promised = smallest_error_up(law, alpha);
    const Rational less = promised * (1 - power_of_two(-40));
    const Rational aside = law.grid * power_of_two(-80);
    Rational needed = 0;
    const ClampedOutputs outputs(law);
    for (long k = -outputs.last(); k <= outputs.last(); ++k) {
      for (const Rational& from :
           {Rational(outputs.output(k) - less), Rational(outputs.output(k) + less), outputs.threshold(k)}) {
        for (const Rational& y : {Rational(from - aside), Rational(from + aside)}) {
          if (abs(y) <= law.bound) needed = std::max(needed, smallest_error_at(law, y, alpha));
        }
      }
    }
    CHECK(needed > less);
    CHECK(needed <= promised);
  }
}

TEST_CASE("accuracy: a grid far finer than the range is no obstacle",
          "[mechanisms][snapping][accuracy][exact]") {
  for (const long exponent : {40L, 4000L}) {
    const SnappingLaw law{1, 1, power_of_two(exponent) + Rational(1, 3)};
    // e^-(k + 1/2) <= alpha for the first time.
    CHECK(smallest_error_at(law, 0, Rational(1, 20)) == 3);
    CHECK(smallest_error_at(law, power_of_two(exponent - 1), Rational(1, 1000000)) == 14);
    // Nothing lies above the bound, so one tail is left: e^-(k + 5/6) / 2 for the distance k + 1/3.
    CHECK(smallest_error_at(law, law.bound, Rational(1, 1000)) == Rational(19, 3));
    CHECK(smallest_error_up(law, Rational(1, 100)) == 5);
  }
}

TEST_CASE("accuracy: probabilities of 1e-300 and an effective bound are computed, not searched",
          "[mechanisms][snapping][accuracy][exact]") {
  const Rational alpha = epsilog::accounting::power_of_ten(-300);
  // 300 ln 10 = 690.7755...; one tail only needs ln 2 less.
  const SnappingLaw wide{1, 1, 1400};
  CHECK(smallest_error_up(wide, alpha) == 691);  // P(> 691) = e^-690.5 (1 + e^-1)/2 is just small enough
  const SnappingLaw narrow{1, 1, 400};
  const Rational a = smallest_error_up(narrow, alpha);
  CHECK(a > 690);
  CHECK(a < 691);
  CHECK(at_most(worst_error(narrow, a), 1, alpha));
  CHECK_FALSE(at_most(worst_error(narrow, a * (1 - power_of_two(-90))), 1, alpha));
  CHECK(smallest_error_at(narrow, 400, alpha) == 690);
  CHECK(probability_up(worst_error({1, 1, 1 << 20}, 30000), 1, 1) == power_of_two(-16384));
}

TEST_CASE("accuracy: a tail of exactly one half is decided exactly",
          "[mechanisms][snapping][accuracy][exact]") {
  // At y = B = Lambda/2 noise of either sign decides between B and the outputs below it.
  const SnappingLaw law{1, 1, Rational(1, 2)};
  CHECK(smallest_error_at(law, law.bound, Rational(1, 2)) == 0);
  CHECK(smallest_error_at(law, law.bound, Rational(1, 2) - power_of_two(-600)) == law.bound);
  CHECK(at_most({.sums = {{0}}}, 1, Rational(1, 2)));
  CHECK_FALSE(at_most({.sums = {{0}}}, 1, Rational(1, 2) - power_of_two(-600)));
  CHECK(probability_up({.sums = {{0}}}, 1, 1) == Rational(1, 2));
  CHECK(probability_up({.certain = true}, 1, 1) == 1);
  CHECK(probability_up({}, 1, 1) == 0);
}

TEST_CASE("accuracy: comparisons are right within 2^-110 of equality, on both sides of the answer",
          "[mechanisms][snapping][accuracy][random]") {
  RandomLaws random(19);
  for (int i = 0; i < 300; ++i) {
    const Rational lambda = random.between(1, 5000, 1000);
    // One tail behind the answer, alone or with one beyond it.
    ErrorProbability probability{.sums = {{-lambda * random.between(1, 3000, 1000)}}};
    if (i % 2 == 0) probability.sums.front().second = lambda * random.between(4000, 9000, 1000);
    const Rational tail = probability_up(probability, lambda, 1);
    CAPTURE(i, lambda, tail);
    CHECK(at_most(probability, lambda, tail));
    CHECK_FALSE(at_most(probability, lambda, tail * (1 - power_of_two(-110))));
    const Rational first = exp_directed(probability.sums.front().first / lambda, 512, MPFR_RNDD);
    const Rational second = probability.sums.front().second
                                ? exp_directed(-*probability.sums.front().second / lambda, 512, MPFR_RNDU)
                                : Rational(0);
    const Rational fine = 1 - (first - second) / 2;  // up, at 512 bits
    CHECK(tail == MpfrNumber::rounded(fine, kResultBits, MPFR_RNDU).rational());
  }
}
