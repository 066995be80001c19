#include "epsilog/mechanisms/snapping_mechanism.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "release_sealer.hpp"
#include "snapping_accuracy.hpp"
#include "snapping_calibration.hpp"
#include "snapping_draw.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::power_of_two;

/// One coordinate in the arithmetic of `p`, about the centre.
Rational drawn(const Rational& answer, const SnappingMechanism::Parameters& p, const MpfrNumber& lambda,
               BitSource& bits) {
  if (p.arithmetic == Arithmetic::exact) return snapped_exact(answer, p.lambda, p.grid, p.bound, bits);
  const UniformDraw draw = draw_uniform(bits, p.precision);
  return snapped(answer, draw.negative, draw.u_star, lambda, p.grid, p.bound, p.precision);
}

}  // namespace

SnappingMechanism::SnappingMechanism(const Options& options)
    : parameters_(calibrated(options)), lower_(options.lower), upper_(options.upper) {}

accounting::SealedRelease SnappingMechanism::release(std::span<const Rational> answers,
                                                     accounting::ChargeReceipt receipt,
                                                     BitSource& bits) const {
  if (answers.empty()) throw InvalidParameter("release: no answer to release");
  const std::int64_t decision = receipt.consume(parameters_.charged);

  const Parameters& p = parameters_;
  const MpfrNumber lambda = p.arithmetic == Arithmetic::mpfr ? MpfrNumber::exactly(p.lambda) : MpfrNumber(1U);
  std::vector<Rational> values;
  values.reserve(answers.size());
  for (const Rational& answer : answers) {
    const Rational shifted = std::clamp(answer, lower_, upper_) - p.centre;
    values.push_back(p.centre + drawn(std::clamp<Rational>(shifted, -p.bound, p.bound), p, lambda, bits));
  }
  return ReleaseSealer::seal(decision, p.charged, std::move(values));
}

Rational SnappingMechanism::accuracy_up(const Rational& alpha) const {
  if (alpha <= 0 || alpha >= 1) throw InvalidParameter("alpha: must lie strictly between 0 and 1");
  const Parameters& p = parameters_;
  const SnappingLaw law{p.lambda, p.grid, p.bound};
  if (p.arithmetic == Arithmetic::exact) return smallest_error_up(law, alpha);
  // The drawn law multiplies every tail by at most e^x, x the rounding term of one coordinate, and
  // 1 - x <= e^-x.
  const Rational rounding = (18 * p.bound / p.lambda + 10) * power_of_two(-static_cast<long>(p.precision));
  return smallest_error_up(law, alpha * (1 - rounding));
}

}  // namespace epsilog::mechanisms
