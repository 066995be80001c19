// Which rows a count of cells, a proportion and a count of distinct values look at, and who may not be asked.
#include "checked_rows.hpp"
#include "condition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Values = std::vector<std::vector<Rational>>;

Dataset toy(std::uint64_t max_rows = 3) {
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.csv->null = {"NA"};
  dataset.unit = {"id", max_rows};
  dataset.rows = {100, false};
  dataset.columns = {number_column("x", ColumnType::integer, -2, 6),
                     value_column("g", ColumnType::string, {"A", "B", "C"}),
                     value_column("smoker", ColumnType::boolean, {"false", "true"}),
                     value_column("seven", ColumnType::integer, {"7", "-1"}),
                     value_column("d", ColumnType::date, {"2024-01-31", "2024-02-01"})};
  Column band = value_column("band", ColumnType::string, {"[0,3)", "[3,6)"});
  band.derived.emplace();
  band.derived->from = "x";
  band.derived->bins = {0, 3, 6};
  dataset.columns.push_back(band);
  return dataset;
}

const MemoryTable& table() {
  static const MemoryTable rows{{"id", "x", "g", "smoker", "seven", "d"},
                                {{"p", "1", "A", "1", "007", "2024-01-31"},
                                 {"p", "5", "A", "True", "+7", "2024-02-01"},
                                 {"p", "99", "Z", "no", "3", "2024-02-30"},
                                 {"q", "", "B", "FALSE", "", "2024-01-31"},
                                 {"q", "many", "", "0", "-1", "31.01.2024"},
                                 {},
                                 {"", "4", "C", "true", "7", "2024-01-31"}}};
  return rows;
}

Values of(const char* statistic, const char* by = "", const char* where = "", Dataset dataset = toy()) {
  return answer(table(), dataset, question(statistic, by, where));
}

}  // namespace

TEST_CASE("counted cells: rows that have the cell, shares of those and distinct values are as the table says",
          "[engine][rows][exact]") {
  check_rows(EPSILOG_SOURCE_DIR "/tests/engine/data/counted_cells.tsv", "of", [](const CaseRow& row) {
    std::vector<std::string> components;
    for (const auto& values :
         of(row[1].c_str(), row.at(2).c_str(), row.at(3).c_str(), toy(std::stoull(row.at(4))))) {
      std::string cells;
      for (const Rational& value : values) cells += (cells.empty() ? "" : " ") + accounting::text(value);
      components.push_back(cells);
    }
    return joined(components);
  });
}

TEST_CASE("counted cells: a missing cell with a constant is there, and is the constant",
          "[engine][rows][exact]") {
  Dataset dataset = toy();
  dataset.columns[0].missing = Rational(4);
  CHECK(of("count:x", "", "", dataset) == Values{{5}});
  CHECK(of("count:band", "", "", dataset) == Values{{4}});
  CHECK(of("distinct:band", "", "", dataset) == Values{{2}});
  CHECK(of("proportion:band:[3,6)", "", "", dataset) == Values{{3, 1}});
}

TEST_CASE("counted cells: under exact N only the rows that are kept count", "[engine][rows][exact]") {
  Dataset dataset = toy(1);
  dataset.rows = {table().rows.size(), true};
  dataset.neighbours = Neighbours::replace_one;
  CHECK(of("count:g", "", "", dataset) == Values{{2}});
  CHECK(of("distinct:g", "", "", dataset) == Values{{2}});
  CHECK(of("proportion:g:A", "", "", dataset) == Values{{1, 1}});
}

TEST_CASE("counted cells: who would be told what count tells is told to ask for that",
          "[engine][rows][negative]") {
  const auto door = [](const Dataset& dataset, const char* statistic) {
    require_satisfiable(dataset, question(statistic));
  };
  const auto refused = [&](const Dataset& dataset, const char* statistic, const std::string& why) {
    CAPTURE(statistic, why);
    CHECK_THROWS_WITH(door(dataset, statistic), says(why + "; ask for count"));
    CHECK_THROWS_AS(door(dataset, statistic), InvalidParameter);
  };
  for (const char* asked : {"count:x", "count:g", "count:smoker", "count:seven", "count:d", "count:band"}) {
    CAPTURE(asked);
    CHECK_NOTHROW(door(toy(), asked));
  }
  Dataset constant = toy();
  constant.columns[0].missing = Rational(4);
  refused(constant, "count:x",
          "statistic: no row lacks a cell of column 'x': the policy says what stands for a missing one");
  CHECK_NOTHROW(door(constant, "count:band"));  // 99 has no label all the same
  Dataset labelled = constant;
  Column& map = labelled.columns.back();
  map.derived->bins.clear();
  map.derived->map = {{"1", "few"}};
  map.derived->other = "many";
  map.values = {"few", "many"};
  refused(labelled, "count:band", "column 'band': every cell has a label");
  Dataset blocked = toy();
  blocked.blocks = Blocks{"d", std::nullopt};
  refused(blocked, "count:d", "column 'd': a row without it is in no block");
  CHECK_NOTHROW(door(blocked, "count:x"));
  blocked.blocks = Blocks{"band", std::nullopt};
  refused(blocked, "count:band", "a row without it is in no block");
  refused(blocked, "count:x", "a row without it is in no block");
  Dataset of_ids = toy();
  of_ids.columns.push_back(value_column("person", ColumnType::string, {}));
  of_ids.columns.back().header = "id";
  refused(of_ids, "count:person", "a row without it belongs to no unit");
  of_ids.unit = {"", 1};
  CHECK_NOTHROW(door(of_ids, "count:person"));
  // Distinct values and proportions of such a column say something.
  CHECK_NOTHROW(door(blocked, "distinct:band"));
  CHECK_NOTHROW(door(constant, "proportion:band:[0,3)"));
}
