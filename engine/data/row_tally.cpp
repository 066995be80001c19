#include "row_tally.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

std::size_t place_among_declared(const Column& column, const std::string& value) {
  const auto found = std::find(column.values.begin(), column.values.end(), value);
  EPSILOG_INVARIANT(found != column.values.end());
  return static_cast<std::size_t>(found - column.values.begin());
}

using Quantity = Component::Quantity;

Rational rational_of_rows(std::uint64_t count) {
  return Rational(to_integer(static_cast<Int128>(count)));
}

bool lacks(const Cell& cell, const ColumnRange& range) {
  return cell.missing && !range.stand_in;
}

}  // namespace

CountedCells::CountedCells(const Dataset& dataset, const Statistic& statistic, By by, RowReading& reading)
    : by_(by),
      declared_(*dataset.column(statistic.subject)),
      has_stand_in_(declared_.missing.has_value()),
      column_(reading.number_of(statistic.subject)) {
  if (by == By::every_value) {
    category_count_ = declared_.values.size() + 1;
  } else if (statistic.kind == StatisticKind::proportion) {
    value_ = place_among_declared(declared_, statistic.value);
    category_count_ = 2;
  } else if (statistic.kind == StatisticKind::distinct) {
    declared_only_ = true;
    category_count_ = declared_.values.size();
  }
}

std::size_t CountedCells::category_of(const std::string& value) const {
  return by_ == By::statistic ? 0 : place_among_declared(declared_, value);
}

std::string sharing_key(const Statistic& statistic, CountedCells::By by) {
  switch (statistic.kind) {
    case StatisticKind::sum:
    case StatisticKind::mean:
    case StatisticKind::variance:
      return std::string(name(StatisticKind::sum)) + ":" + statistic.subject;
    case StatisticKind::quantile:
      return std::string(name(StatisticKind::quantile)) + ":" + statistic.subject;
    case StatisticKind::count_of:
    case StatisticKind::proportion:
    case StatisticKind::distinct:
      if (by == CountedCells::By::every_value)
        return std::string(name(StatisticKind::distinct)) + ":" + statistic.subject;
      return "alone " + statistic.text();
    case StatisticKind::count:
    case StatisticKind::units:
    case StatisticKind::ratio:
      return statistic.text();
    case StatisticKind::value:
    case StatisticKind::private_variance:
      break;
  }
  EPSILOG_INVARIANT(false);
  return "";
}

RowTally::TallyKind RowTally::tally_kind_of(StatisticKind kind, CountedCells::By by) {
  switch (kind) {
    case StatisticKind::count:
      return TallyKind::rows;
    case StatisticKind::units:
      return TallyKind::units;
    case StatisticKind::sum:
    case StatisticKind::mean:
    case StatisticKind::variance:
      return TallyKind::moments;
    case StatisticKind::ratio:
      return TallyKind::pairs;
    case StatisticKind::quantile:
      return TallyKind::candidates;
    case StatisticKind::count_of:
    case StatisticKind::proportion:
      return TallyKind::counted;
    case StatisticKind::distinct:
      return by == CountedCells::By::every_value ? TallyKind::counted : TallyKind::distinct;
    case StatisticKind::value:
    case StatisticKind::private_variance:
      break;
  }
  EPSILOG_INVARIANT(false);
  return TallyKind::rows;
}

