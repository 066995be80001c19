#include "column_moments.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

Rational rational(std::uint64_t count) {
  return Rational(to_integer(static_cast<Int128>(count)));
}

}  // namespace

ColumnRange::ColumnRange(const Column& column)
    : type(column.type),
      scale(column.scale),
      bounds(column.bounds.value()),
      stand_in(column.missing),
      fixed_lower(round_fixed(bounds.lower, scale)),
      fixed_upper(round_fixed(bounds.upper, scale)),
      real_lower(round_real(bounds.lower)),
      real_upper(round_real(bounds.upper)) {}

ColumnMoments::ColumnMoments(const ColumnRange& range, bool with_squares)
    : range_(&range), with_squares_(with_squares) {
  if (range.type == ColumnType::real) real_ = std::make_unique<RealSums>();
}

void ColumnMoments::add_real(double value) {
  ++inside_;
  real_->values.add(value);
  if (with_squares_) real_->squares.add(value);
}

Rational ColumnMoments::count() const {
  return rational(below_) + rational(above_) + rational(stand_ins_) + rational(inside_);
}

Rational ColumnMoments::sum_about(const Rational& centre) const {
  Rational sum = inside_sum() - rational(inside_) * centre;
  sum += rational(below_) * (range_->bounds.lower - centre);
  sum += rational(above_) * (range_->bounds.upper - centre);
  if (stand_ins_ > 0) sum += rational(stand_ins_) * (*range_->stand_in - centre);
  return sum;
}

Rational ColumnMoments::squares_about(const Rational& centre) const {
  EPSILOG_INVARIANT(with_squares_);
  const auto square = [](const Rational& value) { return Rational(value * value); };
  // sum (x - c)^2 = sum x^2 - 2c sum x + n c^2, exactly.
  Rational sum = inside_squares() - 2 * centre * inside_sum() + rational(inside_) * square(centre);
  sum += rational(below_) * square(range_->bounds.lower - centre);
  sum += rational(above_) * square(range_->bounds.upper - centre);
  if (stand_ins_ > 0) sum += rational(stand_ins_) * square(*range_->stand_in - centre);
  return sum;
}

Rational ColumnMoments::inside_sum() const {
  if (real_) return real_->values.value();
  return Rational(fixed_values_.value()) * accounting::power_of_ten(-static_cast<long>(range_->scale));
}

Rational ColumnMoments::inside_squares() const {
  if (real_) return real_->squares.value();
  return Rational(fixed_squares_.value()) * accounting::power_of_ten(-2 * static_cast<long>(range_->scale));
}

}  // namespace epsilog::engine
