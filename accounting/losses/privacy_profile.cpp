#include "privacy_profile.hpp"

#include <cmath>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

Enclosure one(unsigned bits) {
  return {1UL, bits};
}

Enclosure exp_of(const Rational& x, unsigned bits) {
  return exp(Enclosure(x, bits));
}

/// Half of erfc(x / sqrt 2): the upper tail of the normal law.
Enclosure normal_tail(const Enclosure& x) {
  const Enclosure argument = x / sqrt(Enclosure(2UL, x.bits()));
  MpfrNumber low(x.bits());
  MpfrNumber high(x.bits());
  mpfr_erfc(low.get(), argument.high().get(), MPFR_RNDD);
  mpfr_erfc(high.get(), argument.low().get(), MPFR_RNDU);
  return Enclosure(std::move(low), std::move(high)) / 2UL;
}

/// P(|X| > 0 side): P(X <= m) of P(x) ~ e^(-|x|/s), m of either sign.
Enclosure discrete_laplace_below(const Rational& scale, const Integer& m, unsigned bits) {
  const Enclosure q_plus_one = one(bits) + exp_of(-1 / scale, bits);
  if (m >= 0) return one(bits) - exp_of(-Rational(m + 1) / scale, bits) / q_plus_one;
  return exp_of(Rational(m) / scale, bits) / q_plus_one;
}

/// Tails of e^(-x^2/(2 s^2)) over the integers x >= a, for every a from 0 up to where nothing is left.
class GaussianTails final {
 public:
  GaussianTails(const Rational& scale, unsigned bits) {
    // Beyond x = s sqrt(2 bits) the terms are below 2^-bits of the first.
    const Rational two_variances = 2 * scale * scale;
    const auto top = static_cast<std::size_t>(std::ceil(scale.get_d() * std::sqrt(2.0 * bits))) + 2;
    const Enclosure square = exp_of(-2 / two_variances, bits);
    Enclosure ratio = exp_of(-1 / two_variances, bits);
    Enclosure term = one(bits);
    std::vector<Enclosure> terms;
    terms.reserve(top + 1);
    for (std::size_t x = 0; x <= top; ++x) {
      terms.push_back(term);
      term *= ratio;
      ratio *= square;
    }
    // What is left is at most a geometric series: ratios of consecutive terms fall.
    const Enclosure rest = term / (one(bits) - ratio);
    tails_.assign(top + 2, Enclosure(MpfrNumber(bits), rest.high()));
    for (std::size_t x = top + 1; x-- > 0;) tails_[x] = tails_[x + 1] + terms[x];
    total_ = tails_[0] * 2UL - one(bits);
  }

  /// P(X >= a).
  [[nodiscard]] Enclosure at(const Integer& a) const {
    if (a <= 0) return (*total_ - upper(1 - a)) / *total_;
    return upper(a) / *total_;
  }

 private:
  [[nodiscard]] const Enclosure& upper(const Integer& a) const {
    if (a >= Integer(static_cast<unsigned long>(tails_.size()))) return tails_.back();
    return tails_[a.get_ui()];
  }

  std::vector<Enclosure> tails_;
  std::optional<Enclosure> total_;
};

Enclosure discrete_gaussian_delta(const GaussianTails& tails, const Rational& scale,
                                  const Rational& sensitivity, const Rational& epsilon, unsigned bits) {
  const Integer a = floor(epsilon * scale * scale / sensitivity - sensitivity / 2) + 1;
  return tails.at(a) - exp_of(epsilon, bits) * tails.at(a + sensitivity.get_num());
}

}  // namespace

PrivacyProfile::PrivacyProfile(Shape shape, Rational first, Rational second)
    : shape_(shape), first_(std::move(first)), second_(std::move(second)) {}

PrivacyProfile PrivacyProfile::gaussian(const Rational& mu_squared) {
  return {Shape::gaussian, mu_squared, 0};
}

