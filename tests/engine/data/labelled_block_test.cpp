// Blocks of derived columns: which of them a condition on the column or on what it is a function of covers,
// against every cell of a domain that has one of each stretch; and which rows lie in them.
//
// The truth is what the path of the rows does with each cell: RowFilter, and ColumnReader for the label,
// neither of which knows of stretches. derived_column_test.cpp holds the labels to what is written by hand.
#include <map>
#include "blocks.hpp"
#include "column_reader.hpp"
#include "condition.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/date.hpp"
#include "open_source.hpp"
#include "policy_text.hpp"
#include "row_filter.hpp"
#include "rows_memory.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

constexpr unsigned kSeed = 20261126;

/// A column `s`, what is derived from it, which cells it may have, and what conditions compare it with.
struct Domain {
  std::string name;
  std::string source;   ///< as a policy declares `s`
  std::string derived;  ///< and `b`, of whose labels the blocks are
  Texts cells;
  Texts constants;
  bool ordered = true;
};

/// The column `x` is compared only in ways that a cell of 1 satisfies.
Dataset dataset_of(const Domain& domain) {
  PolicyText text;
  text.source = "{csv: visits.csv, null: [NA, '7777']}";
  text.columns = "{s: " + domain.source + ", b: " + domain.derived +
                 ", x: {type: int, bounds: [0, 9]}, t: {from: x, bins: [0, 1, 9]}, "
                 "c: {from: s, map: {" +
                 (domain.source.find("string") != std::string::npos ? "A" : "1") + ": one}}}";
  if (domain.source.find("decimal") != std::string::npos || domain.source.find("double") != std::string::npos)
    text.columns = text.columns.substr(0, text.columns.find(", c: ")) + "}";
  if (domain.source.find("date") != std::string::npos || domain.source.find("bool") != std::string::npos)
    text.columns = text.columns.substr(0, text.columns.find(", c: ")) + "}";
  text.more = "lifetime: {epsilon: 9}\n    blocks: {by: b}";
  return text.dataset();
}

Texts whole_numbers(int first, int last) {
  Texts result;
  for (int number = first; number <= last; ++number) result.push_back(std::to_string(number));
  return result;
}

Texts days_between(const std::string& first, const std::string& last) {
  std::int64_t from = 0;
  std::int64_t to = 0;
  REQUIRE((parse_date(first, from) && parse_date(last, to)));
  Texts result;
  for (; from <= to; ++from) result.push_back(date_text(from));
  return result;
}

/// With all that is missing, and much that is no number.
Texts with_others(Texts cells) {
  for (const char* other : {"", "NA", "7777", "x", " 1", "1e400", "2024-02-30"}) cells.emplace_back(other);
  cells.push_back(std::string(60, '9'));
  cells.push_back("-" + std::string(60, '9'));
  return cells;
}

/// Each with its neighbours on both sides.
Texts doubles_around(const std::vector<double>& values) {
  Texts result;
  for (const double value : values) {
    for (const double near : {std::nextafter(value, -1e308), value, std::nextafter(value, 1e308)}) {
      char text[64];
      std::snprintf(text, sizeof text, "%.17g", near);
      result.emplace_back(text);
    }
  }
  return result;
}

std::vector<Domain> domains() {
  Texts tenths;
  for (int i = -30; i <= 250; ++i) {
    tenths.push_back((i < 0 ? "-" : "") + std::to_string(std::abs(i) / 10) + "." +
                     std::to_string(std::abs(i) % 10));
  }
  Texts numbers = whole_numbers(-10, 20);
  for (const char* more : {"998", "999", "1000"}) numbers.emplace_back(more);
  const std::map<std::string, Texts> cells = {
      {"ages", whole_numbers(-20, 130)},
      {"tenths", tenths},
      {"doubles", doubles_around({0, 0.1, 1.0 / 3, 0.5, 1, 1e300, 5e-324, 1.7e308})},
      {"few doubles", doubles_around({0, 0.5, 1})},
      {"days", days_between("2023-12-20", "2024-05-10")},
      {"numbers", numbers},
      {"texts", {"A", "B", "C", "D", "a"}},
      {"truth", {"true", "FALSE", "0", "1"}}};
  std::vector<Domain> result;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/data/label_domains.tsv")) {
    result.push_back({row.at(0), row.at(1), row.at(2), with_others(cells.at(row.at(3))), words_of(row.at(5)),
                      row.at(4) == "ordered"});
  }
  return result;
}

