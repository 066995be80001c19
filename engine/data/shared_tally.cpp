#include "shared_tally.hpp"

#include <algorithm>
#include <optional>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/table_margins.hpp"

namespace epsilog::engine {
namespace {

/// Most cells that are joined, and most counters of a tally in joint cells: more would not stay near.
constexpr std::size_t kJointCellsMax = 256;
constexpr std::size_t kJointCountersMax = std::size_t{1} << 16;
/// Most counters of all values in all cells, where the statistic itself may tell fewer apart: a batch has a
/// thousand questions, and each may have a condition of its own.
constexpr std::size_t kValueCountersMax = std::size_t{1} << 12;

/// Of the answer's table: of several quantiles each is asked of each cell.
std::size_t cells_of(const Derivation& derivation) {
  const auto& quantiles = derivation.components.front().quantiles;
  if (quantiles) return static_cast<std::size_t>(quantiles->cells);
  return std::max<std::size_t>(derivation.cells.table_size(), 1);
}

/// Of a table with totals; none of another answer.
std::optional<accounting::TableMargins> margins_of(const Derivation& derivation) {
  return derivation.cells.has_totals() ? std::optional(derivation.cells.margins()) : std::nullopt;
}

/// Of units that are counted in margins too: who is in several cells is no sum of theirs.
std::optional<accounting::TableMargins> units_margins_of(const DerivedQuestion& asked) {
  return asked.question.statistic.kind == StatisticKind::units ? margins_of(asked.derivation) : std::nullopt;
}

bool must_keep_row_count(const Dataset& dataset, const Question& question) {
  return dataset.rows.exact && question.by.empty() && !question.where &&
         !counts_cells(question.statistic.kind) && question.statistic.kind != StatisticKind::ratio;
}

}  // namespace

bool JointCells::has(const RowSelection& selection) const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [&selection](const Axis& axis) { return axis.selection == &selection; });
}

std::size_t JointCells::size() const {
  if (!joint()) return axes_.front().cells;
  return axes_.back().stride * (axes_.back().cells + 1);
}

std::size_t JointCells::size_with(std::size_t cells) const {
  return axes_.back().stride * (axes_.back().cells + 1) * (cells + 1);
}

void JointCells::add(const RowSelection& selection, std::size_t cells) {
  axes_.push_back({&selection, cells, axes_.back().stride * (axes_.back().cells + 1)});
}

std::vector<std::size_t> JointCells::of_cell(const RowSelection& selection, std::size_t cell) const {
  const auto axis = std::find_if(axes_.begin(), axes_.end(),
                                 [&selection](const Axis& one) { return one.selection == &selection; });
  EPSILOG_INVARIANT(axis != axes_.end());
  if (!joint()) return {cell};
  std::vector<std::size_t> parts;
  for (std::size_t place = 0; place < size(); ++place) {
    if (place / axis->stride % (axis->cells + 1) == cell) parts.push_back(place);
  }
  return parts;
}

SharedTally::SharedTally(const Dataset& dataset, const DerivedQuestion& asked, const RowSelection& selection,
                         std::uint64_t candidates)
    : asked_(&asked),
      cells_(selection, cells_of(asked.derivation)),
      counters_(candidates),
      keeps_row_count_(must_keep_row_count(dataset, asked.question)) {
  const Question& question = asked.question;
  const StatisticKind kind = question.statistic.kind;
  if (counts_cells(kind)) {
    const std::size_t places = dataset.column(question.statistic.subject)->values.size() + 1;
    if (cells_.size() <= kValueCountersMax / places) by_ = CountedCells::By::every_value;
    counters_ = by_ == CountedCells::By::every_value ? places : 2;
  }
  sums_ = sharing_key(question.statistic, by_);
  if (units_margins_of(asked)) sums_ += " with totals";
  const bool distinct_alone = kind == StatisticKind::distinct && by_ == CountedCells::By::statistic;
  joins_ = kind != StatisticKind::units && !distinct_alone && !keeps_row_count_;
  with_squares_ = kind == StatisticKind::variance;
}

