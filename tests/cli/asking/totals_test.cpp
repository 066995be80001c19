// Tables with their totals, as the command is asked for them and shows them.
#include "cli/table_clinic.hpp"
#include "epsilog/accounting/rational.hpp"

using namespace epsilog::test;
using epsilog::accounting::parse_rational;
using epsilog::accounting::Rational;
using nlohmann::json;

namespace {

/// Noise of this epsilon is 0 in each margin, all but surely: e^-100 of the draws are not.
const std::string kNearlyExact = "5000";

Result ask(const Workbench& bench, std::vector<std::string> words,
           const std::string& epsilon = kNearlyExact) {
  words.insert(words.begin(), {"release", "clinic"});
  return bench.run(with(words, {"--epsilon", epsilon, "--ledger", "l.epsilog"}));
}

}  // namespace

TEST_CASE("totals: two columns are shown with a row and a column of totals, others cell by cell",
          "[cli][totals]") {
  const Workbench bench;
  make_table_ledger(bench);
  const Result counts = ask(bench, {"count", "--by", "ward,sex", "--totals", "0.2"});
  REQUIRE(counts.exit == 0);
  CHECK(contains(counts.out,
                 "count of clinic by ward,sex with totals of 0.2\n"
                 "\n"
                 "  ward,sex  f  m  total\n"
                 "  A         1  1      2\n"
                 "  B         0  1      1\n"
                 "  C         1  0      1\n"
                 "  total     2  2      4\n"
                 "\n"));
  check_parts(counts.out,
              {"of each cell's exact answer\n", "of each of the totals by ward\n", "of the grand total\n"});
  const Result one = ask(bench, {"count", "--by", "ward", "--totals", "1/5", "--verbose"});
  CHECK(contains(one.out, "\n  total"));
  CHECK(ask(bench, {"units", "--by", "ward,dear", "--totals", "0.5", "--quiet"}).out ==
        "A\t[0,25)\t1\nA\t[25,100)\t1\nB\t[0,25)\t1\nB\t[25,100)\t0\nC\t[0,25)\t0\nC\t[25,100)\t2\n"
        "A\t\t2\nB\t\t1\nC\t\t2\n\t[0,25)\t1\n\t[25,100)\t3\n\t\t4\n");
}

TEST_CASE("totals: a consistent table has one rounding, and adds up as shown or says that it does not",
          "[cli][totals]") {
  const Workbench bench;
  make_table_ledger(bench);
  std::size_t adding = 0, telling = 0;
  for (int i = 0; i < 40; ++i) {
    const Result result = ask(bench, {"count", "--by", "ward,sex", "--totals", "0.2", "--consistent"}, "0.5");
    CAPTURE(result.out, result.err);
    REQUIRE(result.exit == 0);
    std::istringstream lines(result.out.substr(result.out.find("total\n") + 6));
    std::vector<std::vector<Rational>> table;
    std::set<std::size_t> decimals;
    for (std::string line; table.size() < 4 && std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      auto& row = table.emplace_back();
      while (words >> word) {
        decimals.insert(word.find('.') == std::string::npos ? 0 : word.size() - word.find('.'));
        row.push_back(parse_rational(word, "cell"));
      }
      REQUIRE(row.size() == 3);
    }
    CHECK(decimals.size() == 1);
    bool adds_up = true;
    for (std::size_t k = 0; k < 4; ++k) adds_up &= table[k][0] + table[k][1] == table[k][2];
    for (std::size_t k = 0; k < 3; ++k) adds_up &= table[0][k] + table[1][k] + table[2][k] == table[3][k];
    ++(adds_up ? adding : telling);
    CHECK(contains(result.out, "does not add up as shown") == !adds_up);
  }
  CHECK(adding + telling == 40);
  CHECK(telling > 0);  // of 320 tables 62 added up: that all 40 do is less likely than 10^-20
}

