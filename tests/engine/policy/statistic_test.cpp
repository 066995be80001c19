#include "epsilog/engine/statistic.hpp"

#include "checked_rows.hpp"
#include "refused_for.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

TEST_CASE("statistic: the verbs are read with their subject", "[engine][statistic][exact]") {
  CHECK(question("count").statistic.kind == StatisticKind::count);
  CHECK(question("units").statistic.kind == StatisticKind::units);
  CHECK(question("sum:cost").statistic.subject == "cost");
  CHECK(question("mean:cost", "ward", "age > 65").by == std::vector<std::string>{"ward"});
  CHECK(question("mean:cost", "ward", "age > 65").where->text() == "age > 65");
  CHECK(question("variance:cost").statistic.text() == "variance:cost");
  CHECK(question("value:score").statistic.text() == "value:score");
  CHECK(question("sum:a:b").statistic.subject == "a:b");
}

TEST_CASE("statistic: a histogram is a count by its column", "[engine][statistic][exact]") {
  const Question histogram = question("histogram:ward");
  CHECK(histogram.statistic.kind == StatisticKind::count);
  CHECK(histogram.statistic.text() == "count");
  CHECK(histogram.by == std::vector<std::string>{"ward"});
}

TEST_CASE("statistic: what counts the cells of a column is read with the value asked for",
          "[engine][statistic][exact]") {
  const auto asked = [](const std::string& text) { return question(text).statistic; };
  CHECK(asked("count:age").kind == StatisticKind::count_of);
  CHECK(asked("count:age").subject == "age");
  CHECK(asked("distinct:ward").kind == StatisticKind::distinct);
  CHECK(asked("proportion:ward:A").kind == StatisticKind::proportion);
  CHECK(asked("proportion:ward:A").subject == "ward");
  CHECK(asked("proportion:ward:A").value == "A");
  CHECK(asked("proportion:ward:A: B:").value == "A: B:");
  CHECK(question("proportion:ward:A", "ward", "age > 1").by == std::vector<std::string>{"ward"});
  for (const char* text :
       {"count:age", "count:a:b", "distinct:ward", "proportion:ward:A", "proportion:w:[0,18)",
        "proportion:w: ", "proportion:w:a:b", "proportion:w:\xff\n\"'"}) {
    CAPTURE(text);
    CHECK(asked(text).text() == text);
    CHECK(asked(asked(text).text()).value == asked(text).value);
    CHECK(asked(asked(text).text()).kind == asked(text).kind);
  }
  CHECK(asked("count").kind == StatisticKind::count);
}

TEST_CASE("statistic: a ratio is read with both columns", "[engine][statistic][ratio][exact]") {
  const Statistic asked = question("ratio:cost,days", "ward", "age > 1").statistic;
  CHECK(asked.kind == StatisticKind::ratio);
  CHECK(asked.subject == "cost");
  CHECK(asked.divisor == "days");
  CHECK(asked.text() == "ratio:cost,days");
  CHECK(aggregated_columns(asked) == std::vector<std::string>{"cost", "days"});
  CHECK(aggregated_columns(question("sum:cost").statistic) == std::vector<std::string>{"cost"});
  CHECK(aggregated_columns(question("units").statistic).empty());
  CHECK(aggregated_columns(question("value:score").statistic).empty());
  CHECK(question("ratio:a:b,c").statistic.subject == "a:b");
  Question by = question("ratio:cost,days", "ward");
  CHECK_THROWS_WITH(suppress_below(by, 5),
                    "suppress_below: no count of its cells is released with 'ratio:cost,days'");
}

TEST_CASE("statistic: a variance of one cell over a private number of rows has a name of its own in policies",
          "[engine][statistic][exact]") {
  CHECK(required_permission(question("variance:x"), false) == StatisticKind::private_variance);
  CHECK(required_permission(question("variance:x", "", "x > 1"), false) == StatisticKind::private_variance);
  CHECK(required_permission(question("variance:x", "g"), false) == StatisticKind::variance);
  for (const char* by : {"", "g"}) {
    CHECK(required_permission(question("variance:x", by), true) == StatisticKind::variance);
    CHECK(required_permission(question("mean:x", by), false) == StatisticKind::mean);
  }
  CHECK_THROWS_WITH(question("private_variance:x"),
                    "statistic: 'private_variance' is what a policy calls it; write variance:COLUMN");
}

