// Answers by several columns, as the command is asked for them and shows them.
#include "cli/table_clinic.hpp"

using namespace epsilog::test;
using nlohmann::json;

namespace {

/// Noise of this epsilon is 0, all but surely: e^-1000 of the draws are not.
const std::string kNearlyExact = "1000";

Result ask(const Workbench& bench, std::vector<std::string> words) {
  words.insert(words.begin(), {"release", "clinic"});
  return bench.run(with(words, {"--epsilon", kNearlyExact, "--ledger", "l.epsilog"}));
}

}  // namespace

TEST_CASE("tables: two columns are shown as a table, more and what is made of parts cell by cell",
          "[cli][table]") {
  const Workbench bench;
  make_table_ledger(bench);
  const Result counts = ask(bench, {"count", "--by", "ward,sex"});
  REQUIRE(counts.exit == 0);
  CHECK(contains(counts.out,
                 "count of clinic by ward,sex\n"
                 "\n"
                 "  ward,sex  f  m\n"
                 "  A         1  1\n"
                 "  B         0  1\n"
                 "  C         1  0\n"
                 "\n"));
  CHECK_FALSE(contains(counts.out, "  interval"));  // none is shown
  CHECK(contains(ask(bench, {"count", "--by", "sex,ward", "--verbose"}).out, "  sex  ward  value"));
  CHECK(contains(ask(bench, {"mean:cost", "--by", "ward,sex"}).out, "  ward  sex  value"));
  CHECK(contains(ask(bench, {"count", "--by", "ward,sex,dear"}).out, "  ward  sex  dear"));
  CHECK(ask(bench, {"count", "--by", "sex,dear", "--quiet"}).out ==
        "f\t[0,25)\t1\nf\t[25,100)\t1\nm\t[0,25)\t1\nm\t[25,100)\t1\n");
}

TEST_CASE("tables: JSON has a list of groups for each cell, and tables of decisions too", "[cli][table]") {
  const Workbench bench;
  make_table_ledger(bench);
  const json answer = ask(bench, {"count", "--by", "ward,sex", "--key", "k", "--json"}).json();
  CHECK(answer["by"] == json::array({"ward", "sex"}));
  REQUIRE(answer["cells"].size() == 6);
  CHECK(answer["cells"][1]["group"].is_null());
  CHECK(answer["cells"][1]["groups"] == json::array({"A", "m"}));
  CHECK(answer["cells"][1]["value"].get<std::string>() == "1");
  CHECK(answer["cells"][1]["interval"].size() == 1);
  CHECK(answer["components"][0]["cells"][4]["groups"] == json::array({"C", "f"}));
  const json one = ask(bench, {"count", "--by", "ward", "--json"}).json();
  CHECK(one["by"].get<std::string>() == "ward");
  CHECK(one["cells"][0]["group"].get<std::string>() == "A");
  CHECK_FALSE(one["cells"][0].contains("groups"));

  const std::string csv = bench.run({"audit", "export", "--format", "csv", "--ledger", "l.epsilog"}).out;
  CHECK(contains(csv, "\"ward,sex\""));
  CHECK(contains(csv, R"({""groups"":[""A"",""f""],""value"":""1""})"));
  CHECK(contains(bench.run({"audit", "report", "--ledger", "l.epsilog"}).out, "A, f: 1"));
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);

  const json again = ask(bench, {"count", "--by", "ward , sex", "--key", "k", "--json"}).json();
  CHECK(again["replayed"] == true);
  CHECK(again["cells"] == answer["cells"]);
}

TEST_CASE("tables: a batch, a forecast and a dummy run take several columns", "[cli][table]") {
  const Workbench bench;
  make_table_ledger(bench);
  bench.write("batch.csv",
              "dataset,statistic,epsilon,by\nclinic,count,0.1,\"ward,sex\"\nclinic,count,0.1,ward\n");
  const Result planned = bench.run({"plan", "--batch", "batch.csv", "--ledger", "l.epsilog", "--json"});
  CHECK(planned.exit == 0);
  CAPTURE(planned.out);
  CHECK(contains(planned.out, R"("by":["ward","sex"])"));
  CHECK(contains(planned.out, R"("granted":2)"));
  const Result forecast = bench.run({"forecast", "clinic", "count", "--by", "ward,sex", "--epsilon", "1",
                                     "--ledger", "l.epsilog", "--json"});
  REQUIRE(forecast.exit == 0);
  CHECK(forecast.json()["by"] == json::array({"ward", "sex"}));
  const Result dummy = bench.run({"release", "clinic", "count", "--by", "ward,sex", "--epsilon", "1",
                                  "--dummy", "--policy", "clinic.yaml"});
  CHECK(dummy.exit == 0);
  CHECK(contains(dummy.out, "  ward,sex"));
}

