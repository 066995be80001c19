// Derived sensitivities against every neighbour of small data sets, by brute force.
//
// Each data set has a handful of rows over a toy domain that holds values at, within and beyond the
// bounds, missing and hostile cells, undeclared groups, rows without unit id and malformed lines. For random
// policies and questions every neighbour is built, and the exact answers of both must differ by no
// more than the derivation says, in no more cells, and stay in the public range.
#include "first_cells.hpp"
#include "neighbours.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::vector<std::string> kColumns = {"id", "x", "g"};
const std::vector<std::string> kNumbers = {"-9", "-2", "0", "1", "3", "9", ""};
const std::vector<std::string> kGroups = {"A", "B", "Z", ""};
const std::vector<std::string> kHostile = hostile_cells();
const std::vector<std::string> kWheres =
    first_cells(EPSILOG_SOURCE_DIR "/tests/engine/data/neighbour_wheres.tsv");
/// Of columns that are derived from the two.
const std::vector<std::string> kLabelWheres =
    first_cells(EPSILOG_SOURCE_DIR "/tests/engine/data/label_wheres.tsv");
const std::vector<std::string> kStatistics = {
    "count",      "units",    "sum:x",          "mean:x",
    "variance:x", "median:x", "quantile:x:1/5", "quantiles:x:0.5,0.7,0.9",
    "count:x",    "count:g",  "distinct:g",     "proportion:g:A"};
/// The same of columns that are derived.
const std::vector<std::string> kLabelStatistics =
    first_cells(EPSILOG_SOURCE_DIR "/tests/engine/data/label_statistics.tsv");

MemoryRow random_row(const std::string& id, std::mt19937_64& random) {
  const auto cell = [&](const std::vector<std::string>& plain) {
    return random() % 8 == 0 ? pick(kHostile, random) : pick(plain, random);
  };
  return {id, cell(kNumbers), cell(kGroups)};
}

/// The bounds cover both signs, or one only, on either side of zero.
Dataset random_dataset(std::mt19937_64& random) {
  static const std::vector<std::pair<int, int>> kBounds = {{-2, 3}, {1, 3}, {-3, -1}, {0, 3}};
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  const auto [lower, upper] = pick(kBounds, random);
  const auto type = random() % 2 == 0 ? ColumnType::integer : ColumnType::real;
  Column x = number_column("x", type, lower, upper);
  if (random() % 2 == 0) x.missing = Rational(2 * lower + upper, 3);
  if (x.missing) x.missing->canonicalize();
  if (type == ColumnType::real) x.step = Rational(1, 2);
  dataset.columns = {x, value_column("g", ColumnType::string, {"A", "B"})};
  const bool by_row = random() % 4 == 0;
  dataset.unit = by_row ? UnitOfPrivacy{"", 1} : UnitOfPrivacy{"id", 1 + random() % 3};
  dataset.neighbours = random() % 2 == 0 ? Neighbours::add_remove : Neighbours::replace_one;
  return dataset;
}

/// Data sets have at most kRowsMax rows and a neighbour adds at most kUnitRowsMax.
constexpr std::size_t kRowsMax = 4;
constexpr std::size_t kUnitRowsMax = 3;

Records random_rows(const Dataset& dataset, std::size_t size, std::mt19937_64& random) {
  Records rows;
  for (std::size_t i = 0; i < size; ++i) {
    static const std::vector<std::string> kIds = {"p", "p", "q", "r", ""};
    // With `unit: row` ids play no part: giving each row its own lets one notion of neighbour serve.
    const std::string id = dataset.unit.is_row() ? "row" + std::to_string(i) : pick(kIds, random);
    rows.push_back(random() % 8 == 0 ? MemoryRow{} : random_row(id, random));
  }
  return rows;
}

std::string id_of(const MemoryRow& row) {
  return row.empty() ? "" : row[0];
}

/// The positions of each unit's rows. A row without unit id is dropped and belongs to nobody, but
/// with `unit: row` every record is a unit, the malformed ones included.
std::vector<std::vector<std::size_t>> units_of(const Dataset& dataset, const Records& rows) {
  std::vector<std::vector<std::size_t>> result;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (dataset.unit.is_row()) {
      result.push_back({i});
    } else if (const std::string id = id_of(rows[i]); !id.empty() && seen.insert(id).second) {
      std::vector<std::size_t> places;
      for (std::size_t j = i; j < rows.size(); ++j) {
        if (id_of(rows[j]) == id) places.push_back(j);
      }
      result.push_back(places);
    }
  }
  return result;
}

