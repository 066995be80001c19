#include "recorded_loss.hpp"

#include <algorithm>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"

namespace epsilog::engine {
namespace {

using accounting::ComposedLaw;
using accounting::Integer;
using accounting::KnownLoss;
using accounting::Rational;
using ledger::ComponentRecord;
using Kind = ComposedLaw::Kind;

/// What pld composes of noise on a lattice.
constexpr long kLatticeSensitivityMax = 1'000'000'000;
constexpr long kGaussianScaleMax = 10'000;
/// Continuous noise stands for noise on a grid while what that costs is below this part of the loss.
constexpr long kFineGridShare = 1'000;
/// Longer exact numbers would make sums of thousands of them slow.
constexpr unsigned kExactBitsMax = 512;
constexpr unsigned kShortBits = 192;
constexpr int kKeyBase = 32;

const Rational& positive(const Rational& value, const char* field) {
  if (value <= 0) throw LedgerCorrupt(std::string("a component: ") + field + " is not positive");
  return value;
}

const Rational& positive(const std::optional<Rational>& value, const char* field) {
  if (!value) throw LedgerCorrupt(std::string("a component: ") + field + ": '' is not an exact number");
  return positive(*value, field);
}

Rational shortened_up(const Rational& value) {
  if (accounting::size_in_bits(value) <= kExactBitsMax) return value;
  return accounting::MpfrNumber::rounded(value, kShortBits, MPFR_RNDU).rational();
}

KnownLoss make_known_loss(ComposedLaw law, const Rational& adjusted, const Rational& adjusted_delta) {
  return {1, std::move(law), KnownLoss::Guarantee{shortened_up(adjusted), shortened_up(adjusted_delta)}};
}

ComposedLaw approximate(const Rational& epsilon, const Rational& delta) {
  ComposedLaw law;
  law.kind = delta == 0 ? Kind::pure : Kind::approximate;
  law.epsilon = shortened_up(epsilon);
  law.delta = shortened_up(delta);
  return law;
}

ComposedLaw lattice(Kind kind, const Rational& scale, const Rational& sensitivity) {
  ComposedLaw law;
  law.kind = kind;
  law.scale = scale;
  law.sensitivity = sensitivity;
  return law;
}

KnownLoss of_snapping(const ComponentRecord& component) {
  const Rational& adjusted = positive(component.adjusted, "adjusted");
  ComposedLaw law = lattice(Kind::snapping, positive(component.scale, "scale"),
                            positive(component.sensitivity, "sensitivity"));
  law.extra = adjusted - law.sensitivity / law.scale;
  if (law.extra < 0) throw LedgerCorrupt("a component: adjusted is below sensitivity/scale");
  return make_known_loss(std::move(law), adjusted, 0);
}

KnownLoss of_discrete_laplace(const ComponentRecord& component) {
  const Rational& adjusted = positive(component.adjusted, "adjusted");
  const Rational& grid = positive(component.grid, "grid");
  // What the rounded answer moves by is a whole number of steps.
  const Integer steps = accounting::floor(positive(component.grid_sensitivity, "grid_sensitivity") / grid);
  if (steps < 1) throw LedgerCorrupt("a component: grid_sensitivity is below the grid");
  if (steps > kLatticeSensitivityMax) return make_known_loss(approximate(adjusted, 0), adjusted, 0);
  return make_known_loss(lattice(Kind::discrete_laplace, positive(component.scale, "scale") / grid, steps),
                         adjusted, 0);
}

/// The L2 sensitivity in steps of the grid, rounded up.
Rational root_up(const Rational& squared) {
  const accounting::ExponentRange range;
  accounting::MpfrNumber root = accounting::MpfrNumber::rounded(squared, kShortBits, MPFR_RNDU);
  mpfr_sqrt(root.get(), root.get(), MPFR_RNDU);
  return root.rational();
}

/// The L2 sensitivity in steps of the grid, where that is a whole number.
std::optional<Integer> whole_steps(const Rational& squared) {
  if (squared.get_den() != 1 || mpz_perfect_square_p(squared.get_num_mpz_t()) == 0) return std::nullopt;
  return Integer(sqrt(squared.get_num()));
}

/// As the lattice law where one coordinate changes, as continuous noise where the grid is fine enough for
/// that to cost next to nothing, else by the proved loss.
ComposedLaw gaussian_law(const ComponentRecord& component, const Rational& squared, const Rational& scale,
                         const Rational& adjusted, const Rational& delta) {
  if (component.coordinates < 1) throw LedgerCorrupt("a component: coordinates is not positive");
  const auto steps = whole_steps(squared);
  if (component.coordinates == 1 && steps && *steps >= 1 && scale <= kGaussianScaleMax) {
    return lattice(Kind::discrete_gaussian, scale, *steps);
  }
  const ComposedLaw fine = accounting::fine_grid_gaussian(scale, root_up(squared),
                                                          static_cast<std::uint64_t>(component.coordinates));
  return fine.extra * kFineGridShare <= adjusted ? fine : approximate(adjusted, delta);
}

KnownLoss of_discrete_gaussian(const ComponentRecord& component) {
  const Rational& adjusted = positive(component.adjusted, "adjusted");
  const Rational& delta = positive(component.adjusted_delta, "adjusted_delta");
  const Rational& grid = positive(component.grid, "grid");
  const Rational scale = positive(component.scale, "scale") / grid;
  const Rational& squared = positive(component.grid_sensitivity_l2_squared, "grid_sensitivity_l2_squared");
  KnownLoss loss =
      make_known_loss(gaussian_law(component, squared / (grid * grid), scale, adjusted, delta), adjusted, delta);
  loss.rho = shortened_up(positive(component.rho, "rho"));
  return loss;
}

/// Proved for the release as a whole; of the exponential mechanism in zCDP too.
KnownLoss of_selection(const ComponentRecord& component, bool exponential) {
  const Rational& adjusted = positive(component.adjusted, "adjusted");
  KnownLoss loss = make_known_loss(approximate(adjusted, 0), adjusted, 0);
  if (exponential) loss.rho = shortened_up(positive(component.rho, "rho"));
  return loss;
}

KnownLoss proved_loss(const std::string& mechanism, const ComponentRecord& component) {
  if (mechanism == "snapping") return of_snapping(component);
  if (mechanism == "discrete_laplace") return of_discrete_laplace(component);
  if (mechanism == "discrete_gaussian" || mechanism == "gaussian") return of_discrete_gaussian(component);
  if (mechanism == "permute_and_flip") return of_selection(component, false);
  if (mechanism == "exponential") return of_selection(component, true);
  throw LedgerCorrupt("a release: '" + mechanism + "' is no mechanism of this program");
}

}  // namespace

std::string loss_key(const std::string& mechanism, const ComponentRecord& component) {
  std::string key = mechanism;
  // In a base of a power of two, where writing a long number costs next to nothing.
  const auto add = [&key](const Rational& number) { key += ' ' + number.get_str(kKeyBase); };
  const auto add_if_any = [&](const std::optional<Rational>& number) {
    if (number) return add(*number);
    key += " -";
  };
  add(component.epsilon.rational());
  add_if_any(component.delta ? std::optional(component.delta->rational()) : std::nullopt);
  add(component.sensitivity);
  add_if_any(component.grid_sensitivity);
  add_if_any(component.grid_sensitivity_l2_squared);
  add(component.scale);
  add(component.grid);
  add(component.adjusted);
  add_if_any(component.adjusted_delta);
  add_if_any(component.rho);
  return key + ' ' + std::to_string(component.coordinates);
}

KnownLoss recorded_loss(const std::string& mechanism, const ComponentRecord& component) {
  KnownLoss loss = proved_loss(mechanism, component);
  // A long number that is proved just below what is charged may be above it once it is shortened.
  if (!loss.guarantee) return loss;
  const Rational charged = component.epsilon.rational();
  if (component.adjusted <= charged) loss.guarantee->epsilon = std::min(loss.guarantee->epsilon, charged);
  if (!component.delta || !component.adjusted_delta) return loss;
  const Rational charged_delta = component.delta->rational();
  if (*component.adjusted_delta <= charged_delta)
    loss.guarantee->delta = std::min(loss.guarantee->delta, charged_delta);
  return loss;
}

std::optional<KnownLoss> charged_loss(const std::map<std::string, std::int64_t>& amounts) {
  const auto epsilon = amounts.find("epsilon");
  if (epsilon != amounts.end()) {
    const auto delta = amounts.find("delta");
    const Rational loss = accounting::Epsilon::from_units(epsilon->second).rational();
    const Rational failure =
        delta == amounts.end() ? Rational(0) : accounting::Delta::from_units(delta->second).rational();
    return make_known_loss(approximate(loss, failure), loss, failure);
  }
  const auto rho = amounts.find("rho");
  if (rho == amounts.end()) return std::nullopt;
  return KnownLoss{1, std::nullopt, std::nullopt, accounting::Rho::from_units(rho->second).rational()};
}

}  // namespace epsilog::engine