RowTally::RowTally(const Dataset& dataset, const TallySpec& asked, RowReading& reading)
    : tally_kind_(tally_kind_of(asked.statistic.kind, asked.by)),
      keeps_row_count_(asked.keeps_row_count),
      margins_(asked.margins),
      rows_(margins_ ? margins_->cells() : asked.cells) {
  if (tally_kind_ == TallyKind::units) seen_.emplace(rows_.size());
  if (!is_about_column(asked.statistic.kind)) return;
  column_ = reading.number_of(asked.statistic.subject);
  if (counts_cells(asked.statistic.kind)) {
    counted_.emplace(dataset, asked.statistic, asked.by, reading);
    if (tally_kind_ == TallyKind::distinct) {
      seen_.emplace(counted_->category_count());
    } else {
      rows_.resize(asked.cells * counted_->category_count());
    }
    return;
  }
  if (tally_kind_ == TallyKind::candidates) {
    candidate_ = asked.candidate;
    nearest_.emplace(asked.cells, candidate_->count());
    return;
  }
  range_.emplace(*dataset.column(asked.statistic.subject));
  for (std::size_t cell = 0; cell < asked.cells; ++cell) moments_.emplace_back(*range_, asked.with_squares);
  if (tally_kind_ != TallyKind::pairs) return;
  divisor_column_ = reading.number_of(asked.statistic.divisor);
  divisor_range_.emplace(*dataset.column(asked.statistic.divisor));
  for (std::size_t cell = 0; cell < asked.cells; ++cell) divisors_.emplace_back(*divisor_range_, false);
}

void RowTally::add_left_out() {
  if (tally_kind_ == TallyKind::rows) ++rows_[0];
  if (tally_kind_ == TallyKind::moments) moments_[0].add_stand_in();
}

void RowTally::add_pair(std::size_t cell, const Cell& value, const Cell& divisor) {
  if (lacks(value, *range_) || lacks(divisor, *divisor_range_)) return;
  moments_[cell].add(value);
  divisors_[cell].add(divisor);
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

Rational RowTally::counted(const Statistic& statistic, bool with_value, Cells cells) const {
  const std::size_t category_count = tally_kind_ == TallyKind::distinct ? 1 : counted_->category_count();
  const auto rows_at = [&](std::size_t place) {
    std::uint64_t rows = 0;
    for (const std::size_t cell : cells) rows += rows_[cell * category_count + place];
    return rows;
  };
  if (tally_kind_ == TallyKind::distinct) return rational_of_rows(rows_at(0));
  std::uint64_t all = 0;
  std::uint64_t different = 0;  // the last place is of values that are not declared
  for (std::size_t place = 0; place < category_count; ++place) {
    all += rows_at(place);
    if (place + 1 < category_count && rows_at(place) > 0) ++different;
  }
  if (statistic.kind == StatisticKind::distinct) return rational_of_rows(different);
  if (statistic.kind == StatisticKind::count_of) return rational_of_rows(all);
  const std::size_t place = counted_->category_of(statistic.value);
  return rational_of_rows(with_value ? rows_at(place) : all - rows_at(place));
}

Rational RowTally::value(Quantity quantity, const Rational& centre, Cells cells) const {
  const auto sum = [&cells](const auto& of_cell) {
    Rational all = 0;
    for (const std::size_t cell : cells) all += of_cell(cell);
    return all;
  };
  const auto rows = [&] {
    return sum([&](std::size_t cell) {
      return moments_.empty() ? rational_of_rows(rows_[cell]) : moments_[cell].count();
    });
  };
  const auto about = [&](const Rational& from) {
    return sum([&](std::size_t cell) { return moments_[cell].sum_about(from); });
  };
  const auto squares_about_centre = [&] {
    return sum([&](std::size_t cell) { return moments_[cell].squares_about(centre); });
  };
  switch (quantity) {
    // A mean divides by the values there were, not by the rows they were missing from.
    case Quantity::rows_of_value:
    case Quantity::distinct:
    case Quantity::units:
    case Quantity::rows:
      return rows();
    case Quantity::denominator:
      return sum([&](std::size_t cell) { return divisors_[cell].sum_about(0); });
    case Quantity::numerator:
    case Quantity::sum:
      return about(0);
    case Quantity::sum_about_centre:
      return about(centre);
    case Quantity::squares_about_centre:
      return squares_about_centre();
    case Quantity::mean:
      return centre + about(centre) / rows();
    case Quantity::variance: {
      const Rational mean_about = about(centre) / rows();
      return squares_about_centre() / rows() - mean_about * mean_about;
    }
    case Quantity::supplied:
    case Quantity::quantile:
      break;
  }
  EPSILOG_INVARIANT(false);
  return 0;
}

}  // namespace epsilog::engine
