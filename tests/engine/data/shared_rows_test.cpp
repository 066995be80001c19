// Questions that are asked together share what they have in common of each row; each is answered as if it
// were asked alone.
#include "column_candidates.hpp"
#include "row_units.hpp"
#include "rows_memory.hpp"
#include "shared_tally.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

const Texts kSharedStatistics = words_of(
    "count units sum:x mean:x variance:x sum:y mean:y median:x count:x count:g quantile:x:0.9 "
    "median:y quantiles:x:0.2,0.7 distinct:g distinct:h proportion:g:A proportion:g:B "
    "proportion:h:2 ratio:x,y ratio:y,z");
const Texts kSharedGroupings = {"", "g", "h", "g,h", "band", "h,band"};
const Texts kSharedConditions = {"", "x >= 1", "g = 'A' or h is missing", "not x between 0 and 2",
                                 "band = '[1,3)'"};

const std::string& one_of(const Texts& texts, std::mt19937_64& random) {
  return texts[random() % texts.size()];
}

Dataset dataset_to_share(std::mt19937_64& random) {
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.columns = {
      number_column("x", ColumnType::integer, -2, 3), number_column("y", ColumnType::decimal, 0, 5, 1),
      number_column("z", ColumnType::integer, 1, 9), value_column("g", ColumnType::string, {"A", "B"}),
      value_column("h", ColumnType::integer, {"1", "2", "3"})};
  Column band = value_column("band", ColumnType::string, {"[-2,1)", "[1,3)"});
  band.derived.emplace();
  band.derived->from = "x";
  band.derived->bins = {-2, 1, 3};
  dataset.columns.push_back(band);
  const bool exact = random() % 3 == 0;
  dataset.rows = {30, exact};
  dataset.neighbours = exact ? Neighbours::replace_one : Neighbours::add_remove;
  for (std::size_t i = 0; i < 2; ++i) {
    if (exact || random() % 2 == 0) dataset.columns[i].missing = Rational(1);
  }
  if (random() % 4 != 0) dataset.unit = {"id", 1 + random() % 3};
  if (!exact && random() % 3 == 0) dataset.blocks = Blocks{"g", std::nullopt};
  return dataset;
}

bool same_counts(const ExactAnswer& one, const ExactAnswer& other) {
  const auto same = [](const auto& a, const auto& b) {
    return a.candidate == b.candidate && a.rows == b.rows;
  };
  return std::equal(one.counts.begin(), one.counts.end(), other.counts.begin(), other.counts.end(),
                    [&same](const auto& a, const auto& b) {
                      return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
                    });
}

/// Asked together and one by one.
void check_as_alone(const MemoryTable& table, const Dataset& dataset,
                    const std::vector<Question>& questions) {
  std::vector<Derivation> derivations;
  for (const Question& one : questions) derivations.push_back(derive(dataset, one));
  std::vector<DerivedQuestion> asked;
  for (std::size_t i = 0; i < questions.size(); ++i) asked.push_back({questions[i], derivations[i]});
  MemorySource source(table, wanted_columns(dataset, asked));
  const std::vector<ExactAnswer> together = answer_rows(source, dataset, asked, {});
  REQUIRE(together.size() == questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    CAPTURE(i, questions[i].statistic.text(), by_text(questions[i].by));
    MemorySource again(table, wanted_columns(dataset, questions[i]));
    const ExactAnswer alone = answer_rows(again, dataset, questions[i], derivations[i], {});
    CHECK(together[i].values == alone.values);
    CHECK(same_counts(together[i], alone));
  }
}

