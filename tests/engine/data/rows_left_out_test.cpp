// Which rows a table says to be in none of its cells, held to rows that are counted.
#include "rows_left_out.hpp"

#include "epsilog/engine/checked_policy.hpp"
#include "file_text.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// Whether the row is counted, and yet in no cell of the table by that column.
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
  const std::vector<std::vector<std::string>> cells{{"B", "Z"}, {"false"}, {"3", "77"}, {"false"}};
  std::set<std::string> told;
  for (const std::string blocks : {"", "ward", "all"}) {
    const std::string text = file_text(EPSILOG_SOURCE_DIR "/tests/engine/data/rows_left_out.yaml");
    const std::string more = "    blocks: {by: " + blocks + "}\n    lifetime: {epsilon: 2}\n";
    const Policy policy = checked_policy(blocks.empty() ? text : text + more, "p.yaml");
    const Dataset& dataset = policy.dataset("d");
    for (const Column& column : dataset.columns) {
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
      CAPTURE(blocks, column.name);
      const std::string why = std::string(missing ? " is missing"
                                          : other ? " is"
                                                  : "") +
                              (missing && other ? " or" : "") + (other ? " none of these" : "");
      CHECK(rows_left_out(dataset, question("count", column.name)) ==
            (why.empty() ? "" : "rows whose " + column.name + why));
      told.insert(why);
    }
    if (blocks.empty())
      CHECK(rows_left_out(dataset, question("count", "ward,smoker,first")) ==
            "rows whose ward or first is missing or none of these, or whose smoker is missing");
  }
  CHECK(told.size() == 4);
}
