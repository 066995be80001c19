#include "row_answer.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "column_candidates.hpp"
#include "column_moments.hpp"
#include "column_reader.hpp"
#include "counted_cells.hpp"
#include "epsilog/accounting/errors.hpp"
#include "row_filter.hpp"
#include "row_progress.hpp"
#include "row_rules.hpp"

namespace epsilog::engine {
namespace {

using Quantity = Component::Quantity;

/// Several quantiles are asked of one; of a proportion each cell has two.
std::size_t cells_of(const Derivation& derivation) {
  const auto& quantiles = derivation.components.front().quantiles;
  if (quantiles) return static_cast<std::size_t>(quantiles->cells);
  return accounting::values_of_a_cell(derivation.post_processing.kind) *
         std::max<std::size_t>(derivation.cells.table_size(), 1);
}

/// Of a table with totals; none of another answer.
std::optional<accounting::TableMargins> margins_of(const Derivation& derivation) {
  return derivation.cells.has_totals() ? std::optional(derivation.cells.margins()) : std::nullopt;
}

/// Whether values of the column, or of both, are summed or selected among.
bool takes_values(StatisticKind kind) {
  return is_about_column(kind) && !counts_cells(kind);
}

Rational rational(std::uint64_t count) {
  return Rational(to_integer(static_cast<Int128>(count)));
}

/// What is counted and summed in each cell of an answer.
class Tally {
 public:
  Tally(const Dataset& dataset, const Question& question, const Derivation& derivation)
      : cells_(cells_of(derivation)),
        margins_(margins_of(derivation)),
        rows_(cells_),
        units_(margins_ ? margins_->cells() : cells_) {
    if (!takes_values(question.statistic.kind)) return;
    if (question.statistic.kind == StatisticKind::quantile) {
      const Column& column = *dataset.column(question.statistic.subject);
      ColumnCandidates candidates = candidates_of(column);
      nearest_.emplace(cells_, candidates.count);
      finder_.emplace(column, std::move(candidates));
      return;
    }
    range_.emplace(*dataset.column(question.statistic.subject));
    if (question.statistic.kind == StatisticKind::ratio) {
      divisor_range_.emplace(*dataset.column(question.statistic.divisor));
      for (std::size_t cell = 0; cell < cells_; ++cell) divisors_.emplace_back(*divisor_range_, false);
    }
    const bool with_squares = question.statistic.kind == StatisticKind::variance;
    for (std::size_t cell = 0; cell < cells_; ++cell) moments_.emplace_back(*range_, with_squares);
  }
  Tally(const Tally&) = delete;  // the moments point at the ranges
  Tally& operator=(const Tally&) = delete;

  [[nodiscard]] std::size_t cells() const { return cells_; }
  /// So many numbers of units it has: of the cells, and with totals of those of each margin.
  [[nodiscard]] std::size_t units() const { return units_.size(); }
  [[nodiscard]] const std::optional<accounting::TableMargins>& margins() const { return margins_; }
  void add_row(std::size_t cell) { ++rows_[cell]; }
  void add_unit(std::size_t cell) { ++units_[cell]; }
  void add_value(std::size_t cell, const Cell& value) {
    if (!finder_) return moments_[cell].add(value);
    if (const auto candidate = finder_->find(value)) nearest_->add(cell, *candidate);
  }
  /// Of a ratio: a row without one of the two adds nothing to either sum.
  void add_pair(std::size_t cell, const Cell& value, const Cell& divisor) {
    const auto lacks = [](const Cell& one, const ColumnRange& of) { return one.missing && !of.stand_in; };
    if (lacks(value, *range_) || lacks(divisor, *divisor_range_)) return;
    moments_[cell].add(value);
    divisors_[cell].add(divisor);
  }
  /// A row that is not kept has a value only where there must be as many values as rows.
  void add_stand_in(std::size_t cell) {
    if (!finder_) moments_[cell].add_stand_in();
  }