std::string quoted_cell(const std::string& text) {
  return "'" + text + "'";
}

/// Random conditions, with parentheses around every part.
class Conditions {
 public:
  Conditions(const Domain& domain, const Dataset& dataset)
      : domain_(domain), labels_(dataset.column("b")->values), random_(kSeed) {}

  std::string any(unsigned depth) {
    if (depth == 0 || below(4) == 0) return leaf();
    if (below(5) == 0) return "not (" + any(depth - 1) + ")";
    const std::string word = below(2) == 0 ? " and " : " or ";
    std::string result = "(" + any(depth - 1) + ")";
    for (unsigned more = 1 + below(2); more > 0; --more) result += word + "(" + any(depth - 1) + ")";
    return result;
  }

 private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  std::string constant() { return domain_.constants[below(domain_.constants.size())]; }
  std::string label() { return quoted_cell(labels_[below(labels_.size())]); }

  std::string leaf() {
    switch (below(6)) {
      case 0:
        return "s is " + std::string(below(2) == 0 ? "not " : "") + "missing";
      case 1:
        return "b " + std::string(below(2) == 0 ? "= " : "!= ") + label();
      case 2:
        return "b " + std::string(below(2) == 0 ? "not " : "") + "in (" + label() + ", " + label() + ")";
      case 3:
        // Of x, and of what is derived from it, all that is asked is so of 1.
        return below(2) == 0 ? "x = 1" : below(2) == 0 ? "t != '[0,1)'" : "b is missing";
      default:
        break;
    }
    if (!domain_.ordered || below(3) == 0) {
      static const Texts kForms = {"= ", "!= ", "in (", "not in ("};
      const std::string& form = kForms[below(kForms.size())];
      if (!form.ends_with("(")) return "s " + form + constant();
      return "s " + form + constant() + ", " + constant() + ")";
    }
    static const Texts kForms = {"< ", "<= ", "> ", ">= ", "between ", "not between "};
    const std::string& form = kForms[below(kForms.size())];
    std::string result = "s " + form + constant();
    if (form.ends_with("between ")) result += " and " + constant();
    return result;
  }

  const Domain& domain_;
  const Texts& labels_;
  std::mt19937 random_;
};

/// Of each cell the label, "" for none.
Texts labels_of(const Dataset& dataset, const Texts& cells) {
  const ColumnReader reader = ColumnReader::of(dataset, *dataset.column("b"));
  Texts result;
  for (const std::string& text : cells) {
    const bool missing = text.empty() || text == "NA" || text == "7777";
    const Cell cell = reader.read(RawCell{text, missing});
    result.emplace_back(cell.missing ? "" : std::string(cell.text));
  }
  return result;
}

/// The blocks of the cells that the filter keeps, beside that `x`.
std::set<std::string> kept_labels(const Dataset& dataset, const std::string& where, const Texts& cells,
                                  const Texts& labels, const std::string& x) {
  const RowFilter filter(dataset, Predicate::parse(where), {"s", "x"}, CellDialect::of(dataset));
  std::set<std::string> result;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool missing = cells[i].empty() || cells[i] == "NA" || cells[i] == "7777";
    const RawCell row[] = {{cells[i], missing}, {x, x.empty()}};
    if (!labels[i].empty() && filter.keeps(row)) result.insert(labels[i]);
  }
  return result;
}

Texts covered(const Dataset& dataset, const std::string& where) {
  return covered_blocks(dataset, where.empty() ? std::nullopt : std::optional(Predicate::parse(where)));
}

