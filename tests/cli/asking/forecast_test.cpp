// forecast, plan --count and plan --batch.
#include "cli/csv_table.hpp"
#include "cli/workbench.hpp"
#include "epsilog/accounting/rational.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

/// The clinic with a lifetime and a block for each ward.
std::string blocks_policy() {
  return replaced(kClinicPolicy, "    budget: {epsilon: 1}\n",
                  "    budget: {epsilon: 1}\n    lifetime: {epsilon: 1.5}\n    blocks: {by: ward}\n");
}

Result planned_table(const Workbench& bench, const std::string& table, const Words& more = {}) {
  const Words words = with({"plan", "--batch", "-"}, more);
  Streams streams;
  streams.input = table;
  return bench.with_ledger(words, streams);
}

void check_usage(const Result& result, const std::string& part) {
  CAPTURE(result.err, part);
  CHECK(result.exit == 2);
  CHECK(result.out.empty());
  CHECK(contains(result.err, part));
}

}  // namespace

TEST_CASE("forecast: says how many more releases fit, and they do", "[cli][forecast]") {
  const Workbench bench(kClinicPolicy);
  const Words question = {"clinic", "count", "--epsilon", "0.3"};
  const auto asked = [&](const char* verb, const Words& more) {
    Words words = {verb};
    words.insert(words.end(), question.begin(), question.end());
    words.insert(words.end(), more.begin(), more.end());
    return bench.with_ledger(words);
  };
  const Result forecast = asked("forecast", {"--json"});
  CHECK(forecast.exit == 0);
  const json object = forecast.json();
  check_members(object, R"({"releases": 3, "never": false, "epsilon": "0.3"})");
  CHECK(object["binding"] == json::parse(R"([{"scope": "", "measure": "epsilon"}])"));
  check_members(object["accounts"][0],
                R"({"charge": "0.3", "remaining": "1", "releases": 3, "binds": true})");
  CHECK(object["accuracy"][0]["alpha"] == "0.05");
  CHECK(asked("forecast", {"--quiet"}).out == "3\n");
  for (int i = 0; i < 3; ++i) CHECK(asked("release", {}).exit == 0);
  CHECK(asked("release", {}).exit == 4);
  const Result none = asked("forecast", {});
  CHECK(none.exit == 4);
  CHECK(contains(none.out, "0 more releases"));
}

TEST_CASE("forecast: for k releases the best that fits, for an accuracy the least epsilon",
          "[cli][forecast]") {
  const Workbench bench(blocks_policy());
  const Result seven = bench.with_ledger(
      {"forecast", "clinic", "histogram:ward", "--count", "7", "--alpha", "0.01", "--json"});
  CHECK(seven.exit == 0);
  check_members(seven.json(), R"({"epsilon": "0.142857142857", "releases": 7, "count": 7})");
  CHECK(seven.json()["binding"].size() == 3);
  CHECK(seven.json()["accuracy"][0]["alpha"] == "0.01");
  CHECK(bench.with_ledger({"forecast", "clinic", "count", "--count", "7", "--quiet"}).out ==
        "0.142857142857\n");

  const json accurate =
      bench.with_ledger({"forecast", "clinic", "count", "--accuracy", "30", "--alpha", "0.05", "--json"})
          .json();
  CHECK(accurate["wanted"] == json::parse(R"({"alpha": "0.05", "within": "30"})"));
  const std::string epsilon = accurate["epsilon"];
  const json plan = bench.with_ledger({"plan", "clinic", "count", "--epsilon", epsilon, "--json"}).json();
  CHECK(plan["accuracy"][0]["within"] == accurate["accuracy"][0]["within"]);
  CHECK(std::stod(plan["accuracy"][0]["within"].get<std::string>()) <= 30);

  const Result never =
      bench.with_ledger({"forecast", "clinic", "count", "--count", "1000000000001", "--json"});
  CHECK(never.exit == 4);
  check_members(never.json(), R"({"epsilon": null, "releases": 0})");
  CHECK(contains(bench.with_ledger({"forecast", "clinic", "count", "--count", "1000000000001"}).out,
                 "no epsilon fits for 1,000,000,000,001 more releases"));
}

