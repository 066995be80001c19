#include "row_answer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "column_candidates.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/table_margins.hpp"
#include "row_progress.hpp"
#include "row_reading.hpp"
#include "row_selection.hpp"
#include "row_tally.hpp"

namespace epsilog::engine {
namespace {

/// Several quantiles are asked of each; of a proportion each cell has two.
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

/// [cell] of the component with that index: with totals, of the margin with it.
std::vector<Rational> values_of(const RowTally& tally, const Derivation& derivation, std::size_t index) {
  const Component::Quantity quantity = derivation.components[index].quantity;
  const auto value = [&](std::size_t cell) { return tally.value(quantity, derivation.centre, cell); };
  std::vector<Rational> values;
  const std::optional<accounting::TableMargins> margins = margins_of(derivation);
  if (!margins) {
    for (std::size_t cell = 0; cell < tally.cells(); ++cell) values.push_back(value(cell));
    return values;
  }
  const accounting::TableMargins::Margin& margin = margins->all().at(index);
  if (quantity == Component::Quantity::units) {
    for (std::uint64_t cell = 0; cell < margin.cells; ++cell) values.push_back(value(margin.first + cell));
    return values;
  }
  values.resize(margin.cells);
  for (std::size_t cell = 0; cell < tally.cells(); ++cell)
    values[margins->within(margins->table(), margin, cell)] += value(cell);
  return values;
}

/// Of units that are counted in margins too: who is in several cells is no sum of theirs.
std::optional<accounting::TableMargins> units_margins_of(const DerivedQuestion& asked) {
  return asked.question.statistic.kind == StatisticKind::units ? margins_of(asked.derivation) : std::nullopt;
}

bool keeps_all_places(const Dataset& dataset, const Question& question) {
  return dataset.rows.exact && question.by.empty() && !question.where &&
         !counts_cells(question.statistic.kind) && question.statistic.kind != StatisticKind::ratio;
}

/// The questions on their way through the rows: each has a tally, which it shares with those that add up the
/// same of the same rows.
class Answering {
 public:
  Answering(const Dataset& dataset, std::span<const DerivedQuestion> questions,
            const std::vector<std::string>& columns)
      : reading_(dataset, columns), selections_(dataset, columns, reading_) {
    std::vector<Shared> shared;
    for (const DerivedQuestion& asked : questions) add(asked, shared);
    for (const Shared& one : shared) {
      const Question& question = one.asked->question;
      tallies_.emplace_back(
          dataset,
          RowTally::Asked{question.statistic, cells_of(one.asked->derivation), units_margins_of(*one.asked),
                          one.with_squares, keeps_all_places(dataset, question),
                          candidates_of_rows(dataset, question.statistic)},
          reading_);
      if (one.selection >= of_selection_.size()) of_selection_.resize(one.selection + 1);
      of_selection_[one.selection].push_back(&tallies_.back());
    }
  }

  void take(std::span<const RawCell> cells, UnitOfRow& unit) {
    reading_.begin(cells);
    selections_.take(unit);
    for (std::size_t i = 0; i < of_selection_.size(); ++i) {
      const RowSelection& selection = selections_.at(i);
      if (selection.kept()) {
        for (RowTally* tally : of_selection_[i]) tally->take(selection, reading_);
      } else {
        for (RowTally* tally : of_selection_[i]) tally->take_left_out();
      }
    }
  }

  [[nodiscard]] ExactAnswer answer(std::size_t question, const DerivedQuestion& asked) const {
    const RowTally& tally = tallies_[tally_of_[question]];
    ExactAnswer result;
    if (asked.question.statistic.kind == StatisticKind::quantile) {
      result.counts = tally.counts();
      return result;
    }
    for (std::size_t i = 0; i < asked.derivation.components.size(); ++i)
      result.values.push_back(values_of(tally, asked.derivation, i));
    return result;
  }

 private:
  struct Shared {
    std::size_t selection;
    std::string sums;
    const DerivedQuestion* asked;  ///< one of those that have it
    bool with_squares;
  };

  void add(const DerivedQuestion& asked, std::vector<Shared>& shared) {
    const std::size_t selection = selections_.number_of(asked.question);
    const bool with_squares = asked.question.statistic.kind == StatisticKind::variance;
    std::string sums = added_up(asked.question.statistic);
    if (units_margins_of(asked)) sums += " with totals";
    const auto known = std::find_if(shared.begin(), shared.end(), [&](const Shared& one) {
      return one.selection == selection && one.sums == sums;
    });
    tally_of_.push_back(static_cast<std::size_t>(known - shared.begin()));
    if (known == shared.end()) {
      shared.push_back({selection, std::move(sums), &asked, with_squares});
    } else {
      known->with_squares |= with_squares;
    }
  }

  std::shared_ptr<RowCandidate> candidates_of_rows(const Dataset& dataset, const Statistic& statistic) {
    if (statistic.kind != StatisticKind::quantile) return nullptr;
    std::shared_ptr<RowCandidate>& known = candidates_[statistic.subject];
    if (!known) {
      const Column& column = *dataset.column(statistic.subject);
      known = std::make_shared<RowCandidate>(column, candidates_of(column));
    }
    return known;
  }

  RowReading reading_;
  RowSelections selections_;
  std::map<std::string, std::shared_ptr<RowCandidate>> candidates_;  ///< by column
  std::deque<RowTally> tallies_;                                     ///< which stay where they are
  std::vector<std::vector<RowTally*>> of_selection_;                 ///< by its number
  std::vector<std::size_t> tally_of_;                                ///< by question
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
  Answering answering(dataset, questions, columns);
  std::vector<RawCell> cells(columns.size());
  UnitTable units;
  ScanProgress told(progress);
  std::uint64_t count = 0;
  while (rows.next(cells) != RowSource::Record::none) {
    ++count;
    UnitOfRow unit(units, cells.empty() ? std::string_view() : cells[0].text);
    answering.take(cells, unit);
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
  for (std::size_t i = 0; i < questions.size(); ++i) answers.push_back(answering.answer(i, questions[i]));
  return answers;
}

ExactAnswer answer_rows(RowSource& rows, const Dataset& dataset, const Question& question,
                        const Derivation& derivation, const Progress& progress) {
  const DerivedQuestion one{question, derivation};
  return std::move(answer_rows(rows, dataset, {&one, 1}, progress).front());
}

}  // namespace epsilog::engine
