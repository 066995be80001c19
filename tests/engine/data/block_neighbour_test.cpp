// Derived sensitivities under `blocks`, against every data set that differs in the rows of one unit in one
// block, and against those that differ by a whole unit.
//
// The data sets are as in neighbour_test.cpp, with a date beside the group; the blocks are either of the
// dates' months or of the declared groups, or of labels derived from the numbers or the dates, and some rows
// lie in none.
#include "blocks.hpp"
#include "checked_rows.hpp"
#include "epsilog/engine/date.hpp"
#include "first_cells.hpp"
#include "neighbours.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::vector<std::string> kColumns = {"id", "x", "g", "d"};
const std::vector<std::string> kNumbers = {"-9", "1", "9", ""};
const std::vector<std::string> kGroups = {"A", "B", "Z"};
const std::vector<std::string> kDates = {"2024-01-31", "2024-02-01", "2024-03-01", ""};
const std::vector<std::string> kHostile = hostile_cells();
const std::vector<std::string> kStatistics = {
    "count",      "units",         "sum:x",          "mean:x",
    "variance:x", "median:x",      "quantile:x:1/5", "quantiles:x:0.5,0.7,0.9",
    "count:x",    "count:d",       "distinct:g",     "proportion:g:A",
    "median:d",   "quantile:d:0.9"};

/// The second, fourth and sixth leave one block of the months, of the groups and of both; so does the
/// seventh, of the months. The eighth leaves all of both, the ninth none of the months. Of the bands the
/// third leaves one, and so do the last three, one of them none of the halves.
const std::vector<std::string> kWheres =
    first_cells(EPSILOG_SOURCE_DIR "/tests/engine/data/block_wheres.tsv");

const std::string kQuestions = EPSILOG_SOURCE_DIR "/tests/engine/data/block_questions.tsv";

constexpr std::size_t kRowsMax = 4;
constexpr std::size_t kAddedMax = 2;

Blocks months() {
  std::int64_t first = 0;
  std::int64_t last = 0;
  REQUIRE((parse_date("2024-01-01", first) && parse_date("2024-02-29", last)));
  return {"d", CalendarPeriod::month, first, last};
}
Blocks groups() {
  return {"g", std::nullopt};
}
Blocks bands() {
  return {"band", std::nullopt};
}
Blocks halves() {
  return {"half", std::nullopt};
}

/// Of a cell of `x`, in whose bins -9 and 1 lie. `constant`: where a missing one lies.
std::string band_of(const std::string& x, const std::string& constant) {
  if (x == "-9") return "[-9,1)";
  if (x == "1") return "[1,9)";
  const bool is_number =
      !x.empty() && x.find_first_not_of("0123456789", x[0] == '-' ? 1 : 0) == std::string::npos;
  return is_number ? "" : constant;
}

/// Of a cell of `d`, of which one day is mapped to itself and every other one to one label.
std::string half_of(const std::string& d) {
  if (d == "2024-01-31") return "early";
  return d == "2024-02-01" || d == "2024-03-01" ? "late" : "";
}

/// The block a row is in, said without the code under test; "" for none.
std::string block_of(const Dataset& dataset, const MemoryRow& row) {
  if (row.empty()) return "";
  if (dataset.blocks->by == "g") return row[2] == "A" || row[2] == "B" ? row[2] : "";
  if (dataset.blocks->by == "band") return band_of(row[1], dataset.columns[0].missing ? "[1,9)" : "");
  if (dataset.blocks->by == "half") return half_of(row[3]);
  return row[3] == "2024-01-31" || row[3] == "2024-02-01" ? row[3].substr(0, 7) : "";
}

std::vector<std::string> blocks_of(const Dataset& dataset) {
  if (dataset.blocks->by == "g") return {"A", "B"};
  if (dataset.blocks->by == "band") return {"[-9,1)", "[1,9)"};
  if (dataset.blocks->by == "half") return {"early", "late"};
  return {"2024-01", "2024-02"};
}

/// Every row of a part of the domain that has all extremes; of one block or, with "", of none.
std::vector<MemoryRow> toy_rows(const Dataset& dataset, const std::string& block) {
  std::vector<MemoryRow> result;
  for (const std::string& x : kNumbers) {
    for (const std::string& g : kGroups) {
      for (const std::string& d : kDates) {
        MemoryRow row = {"", x, g, d};
        if (block_of(dataset, row) == block) result.push_back(std::move(row));
      }
    }
  }
  return result;
}

Records random_rows(const Dataset& dataset, std::size_t size, std::mt19937_64& random) {
  static const std::vector<std::string> kIds = {"p", "p", "q", ""};
  Records rows;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string id = dataset.unit.is_row() ? "row" + std::to_string(i) : pick(kIds, random);
    MemoryRow row = {id, pick(kNumbers, random), pick(kGroups, random), pick(kDates, random)};
    if (random() % 4 == 0) row[1 + random() % 3] = pick(kHostile, random);
    rows.push_back(random() % 10 == 0 ? MemoryRow{} : row);
  }
  return rows;
}

