// What text for people says: no word of the records, what a value below 0 means, which rows are in no cell.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::string kEverything = policy_text("plain_words.yaml");

void check_plain(const Result& result) {
  CAPTURE(result.out, result.err);
  CHECK(result.exit == 0);
  for (const char* word : {"clamped answer", "as drawn", "of rank ", "sum_about_centre",
                           "squares_about_centre", "rows_of", "quantile_day", "rank 0."}) {
    CAPTURE(word);
    CHECK_FALSE(contains(result.out + result.err, word));
  }
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("words: text has none that records alone use, and says what is left out, divided by and uncertain",
          "[cli][output]") {
  const Workbench bench(kEverything);
  for (const char* statistic :
       {"count", "units", "sum:cost", "mean:cost", "variance:cost", "median:age", "quantiles:age:0.2,0.9",
        "median:seen", "count:age", "proportion:ward:A", "distinct:ward"}) {
    const Words asked{"clinic", statistic, "--epsilon", "10"};
    check_plain(bench.with_ledger(with({"plan"}, with(asked, {"--verbose"}))));
    check_plain(bench.with_ledger(with({"plan"}, with(asked, {"--compare"}))));
    check_plain(bench.with_ledger(with({"release"}, with(asked, {"--by", "smoker", "--verbose"}))));
  }
  bench.write("batch.csv", "statistic,by\ncount,ward\nunits,ward\ncount,smoker\ncount,\n");
  for (const CaseRow& row : cli_table("text/plain_words.tsv")) {
    std::istringstream command(row.at(2));
    const Result told = bench.with_ledger(
        Words(std::istream_iterator<std::string>(command), std::istream_iterator<std::string>()));
    std::istringstream words(told.out);
    std::string text;
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
    CAPTURE(row, text);
    if (row.at(2).find("--json") == std::string::npos) check_plain(told);
    CHECK(contains(text, row.at(0)));
    CHECK(std::to_string(count_of(told.out, "\n  left out ")) == row.at(1));
  }
  check_plain({0, bench.read("report.html"), ""});
}

TEST_CASE("words: a value below 0 has one note, and so has a table whose values may stand for 0",
          "[cli][output]") {
  const Workbench bench(kEverything);
  std::set<bool> below;
  for (int i = 0; i < 10; ++i) {
    std::vector<std::string> words{"release", "clinic",      "count", "--epsilon",      "0.01",
                                   "--by",    "ward,smoker", "--key", std::to_string(i)};
    const std::string out = bench.with_ledger(words).out;
    CAPTURE(out);
    // Told again, exactly: a value just below 0 is rounded to 0 for people.
    words.emplace_back("--json");
    const bool negative = *below.insert(contains(bench.with_ledger(words).out, "\"value\": \"-")).first;
    CHECK(count_of(out, "\n  note ") == 1);
    CHECK(contains(
        out, negative ? "a value below 0 stands for" : "a value smaller than its noise may stand for 0"));
  }
  CHECK(below.contains(true));
  for (const char* statistic : {"count:age", "mean:cost"})
    CHECK(count_of(bench.with_ledger({"release", "clinic", statistic, "--epsilon", "1000"}).out,
                   "\n  note ") == 0);
}
