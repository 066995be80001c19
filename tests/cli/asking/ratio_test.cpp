// Ratios and variances over a private number of rows, as the command plans, compares, releases and tells
// them.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// Of so much epsilon that noise is far below what is told apart.
std::string policy() {
  return replaced(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 2300000}"),
                  "    columns:", "    allow: {statistics: [private_variance, ratio]}\n    columns:");
}

Result ask(const Workbench& bench, Words words, const std::string& epsilon) {
  words.insert(words.begin() + 1, "clinic");
  return bench.with_ledger(with(words, {"--epsilon", epsilon}));
}

}  // namespace

TEST_CASE("ratio: the command plans, compares, releases, tells and verifies it", "[cli][ratio]") {
  const Workbench bench(policy());
  const json planned = json::parse(ask(bench, {"plan", "ratio:cost,age", "--json"}, "1").out);
  check_members(planned, R"({"statistic": "ratio:cost,age", "post_processing": "ratio", "accuracy": []})");
  REQUIRE(planned.at("components").size() == 2);
  CHECK(planned.at("components")[0].at("statistic") == "numerator");
  CHECK(planned.at("components")[1].at("statistic") == "denominator");
  CHECK(contains(ask(bench, {"plan", "ratio:cost,age"}, "1").out, "of its exact denominator\n"));
  const Result compared = ask(bench, {"plan", "ratio:cost,age", "--compare"}, "1");
  CHECK(compared.exit == 0);
  CHECK(contains(compared.out, "within so much of its parts: numerator and denominator\n"));

  const json told =
      json::parse(ask(bench, {"release", "ratio:cost,age", "--alpha", "1e-9", "--json"}, "1000000").out);
  // 120.50, 80, 499.99, 500 (clamped), 250, 0 and 1 over 34, 34, 71, 80, 90, 44 and 45.
  CHECK(std::abs(told.at("value_decimal").get<double>() - 1451.49 / 398) < 0.01);
  REQUIRE(told.at("interval").size() == 1);
  CHECK(std::stod(told.at("interval")[0].at("low").get<std::string>()) < 1451.49 / 398);
  CHECK(std::stod(told.at("interval")[0].at("high").get<std::string>()) > 1451.49 / 398);
  CHECK(contains(told.at("interval_of").get<std::string>(), "denominator above 0"));
  const json shown =
      json::parse(bench.with_ledger({"show", told.at("decision_id"), "--alpha", "1e-9", "--json"}).out);
  CHECK(shown.at("components") == told.at("components"));
  CHECK(shown.at("interval") == told.at("interval"));
  const std::string text = ask(bench, {"release", "ratio:cost,age"}, "100000").out;
  CHECK(contains(text, " (95 %)"));
  CHECK(contains(
      text, "clamping and dropping, for rows that\n             divide by more than 0, at most rows.max;"));
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  const Result dummy = bench.run({"release", "clinic", "ratio:cost,age", "--epsilon", "0.5", "--dummy",
                                  "--policy", "policy.yaml", "--json"});
  CHECK(dummy.exit == 0);
  CHECK(json::parse(dummy.out).at("components").size() == 2);
}

