// What a test knows about the noise of a release: how far it goes, and how often it is none.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"
#include "epsilog/mechanisms/noise_presence.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "epsilog/mechanisms/tolerance.hpp"
#include "epsilog/testing/flakiness.hpp"

namespace epsilog::testing {

/// A mechanism that states its accuracy: the smallest provable a with P(|release - answer| > a) <= alpha.
template <class Mechanism>
concept StatesItsAccuracy = requires(const Mechanism& mechanism, const Rational& alpha) {
  { mechanism.accuracy_up(alpha) } -> std::convertible_to<Rational>;
};

/// The noise of one value. Parameters as where they are computed, all > 0; every factory throws
/// InvalidParameter for others.
/// Thread-safety: immutable values.
class AddedNoise final {
 public:
  /// Real-valued noise; mechanisms/tolerance.hpp.
  [[nodiscard]] static AddedNoise laplace(const Rational& epsilon, const Rational& l1) {
    return real(laplace_name(epsilon, l1), mechanisms::laplace_tolerance_at, laplace_scale(epsilon, l1));
  }
  [[nodiscard]] static AddedNoise gaussian(const Rational& epsilon, const Rational& delta,
                                           const Rational& l2) {
    return real(gaussian_name(epsilon, delta, l2), mechanisms::gaussian_tolerance_at,
                mechanisms::gaussian_sigma_up(epsilon, delta, l2));
  }

  /// The same, rounded to the nearest integer, on answers that are integers.
  [[nodiscard]] static AddedNoise rounded_laplace(const Rational& epsilon, const Rational& l1) {
    const Rational scale = laplace_scale(epsilon, l1);
    return rounded("rounded " + laplace_name(epsilon, l1), mechanisms::laplace_tolerance_at, scale,
                   mechanisms::rounded_laplace_unchanged_up(scale));
  }
  [[nodiscard]] static AddedNoise rounded_gaussian(const Rational& epsilon, const Rational& delta,
                                                   const Rational& l2) {
    const Rational sigma = mechanisms::gaussian_sigma_up(epsilon, delta, l2);
    return rounded("rounded " + gaussian_name(epsilon, delta, l2), mechanisms::gaussian_tolerance_at, sigma,
                   mechanisms::rounded_gaussian_unchanged_up(sigma));
  }

  /// The discrete laws on the multiples of `grid`, scale in the unit of the answer, for answers on the grid:
  /// discrete_laplace.hpp, discrete_gaussian.hpp at scale/grid.
  [[nodiscard]] static AddedNoise discrete_laplace(const Rational& scale, const Rational& grid = 1) {
    return on_grid("discrete Laplace noise", mechanisms::discrete_laplace_accuracy,
                   mechanisms::discrete_laplace_unchanged_up, scale, grid);
  }
  [[nodiscard]] static AddedNoise discrete_gaussian(const Rational& scale, const Rational& grid = 1) {
    return on_grid("discrete Gaussian noise", mechanisms::discrete_gaussian_accuracy,
                   mechanisms::discrete_gaussian_unchanged_up, scale, grid);
  }

  /// A tolerance computed elsewhere. No level enters it, and IsNoisy refuses it.
  /// Requires  tolerance >= 0.
  [[nodiscard]] static AddedNoise within(const Rational& tolerance) {
    if (tolerance < 0) throw InvalidParameter("tolerance: " + rational_text(tolerance) + " is negative");
    AddedNoise noise("a given tolerance");
    noise.tolerance_ = [tolerance](const Flakiness&) { return tolerance; };
    return noise;
  }

  /// Whatever the mechanism states. It promises nothing about the probability of no noise, so IsNoisy
  /// refuses it; for snapping there is the next function.
  /// Requires  the mechanism outlives the noise.
  template <StatesItsAccuracy Mechanism>
  [[nodiscard]] static AddedNoise released_by(const Mechanism& mechanism, std::string name) {
    AddedNoise noise(std::move(name));
    noise.tolerance_ = [&mechanism](const Flakiness& level) {
      return mechanism.accuracy_up(level.probability_down());
    };
    return noise;
  }
  template <StatesItsAccuracy Mechanism>
  static AddedNoise released_by(const Mechanism&&, std::string) = delete;
  /// Snapping. Without noise it would still round to its grid, so that is what IsNoisy compares with.
  /// Requires  the mechanism outlives the noise.
  [[nodiscard]] static AddedNoise released_by(const mechanisms::SnappingMechanism& mechanism) {
    const auto& parameters = mechanism.parameters();
    AddedNoise noise = released_by(mechanism, "snapping, epsilon " + parameters.charged.text() +
                                                  ", sensitivity " + rational_text(parameters.sensitivity));
    noise.unchanged_ = mechanisms::snapping_unchanged_up(parameters);
    noise.noiseless_ = [&mechanism](const Rational& answer) {
      return mechanisms::snapped_without_noise(mechanism.parameters(), answer);
    };
    return noise;
  }