  [[nodiscard]] Rational value(const Component& component, const Rational& centre, std::size_t cell) const {
    switch (component.quantity) {
      // A mean divides by the values there were, not by the rows they were missing from.
      case Quantity::rows_of_value:
      case Quantity::distinct:
      case Quantity::rows:
        return moments_.empty() ? rational(rows_[cell]) : moments_[cell].count();
      case Quantity::units:
        return rational(units_[cell]);
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

  /// [cell] of the component with that index: with totals, of the margin with it.
  [[nodiscard]] std::vector<Rational> values(const Component& component, const Rational& centre,
                                             std::size_t index) const {
    if (margins_ && component.quantity == Quantity::units) return units_of(margins_->all().at(index));
    std::vector<Rational> values(margins_ ? margins_->all().at(index).cells : cells_);
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      const std::size_t in =
          margins_ ? margins_->within(margins_->table(), margins_->all()[index], cell) : cell;
      values[in] += value(component, centre, cell);
    }
    return values;
  }

  /// Of quantiles.
  [[nodiscard]] std::vector<std::vector<mechanisms::CandidateRows>> counts() const {
    return nearest_->counts();
  }

 private:
  /// A unit is in several cells, and once in what they are summed in.
  [[nodiscard]] std::vector<Rational> units_of(const accounting::TableMargins::Margin& margin) const {
    std::vector<Rational> values;
    for (std::uint64_t cell = 0; cell < margin.cells; ++cell)
      values.push_back(rational(units_[margin.first + cell]));
    return values;
  }

  std::size_t cells_;
  std::optional<accounting::TableMargins> margins_;  ///< of a table with totals
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> units_;
  std::optional<ColumnRange> range_;
  std::vector<ColumnMoments> moments_;
  std::optional<ColumnRange> divisor_range_;  ///< of a ratio, as is the next
  std::vector<ColumnMoments> divisors_;
  std::optional<CandidateFinder> finder_;  ///< of quantiles, as is the next
  std::optional<CandidateTally> nearest_;
};

/// Tallies the rows that are kept under the cells of the answer to which they belong.
class Scan {
 public:
  Scan(const Dataset& dataset, const Question& question, const std::vector<std::string>& columns,
       Tally& tally)
      : tally_(tally),
        rules_(dataset, columns),
        keeps_all_places_(dataset.rows.exact && question.by.empty() && !question.where &&
                          !counts_cells(question.statistic.kind) &&
                          question.statistic.kind != StatisticKind::ratio),
        counts_units_(question.statistic.kind == StatisticKind::units) {
    if (question.where) filter_ = RowFilter(dataset, *question.where, columns, CellDialect::of(dataset));
    for (const std::string& by : question.by) {
      const Column& column = *dataset.column(by);
      groups_.push_back({place_of(columns, dataset.read_from(column.name)), ColumnReader::of(dataset, column),
                         DeclaredValues(column), column.values.size()});
    }
    if (counts_cells(question.statistic.kind)) {
      counted_.emplace(dataset, question.statistic, columns);
      each_value_once_ = question.statistic.kind == StatisticKind::distinct;
    } else if (is_about_column(question.statistic.kind)) {
      value_ = value_of(dataset, question.statistic.subject, columns);
      if (question.statistic.kind == StatisticKind::ratio)
        divisor_ = value_of(dataset, question.statistic.divisor, columns);
    }
  }

  void take(std::span<const RawCell> cells, UnitOfRow& unit) {
    std::size_t cell = 0;
    const auto asked = [&] { return find_cell(cells, cell) && filter_.keeps(cells); };
    if (rules_.fate(cells, unit, asked) == RowRules::Fate::kept) {
      if (counted_) return count_cell(cell, cells);
      tally_.add_row(cell);
      if (counts_units_) count_unit(cell);
      if (divisor_) {
        tally_.add_pair(cell, value_->read(cells), divisor_->read(cells));
      } else if (value_) {
        tally_.add_value(cell, value_->read(cells));
      }
    } else if (keeps_all_places_) {
      tally_.add_row(0);
      if (value_) tally_.add_stand_in(0);
    }
  }

 private:
  struct Group {
    std::size_t place;
    ColumnReader reader;
    DeclaredValues values;
    std::size_t size;
  };
  struct Value {
    std::size_t place;
    CellReader reader;

    [[nodiscard]] Cell read(std::span<const RawCell> cells) const { return reader.read(cells[place]); }
  };
  static Value value_of(const Dataset& dataset, const std::string& name,
                        const std::vector<std::string>& columns) {
    const Column& column = *dataset.column(name);
    return {place_of(columns, column.name), CellReader::of(dataset, column)};
  }

  /// False if the row belongs to no cell of the answer.
  bool find_cell(std::span<const RawCell> cells, std::size_t& cell) const {
    cell = 0;
    for (const Group& group : groups_) {
      const auto found = group.values.find(group.reader.read(cells[group.place]));
      if (!found) return false;
      cell = cell * group.size + *found;
    }
    return true;
  }

  /// Of distinct the first row of each value in each cell, of a proportion the rows of either kind.
  void count_cell(std::size_t cell, std::span<const RawCell> cells) {
    const std::optional<std::size_t> place = counted_->find(cells);
    if (!place) return;
    if (!each_value_once_) return tally_.add_row(cell * counted_->places() + *place);
    if (seen_.insert(*place * tally_.cells() + cell)) tally_.add_row(cell);
  }