/// Visits what adding one or two such rows of the unit gives. Where they stand among the rows of others
/// plays no part, so places at the front and the back are enough for two.
template <class Visit>
void visit_added(const Records& rows, const std::string& id, std::vector<MemoryRow> toys, bool one_row,
                 const Visit& visit) {
  for (MemoryRow& row : toys) row[0] = id;
  const auto inserted = [](Records into, std::size_t place, const MemoryRow& row) {
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(place), row);
    return into;
  };
  for (const MemoryRow& first : toys) {
    for (std::size_t i = 0; i <= rows.size(); ++i) visit(inserted(rows, i, first));
    if (one_row) continue;
    for (const MemoryRow& second : toys) {
      visit(inserted(inserted(rows, 0, second), 0, first));
      visit(inserted(inserted(rows, 0, first), rows.size() + 1, second));
      visit(inserted(inserted(rows, rows.size(), first), rows.size() + 1, second));
    }
  }
}

std::vector<std::size_t> places_of(const Dataset& dataset, const Records& rows, const std::string& id,
                                   const std::string& block) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].empty() && rows[i][0] == id && block_of(dataset, rows[i]) == block) result.push_back(i);
  }
  return result;
}

/// Visits the data sets that differ in the rows of one unit in one block. Add-remove: one of the two has
/// none.
template <class Visit>
void visit_block_neighbours(const Dataset& dataset, const Records& rows, const Visit& visit) {
  const bool replaces = dataset.neighbours == Neighbours::replace_one;
  for (const std::string& id : ids_of(rows)) {
    for (const std::string& block : blocks_of(dataset)) {
      // A row that is its own unit is in one block: in the others, and beside it, there is no room.
      const bool by_row = dataset.unit.is_row();
      const auto places = places_of(dataset, rows, id, block);
      if (by_row && id != "new" && places.empty()) continue;
      const Records rest = without(rows, places);
      if (!places.empty()) visit(rest);
      if (places.empty() || replaces) visit_added(rest, id, toy_rows(dataset, block), by_row, visit);
    }
  }
}

/// Visits the data sets that have one unit less, or one more whose rows are in any blocks.
template <class Visit>
void visit_unit_neighbours(const Dataset& dataset, const Records& rows, const Visit& visit) {
  for (const std::string& id : ids_of(rows)) {
    Records rest;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(rest),
                 [&](const MemoryRow& row) { return row.empty() || row[0] != id; });
    visit(rest);
  }
  std::vector<MemoryRow> toys;
  for (const std::string& block : blocks_of(dataset)) {
    for (MemoryRow& row : toy_rows(dataset, block)) {
      if (row[1] == "-9" || row[1] == "9") toys.push_back(std::move(row));
    }
  }
  visit_added(rows, "new", std::move(toys), dataset.unit.is_row(), visit);
}

Dataset toy_dataset(const Blocks& blocks, std::uint64_t k, Neighbours neighbours) {
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.columns = {
      number_column("x", ColumnType::integer, -2, 3), value_column("g", ColumnType::string, {"A", "B"}),
      value_column("d", ColumnType::date, {}), value_column("band", ColumnType::string, {"[-9,1)", "[1,9)"}),
      value_column("half", ColumnType::string, {"early", "late"})};
  // The last of the days lies beyond.
  std::int64_t first = 0;
  std::int64_t last = 0;
  REQUIRE((parse_date("2024-01-30", first) && parse_date("2024-02-02", last)));
  dataset.columns[2].bounds = Bounds{Rational(first), Rational(last)};
  dataset.columns[3].derived.emplace();
  dataset.columns[3].derived->from = "x";
  dataset.columns[3].derived->bins = {-9, 1, 9};
  dataset.columns[4].derived.emplace();
  dataset.columns[4].derived->from = "d";
  dataset.columns[4].derived->map = {{"2024-01-31", "early"}};
  dataset.columns[4].derived->other = "late";
  dataset.unit = k == 0 ? UnitOfPrivacy{"", 1} : UnitOfPrivacy{"id", k};
  dataset.rows = {kRowsMax + kAddedMax, false};
  dataset.neighbours = neighbours;
  dataset.blocks = blocks;
  return dataset;
}