TEST_CASE("forecast: names a cap on one release as what never fits", "[cli][forecast]") {
  const Workbench bench(replaced(kClinicPolicy, "    budget: {epsilon: 1}\n",
                                 "    budget: {epsilon: 1}\n    per_release: {epsilon: 0.1}\n"));
  const Result above = bench.with_ledger({"forecast", "clinic", "count", "--epsilon", "0.2", "--json"});
  CHECK(above.exit == 4);
  CHECK(above.json()["never"] == true);
  CHECK(above.json()["binding"] == json::parse(R"([{"scope": "per_release", "measure": "epsilon"}])"));
  CHECK(above.json()["reasons"][0]["code"] == "per_release_limit_exceeded");
  CHECK(bench.with_ledger({"forecast", "clinic", "count", "--count", "1", "--quiet"}).out == "0.1\n");
}

TEST_CASE("forecast: a mean has no single accuracy to wish for", "[cli][forecast][negative]") {
  const Workbench bench(kClinicPolicy);
  const Result mean = bench.with_ledger({"forecast", "clinic", "mean:cost", "--accuracy", "5"});
  CHECK(mean.exit == 3);
  check_parts(mean.err, {"each with an accuracy of its own", "--assume-count N"});
}

TEST_CASE("forecast: of an assumed count a mean has the least epsilon for an accuracy, and a plan tells it",
          "[cli][forecast]") {
  const Workbench bench(kClinicPolicy);
  const Words ask = {"forecast", "clinic",         "mean:cost", "--accuracy",
                     "40",       "--assume-count", "500",       "--json"};
  const json found = bench.with_ledger(ask).json();
  REQUIRE(found["epsilon"].is_string());
  CHECK(found["wanted"]["within"] == "40");
  CHECK(found["accuracy"].empty());
  CHECK(found["assumed"]["count"] == 500);
  const auto told = [&bench](const std::string& epsilon) {
    return bench
        .with_ledger({"plan", "clinic", "mean:cost", "--epsilon", epsilon, "--assume-count", "500", "--alpha",
                      "0.05", "--json"})
        .json()["assumed"]["accuracy"][0]["within"];
  };
  const std::string epsilon = found["epsilon"];
  CHECK(told(epsilon) == found["assumed"]["accuracy"][0]["within"]);
  const Rational least = parse_rational(epsilon, "epsilon");
  CHECK(parse_rational(told(epsilon).get<std::string>(), "within") <= 40);
  const Rational less = least - epsilog::accounting::power_of_ten(-12);
  CHECK(parse_rational(told(epsilog::accounting::text(less)).get<std::string>(), "within") > 40);
  // Beside its parts, and in what is forecast.
  const Result text = bench.with_ledger(
      {"plan", "clinic", "mean:cost", "--epsilon", "0.2", "--assume-count", "500", "--count", "2"});
  check_parts(text.out, {"of the exact answer, if of 500 rows", "of its exact count\n"});
  const json planned = bench
                           .with_ledger({"plan", "clinic", "proportion:ward:A", "--epsilon", "0.2",
                                         "--assume-count", "1", "--count", "2", "--json"})
                           .json();
  CHECK(planned["assumed"]["accuracy"][0]["within"] == "1");  // of one row nothing is known
  CHECK(planned["for_count"]["assumed"]["count"] == 1);
  CHECK_FALSE(bench.with_ledger({"plan", "clinic", "mean:cost", "--epsilon", "0.2", "--json"})
                  .json()
                  .contains("assumed"));
}