TEST_CASE("statistic: a median is a quantile, and several are read from the least on",
          "[engine][statistic][quantile][exact]") {
  const auto asked = [](const char* text) { return question(text).statistic; };
  CHECK(asked("median:age").kind == StatisticKind::quantile);
  CHECK(asked("median:age").subject == "age");
  CHECK(asked("median:age").text() == "quantile:age:0.5");
  CHECK(asked("quantile:age:0.90").text() == "quantile:age:0.9");
  CHECK(asked("quantile:age:1/3").quantiles == std::vector{Rational(1, 3)});
  CHECK(asked("quantile:age:1/3").text() == "quantile:age:1/3");
  CHECK(asked("quantiles:age:0.25,1/2,0.75").quantiles ==
        std::vector{Rational(1, 4), Rational(1, 2), Rational(3, 4)});
  CHECK(asked("quantiles:age:0.25,1/2").text() == "quantiles:age:0.25,0.5");
  CHECK(question("median:age", "ward", "age > 1").by == std::vector<std::string>{"ward"});
  const Question by = question("quantiles:age:0.25,1/2", "ward, band");
  CHECK(by.by == std::vector<std::string>{"ward", "band"});
  CHECK(by.statistic.text() == "quantiles:age:0.25,0.5");
  std::string most = "quantiles:age:";
  for (int i = 1; i <= 99; ++i) most += (i > 1 ? "," : "") + std::to_string(i) + "/100";
  CHECK(asked(most.c_str()).quantiles.size() == 99);
  for (const std::string& text :
       {most, std::string("quantile:age:1e-38"), std::string("quantiles:a:1/7,6/7")}) {
    CAPTURE(text);
    const Statistic once = asked(text.c_str());
    CHECK(asked(once.text().c_str()).text() == once.text());
    CHECK(asked(once.text().c_str()).quantiles == once.quantiles);
  }
}

TEST_CASE("statistic: what cannot be asked is told apart, and an unknown verb gets a suggestion",
          "[engine][statistic][negative]") {
  const std::string statistics = EPSILOG_SOURCE_DIR "/tests/engine/policy/statistics.tsv";
  const RowText refusal = [](const CaseRow& row) {
    return refused_for<InvalidParameter>([&] { return question(row[1], row.at(2)); });
  };
  check_rows(statistics, "refused", refusal);
  check_parts(statistics, "refused in part", refusal);
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

TEST_CASE("statistic: columns to group by are a list of up to three, each once",
          "[engine][statistic][exact]") {
  using Columns = std::vector<std::string>;
  const auto by = [](const std::string& text) { return parse_question("count", text, std::nullopt).by; };
  CHECK(by("ward") == Columns{"ward"});
  CHECK(by("ward,sex") == Columns{"ward", "sex"});
  CHECK(by(" ward , sex,  year ") == Columns{"ward", "sex", "year"});
  for (const Columns& columns : {Columns{"ward"}, Columns{"a", "b", "c"}})
    CHECK(by(by_text(columns)) == columns);
  CHECK(by_text({}).empty());
  CHECK(parse_question_by("count", {"a,b"}, std::nullopt).by == Columns{"a,b"});
  CHECK(parse_question_by("count", {}, std::nullopt).by.empty());

  for (const char* none : {"a,", ",a", "", " ", "a, ,b"}) {
    CAPTURE(none);
    CHECK_THROWS_WITH(by(none), "by: names no column");
  }
  CHECK_THROWS_WITH(by("a,a"), "by: names the column 'a' twice");
  CHECK_THROWS_WITH(by("a,b,c,d"), "by: names more than 3 columns");
  CHECK_THROWS_WITH(parse_question_by("histogram:a", {"b", "c"}, std::nullopt),
                    "by: cannot be combined with 'histogram'");
}
