#include "row_tally.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using Quantity = Component::Quantity;

Rational rational_of_rows(std::uint64_t count) {
  return Rational(to_integer(static_cast<Int128>(count)));
}

bool lacks(const Cell& cell, const ColumnRange& range) {
  return cell.missing && !range.stand_in;
}

}  // namespace

std::string added_up(const Statistic& statistic) {
  switch (statistic.kind) {
    case StatisticKind::sum:
    case StatisticKind::mean:
    case StatisticKind::variance:
      return std::string(name(StatisticKind::sum)) + ":" + statistic.subject;
    case StatisticKind::quantile:
      return std::string(name(StatisticKind::quantile)) + ":" + statistic.subject;
    case StatisticKind::count:
    case StatisticKind::units:
    case StatisticKind::count_of:
    case StatisticKind::proportion:
    case StatisticKind::distinct:
    case StatisticKind::ratio:
      return statistic.text();
    case StatisticKind::value:
    case StatisticKind::private_variance:
      break;
  }
  EPSILOG_INVARIANT(false);
  return "";
}

RowTally::Adds RowTally::adds_of(StatisticKind kind) {
  switch (kind) {
    case StatisticKind::count:
      return Adds::rows;
    case StatisticKind::units:
      return Adds::units;
    case StatisticKind::sum:
    case StatisticKind::mean:
    case StatisticKind::variance:
      return Adds::moments;
    case StatisticKind::ratio:
      return Adds::pairs;
    case StatisticKind::quantile:
      return Adds::candidates;
    case StatisticKind::count_of:
    case StatisticKind::proportion:
      return Adds::counted;
    case StatisticKind::distinct:
      return Adds::distinct;
    case StatisticKind::value:
    case StatisticKind::private_variance:
      break;
  }
  EPSILOG_INVARIANT(false);
  return Adds::rows;
}

RowTally::RowTally(const Dataset& dataset, const Asked& asked, RowReading& reading)
    : adds_(adds_of(asked.statistic.kind)),
      keeps_all_places_(asked.keeps_all_places),
      margins_(asked.margins),
      rows_(margins_ ? margins_->cells() : asked.cells) {
  if (adds_ == Adds::units) seen_.emplace(rows_.size());
  if (!is_about_column(asked.statistic.kind)) return;
  column_ = reading.number_of(asked.statistic.subject);
  if (counts_cells(asked.statistic.kind)) {
    counted_.emplace(dataset, asked.statistic, reading);
    seen_.emplace(counted_->places());
    return;
  }
  if (adds_ == Adds::candidates) {
    candidate_ = asked.candidate;
    nearest_.emplace(asked.cells, candidate_->count());
    return;
  }
  range_.emplace(*dataset.column(asked.statistic.subject));
  for (std::size_t cell = 0; cell < asked.cells; ++cell) moments_.emplace_back(*range_, asked.with_squares);
  if (adds_ != Adds::pairs) return;
  divisor_column_ = reading.number_of(asked.statistic.divisor);
  divisor_range_.emplace(*dataset.column(asked.statistic.divisor));
  for (std::size_t cell = 0; cell < asked.cells; ++cell) divisors_.emplace_back(*divisor_range_, false);
}

void RowTally::take(const RowSelection& selection, RowReading& reading) {
  const std::size_t cell = selection.cell();
  switch (adds_) {
    case Adds::rows:
      ++rows_[cell];
      return;
    case Adds::units:
      return add_unit(selection);
    case Adds::moments:
      return moments_[cell].add(reading.cell(column_));
    case Adds::pairs:
      return add_pair(cell, reading.cell(column_), reading.cell(divisor_column_));
    case Adds::candidates:
      if (const auto& candidate = candidate_->of(reading.cell(column_), reading.row()))
        nearest_->add(cell, *candidate);
      return;
    case Adds::counted:
    case Adds::distinct:
      return add_counted(cell, reading);
  }
}

void RowTally::add_left_out() {
  if (adds_ == Adds::rows) ++rows_[0];
  if (adds_ == Adds::moments) moments_[0].add_stand_in();
}

void RowTally::add_pair(std::size_t cell, const Cell& value, const Cell& divisor) {
  if (lacks(value, *range_) || lacks(divisor, *divisor_range_)) return;
  moments_[cell].add(value);
  divisors_[cell].add(divisor);
}

void RowTally::add_counted(std::size_t cell, RowReading& reading) {
  const std::optional<std::size_t> place = counted_->find(reading);
  if (!place) return;
  if (adds_ == Adds::counted) {
    ++rows_[cell * counted_->places() + *place];
  } else if (seen_->insert(cell, *place)) {
    ++rows_[cell];
  }
}

void RowTally::add_unit(const RowSelection& selection) {
  const auto count = [&](std::size_t cell) {
    if (is_new_unit(selection, cell)) ++rows_[cell];
  };
  if (!margins_) return count(selection.cell());
  for (const accounting::TableMargins::Margin& margin : margins_->all())
    count(margin.first + margins_->within(margins_->table(), margin, selection.cell()));
}

bool RowTally::is_new_unit(const RowSelection& selection, std::size_t cell) {
  const RowRules& rules = selection.rules();
  if (!rules.has_unit()) return true;
  if (!selection.grouped()) return rules.admission().first;
  return seen_->insert(rules.admission().unit, cell);
}

Rational RowTally::value(Quantity quantity, const Rational& centre, std::size_t cell) const {
  switch (quantity) {
    // A mean divides by the values there were, not by the rows they were missing from.
    case Quantity::rows_of_value:
    case Quantity::distinct:
    case Quantity::units:
    case Quantity::rows:
      return moments_.empty() ? rational_of_rows(rows_[cell]) : moments_[cell].count();
    case Quantity::denominator:
      return divisors_[cell].sum_about(0);
    case Quantity::numerator:
    case Quantity::sum:
      return moments_[cell].sum_about(0);
    case Quantity::sum_about_centre:
      return moments_[cell].sum_about(centre);
    case Quantity::squares_about_centre:
      return moments_[cell].squares_about(centre);
    case Quantity::mean:
      return centre + moments_[cell].sum_about(centre) / moments_[cell].count();
    case Quantity::variance: {
      const Rational mean_about = moments_[cell].sum_about(centre) / moments_[cell].count();
      return moments_[cell].squares_about(centre) / moments_[cell].count() - mean_about * mean_about;
    }
    case Quantity::supplied:
    case Quantity::quantile:
      break;
  }
  EPSILOG_INVARIANT(false);
  return 0;
}

}  // namespace epsilog::engine