/// Every row over a part of the domain that has all extremes; a malformed line stands for `unit: row`.
std::vector<MemoryRow> toy_rows(const Dataset& dataset) {
  std::vector<MemoryRow> result;
  for (const std::string x : {"-9", "1", "9", ""}) {
    for (const std::string g : {"A", "B", "Z"}) result.push_back({"new", x, g});
  }
  result.push_back({"new", std::string(60, '9'), "\xff"});
  if (dataset.unit.is_row()) result.push_back({});
  return result;
}

/// Visits the data sets that have one unit more: any one or two toy rows at any places, and three
/// equal ones around the others.
template <class Visit>
void visit_added(const Dataset& dataset, const Records& rows, const Visit& visit) {
  const auto toys = toy_rows(dataset);
  const auto inserted = [](Records into, std::size_t place, const MemoryRow& row) {
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(place), row);
    return into;
  };
  for (const MemoryRow& first : toys) {
    for (std::size_t i = 0; i <= rows.size(); ++i) {
      const Records one = inserted(rows, i, first);
      visit(one);
      if (dataset.unit.is_row()) continue;
      for (const MemoryRow& second : toys) {
        for (std::size_t j = i + 1; j <= one.size(); ++j) visit(inserted(one, j, second));
      }
      if (i == 0) visit(inserted(inserted(one, 1, first), one.size() + 1, first));
    }
  }
}

/// Visits what replacing the rows at `places` by other values gives, N staying N. The rows may
/// become those of another unit, of nobody, or malformed.
template <class Visit>
void visit_changed_in_place(const Dataset& dataset, const Records& rows,
                            const std::vector<std::size_t>& places, const Visit& visit) {
  std::vector<MemoryRow> toys = toy_rows(dataset);
  toys.push_back({});
  toys.push_back({"", "9", "A"});
  for (const MemoryRow& first : toys) {
    for (const MemoryRow& other : toys) {
      Records changed = rows;
      for (std::size_t i = 0; i < places.size(); ++i) changed[places[i]] = i % 2 == 0 ? first : other;
      visit(changed);
      if (places.size() == 1) break;
    }
  }
}

template <class Visit>
void visit_neighbours(const Dataset& dataset, const Records& rows, const Visit& visit) {
  if (!dataset.rows.exact && dataset.neighbours == Neighbours::add_remove) {
    for (const auto& places : units_of(dataset, rows)) visit(without(rows, places));
    visit_added(dataset, rows, visit);
    return;
  }
  for (const auto& places : units_of(dataset, rows)) {
    if (dataset.rows.exact) {
      visit_changed_in_place(dataset, rows, places, visit);
    } else {
      visit_added(dataset, without(rows, places), visit);
    }
  }
}

/// Bins that leave out some numbers; one label for several texts, and in half the datasets one for all
/// others.
void add_derived_columns(Dataset& dataset, std::mt19937_64& random) {
  Column band = value_column("band", ColumnType::string, {"[-2,0)", "[0,1)", "[1,3)"});
  band.derived.emplace();
  band.derived->from = "x";
  band.derived->bins = {-2, 0, 1, 3};
  Column site = value_column("site", ColumnType::string, {"west", "east"});
  site.derived.emplace();
  site.derived->from = "g";
  site.derived->map = {{"A", "west"}, {"B", "east"}, {"C", "west"}};
  site.values.emplace_back("rest");
  if (random() % 2 == 0) site.derived->other = "rest";
  dataset.columns.push_back(band);
  dataset.columns.push_back(site);
}

enum class Groups { declared, derived, with_totals };

Setting random_setting(std::mt19937_64& random, bool exact, Groups groups) {
  Setting setting;
  setting.dataset = random_dataset(random);
  const bool derived = groups != Groups::declared;
  if (derived) add_derived_columns(setting.dataset, random);
  const bool of_labels = derived && random() % 2 == 0;
  std::string statistic = pick(of_labels ? kLabelStatistics : kStatistics, random);
  const std::string where = pick(derived ? kLabelWheres : kWheres, random);
  static const std::vector<std::string> kDerived = {"band", "site", "site,band", "g,band", "band,g,site"};
  std::string by = derived ? pick(kDerived, random) : "g";
  if (random() % 2 == 0) by = "";
  if (exact) {
    setting.dataset.rows = {1 + random() % kRowsMax, true};
    setting.dataset.neighbours = Neighbours::replace_one;
    Column& x = setting.dataset.columns[0];
    if (!x.missing) x.missing = x.bounds->upper;
    if (random() % 2 == 0) by = "";
  } else {
    setting.dataset.rows = {kRowsMax + kUnitRowsMax, false};
  }
  if (groups == Groups::with_totals) {
    statistic = pick(std::vector<std::string>{"count", "units", "sum:x", "count:x", "count:site"}, random);
    if (by.empty()) by = pick(std::vector<std::string>{"g", "band", "g,band"}, random);
  }
  setting.question = question(statistic, by, where);
  if (groups == Groups::with_totals) {
    const bool consistent = statistic != "units" && random() % 2 == 0;
    with_totals(setting.question, Rational(1, 5), consistent);
  }
  setting.derivation = derive(setting.dataset, setting.question);
  return setting;
}