bool SharedTally::takes(const SharedTally& other) {
  if (other.sums_ != sums_) return false;
  const RowSelection& selection = other.cells_.selection();
  if (!cells_.has(selection)) {
    const std::size_t joint = cells_.size_with(other.cells_.size());
    if (!joins_ || !other.joins_ || joint > kJointCellsMax || joint > kJointCountersMax / counters_ ||
        !selection.same_condition(cells_.selection()))
      return false;
    cells_.add(selection, other.cells_.size());
  }
  with_squares_ = with_squares_ || other.with_squares_;
  return true;
}

void SharedTally::make(const Dataset& dataset, const std::shared_ptr<RowCandidate>& candidate,
                       RowReading& reading) {
  const Question& question = asked_->question;
  tally_ = std::make_unique<RowTally>(
      dataset,
      RowTally::TallySpec{question.statistic, cells_.size(), units_margins_of(*asked_), by_, with_squares_,
                          keeps_row_count_, candidate},
      reading);
}

ExactAnswer SharedTally::answer(const DerivedQuestion& asked, const RowSelection& selection) const {
  ExactAnswer result;
  if (asked.question.statistic.kind == StatisticKind::quantile) {
    result.counts = counts(asked, selection);
    return result;
  }
  for (std::size_t i = 0; i < asked.derivation.components.size(); ++i)
    result.values.push_back(values(asked, selection, i));
  return result;
}

SharedTally::Counts SharedTally::counts(const DerivedQuestion& asked, const RowSelection& selection) const {
  if (!cells_.joint()) return tally_->counts();
  Counts result;
  for (std::size_t cell = 0; cell < cells_of(asked.derivation); ++cell)
    result.push_back(tally_->counts_of(cells_.of_cell(selection, cell)));
  return result;
}

/// [cell] of the component with that index: with totals, of the margin with it.
std::vector<Rational> SharedTally::values(const DerivedQuestion& asked, const RowSelection& selection,
                                          std::size_t index) const {
  const Derivation& derivation = asked.derivation;
  const Component::Quantity quantity = derivation.components[index].quantity;
  const std::optional<accounting::TableMargins> margins = margins_of(derivation);
  if (!margins) return values_of_table(asked, selection, quantity);
  const accounting::TableMargins::Margin& margin = margins->all().at(index);
  std::vector<Rational> values(margin.cells);
  if (quantity == Component::Quantity::units) {
    for (std::size_t cell = 0; cell < margin.cells; ++cell) {
      const std::size_t place = margin.first + cell;
      values[cell] = tally_->value(quantity, derivation.centre, {&place, 1});
    }
    return values;
  }
  const std::vector<Rational> table = values_of_table(asked, selection, quantity);
  for (std::size_t cell = 0; cell < table.size(); ++cell)
    values[margins->within(margins->table(), margin, cell)] += table[cell];
  return values;
}

/// Of a proportion two a cell: rows with the value, and then those with another.
std::vector<Rational> SharedTally::values_of_table(const DerivedQuestion& asked,
                                                   const RowSelection& selection,
                                                   Component::Quantity quantity) const {
  const Statistic& statistic = asked.question.statistic;
  std::vector<Rational> values;
  for (std::size_t cell = 0; cell < cells_of(asked.derivation); ++cell) {
    const std::vector<std::size_t> parts = cells_.of_cell(selection, cell);
    if (!counts_cells(statistic.kind)) {
      values.push_back(tally_->value(quantity, asked.derivation.centre, parts));
      continue;
    }
    values.push_back(tally_->counted(statistic, true, parts));
    if (statistic.kind == StatisticKind::proportion)
      values.push_back(tally_->counted(statistic, false, parts));
  }
  return values;
}

}  // namespace epsilog::engine
