#include "epsilog/mechanisms/snapping_mechanism.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping_for_scale.hpp"
#include "guarded_bits.hpp"
#include "invented_numbers.hpp"
#include "release_sealer.hpp"
#include "snapped_inversion.hpp"
#include "snapping_accuracy.hpp"
#include "snapping_calibration.hpp"
#include "snapping_sampler.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::power_of_two;

SnappingLaw law_of(const SnappingMechanism::Parameters& p) {
  return {p.scale, p.grid, p.bound};
}

/// The part of alpha that the ideal law may use. The drawn law multiplies every tail by at most e^x, x
/// the rounding term of one coordinate, and 1 - x <= e^-x.
Rational ideal_share(const SnappingMechanism::Parameters& p) {
  if (p.arithmetic == Arithmetic::exact) return 1;
  return 1 - (18 * p.bound / p.scale + 10) * power_of_two(-static_cast<long>(p.precision));
}

/// The alpha that is asked of the ideal law.
Rational searched_alpha(const SnappingMechanism::Parameters& p, const Rational& alpha) {
  // tail_up rounds up to as many bits, so it cannot round past the alpha searched with.
  return MpfrNumber::rounded(alpha, kResultBits, MPFR_RNDD).rational() * ideal_share(p);
}

void check_between_0_and_1(const Rational& alpha) {
  if (alpha <= 0 || alpha >= 1) throw InvalidParameter("alpha: must lie strictly between 0 and 1");
}

void check_alpha(const Rational& alpha) {
  check_between_0_and_1(alpha);
  if (alpha < power_of_two(-kLeastExponent)) throw InvalidParameter("alpha: must not be below 2^-16384");
}

}  // namespace

Rational snapping_accuracy_up(const SnappingMechanism::Parameters& parameters, const Rational& alpha) {
  check_alpha(alpha);
  return smallest_error_up(law_of(parameters), searched_alpha(parameters, alpha));
}

SnappingMechanism::SnappingMechanism(const Options& options)
    : parameters_(calibrate(options)),
      lower_(options.lower),
      upper_(options.upper),
      sampler_(std::make_shared<const SnappingSampler>(parameters_, options.lower, options.upper)) {}

accounting::SealedRelease SnappingMechanism::release(std::span<const Rational> answers,
                                                     accounting::ChargeReceipt receipt,
                                                     BitSource& bits) const {
  if (answers.empty()) throw InvalidParameter("release: no answer to release");
  const std::int64_t decision = receipt.consume(parameters_.charged);
  return ReleaseSealer::seal(decision, parameters_.charged, draw_values(answers, bits));
}

std::vector<Rational> SnappingMechanism::draw_invented(std::span<const InventedAnswer> answers,
                                                       BitSource& bits) const {
  return draw_values(numbers_of(answers), bits);
}

std::vector<Rational> SnappingMechanism::draw_values(std::span<const Rational> answers,
                                                     BitSource& bits) const {
  std::vector<Rational> values;
  values.reserve(answers.size());
  GuardedBits guarded(bits);
  sampler_->draw(answers, guarded, values);
  return values;
}

Rational SnappingMechanism::accuracy_up(const Rational& alpha) const {
  return snapping_accuracy_up(parameters_, alpha);
}

Rational SnappingMechanism::tail_up(const Rational& a) const {
  if (a < 0) throw InvalidParameter("accuracy: must not be negative");
  return probability_up(worst_error(law_of(parameters_), a), parameters_.scale, ideal_share(parameters_));
}

Rational SnappingMechanism::accuracy_at_up(const HypotheticalAnswer& y, const Rational& alpha) const {
  check_alpha(alpha);
  const Rational about_centre = std::clamp(y.rational(), lower_, upper_) - parameters_.centre;
  const Rational clamped = std::clamp<Rational>(about_centre, -parameters_.bound, parameters_.bound);
  return smallest_error_at(law_of(parameters_), clamped, alpha * ideal_share(parameters_));
}

AnswerIntervals SnappingMechanism::intervals(const Rational& alpha, Shown shown) const {
  check_between_0_and_1(alpha);
  if (shown == Shown::rounded && parameters_.grid >= 1) {
    throw InvalidParameter("intervals: on a grid of 1 or more nothing is rounded");
  }
  const AnswerInterval range{lower_, upper_};
  if (alpha < power_of_two(-kLeastExponent)) return AnswerIntervals(whole_range_law(range));
  return AnswerIntervals(inverted_snapping(parameters_, range, searched_alpha(parameters_, alpha), shown));
}

std::optional<AnswerNoise> SnappingMechanism::noise() const {
  const Parameters& p = parameters_;
  if (lower_ < p.centre - p.bound || upper_ > p.centre + p.bound) return std::nullopt;
  return AnswerNoise{.law = AnswerNoise::Law::laplace,
                     .scale = p.scale,
                     .rounding = p.grid / 2,
                     .step = p.grid,
                     .share = ideal_share(p)};
}

}  // namespace epsilog::mechanisms