TEST_CASE("forecast: a count is assumed only of what follows from it, and no more than there can be",
          "[cli][forecast][negative]") {
  const Workbench bench(kClinicPolicy);
  const auto refused = [&bench](const Words& words) {
    const Result result = bench.with_ledger(words);
    CHECK(result.exit != 0);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(contains(refused({"plan", "clinic", "count", "--epsilon", "0.2", "--assume-count", "9"}),
                 "does not follow from a number of rows"));
  CHECK(contains(refused({"forecast", "clinic", "count", "--accuracy", "5", "--assume-count", "9"}),
                 "does not follow from a number of rows"));
  CHECK(contains(refused({"plan", "clinic", "mean:cost", "--epsilon", "0.2", "--assume-count", "900000000"}),
                 "rows that the policy declares at most"));
  CHECK(contains(
      refused({"forecast", "clinic", "mean:cost", "--epsilon", "0.2", "--assume-count", "900000000"}),
      "rows that the policy declares at most"));
  for (const char* count : {"0", "-4", "2.5", "many"}) {
    CHECK(contains(refused({"plan", "clinic", "mean:cost", "--epsilon", "0.2", "--assume-count", count}),
                   "--assume-count"));
  }
  CHECK(contains(
      refused({"plan", "clinic", "mean:cost", "--epsilon", "0.2", "--assume-count", "9", "--compare"}),
      "--assume-count: not with --compare"));
  CHECK(contains(refused({"plan", "--batch", "-", "--assume-count", "9"}),
                 "--assume-count: of --batch goes with --together"));
}

TEST_CASE("plan: --count adds what exactly this and the best for k would allow", "[cli][forecast]") {
  const Workbench bench(kClinicPolicy);
  const Words words = {"plan", "clinic", "count", "--epsilon", "0.1", "--count", "4"};
  const Result text = bench.with_ledger(words);
  CHECK(text.exit == 0);
  check_parts(text.out, {"would be granted", "10 more releases", "for 4 more releases"});
  Words as_json = words;
  as_json.emplace_back("--json");
  const json object = bench.with_ledger(as_json).json();
  CHECK(object["decision"] == "granted");
  CHECK(object["forecast"]["releases"] == 10);
  check_members(object["for_count"], R"({"count": 4, "epsilon": "0.25"})");
}

TEST_CASE("plan batch: requests are planned in order against what those before would leave",
          "[cli][forecast][batch]") {
  const Workbench bench(blocks_policy());
  const std::string before = dump(bench.path("L"));
  const std::string table =
      "dataset,statistic,epsilon,where,key\n"
      "clinic,count,0.6,ward = 'A',\n"
      "clinic,count,0.6,ward = 'A',first\n"
      "clinic,count,0.6,ward = 'B',\n"
      "clinic,count,0.6,ward = 'A',first\n"
      "clinic,count,0.3,,\n"
      "clinic,units,0.3,,\n";
  const Result result = planned_table(bench, table);
  CHECK(result.exit == 4);
  const CsvTable rows = CsvTable::read(result.out);
  REQUIRE(rows.rows.size() == 6);
  const auto decisions = [&] {
    Words found;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      found.push_back(rows.at(i, "decision") + " " + rows.at(i, "epsilon.charged") + " " +
                      rows.at(i, "replayed"));
    }
    return found;
  }();
  CHECK(decisions == Words{"granted 0.6 false", "refused 0 false", "granted 0.6 false", "refused 0 true",
                           "granted 0.3 false", "refused 0 false"});
  CHECK(rows.at(1, "reasons") == "block_budget_exceeded block:A epsilon");
  CHECK(contains(rows.at(5, "reasons"), "lifetime_budget_exceeded lifetime epsilon"));
  check_parts(result.err, {"3 of 6 requests would be granted", "lifetime"});
  CHECK(dump(bench.path("L")) == before);

  // And so it comes.
  const auto released = [&](const std::string& where, const std::string& epsilon) {
    Words words = {"release", "clinic", "count", "--epsilon", epsilon};
    return bench.with_ledger(where.empty() ? words : with(words, {"--where", where})).exit;
  };
  CHECK(released("ward = 'A'", "0.6") == 0);
  CHECK(released("ward = 'A'", "0.6") == 4);
  CHECK(released("ward = 'B'", "0.6") == 0);
  CHECK(released("", "0.3") == 0);
  CHECK(released("", "0.3") == 4);
}