/// Visits the answers of a data set and of each of its neighbours until `visit` says to stop.
template <class Visit>
void visit_pairs(const Setting& setting, const Records& rows, const Visit& visit) {
  const Values before = answered(setting, {kColumns, rows});
  visit_neighbours(setting.dataset, rows, [&](const Records& neighbour) {
    visit(before, answered(setting, {kColumns, neighbour}), neighbour);
  });
}

void check_random_settings(std::uint64_t seed, int settings, bool exact, Groups groups = Groups::declared) {
  std::mt19937_64 random(seed);
  std::uint64_t pairs = 0;
  for (int i = 0; i < settings; ++i) {
    const Setting setting = random_setting(random, exact, groups);
    const std::size_t size = exact ? setting.dataset.rows.count : random() % (kRowsMax + 1);
    const Records rows = random_rows(setting.dataset, size, random);
    visit_pairs(setting, rows, [&](const Values& before, const Values& after, const Records& neighbour) {
      ++pairs;
      check_between(setting, "seed " + std::to_string(seed) + ", setting " + std::to_string(i), rows, before,
                    neighbour, after);
    });
  }
  CHECK(pairs > static_cast<std::uint64_t>(settings));
}

}  // namespace

TEST_CASE("neighbour: no neighbour of a small data set moves an answer by more than the derived sensitivity",
          "[engine][neighbour][exhaustive]") {
  check_random_settings(20240131, 100, false);
}

TEST_CASE(
    "neighbour: groups and conditions of derived columns move no answer by more than those of declared "
    "values",
    "[engine][neighbour][derived][exhaustive]") {
  check_random_settings(20240611, 40, false, Groups::derived);
  check_random_settings(20240612, 75, true, Groups::derived);
}

TEST_CASE("neighbour: no neighbour moves a table or any of its totals by more than is derived for each",
          "[engine][neighbour][totals][exhaustive]") {
  check_random_settings(20241126, 30, false, Groups::with_totals);
  check_random_settings(20241127, 60, true, Groups::with_totals);
}

TEST_CASE("neighbour: the exact-N forms hold for every change of one unit's rows",
          "[engine][neighbour][exhaustive]") {
  check_random_settings(20240229, 600, true);
}

TEST_CASE("neighbour: no neighbour moves any answer by more than derived, in 4,100 random settings",
          "[engine][neighbour][exhaustive][.long]") {
  check_random_settings(20240131, 500, false);
  check_random_settings(20240611, 80, false, Groups::derived);
  check_random_settings(20240612, 150, true, Groups::derived);
  check_random_settings(20241126, 120, false, Groups::with_totals);
  check_random_settings(20241127, 250, true, Groups::with_totals);
  check_random_settings(20240229, 3000, true);
}

namespace {

/// The largest changes of the first component, or of the selections of quantiles, over neighbours of `rows`.
struct Change {
  Rational l1 = 0;
  Rational l2_squared = 0;
};

Change largest_change(const Setting& setting, const Records& rows) {
  Change largest;
  const bool ranked = setting.derivation.components[0].quantiles.has_value();
  visit_pairs(setting, rows, [&](const Values& before, const Values& after, const Records&) {
    Change change;
    const std::vector<Rational> changes =
        ranked ? rank_changes(before, after) : rank_changes({before[0]}, {after[0]});
    for (const Rational& difference : changes) {
      change.l1 += difference;
      change.l2_squared += difference * difference;
    }
    largest.l1 = std::max(largest.l1, change.l1);
    largest.l2_squared = std::max(largest.l2_squared, change.l2_squared);
  });
  return largest;
}

Setting tight_setting(const std::string& statistic, const std::string& by, std::uint64_t k,
                      Neighbours neighbours, std::size_t exact_rows = 0) {
  Setting setting;
  setting.dataset.name = "toy";
  setting.dataset.csv.emplace();
  setting.dataset.columns = {number_column("x", ColumnType::integer, -2, 3),
                             value_column("g", ColumnType::string, {"A", "B"})};
  std::mt19937_64 random(1);
  add_derived_columns(setting.dataset, random);
  setting.dataset.columns[0].missing = exact_rows > 0 ? std::optional<Rational>(-2) : std::nullopt;
  setting.dataset.unit = {"id", k};
  setting.dataset.neighbours = neighbours;
  setting.dataset.rows = exact_rows > 0 ? Rows{exact_rows, true} : Rows{6, false};
  setting.question = question(statistic, by);
  setting.derivation = derive(setting.dataset, setting.question);
  return setting;
}

}  // namespace

