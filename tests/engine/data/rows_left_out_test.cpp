// Which rows a table says to be in none of its cells, held to rows that are counted.
#include "rows_left_out.hpp"

#include <algorithm>
#include <set>

#include "epsilog/engine/checked_policy.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

constexpr const char* kColumnsToGroup =
    "      ward: {type: string, values: [A, B]}\n"
    "      smoker: {type: bool}\n"
    "      smokes: {type: bool, values: [true]}\n"
    "      level: {type: int, values: [1, 9], bounds: [0, 9], missing: 9}\n"
    "      kind: {from: ward, map: {A: x}, other: rest}\n"
    "      first: {from: ward, map: {A: x}}\n"
    "      band: {from: level, bins: [0, 5, 10]}\n"
    "      all: {from: level, map: {1: low}, other: high}\n";

Policy policy(const std::string& blocks = "") {
  return checked_policy(
      "version: 1\ndatasets:\n  d:\n    source: {csv: d.csv}\n    unit: row\n    rows: {max: 10}\n"
      "    neighbours: add-remove\n    budget: {epsilon: 1}\n" +
          blocks + "    columns:\n" + kColumnsToGroup,
      "p.yaml");
}

/// Whether a row is counted, and yet in no cell of the table by that column.
bool is_left_out(const Dataset& dataset, const std::string& by, const MemoryRow& row) {
  const MemoryTable table{{"ward", "smoker", "level", "smokes"}, {row}};
  const auto counted = [&](const std::string& columns) {
    const auto counts = answer(table, dataset, question("count", columns))[0];
    return std::any_of(counts.begin(), counts.end(), [](const Rational& count) { return count > 0; });
  };
  return counted("") && !counted(by);
}

}  // namespace

TEST_CASE("left out: a table names missing cells and other values exactly where such a row is in no cell",
          "[engine][rows]") {
  const std::vector<std::vector<std::string>> cells{
      {"A", "B", "Z"}, {"true", "false"}, {"1", "9", "3", "77"}, {"true", "false"}};
  std::set<std::string> told;
  for (const std::string by_blocks : {"", "ward", "all"}) {
    const Policy declared =
        policy(by_blocks.empty() ? "" : "    blocks: {by: " + by_blocks + "}\n    lifetime: {epsilon: 2}\n");
    const Dataset& dataset = declared.dataset("d");
    for (const Column& column : dataset.columns) {
      if (column.values.empty()) continue;
      bool missing = false, other = false;
      for (std::size_t place = 0; place < cells.size(); ++place) {
        MemoryRow row{"A", "true", "1", "true"};
        row[place] = "";
        missing = missing || is_left_out(dataset, column.name, row);
        for (const std::string& cell : cells[place]) {
          row[place] = cell;
          other = other || is_left_out(dataset, column.name, row);
        }
      }
      CAPTURE(by_blocks, column.name);
      const std::string why = missing && other ? " is missing or none of these"
                              : missing        ? " is missing"
                              : other          ? " is none of these"
                                               : "";
      const std::string text = rows_left_out(dataset, question("count", column.name));
      CHECK(text == (why.empty() ? "" : "rows whose " + column.name + why));
      told.insert(why);
    }
  }
  CHECK(told.size() == 4);
  const Policy declared = policy();
  CHECK(rows_left_out(declared.dataset("d"), question("count", "ward,smoker,first")) ==
        "rows whose ward or first is missing or none of these, or whose smoker is missing");
  CHECK(rows_left_out(declared.dataset("d"), question("count")).empty());
}
