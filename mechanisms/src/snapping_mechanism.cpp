#include "epsilog/mechanisms/snapping_mechanism.hpp"

#include <utility>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "release_sealer.hpp"
#include "snapping_accuracy.hpp"
#include "snapping_calibration.hpp"
#include "snapping_sampler.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::power_of_two;

}  // namespace

SnappingMechanism::SnappingMechanism(const Options& options)
    : parameters_(calibrated(options)),
      sampler_(std::make_shared<const SnappingSampler>(parameters_, options.lower, options.upper)) {}

accounting::SealedRelease SnappingMechanism::release(std::span<const Rational> answers,
                                                     accounting::ChargeReceipt receipt,
                                                     BitSource& bits) const {
  if (answers.empty()) throw InvalidParameter("release: no answer to release");
  const std::int64_t decision = receipt.consume(parameters_.charged);

  std::vector<Rational> values;
  values.reserve(answers.size());
  sampler_->draw(answers, bits, values);
  return ReleaseSealer::seal(decision, parameters_.charged, std::move(values));
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
