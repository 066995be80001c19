// What the command tells of the intervals of an answer (docs/command.md): JSON, text, and every way to see it
// again.
#include "cli/workbench.hpp"
#include "epsilog/accounting/rational.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

Rational number(const json& text) {
  return parse_rational(text.get<std::string>(), "number");
}

/// A clinic of up to 1,000 rows and more budget than these tests spend.
std::string large_clinic() {
  return replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1000}");
}

void check_contains(const json& outer, const json& inner) {
  CHECK(number(outer["low"]) <= number(inner["low"]));
  CHECK(number(outer["high"]) >= number(inner["high"]));
}

constexpr const char* kOf =
    "the answer after max_rows, clamping and dropping, for a table of at most rows.max rows; not a "
    "population";

}  // namespace

TEST_CASE(
    "interval: an answer of one draw has one at every alpha, and has the same one wherever it is seen again",
    "[cli][json][intervals]") {
  const Workbench bench(large_clinic());
  for (const char* statistic : {"count", "units", "sum:age", "sum:cost"}) {
    CAPTURE(statistic);
    const Words ask = {"release", "clinic",  statistic, "--epsilon", "0.5", "--key",
                       statistic, "--alpha", "0.05",    "--alpha",   "0.01"};
    const json answer = run_json(bench, ask);
    REQUIRE(answer["interval"].size() == 2);
    CHECK(answer["interval_of"] == kOf);
    CHECK(answer["interval"][0]["alpha"] == "0.05");
    CHECK(answer["interval"][1]["alpha"] == "0.01");
    check_contains(answer["interval"][1], answer["interval"][0]);
    const Rational value = number(answer["value"]);
    for (std::size_t i = 0; i < 2; ++i) {
      const json& interval = answer["interval"][i];
      const Rational a = number(answer["accuracy"][i]["within"]);
      CHECK(number(interval["low"]) <= number(interval["high"]));
      const Rational low_decimal = Rational(interval["low_decimal"].get<double>());
      const Rational high_decimal = Rational(interval["high_decimal"].get<double>());
      const Rational digits(1, 1'000'000'000);
      CHECK((low_decimal <= number(interval["low"]) + digits &&
             low_decimal >= number(interval["low"]) - digits));
      CHECK((high_decimal >= number(interval["high"]) - digits &&
             high_decimal <= number(interval["high"]) + digits));
      CHECK(number(interval["low"]) >= 0);  // nothing here is negative
      // Nor is an answer; the grid may carry a release a little below. Texts are rounded outward at 17
      // digits.
      CHECK(number(interval["high"]) <= std::max<Rational>(value, 0) + a + Rational(1, 1'000'000));
    }
    const json again = run_json(bench, ask);
    CHECK(again["replayed"] == true);
    CHECK(again["interval"] == answer["interval"]);
    const json shown = run_json(bench, {"show", answer["decision_id"], "--alpha", "0.05", "--alpha", "0.01"});
    CHECK(shown["interval"] == answer["interval"]);
    CHECK(shown["interval_of"] == kOf);
    // With neither, as with accuracy.
    const json planned = run_json(bench, {"plan", "clinic", statistic, "--epsilon", "0.5"});
    CHECK((planned["interval"].is_null() && planned["interval_of"].is_null()));
  }
  std::istringstream history(decisions_of(bench.with_ledger({"history", "--json"}).out));
  for (std::string line; std::getline(history, line);) CHECK_FALSE(json::parse(line).contains("interval"));
}

TEST_CASE("interval: cells have one each and one for all of them, a quotient that of its parts",
          "[cli][json][intervals]") {
  const Workbench bench(large_clinic());
  const json answer = run_json(bench, {"release", "clinic", "count", "--by", "ward", "--epsilon", "1"});
  CHECK(answer["interval"].is_null());
  CHECK(answer["interval_of"] == kOf);
  REQUIRE(answer["cells"].size() > 1);
  for (const json& cell : answer["cells"]) {
    REQUIRE(cell["interval"].size() == 1);
    REQUIRE(cell["simultaneous"].size() == 1);
    CHECK(cell["simultaneous"][0]["alpha"] == "0.05");
    check_contains(cell["simultaneous"][0], cell["interval"][0]);
    CHECK(number(cell["interval"][0]["low"]).get_den() == 1);  // whole answers
    CHECK(number(cell["interval"][0]["high"]).get_den() == 1);
  }
  for (const json& cell : answer["components"][0]["cells"]) CHECK_FALSE(cell.contains("interval"));
  const json planned = run_json(bench, {"plan", "clinic", "count", "--by", "ward", "--epsilon", "1"});
  CHECK((planned["cells"][0]["interval"].is_null() && planned["cells"][0]["simultaneous"].is_null()));
  const json mean = run_json(bench, {"release", "clinic", "mean:cost", "--epsilon", "1"});
  REQUIRE(mean["interval"].size() == 1);
  CHECK(number(mean["interval"][0]["low"]) <= number(mean["value"]));
  CHECK(number(mean["interval"][0]["high"]) >= number(mean["value"]));
}

TEST_CASE("interval: of a quotient text says that it is of one row or more, of a batch what each kind is of",
          "[cli][output][intervals][batch]") {
  const Workbench bench(large_clinic());
  const std::string of_one = "dropping, for one to\n             rows.max rows; not of a population";
  const std::string of_any = "dropping, for at most\n             rows.max rows; not of a population";
  const std::string mean = bench.with_ledger({"release", "clinic", "mean:age", "--epsilon", "1"}).out;
  CHECK((contains(mean, of_one) && !contains(mean, of_any)));
  bench.write("rows.csv", "statistic\ncount\nmean:age\nsum:age\nmean:cost\n");
  const std::string batch =
      bench.with_ledger({"release", "clinic", "--batch", bench.path("rows.csv"), "--epsilon", "1"}).out;
  for (const std::string& note : {of_one, of_any}) {
    const std::size_t first = batch.find(note);
    REQUIRE(first != std::string::npos);
    CHECK(batch.find(note, first + 1) == std::string::npos);
  }
}

TEST_CASE("interval: in text it stands beside the value and says what it is of", "[cli][output][intervals]") {
  const Workbench bench(large_clinic());
  int symmetric = 0, asymmetric = 0;
  for (int i = 0; i < 12; ++i) {
    // A cost of 12 rows lies near the lower end, a count of ages under little noise far from both.
    const Words ask = {"release", "clinic", i % 2 == 0 ? "sum:cost" : "sum:age", "--epsilon",
                       i % 2 == 0 ? "0.2" : "40"};
    const json answer = run_json(bench, ask);
    const std::string text = bench.with_ledger({"show", answer["decision_id"]}).out;
    const std::string head = text.substr(0, text.find('\n'));
    CAPTURE(text, answer["interval"].dump(), answer["value"]);
    CHECK(contains(head, " (95 %)"));
    CHECK(contains(
        text,
        "of the answer after max_rows, clamping and dropping, for at most\n             rows.max rows"));
    CHECK(contains(text, "not of a population"));
    const Rational low = number(answer["interval"][0]["low"]), high = number(answer["interval"][0]["high"]);
    const auto figure = [&](const std::string& before, const char* after) {
      const std::size_t begin = head.find(before) + before.size();
      std::string digits = head.substr(begin, head.find_first_of(after, begin) - begin);
      digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
      return parse_rational(digits, "figure");
    };
    if (contains(head, "\u00b1")) {
      ++symmetric;
      const Rational shown = figure(": ", " "), half = figure("\u00b1 ", " ");
      CHECK((shown - half <= low && shown + half >= high));
      CHECK(2 * half <= (high - low) * Rational(11, 10) + 2);
    } else {
      ++asymmetric;
      std::string digits = head.substr(head.find('[') + 1);
      const std::size_t comma = digits.find(", ");
      const std::string above = digits.substr(comma + 2, digits.find(']') - comma - 2);
      std::string below = digits.substr(0, comma), most = above;
      for (std::string* one : {&below, &most})
        one->erase(std::remove(one->begin(), one->end(), ','), one->end());
      CHECK((parse_rational(below, "low") <= low && parse_rational(most, "high") >= high));
    }
    CHECK(lines(bench.with_ledger({"show", answer["decision_id"], "--quiet"}).out) == 1);
  }
  CHECK(symmetric >= 3);
  CHECK(asymmetric >= 1);
  const std::string table = bench
                                .with_ledger({"release", "clinic", "count", "--by", "ward", "--epsilon", "1",
                                              "--alpha", "0.05", "--alpha", "0.01"})
                                .out;
  CAPTURE(table);
  check_parts(table, {" 95 %", " 99 %"});
  CHECK_FALSE(contains(table, "all, "));
  CHECK(contains(
      bench.with_ledger({"release", "clinic", "count", "--by", "ward", "--epsilon", "1", "--verbose"}).out,
      "all, 95 %"));
  // Ends of the range are told as they were declared, however wide an interval is. One about the middle is
  // told as ±, which is at most 0.64 of the releases: all of 70 with a probability below 10^-12.
  bench.write("wide.yaml", replaced(large_clinic(), "bounds: [0, 500]", "bounds: [-10, 1000000]"));
  REQUIRE(bench.with_ledger({"policy", "apply", "wide.yaml", "--why", "wider"}).exit == 0);
  std::string wide = "\u00b1";
  for (int i = 0; i < 70 && contains(wide, "\u00b1"); ++i) {
    wide = bench.with_ledger({"release", "clinic", "mean:cost", "--epsilon", "0.001"}).out;
  }
  CAPTURE(wide);
  CHECK(contains(wide, "[-10, 1,000,000] whole range (95 %)"));
  const Result dummy =
      bench.run({"release", "clinic", "count", "--epsilon", "1", "--dummy", "--policy", "policy.yaml"});
  CHECK(contains(dummy.out, " (95 %) (dummy)"));
}
