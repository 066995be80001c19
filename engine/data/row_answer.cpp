#include "row_answer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "column_candidates.hpp"
#include "epsilog/accounting/errors.hpp"
#include "row_progress.hpp"
#include "row_reading.hpp"
#include "row_selection.hpp"
#include "shared_tally.hpp"

namespace epsilog::engine {
namespace {

/// The questions on their way through the rows.
class Answering {
 public:
  Answering(const Dataset& dataset, std::span<const DerivedQuestion> questions,
            const std::vector<std::string>& columns)
      : reading_(dataset, columns), selections_(dataset, columns, reading_) {
    for (const DerivedQuestion& asked : questions) add(dataset, asked);
    for (SharedTally& tally : tallies_) {
      tally.make(dataset, candidates_of_rows(dataset, tally.statistic()), reading_);
      InCells& in = tallies_in(tally.cells());
      in.tallies.at(static_cast<std::size_t>(tally.tally().tally_kind())).push_back(&tally.tally());
      in.some_keeps_row_count = in.some_keeps_row_count || tally.keeps_row_count();
    }
  }

  void take(std::span<const RawCell> cells, UnitOfRow& unit) {
    reading_.begin(cells);
    selections_.take(unit);
    for (const InCells& in : by_cells_) {
      const std::size_t cell = in.cells.of_row();
      if (cell != kNoIndex) {
        take_of_each_kind(in, cell, std::make_index_sequence<RowTally::kTallyKinds>());
      } else if (in.some_keeps_row_count) {
        for (const auto& of_kind : in.tallies) {
          for (RowTally* tally : of_kind) tally->take_left_out();
        }
      }
    }
  }

  [[nodiscard]] ExactAnswer answer(std::size_t question, const DerivedQuestion& asked) const {
    return tallies_[tally_of_[question]].answer(asked, *selection_of_[question]);
  }

 private:
  /// Those that are in the same cell of each row.
  struct InCells {
    JointCells cells;
    std::array<std::vector<RowTally*>, RowTally::kTallyKinds> tallies;  ///< [RowTally::TallyKind]
    bool some_keeps_row_count;
  };

  template <std::size_t... kHow>
  void take_of_each_kind(const InCells& in, std::size_t cell, std::index_sequence<kHow...>) {
    const auto take = [&]<std::size_t kOne>() {
      for (RowTally* tally : in.tallies[kOne])
        tally->take<static_cast<RowTally::TallyKind>(kOne)>(cell, in.cells.selection(), reading_);
    };
    (take.template operator()<kHow>(), ...);
  }

  void add(const Dataset& dataset, const DerivedQuestion& asked) {
    const RowSelection& selection = selections_.at(selections_.number_of(asked.question));
    const auto candidate = candidates_of_rows(dataset, asked.question.statistic);
    SharedTally tally(dataset, asked, selection, candidate ? candidate->count() : 1);
    const auto known = std::find_if(tallies_.begin(), tallies_.end(),
                                    [&tally](SharedTally& one) { return one.takes(tally); });
    tally_of_.push_back(static_cast<std::size_t>(known - tallies_.begin()));
    selection_of_.push_back(&selection);
    if (known == tallies_.end()) tallies_.push_back(std::move(tally));
  }

  InCells& tallies_in(const JointCells& cells) {
    for (InCells& known : by_cells_) {
      if (known.cells == cells) return known;
    }
    by_cells_.push_back({cells, {}, false});
    return by_cells_.back();
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
  std::vector<SharedTally> tallies_;
  std::vector<InCells> by_cells_;
  std::vector<std::size_t> tally_of_;              ///< by question
  std::vector<const RowSelection*> selection_of_;  ///< likewise
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
                      std::to_string(dataset.rows.count) + " rows, as `rows: {exact: N}` declares" +
                      (dataset.csv ? "; an empty line is a row too, at the end of the file as well" : ""));
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
