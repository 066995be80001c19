#include "epsilog/engine/statistic.hpp"

#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using epsilog::test::question;

TEST_CASE("statistic: the verbs are read with their subject", "[engine][statistic][exact]") {
  CHECK(question("count").statistic.kind == StatisticKind::count);
  CHECK(question("units").statistic.kind == StatisticKind::units);
  CHECK(question("sum:cost").statistic.subject == "cost");
  CHECK(question("mean:cost", "ward", "age > 65").by == std::optional<std::string>("ward"));
  CHECK(question("mean:cost", "ward", "age > 65").where->text() == "age > 65");
  CHECK(question("variance:cost").statistic.text() == "variance:cost");
  CHECK(question("value:score").statistic.text() == "value:score");
  CHECK(question("sum:a:b").statistic.subject == "a:b");
}

TEST_CASE("statistic: a histogram is a count by its column", "[engine][statistic][exact]") {
  const Question histogram = question("histogram:ward");
  CHECK(histogram.statistic.kind == StatisticKind::count);
  CHECK(histogram.statistic.text() == "count");
  CHECK(histogram.by == std::optional<std::string>("ward"));
}

TEST_CASE("statistic: bad syntax is refused and an unknown verb gets a suggestion",
          "[engine][statistic][negative]") {
  CHECK_THROWS_WITH(
      question("meen:cost"),
      "statistic: unknown statistic 'meen'; it is one of count, units, sum, mean, variance, value, "
      "histogram (did you mean 'mean'?)");
  CHECK_THROWS_WITH(question("sum"), "statistic: 'sum' needs a column: write sum:NAME");
  CHECK_THROWS_WITH(question("value:"), "statistic: 'value' needs a query: write value:NAME");
  CHECK_THROWS_WITH(question("count:ward"), "statistic: 'count' takes no column: write count");
  CHECK_THROWS_WITH(question("histogram:ward", "age"), "by: cannot be combined with 'histogram'");
  CHECK_THROWS_WITH(question("value:score", "ward"), "by: cannot be combined with 'value'");
  CHECK_THROWS_WITH(parse_question("count", "", std::nullopt), "by: names no column");
  for (const char* text : {"", ":", "Sum:cost", " sum:cost", "histogram", "mean:"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(question(text), InvalidParameter);
  }
  CHECK_THROWS_AS(question("count", "", "age >"), InvalidParameter);
}

TEST_CASE("statistic: component names are those of the JSON contract", "[engine][statistic][exact]") {
  CHECK(name(Component::Quantity::rows) == "count");
  CHECK(name(Component::Quantity::units) == "units");
  CHECK(name(Component::Quantity::sum) == "sum");
  CHECK(name(Component::Quantity::sum_about_centre) == "sum_about_centre");
  CHECK(name(Component::Quantity::squares_about_centre) == "squares_about_centre");
  CHECK(name(Component::Quantity::mean) == "mean");
  CHECK(name(Component::Quantity::variance) == "variance");
  CHECK(name(Component::Quantity::supplied) == "value");
}