  static AddedNoise released_by(const mechanisms::SnappingMechanism&&) = delete;

  /// t with P(|noise| > t) <= the level.
  [[nodiscard]] Rational tolerance_up(const Flakiness& level) const { return tolerance_(level); }
  /// t with P(|noise| <= t) <= the level; none for noise that is 0 with positive probability.
  [[nodiscard]] std::optional<Rational> complementary_down(const Flakiness& level) const {
    if (!complementary_) return std::nullopt;
    return complementary_(level);
  }
  /// How many values must be looked at before "all of them came out without noise" has at most this
  /// probability; 1 for real-valued noise.
  /// Throws  InvalidParameter if that is not known for this noise, or no number suffices.
  [[nodiscard]] Integer values_needed(const Flakiness& level) const {
    if (complementary_) return 1;
    if (!unchanged_) throw InvalidParameter("noise: " + name_ + " does not say how often it is none");
    return mechanisms::values_to_show_noise(*unchanged_, level.k());
  }
  /// What would be released without noise.
  [[nodiscard]] Rational noiseless(const Rational& answer) const {
    return noiseless_ ? noiseless_(answer) : answer;
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  explicit AddedNoise(std::string name) : name_(std::move(name)) {}

  using Tolerances = mechanisms::NoiseTolerance (*)(const Rational& scale, const Rational& k, bool integer,
                                                    std::uint64_t partitions);

  static AddedNoise real(std::string name, Tolerances tolerances, const Rational& scale) {
    AddedNoise noise(std::move(name));
    noise.tolerance_ = [=](const Flakiness& level) {
      return tolerances(scale, level.k(), false, 1).tolerance;
    };
    noise.complementary_ = [=](const Flakiness& level) {
      return tolerances(scale, level.k(), false, 1).complementary;
    };
    return noise;
  }
  static AddedNoise rounded(std::string name, Tolerances tolerances, const Rational& scale,
                            const Rational& unchanged) {
    AddedNoise noise(std::move(name));
    noise.tolerance_ = [=](const Flakiness& level) {
      return tolerances(scale, level.k(), true, 1).tolerance;
    };
    noise.unchanged_ = unchanged;
    return noise;
  }
  static AddedNoise on_grid(const std::string& law, Integer (*accuracy)(const Rational&, const Rational&),
                            Rational (*unchanged)(const Rational&), const Rational& scale,
                            const Rational& grid) {
    if (scale <= 0) throw InvalidParameter("scale: " + rational_text(scale) + " is not above 0");
    if (grid <= 0) throw InvalidParameter("grid: " + rational_text(grid) + " is not above 0");
    const Rational steps = scale / grid;
    AddedNoise noise(law + ", scale " + rational_text(scale) +
                     (grid == 1 ? "" : ", grid " + rational_text(grid)));
    // Beyond `accuracy - 1` steps lie `accuracy` and more.
    noise.tolerance_ = [=](const Flakiness& level) {
      return Rational(grid * (accuracy(steps, level.probability_down()) - 1));
    };
    noise.unchanged_ = unchanged(steps);
    return noise;
  }
  static Rational laplace_scale(const Rational& epsilon, const Rational& l1) {
    if (epsilon <= 0) throw InvalidParameter("epsilon: " + rational_text(epsilon) + " is not above 0");
    if (l1 <= 0) throw InvalidParameter("l1: " + rational_text(l1) + " is not above 0");
    return l1 / epsilon;
  }
  static std::string rational_text(const Rational& value) { return accounting::text(value); }
  static std::string laplace_name(const Rational& epsilon, const Rational& l1) {
    return "Laplace noise, epsilon " + rational_text(epsilon) + ", L1 " + rational_text(l1);
  }
  static std::string gaussian_name(const Rational& epsilon, const Rational& delta, const Rational& l2) {
    return "Gaussian noise, epsilon " + rational_text(epsilon) + ", delta " + rational_text(delta) + ", L2 " +
           rational_text(l2);
  }

  std::string name_;
  std::function<Rational(const Flakiness&)> tolerance_;
  std::function<Rational(const Flakiness&)> complementary_;
  std::function<Rational(const Rational&)> noiseless_;
  std::optional<Rational> unchanged_;
};

}  // namespace epsilog::testing
