// The table of docs/sensitivity.md, entry by entry, and every way a derivation is refused.
#include "rows_memory.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using Kind = accounting::PostProcessing::Kind;
using Quantity = Component::Quantity;

namespace {

/// x int [-2, 6] (R = 8, c = 2), groups A B C, k = 2, n = 10.
Dataset toy(Neighbours neighbours) {
  Dataset dataset;
  dataset.name = "toy";
  dataset.csv.emplace();
  dataset.unit = {"id", 2};
  dataset.rows = {10, false};
  dataset.neighbours = neighbours;
  dataset.columns = {number_column("x", ColumnType::integer, -2, 6),
                     value_column("g", ColumnType::string, {"A", "B", "C"})};
  return dataset;
}

Dataset exact_toy() {
  Dataset dataset = toy(Neighbours::replace_one);
  dataset.rows.exact = true;
  dataset.columns[0].missing = Rational(0);
  return dataset;
}

void check(const Component& component, Quantity quantity, const Rational& sensitivity,
           std::uint64_t coordinates, const Rational& lower, const Rational& upper,
           const Rational& share = 1) {
  CHECK(component.quantity == quantity);
  CHECK(component.sensitivity == sensitivity);
  CHECK(component.coordinates == coordinates);
  CHECK(component.lower == lower);
  CHECK(component.upper == upper);
  CHECK(component.share == share);
}

Component only(const Dataset& dataset, const Question& asked) {
  const Derivation derivation = derive(dataset, asked);
  REQUIRE(derivation.components.size() == 1);
  CHECK(derivation.post_processing.kind == Kind::none);
  return derivation.components[0];
}

const Neighbours kAddRemove = Neighbours::add_remove;
const Neighbours kReplaceOne = Neighbours::replace_one;

}  // namespace

TEST_CASE("sensitivity: every entry is derived as it was proved, of each relation, with groups and without",
          "[engine][sensitivity][exact]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/data/derived_sensitivities.tsv")) {
    Dataset dataset =
        row.at(0) == "exact" ? exact_toy() : toy(row.at(0) == "add-remove" ? kAddRemove : kReplaceOne);
    dataset.unit.max_rows = std::stoull(row.at(1));
    const Derivation derivation = derive(dataset, question(row.at(2), row.at(3), row.at(4)));
    std::vector<std::string> parts;
    for (const Component& part : derivation.components) {
      using accounting::text;
      parts.push_back(std::string(name(part.quantity)) + " " + text(part.sensitivity) + " " +
                      std::to_string(part.coordinates) + " " + text(part.lower) + " " + text(part.upper) +
                      " " + text(part.share));
    }
    CAPTURE(row);
    CHECK(parts == std::vector<std::string>(row.begin() + 5, row.end()));
    CHECK((derivation.post_processing.kind == Kind::none) ==
          (parts.size() == 1 && !row[2].starts_with("proportion")));
  }
  CHECK(derive(toy(kAddRemove), question("histogram:g")).cells == std::vector<std::string>{"A", "B", "C"});
}

TEST_CASE("sensitivity: of a single number the L2 square is the square of the L1 sensitivity",
          "[engine][sensitivity][exact]") {
  for (const Dataset& dataset : {toy(kAddRemove), toy(kReplaceOne), exact_toy()}) {
    for (const char* statistic : {"count", "units", "sum:x", "mean:x", "variance:x"}) {
      for (const Component& component : derive(dataset, question(statistic)).components) {
        CAPTURE(statistic);
        CHECK(component.sensitivity_l2_squared == component.sensitivity * component.sensitivity);
      }
    }
  }
}

