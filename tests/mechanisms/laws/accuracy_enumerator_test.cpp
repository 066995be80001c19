// The accuracy promised for the mpfr arithmetic, on a mechanism small enough to know every output
// probability: no tail of the drawn law exceeds the ideal one by more than the share set aside for it.
//
// Margin  Probabilities of the toy are exact; their sums in binary64 are off by less than 1e-12.
#include "epsilog/mechanisms/snapping.hpp"
#include "mechanisms/toy_mechanism.hpp"
#include "mechanisms/toy_survey.hpp"
#include "snapping_accuracy.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using epsilog::accounting::power_of_two;

namespace {

/// Answers all over the range, at every cut between outputs and a hair to both sides of it.
std::vector<double> probed_answers(const ToyOutputs& outputs) {
  const double bound = outputs.setting().bound;
  std::vector<double> answers{-bound, bound};
  for (int i = -20; i <= 20; ++i) answers.push_back(bound * i / 20.5);
  for (long k = 1 - outputs.last(); k <= outputs.last(); ++k) {
    for (const double aside : {-0x1p-30, 0.0, 0x1p-30}) answers.push_back(outputs.cut(k).at + aside);
  }
  std::erase_if(answers, [&](double y) { return std::abs(y) > bound; });
  return answers;
}

struct Excess {
  double over_ideal = 0;   ///< largest drawn tail / ideal tail
  double over_shared = 0;  ///< largest drawn tail / (ideal tail / share)
};

Excess largest_excess(const ToySetting& s) {
  const SnappingLaw law{Rational(s.scale), Rational(s.grid), Rational(s.bound)};
  const Rational share = 1 - proved_extra(s);
  const NoiseTable noise = noise_of(s);
  const ToyOutputs outputs(s);
  Excess excess;
  for (const double y : probed_answers(outputs)) {
    for (long at = -outputs.last(); at <= outputs.last(); ++at) {
      const Rational a = abs(outputs.output(at) - Rational(y));
      double drawn = 0;
      for (long k = -outputs.last(); k <= outputs.last(); ++k) {
        if (abs(outputs.output(k) - Rational(y)) > a) drawn += probability(outputs, noise, k, y);
      }
      if (drawn == 0) continue;
      const ErrorProbability ideal = error_at(law, Rational(y), a);
      excess.over_ideal = std::max(excess.over_ideal, drawn / probability_up(ideal, law.scale, 1).get_d());
      const double allowed = probability_up(ideal, law.scale, share).get_d();
      if (allowed < 1) excess.over_shared = std::max(excess.over_shared, drawn / allowed);
    }
  }
  return excess;
}

}  // namespace

TEST_CASE("enumerator: no tail of the drawn law exceeds what the accuracy of mpfr allows for",
          "[mechanisms][snapping][accuracy][enumerator][exact]") {
  double over_ideal = 0;
  for (const unsigned p : {8U, 10U}) {
    for (const double lambda : {1.0, 1.03125, 1.25, 1.5, 1.9375}) {
      const double grid = power_of_two_at_least(lambda);
      for (const double bound : {0.25, 0.75, 1.5, 2.0, 1.96875 * lambda}) {
        const ToySetting s{p, lambda, grid, bound};
        CAPTURE(p, lambda, grid, bound);
        const Excess excess = largest_excess(s);
        CHECK(excess.over_shared <= 1 + 1e-12);
        over_ideal = std::max(over_ideal, excess.over_ideal);
      }
    }
  }
  CHECK(over_ideal > 1.01);  // so without a share set aside the promise would be broken
}
