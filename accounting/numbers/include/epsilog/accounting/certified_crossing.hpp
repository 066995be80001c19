// Decisions about real numbers that are only known through enclosures, and the largest or smallest
// parameter for which such a decision comes out well.
//
// Every result is checked by the decision itself. How a candidate was found plays no part in why it is
// right, so the search may be as bold as it likes.
// Thread-safety: pure functions. The caller holds an ExponentRange.
#pragma once

#include <functional>
#include <optional>

#include "epsilog/accounting/enclosure.hpp"

namespace epsilog::accounting {

/// Bits of the numbers handed out; the error of such a number is below kResultError of it.
inline constexpr unsigned kResultBits = 128;
inline constexpr unsigned kResultErrorBits = 100;  // 2^-100

/// No enclosure is refined beyond this many bits plus those of the question's own numbers. Only numbers that
/// agree with a boundary to thousands of digits get here, and they are answered on the safe side.
inline constexpr unsigned kRefinementMax = 4096;

/// A tail or a delta below 2^-16384 (about 10^-4932) is reported as this: numerators and denominators
/// of rationals are stored in full, and exp(-10^9) would be a gigabit.
inline constexpr long kSmallestExponent = -16384;

/// An enclosure computed with arithmetic of the given precision.
using Enclosed = std::function<Enclosure(unsigned bits)>;

/// Is the number at most `limit`? Refines from `bits` to `bits_max`; nullopt if still undecided.
[[nodiscard]] std::optional<bool> at_most(const Enclosed& number, const Rational& limit, unsigned bits,
                                          unsigned bits_max);

/// Upper bound of a positive number: of kResultBits bits and within 2^-100 of it, or 2^-16384 if that is
/// larger; wider, but still an upper bound, only if bits_max do not suffice.
[[nodiscard]] Rational narrow_up(const Enclosed& number, unsigned bits, unsigned bits_max);

/// A probability (or a delta) as a monotone function of a positive parameter, enclosed.
using Probability = std::function<Enclosure(const Rational& x, unsigned bits)>;

/// Where is probability(x) = target?
struct Crossing {
  Probability probability;
  bool increasing = true;
  Rational target;      ///< in (0, 1)
  Rational start;       ///< a guess, > 0
  unsigned bits = 192;  ///< precision to begin with
  unsigned bits_max = kRefinementMax;
};

/// A point near the crossing: not certified, and no better than `bits` of arithmetic allow.
[[nodiscard]] Rational near_crossing(const Crossing& crossing, const Rational& start, unsigned bits);

/// The last x, coming from the side where it holds, with probability(x) <= target: of kResultBits bits,
/// certified, and at x shifted by 2^-100 of itself towards the other side the probability is certainly above
/// the target. Should the latter be undecided with bits_max bits, the result is only certified itself.
/// Throws  InvalidParameter if bits_max do not suffice to certify any number near the crossing.
[[nodiscard]] Rational last_at_most(const Crossing& crossing);

}  // namespace epsilog::accounting