TEST_CASE("sensitivity: by groups the L2 square is what all rows of a unit do in one cell, or in two",
          "[engine][sensitivity][exact]") {
  const auto squares = [](const Dataset& dataset, const char* statistic) {
    std::vector<Rational> result;
    for (const Component& component : derive(dataset, question(statistic, "g")).components)
      result.push_back(component.sensitivity_l2_squared);
    return result;
  };
  using Squares = std::vector<Rational>;
  CHECK(squares(toy(kAddRemove), "count") == Squares{4});
  CHECK(squares(toy(kReplaceOne), "count") == Squares{8});
  CHECK(squares(toy(kAddRemove), "units") == Squares{2});
  CHECK(squares(toy(kReplaceOne), "units") == Squares{3});
  CHECK(squares(toy(kAddRemove), "sum:x") == Squares{144});
  CHECK(squares(toy(kReplaceOne), "sum:x") == Squares{288});              // 12 before, 12 in another cell
  CHECK(squares(toy(kAddRemove), "variance:x") == Squares{1024, 64, 4});  // squares, sum, count
  CHECK(squares(toy(kReplaceOne), "variance:x") ==
        Squares{2048, 256, 8});  // the sum from -8 to 8 in one cell
  Dataset signs = toy(kReplaceOne);
  signs.columns[0].bounds = Bounds{-6, 6};
  CHECK(squares(signs, "sum:x") == Squares{576});  // from -12 to 12 in one cell
}

TEST_CASE("sensitivity: the step of the answers is known for counts and whole numbers, and only there",
          "[engine][sensitivity][exact]") {
  using Steps = std::vector<std::optional<Rational>>;
  const auto steps = [](const Dataset& dataset, const char* statistic) {
    Steps result;
    for (const Component& component : derive(dataset, question(statistic, "g")).components) {
      CHECK((!component.step || Rational(component.lower / *component.step).get_den() == 1));
      CHECK((!component.step || Rational(component.upper / *component.step).get_den() == 1));
      result.push_back(component.step);
    }
    return result;
  };
  Dataset dataset = toy(kAddRemove);
  CHECK(steps(dataset, "count") == Steps{1});
  CHECK(steps(dataset, "units") == Steps{1});
  CHECK(steps(dataset, "sum:x") == Steps{1});
  CHECK(steps(dataset, "variance:x") == Steps{1, 1, 1});
  dataset.columns[0].bounds = Bounds{-2, 5};  // about 3/2
  CHECK(steps(dataset, "sum:x") == Steps{1});
  CHECK(steps(dataset, "mean:x") == Steps{Rational(1, 2), 1});
  CHECK(steps(dataset, "variance:x") == Steps{Rational(1, 4), Rational(1, 2), 1});
  dataset.columns[0].missing = Rational(1, 3);
  CHECK(steps(dataset, "sum:x") == Steps{std::nullopt});
  dataset.columns[0].missing = Rational(1);
  CHECK(steps(dataset, "sum:x") == Steps{1});
  dataset.columns[0].type = ColumnType::decimal;
  CHECK(steps(dataset, "sum:x") == Steps{1});  // without digits after the point
  dataset.columns[0].scale = 2;
  CHECK(steps(dataset, "variance:x") == Steps{std::nullopt, std::nullopt, 1});
  dataset.columns[0].type = ColumnType::real;
  dataset.columns[0].scale = 0;
  CHECK(steps(dataset, "sum:x") == Steps{std::nullopt});
  CHECK_FALSE(only(exact_toy(), question("mean:x")).step.has_value());
}

TEST_CASE("sensitivity: with a single group nothing can move to another", "[engine][sensitivity][exact]") {
  Dataset dataset = toy(kReplaceOne);
  dataset.columns[1].values = {"A"};
  CHECK(only(dataset, question("count", "g")).sensitivity_l2_squared == 4);
  CHECK(only(dataset, question("units", "g")).sensitivity_l2_squared == 1);
}

TEST_CASE("sensitivity: a sum away from zero needs its distance from it, unless N is public",
          "[engine][sensitivity][exact]") {
  Dataset dataset = toy(kReplaceOne);
  dataset.columns[0].bounds = Bounds{4, 6};
  check(only(dataset, question("sum:x")), Quantity::sum, 12, 1, 0, 60);
  dataset.neighbours = kAddRemove;
  check(only(dataset, question("sum:x")), Quantity::sum, 12, 1, 0, 60);
  dataset.columns[0].bounds = Bounds{-6, -4};
  check(only(dataset, question("sum:x")), Quantity::sum, 12, 1, -60, 0);
  dataset = exact_toy();
  dataset.columns[0].bounds = Bounds{4, 6};
  check(only(dataset, question("sum:x")), Quantity::sum, 4, 1, 0, 60);
  check(only(dataset, question("sum:x", "", "x > 4")), Quantity::sum, 12, 1, 0, 60);
}