Setting random_setting(std::mt19937_64& random) {
  const auto neighbours = random() % 2 == 0 ? Neighbours::add_remove : Neighbours::replace_one;
  static const std::vector<Blocks> kBlocks = {months(), groups(), bands(), halves()};
  Dataset dataset = toy_dataset(pick(kBlocks, random), random() % 4, neighbours);
  if (random() % 2 == 0) dataset.columns[0].bounds = Bounds{1, 3};
  if (random() % 2 == 0) dataset.columns[0].missing = dataset.columns[0].bounds->upper;
  const std::string statistic = pick(kStatistics, random);
  const std::string by = random() % 2 == 0 ? "g" : "";
  Setting setting = setting_of(std::move(dataset), statistic, by, pick(kWheres, random));
  const bool adds_up =
      statistic == "count" || statistic == "units" || statistic == "sum:x" || statistic.starts_with("count:");
  if (adds_up && !by.empty() && random() % 2 == 0) {
    with_totals(setting.question, Rational(1, 5), false);
    setting.derivation = derive(setting.dataset, setting.question);
  }
  return setting;
}

/// The derivation without the rule for blocks: what a whole unit can change.
Derivation of_whole_units(const Setting& setting) {
  Dataset dataset = setting.dataset;
  dataset.blocks.reset();
  return derive(dataset, setting.question);
}

/// The faults of a derivation over all block neighbours of the rows.
std::set<std::string> faults_of(const Setting& setting, const Derivation& derivation, const Records& rows) {
  std::set<std::string> found;
  const Values before = answered(setting, {kColumns, rows});
  visit_block_neighbours(setting.dataset, rows, [&](const Records& neighbour) {
    found.insert(fault_between(derivation, before, answered(setting, {kColumns, neighbour})));
  });
  found.erase("");
  return found;
}

Rational largest_distance(const Setting& setting, const Records& rows) {
  Rational largest = 0;
  const Values before = answered(setting, {kColumns, rows});
  visit_block_neighbours(setting.dataset, rows, [&](const Records& neighbour) {
    const Values after = answered(setting, {kColumns, neighbour});
    Rational distance = 0;
    for (std::size_t cell = 0; cell < before[0].size(); ++cell) {
      distance += abs(Rational(before[0][cell] - after[0][cell]));
    }
    largest = std::max(largest, distance);
  });
  return largest;
}

/// Every neighbour of random rows, in so many random settings.
void check_neighbours(int settings) {
  constexpr std::uint64_t kSeed = 20240201;
  std::mt19937_64 random(kSeed);
  std::uint64_t pairs = 0;
  for (int i = 0; i < settings; ++i) {
    const Setting setting = random_setting(random);
    const Records rows = random_rows(setting.dataset, random() % (kRowsMax + 1), random);
    const Values before = answered(setting, {kColumns, rows});
    const auto check = [&](const Records& neighbour) {
      ++pairs;
      check_between(setting,
                    "seed " + std::to_string(kSeed) + ", setting " + std::to_string(i) + ", blocks by " +
                        setting.dataset.blocks->by,
                    rows, before, neighbour, answered(setting, {kColumns, neighbour}));
    };
    visit_block_neighbours(setting.dataset, rows, check);
    visit_unit_neighbours(setting.dataset, rows, check);
  }
  CHECK(pairs > 250 * static_cast<std::uint64_t>(settings));
}

}  // namespace

TEST_CASE(
    "block neighbour: no unit's rows in one block, and no whole unit, move an answer by more than derived",
    "[engine][blocks][neighbour][exhaustive]") {
  check_neighbours(40);
}

TEST_CASE("block neighbour: neither moves an answer by more than derived, in 400 random settings",
          "[engine][blocks][neighbour][exhaustive][.long]") {
  check_neighbours(400);
}

TEST_CASE("block neighbour: the counterexample, one row more in a block takes the place of a row in another",
          "[engine][blocks][neighbour][exact]") {
  const Setting histogram = setting_of(toy_dataset(groups(), 1, Neighbours::add_remove), "count", "g", "");
  const Records before = {{"p", "1", "B", ""}};
  const Records after = {{"p", "1", "A", ""}, {"p", "1", "B", ""}};
  CHECK(answered(histogram, {kColumns, before})[0] == std::vector<Rational>{0, 1});
  CHECK(answered(histogram, {kColumns, after})[0] == std::vector<Rational>{1, 0});
  CHECK(of_whole_units(histogram).components[0].sensitivity == 1);
  CHECK(histogram.derivation.components[0].sensitivity == 2);
  CHECK(histogram.derivation.components[0].coordinates == 2);
}

