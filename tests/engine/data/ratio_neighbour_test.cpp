// Ratios against every neighbour of small data sets, by brute force: both sums, for every form, relation and
// rule of blocks.
//
// Two numeric columns, either of which a row may lack, with bounds of one sign and of both; a group, a second
// one and a date to be in blocks by. As in neighbour_test.cpp, for random policies and questions every
// neighbour is built.
#include "epsilog/engine/date.hpp"
#include "neighbours.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::vector<std::string> kColumns = {"id", "x", "y", "g", "h", "d"};
const std::vector<std::string> kWheres = {"", "x >= 1", "g = 'A'", "y is missing or x < 3 and d is missing",
                                          "d < 2024-02-01"};
constexpr std::size_t kRowsMax = 4;
constexpr std::size_t kAddedMax = 2;

/// Beyond the bounds on either side, within, and missing; what stands in the other column goes with it.
const std::vector<std::pair<std::string, std::string>> kPairs = {{"-9", "9"}, {"9", "9"}, {"9", "0"},
                                                                 {"1", ""},   {"", "9"},  {"", ""}};
const std::vector<std::string> kDates = {"2024-01-31", "2024-02-01", "2024-03-01", ""};

Dataset random_dataset(std::mt19937_64& random, bool in_blocks) {
  static const std::vector<std::pair<int, int>> kAbove = {{-2, 3}, {1, 3}, {-3, -1}, {0, 3}};
  static const std::vector<std::pair<int, int>> kBelow = {{0, 4}, {1, 4}};
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  const auto [least_above, most_above] = pick(kAbove, random);
  const auto [least_below, most_below] = pick(kBelow, random);
  Column x =
      number_column("x", random() % 2 == 0 ? ColumnType::integer : ColumnType::real, least_above, most_above);
  Column y = number_column("y", ColumnType::integer, least_below, most_below);
  if (random() % 4 == 0) x.missing = x.bounds->lower;
  if (random() % 4 == 0) y.missing = y.bounds->upper;
  dataset.columns = {x, y, value_column("g", ColumnType::string, {"A", "B"}),
                     value_column("h", ColumnType::boolean, {"false", "true"}),
                     value_column("d", ColumnType::date, {})};
  dataset.unit = random() % 4 == 0 ? UnitOfPrivacy{"", 1} : UnitOfPrivacy{"id", 1 + random() % 2};
  dataset.neighbours = random() % 2 == 0 ? Neighbours::add_remove : Neighbours::replace_one;
  dataset.rows = {kRowsMax + kAddedMax, false};
  dataset.mean_split = Rational(1, 3);
  if (in_blocks) {
    std::int64_t first = 0, last = 0;
    REQUIRE((parse_date("2024-01-01", first) && parse_date("2024-02-29", last)));
    dataset.blocks = Blocks{"d", CalendarPeriod::month, first, last};
  }
  return dataset;
}

Setting random_setting(std::mt19937_64& random, bool in_blocks) {
  static const std::vector<std::string> kBy = {"", "", "g", "g,h", "h,g"};
  Dataset dataset = random_dataset(random, in_blocks);
  return setting_of(std::move(dataset), "ratio:x,y", pick(kBy, random), pick(kWheres, random));
}

MemoryRow toy_row(const std::string& id, const std::pair<std::string, std::string>& pair,
                  const std::string& group, const std::string& date) {
  return {id, pair.first, pair.second, group, group == "A" ? "true" : "false", date};
}

Records random_rows(const Dataset& dataset, std::mt19937_64& random) {
  static const std::vector<std::string> kIds = {"p", "p", "q", ""};
  static const std::vector<std::string> kGroups = {"A", "B", "Z"};
  static const std::vector<std::string> kHostile = hostile_cells();
  Records rows;
  for (std::size_t i = random() % (kRowsMax + 1); i > 0; --i) {
    const std::string id = dataset.unit.is_row() ? "row" + std::to_string(i) : pick(kIds, random);
    rows.push_back(toy_row(id, pick(kPairs, random), pick(kGroups, random), pick(kDates, random)));
    if (random() % 4 == 0) rows.back()[1 + random() % 2] = pick(kHostile, random);
    if (random() % 10 == 0) rows.back().clear();
  }
  return rows;
}