  /// In the cell, and with totals in each in which that is summed.
  void count_unit(std::size_t cell) {
    const auto& margins = tally_.margins();
    if (!margins) return count_unit_once(cell);
    for (const accounting::TableMargins::Margin& margin : margins->all())
      count_unit_once(margin.first + margins->within(margins->table(), margin, cell));
  }
  void count_unit_once(std::size_t cell) {
    if (is_new_in(cell)) tally_.add_unit(cell);
  }

  bool is_new_in(std::size_t cell) {
    if (!rules_.has_unit()) return true;
    if (groups_.empty()) return rules_.admission().first;
    return seen_.insert(rules_.admission().unit * tally_.units() + cell);
  }

  Tally& tally_;
  RowRules rules_;
  bool keeps_all_places_;
  bool counts_units_;
  bool each_value_once_ = false;
  NumberSet seen_;  ///< (unit, cell) pairs, for units by group; (value, cell) pairs, for distinct
  RowFilter filter_;
  std::vector<Group> groups_;
  std::optional<Value> value_;
  std::optional<Value> divisor_;  ///< of a ratio
  std::optional<CountedCells> counted_;
};

/// One question on its way through the rows.
struct Answering {
  Answering(const Dataset& dataset, const DerivedQuestion& one, const std::vector<std::string>& columns)
      : asked(one),
        tally(dataset, one.question, one.derivation),
        scan(dataset, one.question, columns, tally) {}

  [[nodiscard]] ExactAnswer answer() const {
    ExactAnswer result;
    if (asked.question.statistic.kind == StatisticKind::quantile) {
      result.counts = tally.counts();
      return result;
    }
    const std::vector<Component>& components = asked.derivation.components;
    for (std::size_t i = 0; i < components.size(); ++i)
      result.values.push_back(tally.values(components[i], asked.derivation.centre, i));
    return result;
  }

  const DerivedQuestion& asked;
  Tally tally;
  Scan scan;
};

/// In the order in which they are first wanted.
class WantedColumns {
 public:
  explicit WantedColumns(const Dataset& dataset) : dataset_(dataset) {
    if (!dataset.unit.is_row()) want(dataset.unit.id);
    if (dataset.blocks) want(dataset.blocks->by);
  }

  void of(const Question& question) {
    for (const std::string& column : aggregated_columns(question.statistic)) want(column);
    for (const std::string& by : question.by) want(by);
    if (!question.where) return;
    for (const Comparison& comparison : question.where->comparisons()) want(comparison.column);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(columns_); }

 private:
  void want(const std::string& asked) {
    const std::string& column = dataset_.read_from(asked);
    if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) columns_.push_back(column);
  }

  const Dataset& dataset_;
  std::vector<std::string> columns_;
};

}  // namespace

std::vector<std::string> wanted_columns(const Dataset& dataset, std::span<const DerivedQuestion> questions) {
  WantedColumns wanted(dataset);
  for (const DerivedQuestion& asked : questions) wanted.of(asked.question);
  return wanted.take();
}

std::vector<std::string> wanted_columns(const Dataset& dataset, const Question& question) {
  WantedColumns wanted(dataset);
  wanted.of(question);
  return wanted.take();
}

std::vector<ExactAnswer> answer_rows(RowSource& rows, const Dataset& dataset,
                                     std::span<const DerivedQuestion> questions, const Progress& progress) {
  const std::vector<std::string> columns = wanted_columns(dataset, questions);
  std::deque<Answering> answering;  // which stay where they are: each points into itself
  for (const DerivedQuestion& asked : questions) answering.emplace_back(dataset, asked, columns);
  std::vector<RawCell> cells(columns.size());
  UnitTable units;
  ScanProgress told(progress);
  std::uint64_t count = 0;
  while (rows.next(cells) != RowSource::Record::none) {
    ++count;
    UnitOfRow unit(units, cells.empty() ? std::string_view() : cells[0].text);
    for (Answering& one : answering) one.scan.take(cells, unit);
    told.row(rows);
  }
  told.done();
  // The number found is not repeated: what is not declared about the source is not shown.
  if (dataset.rows.exact && count != dataset.rows.count) {
    throw SourceError("dataset '" + dataset.name + "': the source does not have exactly " +
                      std::to_string(dataset.rows.count) + " rows, as `rows: {exact: N}` declares");
  }
  std::vector<ExactAnswer> answers;
  answers.reserve(questions.size());
  for (const Answering& one : answering) answers.push_back(one.answer());
  return answers;
}

ExactAnswer answer_rows(RowSource& rows, const Dataset& dataset, const Question& question,
                        const Derivation& derivation, const Progress& progress) {
  const DerivedQuestion one{question, derivation};
  return std::move(answer_rows(rows, dataset, {&one, 1}, progress).front());
}

}  // namespace epsilog::engine
