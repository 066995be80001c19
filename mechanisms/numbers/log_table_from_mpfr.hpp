// The table of logarithms from MPFR, for whoever makes it and whoever checks it.
#pragma once

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/rational.hpp"
#include "log_table.hpp"

namespace epsilog::mechanisms {

/// floor(-ln(x) * 2^word_bits) for 1/2 <= x <= 1.
[[nodiscard]] inline std::uint64_t floor_of_minus_log(const accounting::Rational& x, unsigned word_bits) {
  using accounting::Rational;
  constexpr unsigned kBits = 192;
  const accounting::MpfrNumber above = accounting::MpfrNumber::exactly(x);
  accounting::MpfrNumber log(kBits);
  mpfr_log(log.get(), above.get(), MPFR_RNDU);
  mpfr_neg(log.get(), log.get(), MPFR_RNDN);
  const Rational low = log.rational() * accounting::power_of_two(word_bits);
  const accounting::Integer floor = accounting::floor(low);
  // A logarithm this close to a multiple of the unit would need more bits; none of the table is.
  EPSILOG_INVARIANT(x == 1 || accounting::floor(low * (1 + accounting::power_of_two(-150))) == floor);
  return floor.get_ui();
}

template <class Word>
[[nodiscard]] LogTable<Word> log_table_from_mpfr() {
  using accounting::Rational;
  using Table = LogTable<Word>;
  const auto minus_log = [](const Rational& x) {
    return static_cast<Word>(floor_of_minus_log(x, Table::kWordBits));
  };
  Table table;
  for (std::size_t i = 0; i < Table::kCells; ++i) {
    // The least multiple of 2^-kFactorBits that takes the cell's lower end to 1 or above.
    const Rational scaled = Rational(Table::kCells << Table::kFactorBits) / (Table::kCells + i);
    const std::uint64_t factor = accounting::ceil(scaled).get_ui();
    table.cells[i] = {.factor = static_cast<Word>(factor),
                      .minus_log = minus_log(Rational(factor) / (std::size_t{1} << Table::kFactorBits))};
  }
  table.log_of_2 = minus_log(Rational(1, 2));
  return table;
}

}  // namespace epsilog::mechanisms
