// What text for people says: no word of the records, what a value below 0 means, which rows are in no cell.
#include "workbench.hpp"

using namespace epsilog::test;

namespace {

/// The clinic, of which everything may be asked at any epsilon.
std::string everything() {
  return replaced(
      replaced(kClinicPolicy, "budget: {epsilon: 1}", "budget: {epsilon: 1000000, delta: 1e-3}"),
      "    columns:\n",
      "    allow: {statistics: [count, units, sum, mean, variance, quantile, count_of, proportion, distinct, "
      "private_variance]}\n"
      "    columns:\n"
      "      seen: {column: age, type: date, bounds: [2024-01-01, 2024-12-31]}\n"
      "      smoker: {column: age, type: bool}\n");
}

constexpr std::array kOfRecords{"clamped answer",       "as drawn", "of rank ",     "sum_about_centre",
                                "squares_about_centre", "rows_of",  "quantile_day", "rank 0."};

void check_plain(const Result& result) {
  CAPTURE(result.out, result.err);
  CHECK(result.exit == 0);
  for (const char* word : kOfRecords) {
    CAPTURE(word);
    CHECK_FALSE(contains(result.out + result.err, word));
  }
}

/// The lines of a text below a table that begin with that name.
std::size_t fields(const std::string& text, const std::string& name) {
  std::size_t found = 0;
  for (std::size_t at = text.find("\n  " + name + " "); at != std::string::npos;
       at = text.find("\n  " + name + " ", at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("words: no text for people has a word that records alone use", "[cli][output]") {
  Workbench bench(everything());
  for (const char* statistic :
       {"count", "units", "sum:cost", "mean:cost", "variance:cost", "median:age", "quantiles:age:0.2,0.9",
        "median:seen", "count:age", "proportion:ward:A", "distinct:ward"}) {
    const Words asked{"clinic", statistic, "--epsilon", "10"};
    check_plain(bench.with_ledger(with({"plan"}, with(asked, {"--verbose"}))));
    check_plain(bench.with_ledger(with({"plan"}, with(asked, {"--compare"}))));
    check_plain(bench.with_ledger(with({"release"}, with(asked, {"--by", "smoker", "--verbose"}))));
  }
  for (const char* more : {"--consistent", "--verbose"})
    check_plain(bench.with_ledger(
        {"release", "clinic", "count", "--by", "ward,smoker", "--totals", "0.2", "--epsilon", "10", more}));
  check_plain(bench.with_ledger({"audit", "report", "--html", "report.html"}));
  check_plain({0, bench.read("report.html"), ""});
  bench.environment["COLUMNS"] = "400";
  const Result report = bench.with_ledger({"audit", "report"});
  check_plain(report);
  check_parts(report.out, {"So a small count can be shown below 0"});
  const Result variance = bench.with_ledger({"plan", "clinic", "variance:cost", "--epsilon", "10"});
  check_parts(variance.out,
              {"of its exact sum of squares about the middle of the bounds\n",
               "  variance   of the rows themselves: divided by their number n, not by n - 1\n"});
}

TEST_CASE("words: a table says once which rows are in no cell, and its JSON says so among the notes",
          "[cli][output]") {
  const Workbench bench(everything());
  const auto ask = [&](const std::string& by, const Words& more) {
    return bench.with_ledger(
        with({"release", "clinic", "count", "--epsilon", "100"}, with({"--by", by}, more)));
  };
  const Result wards = ask("ward,smoker", {});
  CHECK(fields(wards.out, "left out") == 1);
  check_parts(wards.out,
              {"rows whose ward is missing or none of these, or whose smoker is missing: in no cell\n"});
  check_parts(ask("ward", {"--totals", "0.2"}).out, {"is missing or none of these: in no cell or total\n"});
  CHECK(fields(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1"}).out, "left out") == 0);
  const json notes = ask("smoker", {"--json"}).json()["notes"];
  CHECK(notes == json{"rows whose smoker is missing are in no cell"});
  bench.write("batch.csv", "statistic,by\ncount,ward\nunits,ward\ncount,smoker\ncount,\n");
  const Words batch{"release", "clinic", "--batch", "batch.csv", "--epsilon", "100"};
  CHECK(bench.with_ledger(with(batch, {"--json"})).json()["notes"].size() == 2);
  CHECK(fields(bench.with_ledger(batch).out, "left out") == 3);
}

TEST_CASE("words: a value below 0 has one note, and so has a table whose values may stand for 0",
          "[cli][output]") {
  const Workbench bench(replaced(everything(), "    columns:\n",
                                 "    release: {default: {mechanism: discrete_laplace}}\n    columns:\n"));
  const auto ask = [&](const std::string& statistic, const std::string& epsilon, const std::string& by) {
    Words words{"release", "clinic", statistic, "--epsilon", epsilon};
    if (!by.empty()) words.insert(words.end(), {"--by", by});
    const Result result = bench.with_ledger(words);
    REQUIRE(result.exit == 0);
    return result.out;
  };
  std::size_t below = 0, near = 0;
  for (int i = 0; i < 12; ++i) {
    const std::string out = ask("count", "0.01", "ward,smoker");
    CAPTURE(out);
    const bool negative = contains(out, " -");
    CHECK(fields(out, "note") == 1);
    CHECK(contains(out, "a value below 0 stands for a small one") == negative);
    CHECK(contains(out, "a value smaller than its noise may stand for 0") == !negative);
    (negative ? below : near) += 1;
  }
  CHECK(below > 0);
  CHECK(fields(ask("count", "1000", ""), "note") == 0);
  CHECK(fields(ask("mean:cost", "0.01", "ward"), "note") == 0);
}

TEST_CASE("words: a quantile that may be any value says so beside it and of how many rows, by cell or in all",
          "[cli][output]") {
  const Workbench bench(everything());
  const auto ask = [&](const Words& more) {
    return bench.with_ledger(with({"release", "clinic"}, with(more, {"--epsilon", "0.1"}))).out;
  };
  check_parts(
      ask({"median:age", "--by", "ward"}),
      {"[0, 110] whole range", "rows of each cell's exact median\n", "may be any value in a cell of "});
  check_parts(ask({"quantiles:age:0.2,0.9", "--by", "ward"}),
              {"rows of each cell's exact 0.2 quantile, and ", "may be any value in a cell of "});
  check_parts(ask({"median:age"}), {" [0, 110] whole range (95 %)\n", "may be any value of "});
}
