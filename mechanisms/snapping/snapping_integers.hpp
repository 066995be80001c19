// The first tier of a snapped draw: machine integers decide the released multiple, or decline.
//
// Only the released multiple of Lambda matters, not the intermediates: y + S*lambda*(-ln U) is
// computed in units of Lambda with a stated error bound, and when no rounding boundary is that near,
// the multiple is the one that the plain definition gives, in the arithmetic of any precision and in
// the exact one alike. Otherwise the caller climbs to MPFR with the same random bytes.
//
// A template over the word, so that the decisions can be checked exhaustively on 16 bits.
//
// Proof    mechanisms/proofs/snapping_fast.md.
// Thread-safety: immutable after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/rational.hpp"
#include "fixed_point_log.hpp"

namespace epsilog::mechanisms {

/// The random choices of one attempt, as far as the first tier looks at them.
template <class Word>
struct AttemptWords {
  Word fraction = 0;      ///< leading random bits of the significand, below the point
  unsigned exponent = 1;  ///< 1 .. bits of Word
  bool negative = false;
};

/// y / Lambda = whole + fraction * 2^-kUnitBits, the fraction rounded down.
template <class Word>
struct GridPosition {
  std::int64_t whole = 0;
  Word fraction = 0;
};

struct IntegerVerdict {
  bool decided = false;
  std::int64_t multiple = 0;  ///< of Lambda, before the outer clamp
};

template <class Word>
class SnappingIntegers final {
 public:
  using Log = FixedPointLog<Word>;
  /// Positions and noise are in units of 2^-kUnitBits * Lambda.
  static constexpr unsigned kUnitBits = Log::kFractionBits - 1;
  /// What truncations add up to, in those units.
  static constexpr std::uint64_t kTruncationUnits = 4;
  /// The largest |whole| for which no intermediate overflows.
  static constexpr std::int64_t kWholeMax = std::int64_t{1} << 61;

  /// `ratio` = lambda / Lambda; `precision` = p of the mpfr arithmetic, 0 for the exact one.
  /// `timidity` widens the error bound by so many units: only tests want more than 0.
  /// Requires  0 < ratio <= 33/32, precision = 0 or >= 8.
  SnappingIntegers(const Rational& ratio, unsigned precision, std::uint64_t timidity = 0)
      : log_(Log::shared()),
        ratio_(static_cast<Word>(
            accounting::floor(ratio * accounting::power_of_two(Log::kWordBits - 1)).get_ui())),
        precision_(precision),
        fixed_margin_(kTruncationUnits + timidity + (precision == 0 ? 0 : 3)) {
    EPSILOG_INVARIANT(ratio > 0 && ratio <= Rational(33, 32) && (precision == 0 || precision >= 8));
  }

  /// Requires  |y.whole| <= kWholeMax. In the mpfr arithmetic the fraction of `u` has no set bits
  ///           beyond its leading p - 1.
  /// Ensures   if decided, for every real U whose significand starts with those bits and every y in
  ///           the unit above the position: multiple = the plain definition's, before the clamp.
  [[nodiscard]] IntegerVerdict decide(const GridPosition<Word>& y,
                                      const AttemptWords<Word>& u) const noexcept {
    constexpr Signed kHalf = Signed{1} << (kUnitBits - 1);
    constexpr std::uint64_t kWhole = std::uint64_t{1} << kUnitBits;
    const Word log = log_.minus_log(u.fraction, u.exponent);
    const Word noise = static_cast<Word>((static_cast<Wide>(log) * ratio_) >> Log::kWordBits);
    const std::uint64_t margin = fixed_margin_ + rounding_units(y.whole, noise);
    const Signed mask = static_cast<Signed>(-static_cast<int>(u.negative));  // 0 or -1: no branch on the sign
    const Signed signed_noise = static_cast<Signed>((static_cast<Signed>(noise) ^ mask) - mask);
    const Signed shifted = static_cast<Signed>(static_cast<Signed>(y.fraction) + signed_noise + kHalf);
    const std::uint64_t beyond = static_cast<std::uint64_t>(shifted) & (kWhole - 1);
    IntegerVerdict verdict;
    verdict.multiple = y.whole + static_cast<std::int64_t>(shifted >> kUnitBits);
    verdict.decided = margin < kWhole / 2 && beyond - margin <= kWhole - 2 * margin;
    return verdict;
  }

 private:
  using Wide = typename WideWord<Word>::Unsigned;
  using Signed = std::make_signed_t<Word>;

  /// What the roundings of the p-bit arithmetic can add, in units, less the 3 in fixed_margin_.
  [[nodiscard]] std::uint64_t rounding_units(std::int64_t whole, Word noise) const noexcept {
    if (precision_ == 0) return 0;
    const auto distance = static_cast<std::uint64_t>(whole < 0 ? -whole : whole) + 1;
    const std::uint64_t of_noise = std::uint64_t{noise} >> std::min(precision_ - 2, 63U);
    if (precision_ >= kUnitBits) return of_noise + (distance >> std::min(precision_ - kUnitBits, 63U));
    // Beyond this distance nothing is decided anyway.
    const std::uint64_t capped = std::min(distance, std::uint64_t{1} << std::min(precision_, 61U));
    return of_noise + (capped << (kUnitBits - precision_));
  }

  const Log& log_;
  Word ratio_;  ///< unit 2^-(bits of Word - 1), rounded down
  unsigned precision_;
  std::uint64_t fixed_margin_;
};

}  // namespace epsilog::mechanisms
