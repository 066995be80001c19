// The exact count, sum and sum of squares of one numeric column, each value clamped to its bounds.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "column_cell.hpp"
#include "epsilog/engine/policy.hpp"
#include "exact_sum.hpp"

namespace epsilog::engine {

/// The bounds of a column, as cells.
struct ColumnRange {
  /// Requires  an int, decimal or double column with bounds.
  explicit ColumnRange(const Column& column);

  [[nodiscard]] bool below(const Cell& cell) const {
    return type == ColumnType::real ? cell.real < real_lower.up : cell.fixed < fixed_lower.up;
  }
  [[nodiscard]] bool above(const Cell& cell) const {
    return type == ColumnType::real ? cell.real > real_upper.down : cell.fixed > fixed_upper.down;
  }

  ColumnType type;
  unsigned scale;
  Bounds bounds;
  std::optional<Rational> stand_in;
  FixedRounding fixed_lower;
  FixedRounding fixed_upper;
  RealRounding real_lower;
  RealRounding real_upper;
};

class ColumnMoments final {
 public:
  ColumnMoments(const ColumnRange& range, bool with_squares);

  /// A missing cell counts as the column's stand-in; without one it is left out.
  void add(const Cell& cell) {
    if (cell.missing) {
      if (range_->stand_in) ++stand_ins_;
    } else if (range_->below(cell)) {
      ++below_;
    } else if (range_->above(cell)) {
      ++above_;
    } else if (real_) {
      add_real(cell.real);
    } else {
      ++inside_;
      fixed_values_.add(cell.fixed);
      if (with_squares_) fixed_squares_.add_square(cell.fixed);
    }
  }
  /// Requires  the column has a stand-in.
  void add_stand_in() { ++stand_ins_; }

  /// How many values were added.
  [[nodiscard]] Rational count() const;
  /// Sum of value - centre.
  [[nodiscard]] Rational sum_about(const Rational& centre) const;
  /// Sum of (value - centre)^2.
  /// Requires  with_squares.
  [[nodiscard]] Rational squares_about(const Rational& centre) const;

 private:
  struct RealSums {
    BinarySum values;
    BinarySquareSum squares;
  };
  void add_real(double value);
  [[nodiscard]] Rational inside_sum() const;
  [[nodiscard]] Rational inside_squares() const;

  const ColumnRange* range_;
  bool with_squares_;
  std::uint64_t below_ = 0;  ///< clamped to the lower bound
  std::uint64_t above_ = 0;  ///< clamped to the upper bound
  std::uint64_t stand_ins_ = 0;
  std::uint64_t inside_ = 0;
  IntegerSum fixed_values_;
  IntegerSum fixed_squares_;
  std::unique_ptr<RealSums> real_;  ///< for doubles only: it is large
};

}  // namespace epsilog::engine