TEST_CASE("totals: JSON has null groups where a column is summed over, and components say by what they are",
          "[cli][totals]") {
  const Workbench bench;
  make_table_ledger(bench);
  const json answer =
      ask(bench, {"count", "--by", "ward,sex", "--totals", "0.2", "--key", "k", "--json"}).json();
  CHECK(answer["totals"].get<std::string>() == "0.2");
  CHECK(answer["consistent"] == false);
  CHECK(answer["post_processing"].get<std::string>() == "totals");
  REQUIRE(answer["cells"].size() == 12);
  CHECK(answer["cells"][1]["groups"] == json::array({"A", "m"}));
  CHECK(answer["cells"][8]["groups"] == json::array({"C", nullptr}));
  CHECK(answer["cells"][10]["groups"] == json::array({nullptr, "m"}));
  CHECK(answer["cells"][11]["groups"] == json::array({nullptr, nullptr}));
  CHECK(answer["cells"][11]["group"].is_null());
  CHECK(answer["cells"][11]["value"].get<std::string>() == "4");
  CHECK(answer["cells"][11]["interval"].size() == 1);
  CHECK(answer["cells"][11]["simultaneous"].size() == 1);
  CHECK_FALSE(contains(answer["interval_of"].get<std::string>(), "at least one row"));
  REQUIRE(answer["components"].size() == 4);
  CHECK(answer["components"][0]["by"] == json::array({"ward", "sex"}));
  CHECK(answer["components"][2]["by"] == json::array({"sex"}));
  CHECK(answer["components"][2]["cells"].size() == 2);
  CHECK(answer["components"][2]["cells"][1]["groups"] == json::array({nullptr, "m"}));
  CHECK(answer["components"][3]["by"] == json::array());
  CHECK(answer["components"][3]["cells"][0]["value"].get<std::string>() == "4");
  const json one = ask(bench, {"count", "--by", "ward", "--totals", "0.5", "--json"}).json();
  REQUIRE(one["cells"].size() == 4);
  CHECK(one["cells"][2]["group"].get<std::string>() == "C");
  CHECK(one["cells"][3]["group"].is_null());
  CHECK_FALSE(one["cells"][3].contains("groups"));
  CHECK_FALSE(ask(bench, {"count", "--by", "ward", "--json"}).json().contains("totals"));

  const json again =
      ask(bench, {"count", "--by", "ward,sex", "--totals", "1/5", "--key", "k", "--json"}).json();
  CHECK(again["replayed"] == true);
  CHECK(again["cells"] == answer["cells"]);
  const std::string csv =
      ask(bench, {"count", "--by", "ward,sex", "--totals", "1/5", "--key", "k", "--format", "csv"}).out;
  check_parts(csv, {"groups.0,groups.1,value,", ",C,,1,1", ",,m,2,2", ",,,4,4"});
  CHECK(contains(bench.run({"audit", "report", "--ledger", "l.epsilog"}).out, "total, total: 4"));
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
}

TEST_CASE("totals: what is made consistent adds up exactly, in fractions, and has intervals of its draws",
          "[cli][totals]") {
  const Workbench bench;
  make_table_ledger(bench);
  const json answer =
      ask(bench, {"count", "--by", "ward,sex", "--totals", "0.2", "--consistent", "--json"}, "1").json();
  CHECK(answer["consistent"] == true);
  CHECK(answer["post_processing"].get<std::string>() == "consistent_totals");
  CHECK(answer["interval"].is_null());
  CHECK(answer["interval_of"].is_string());
  REQUIRE(answer["cells"].size() == 12);
  for (const json& cell : answer["cells"]) {
    for (const char* which : {"interval", "simultaneous"}) {
      REQUIRE(cell[which].size() == 1);
      const double value = cell["value_decimal"].get<double>();
      CHECK(std::stod(cell[which][0]["low"].get<std::string>()) <= std::max(value, 0.0) + 1e-9);
      CHECK(std::stod(cell[which][0]["high"].get<std::string>()) >= value - 1e-9);
    }
  }
  CHECK(answer["cells"][0]["value_decimal"].is_number());
  CHECK(answer["components"][0]["cells"][0]["value"].is_string());  // what was drawn
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
}

