// The values that a quantile of a column can be, and to which of them a cell is counted.
#include "column_candidates.hpp"

#include "epsilog/engine/date.hpp"

#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

std::vector<Rational> values_of(const Column& column) {
  const ColumnCandidates candidates = candidates_of(column);
  std::vector<Rational> values;
  for (std::uint64_t i = 0; i < candidates.count; ++i) values.push_back(candidates.values.at(i));
  return values;
}

Column stepped(ColumnType type, const Rational& lower, const Rational& upper, const Rational& step,
               unsigned scale = 0) {
  Column column = number_column("x", type, lower, upper, scale);
  column.step = step;
  return column;
}

/// By the words of docs/rows.md: clamped, then the nearest candidate, of two the greater one.
Rational nearest_by_looking(const std::vector<Rational>& values, const Rational& value) {
  Rational best = values.front();
  for (const Rational& one : values) {
    if (abs(one - value) <= abs(best - value)) best = one;
  }
  return best;
}

std::int64_t day_number(const std::string& text) {
  std::int64_t days = 0;
  REQUIRE(parse_date(text, days));
  return days;
}

Column days_column(const std::string& first, const std::string& last) {
  Column column = value_column("d", ColumnType::date, {});
  column.bounds = Bounds{day_number(first), day_number(last)};
  return column;
}

Cell read(const Column& column, const std::string& text) {
  return CellReader(column.type, column.scale, {}).read({text, false});
}

}  // namespace

TEST_CASE("candidates: the declared values in order, else the multiples of the step in the bounds",
          "[engine][quantile][exact]") {
  CHECK(values_of(number_column("x", ColumnType::integer, -1, 2)) == std::vector<Rational>{-1, 0, 1, 2});
  CHECK(values_of(number_column("x", ColumnType::decimal, 0, Rational(3, 10), 1)) ==
        std::vector<Rational>{0, Rational(1, 10), Rational(1, 5), Rational(3, 10)});
  CHECK(values_of(stepped(ColumnType::integer, -5, 11, 4)) == std::vector<Rational>{-4, 0, 4, 8});
  CHECK(values_of(stepped(ColumnType::real, Rational(1, 10), 1, Rational(1, 3))) ==
        std::vector<Rational>{Rational(1, 3), Rational(2, 3), 1});
  CHECK(values_of(stepped(ColumnType::decimal, 0, 100, 25, 2)) == std::vector<Rational>{0, 25, 50, 75, 100});
  CHECK(values_of(value_column("x", ColumnType::integer, {"40", "-3", "18"})) ==
        std::vector<Rational>{-3, 18, 40});
}

TEST_CASE("candidates: a column without them says what it does not declare", "[engine][quantile][negative]") {
  CHECK_THROWS_WITH(
      candidates_of(value_column("w", ColumnType::string, {"A"})),
      "column 'w' has type string: a quantile needs a column of type int, decimal, double or date");
  CHECK_THROWS_WITH(
      candidates_of(value_column("d", ColumnType::date, {})),
      "column 'd' has no bounds: declare `bounds: [FIRST, LAST]`, between which its quantiles lie");
  CHECK_THROWS_WITH(candidates_of(days_column("0001-01-01", "2738-11-29")),
                    "column 'd' has 1000001 days in its bounds, and a quantile is one of at most 1000000: "
                    "declare narrower bounds");
  Column bare = number_column("x", ColumnType::integer, 0, 1);
  bare.bounds.reset();
  CHECK_THROWS_WITH(
      candidates_of(bare),
      "column 'x' has no bounds: declare `bounds: [LOWER, UPPER]`, between which its quantiles lie");
  CHECK_THROWS_WITH(candidates_of(number_column("x", ColumnType::real, 0, 1)),
                    "column 'x' has type double: declare `step: S`, of which its quantiles are multiples");
  CHECK(candidates_of(number_column("x", ColumnType::integer, 1, 1'000'000)).count == 1'000'000);
  CHECK_THROWS_WITH(
      candidates_of(number_column("x", ColumnType::integer, 0, 1'000'000)),
      "column 'x' has 1000001 multiples of 1 in its bounds, and a quantile is one of at most 1000000: "
      "declare a greater `step: S`");
}