MemoryTable table_to_share(std::mt19937_64& random) {
  MemoryTable table{{"id", "x", "y", "z", "g", "h"}, {}};
  for (int i = 0; i < 30; ++i) {
    MemoryRow row = {one_of({"p", "q", "r", "s", ""}, random),
                     one_of({"-9", "-2", "0", "1", "2", "9", "", "?"}, random),
                     one_of({"0", "0.5", "2.5", "9", ""}, random),
                     one_of({"1", "4", "", "77"}, random),
                     one_of({"A", "B", "C", ""}, random),
                     one_of({"1", "2", "3", "4", ""}, random)};
    table.rows.push_back(random() % 12 == 0 ? MemoryRow{} : row);
  }
  return table;
}

}  // namespace

TEST_CASE("shared rows: each of many questions is answered as it would be alone, whatever they share",
          "[engine][rows][batch][overlap]") {
  std::mt19937_64 random(20240917);
  for (int round = 0; round < 150; ++round) {
    const Dataset dataset = dataset_to_share(random);
    const MemoryTable table = table_to_share(random);
    std::vector<Question> questions;
    for (std::size_t i = 0, count = 2 + random() % 20; i < count; ++i) {
      const std::string statistic = one_of(kSharedStatistics, random);
      // A proportion or a ratio may be grouped, too; sums of exact rows are about all of them.
      questions.push_back(
          question(statistic, one_of(kSharedGroupings, random), one_of(kSharedConditions, random)));
    }
    CAPTURE(round);
    check_as_alone(table, dataset, questions);
  }
}

TEST_CASE(
    "shared rows: pairs that were seen are told from new ones, on either side of what bytes have bits for",
    "[engine][rows][overlap]") {
  std::mt19937_64 random(20240918);
  for (const std::size_t parts : {1U, 2U, 8U, 9U, 63U, 64U, 65U, 200U}) {
    SeenPairs seen(parts);
    std::set<std::pair<std::uint64_t, std::size_t>> expected;
    std::size_t wrong = 0;
    for (int i = 0; i < 5'000; ++i) {
      const std::uint64_t number = random() % 40;
      const std::size_t part = random() % parts;
      if (seen.insert(number, part) != expected.emplace(number, part).second) ++wrong;
    }
    CAPTURE(parts);
    CHECK(wrong == 0);
  }
}

TEST_CASE("shared rows: joint cells add up to the cells of each answer",
          "[engine][rows][batch][exhaustive]") {
  const Dataset dataset = visits();
  RowReading reading(dataset, kVisitColumns);
  RowSelections selections(dataset, kVisitColumns, reading);
  const auto selection = [&](const std::string& by) -> const RowSelection& {
    return selections.at(selections.number_of(question("count", by)));
  };
  const RowSelection& all = selection("");
  const RowSelection& by_ward = selection("ward");
  JointCells joint(all, 1);
  CHECK(joint.size() == 1);
  CHECK(joint.of_cell(all, 0) == std::vector<std::size_t>{0});
  CHECK(joint.size_with(3) == 8);
  joint.add(by_ward, 3);
  CHECK(joint.size() == 8);
  CHECK((joint.has(all) && joint.has(by_ward) && !JointCells(all, 1).has(by_ward)));
  std::set<std::size_t> met;
  for (std::size_t cell = 0; cell < 3; ++cell) {
    for (const std::size_t part : joint.of_cell(by_ward, cell)) CHECK(met.insert(part).second);
  }
  CHECK(met.size() == 6);                    // two of each ward, in the whole and in none of it
  CHECK(joint.of_cell(all, 0).size() == 4);  // of each ward, and of none
  CHECK_FALSE(joint == JointCells(all, 1));
}