TEST_CASE("totals: a batch, a reservation, a forecast, a comparison and a dummy run take them",
          "[cli][totals]") {
  const Workbench bench;
  make_table_ledger(bench);
  bench.write("batch.csv",
              "statistic,epsilon,by,totals,consistent\n"
              "count,0.1,\"ward,sex\",0.2,\n"
              "count,0.1,ward,0.5,true\n"
              "mean:cost,0.1,,,\n");
  const json batch =
      bench.run({"release", "clinic", "--batch", "batch.csv", "--ledger", "l.epsilog", "--json"}).json();
  REQUIRE(batch["rows"].size() == 3);
  CHECK(batch["rows"][0]["totals"].get<std::string>() == "0.2");
  CHECK(batch["rows"][0]["cells"].size() == 12);
  CHECK(batch["rows"][1]["consistent"] == true);
  CHECK(batch["rows"][1]["cells"][0]["simultaneous"].is_array());
  CHECK_FALSE(batch["rows"][2].contains("totals"));
  const Result planned = bench.run(
      {"plan", "clinic", "--batch", "batch.csv", "--totals", "0.3", "--ledger", "l.epsilog", "--json"});
  CHECK(contains(planned.out, "totals: are of the cells of an answer"));  // of the mean alone
  CHECK(contains(planned.out, R"("granted":2)"));
  bench.write("wrong.csv", "statistic,epsilon,by,totals,consistent\ncount,0.1,ward,0.5,yes\n");
  const Result wrong = bench.run({"release", "clinic", "--batch", "wrong.csv", "--ledger", "l.epsilog"});
  check_ended(wrong, 2, "line 2: consistent: 'yes' is neither true nor false");

  const auto with_totals = [&](std::vector<std::string> words) {
    return bench.run(with(words, {"--by", "ward,sex", "--totals", "0.2"}));
  };
  const json kept =
      with_totals({"reserve", "clinic", "count", "--epsilon", "1", "--ledger", "l.epsilog", "--json"}).json();
  const json done =
      bench.run({"commit", kept["decision_id"].get<std::string>(), "--ledger", "l.epsilog", "--json"}).json();
  CHECK(done["cells"].size() == 12);
  const json forecast =
      with_totals({"forecast", "clinic", "count", "--accuracy", "20", "--ledger", "l.epsilog", "--json"})
          .json();
  CHECK(forecast["totals"].get<std::string>() == "0.2");
  REQUIRE(forecast["accuracy"].size() == 1);  // of a cell
  const json cells = bench
                         .run({"forecast", "clinic", "count", "--by", "ward,sex", "--accuracy", "20",
                               "--ledger", "l.epsilog", "--json"})
                         .json();
  // Cells have four fifths of it, so that it takes five quarters of what they take alone.
  const double share =
      std::stod(cells["epsilon"].get<std::string>()) / std::stod(forecast["epsilon"].get<std::string>());
  CHECK((share > 0.799 && share < 0.801));
  const Result compared =
      with_totals({"plan", "clinic", "count", "--epsilon", "1", "--compare", "--ledger", "l.epsilog"});
  CHECK(contains(compared.out, "cells and totals by ward and totals by sex and the grand total"));
  const Result dummy =
      with_totals({"release", "clinic", "count", "--epsilon", "1", "--dummy", "--policy", "clinic.yaml"});
  CHECK(dummy.exit == 0);
  check_parts(dummy.out, {"  ward,sex", "  total "});
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
}

TEST_CASE("totals: what has none is refused where it is written, and costs nothing",
          "[cli][totals][refused]") {
  const Workbench bench;
  make_table_ledger(bench);
  const auto refused = [&](std::vector<std::string> words, const char* why) {
    const Result result = ask(bench, std::move(words));
    check_ended(result, 2, why);
  };
  refused({"count", "--totals", "0.2"}, "totals: are of the cells of an answer");
  refused({"count", "--by", "ward", "--totals", "1"}, "totals: must lie strictly between 0 and 1");
  refused({"count", "--by", "ward", "--totals", "0"}, "--totals");
  refused({"count", "--by", "ward", "--totals", "much"}, "--totals");
  refused({"mean:cost", "--by", "ward", "--totals", "0.2"},
          "ask 'mean:cost' by fewer columns, and by none, as further rows of a batch");
  refused({"units", "--by", "ward", "--totals", "0.2", "--consistent"},
          "cells of 'units' add up to no total");
  refused({"count", "--by", "ward", "--consistent"}, "--consistent: goes with --totals");
  refused({"count", "--by", "ward", "--totals", "0.2", "--consistent", "--suppress-below", "5"},
          "cells that add up to their totals give every hidden one back");
  bench.write("both.csv",
              "statistic,epsilon,by,totals,consistent,suppress_below\ncount,0.1,ward,0.5,true,5\n");
  const Result both = bench.run({"release", "clinic", "--batch", "both.csv", "--ledger", "l.epsilog"});
  check_ended(both, 2, "give every hidden one back");
  CHECK(decisions_of(bench.run({"history", "--ledger", "l.epsilog", "--json"}).out).empty());
}