/// Of whole policies, as PolicyText has them.
Dataset with_blocks(const std::string& columns, const std::string& by) {
  PolicyText text;
  text.columns = columns;
  text.more = "lifetime: {epsilon: 9}\n    blocks: {by: " + by + "}";
  return text.dataset();
}

const std::string kAges =
    "{age: {type: int, bounds: [0, 110]}, band: {from: age, bins: [0, 18, 40, 65, 111]}, "
    "ward: {type: string, values: [A, B]}, group: {from: age, bins: [0, 50, 111]}}";

}  // namespace

TEST_CASE("labelled block: there is one for each label, in the order of the labels",
          "[engine][blocks][derived][exact]") {
  CHECK(block_names(with_blocks(kAges, "band")) == Texts{"[0,18)", "[18,40)", "[40,65)", "[65,111)"});
  CHECK(block_names(with_blocks("{day: {type: date}, month: {from: day, per: month, first: 2023-12, last: "
                                "2024-02}}",
                                "month")) == Texts{"2023-12", "2024-01", "2024-02"});
  CHECK(block_names(with_blocks("{code: {type: string}, kind: {from: code, map: {C34: lung, C33: lung, I21: "
                                "heart}, other: rest}}",
                                "kind")) == Texts{"heart", "lung", "rest"});
}

TEST_CASE("labelled block: a condition on any other column covers all blocks",
          "[engine][blocks][derived][exact]") {
  const Dataset dataset = with_blocks(kAges, "band");
  const Texts all = block_names(dataset);
  CHECK(covered(dataset, "ward = 'A'") == all);
  CHECK(covered(dataset, "age >= 65 or ward = 'A'") == all);
  // Another function of the same column is another column.
  CHECK(covered(dataset, "group = '[0,50)'") == all);
  CHECK(covered(dataset, "group = '[0,50)' and age >= 65") == Texts{"[65,111)"});
  // And where the blocks are of the source's own column, one derived from it is.
  const Dataset wards = with_blocks(
      "{ward: {type: string, values: [A, B]}, site: {from: ward, map: {A: east, B: west}}}", "ward");
  CHECK(covered(wards, "site = 'east'") == Texts{"A", "B"});
}

TEST_CASE("labelled block: one is covered exactly if a cell of it satisfies what is asked of its columns",
          "[engine][blocks][derived][exhaustive]") {
  for (const Domain& domain : domains()) {
    const Dataset dataset = dataset_of(domain);
    const Texts labels = labels_of(dataset, domain.cells);
    Conditions conditions(domain, dataset);
    std::size_t narrowed = 0;
    for (int i = 0; i < 400; ++i) {
      const std::string where = conditions.any(3);
      CAPTURE(domain.name, where);
      const Predicate parsed = Predicate::parse(where);
      (void)derive(dataset, question("count", "", where));
      const Texts found = covered(dataset, where);
      const std::set<std::string> blocks(found.begin(), found.end());
      if (!found.empty() && found.size() < block_names(dataset).size()) ++narrowed;
      // `not` is about x too, so that a condition may be one that a cell of 1 does not satisfy: of a tree
      // without, the cover is what is kept beside it; of every one it holds what is kept beside any.
      for (const char* x : {"0", "1", "5", "", "x"}) {
        const std::set<std::string> kept = kept_labels(dataset, where, domain.cells, labels, x);
        if (!std::includes(blocks.begin(), blocks.end(), kept.begin(), kept.end())) {
          FAIL("a row of a block that is not covered is kept, x = " << x);
        }
        if (std::string(x) == "1" && where.find("not (") == std::string::npos) REQUIRE(kept == blocks);
      }
    }
    CAPTURE(domain.name);
    CHECK(narrowed > 20);
  }
}

TEST_CASE(
    "labelled block: a condition that says nothing of its columns covers each label that a cell can have",
    "[engine][blocks][derived][exact]") {
  const std::string columns =
      "{x: {type: int}, s: {type: bool}, b: {from: s, map: {true: yes, false: no}, other: rest}}";
  const Dataset dataset = with_blocks(columns, "b");
  CHECK(covered(dataset, "") == Texts{"no", "yes", "rest"});
  CHECK(covered(dataset, "x = 1") == Texts{"no", "yes"});
}

