// The rules of docs/rows.md, one by one.
#include "checked_rows.hpp"
#include "column_cell.hpp"
#include "read_cell.hpp"
#include "row_units.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// id, age, ward of visits(); the other cells are empty.
MemoryRow visit(const std::string& id, const std::string& age, const std::string& ward = "A") {
  return {id, age, "", "", ward, "", ""};
}

Rational asked(const std::vector<MemoryRow>& rows, const Dataset& dataset, const std::string& statistic,
               const std::string& where = "") {
  return answer({kVisitColumns, rows}, dataset, question(statistic, "", where))[0][0];
}

Dataset exact_visits(std::uint64_t rows, const Rational& stand_in) {
  Dataset dataset = visits();
  dataset.rows = {rows, true};
  dataset.neighbours = Neighbours::replace_one;
  dataset.columns[0].missing = stand_in;
  return dataset;
}

Cell read(ColumnType type, const std::string& text, unsigned scale = 0) {
  return CellReader(type, scale, {}).read({text, false});
}

}  // namespace

TEST_CASE("rows: cells of each type have the spellings of the table, of any length",
          "[engine][rows][exact]") {
  check_rows(EPSILOG_SOURCE_DIR "/tests/engine/data/cells.tsv", "cell", cell_read);
  CHECK(read(ColumnType::integer, std::string(5000, '9')).fixed == kFixedMax);
  CHECK(read(ColumnType::integer, "-" + std::string(5000, '9')).fixed == -kFixedMax);
  CHECK(read(ColumnType::real, "0." + std::string(500, '0') + "1e5").real == 0.0);
  CHECK(read(ColumnType::real, "0." + std::string(500, '0') + "1e501").real == 1.0);
  CHECK(read(ColumnType::real, "1" + std::string(500, '0') + "e-500").real == 1.0);
  CHECK(read(ColumnType::real, "1" + std::string(400, '0')).missing);
  CHECK(read(ColumnType::string, std::string(" a\0b", 4)).text == std::string_view(" a\0b", 4));
  CHECK(read(ColumnType::string, "").missing);
}

TEST_CASE("rows: a number of few characters is read as the same one behind many zeros",
          "[engine][rows][property]") {
  std::mt19937_64 random(20261126);
  const std::string marks = "0123456789000..-+ ex";
  std::size_t numbers = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (std::size_t size = random() % 19; size > 0; --size) text += marks[random() % marks.size()];
    const bool is_signed = !text.empty() && (text[0] == '-' || text[0] == '+');
    const std::string longer =
        (is_signed ? text.substr(0, 1) : "") + std::string(19, '0') + text.substr(is_signed ? 1 : 0);
    // Zeros are digits that there need not be: where there are none the longer text is a number all the same.
    if (text.size() == (is_signed ? 1U : 0U) ||
        !std::isdigit(static_cast<unsigned char>(text[is_signed ? 1 : 0])))
      continue;
    const auto scale = static_cast<unsigned>(random() % 19);
    const ColumnType type = random() % 2 == 0 ? ColumnType::decimal : ColumnType::integer;
    const unsigned of_type = type == ColumnType::integer ? 0 : scale;
    const Cell one = read(type, text, of_type);
    const Cell other = read(type, longer, of_type);
    CAPTURE(text, of_type);
    REQUIRE(one.missing == other.missing);
    if (one.missing) continue;
    ++numbers;
    REQUIRE(one.fixed == other.fixed);
  }
  CHECK(numbers > 1'000);
  for (const char* none : {"", "-", "+", ".", "-.", ".5", "5.", "-5.", "1.2.3", "--1", "1-", " 1", "1 "}) {
    CAPTURE(none);
    CHECK(read(ColumnType::decimal, none, 2).missing);
  }
}