TEST_CASE("sensitivity: a mean of a public N is one release, of a private n two",
          "[engine][sensitivity][exact]") {
  Dataset dataset = toy(kAddRemove);
  dataset.mean_split = Rational(2, 3);
  const Derivation mean = derive(dataset, question("mean:x"));
  REQUIRE(mean.components.size() == 2);
  check(mean.components[0], Quantity::sum_about_centre, 8, 1, -40, 40, Rational(2, 3));
  check(mean.components[1], Quantity::rows, 2, 1, 0, 10, Rational(1, 3));
  CHECK(mean.centre == 2);
  CHECK(mean.post_processing.kind == Kind::mean_about);
  CHECK(mean.post_processing.centre == 2);
  CHECK(mean.post_processing.lower == -2);
  CHECK(mean.post_processing.upper == 6);
}

TEST_CASE("sensitivity: a variance of a public N is one release, of a private n and by groups three",
          "[engine][sensitivity][exact]") {
  Dataset few = exact_toy();
  few.rows.count = 4;
  CHECK(only(few, question("variance:x")).sensitivity == 16);
  few.rows.count = 3;
  CHECK(only(few, question("variance:x")).sensitivity == 16);

  for (const char* by : {"", "g"}) {
    const Derivation derived = derive(toy(kAddRemove), question("variance:x", by));
    CHECK(derived.post_processing.kind == Kind::variance_about);
    CHECK(derived.post_processing.centre == 2);
    CHECK(derived.post_processing.lower == 0);
    CHECK(derived.post_processing.upper == 16);
  }
}

TEST_CASE("sensitivity: a ratio is two sums over the rows that have both, whatever is known of their number",
          "[engine][sensitivity][exact]") {
  const auto with_divisor = [](Dataset dataset, const Rational& lower, ColumnType type = ColumnType::integer,
                               unsigned scale = 0) {
    dataset.columns.push_back(number_column("y", type, lower, 4, scale));
    dataset.mean_split = Rational(2, 3);
    return dataset;
  };
  const auto parts = [](const Dataset& dataset, const char* by = "", const char* where = "") {
    Derivation derivation = derive(dataset, question("ratio:x,y", by, where));
    REQUIRE(derivation.components.size() == 2);
    CHECK(derivation.post_processing.kind == Kind::ratio);
    CHECK(derivation.post_processing.centre == 0);
    return derivation;
  };
  const Rational of = Rational(2, 3), over = Rational(1, 3);
  const Derivation removed = parts(with_divisor(toy(kAddRemove), 1));
  check(removed.components[0], Quantity::numerator, 12, 1, -20, 60, of);
  check(removed.components[1], Quantity::denominator, 8, 1, 0, 40, over);
  CHECK(removed.components[0].step == Rational(1));
  CHECK(removed.components[1].step == Rational(1));
  CHECK(removed.components[0].sensitivity_l2_squared == 144);
  CHECK(removed.post_processing.lower == -2);  // -2 over 1
  CHECK(removed.post_processing.upper == 6);   // 6 over 1

  const Derivation replaced = parts(with_divisor(toy(kReplaceOne), 1), "", "x > 0");
  check(replaced.components[0], Quantity::numerator, 16, 1, -20, 60, of);
  check(replaced.components[1], Quantity::denominator, 8, 1, 0, 40, over);
  const Derivation by = parts(with_divisor(toy(kReplaceOne), 1), "g");
  check(by.components[0], Quantity::numerator, 24, 3, -20, 60, of);
  check(by.components[1], Quantity::denominator, 16, 3, 0, 40, over);
  CHECK(by.components[0].sensitivity_l2_squared == 288);  // 2·(2·6)², more than (2·8)²
  // Which rows have both is private where their number is not.
  const Derivation exact = parts(with_divisor(exact_toy(), 1));
  check(exact.components[0], Quantity::numerator, 16, 1, -20, 60, of);
  check(exact.components[1], Quantity::denominator, 8, 1, 0, 40, over);

  // Divided by 0 and more it is at most what n rows sum to over the least number that is not 0.
  const Derivation from_zero = parts(with_divisor(toy(kAddRemove), 0, ColumnType::decimal, 2));
  CHECK(from_zero.components[1].step == std::nullopt);
  CHECK(from_zero.post_processing.lower == -2000);
  CHECK(from_zero.post_processing.upper == 6000);
  CHECK(parts(with_divisor(toy(kAddRemove), 0)).post_processing.upper == 60);
  Dataset below = with_divisor(toy(kAddRemove), Rational(1, 2), ColumnType::real);
  below.columns[0].bounds = Bounds{-6, -2};
  CHECK(parts(below).post_processing.lower == -12);              // -6 over 1/2
  CHECK(parts(below).post_processing.upper == Rational(-1, 2));  // -2 over 4
  CHECK(derive(below, question("ratio:x,y")).components[1].step == std::nullopt);

  CHECK_THROWS_WITH(
      derive(with_divisor(toy(kAddRemove), -1), question("ratio:x,y")),
      "column 'y' is divided by, and its bounds begin below 0: declare `bounds` that begin at 0 "
      "or above");
  CHECK_THROWS_WITH(derive(with_divisor(toy(kAddRemove), 0, ColumnType::real), question("ratio:x,y")),
                    "column 'y' is divided by, and as a double can be as near to 0 as you like: declare "
                    "`bounds` that begin above 0");
  CHECK_THROWS_WITH(derive(toy(kAddRemove), question("ratio:x,g")),
                    "column 'g' has type string: a ratio needs a column of type int, decimal or double");
  CHECK_THROWS_AS(derive(toy(kAddRemove), question("ratio:x,y")), NotFound);
  Dataset unbounded = with_divisor(toy(kAddRemove), 1);
  unbounded.columns[2].bounds.reset();
  CHECK_THROWS_WITH(derive(unbounded, question("ratio:x,y")),
                    "column 'y' has no bounds: declare `bounds: [LOWER, UPPER]` to bound its ratio");
}