TEST_CASE("ratio: where 0 is a plausible denominator the interval is the whole range, in any form of output",
          "[cli][ratio][intervals]") {
  const Workbench bench(policy());
  const Words ask_twice = {"release", "ratio:cost,age", "--alpha", "0.05", "--alpha", "0.01", "--key", "k"};
  const auto told_as = [&](const Words& form) {
    const Words words = with(ask_twice, form);
    return ask(bench, words, "0.001").out;
  };
  const json blurred = json::parse(told_as({"--json"}));
  REQUIRE(blurred.at("interval").size() == 2);
  for (const json& one : blurred.at("interval")) {
    check_members(one, R"({"whole_range": true, "holds_from": null, "low": "0"})");
    CHECK(one.at("high").is_string());
  }
  const std::string text = told_as({});
  CHECK(contains(text, "] whole range (95 %)"));
  CHECK(contains(text, "shown narrower than the whole range, it often misses (95 %)\n"));
  const std::string csv = told_as({"--format", "csv"});
  CHECK(contains(
      csv, "interval.0.low_decimal,interval.0.high_decimal,interval.0.whole_range,interval.0.holds_from,"));
  CHECK(contains(csv, ",true,,0.01,"));
  const Result by = ask(bench, {"release", "ratio:cost,age", "--by", "ward"}, "0.001");
  CHECK(by.exit == 0);
  CHECK(contains(by.out, "] whole range"));

  // At one alpha and not at the other.
  const json some = json::parse(
      ask(bench, {"release", "ratio:cost,age", "--alpha", "1e-300", "--alpha", "0.5", "--json"}, "100").out);
  REQUIRE(some.at("interval").size() == 2);
  CHECK(some.at("interval")[0].at("whole_range") == true);
  CHECK(some.at("interval")[1].at("whole_range") == false);
  CHECK(some.at("interval")[1].at("holds_from").is_string());
}

TEST_CASE(
    "ratio: a plan says from which denominator on a narrow interval holds, and its release says the same",
    "[cli][ratio][intervals]") {
  const Workbench bench(policy());
  const json plan = json::parse(ask(bench, {"plan", "ratio:cost,age", "--json"}, "100").out);
  REQUIRE(plan.at("holds_from").size() == 1);
  const json& size = plan.at("holds_from")[0].at("interval");
  CHECK(std::stod(size.get<std::string>()) > 0);
  CHECK(contains(ask(bench, {"plan", "ratio:cost,age"}, "100").out,
                 "shown narrower than the whole range, it holds from a denominator of "));
  CHECK(contains(ask(bench, {"plan", "ratio:cost,age"}, "100").out,
                 "below that, a narrow one usually misses\n"));
  const json told = json::parse(ask(bench, {"release", "ratio:cost,age", "--json"}, "100").out);
  CHECK(told.at("interval")[0].at("holds_from") == size);
  CHECK_FALSE(told.contains("holds_from"));
  // A count is always narrow.
  const json count = json::parse(ask(bench, {"plan", "count", "--json"}, "100").out);
  CHECK(count.at("holds_from")[0].at("interval") == "0");
  CHECK_FALSE(contains(ask(bench, {"plan", "count"}, "100").out, "narrower"));
}