TEST_CASE("rows: a declared value is found wherever it stands, and another one nowhere",
          "[engine][rows][exhaustive]") {
  const auto place = [](const DeclaredValues& values, const Column& column, const std::string& text) {
    return values.find(CellReader(column.type, column.scale, {}).read({text, false}));
  };
  const auto check = [&](const Column& column, const std::vector<std::string>& others) {
    const DeclaredValues values(column);
    for (std::size_t i = 0; i < column.values.size(); ++i) {
      CAPTURE(column.values[i]);
      CHECK(place(values, column, column.values[i]) == i);
    }
    for (const std::string& other : others) {
      CAPTURE(other);
      CHECK(place(values, column, other) == kNoIndex);
    }
  };
  check(value_column("x", ColumnType::integer, {"3", "-1", "7"}),
        {"", "-2", "0", "2", "4", "8", "99999999999999999999"});
  check(value_column("x", ColumnType::integer, {"0", "4095", "17"}), {"-1", "1", "4094", "4096"});
  check(value_column("x", ColumnType::integer, {"0", "4096", "-99999999999999999999"}),
        {"-1", "1", "4095", "4097"});
  check(value_column("x", ColumnType::boolean, {"true"}), {"false", "maybe"});
  check(value_column("x", ColumnType::date, {"2024-02-29", "1969-12-31"}), {"1970-01-01", "2024-02-30"});
  check(value_column("x", ColumnType::string, {"b", "a", "ab", "\xff", "\xff\xff", "é", "aa"}),
        {"", "A", "abc", "c", "\xfe", "\xff\xfe", "\x01", "b\xff"});
}

TEST_CASE("rows: values beyond the bounds are clamped, however long", "[engine][rows][exact]") {
  CHECK(asked({visit("p", "500"), visit("q", "-3"), visit("r", "40"), visit("s", std::string(90, '9'))},
              visits(), "sum:age") == 110 + 0 + 40 + 110);
}

TEST_CASE("rows: clamping is exact where bounds lie between the column's values", "[engine][rows][exact]") {
  Dataset dataset = visits();
  dataset.columns[0].bounds = Bounds{Rational(1, 3), Rational(7, 2)};
  CHECK(asked({visit("p", "0"), visit("q", "1"), visit("r", "4")}, dataset, "sum:age") ==
        Rational(1, 3) + 1 + Rational(7, 2));
  dataset = visits();
  dataset.columns[2].bounds = Bounds{Rational(-1, 3), Rational(1, 10)};
  const auto scored = [](const std::string& id, const std::string& score) {
    return MemoryRow{id, "", "", score, "", "", ""};
  };
  // The double 0.1 is above 1/10, and the one below it is inside.
  const double inside = std::nextafter(0.1, 0.0);
  CHECK(asked({scored("p", "-1"), scored("q", "0.1"), scored("r", "0.09999999999999999")}, dataset,
              "sum:score") == Rational(-1, 3) + Rational(1, 10) + Rational(inside));
}

TEST_CASE("rows: a missing cell leaves its row out of sum and mean but not out of the count",
          "[engine][rows][exact]") {
  const std::vector<MemoryRow> rows = {visit("p", "30"), visit("q", ""), visit("r", "old"), visit("s", "50")};
  CHECK(asked(rows, visits(), "sum:age") == 80);
  CHECK(asked(rows, visits(), "count") == 4);
  const auto mean = answer({kVisitColumns, rows}, visits(), question("mean:age"));
  CHECK(mean[0][0] == (30 - 55) + (50 - 55));
  CHECK(mean[1][0] == 2);
}

TEST_CASE("rows: a declared stand-in takes the place of a missing cell everywhere", "[engine][rows][exact]") {
  Dataset dataset = visits();
  dataset.columns[0].missing = Rational(40);
  const std::vector<MemoryRow> rows = {visit("p", "30"), visit("q", ""), visit("r", "old")};
  CHECK(asked(rows, dataset, "sum:age") == 110);
  CHECK(answer({kVisitColumns, rows}, dataset, question("mean:age"))[1][0] == 3);
  CHECK(asked(rows, dataset, "count", "age = 40") == 2);
  CHECK(asked(rows, dataset, "count", "age > 39.5") == 2);
  dataset.columns[0].values = {"30", "40"};
  CHECK(answer({kVisitColumns, rows}, dataset, question("count", "age"))[0] == std::vector<Rational>{1, 2});
}

