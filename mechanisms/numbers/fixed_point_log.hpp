// The logarithm in machine integers, with an error that is a finite sum of truncations.
//
// A template over the word, so that the same code that runs on 64 bits is tried exhaustively on 16.
// Nothing here depends on floating point, its flags, contraction or the compiler.
//
// Proof    mechanisms/proofs/snapping_fast.md, "The logarithm": minus_log is off by less than 2.07
//          units at 64 bits, 2.4 at 16, of which more than 0.08 (0.38) only downwards.
// Thread-safety: immutable after construction.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/rational.hpp"
#include "log_table.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::Rational;

template <class Word>
struct WideWord;
template <>
struct WideWord<std::uint16_t> {
  using Unsigned = std::uint32_t;
};
template <>
struct WideWord<std::uint64_t> {
  __extension__ using Unsigned = unsigned __int128;
};

template <class Word>
class FixedPointLog final {
 public:
  static constexpr unsigned kWordBits = std::numeric_limits<Word>::digits;
  /// A logarithm of at most kWordBits * ln 2 has this many bits before the point.
  static constexpr unsigned kWholeBits = static_cast<unsigned>(std::bit_width(kWordBits)) - 1;
  /// The unit of minus_log is 2^-kFractionBits.
  static constexpr unsigned kFractionBits = kWordBits - kWholeBits;

  /// -ln((1 + fraction * 2^-kWordBits) * 2^-exponent) in units of 2^-kFractionBits.
  /// Requires  1 <= exponent <= kWordBits.
  [[nodiscard]] Word minus_log(Word fraction, unsigned exponent) const noexcept {
    const auto& cell = table_.cells[fraction >> (kWordBits - kIndexBits)];
    // 1 + t = (1 + fraction) * factor, exactly, in [1, 1 + 2^-(kIndexBits-1)).
    const Wide t_exact = static_cast<Wide>(static_cast<Wide>(fraction) * cell.factor -
                                           (static_cast<Wide>(kFactorOne - cell.factor) << kWordBits));
    const Word t = static_cast<Word>(t_exact >> kIndexBits);  // unit 2^-(kWordBits + kIndexBits - 1)
    const Word s = high(t, t);                                // t^2, unit 2^-(kWordBits + 2 kIndexBits - 2)
    // ln(1 + t) = t - s (1/2 - t/3 + s (1/4 - t/5 + s (1/6 - t/7))) - …, the rest below t^8/8.
    const Word a = static_cast<Word>((kAll / 2 + 1) - (high(t, kAll / 3) >> (kIndexBits - 1)));
    const Word b = static_cast<Word>((kAll / 4 + 1) - (high(t, kAll / 5) >> (kIndexBits - 1)));
    const Word c = static_cast<Word>(kAll / 6 - (high(t, kAll / 7) >> (kIndexBits - 1)));
    const Word bc = static_cast<Word>(b + (high(s, c) >> (2 * kIndexBits - 2)));
    const Word abc = static_cast<Word>(a + (high(s, bc) >> (2 * kIndexBits - 2)));
    const Word log_of_1_plus_t = static_cast<Word>(t - (high(s, abc) >> (kIndexBits - 1)));
    const Word log_of_significand =
        static_cast<Word>(cell.minus_log + static_cast<Word>(log_of_1_plus_t >> (kIndexBits - 1)));
    const Wide whole = static_cast<Wide>(static_cast<Wide>(exponent) * table_.log_of_2);
    // Truncation may take the last U before 1 below zero; the truth is above.
    if (whole < log_of_significand) return 0;
    return static_cast<Word>(static_cast<Wide>(whole - log_of_significand) >> kWholeBits);
  }

  [[nodiscard]] static const FixedPointLog& shared() {
    static const FixedPointLog log;
    return log;
  }

 private:
  using Wide = typename WideWord<Word>::Unsigned;

  using Table = LogTable<Word>;
  static constexpr unsigned kIndexBits = Table::kIndexBits;
  static constexpr unsigned kFactorBits = Table::kFactorBits;
  static constexpr Word kFactorOne = static_cast<Word>(Word{1} << kFactorBits);
  static constexpr Word kAll =
      std::numeric_limits<Word>::max();  ///< kAll / n = floor(2^kWordBits / n), n odd or 6

  [[nodiscard]] static Word high(Word x, Word y) noexcept {
    return static_cast<Word>((static_cast<Wide>(x) * y) >> kWordBits);
  }

  [[nodiscard]] static const Table& made_at_build() {
    if constexpr (kWordBits == 64)
      return kLogTable64;
    else
      return kLogTable16;
  }

  Table table_ = made_at_build();
};

}  // namespace epsilog::mechanisms