TEST_CASE("labelled block: of a missing cell decides the constant that stands in for it, as it is written",
          "[engine][blocks][derived][exact]") {
  const auto banded = [](const std::string& missing) {
    return with_blocks("{age: {type: int, bounds: [0, 200], missing: " + missing +
                           "}, band: {from: age, bins: [0, 18, 65]}}",
                       "band");
  };
  const auto contains = [](const Dataset& dataset, const std::string& text) {
    return BlockMembership(dataset).contains(RawCell{text, text.empty()});
  };
  CHECK_FALSE(contains(banded("skip"), ""));
  CHECK_FALSE(contains(banded("skip"), "x"));
  CHECK(contains(banded("18"), ""));
  CHECK(contains(banded("18"), "x"));
  CHECK_FALSE(contains(banded("70"), ""));
  CHECK(contains(banded("70"), "64"));
  CHECK_FALSE(contains(banded("70"), "65"));
  CHECK_FALSE(contains(banded("70"), "-1"));
  CHECK(covered(banded("18"), "age = 18") == Texts{"[18,65)"});
  CHECK(covered(banded("18"), "age is missing").empty());
  // The constant is 0.1, and no cell is: the nearest double is above it.
  const Dataset doubles =
      with_blocks("{s: {type: double, bounds: [0, 1], missing: 0.1}, b: {from: s, bins: [0, 0.1, 1]}}", "b");
  CHECK(covered(doubles, "s <= 0.1") == Texts{"[0,0.1)", "[0.1,1)"});
  CHECK(covered(doubles, "s = 0.1") == Texts{"[0.1,1)"});
  CHECK(covered(doubles, "s < 0.1") == Texts{"[0,0.1)"});
}

TEST_CASE("labelled block: rows without a label are in no block, whatever is asked",
          "[engine][blocks][derived][rows][exact]") {
  const Dataset dataset = with_blocks(kAges, "band");
  const MemoryTable table{{"patient_id", "age", "ward"},
                          {{"p", "17", "A"},
                           {"q", "200", "A"},
                           {"r", "", "A"},
                           {"s", "-1", "B"},
                           {"t", "x", "B"},
                           {"u", "65", "B"},
                           {}}};
  CHECK(answer(table, dataset, question("count"))[0][0] == 2);
  CHECK(answer(table, dataset, question("count", "ward"))[0] == std::vector<Rational>{1, 1});
  CHECK(answer(table, dataset, question("count", "", "age > 100"))[0][0] == 0);
  // The question names neither column of the blocks; what they are read from is read all the same.
  const Texts read = wanted_columns(dataset, question("count", "ward"));
  CHECK(std::find(read.begin(), read.end(), "age") != read.end());
  CHECK(std::find(read.begin(), read.end(), "band") == read.end());
  MemorySource source(table, required_columns(dataset));
  const DataReport report = report_rows(source, dataset, {});
  CHECK(report.outside_blocks == 5);
  CHECK(report.kept == 2);
}

TEST_CASE("labelled block: a long list of values and a long condition are covered in good order",
          "[engine][blocks][derived][exact]") {
  // 20,000 codes of 40 kinds, and as many comparisons as a condition has room for.
  std::string columns = "{code: {type: int}, kind: {from: code, map: {";
  for (int i = 0; i < 20'000; ++i) {
    columns += (i == 0 ? "" : ", ") + std::to_string(i) + ": k" + std::to_string(10 + i % 40);
  }
  const Dataset dataset = with_blocks(columns + "}}}", "kind");
  std::string where = "kind != 'k10'";
  for (int i = 0; i < 2'000; ++i) where += " and (kind != 'k10' or code < 10)";
  CHECK(covered(dataset, where).size() == 39);
  CHECK(covered(dataset, where + " and code between 11 and 13") == Texts{"k21", "k22", "k23"});
}
