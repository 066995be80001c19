// Probabilities of errors as sums of Laplace tails: compared and rounded with certainty.
//
// Source   P(noise >= d) = e^(-d/lambda)/2 for d >= 0, else 1 - e^(d/lambda)/2.
// Exact    A sum of such tails at rational distances is transcendental unless each distance is 0
//          (Lindemann-Weierstrass), so refining an enclosure decides every comparison with a rational.
//          Two distances d and -d, whose tails add to 1, do not come as a sum but as `certain`.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

/// Significant bits of results that are rounded.
inline constexpr unsigned kResultBits = 128;
/// Probabilities below 2^-kLeastExponent are rounded up to it.
inline constexpr long kLeastExponent = 16384;

/// The probability that the noise passes one threshold or another, on the other side, given by their
/// distances; one below 0 lies behind the answer.
struct TailSum {
  accounting::Rational first;
  std::optional<accounting::Rational> second = std::nullopt;
};

/// The largest of some sums; 0 if there are none, 1 if `certain`.
struct ErrorProbability {
  bool certain = false;
  std::vector<TailSum> sums = {};
};

/// Whether the probability is at most alpha, for noise of scale lambda > 0.
/// Requires  0 < alpha < 1.
/// Ensures   the truth; false where alpha has so many digits (tens of thousands) that 2^16 bits do not tell.
[[nodiscard]] bool at_most(const ErrorProbability& probability, const accounting::Rational& lambda,
                           const accounting::Rational& alpha);

/// The least number of kResultBits significant bits not below probability/share; at most 1, and at
/// least 2^-kLeastExponent unless the probability is 0.
/// Requires  0 < share <= 1.
[[nodiscard]] accounting::Rational probability_up(const ErrorProbability& probability,
                                                  const accounting::Rational& lambda,
                                                  const accounting::Rational& share);

}  // namespace epsilog::mechanisms
