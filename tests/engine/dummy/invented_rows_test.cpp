// The rows of dummy runs: a function of declarations, within what is declared.
#include "invented_rows.hpp"

#include "column_cell.hpp"
#include "epsilog/engine/date.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// All rows; "" for a missing cell.
std::vector<std::vector<std::string>> made(const Dataset& dataset, const std::vector<std::string>& wanted) {
  InventedRows rows(dataset, wanted);
  std::vector<engine::RawCell> cells(wanted.size());
  std::vector<std::vector<std::string>> result;
  while (rows.next(cells) != engine::RowSource::Record::none) {
    auto& row = result.emplace_back();
    for (const engine::RawCell& cell : cells) row.push_back(cell.missing ? "" : std::string(cell.text));
  }
  CHECK(rows.fraction_read() == 1);
  return result;
}

std::vector<std::string> column_of(const Dataset& dataset, const std::string& name) {
  std::vector<std::string> cells;
  for (const auto& row : made(dataset, {name})) cells.push_back(row.front());
  return cells;
}

Dataset with_rows(std::uint64_t count, bool exact = false) {
  Dataset dataset = visits();
  dataset.rows = {count, exact};
  return dataset;
}

}  // namespace

TEST_CASE("invented rows: half of a largest number, all of an exact one, and no more than a hundred thousand",
          "[engine][dummy]") {
  CHECK(engine::invented_rows(with_rows(1)) == 1);
  CHECK(engine::invented_rows(with_rows(7)) == 4);
  CHECK(engine::invented_rows(with_rows(100)) == 50);
  CHECK(engine::invented_rows(with_rows(7, true)) == 7);
  CHECK(engine::invented_rows(with_rows(1'000'000'000'000)) == engine::kInventedRowsMax);
  CHECK(engine::invented_rows(with_rows(1'000'000'000'000, true)) == engine::kInventedRowsMax);
  CHECK(made(with_rows(7), {"id", "age"}).size() == 4);
}

TEST_CASE("invented rows: are the same whenever they are made, whichever columns are read beside each other",
          "[engine][dummy]") {
  const Dataset dataset = with_rows(2000);
  const auto all = made(dataset, kVisitColumns);
  CHECK(all == made(dataset, kVisitColumns));
  for (std::size_t i = 0; i < kVisitColumns.size(); ++i) {
    const auto alone = column_of(dataset, kVisitColumns[i]);
    REQUIRE(alone.size() == all.size());
    for (std::size_t row = 0; row < all.size(); ++row) CHECK(alone[row] == all[row][i]);
  }
}

TEST_CASE("invented rows: units have one row to max_rows rows, in turn", "[engine][dummy]") {
  Dataset dataset = with_rows(40);
  dataset.unit.max_rows = 3;
  std::vector<std::string> wanted;
  const std::vector<std::string> once{"1", "2", "2", "3", "3", "3", "4", "5", "5",  "6",
                                      "6", "6", "7", "8", "8", "9", "9", "9", "10", "11"};
  CHECK(column_of(dataset, "id") == once);
  dataset.unit.max_rows = 1'000'000'000;
  std::map<std::string, int> rows;
  for (const std::string& id : column_of(dataset, "id")) ++rows[id];
  CHECK(rows == std::map<std::string, int>{{"1", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"5", 5}, {"6", 5}});
}

