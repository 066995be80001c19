// Questions that are asked together share what they have in common of each row; each is answered as if it
// were asked alone.
#include <algorithm>
#include <random>
#include <set>

#include "row_units.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

const Texts kSharedStatistics = {"count",
                                 "units",
                                 "sum:x",
                                 "mean:x",
                                 "variance:x",
                                 "sum:y",
                                 "mean:y",
                                 "median:x",
                                 "count:x",
                                 "count:g",
                                 "quantile:x:0.9",
                                 "median:y",
                                 "quantiles:x:0.2,0.7",
                                 "distinct:g",
                                 "distinct:h",
                                 "proportion:g:A",
                                 "proportion:g:B",
                                 "proportion:h:2",
                                 "ratio:x,y",
                                 "ratio:y,z"};
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
    std::vector<Derivation> derivations;
    for (const Question& one : questions) derivations.push_back(derive(dataset, one));
    std::vector<DerivedQuestion> asked;
    for (std::size_t i = 0; i < questions.size(); ++i) asked.push_back({questions[i], derivations[i]});
    MemorySource source(table, wanted_columns(dataset, asked));
    const std::vector<ExactAnswer> together = answer_rows(source, dataset, asked, {});
    REQUIRE(together.size() == questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
      CAPTURE(round, i, questions[i].statistic.text(), by_text(questions[i].by));
      MemorySource again(table, wanted_columns(dataset, questions[i]));
      const ExactAnswer alone = answer_rows(again, dataset, questions[i], derivations[i], {});
      CHECK(together[i].values == alone.values);
      REQUIRE(together[i].counts.size() == alone.counts.size());
      const auto same = [](const auto& one, const auto& other) {
        return one.candidate == other.candidate && one.rows == other.rows;
      };
      for (std::size_t cell = 0; cell < alone.counts.size(); ++cell) {
        CHECK(std::equal(together[i].counts[cell].begin(), together[i].counts[cell].end(),
                         alone.counts[cell].begin(), alone.counts[cell].end(), same));
      }
    }
  }
}

TEST_CASE(
    "shared rows: pairs that were seen are told from new ones, on either side of what a word has bits for",
    "[engine][rows][overlap]") {
  std::mt19937_64 random(20240918);
  for (const std::size_t parts : {1U, 2U, 63U, 64U, 65U, 200U}) {
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