TEST_CASE(
    "candidates: a cell is counted to the nearest, of two to the greater one, and beyond an end to the end",
    "[engine][quantile][exhaustive]") {
  std::mt19937_64 random(20240501);
  const auto check = [&](const Column& column, const std::string& text, const Rational& value) {
    const std::vector<Rational> values = values_of(column);
    const CandidateFinder finder(column, candidates_of(column));
    CAPTURE(text, name(column.type), accounting::text(value));
    const auto found = finder.find(read(column, text));
    REQUIRE(found != CandidateFinder::kNone);
    CHECK(values.at(found) == nearest_by_looking(values, value));
  };
  const std::vector<Column> whole = {
      number_column("x", ColumnType::integer, -3, 3), stepped(ColumnType::integer, -7, 9, 3),
      stepped(ColumnType::integer, -8, 8, 4), value_column("x", ColumnType::integer, {"-5", "-2", "4", "5"})};
  for (const Column& column : whole) {
    for (int value = -12; value <= 12; ++value) check(column, std::to_string(value), value);
  }
  const Column cents = stepped(ColumnType::decimal, Rational(-1, 2), Rational(1, 2), Rational(3, 100), 2);
  const Column halves = stepped(ColumnType::real, -1, 1, Rational(1, 2));
  for (int value = -130; value <= 130; ++value) {
    const Rational exact = Rational(value) / 100;
    check(cents, accounting::text(exact), exact);
    const Rational quarter = Rational(value) / 64;  // a double, exactly
    check(halves, accounting::text(quarter), quarter);
  }
  // Candidates beyond what a cell is read to.
  const Rational huge = accounting::power_of_ten(40);
  const Column wide = stepped(ColumnType::integer, -huge, huge, huge / 2);
  check(wide, "7", 7);
  check(wide, "-" + std::string(36, '9'), 1 - accounting::power_of_ten(36));
}

TEST_CASE("candidates: of dates they are the days in the bounds, or the declared ones, and days are clamped",
          "[engine][quantile][exhaustive]") {
  CHECK(values_of(days_column("1969-12-30", "1970-01-02")) == std::vector<Rational>{-2, -1, 0, 1});
  CHECK(values_of(days_column("2024-02-27", "2024-03-01")).size() == 4);
  CHECK(candidates_of(days_column("0001-01-01", "2738-11-28")).count == 1'000'000);
  const Column listed = value_column("d", ColumnType::date, {"2024-03-01", "1960-01-01", "2024-02-01"});
  CHECK(values_of(listed) ==
        std::vector<Rational>{day_number("1960-01-01"), day_number("2024-02-01"), day_number("2024-03-01")});
  for (const Column& column : {days_column("2023-12-20", "2024-03-10"), listed}) {
    const std::vector<Rational> values = values_of(column);
    const CandidateFinder finder(column, candidates_of(column));
    for (std::int64_t at = day_number("2023-11-01"); at <= day_number("2024-05-01"); ++at) {
      const auto place = finder.find(read(column, date_text(at)));
      REQUIRE(place != CandidateFinder::kNone);
      REQUIRE(values.at(place) == nearest_by_looking(values, at));
    }
    for (const char* none : {"", "2024-02-30", "01.02.2024", "19783"}) {
      CHECK(finder.find(read(column, none)) == CandidateFinder::kNone);
    }
  }
}

TEST_CASE("candidates: a missing cell is counted as its constant, and without one not at all",
          "[engine][quantile][exact]") {
  Column column = number_column("x", ColumnType::integer, 0, 10);
  CHECK(CandidateFinder(column, candidates_of(column)).find(read(column, "")) == CandidateFinder::kNone);
  CHECK(CandidateFinder(column, candidates_of(column)).find(read(column, "many")) == CandidateFinder::kNone);
  column.step = 4;
  column.missing = 7;
  CHECK(CandidateFinder(column, candidates_of(column)).find(read(column, "many")) ==
        std::optional<std::uint64_t>(2));
}

TEST_CASE("candidates: rows are counted in each cell, in one piece or one by one",
          "[engine][quantile][exact]") {
  const auto filled = [](std::size_t cells, std::uint64_t candidates) {
    CandidateTally tally(cells, candidates);
    tally.add(1, candidates - 1);
    tally.add(1, 0);
    tally.add(1, candidates - 1);
    tally.add(cells - 1, 2);
    return tally.counts();
  };
  for (const std::uint64_t candidates : {std::uint64_t{3}, std::uint64_t{1'000'000}}) {
    for (const std::size_t cells : {std::size_t{3}, std::size_t{8}}) {
      const auto counts = filled(cells, candidates);
      CAPTURE(candidates, cells);
      REQUIRE(counts.size() == cells);
      CHECK(counts[0].empty());
      REQUIRE(counts[1].size() == 2);
      CHECK(counts[1][0].candidate == 0);
      CHECK(counts[1][0].rows == 1);
      CHECK(counts[1][1].candidate == candidates - 1);
      CHECK(counts[1][1].rows == 2);
      REQUIRE(counts[cells - 1].size() == 1);
      CHECK(counts[cells - 1][0].candidate == 2);
    }
  }
}