TEST_CASE("neighbour: the derived sensitivities are attained, so a smaller one would be caught",
          "[engine][neighbour][exhaustive]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/data/attained_sensitivities.tsv")) {
    const Neighbours neighbours =
        row.at(3) == name(Neighbours::add_remove) ? Neighbours::add_remove : Neighbours::replace_one;
    const Setting setting = tight_setting(row.at(0), row.at(1), std::stoull(row.at(2)), neighbours);
    const Records rows = {{"p", "9", "A"}, {"p", "9", "A"}, {"q", "1", "B"}};
    CAPTURE(row);
    const Change largest = largest_change(setting, rows);
    CHECK(largest.l1 == setting.derivation.components[0].sensitivity);
    if (setting.derivation.components[0].quantiles) continue;  // nothing is calibrated to its L2 sensitivity
    CHECK(largest.l2_squared == setting.derivation.components[0].sensitivity_l2_squared);
  }
}

TEST_CASE("neighbour: the sensitivities of a table and of each of its totals are attained",
          "[engine][neighbour][totals][exhaustive]") {
  struct Case {
    const char* statistic;
    Neighbours neighbours;
    std::vector<Rational> expected;  ///< of the cells, by g, by site, of all
  };
  const auto removed = Neighbours::add_remove;
  const auto replaced = Neighbours::replace_one;
  const Records rows = {{"p", "9", "A"}, {"p", "9", "A"}};
  // Old and new rows lie in different cells and in one grand total, from -2 to 3 of a row.
  for (const Case& c : std::vector<Case>{{"count", removed, {2, 2, 2, 2}},
                                         {"count", replaced, {4, 4, 4, 2}},
                                         {"sum:x", removed, {6, 6, 6, 6}},
                                         {"sum:x", replaced, {12, 12, 12, 10}}}) {
    Setting setting = tight_setting(c.statistic, "g,site", 2, c.neighbours);
    with_totals(setting.question, Rational(1, 5), true);
    setting.derivation = derive(setting.dataset, setting.question);
    CAPTURE(c.statistic, std::string(name(c.neighbours)));
    std::vector<Rational> largest(4);
    visit_pairs(setting, rows, [&](const Values& before, const Values& after, const Records&) {
      for (std::size_t part = 0; part < largest.size(); ++part) {
        Rational distance = 0;
        for (std::size_t cell = 0; cell < before[part].size(); ++cell)
          distance += abs(Rational(before[part][cell] - after[part][cell]));
        largest[part] = std::max(largest[part], distance);
      }
    });
    CHECK(largest == c.expected);
    std::vector<Rational> derived, shares;
    for (const Component& part : setting.derivation.components) {
      derived.push_back(part.sensitivity);
      shares.push_back(part.share);
    }
    CHECK(derived == c.expected);
    CHECK(shares == std::vector<Rational>{Rational(4, 5), Rational(1, 15), Rational(1, 15), Rational(1, 15)});
  }
}