TEST_CASE("sensitivity: a unit cannot change more cells than there are", "[engine][sensitivity][exact]") {
  Dataset dataset = toy(kAddRemove);
  dataset.unit.max_rows = 100;
  CHECK(only(dataset, question("count", "g")).coordinates == 3);
  dataset.neighbours = kReplaceOne;
  CHECK(only(dataset, question("count", "g")).coordinates == 3);
  dataset.unit.max_rows = 1;
  CHECK(only(dataset, question("count", "g")).coordinates == 2);
  dataset.unit.max_rows = UINT64_MAX;
  CHECK(only(dataset, question("sum:x", "g")).coordinates == 3);
}

TEST_CASE("sensitivity: a supplied value has the declared bounds and sensitivity",
          "[engine][sensitivity][exact]") {
  Dataset dataset = toy(kAddRemove);
  dataset.csv.reset();
  dataset.queries = {{"score", {0, 10}, Rational(1, 2), 5}};
  check(only(dataset, question("value:score")), Quantity::supplied, Rational(1, 2), 1, 0, 10);
  CHECK(only(dataset, question("value:score")).sensitivity_l2_squared == Rational(1, 4));
  CHECK_THROWS_WITH(derive(dataset, question("value:scor")),
                    "dataset 'toy' declares no query 'scor' (did you mean 'score'?)");
  CHECK_THROWS_AS(derive(dataset, question("value:scor")), NotFound);
  CHECK_THROWS_AS(derive(dataset, question("value:score", "", "x > 1")), InvalidParameter);
  CHECK_THROWS_WITH(derive(dataset, question("count")),
                    "dataset 'toy' declares no source: only value:NAME can be asked of it");
  CHECK_THROWS_AS(derive(dataset, question("count")), Underivable);
}

TEST_CASE("sensitivity: what is not declared is named with the declaration that is missing",
          "[engine][sensitivity][negative]") {
  Dataset dataset = visits();
  dataset.columns[0].bounds.reset();
  CHECK_THROWS_WITH(derive(dataset, question("sum:age")),
                    "column 'age' has no bounds: declare `bounds: [LOWER, UPPER]` to bound its sum");
  CHECK_THROWS_AS(derive(dataset, question("mean:age")), Underivable);
  CHECK_THROWS_WITH(derive(dataset, question("mean:ward")),
                    "column 'ward' has type string: a mean needs a column of type int, decimal or double");
  CHECK_THROWS_AS(derive(dataset, question("sum:seen")), Underivable);
  CHECK_THROWS_WITH(derive(dataset, question("histogram:age")),
                    "column 'age' cannot be grouped by: declare its `values: [...]`");
  CHECK_THROWS_WITH(
      derive(dataset, question("count", "cost")),
      "column 'cost' cannot be grouped by: its type is decimal, and groups must be declared values");
  Dataset exact = exact_toy();
  exact.columns[0].missing.reset();
  for (const char* statistic : {"sum:x", "mean:x", "variance:x"}) {
    CHECK_THROWS_AS(derive(exact, question(statistic)), Underivable);
  }
}