TEST_CASE("rows: any comparison with a missing cell is false, != included", "[engine][rows][exact]") {
  const std::vector<MemoryRow> rows = {visit("p", ""), visit("q", "x"), visit("r", "30", "")};
  for (const char* where :
       {"age = 1", "age != 1", "age < 1", "age <= 1", "age > 1", "age >= 1", "age in (1, 2)"}) {
    CAPTURE(where);
    CHECK(asked({visit("p", ""), visit("q", "x")}, visits(), "count", where) == 0);
  }
  CHECK(asked(rows, visits(), "count", "ward != 'B'") == 2);
  CHECK(asked(rows, visits(), "count", "seen != 2024-01-31") == 0);
  CHECK(asked(rows, visits(), "count", "smoker != true") == 0);
}

TEST_CASE("rows: comparisons are exact and see cells before they are clamped", "[engine][rows][exact]") {
  const std::string comparisons = EPSILOG_SOURCE_DIR "/tests/engine/data/comparisons.tsv";
  const std::vector<MemoryRow> rows = {visit("p", "29"), visit("q", "30"), visit("r", "31"),
                                       visit("s", "900")};
  const auto counted = [](const std::vector<MemoryRow>& of) {
    return [of](const CaseRow& row) { return accounting::text(asked(of, visits(), "count", row[1])); };
  };
  check_rows(comparisons, "ages", counted(rows));
  // The double nearest to 1/10 is above it.
  check_rows(comparisons, "tenth", counted({{"p", "", "0.10", "0.1", "", "TRUE", "2024-01-31"}}));
}

TEST_CASE("rows: rows without unit id or with an undeclared group are dropped", "[engine][rows][exact]") {
  const std::vector<MemoryRow> rows = {
      visit("", "30"), visit("p", "30", "Z"), visit("q", "30", ""), {}, visit("r", "30", "B")};
  CHECK(asked(rows, visits(), "count") == 3);
  CHECK(asked(rows, visits(), "units") == 3);
  CHECK(answer({kVisitColumns, rows}, visits(), question("count", "ward"))[0] ==
        std::vector<Rational>{0, 1, 0});
  CHECK(answer({kVisitColumns, rows}, visits(), question("sum:age", "ward"))[0] ==
        std::vector<Rational>{0, 30, 0});
}

TEST_CASE("rows: groups are matched by value, strings by bytes", "[engine][rows][exact]") {
  Dataset dataset = visits();
  dataset.columns[0].values = {"-3", "7"};
  const auto rows =
      std::vector<MemoryRow>{visit("p", "007"), visit("q", "+7"), visit("r", "-3"), visit("s", "8")};
  CHECK(answer({kVisitColumns, rows}, dataset, question("count", "age"))[0] == std::vector<Rational>{1, 2});
  const auto by_bool =
      std::vector<MemoryRow>{{"p", "", "", "", "", "1", ""}, {"q", "", "", "", "", "FALSE", ""}};
  CHECK(answer({kVisitColumns, by_bool}, visits(), question("count", "smoker"))[0] ==
        std::vector<Rational>{1, 1});
  const auto wards = std::vector<MemoryRow>{visit("p", "", "a"), visit("q", "", "A "), visit("r", "", "A")};
  CHECK(answer({kVisitColumns, wards}, visits(), question("count", "ward"))[0] ==
        std::vector<Rational>{1, 0, 0});
}

TEST_CASE("rows: the first max_rows rows of each unit that pass the filter are kept",
          "[engine][rows][exact]") {
  const std::vector<MemoryRow> rows = {visit("p", "1"), visit("q", "10"), visit("p", "2"), visit("p", "4"),
                                       visit("p", "8")};
  CHECK(asked(rows, visits(), "sum:age") == 1 + 10 + 2);
  CHECK(asked(rows, visits(), "count") == 3);
  CHECK(asked(rows, visits(), "sum:age", "age > 1") == 10 + 2 + 4);
  CHECK(asked(rows, visits(), "units", "age > 1") == 2);
  // Rows with an undeclared group are gone before they could take a place.
  const std::vector<MemoryRow> grouped = {visit("p", "1", "Z"), visit("p", "2", "Z"), visit("p", "4", "A")};
  CHECK(answer({kVisitColumns, grouped}, visits(), question("sum:age", "ward"))[0][0] == 4);
}