TEST_CASE("tables: what is no list of columns is refused where it is written, and costs nothing",
          "[cli][table][refused]") {
  const Workbench bench;
  make_table_ledger(bench);
  for (const auto& [by, why] : std::vector<std::pair<std::string, std::string>>{
           {"ward,", "by: names no column"},
           {"ward,ward", "by: names the column 'ward' twice"},
           {"ward,sex,dear,cost", "by: names more than 3 columns"}}) {
    const Result refused = ask(bench, {"count", "--by", by});
    check_ended(refused, 2, why);
  }
  const Result unknown = ask(bench, {"count", "--by", "ward,sax"});
  check_ended(unknown, 3, "did you mean 'sex'?");
  CHECK(ask(bench, {"count", "--by", "ward,cost"}).exit == 3);
  CHECK(decisions_of(bench.run({"history", "--ledger", "l.epsilog", "--json"}).out).empty());
}

TEST_CASE("tables: cells that are counted below what is asked are shown by no verb, their draws by --json",
          "[cli][table][suppression]") {
  const Workbench bench;
  make_table_ledger(bench);
  const Result counts = ask(bench, {"count", "--by", "ward,sex", "--suppress-below", "1", "--key", "k"});
  REQUIRE(counts.exit == 0);
  CHECK(contains(counts.out,
                 "count of clinic by ward,sex suppressed below 1\n"
                 "\n"
                 "  ward,sex  f  m\n"
                 "  A         1  1\n"
                 "  B         x  1\n"
                 "  C         1  x\n"
                 "\n"
                 "  x          counted below 1 and not shown"));
  CHECK(ask(bench, {"count", "--by", "ward,sex", "--suppress-below", "1", "--key", "k", "--quiet"}).out ==
        "A\tf\t1\nA\tm\t1\nB\tf\t\nB\tm\t1\nC\tf\t1\nC\tm\t\n");
  const json answer =
      ask(bench, {"count", "--by", "ward,sex", "--suppress-below", "1.0", "--key", "k", "--json"}).json();
  CHECK(answer["replayed"] == true);
  CHECK(answer["suppress_below"].get<std::string>() == "1");
  const json& hidden = answer["cells"][2];
  CHECK(hidden["suppressed"] == true);
  for (const char* member : {"value", "value_decimal", "value_hex"}) {
    CAPTURE(member);
    CHECK(hidden[member].is_null());
  }
  for (const char* member : {"interval", "simultaneous"}) {
    CAPTURE(member);
    REQUIRE(hidden[member].size() == 1);
    check_members(hidden[member][0], R"({"whole_range": true, "holds_from": null})");
    CHECK(answer["cells"][0][member][0]["whole_range"] == false);
    CHECK(answer["cells"][0][member][0]["holds_from"].is_string());
  }
  CHECK_FALSE(answer["cells"][0].contains("suppressed"));
  CHECK(answer["components"][0]["cells"][2]["value"].get<std::string>() == "0");
  CHECK(contains(bench.run({"audit", "export", "--format", "csv", "--ledger", "l.epsilog"}).out,
                 R"(""B"",""f""],""value"":null})"));
  CHECK(contains(bench.run({"audit", "report", "--ledger", "l.epsilog"}).out, "B, f: x"));
  const std::string rows =
      ask(bench, {"count", "--by", "ward,sex", "--suppress-below", "1", "--key", "k", "--format", "csv"}).out;
  CHECK(contains(
      rows, "decision_id,dummy,groups.0,groups.1,value,value_decimal,value_hex,suppressed,interval.0.alpha"));
  check_parts(rows, {",,A,f,1,1.0,0x1p+0,,0.05,",
                     ",,B,f,,,,true,0.05,0,100,0.0,100.0,true,,0.05,0,100,0.0,100.0,true,\n"});
  const Result means = ask(bench, {"mean:cost", "--by", "ward", "--suppress-below", "2"});
  check_parts(means.out, {"  B         x", "  C     4"});
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);

  for (const auto& [words, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"count", "--suppress-below", "5"}, "suppress_below: is of the cells"},
           {{"sum:cost", "--by", "ward", "--suppress-below", "5"}, "no count of its cells is released"},
           {{"count", "--by", "ward", "--suppress-below", "0"}, "--suppress-below"},
           {{"count", "--by", "ward", "--suppress-below", "few"}, "--suppress-below"}}) {
    const Result refused = ask(bench, words);
    check_ended(refused, 2, why);
  }
}
