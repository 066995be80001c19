// Which blocks a request covers, against every cell that could be in them; and which rows lie in none.
//
// What a row of a block must look like is decided by calendar and data path (CellReader, RowFilter), so the
// brute force asks the row filter about every day of a small calendar, one by one.
#include "blocks.hpp"

#include "calendar.hpp"
#include "epsilog/engine/date.hpp"
#include "row_filter.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Names = std::vector<std::string>;

std::int64_t day_of(const std::string& text) {
  std::int64_t days = 0;
  REQUIRE(parse_date(text, days));
  return days;
}

/// Visits by date, with a block each period from the first to the last.
Dataset by_period(CalendarPeriod per, const std::string& from, const std::string& to) {
  Dataset dataset;
  dataset.name = "visits";
  dataset.csv.emplace();
  dataset.rows = {100, false};
  dataset.unit = {"id", 2};
  dataset.columns = {number_column("age", ColumnType::integer, 0, 110),
                     value_column("seen", ColumnType::date, {}), value_column("sent", ColumnType::date, {})};
  dataset.blocks = Blocks{"seen", per, parse_period(per, from)->first, parse_period(per, to)->last};
  return dataset;
}

Dataset by_values(ColumnType type, const Names& values) {
  Dataset dataset = by_period(CalendarPeriod::day, "2024-01-01", "2024-01-01");
  dataset.columns.push_back(value_column("part", type, values));
  dataset.blocks = Blocks{"part", std::nullopt};
  return dataset;
}

Names covered(const Dataset& dataset, const std::string& where) {
  return covered_blocks(dataset, where.empty() ? std::nullopt : std::optional(Predicate::parse(where)));
}

/// The blocks of a calendar in which some day, written as a cell, passes the rows' own filter.
Names covered_by_trying_days(const Dataset& dataset, const std::string& where) {
  const RowFilter filter(dataset, Predicate::parse(where), {"seen"}, CellDialect{});
  Names result;
  for (std::int64_t at = dataset.blocks->first_day; at <= dataset.blocks->last_day; ++at) {
    const std::string text = date_text(at);
    const RawCell cell{text, false};
    if (!filter.keeps({&cell, 1})) continue;
    const std::string name = period_name(*dataset.blocks->per, at);
    if (result.empty() || result.back() != name) result.push_back(name);
  }
  return result;
}

std::string random_comparison(const Dataset& dataset, std::mt19937_64& random) {
  static const Names kOperators = {"=", "!=", "<", "<=", ">", ">=", "in"};
  // Days before, in and after the blocks.
  const auto length = static_cast<std::uint64_t>(dataset.blocks->last_day - dataset.blocks->first_day + 1);
  const auto any_day = [&] {
    return date_text(dataset.blocks->first_day - 2 + static_cast<std::int64_t>(random() % (length + 4)));
  };
  const std::string& op = kOperators[random() % kOperators.size()];
  if (op != "in") return "seen " + op + " " + any_day();
  std::string list = any_day();
  for (std::uint64_t more = random() % 4; more > 0; --more) list += ", " + any_day();
  return "seen in (" + list + ")";
}

}  // namespace