TEST_CASE(
    "block neighbour: the counterexample holds of labels, and of one label a question keeps the smaller "
    "entry",
    "[engine][blocks][derived][neighbour][exact]") {
  const auto histogram = [](const std::string& where) {
    return setting_of(toy_dataset(bands(), 1, Neighbours::add_remove), "count", "g", where);
  };
  const Records before = {{"p", "1", "B", ""}};
  const Records after = {{"p", "-9", "A", ""}, {"p", "1", "B", ""}};
  for (const char* where : {"", "g != 'Z'", "x <= 1", "x != 1 or band = '[1,9)'"}) {
    CAPTURE(where);
    const Setting setting = histogram(where);
    CHECK(answered(setting, {kColumns, before})[0] == std::vector<Rational>{0, 1});
    CHECK(answered(setting, {kColumns, after})[0] == std::vector<Rational>{1, 0});
    CHECK(setting.derivation.components[0].sensitivity == 2);
    CHECK(largest_distance(setting, before) == 2);
  }
  // Rows of x >= 9 or with none lie in no block, and take no place.
  for (const char* where :
       {"x >= 1", "x > 0.5", "band = '[1,9)'", "x is missing or x > 2 and x < 9", "x > 9"}) {
    CAPTURE(where);
    const Setting setting = histogram(where);
    CHECK(setting.derivation.components[0].sensitivity == 1);
    CHECK(largest_distance(setting, before) <= 1);
  }
}

TEST_CASE("block neighbour: what a whole unit changes is too small for its rows in one of several blocks",
          "[engine][blocks][neighbour][exhaustive]") {
  const Records rows = {{"p", "9", "A", "2024-01-31"}, {"p", "9", "A", "2024-01-31"}};
  for (const CaseRow& c : rows_of(kQuestions, "whole")) {
    for (const std::uint64_t k : {1U, 2U}) {
      // Breaking it takes k groups before and k others after, and there are two.
      const std::string& statistic = c[1];
      if (k == 2 && (statistic == "units" || statistic == "distinct:g")) continue;
      const Setting setting = setting_of(toy_dataset(months(), k, Neighbours::add_remove), c[1], c[2], c[3]);
      CAPTURE(c[1], c[2], c[3], k);
      CHECK(faults_of(setting, setting.derivation, rows).empty());
      CHECK(faults_of(setting, of_whole_units(setting), rows).count("sensitivity") == 1);
    }
  }
}

TEST_CASE("block neighbour: the sensitivities under blocks are attained, so a smaller one would be caught",
          "[engine][blocks][neighbour][exhaustive]") {
  // The rows of one unit in January, its place taken by rows in February and the other way round.
  const Records rows = {{"p", "9", "A", "2024-01-31"}, {"p", "9", "A", "2024-01-31"}};
  for (const CaseRow& c : rows_of(kQuestions, "attained")) {
    const std::uint64_t k = std::stoull(c.at(4));
    const Setting setting = setting_of(toy_dataset(months(), k, Neighbours::add_remove), c[1], c[2], c[3]);
    CAPTURE(c[1], c[2], c[3], k);
    CHECK(largest_distance(setting, rows) == setting.derivation.components[0].sensitivity);
  }
}

TEST_CASE(
    "block neighbour: a question about one block or none, and one about rows, keeps the smaller entries",
    "[engine][blocks][sensitivity][exact]") {
  const auto derived = [](std::uint64_t k, Neighbours neighbours, const std::string& where) {
    const Setting setting = setting_of(toy_dataset(months(), k, neighbours), "sum:x", "g", where);
    return std::pair(setting.derivation.components[0].sensitivity,
                     of_whole_units(setting).components[0].sensitivity);
  };
  for (const char* where : {"d = 2024-02-01", "d < 2024-02-01", "d > 2030-01-01"}) {
    CAPTURE(where);
    CHECK(derived(2, Neighbours::add_remove, where) == std::pair<Rational, Rational>(6, 6));
    CHECK(derived(2, Neighbours::replace_one, where) == std::pair<Rational, Rational>(12, 12));
  }
  CHECK(derived(2, Neighbours::add_remove, "") == std::pair<Rational, Rational>(12, 6));
  CHECK(derived(2, Neighbours::add_remove, "x > 0") == std::pair<Rational, Rational>(12, 6));
  CHECK(derived(2, Neighbours::replace_one, "") == std::pair<Rational, Rational>(12, 12));
  // `unit: row`: a unit has one row, in one block, and nothing to displace.
  CHECK(derived(0, Neighbours::add_remove, "") == std::pair<Rational, Rational>(3, 3));
}

TEST_CASE("block neighbour: rows in no block change no answer", "[engine][blocks][rows][exact]") {
  constexpr std::uint64_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const Setting setting = random_setting(random);
    const Records rows = random_rows(setting.dataset, kRowsMax, random);
    INFO("seed " << kSeed << ": " << described(setting, rows));
    const Values before = answered(setting, {kColumns, rows});
    visit_added(rows, "p", toy_rows(setting.dataset, ""), true, [&](const Records& more) {
      if (answered(setting, {kColumns, more}) != before) FAIL_CHECK(described(setting, more));
    });
  }
}