TEST_CASE("candidates: more rows of one than a small counter holds are counted",
          "[engine][quantile][exact]") {
  CandidateTally tally(2, 3);
  for (int i = 0; i < 65'536 + 5; ++i) tally.add(1, 2);
  for (int i = 0; i < 2 * 65'536; ++i) tally.add(0, 1);
  tally.add(1, 0);
  const auto counts = tally.counts();
  REQUIRE((counts[0].size() == 1 && counts[1].size() == 2));
  CHECK((counts[0][0].candidate == 1 && counts[0][0].rows == 131'072));
  CHECK((counts[1][0].candidate == 0 && counts[1][0].rows == 1));
  CHECK((counts[1][1].candidate == 2 && counts[1][1].rows == 65'541));
}

TEST_CASE("candidates: the rows of several cells together are those of each",
          "[engine][quantile][property]") {
  std::mt19937_64 random(20261126);
  for (const std::uint64_t candidates :
       {std::uint64_t{5}, std::uint64_t{1'000'000}}) {  // in one piece or not
    CandidateTally tally(8, candidates);
    for (int i = 0; i < 700'000; ++i) tally.add(random() % 3, random() % 3);  // 77,000 of each
    for (int i = 0; i < 100; ++i) tally.add(random() % 8, random() % candidates);
    const auto counts = tally.counts();
    for (const std::vector<std::size_t>& cells :
         {std::vector<std::size_t>{1}, std::vector<std::size_t>{0, 1, 2},
          std::vector<std::size_t>{2, 5, 7}}) {
      std::map<std::uint64_t, std::uint64_t> expected;
      for (const std::size_t cell : cells) {
        for (const auto& each : counts[cell]) expected[each.candidate] += each.rows;
      }
      std::map<std::uint64_t, std::uint64_t> found;
      for (const auto& each : tally.counts_of(cells)) found[each.candidate] = each.rows;
      CAPTURE(candidates, cells.size());
      CHECK(found == expected);
    }
  }
}

TEST_CASE("candidates: a question counts the rows that rows.md keeps, and no more",
          "[engine][quantile][exact]") {
  Dataset dataset = visits();
  dataset.columns[0].step = 10;
  const Question asked = question("median:age", "", "ward in ('A', 'B')");
  const Derivation derivation = derive(dataset, asked);
  const MemoryTable table{kVisitColumns,
                          {{"p", "34", "", "", "A", "", ""},   // 30
                           {"p", "35", "", "", "B", "", ""},   // 40
                           {"p", "90", "", "", "A", "", ""},   // the third row of p
                           {"q", "900", "", "", "A", "", ""},  // 110
                           {"q", "50", "", "", "C", "", ""},   // not asked for
                           {"r", "", "", "", "A", "", ""},     // missing
                           {"", "50", "", "", "A", "", ""}}};  // nobody's
  MemorySource source(table, wanted_columns(dataset, asked));
  const auto counts = answer_rows(source, dataset, asked, derivation, {}).counts;
  REQUIRE(counts.size() == 1);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const auto& [candidate, rows] : counts[0]) found.emplace_back(candidate, rows);
  CHECK(found == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{3, 1}, {4, 1}, {11, 1}});
}

TEST_CASE("candidates: too many of them in all are refused before anything is read",
          "[engine][quantile][negative]") {
  Dataset dataset = visits();
  dataset.columns[0].bounds = Bounds{1, 1'000'000};
  CHECK_NOTHROW(derive(dataset, question("median:age", "ward")));
  std::vector<std::string> wards;
  for (int i = 0; i < 9; ++i) wards.push_back("W" + std::to_string(i));
  dataset.columns[3].values = wards;
  CHECK_THROWS_WITH(
      derive(dataset, question("median:age", "ward")),
      "'quantile:age:0.5' selects among 1000000 values, 9 times: at most 8000000 in all; declare a "
      "greater `step: S`");
}
