// Data sets in memory and small datasets to ask about them, for tests of the rows and statistics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "row_answer.hpp"

namespace epsilog::test {

/// One record: its cells in the order of MemoryTable::columns; empty: a malformed line.
using MemoryRow = std::vector<std::string>;

struct MemoryTable {
  std::vector<std::string> columns;
  std::vector<MemoryRow> rows;
};

class MemorySource final : public engine::RowSource {
 public:
  MemorySource(const MemoryTable& table, const std::vector<std::string>& wanted) : table_(table) {
    for (const std::string& column : wanted) {
      std::size_t place = 0;
      while (table.columns.at(place) != column) ++place;
      places_.push_back(place);
    }
  }

  Record next(std::span<engine::RawCell> cells) override {
    if (at_ == table_.rows.size()) return Record::none;
    const MemoryRow& row = table_.rows[at_++];
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = row.empty() ? engine::RawCell{} : engine::RawCell{row[places_[i]], row[places_[i]].empty()};
    }
    return row.empty() ? Record::malformed : Record::readable;
  }
  [[nodiscard]] double fraction_read() const override { return 0; }

 private:
  const MemoryTable& table_;
  std::vector<std::size_t> places_;
  std::size_t at_ = 0;
};

inline engine::Question question(const std::string& statistic, const std::string& by = "",
                                 const std::string& where = "") {
  return engine::parse_question(statistic, by.empty() ? std::nullopt : std::optional(by),
                                where.empty() ? std::nullopt : std::optional(where));
}

/// values[component][cell]
inline std::vector<std::vector<engine::Rational>> answer(const MemoryTable& table,
                                                         const engine::Dataset& dataset,
                                                         const engine::Question& asked) {
  MemorySource source(table, engine::wanted_columns(dataset, asked));
  return engine::answer_rows(source, dataset, asked, engine::derive(dataset, asked), {}).values;
}

inline engine::Column number_column(const std::string& name, engine::ColumnType type,
                                    const engine::Rational& lower, const engine::Rational& upper,
                                    unsigned scale = 0) {
  engine::Column column;
  column.name = name;
  column.type = type;
  column.scale = scale;
  column.bounds = engine::Bounds{lower, upper};
  return column;
}

inline engine::Column value_column(const std::string& name, engine::ColumnType type,
                                   const std::vector<std::string>& values) {
  engine::Column column;
  column.name = name;
  column.type = type;
  column.values = values;
  return column;
}

/// Visits of patients: unit `id`, age int [0, 110], cost decimal(2) [0, 5000], score double [-1, 1],
/// ward A B C, smoker bool, seen date; at most 100 rows, 2 per patient, add-remove.
inline engine::Dataset visits() {
  using engine::ColumnType;
  engine::Dataset dataset;
  dataset.name = "clinic";
  dataset.csv.emplace();
  dataset.csv->path = "visits.csv";
  dataset.csv->null = {"NA"};
  dataset.unit = {"id", 2};
  dataset.rows = {100, false};
  dataset.columns = {number_column("age", ColumnType::integer, 0, 110),
                     number_column("cost", ColumnType::decimal, 0, 5000, 2),
                     number_column("score", ColumnType::real, -1, 1),
                     value_column("ward", ColumnType::string, {"A", "B", "C"}),
                     value_column("smoker", ColumnType::boolean, {"false", "true"}),
                     value_column("seen", ColumnType::date, {"2024-01-31", "2024-02-29"})};
  return dataset;
}

inline const std::vector<std::string> kVisitColumns = {"id",   "age",    "cost", "score",
                                                       "ward", "smoker", "seen"};

}  // namespace epsilog::test
