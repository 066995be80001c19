// Conditions with `or`, `not`, `between`, `is missing` and parentheses, against a truth table of three
// values: every row of a small domain is tried.
#include <SQLiteCpp/SQLiteCpp.h>

#include "blocks.hpp"
#include "checked_rows.hpp"
#include "condition.hpp"
#include "condition_trees.hpp"
#include "refused_for.hpp"
#include "row_filter.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kConditions = EPSILOG_SOURCE_DIR "/tests/engine/data/conditions.tsv";
constexpr unsigned kSeed = 20261123;

bool is_refused(const Dataset& dataset, const std::string& where) {
  const Question asked = question("count", "", where);
  (void)derive(dataset, asked);
  return !refused_for<InvalidParameter>([&] { require_satisfiable(dataset, asked); }).empty();
}

}  // namespace

TEST_CASE("condition tree: each row is kept as a truth table of three values says",
          "[engine][condition][exhaustive]") {
  const Dataset dataset = toy_dataset();
  Typist typist(kSeed);
  std::size_t kept = 0;
  std::size_t dropped = 0;
  for (int i = 0; i < 300; ++i) {
    const Tree tree = typist.tree(4);
    CAPTURE(tree.text);
    const Predicate typed = Predicate::parse(tree.text);
    const RowFilter filter(dataset, typed, names_of_columns(), CellDialect::of(dataset));
    std::size_t wrong = 0;
    for (const ToyRow& row : toy_rows()) {
      const bool expected = is_kept(tree, row);
      if (filter.keeps(cells_of(row)) != expected) ++wrong;
      ++(expected ? kept : dropped);
    }
    REQUIRE(wrong == 0);
  }
  CHECK(kept > 50'000);
  CHECK(dropped > 50'000);
}

TEST_CASE(
    "condition tree: a missing cell satisfies neither a comparison nor its opposite, and `is missing` alone "
    "sees it",
    "[engine][condition][exact]") {
  const MemoryTable table{{"id", "a", "m"}, {{"p", "", ""}, {"q", "5", "5"}, {"r", "x", "x"}, {}}};
  Dataset dataset = toy_dataset();
  const auto counted = [&](const std::string& where) {
    return answer(table, dataset, question("count", "", where)).at(0).at(0);
  };
  // A malformed line has missing cells only. What stands in for a missing cell is compared in its place.
  check_rows(kConditions, "counted", [&](const CaseRow& row) { return accounting::text(counted(row[1])); });
  dataset.unit = {"id", 1};
  CHECK(counted("a is missing") == 2);  // a row without unit id is dropped first
}

TEST_CASE("condition tree: a CSV file and an SQLite table give the answer of the truth table",
          "[engine][condition][sqlite][exhaustive]") {
  const TemporaryFolder folder;
  {
    std::ofstream file(folder.path("toy.csv"));
    SQLite::Database database(folder.path("toy.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("CREATE TABLE toy(a, m, w, d); BEGIN");
    SQLite::Statement insert(database, "INSERT INTO toy VALUES (?, ?, ?, ?)");
    file << "a,m,w,d\n";
    for (const ToyRow& row : toy_rows()) {
      for (std::size_t i = 0; i < row.at.size(); ++i) {
        file << (i == 0 ? "" : ",") << row.text(i);
        if (row.text(i).empty() || row.text(i) == "NA") {
          insert.bind(static_cast<int>(i) + 1);
        } else {
          insert.bind(static_cast<int>(i) + 1, row.text(i));
        }
      }
      file << "\n";
      insert.exec();
      insert.reset();
    }
    database.exec("COMMIT");
  }
  const Dataset csv = toy_dataset();
  Dataset sqlite = csv;
  sqlite.csv.reset();
  sqlite.sqlite = SqliteSource{"toy.db", "toy"};
  Typist typist(kSeed + 1);
  for (int i = 0; i < 40; ++i) {
    const Tree tree = typist.tree(3);
    CAPTURE(tree.text);
    const Question asked = question("count", "", tree.text);
    std::size_t expected = 0;
    for (const ToyRow& row : toy_rows()) expected += is_kept(tree, row) ? 1 : 0;
    for (const Dataset& dataset : {csv, sqlite}) {
      const auto found = compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path(""));
      REQUIRE(found.values[0][0] == expected);
    }
  }
}

TEST_CASE(
    "condition tree: none is refused that some row satisfies, and of an `or` of `and`s each that none does",
    "[engine][condition][exhaustive]") {
  const Dataset dataset = toy_dataset();
  const auto satisfied = [](const Tree& tree) {
    return std::any_of(toy_rows().begin(), toy_rows().end(),
                       [&](const ToyRow& row) { return is_kept(tree, row); });
  };
  Typist typist(kSeed + 2);
  std::size_t refused = 0;
  for (int i = 0; i < 400; ++i) {
    const Tree tree = typist.tree(4);
    CAPTURE(tree.text);
    const bool is = is_refused(dataset, tree.text);
    if (is) REQUIRE_FALSE(satisfied(tree));
    refused += is ? 1 : 0;
  }
  CHECK(refused > 5);
  refused = 0;
  for (int i = 0; i < 400; ++i) {
    const Tree tree = typist.flat();
    CAPTURE(tree.text);
    const bool is = is_refused(dataset, tree.text);
    REQUIRE(is == !satisfied(tree));
    refused += is ? 1 : 0;
  }
  CHECK(refused > 40);
}

TEST_CASE(
    "condition tree: no row of a block that is not covered is kept, and each block is covered that a value "
    "leaves room in",
    "[engine][condition][blocks][exhaustive]") {
  const std::int64_t first = day("2024-01-01");
  const std::int64_t last = day("2024-03-31");
  Dataset months = toy_dataset();
  months.blocks = Blocks{"d", CalendarPeriod::month, first, last};
  Dataset values = toy_dataset();
  values.blocks = Blocks{"m", std::nullopt};
  Dataset wards = toy_dataset();
  wards.columns[2].values = {"B", "A"};
  wards.blocks = Blocks{"w", std::nullopt};
  struct Setting {
    Dataset dataset;
    std::size_t column;
    std::vector<std::pair<std::string, std::vector<int>>> blocks;  ///< and every reading that lies in them
  };
  const auto days = [](const std::string& from, const std::string& to) {
    std::vector<int> result;
    for (int at = day(from); at <= day(to); ++at) result.push_back(at);
    return result;
  };
  const std::vector<Setting> settings = {{months,
                                          3,
                                          {{"2024-01", days("2024-01-01", "2024-01-31")},
                                           {"2024-02", days("2024-02-01", "2024-02-29")},
                                           {"2024-03", days("2024-03-01", "2024-03-31")}}},
                                         {values, 1, {{"2", {2}}, {"1", {1}}}},
                                         {wards, 2, {{"B", {1}}, {"A", {0}}}}};
  // What is asked of the column of the blocks, all else being as the condition would have it.
  const std::function<bool(const Tree&, std::size_t, int, bool)> leaves_room =
      [&](const Tree& tree, std::size_t column, int value, bool negated) -> bool {
    if (tree.kind == Tree::Kind::negation) return leaves_room(tree.parts[0], column, value, !negated);
    if (tree.kind == Tree::Kind::leaf) {
      if (tree.column != column) return true;
      return truth(tree, [&](std::size_t) { return value; }) == std::optional(!negated);
    }
    const auto holds = [&](const Tree& part) { return leaves_room(part, column, value, negated); };
    return (tree.kind == Tree::Kind::all) != negated
               ? std::all_of(tree.parts.begin(), tree.parts.end(), holds)
               : std::any_of(tree.parts.begin(), tree.parts.end(), holds);
  };
  Typist typist(kSeed + 3);
  std::size_t narrowed = 0;
  for (int i = 0; i < 500; ++i) {
    const Tree tree = typist.tree(3);
    for (const Setting& setting : settings) {
      CAPTURE(tree.text, setting.column);
      std::vector<std::string> expected;
      for (const auto& [name, readings] : setting.blocks) {
        const bool room = std::any_of(readings.begin(), readings.end(), [&](int value) {
          return leaves_room(tree, setting.column, value, false);
        });
        if (room) expected.push_back(name);
      }
      REQUIRE(covered_blocks(setting.dataset, Predicate::parse(tree.text)) == expected);
      if (expected.size() < setting.blocks.size()) ++narrowed;
      std::set<int> uncovered;
      for (const auto& [name, readings] : setting.blocks) {
        if (std::find(expected.begin(), expected.end(), name) == expected.end()) {
          uncovered.insert(readings.begin(), readings.end());
        }
      }
      if (uncovered.empty()) continue;
      for (const ToyRow& row : toy_rows()) {
        const Reading at = row.reading(setting.column);
        if (at && uncovered.contains(*at) && is_kept(tree, row)) FAIL("a row of an uncovered block is kept");
      }
    }
  }
  CHECK(narrowed > 200);
}

TEST_CASE("condition tree: of an `or` the blocks of its parts are covered together",
          "[engine][condition][blocks][exact]") {
  Dataset months = toy_dataset();
  months.blocks = Blocks{"d", CalendarPeriod::month, day("2024-01-01"), day("2024-04-30")};
  check_rows(kConditions, "blocks",
             [&](const CaseRow& row) { return joined(covered_blocks(months, Predicate::parse(row[1]))); });
}

TEST_CASE("condition tree: what nobody can satisfy is told of the first part that shows it",
          "[engine][condition][negative]") {
  const Dataset dataset = toy_dataset();
  check_rows(kConditions, "tree", [&](const CaseRow& row) {
    const Question asked = question("count", "", row[1]);
    (void)derive(dataset, asked);
    return refused_for<InvalidParameter>([&] { require_satisfiable(dataset, asked); });
  });
}