TEST_CASE("rows: units by group counts each unit once in every group its kept rows are in",
          "[engine][rows][exact]") {
  const std::vector<MemoryRow> rows = {visit("p", "", "A"), visit("p", "", "A"), visit("p", "", "B"),
                                       visit("q", "", "A"), visit("q", "", "C")};
  CHECK(answer({kVisitColumns, rows}, visits(), question("units", "ward"))[0] ==
        std::vector<Rational>{2, 0, 1});
}

TEST_CASE("rows: with unit: row every row is kept, malformed ones as missing cells",
          "[engine][rows][exact]") {
  Dataset dataset = visits();
  dataset.unit = {"", 1};
  const std::vector<MemoryRow> rows = {visit("p", "1"), visit("p", "2"), visit("", "4"), {}};
  CHECK(asked(rows, dataset, "count") == 4);
  CHECK(asked(rows, dataset, "units") == 4);
  CHECK(asked(rows, dataset, "sum:age") == 7);
  CHECK(answer({kVisitColumns, rows}, dataset, question("units", "ward"))[0] ==
        std::vector<Rational>{3, 0, 0});
}

TEST_CASE("rows: rows beyond the declared maximum are no reason for anything", "[engine][rows][exact]") {
  Dataset dataset = visits();
  dataset.rows.count = 1;
  CHECK(asked({visit("p", "1"), visit("q", "2"), visit("r", "4")}, dataset, "count") == 3);
}

TEST_CASE("rows: under exact N dropped rows keep their place with the stand-in", "[engine][rows][exact]") {
  const Dataset dataset = exact_visits(7, 20);
  const std::vector<MemoryRow> rows = {
      visit("p", "1"), visit("p", "2"),  visit("p", "100"), visit("", "100"), {},
      visit("q", ""),  visit("q", "500")};
  CHECK(asked(rows, dataset, "count") == 7);
  CHECK(asked(rows, dataset, "units") == 2);
  const Rational sum = 1 + 2 + 20 + 20 + 20 + 20 + 110;
  CHECK(asked(rows, dataset, "sum:age") == sum);
  CHECK(asked(rows, dataset, "mean:age") == sum / 7);
  CHECK(asked(rows, dataset, "variance:age") ==
        Rational(1 + 4 + 4 * 400 + 110 * 110) / 7 - (sum / 7) * (sum / 7));
}

TEST_CASE("rows: under exact N a subset is private, and the general rules hold for it",
          "[engine][rows][exact]") {
  const Dataset dataset = exact_visits(5, 20);
  const std::vector<MemoryRow> rows = {visit("p", "1"), visit("p", "2"), visit("p", "3"), visit("", "4"),
                                       visit("q", "")};
  CHECK(asked(rows, dataset, "count", "age >= 0") == 3);
  CHECK(asked(rows, dataset, "sum:age", "age >= 0") == 1 + 2 + 20);
  CHECK(answer({kVisitColumns, rows}, dataset, question("count", "ward"))[0] ==
        std::vector<Rational>{3, 0, 0});
}

TEST_CASE("rows: another number of rows than an exact N is an error that does not say how many",
          "[engine][rows][negative]") {
  const std::vector<MemoryRow> rows = {visit("p", "1"), visit("q", "2"), {}};
  CHECK(asked(rows, exact_visits(3, 0), "count") == 3);
  for (const std::uint64_t declared : {2U, 4U}) {
    CHECK_THROWS_AS(asked(rows, exact_visits(declared, 0), "mean:age"), SourceError);
    CHECK_THROWS_WITH(asked(rows, exact_visits(declared, 0), "count", "age > 0"),
                      "dataset 'clinic': the source does not have exactly " + std::to_string(declared) +
                          " rows, as `rows: {exact: N}` declares; an empty line is a row too, at the end of "
                          "the file as well");
  }
}

TEST_CASE("rows: variance by group is the exact sum of squares, sum and count", "[engine][rows][exact]") {
  const std::vector<MemoryRow> rows = {visit("p", "50", "A"), visit("q", "60", "A"), visit("r", "", "A"),
                                       visit("s", "0", "B")};
  const auto parts = answer({kVisitColumns, rows}, visits(), question("variance:age", "ward"));
  CHECK(parts[0] == std::vector<Rational>{50, 55 * 55, 0});
  CHECK(parts[1] == std::vector<Rational>{0, -55, 0});
  CHECK(parts[2] == std::vector<Rational>{2, 1, 0});
}