PrivacyProfile::PrivacyProfile(const ComposedLaw& law) : shape_(Shape::response) {
  using Kind = ComposedLaw::Kind;
  switch (law.kind) {
    case Kind::laplace:
      *this = {Shape::laplace, law.sensitivity / law.scale, 0};
      return;
    case Kind::gaussian: {
      const Rational mu = law.sensitivity / law.scale;
      *this = gaussian(mu * mu);
      return;
    }
    case Kind::discrete_laplace:
      // At distance 1 the loss has two values only: randomised response.
      *this = law.sensitivity == 1 ? PrivacyProfile(Shape::response, 1 / law.scale, 0)
                                   : PrivacyProfile(Shape::discrete_laplace, law.scale, law.sensitivity);
      return;
    case Kind::discrete_gaussian:
      *this = {Shape::discrete_gaussian, law.scale, law.sensitivity};
      return;
    case Kind::pure:
      *this = {Shape::response, law.epsilon, 0};
      return;
    case Kind::approximate:
      *this = {Shape::response, law.epsilon, law.delta};
      return;
    case Kind::snapping:  // its stand-in has another kind: schedule.cpp
      break;
  }
  EPSILOG_INVARIANT(false);
}

Enclosure PrivacyProfile::delta(const Rational& epsilon, unsigned bits) const {
  if (const auto largest = largest_loss(); largest && epsilon >= *largest) return {infinite_mass(), bits};
  switch (shape_) {
    case Shape::laplace:
      return one(bits) - exp_of((epsilon - first_) / 2, bits);
    case Shape::gaussian: {
      const Enclosure mu = sqrt(Enclosure(first_, bits));
      const Enclosure centre = Enclosure(epsilon, bits) / mu;
      const Enclosure half = mu / 2UL;
      return normal_tail(centre - half) - exp_of(epsilon, bits) * normal_tail(centre + half);
    }
    case Shape::response: {
      const Enclosure top = exp_of(first_, bits);
      const Enclosure finite = (top - exp_of(epsilon, bits)) / (top + one(bits));
      return Enclosure(second_, bits) + Enclosure(Rational(1 - second_), bits) * finite;
    }
    case Shape::discrete_laplace: {
      const Integer m = ceil((second_ - first_ * epsilon) / 2) - 1;
      const Integer shifted = m - second_.get_num();
      return discrete_laplace_below(first_, m, bits) -
             exp_of(epsilon, bits) * discrete_laplace_below(first_, shifted, bits);
    }
    case Shape::discrete_gaussian:
      return discrete_gaussian_delta(GaussianTails(first_, bits), first_, second_, epsilon, bits);
  }
  EPSILOG_INVARIANT(false);
  return one(bits);
}

std::vector<Enclosure> PrivacyProfile::deltas(const Rational& step, std::size_t last, unsigned bits) const {
  if (shape_ == Shape::laplace || shape_ == Shape::response) return exponential_deltas(step, last, bits);
  std::vector<Enclosure> result;
  result.reserve(last + 1);
  std::optional<GaussianTails> tails;
  if (shape_ == Shape::discrete_gaussian) tails.emplace(first_, bits);
  for (unsigned long i = 0; i <= last; ++i) {
    const Rational epsilon = step * i;
    result.push_back(tails ? discrete_gaussian_delta(*tails, first_, second_, epsilon, bits)
                           : delta(epsilon, bits));
  }
  return result;
}

/// The profile is offset - factor * growth^i up to the largest loss: one product a point.
std::vector<Enclosure> PrivacyProfile::exponential_deltas(const Rational& step, std::size_t last,
                                                          unsigned bits) const {
  const bool laplace = shape_ == Shape::laplace;
  const Enclosure growth = exp_of(laplace ? Rational(step / 2) : step, bits);
  const Enclosure infinite(second_, bits);
  const Enclosure finite(Rational(1 - second_), bits);
  Enclosure offset = one(bits);
  Enclosure falling = exp_of(-first_ / 2, bits);
  if (!laplace) {
    const Enclosure top = exp_of(first_, bits);
    falling = finite / (top + one(bits));
    offset = infinite + top * falling;
  }
  std::vector<Enclosure> result;
  result.reserve(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    const bool beyond = step * static_cast<unsigned long>(i) >= first_;
    result.push_back(beyond ? infinite : offset - falling);
    if (!beyond) falling *= growth;
  }
  return result;
}