TEST_CASE("sensitivity: an unknown column gets a suggestion wherever it is named",
          "[engine][sensitivity][negative]") {
  const Dataset dataset = visits();
  for (const Question& asked :
       {question("sum:costs"), question("count", "wards"), question("count", "", "agee > 1")}) {
    CHECK_THROWS_AS(derive(dataset, asked), NotFound);
  }
  CHECK_THROWS_WITH(derive(dataset, question("sum:costs")),
                    "dataset 'clinic' declares no column 'costs' (did you mean 'cost'?)");
  Dataset renamed = dataset;
  renamed.columns[0].header = "Alter in Jahren";
  CHECK_THROWS_WITH(derive(renamed, question("sum:Alter in Jahren")),
                    "dataset 'clinic' declares no column 'Alter in Jahren' (did you mean 'age', which reads "
                    "the column Alter in Jahren?)");
  renamed.columns[1].header = "Alter in Jahren";
  CHECK_THROWS_WITH(derive(renamed, question("sum:Alter in Jahren")),
                    says("did you mean 'age' or 'cost', which"));
}

TEST_CASE("sensitivity: a predicate must fit the types of its columns", "[engine][sensitivity][negative]") {
  const Dataset dataset = visits();
  for (const char* where : {"age = '1'", "ward = 1", "smoker = 1", "seen = '2024-01-31'", "cost = true",
                            "score = 2024-01-31", "ward in ('A', 2)", "ward < 'B'", "smoker >= true"}) {
    CAPTURE(where);
    CHECK_THROWS_AS(derive(dataset, question("count", "", where)), InvalidParameter);
  }
  CHECK_THROWS_WITH(derive(dataset, question("count", "", "ward > 'A'")),
                    "where: column 'ward' has type string, which has no order: use =, != or in");
  CHECK_THROWS_WITH(derive(dataset, question("count", "", "seen > 3")),
                    "where: column 'seen' has type date: compare it with a date such as 2024-01-31");
  for (const char* where : {"age > 1.5", "cost in (1, 2.5)", "score <= 1/3", "ward != 'Z'",
                            "smoker in (true)", "seen < 2024-01-31"}) {
    CAPTURE(where);
    CHECK_NOTHROW(derive(dataset, question("count", "", where)));
  }
}

TEST_CASE("sensitivity: rows that have a cell are counted as rows are", "[engine][sensitivity][exact]") {
  for (const char* asked : {"count:x", "count:g"}) {
    CAPTURE(asked);
    CHECK(only(toy(kReplaceOne), question(asked, "g")).sensitivity_l2_squared == 8);
    CHECK(only(toy(kAddRemove), question(asked)).step == Rational(1));
  }
  CHECK_THROWS_WITH(derive(toy(kAddRemove), question("count:y")),
                    says("dataset 'toy' declares no column 'y'"));
}

TEST_CASE("sensitivity: a proportion is a histogram of two cells in each group",
          "[engine][sensitivity][exact]") {
  const auto drawn = [](const Dataset& dataset, const char* by = "") {
    const Derivation derivation = derive(dataset, question("proportion:g:B", by));
    CHECK(derivation.post_processing.kind == Kind::proportion);
    CHECK(derivation.post_processing.lower == 0);
    CHECK(derivation.post_processing.upper == 1);
    CHECK(derivation.cells.size() == (*by == 0 ? 0U : 3U));
    REQUIRE(derivation.components.size() == 1);
    CHECK(derivation.components[0].step == Rational(1));
    return derivation.components[0];
  };
  CHECK(drawn(toy(kAddRemove)).sensitivity_l2_squared == 4);
  CHECK(drawn(toy(kReplaceOne)).sensitivity_l2_squared == 8);
  CHECK(drawn(toy(kReplaceOne), "g").sensitivity_l2_squared == 8);
  CHECK_THROWS_WITH(derive(toy(kAddRemove), question("proportion:g:D")),
                    says("statistic: 'D' is not among the values of column 'g'"));
  CHECK_THROWS_WITH(derive(toy(kAddRemove), question("proportion:x:3")),
                    "column 'x' has no declared values, and proportion looks for those: declare its "
                    "`values: [...]`");
  Dataset decimal = toy(kAddRemove);
  decimal.columns[0].type = ColumnType::decimal;
  CHECK_THROWS_WITH(derive(decimal, question("proportion:x:3")),
                    "column 'x' has no declared values, and proportion looks for those: its type is decimal");
}