TEST_CASE("blocks: a calendar partition has one block a period, in order", "[engine][blocks][exact]") {
  CHECK(block_names(by_period(CalendarPeriod::month, "2023-11", "2024-02")) ==
        Names{"2023-11", "2023-12", "2024-01", "2024-02"});
  CHECK(block_names(by_period(CalendarPeriod::week, "2020-W52", "2021-W01")) ==
        Names{"2020-W52", "2020-W53", "2021-W01"});
  CHECK(block_names(by_period(CalendarPeriod::quarter, "2023-Q4", "2024-Q2")) ==
        Names{"2023-Q4", "2024-Q1", "2024-Q2"});
  CHECK(block_names(by_period(CalendarPeriod::day, "2024-02-28", "2024-03-01")) ==
        Names{"2024-02-28", "2024-02-29", "2024-03-01"});
  CHECK(block_names(by_period(CalendarPeriod::year, "0000", "9999")).size() == 10'000);
}

TEST_CASE("blocks: a declared partition has one block a value, in the order declared",
          "[engine][blocks][exact]") {
  CHECK(block_names(by_values(ColumnType::string, {"south", "north", ""})) == Names{"south", "north", ""});
  CHECK(block_names(by_values(ColumnType::boolean, {"false", "true"})) == Names{"false", "true"});
}

TEST_CASE("blocks: without blocks there are none to cover", "[engine][blocks][exact]") {
  Dataset dataset = by_period(CalendarPeriod::month, "2024-01", "2024-02");
  dataset.blocks.reset();
  CHECK(block_names(dataset).empty());
  CHECK(covered(dataset, "").empty());
  CHECK(covered(dataset, "seen > 2024-01-01").empty());
}

TEST_CASE("blocks: a request that says nothing of their column covers every block",
          "[engine][blocks][exact]") {
  const Dataset dataset = by_period(CalendarPeriod::month, "2024-01", "2024-04");
  CHECK(covered(dataset, "") == block_names(dataset));
  CHECK(covered(dataset, "age > 65 and sent = 2024-02-01") == block_names(dataset));
}

TEST_CASE("blocks: a block whose every day is excluded is not covered", "[engine][blocks][exact]") {
  const Dataset days = by_period(CalendarPeriod::day, "2024-02-28", "2024-03-01");
  CHECK(covered(days, "seen != 2024-02-29") == Names{"2024-02-28", "2024-03-01"});
  const Dataset weeks = by_period(CalendarPeriod::week, "2024-W01", "2024-W02");
  std::string all_of_the_first = "seen != 2024-01-01";
  for (const char* more : {"02", "03", "04", "05", "06", "07", "07"}) {
    all_of_the_first += std::string(" and seen != 2024-01-") + more;
  }
  CHECK(covered(weeks, all_of_the_first) == Names{"2024-W02"});
  CHECK(covered(weeks, "seen <= 2024-01-02 and seen != 2024-01-01 and seen != 2024-01-02").empty());
}

TEST_CASE("blocks: what a predicate covers is what some day of the block satisfies, by trying every day",
          "[engine][blocks][exhaustive]") {
  struct Calendar {
    CalendarPeriod per;
    const char* from;
    const char* to;
  };
  // Around a leap day and the end of a year of 53 weeks.
  const std::vector<Calendar> calendars = {{CalendarPeriod::day, "2024-02-26", "2024-03-03"},
                                           {CalendarPeriod::week, "2020-W52", "2021-W02"},
                                           {CalendarPeriod::month, "2023-12", "2024-03"},
                                           {CalendarPeriod::quarter, "2023-Q4", "2024-Q2"},
                                           {CalendarPeriod::year, "2023", "2025"}};
  constexpr std::uint64_t kSeed = 20240229;
  std::mt19937_64 random(kSeed);
  for (const Calendar& calendar : calendars) {
    const Dataset dataset = by_period(calendar.per, calendar.from, calendar.to);
    int narrowed = 0;
    for (int i = 0; i < 400; ++i) {
      std::string where = random_comparison(dataset, random);
      for (std::uint64_t more = random() % 4; more > 0; --more) {
        where += " and " + random_comparison(dataset, random);
      }
      INFO("seed " << kSeed << ": " << where);
      const Names expected = covered_by_trying_days(dataset, where);
      if (!expected.empty() && expected.size() < block_names(dataset).size()) ++narrowed;
      REQUIRE(covered(dataset, where) == expected);
    }
    CHECK(narrowed > 100);
  }
}

TEST_CASE("blocks: every single comparison with every day of a small calendar",
          "[engine][blocks][exhaustive]") {
  const Dataset dataset = by_period(CalendarPeriod::month, "2024-01", "2024-03");
  for (std::int64_t at = day_of("2023-12-30"); at <= day_of("2024-04-02"); ++at) {
    for (const char* op : {"=", "!=", "<", "<=", ">", ">="}) {
      const std::string where = std::string("seen ") + op + " " + date_text(at);
      CAPTURE(where);
      REQUIRE(covered(dataset, where) == covered_by_trying_days(dataset, where));
    }
  }
}

TEST_CASE("blocks: declared values are compared as cells are", "[engine][blocks][exact]") {
  const Dataset wards = by_values(ColumnType::string, {"A", "B", "C"});
  CHECK(covered(wards, "part in ('C', 'A')") == Names{"A", "C"});
  CHECK(covered(wards, "part != 'B'") == Names{"A", "C"});
  CHECK(covered(wards, "part = 'a'").empty());
  const Dataset sites = by_values(ColumnType::integer, {"10", "-3", "7"});
  CHECK(covered(sites, "part > 6.5") == Names{"10", "7"});
  CHECK(covered(sites, "part <= -3") == Names{"-3"});
  CHECK(covered(sites, "part in (7.5, 7)") == Names{"7"});
  CHECK(covered(sites, "part != 7.5") == Names{"10", "-3", "7"});
  const Dataset flags = by_values(ColumnType::boolean, {"false", "true"});
  CHECK(covered(flags, "part = true") == Names{"true"});
  CHECK(covered(flags, "part != true") == Names{"false"});
  const Dataset dates = by_values(ColumnType::date, {"2024-01-31", "2023-05-01"});
  CHECK(covered(dates, "part >= 2024-01-01") == Names{"2024-01-31"});
}

TEST_CASE("blocks: a row lies in a block if its cell is a day or a value of one", "[engine][blocks][exact]") {
  const auto contains = [](const BlockMembership& blocks, std::string_view text) {
    return blocks.contains({text, text.empty()});
  };
  const BlockMembership months(by_period(CalendarPeriod::month, "2024-01", "2024-02"));
  CHECK(contains(months, "2024-01-01"));
  CHECK(contains(months, "2024-02-29"));
  for (const char* outside : {"2023-12-31", "2024-03-01", "", "2024-02-30", "2024-01", "today"}) {
    CAPTURE(outside);
    CHECK_FALSE(contains(months, outside));
  }
  const BlockMembership sites(by_values(ColumnType::integer, {"10", "-3"}));
  CHECK(contains(sites, "010"));
  CHECK(contains(sites, "-3"));
  CHECK_FALSE(contains(sites, "11"));
  CHECK_FALSE(contains(sites, ""));
}

TEST_CASE("blocks: a missing cell lies where the value that stands in for it does",
          "[engine][blocks][exact]") {
  Dataset dataset = by_values(ColumnType::integer, {"1", "2"});
  dataset.columns.back().bounds = Bounds{0, 9};
  dataset.columns.back().missing = 2;
  CHECK(BlockMembership(dataset).contains(RawCell{}));
  dataset.columns.back().missing = 3;
  CHECK_FALSE(BlockMembership(dataset).contains(RawCell{}));
}
