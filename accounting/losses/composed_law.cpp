#include "epsilog/accounting/composed_law.hpp"

#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

/// Beyond this many scales of either neighbour the noise is left to `delta`: 2 e^(-50^2/2) < 2^-1800.
constexpr long kReach = 50;
constexpr long kReachLog2 = 1800;

}  // namespace

ComposedLaw fine_grid_gaussian(const Rational& scale, const Rational& sensitivity,
                               std::uint64_t coordinates) {
  require_positive(scale, "scale");
  if (sensitivity < 0) throw InvalidParameter("sensitivity: " + text(sensitivity) + " is negative");
  if (coordinates < 1) throw InvalidParameter("coordinates: must be at least 1");
  const Rational changed = Integer(static_cast<unsigned long>(coordinates));
  const Rational reach = kReach + sensitivity / scale;
  ComposedLaw law;
  law.kind = ComposedLaw::Kind::gaussian;
  law.scale = scale;
  law.sensitivity = sensitivity;
  law.extra = changed * (reach * reach / 24 + Rational(1, 4)) / (scale * scale);
  law.delta = changed * power_of_two(-kReachLog2);
  return law;
}

}  // namespace epsilog::accounting