TEST_CASE("shared rows: whatever the number of cells and values, each is answered as it would be alone",
          "[engine][rows][batch][overlap]") {
  const auto numbers = [](std::size_t count) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(std::to_string(i));
    return texts;
  };
  std::mt19937_64 random(20261126);
  for (const std::size_t size : {10U, 40U, 300U}) {
    Dataset dataset;
    dataset.name = "toy";
    dataset.csv.emplace();
    dataset.rows = {2'000, false};
    dataset.columns = {number_column("x", ColumnType::integer, 0, 1'999),
                       value_column("a", ColumnType::integer, numbers(size)),
                       value_column("b", ColumnType::integer, numbers(7))};
    MemoryTable table{{"x", "a", "b"}, {}};
    for (int i = 0; i < 500; ++i)
      table.rows.push_back({std::to_string(random() % 2'000), std::to_string(random() % (size + 2)),
                            std::to_string(random() % 9)});
    std::vector<Question> questions;
    for (const char* statistic : {"count", "sum:x", "median:x", "distinct:a", "proportion:a:3", "count:a"}) {
      for (const char* by : {"", "a", "b", "a,b"}) questions.push_back(question(statistic, by));
    }
    CAPTURE(size);
    check_as_alone(table, dataset, questions);
  }
}

TEST_CASE("shared rows: one tally is for what adds up the same of one condition, while it stays small",
          "[engine][rows][batch]") {
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.unit = {"id", 3};
  dataset.rows = {2'000, false};
  const auto numbers = [](int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) texts.push_back(std::to_string(i));
    return texts;
  };
  dataset.columns = {number_column("x", ColumnType::integer, 0, 99),
                     number_column("y", ColumnType::integer, 0, 99'999),
                     value_column("few", ColumnType::integer, numbers(3)),
                     value_column("some", ColumnType::integer, numbers(40)),
                     value_column("many", ColumnType::integer, numbers(300)),
                     value_column("most", ColumnType::integer, numbers(5'000))};
  const auto shared = [&dataset](const Question& one, const Question& other) {
    const std::vector<std::string> columns = {"id", "x", "y", "few", "some", "many", "most"};
    RowReading reading(dataset, columns);
    RowSelections selections(dataset, columns, reading);
    const auto tally = [&](const DerivedQuestion& asked) {
      const bool quantile = asked.question.statistic.kind == StatisticKind::quantile;
      const std::uint64_t candidates =
          quantile ? candidates_of(*dataset.column(asked.question.statistic.subject)).count : 1;
      const std::size_t number = selections.number_of(asked.question);
      return SharedTally(dataset, asked, selections.at(number), candidates);
    };
    const Derivation of_one = derive(dataset, one);
    const Derivation of_other = derive(dataset, other);
    const DerivedQuestion first{one, of_one};
    const DerivedQuestion second{other, of_other};
    SharedTally known = tally(first);
    return known.takes(tally(second));
  };
  const auto ask = [](const char* statistic, const char* by = "", const char* where = "") {
    return question(statistic, by, where);
  };
  CHECK(shared(ask("sum:x"), ask("mean:x", "few")));
  CHECK(shared(ask("median:x", "few"), ask("quantile:x:0.9")));
  CHECK(shared(ask("count:few"), ask("distinct:few", "some")));
  CHECK(shared(ask("proportion:few:1"), ask("proportion:few:2")));
  CHECK(shared(ask("units"), ask("units")));
  CHECK_FALSE(shared(ask("sum:x"), ask("sum:y")));
  CHECK_FALSE(shared(ask("sum:x"), ask("median:x")));
  CHECK_FALSE(shared(ask("sum:x", "", "x > 1"), ask("sum:x")));                  // another condition
  CHECK_FALSE(shared(ask("sum:x", "few", "x > 1"), ask("sum:x", "", "y > 1")));  // likewise
  CHECK_FALSE(shared(ask("units"), ask("units", "few")));   // who is in several cells is one of the whole
  CHECK_FALSE(shared(ask("sum:x"), ask("sum:x", "many")));  // 602 cells
  CHECK_FALSE(shared(ask("median:y"), ask("median:y", "few")));  // 800,000 counters
  CHECK_FALSE(
      shared(ask("distinct:most"), ask("distinct:most", "few")));  // values are not counted one by one
  CHECK_FALSE(shared(ask("proportion:most:1"), ask("proportion:most:2")));  // likewise
}
