// The values that a quantile of a column can be, and how many rows are nearest to each.
//
// Source   docs/sensitivity.md, "Quantiles"; mechanisms/proofs/quantiles.md.
// Thread-safety: values and pure functions; a CandidateTally has one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "column_cell.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::engine {

/// Public: a function of the declaration alone.
struct ColumnCandidates {
  mechanisms::CandidateValues values;
  std::uint64_t count = 0;  ///< 1 to mechanisms::kCandidatesMax
};

/// The declared `values` of an int or date column in ascending order; else the multiples of `step` in
/// `bounds`, of a date column every day, counted as its cells are.
/// Throws  Underivable, saying what the column does not declare.
[[nodiscard]] ColumnCandidates candidates_of(const Column& column);

/// Finds the candidate of a cell: the one nearest to its value, of two the greater one, whatever lies beyond
/// an end being that end.
class CandidateFinder final {
 public:
  /// Requires  candidates = candidates_of(column).
  CandidateFinder(const Column& column, ColumnCandidates candidates);

  static constexpr std::uint64_t kNone = UINT64_MAX;
  /// kNone: the cell is missing, and the column has no stand-in.
  [[nodiscard]] std::uint64_t find(const Cell& cell) const {
    if (cell.missing) return of_missing_;
    return fixed_ ? of_fixed(cell.fixed) : of_rational(cell);
  }

 private:
  [[nodiscard]] std::uint64_t of_fixed(Int128 value) const;
  [[nodiscard]] std::uint64_t of_rational(const Cell& cell) const;

  ColumnCandidates candidates_;
  bool real_;
  unsigned scale_;
  std::uint64_t of_missing_ = kNone;
  /// Whether candidates are as large as cells can be at most: then what follows is in units of the scale.
  bool fixed_;
  Int128 first_ = 0;
  Int128 last_ = 0;
  Int128 step_ = 1;
  std::vector<Int128> list_;
};

/// Counts the rows of each candidate in each cell of an answer.
class CandidateTally final {
 public:
  CandidateTally(std::size_t cells, std::uint64_t candidates);

  void add(std::size_t cell, std::uint64_t candidate);
  /// [cell], candidates ascending, those without rows left out.
  [[nodiscard]] std::vector<std::vector<mechanisms::CandidateRows>> counts() const;
  /// The same of these cells together, candidate by candidate: of few.
  [[nodiscard]] std::vector<mechanisms::CandidateRows> counts_of(std::span<const std::size_t> cells) const;

 private:
  [[nodiscard]] std::uint64_t rows_beyond(std::uint64_t place) const;

  std::size_t cells_;
  std::uint64_t candidates_;
  /// [cell][candidate], modulo 2^16: small counters of many candidates stay near. Empty where that would take
  /// too much memory.
  std::vector<std::uint16_t> rows_;
  /// What is beyond that, or all where there is no other place.
  std::unordered_map<std::uint64_t, std::uint64_t> more_;
};

}  // namespace epsilog::engine