Enclosure PrivacyProfile::slope(const Rational& epsilon, unsigned bits) const {
  switch (shape_) {
    case Shape::laplace:
      return -(exp_of(-(epsilon + first_) / 2, bits) / 2UL);
    case Shape::gaussian: {
      const Enclosure mu = sqrt(Enclosure(first_, bits));
      return -normal_tail(Enclosure(epsilon, bits) / mu + mu / 2UL);
    }
    case Shape::response:
      return -(Enclosure(Rational(1 - second_), bits) / (one(bits) + exp_of(first_, bits)));
    default:
      break;
  }
  EPSILOG_INVARIANT(false);
  return one(bits);
}

std::optional<Rational> PrivacyProfile::largest_loss() const {
  switch (shape_) {
    case Shape::laplace:
    case Shape::response:
      return first_;
    case Shape::discrete_laplace:
      return second_ / first_;
    default:
      return std::nullopt;
  }
}

Rational PrivacyProfile::infinite_mass() const {
  return shape_ == Shape::response ? second_ : Rational(0);
}

std::optional<Rational> PrivacyProfile::lattice() const {
  switch (shape_) {
    case Shape::response:
      return first_ == 0 ? std::nullopt : std::optional<Rational>(first_);
    case Shape::discrete_laplace:
      return 1 / first_;
    case Shape::discrete_gaussian:
      return second_ / (2 * first_ * first_);
    default:
      return std::nullopt;
  }
}

double PrivacyProfile::variance_estimate() const {
  switch (shape_) {
    case Shape::gaussian:
      return first_.get_d();
    case Shape::response: {
      const double loss = first_.get_d();
      const double flip = 1 / (1 + std::exp(loss));
      return 4 * flip * (1 - flip) * loss * loss;
    }
    case Shape::discrete_gaussian: {
      const double mu = second_.get_d() / first_.get_d();
      return mu * mu;
    }
    default: {
      const double loss = largest_loss()->get_d();
      return std::fmin(loss * loss, 3.0);
    }
  }
}

double PrivacyProfile::log_moment_estimate(double tilt) const {
  const double first = first_.get_d();
  const double second = second_.get_d();
  const double order = 2 * tilt + 1;
  switch (shape_) {
    case Shape::laplace: {
      // Relative to the largest loss: its mass, that of its mirror image and what lies between.
      const double mirrored = std::exp(-order * first);
      return tilt * first + std::log(0.5 * (1 + mirrored) + 0.5 * (1 - mirrored) / order);
    }
    case Shape::gaussian:
      return tilt * (tilt + 1) * first / 2;
    case Shape::response:
      return tilt * first + std::log1p(std::exp(-order * first)) - std::log1p(std::exp(-first)) +
             std::log1p(-second);
    case Shape::discrete_laplace: {
      // composition.md, section 8.
      const double q = std::exp(-1 / first);
      const double r = std::pow(q, order);
      const double far = std::pow(r, second);
      return tilt * second / first + std::log((1 + far + (1 - q) * (r - far) / (1 - r)) / (1 + q));
    }
    case Shape::discrete_gaussian: {
      const double mu = second / first;
      return tilt * (tilt + 1) * mu * mu / 2;
    }
  }
  EPSILOG_INVARIANT(false);
  return 0;
}

PrivacyProfile PrivacyProfile::weakened(const Rational& factor) const {
  EPSILOG_INVARIANT(shape_ == Shape::laplace || shape_ == Shape::gaussian || shape_ == Shape::response);
  const Rational applied = shape_ == Shape::gaussian ? Rational(factor * factor) : factor;
  return {shape_, first_ * applied, second_};
}

bool operator<(const PrivacyProfile& a, const PrivacyProfile& b) {
  if (a.shape_ != b.shape_) return a.shape_ < b.shape_;
  if (a.first_ != b.first_) return a.first_ < b.first_;
  return a.second_ < b.second_;
}

}  // namespace epsilog::accounting