TEST_CASE("rows: how a unit is bounded does not depend on other units or on how they interleave",
          "[engine][rows][overlap]") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::vector<MemoryRow>> units(5);
    Rational separately = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
      for (std::uint64_t i = random() % 5; i > 0; --i) {
        units[u].push_back(visit("unit" + std::to_string(u), std::to_string(random() % 200)));
      }
      separately += asked(units[u], visits(), "sum:age", "age != 7");
    }
    std::vector<MemoryRow> merged;
    std::vector<std::size_t> next(units.size());
    for (;;) {
      std::vector<std::size_t> open;
      for (std::size_t u = 0; u < units.size(); ++u) {
        if (next[u] < units[u].size()) open.push_back(u);
      }
      if (open.empty()) break;
      const std::size_t u = open[random() % open.size()];
      merged.push_back(units[u][next[u]++]);
    }
    CAPTURE(round);
    REQUIRE(asked(merged, visits(), "sum:age", "age != 7") == separately);
  }
}

TEST_CASE("rows: of a unit as many are kept as the policy says, on either side of what a byte counts",
          "[engine][rows][overlap]") {
  for (const std::uint64_t most : {254U, 255U, 256U, 299U, 300U, 301U}) {
    ContributionBound bound(most);
    std::uint64_t kept = 0;
    for (int row = 0; row < 300; ++row) {
      const auto admission = bound.admit(3);
      CHECK(admission.first == (row == 0));
      if (admission.kept) ++kept;
    }
    CHECK(kept == std::min<std::uint64_t>(most, 300));
    CHECK(bound.admit(0).first);
  }
}

TEST_CASE("rows: unit ids are numbered alike whether they fit in their entry or stand elsewhere",
          "[engine][rows][overlap]") {
  UnitTable table;
  std::vector<std::string> ids;
  for (std::size_t size = 0; size <= 16; ++size) {
    for (const char last : {'a', 'b'}) {
      if (size > 0 || last == 'a')
        ids.push_back(std::string(size > 0 ? size - 1 : 0, 'x') + std::string(size > 0, last));
    }
  }
  for (int round = 0; round < 3; ++round) {  // found again after the table has grown
    for (std::size_t i = 0; i < ids.size(); ++i) {
      CAPTURE(round, ids[i]);
      CHECK(table.number_of(ids[i]) == i);
    }
    for (int i = 0; i < 100 * round; ++i) (void)table.number_of("more" + std::to_string(i));
  }
}

TEST_CASE("rows: unit ids are told apart by their bytes where their hashes are all the same",
          "[engine][rows][overlap]") {
  for (const std::uint64_t same : {std::uint64_t{0}, std::uint64_t{7} << 40, UINT64_MAX}) {
    static std::uint64_t hash = 0;
    hash = same;
    UnitTable table([](std::string_view, std::uint64_t) { return hash; });
    std::vector<std::string> ids;
    for (const std::size_t size : {1U, 7U, 8U, 12U, 13U, 40U}) {
      for (std::size_t at = 0; at < size; ++at) {
        ids.push_back(std::string(size, 'x'));
        ids.back()[at] = 'y';
      }
    }
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        CAPTURE(same, round, ids[i]);
        CHECK(table.number_of(ids[i]) == i);
      }
    }
  }
}

TEST_CASE("rows: unit ids are told apart by all their bytes", "[engine][rows][overlap]") {
  UnitTable table;
  CHECK(table.number_of("a") == 0);
  CHECK(table.number_of("A") == 1);
  CHECK(table.number_of("a ") == 2);
  CHECK(table.number_of(std::string_view("a\0", 2)) == 3);
  CHECK(table.number_of(std::string(3'000'000, 'x')) == 4);
  CHECK(table.number_of(std::string(2'999'999, 'x')) == 5);
  for (std::uint64_t i = 0; i < 100'000; ++i) REQUIRE(table.number_of("id" + std::to_string(i)) == 6 + i);
  for (std::uint64_t i = 0; i < 100'000; i += 7) REQUIRE(table.number_of("id" + std::to_string(i)) == 6 + i);
  CHECK(table.number_of("a") == 0);
  CHECK(table.size() == 100'006);
}
