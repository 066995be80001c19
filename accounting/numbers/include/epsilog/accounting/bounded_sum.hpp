// Sums of exact numbers that are recorded, and so must stay short enough to read.
//
// A thousand fractions with different denominators add up to one of a hundred thousand digits. Decisions,
// records and audits add by the one rule below, which docs/record_format.md states for other programs.
//
// Rounds    Up, by less than 2^-1024 for each term, and only where a sum has more than 4,000 digits.
// Proof     accounting/proofs/bounded_sums.md.
// Thread-safety: pure function.
#pragma once

#include <span>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// A sum has at most so many decimal digits above and below its fraction bar.
inline constexpr unsigned long kSumDigitsMax = 4'000;
/// A sum with more digits becomes a multiple of 2^-kSumRoundingBits.
inline constexpr long kSumRoundingBits = 1'024;

/// Adds the terms in their order, and rounds a sum that became too long up to a multiple of 2^-1024.
///
/// After each term the sum so far is looked at, in lowest terms. If its numerator or denominator has more
/// than kSumDigitsMax digits, it is replaced by the least multiple of 2^-kSumRoundingBits that is not below
/// it.
///
/// Ensures   not below the exact sum, and above it by less than terms.size() * 2^-1024; the exact sum if no
/// sum on the
///           way is too long.
[[nodiscard]] Rational sum_up(std::span<const Rational> terms);

}  // namespace epsilog::accounting