TEST_CASE("ratio: a forecast and the rows of a planned batch say the size that the plan of one question says",
          "[cli][ratio][intervals][forecast][batch]") {
  const Workbench bench(replaced(policy(), "[private_variance, ratio]", "[count, ratio]"));
  const json plan = json::parse(ask(bench, {"plan", "ratio:cost,age", "--json"}, "100").out);
  const json forecast = json::parse(ask(bench, {"forecast", "ratio:cost,age", "--json"}, "100").out);
  CHECK(forecast.at("holds_from") == plan.at("holds_from"));
  const std::string narrow = "shown narrower than the whole range, it holds from a denominator of ";
  CHECK(contains(ask(bench, {"forecast", "ratio:cost,age"}, "100").out, narrow));
  CHECK_FALSE(contains(ask(bench, {"forecast", "count"}, "100").out, "narrower"));
  const json counted = json::parse(
      bench.with_ledger({"plan", "clinic", "ratio:cost,age", "--epsilon", "100", "--count", "3", "--json"})
          .out);
  CHECK(counted.at("forecast").at("holds_from") == plan.at("holds_from"));
  CHECK(counted.at("for_count").at("holds_from").size() == 1);
  // No epsilon fits so often: there is nothing to say a size of.
  const Workbench poor(kClinicPolicy);
  const Result none =
      poor.with_ledger({"forecast", "clinic", "count", "--count", "1000000000000000", "--json"});
  CHECK(none.exit == 4);
  CHECK(json::parse(none.out).at("holds_from") == json::array());

  bench.write("rows.csv", "statistic\n\"ratio:cost,age\"\ncount\n");
  const Words batch = {"clinic", "--batch", "rows.csv", "--epsilon", "100"};
  const auto asked = [&](Words words, const Words& more) {
    words.insert(words.end(), batch.begin(), batch.end());
    words.insert(words.end(), more.begin(), more.end());
    return bench.with_ledger(words).out;
  };
  const json rows = json::parse(asked({"plan"}, {"--together", "--json"})).at("rows");
  const json& of_row = rows[0].at("holds_from")[0];
  CHECK(of_row.at("interval") == plan.at("holds_from")[0].at("interval"));
  // Of all rows together each has a part of alpha alone.
  CHECK(std::stod(of_row.at("simultaneous").get<std::string>()) >
        std::stod(of_row.at("interval").get<std::string>()));
  CHECK(rows[1].at("holds_from")[0].at("interval") == "0");
  const std::string text = asked({"plan"}, {"--together"});
  CHECK(text.find(narrow) < text.find("row 2:"));
  CHECK(text.find(narrow, text.find("row 2:")) == std::string::npos);
  const json told = json::parse(asked({"release"}, {"--json"})).at("rows");
  CHECK(told[0].at("interval")[0].at("holds_from") == of_row.at("interval"));
  CHECK(told[0].at("simultaneous")[0].at("holds_from") == of_row.at("simultaneous"));
  CHECK_FALSE(told[0].contains("holds_from"));
}

TEST_CASE("ratio: what is asked wrongly ends with 2 or 3, says why and records nothing", "[cli][ratio]") {
  const Workbench bench(policy());
  const std::string before = dump(bench.path("L"));
  struct Case {
    const char* statistic;
    int exit;
    const char* says;
  };
  for (const Case& c : std::vector<Case>{
           {"ratio:cost", 2, "over the sum of which column? write ratio:cost,COLUMN"},
           {"ratio:cost,cost", 2, "the ratio of 'cost' to itself is 1"},
           {"ratio:cost,costs", 3, "declares no column 'costs' (did you mean 'cost'?)"},
           {"ratio:cost,ward", 3, "column 'ward' has type string: a ratio needs a column of type int"},
           {"private_variance:age", 2,
            "'private_variance' is what a policy calls it; write variance:COLUMN"}}) {
    CAPTURE(c.statistic);
    const Result result = ask(bench, {"release", c.statistic}, "1");
    CHECK(result.exit == c.exit);
    CHECK(contains(result.err, c.says));
  }
  const Result suppressed =
      ask(bench, {"release", "ratio:cost,age", "--by", "ward", "--suppress-below", "5"}, "1");
  check_ended(suppressed, 2, "no count of its cells is released with 'ratio:cost,age'");
  const Result forecast =
      bench.with_ledger({"forecast", "clinic", "ratio:cost,age", "--accuracy", "0.1", "--alpha", "0.05"});
  CHECK(forecast.exit == 3);
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("private variance: the command releases it where the policy names it, and says so where not",
          "[cli][ratio]") {
  const Workbench bench(policy());
  const json told = json::parse(ask(bench, {"release", "variance:age", "--json"}, "1000000").out);
  CHECK(told.at("post_processing") == "variance_about");
  CHECK(told.at("components").size() == 3);
  CHECK(told.at("interval").size() == 1);
  const Result by = ask(bench, {"release", "variance:age", "--by", "ward"}, "1");
  check_ended(by, 4, "statistic 'variance' is not among the statistics");
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);

  const Workbench plain(kClinicPolicy);
  const Result refused = ask(plain, {"release", "variance:age"}, "0.1");
  check_ended(refused, 4, "'private_variance', a variance over a private number of rows, is not among");
  CHECK(ask(plain, {"release", "variance:age", "--by", "ward"}, "0.1").exit == 0);
}