TEST_CASE("invented rows: cells are declared values, or lie in the bounds, and are read as what they are",
          "[engine][dummy]") {
  Dataset dataset = with_rows(20'000);
  dataset.csv->decimal_point = ',';  // of the source, which nobody asks
  dataset.csv->date_format = engine::DateFormat::day_month_year_dotted;
  dataset.columns.push_back(number_column("tiny", engine::ColumnType::real, Rational(-1, 3), Rational(1, 7)));
  dataset.columns.push_back(number_column("huge", engine::ColumnType::integer, -accounting::power_of_ten(30),
                                          accounting::power_of_ten(30)));
  for (const engine::Column& column : dataset.columns) {
    CAPTURE(column.name);
    const engine::CellReader reader(column.type, column.scale, {});
    std::set<std::string> seen;
    std::size_t missing = 0;
    for (const std::string& text : column_of(dataset, column.name)) {
      if (text.empty()) {
        ++missing;
        continue;
      }
      seen.insert(text);
    }
    // Of 10,000 cells 500 on average; the rows are always the same ones.
    CHECK(missing > 400);
    CHECK(missing < 600);
    for (const std::string& text : seen) {
      CAPTURE(text);
      const engine::Cell cell = reader.read({text, false});
      REQUIRE_FALSE(cell.missing);
      if (!column.bounds) continue;
      const Rational value = column.type == engine::ColumnType::real
                                 ? Rational(cell.real)
                                 : Rational(engine::to_integer(cell.fixed)) /
                                       accounting::power_of_ten(static_cast<long>(column.scale));
      // A double is rounded to nearest when it is read, and clamped like any.
      const Rational slack =
          column.type == engine::ColumnType::real ? Rational(1, 1'000'000'000) : Rational(0);
      CHECK(value >= column.bounds->lower - slack);
      CHECK(value <= column.bounds->upper + slack);
    }
    if (column.values.empty()) {
      CHECK(seen.size() > 100);
    } else {
      CHECK(seen == std::set<std::string>(column.values.begin(), column.values.end()));
    }
  }
}

TEST_CASE("invented rows: columns are independent of each other", "[engine][dummy]") {
  std::map<std::vector<std::string>, int> pairs;
  for (const auto& row : made(with_rows(20'000), {"ward", "smoker"})) ++pairs[row];
  REQUIRE(pairs.size() == 12);  // three wards and none, two answers and none
  for (const auto& [pair, count] : pairs) {
    CAPTURE(pair, count);
    const int missing = (pair[0].empty() ? 1 : 0) + (pair[1].empty() ? 1 : 0);
    const double expected = missing == 0      ? 10'000 * 0.9025 / 6
                            : missing == 2    ? 25
                            : pair[0].empty() ? 237.5
                                              : 158.3;
    CHECK(count > 0.6 * expected);
    CHECK(count < 1.4 * expected);
  }
}

TEST_CASE("invented rows: what only conditions can be about is something too", "[engine][dummy]") {
  Dataset dataset = with_rows(20'000);
  engine::Column free;
  free.name = "note";
  free.type = engine::ColumnType::string;
  engine::Column day;
  day.name = "day";
  day.type = engine::ColumnType::date;
  engine::Column other_day = day;
  other_day.name = "other_day";
  engine::Column number;
  number.name = "number";
  number.type = engine::ColumnType::decimal;
  number.scale = 1;
  dataset.columns = {free, day, other_day, number};
  dataset.blocks = engine::Blocks{.by = "day", .per = engine::CalendarPeriod::month};
  REQUIRE(engine::parse_date("2024-02-01", dataset.blocks->first_day));
  REQUIRE(engine::parse_date("2024-03-31", dataset.blocks->last_day));
  const auto distinct = [&](const std::string& name) {
    const std::vector<std::string> cells = column_of(dataset, name);
    std::set<std::string> result(cells.begin(), cells.end());
    result.erase("");
    return result;
  };
  CHECK(distinct("note").size() == 100);
  CHECK(distinct("day").size() == 60);
  CHECK(*distinct("day").begin() == "2024-02-01");
  CHECK(*distinct("day").rbegin() == "2024-03-31");
  CHECK(*distinct("other_day").begin() >= "2000-01-01");
  CHECK(*distinct("other_day").rbegin() <= "2024-12-31");
  CHECK(distinct("other_day").size() > 900);
  CHECK(distinct("number").count("99.9") == 1);
}

TEST_CASE("invented rows: a column is spread over what is derived from it, where nothing else is declared",
          "[engine][dummy][derived]") {
  Dataset dataset = with_rows(20'000);
  const auto source = [](const std::string& name, engine::ColumnType type) {
    engine::Column column;
    column.name = name;
    column.type = type;
    return column;
  };
  const auto derived = [](const std::string& name, const engine::LabelRule& rule) {
    engine::Column column;
    column.name = name;
    column.derived = rule;
    return column;
  };
  engine::LabelRule months{.from = "seen", .per = engine::CalendarPeriod::month};
  REQUIRE(engine::parse_date("2024-02-01", months.first_day));
  REQUIRE(engine::parse_date("2024-03-31", months.last_day));
  dataset.columns = {source("n", engine::ColumnType::integer),
                     source("seen", engine::ColumnType::date),
                     source("dx", engine::ColumnType::string),
                     source("code", engine::ColumnType::integer),
                     number_column("age", engine::ColumnType::integer, 0, 9),
                     derived("bins", {.from = "n", .bins = {-4, 0, 5}}),
                     derived("month", months),
                     derived("kind", {.from = "dx", .map = {{"A", "x"}, {"1", "y"}}}),
                     derived("first", {.from = "code", .map = {{"7", "x"}}, .other = "z"}),
                     derived("band", {.from = "age", .bins = {0, 18, 111}})};
  const auto distinct = [&](const std::string& name) {
    const std::vector<std::string> cells = column_of(dataset, name);
    std::set<std::string> result(cells.begin(), cells.end());
    result.erase("");
    return result;
  };
  CHECK(distinct("n").size() == 10);
  CHECK(distinct("n").contains("-4"));
  CHECK(distinct("n").contains("5"));
  CHECK(*distinct("seen").begin() == "2024-02-01");
  CHECK(*distinct("seen").rbegin() == "2024-03-31");
  CHECK(distinct("dx") == std::set<std::string>{"A", "1", "2"});
  CHECK(distinct("code") == std::set<std::string>{"7", "1"});
  CHECK(distinct("age").size() == 10);  // its own bounds
  // Of several the one whose labels are blocks.
  engine::LabelRule later = months;
  REQUIRE(engine::parse_date("2025-05-01", later.first_day));
  REQUIRE(engine::parse_date("2025-05-31", later.last_day));
  dataset.columns.push_back(derived("later", later));
  CHECK(*distinct("seen").begin() == "2024-02-01");
  dataset.blocks = engine::Blocks{.by = "later", .per = std::nullopt};
  CHECK(*distinct("seen").begin() == "2025-05-01");
  CHECK(*distinct("seen").rbegin() == "2025-05-31");
}
