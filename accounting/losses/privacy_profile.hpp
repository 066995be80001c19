// The privacy profile of one mechanism: delta as a function of epsilon, enclosed.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, section 2.
// All the laws here are symmetric: exchanging the two answers leaves the profile as it is, so only epsilon >=
// 0 is ever asked for. Thread-safety: values. The caller holds an ExponentRange.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "epsilog/accounting/composed_law.hpp"
#include "epsilog/accounting/enclosure.hpp"

namespace epsilog::accounting {

class PrivacyProfile final {
 public:
  enum class Shape { laplace, gaussian, response, discrete_laplace, discrete_gaussian };

  /// Requires  a law that check_laws has passed.
  explicit PrivacyProfile(const ComposedLaw& law);
  /// Continuous Gaussian noise with (sensitivity/sigma)^2 = mu_squared.
  [[nodiscard]] static PrivacyProfile gaussian(const Rational& mu_squared);

  [[nodiscard]] Shape shape() const noexcept { return shape_; }
  /// (sensitivity/sigma)^2 of `gaussian`.
  [[nodiscard]] const Rational& mu_squared() const noexcept { return first_; }

  /// delta(epsilon).
  /// Requires  epsilon >= 0.
  [[nodiscard]] Enclosure delta(const Rational& epsilon, unsigned bits) const;
  /// delta(0), delta(step), ..., delta(last * step).
  [[nodiscard]] std::vector<Enclosure> deltas(const Rational& step, std::size_t last, unsigned bits) const;
  /// The left derivative of delta with respect to e^epsilon; only `laplace`, `gaussian` and `response`.
  /// Requires  0 <= epsilon, and at most largest_loss().
  [[nodiscard]] Enclosure slope(const Rational& epsilon, unsigned bits) const;

  /// Above it there is only infinite_mass(). nullopt if the loss is unbounded.
  [[nodiscard]] std::optional<Rational> largest_loss() const;
  [[nodiscard]] Rational infinite_mass() const;
  /// All finite losses are multiples of it, if there is such a number.
  [[nodiscard]] std::optional<Rational> lattice() const;
  /// About the variance of the loss. Not certified: for choosing grids.
  [[nodiscard]] double variance_estimate() const;

  /// About ln E e^(tilt loss) over finite losses. Not certified: for choosing grids.
  /// Requires  tilt >= 0.
  [[nodiscard]] double log_moment_estimate(double tilt) const;

  /// The same noise at a sensitivity smaller by that factor of (0, 1]; only `laplace`, `gaussian`,
  /// `response`.
  [[nodiscard]] PrivacyProfile weakened(const Rational& factor) const;

  friend bool operator==(const PrivacyProfile&, const PrivacyProfile&) = default;
  friend bool operator<(const PrivacyProfile& a, const PrivacyProfile& b);

 private:
  PrivacyProfile(Shape shape, Rational first, Rational second);
  [[nodiscard]] std::vector<Enclosure> exponential_deltas(const Rational& step, std::size_t last,
                                                          unsigned bits) const;

  Shape shape_;
  /// laplace: largest loss. gaussian: mu^2. response: epsilon. Discrete laws: scale.
  Rational first_;
  /// response: delta. Discrete laws: sensitivity. Otherwise 0.
  Rational second_;
};

}  // namespace epsilog::accounting
