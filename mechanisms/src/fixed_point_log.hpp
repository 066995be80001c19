// The logarithm in machine integers, with an error that is a finite sum of truncations.
//
// A template over the word, so that the same code that runs on 64 bits is tried exhaustively on 16.
// Nothing here depends on floating point, its flags, contraction or the compiler.
//
// Proof    mechanisms/proofs/snapping_fast.md, "The logarithm": minus_log is off by less than 2.07
//          units at 64 bits, 2.4 at 16, of which more than 0.08 (0.38) only downwards.
// Thread-safety: immutable after construction.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/rational.hpp"

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

  FixedPointLog() {
    for (std::size_t i = 0; i < kCells; ++i) {
      // The least multiple of 2^-kFactorBits that takes the cell's lower end to 1 or above.
      const Rational scaled = Rational(kCells << kFactorBits) / (kCells + i);
      cells_[i].factor = static_cast<Word>(accounting::ceil(scaled).get_ui());
      cells_[i].minus_log = floor_of_minus_log(Rational(cells_[i].factor) / (std::size_t{1} << kFactorBits));
    }
    log_of_2_ = floor_of_minus_log(Rational(1, 2));
  }

  /// -ln((1 + fraction * 2^-kWordBits) * 2^-exponent) in units of 2^-kFractionBits.
  /// Requires  1 <= exponent <= kWordBits.
  [[nodiscard]] Word minus_log(Word fraction, unsigned exponent) const noexcept {
    const Cell& cell = cells_[fraction >> (kWordBits - kIndexBits)];
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
    const Wide whole = static_cast<Wide>(static_cast<Wide>(exponent) * log_of_2_);
    // Truncation may take the last U before 1 below zero; the truth is above.
    if (whole < log_of_significand) return 0;
    return static_cast<Word>(static_cast<Wide>(whole - log_of_significand) >> kWholeBits);
  }

  /// Built once, from MPFR's directed logarithms.
  [[nodiscard]] static const FixedPointLog& shared() {
    static const FixedPointLog log;
    return log;
  }

 private:
  using Wide = typename WideWord<Word>::Unsigned;

  static constexpr unsigned kIndexBits = kWordBits / 8;
  static constexpr std::size_t kCells = std::size_t{1} << kIndexBits;
  static constexpr unsigned kFactorBits = 2 * kIndexBits - 1;
  static constexpr Word kFactorOne = static_cast<Word>(Word{1} << kFactorBits);
  static constexpr Word kAll =
      std::numeric_limits<Word>::max();  ///< kAll / n = floor(2^kWordBits / n), n odd or 6

  struct Cell {
    Word factor = 0;
    Word minus_log = 0;  ///< of the factor, unit 2^-kWordBits
  };

  [[nodiscard]] static Word high(Word x, Word y) noexcept {
    return static_cast<Word>((static_cast<Wide>(x) * y) >> kWordBits);
  }

  /// floor(-ln(x) * 2^kWordBits) for 1/2 <= x <= 1.
  [[nodiscard]] static Word floor_of_minus_log(const Rational& x) {
    constexpr unsigned kBits = 192;
    MpfrNumber above = MpfrNumber::exactly(x);
    MpfrNumber log(kBits);
    mpfr_log(log.get(), above.get(), MPFR_RNDU);
    mpfr_neg(log.get(), log.get(), MPFR_RNDN);
    const Rational low = log.rational() * accounting::power_of_two(kWordBits);
    const accounting::Integer floor = accounting::floor(low);
    // A logarithm this close to a multiple of the unit would need more bits; none of the table is.
    EPSILOG_INVARIANT(x == 1 || accounting::floor(low * (1 + accounting::power_of_two(-150))) == floor);
    return static_cast<Word>(floor.get_ui());
  }

  std::array<Cell, kCells> cells_{};
  Word log_of_2_ = 0;
};

}  // namespace epsilog::mechanisms