/// All that a unit may have: in one date, or in each.
std::vector<MemoryRow> toy_rows(const std::string& id, const std::vector<std::string>& dates) {
  std::vector<MemoryRow> toys;
  for (const auto& pair : kPairs) {
    for (const char* group : {"A", "B"}) {
      for (const std::string& date : dates) toys.push_back(toy_row(id, pair, group, date));
    }
  }
  return toys;
}

std::vector<std::size_t> places_of(const Records& rows, const std::string& id, const std::string& date) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool in_block = date.empty() || (!rows[i].empty() && rows[i][5] == date);
    if (!rows[i].empty() && rows[i][0] == id && in_block) places.push_back(i);
  }
  return places;
}

/// Visits what one or two rows more give, each before or behind all others.
template <class Visit>
void visit_added(const Records& rows, const std::vector<MemoryRow>& toys, bool one_row, const Visit& visit) {
  for (const MemoryRow& first : toys) {
    for (const bool front : {true, false}) {
      Records one = rows;
      one.insert(front ? one.begin() : one.end(), first);
      visit(one);
      if (one_row) continue;
      for (const MemoryRow& second : toys) {
        Records two = one;
        two.push_back(second);
        visit(two);
        if (!front) continue;
        two = one;
        two.insert(two.begin(), second);
        visit(two);
      }
    }
  }
}

/// Visits the data sets that differ in all rows of one unit, under blocks in those of one date.
template <class Visit>
void visit_neighbours(const Dataset& dataset, const Records& rows, const Visit& visit) {
  const bool replaces = dataset.neighbours == Neighbours::replace_one, by_row = dataset.unit.is_row();
  const std::vector<std::string> blocks =
      dataset.blocks ? std::vector<std::string>{"2024-01-31", "2024-02-01"} : std::vector<std::string>{""};
  for (const std::string& id : ids_of(rows)) {
    for (const std::string& block : blocks) {
      const auto places = places_of(rows, id, block);
      if (by_row && id != "new" && places.empty()) continue;  // it is in another block
      if (!dataset.blocks && replaces && id == "new") continue;
      const Records rest = without(rows, places);
      if (!places.empty()) visit(rest);
      const bool may_come = places.empty() ? !replaces || dataset.blocks : replaces;
      if (may_come) visit_added(rest, toy_rows(id, {block.empty() ? "2024-01-31" : block}), by_row, visit);
    }
  }
}

/// Visits what other cells in the rows of one unit give, N staying N.
template <class Visit>
void visit_changed_in_place(const Records& rows, const Visit& visit) {
  std::vector<MemoryRow> toys = toy_rows("new", {"2024-01-31"});
  toys.push_back({});
  for (const std::string& id : ids_of(rows)) {
    const auto places = places_of(rows, id, "");
    for (const MemoryRow& first : toys) {
      for (const MemoryRow& second : toys) {
        Records changed = rows;
        for (std::size_t i = 0; i < places.size(); ++i) changed[places[i]] = i % 2 == 0 ? first : second;
        visit(changed);
      }
    }
  }
}

struct Largest {
  Rational above = 0;
  Rational below = 0;
};

/// How far the sums move, in L1.
Largest largest_change(const Setting& setting, const Records& rows) {
  Largest largest;
  const Values before = answered(setting, {kColumns, rows});
  visit_neighbours(setting.dataset, rows, [&](const Records& neighbour) {
    const Values after = answered(setting, {kColumns, neighbour});
    CHECK(fault_between(setting.derivation, before, after).empty());
    Rational* const of[] = {&largest.above, &largest.below};
    for (std::size_t part = 0; part < 2; ++part) {
      Rational change = 0;
      for (std::size_t cell = 0; cell < before[part].size(); ++cell)
        change += abs(Rational(before[part][cell] - after[part][cell]));
      *of[part] = std::max(*of[part], change);
    }
  });
  return largest;
}

}  // namespace

