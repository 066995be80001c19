// How far noise may carry a figure before a test should complain: tolerances with a stated flakiness.
//
// Flakiness  10^-k is the probability, at most, with which a test of a right implementation fails. k is
//            positive and may be a fraction; 1 - 10^-k is never formed, so k = 400 is as good as k = 4.
// Source     "Tolerance Calculation for ApproxEquals in Tests" of Privacy on Beam (July 2020), corrected;
//            docs/tolerance.md says where and why. Proof: mechanisms/proofs/tolerance.md.
// Noise      Laplace of scale l1/epsilon, or Gaussian of standard deviation gaussian_sigma_up(epsilon,
//            delta, l2): the real-valued laws. Noise drawn on a grid of step g, added to an answer that
//            was first rounded to it, can err by g more than these say; for the discrete laws there are
//            discrete_laplace_accuracy and discrete_gaussian_accuracy.
// Rounds     Tolerances up, complementary tolerances down, to 128 significant bits.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

/// Largest k of a flakiness 10^-k that is accepted.
inline constexpr long kFlakinessMax = 1'000'000;

/// Both in the unit of the sensitivity.
struct NoiseTolerance {
  /// t > 0 with P(some |noise| > t) <= 10^-k: "is the figure right?" fails beyond it. For integers the
  /// least integer t >= 0 of that kind.
  Rational tolerance;
  /// t > 0 with P(some |noise| <= t) <= 10^-k: "was noise added?" fails up to it. Of real-valued noise.
  /// Noise rounded to integers vanishes with a probability that no tolerance below 1 can lower; for it
  /// there is values_to_show_noise in noise_presence.hpp.
  Rational complementary;
};

/// Tolerances for noise of the Laplace law with scale b = l1/epsilon, drawn independently in each of
/// `partitions` figures that are tested together with flakiness 10^-k:
///   tolerance = b L_n,  complementary = b ln(1/(1 - 10^-k)) / n,
///   L_n = -ln(1 - (1 - 10^-k)^(1/n)), which is k ln 10 for one partition.
/// If `integer`, the noise is rounded to the nearest integer, ties either way, and the tolerance is
/// max(0, ceil(t - 1/2)), t the above.
///
/// Requires  epsilon > 0; l1 > 0; 0 < flakiness_k <= kFlakinessMax; partitions >= 1.
/// Ensures   tolerance no less than the value above and complementary no more, each by less than 2^-120
///           of it; an integer tolerance is exact.
/// Throws    InvalidParameter naming the field.
[[nodiscard]] NoiseTolerance laplace_tolerance(const Rational& epsilon, const Rational& l1,
                                               const Rational& flakiness_k, bool integer,
                                               std::uint64_t partitions);

/// The same for the normal law with sigma = gaussian_sigma_up(epsilon, delta, l2):
///   tolerance = sigma sqrt 2 erfcinv(e^-L_n),  complementary = sigma sqrt 2 erfinv(1 - (1 - 10^-k)^(1/n)).
///
/// Requires  epsilon > 0; 0 < delta < 1; l2 > 0; 0 < k <= kFlakinessMax; partitions >= 1.
/// Ensures   as laplace_tolerance; relative to the ideal sigma, below 2^-98 in place of 2^-120, and the
///           complementary tolerance stays a lower bound for every noise from the ideal sigma up to sigma.
/// Throws    InvalidParameter naming the field.
[[nodiscard]] NoiseTolerance gaussian_tolerance(const Rational& epsilon, const Rational& delta,
                                                const Rational& l2, const Rational& k, bool integer,
                                                std::uint64_t partitions);

/// The same for noise whose parameter is known: the Laplace scale b, the standard deviation sigma; > 0.
[[nodiscard]] NoiseTolerance laplace_tolerance_at(const Rational& scale, const Rational& flakiness_k,
                                                  bool integer, std::uint64_t partitions);
[[nodiscard]] NoiseTolerance gaussian_tolerance_at(const Rational& sigma, const Rational& flakiness_k,
                                                   bool integer, std::uint64_t partitions);

/// A mean released as noisy sum over noisy count. Figures made up by the caller, never private ones: the
/// tolerance depends on them and was not charged.
struct MeanScenario {
  Rational epsilon;              ///< for sum and count together, halved between them; > 0
  Rational delta;                ///< likewise; 0: Laplace noise, else Gaussian; 0 <= delta < 1
  Rational lower;                ///< each value is clamped to [lower, upper], lower < upper
  Rational upper;                ///<
  Rational sum;                  ///< of the clamped values: count * lower <= sum <= count * upper
  Rational count;                ///< of the values: an integer >= 0
  std::uint64_t max_rows = 1;    ///< rows one unit may have in one partition, >= 1
  std::uint64_t partitions = 1;  ///< partitions one unit may have rows in, >= 1
  Rational flakiness;            ///< k, for the mean of one partition; 0 < k <= kFlakinessMax
};

/// t such that |noisy mean - mean| <= t except with probability 10^-k, where, with mid the midpoint and
/// H half the width of [lower, upper],
///   noisy mean = clamp(mid + (sum - count mid + N_s) / max(1, count + N_c), lower, upper),
///   mean       = sum / count, or mid if the count is 0.
/// N_c has sensitivity max_rows partitions (Laplace, l1) or max_rows sqrt(partitions) (Gaussian, l2) at half
/// of epsilon and delta; N_s has H times that. N_c may be rounded to an integer or not. Both stay within
/// t_c and t_s = H t_c with probability 1 - 10^-k together; t is the farthest a mean gets from the true one
/// while sum and count run over [S - t_s, S + t_s] x [n - ceil t_c, n + ceil t_c].
///
/// To test n partitions together, add log10(n) to k.
/// Ensures   rounded up by less than 2^-100 of the value, for counts below 2^100.
/// Throws    InvalidParameter naming the field.
[[nodiscard]] Rational mean_tolerance_up(const MeanScenario& scenario);

/// t > 0 with P(|noisy mean - mean| <= t) <= 10^-k: "was noise added?" fails up to it. The complementary
/// tolerance of the sum's noise over max(1, count) + 1/2 + E max(0, N_c), and less than the distance of the
/// mean from the nearer end of the range. Nothing where the mean is such an end: the clamp then leaves the
/// noisy mean where the exact one is with probability 1/4 or more.
/// Ensures   rounded down; not the largest t there is.
/// Throws    InvalidParameter naming the field.
[[nodiscard]] std::optional<Rational> mean_complementary_down(const MeanScenario& scenario);

}  // namespace epsilog::mechanisms