TEST_CASE("plan batch: JSON Lines, with the balances that would remain as the last",
          "[cli][forecast][batch]") {
  const Workbench bench(kClinicPolicy);
  const Result result = planned_table(bench,
                                      "statistic,epsilon\n"
                                      "count,0.25\n"
                                      "sum:cost,1/3\n",
                                      {"--json"});
  // The dataset is neither in the rows nor on the command line.
  CHECK(result.exit == 4);
  CHECK(contains(json_lines(result.out)[0]["error"]["message"].get<std::string>(),
                 "line 2: dataset: is neither"));
  CHECK(json_lines(result.out)[2]["bad"] == 2);

  const std::string table =
      "statistic,epsilon,dataset\n"
      "count,0.25,clinic\n"
      "\n"
      "sum:cost,1/3,clinic\n";
  const Result good = planned_table(bench, table, {"--json", "--as", "alice"});
  CHECK(good.exit == 0);
  const std::vector<json> objects = json_lines(good.out);
  REQUIRE(objects.size() == 3);
  check_members(objects[0], R"({"line": 2, "principal": "alice"})");
  check_members(objects[1], R"({"line": 4, "decision": "granted"})");
  CHECK(objects[1]["epsilon"]["charged"] == "0.333333333333");
  check_members(objects[2], R"({"rows": 2, "granted": 2})");
  CHECK(objects[2]["accounts"][0]["remaining"] == "0.416666666667");
}

TEST_CASE("plan batch: the command line fills in what the rows leave out", "[cli][forecast][batch]") {
  const Workbench bench(kClinicPolicy);
  const Result result =
      planned_table(bench, "where,epsilon\nage > 65,\n,0.5\n", {"clinic", "count", "--epsilon", "0.1"});
  CHECK(result.exit == 0);
  const CsvTable rows = CsvTable::read(result.out);
  CHECK(rows.at(0, "epsilon.charged") == "0.1");
  CHECK(rows.at(1, "epsilon.charged") == "0.5");
}

TEST_CASE("plan batch: a bad row says why, and the others are planned", "[cli][forecast][batch][negative]") {
  const Workbench bench(kClinicPolicy);
  const Result result = planned_table(bench,
                                      "dataset,statistic,epsilon,by\n"
                                      "clinic,count,0.1,\n"
                                      "clinc,count,0.1,\n"
                                      "clinic,middle:age,0.1,\n"
                                      "clinic,sum:age,0,\n"
                                      "clinic,sum:age,0.1,cost\n"
                                      "clinic,sum:age\n"
                                      "clinic,units,0.2,\n");
  CHECK(result.exit == 4);
  const CsvTable rows = CsvTable::read(result.out);
  REQUIRE(rows.rows.size() == 7);
  CHECK(contains(rows.at(1, "error"), "line 3: "));
  CHECK(contains(rows.at(1, "error"), "clinic"));
  CHECK(contains(rows.at(2, "error"), "unknown statistic 'middle'"));
  CHECK(contains(rows.at(3, "error"), "--epsilon"));
  CHECK(contains(rows.at(4, "error"), "cannot be grouped by"));
  CHECK(contains(rows.at(5, "error"), "has 2 cells, the header 4"));
  CHECK(rows.at(6, "decision") == "granted");
  CHECK(contains(result.err, "2 of 7 requests would be granted; 5 rows are bad"));
}

TEST_CASE("plan batch: a table that cannot be one of requests is refused as a whole",
          "[cli][forecast][batch][negative]") {
  const Workbench bench(kClinicPolicy);
  check_usage(planned_table(bench, ""), "the table is empty");
  check_usage(planned_table(bench, "dataset,value\n"), "unknown column 'value'");
  check_usage(planned_table(bench, "epsilon,epsilon\n"), "is there twice");
  check_usage(planned_table(bench, "dataset\n", {"--count", "3"}), "--count: not with --batch");
  check_usage(bench.with_ledger({"plan", "clinic", "count"}), "--epsilon is required");
  const Result missing = bench.with_ledger({"plan", "--batch", "nowhere.csv"});
  check_ended(missing, 3, "--batch nowhere.csv");
}