TEST_CASE("sensitivity: of distinct values no more come or go than a unit has rows, and than there are",
          "[engine][sensitivity][exact]") {
  const auto drawn = [](Dataset dataset, std::uint64_t k, const char* by = "") {
    dataset.unit.max_rows = k;
    return only(dataset, question("distinct:g", by));
  };
  const auto square = [](const Component& component) { return component.sensitivity_l2_squared; };
  CHECK(square(drawn(toy(kReplaceOne), 5)) == 9);
  CHECK(square(drawn(toy(kAddRemove), 2, "g")) == 4);
  CHECK(square(drawn(toy(kReplaceOne), 2, "g")) == 8);
  CHECK(square(drawn(toy(kReplaceOne), 5, "g")) == 27);
  // With one group only there is nothing to move between.
  Dataset one_group = toy(kReplaceOne);
  one_group.columns.push_back(value_column("h", ColumnType::string, {"only"}));
  const Component single = only(one_group, question("distinct:g", "h"));
  check(single, Quantity::distinct, 2, 1, 0, 3);
  CHECK(square(single) == 4);
  // There are no more values than rows.
  one_group.rows.count = 2;
  CHECK(only(one_group, question("distinct:g")).upper == 2);
  CHECK(drawn(toy(kAddRemove), 2).counted == std::vector<std::string>{"A", "B", "C"});
  CHECK_THROWS_WITH(derive(toy(kAddRemove), question("distinct:x")),
                    says("column 'x' has no declared values, and distinct looks for those"));
}

TEST_CASE("sensitivity: the error of a rank, of one quantile and of several",
          "[engine][sensitivity][quantile][exact]") {
  const Component several = only(toy(kAddRemove), question("quantiles:x:0.1,0.5,0.9"));
  CHECK(derive(toy(kAddRemove), question("quantiles:x:0.1,0.5,0.9")).cells ==
        std::vector<std::string>{"0.1", "0.5", "0.9"});
  CHECK(several.quantiles->cells == 1);
  CHECK(several.quantiles->candidates == 9);
  const char* const high = "quantiles:x:0.5,0.9";
  const Derivation by = derive(toy(kReplaceOne), question(high, "g"));
  CHECK(by.cells.lists() == std::vector<std::vector<std::string>>{{"A", "B", "C"}, {"0.5", "0.9"}});
  CHECK(by.components[0].quantiles->cells == 3);
  // With one group only there is nothing to move between.
  Dataset one_group = toy(kReplaceOne);
  one_group.columns.push_back(value_column("h", ColumnType::string, {"only"}));
  check(only(one_group, question(high, "h")), Quantity::quantile, Rational(20, 9), 1, -2, 6);
}

TEST_CASE("sensitivity: cells of several quantiles are as many as a table may have",
          "[engine][sensitivity][quantile][negative]") {
  std::vector<std::string> values;
  for (int i = 0; i < 5001; ++i) values.push_back(std::to_string(i));
  Dataset dataset = toy(kAddRemove);
  dataset.columns.push_back(value_column("many", ColumnType::integer, values));
  CHECK(derive(dataset, question("median:x", "many")).cells.size() == 5001);
  CHECK_THROWS_WITH(
      derive(dataset, question("quantiles:x:0.5,0.9", "many")),
      "by: 'many' has 5001 cells, of 2 quantiles each: at most 10000 values; ask for fewer at once");
  dataset.columns.back().values.pop_back();
  CHECK(derive(dataset, question("quantiles:x:0.5,0.9", "many")).cells.size() == 10'000);
}