TEST_CASE("ratio neighbour: no neighbour moves either sum by more than its part is calibrated to",
          "[engine][ratio][neighbour][exhaustive]") {
  constexpr std::uint64_t kSeed = 20240815;
  std::mt19937_64 random(kSeed);
  std::uint64_t pairs = 0;
  for (int i = 0; i < 160; ++i) {
    const Setting setting = random_setting(random, i % 2 == 0);
    const Records rows = random_rows(setting.dataset, random);
    const Values before = answered(setting, {kColumns, rows});
    visit_neighbours(setting.dataset, rows, [&](const Records& neighbour) {
      ++pairs;
      check_between(setting, "seed " + std::to_string(kSeed) + ", setting " + std::to_string(i), rows, before,
                    neighbour, answered(setting, {kColumns, neighbour}));
    });
  }
  CHECK(pairs > 50'000);
}

TEST_CASE("ratio neighbour: under exact N no change of one unit's rows moves either sum by more",
          "[engine][ratio][neighbour][exhaustive]") {
  constexpr std::uint64_t kSeed = 20240816;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 120; ++i) {
    Setting setting = random_setting(random, false);
    const Records rows = random_rows(setting.dataset, random);
    if (rows.empty()) continue;
    setting.dataset.rows = {rows.size(), true};
    setting.dataset.neighbours = Neighbours::replace_one;
    setting.derivation = derive(setting.dataset, setting.question);
    const Values before = answered(setting, {kColumns, rows});
    visit_changed_in_place(rows, [&](const Records& neighbour) {
      check_between(setting, "seed " + std::to_string(kSeed) + ", setting " + std::to_string(i), rows, before,
                    neighbour, answered(setting, {kColumns, neighbour}));
    });
  }
}

TEST_CASE("ratio neighbour: what both sums are calibrated to is attained", "[engine][ratio][neighbour]") {
  std::mt19937_64 random(1);
  const Records rows = {toy_row("p", {"9", "9"}, "A", "2024-01-31"),
                        toy_row("p", {"9", "9"}, "A", "2024-01-31"),
                        toy_row("q", {"1", "9"}, "B", "2024-02-01")};
  for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::replace_one}) {
    for (const char* by : {"", "g", "g,h"}) {
      for (const bool in_blocks : {false, true}) {
        Dataset dataset = random_dataset(random, in_blocks);
        dataset.columns[0] = number_column("x", ColumnType::integer, -2, 3);
        dataset.columns[1] = number_column("y", ColumnType::integer, 0, 4);
        dataset.unit = {"id", 2};
        dataset.neighbours = neighbours;
        const Setting setting = setting_of(std::move(dataset), "ratio:x,y", by, "");
        CAPTURE(std::string(name(neighbours)), by, in_blocks);
        const Largest largest = largest_change(setting, rows);
        CHECK(largest.above == setting.derivation.components[0].sensitivity);
        CHECK(largest.below == setting.derivation.components[1].sensitivity);
      }
    }
  }
}

TEST_CASE("ratio neighbour: a row that lacks one of the two is in neither sum", "[engine][ratio][exact]") {
  std::mt19937_64 random(1);
  Dataset dataset = random_dataset(random, false);
  dataset.columns[0] = number_column("x", ColumnType::integer, -2, 3);
  dataset.columns[1] = number_column("y", ColumnType::integer, 0, 4);
  dataset.unit = {"id", 2};
  const Records rows = {toy_row("p", {"3", "2"}, "A", ""),  toy_row("p", {"2", ""}, "A", ""),
                        toy_row("p", {"1", "1"}, "A", ""),  toy_row("q", {"", "4"}, "B", ""),
                        toy_row("r", {"9", "9"}, "A", ""),  toy_row("s", {"nan", "4"}, "B", ""),
                        toy_row("t", {"-1", "1"}, "B", ""), toy_row("u", {"2", "3"}, "Z", "")};
  // The second row of p lacks y and takes a place all the same; those of r are clamped to 3 and 4.
  CHECK(answered(setting_of(dataset, "ratio:x,y", "", ""), {kColumns, rows}) == Values{{7}, {10}});
  CHECK(answered(setting_of(dataset, "ratio:x,y", "g", ""), {kColumns, rows}) == Values{{6, -1}, {6, 1}});
  CHECK(answered(setting_of(dataset, "ratio:x,y", "", "y is not missing"), {kColumns, rows}) ==
        Values{{8}, {11}});
  dataset.columns[0].missing = -2;
  dataset.columns[1].missing = 1;
  CHECK(answered(setting_of(dataset, "ratio:x,y", "", ""), {kColumns, rows}) == Values{{5}, {19}});
  // Of a public number of rows those that are not kept are in neither sum: nothing stands in for them.
  dataset.rows = {rows.size(), true};
  dataset.neighbours = Neighbours::replace_one;
  CHECK(answered(setting_of(dataset, "ratio:x,y", "", ""), {kColumns, rows}) == Values{{5}, {19}});
}
