// What FixedPointLog looks up: of each cell of [1, 2) a factor that takes it to just above 1, and its
// logarithm.
//
// The tables are made when the library is built (generate_log_table.cpp), from MPFR's directed logarithms:
// computing them costs as much as everything else that opening a ledger for one release does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace epsilog::mechanisms {

template <class Word>
struct LogTable {
  static constexpr unsigned kWordBits = std::numeric_limits<Word>::digits;
  static constexpr unsigned kIndexBits = kWordBits / 8;
  static constexpr std::size_t kCells = std::size_t{1} << kIndexBits;
  static constexpr unsigned kFactorBits = 2 * kIndexBits - 1;

  struct Cell {
    Word factor = 0;
    Word minus_log = 0;  ///< of the factor, unit 2^-kWordBits, rounded down
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  std::array<Cell, kCells> cells{};
  Word log_of_2 = 0;  ///< unit 2^-kWordBits, rounded down
  friend bool operator==(const LogTable&, const LogTable&) = default;
};

extern const LogTable<std::uint16_t> kLogTable16;
extern const LogTable<std::uint64_t> kLogTable64;

}  // namespace epsilog::mechanisms