TEST_CASE("neighbour: the sensitivities of distinct values are attained, with groups and without",
          "[engine][neighbour][exact]") {
  struct Case {
    const char* statistic;
    const char* by;
    std::uint64_t k;
    Neighbours neighbours;
    Records before;
    Records after;
    int square;  ///< of the distance; below what is derived where k values are not k in each cell
  };
  const auto removed = Neighbours::add_remove;
  const auto replaced = Neighbours::replace_one;
  // Bands of x: -2 lies in the first, 1 in the third, 9 in none.
  const Records two_of_a = {{"p", "-2", "A"}, {"p", "1", "A"}};
  const Records two_of_b = {{"r", "-2", "B"}, {"r", "1", "B"}};
  const Records nothing = {{"q", "9", "Z"}};
  for (const Case& c :
       std::vector<Case>{{"distinct:band",
                          "",
                          2,
                          removed,
                          nothing,
                          {{"p", "-2", "Z"}, {"p", "1", "Z"}, {"q", "9", "Z"}},
                          4},
                         {"distinct:band", "", 2, replaced, two_of_a, {{"r", "9", "A"}}, 4},
                         {"distinct:g", "", 3, removed, nothing, {{"p", "1", "A"}, {"p", "1", "B"}}, 4},
                         {"distinct:band", "g", 2, removed, two_of_a, nothing, 4},
                         {"distinct:band", "g", 2, replaced, two_of_a, two_of_b, 8},
                         {"distinct:g",
                          "band",
                          3,
                          replaced,
                          {{"p", "-2", "A"}, {"p", "-2", "B"}, {"p", "0", "A"}},
                          {{"r", "1", "A"}, {"r", "1", "B"}, {"r", "0", "B"}},
                          8}}) {
    Setting setting = tight_setting(c.statistic, c.by, c.k, c.neighbours);
    CAPTURE(c.statistic, c.by, c.k, std::string(name(c.neighbours)));
    const Values before = answered(setting, {kColumns, c.before});
    const Values after = answered(setting, {kColumns, c.after});
    CHECK(fault_between(setting.derivation, before, after) == "");
    Rational distance = 0, square = 0;
    for (std::size_t cell = 0; cell < before[0].size(); ++cell) {
      const Rational change = before[0][cell] - after[0][cell];
      distance += abs(change);
      square += change * change;
    }
    if (std::string(c.by) != "band") CHECK(distance == setting.derivation.components[0].sensitivity);
    CHECK(square == c.square);
    CHECK(square <= setting.derivation.components[0].sensitivity_l2_squared);
  }
  // All values of both groups go, all of none: V·G, and not 2k.
  Setting all = tight_setting("distinct:band", "g", 20, replaced);
  CHECK(all.derivation.components[0].sensitivity == 6);
  const Values full = answered(all, {kColumns,
                                     {{"p", "-2", "A"},
                                      {"p", "0", "A"},
                                      {"p", "1", "A"},
                                      {"p", "-2", "B"},
                                      {"p", "0", "B"},
                                      {"p", "1", "B"}}});
  CHECK(full[0] == std::vector<Rational>{3, 3});
  CHECK(all.derivation.components[0].sensitivity_l2_squared == 18);  // 3² + 3²
}

TEST_CASE("neighbour: the exact-N sensitivities are attained", "[engine][neighbour][exhaustive]") {
  const Records rows = {{"p", "9", "A"}, {"q", "-9", "A"}, {"r", "-9", "A"}, {"s", "-9", "B"}};
  for (const char* statistic : {"sum:x", "mean:x", "variance:x"}) {
    const Setting setting = tight_setting(statistic, "", 1, Neighbours::replace_one, rows.size());
    CAPTURE(statistic);
    CHECK(largest_change(setting, rows).l1 == setting.derivation.components[0].sensitivity);
  }
}

TEST_CASE("neighbour: half of a derived sensitivity or one coordinate fewer is found to be broken",
          "[engine][neighbour][exhaustive]") {
  Setting setting = tight_setting("count", "g", 2, Neighbours::replace_one);
  const Records rows = {{"p", "9", "A"}, {"p", "9", "A"}};
  const auto faults = [&](const Derivation& derivation) {
    std::set<std::string> found;
    visit_pairs(setting, rows, [&](const Values& before, const Values& after, const Records&) {
      found.insert(fault_between(derivation, before, after));
    });
    found.erase("");
    return found;
  };
  CHECK(faults(setting.derivation).empty());
  Derivation weak = setting.derivation;
  weak.components[0].sensitivity /= 2;
  CHECK(faults(weak) == std::set<std::string>{"sensitivity"});
  weak = setting.derivation;
  weak.components[0].sensitivity_l2_squared -= Rational(1, 1000);
  CHECK(faults(weak) == std::set<std::string>{"L2 sensitivity"});
  weak = setting.derivation;
  weak.components[0].step = 2;
  CHECK(faults(weak) == std::set<std::string>{"step"});
  weak = setting.derivation;
  weak.components[0].coordinates -= 1;
  CHECK(faults(weak) == std::set<std::string>{"coordinates"});
}
