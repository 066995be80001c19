// release --batch: the rows of a table as one decision, as the command is asked for them and shows them.
#include "cli/table_clinic.hpp"

using namespace epsilog::test;
using nlohmann::json;

namespace {

/// A ledger under a budget with delta, and a batch of 60 rows of 0.02.
void make_ledger_with_delta(const Workbench& bench) {
  const std::string of_epsilon = "budget: {epsilon: 100000}";
  std::string policy = epsilog::test::kTablePolicy;
  policy.replace(policy.find(of_epsilon), of_epsilon.size(), "budget: {epsilon: 10, delta: 1e-4}");
  bench.write("visits.csv", epsilog::test::kTableVisits);
  bench.write("clinic.yaml", policy);
  REQUIRE(bench.run({"init", "--policy", "clinic.yaml", "--ledger", "l.epsilog"}).exit == 0);
  std::string table = "statistic,where\n";
  for (int i = 0; i < 30; ++i) table += "count,ward = 'A'\nunits,\n";
  bench.write("many.csv", table);
}

/// Noise of this epsilon is 0, all but surely: e^-1000 of the draws are not.
constexpr const char* kTable =
    "statistic,by,where,suppress_below,epsilon\n"
    "count,,,,1000\n"
    "count,\"ward,sex\",,,1000\n"
    "count,ward,,2,1000\n"
    "units,,ward = 'C',,\n";

void make_ledger(const Workbench& bench) {
  epsilog::test::make_table_ledger(bench);
  bench.write("table.csv", kTable);
}

Result ask(const Workbench& bench, std::vector<std::string> words, const std::string& verb = "release") {
  words.insert(words.begin(), {verb, "clinic", "--batch", "table.csv", "--epsilon", "2000"});
  return bench.run(with(words, {"--ledger", "l.epsilog"}));
}

}  // namespace

TEST_CASE("batch: a table is released as one, row by row in text, JSON, CSV and bare", "[cli][batch]") {
  const Workbench bench;
  make_ledger(bench);
  const Result plan = ask(bench, {"--together"}, "plan");
  CHECK(plan.exit == 0);
  CHECK(contains(plan.out, "would be granted: batch of 4 rows of clinic\n\nrow 1: count of clinic\n"));
  CHECK(contains(plan.out, "row 4: units of clinic where ward = 'C'\n"));
  CHECK(contains(plan.out, "all rows\n  cost       epsilon 5000\n"));

  const Result text = ask(bench, {"--key", "k"});
  REQUIRE(text.exit == 0);
  check_parts(text.out, {"batch of 4 rows of clinic\n\nrow 1: count of clinic: 5 ",
                         "  ward,sex  f  m\n  A         1  1\n  B         0  1\n  C         1  0\n",
                         "row 4: units of clinic where ward = 'C': 2 ", "all rows\n"});

  const json answer = ask(bench, {"--key", "k", "--json"}).json();
  CHECK(answer["replayed"] == true);
  CHECK(answer["statistic"].get<std::string>() == "batch");
  CHECK(answer["epsilon"]["charged"].get<std::string>() == "5000");
  CHECK(answer["value"].is_null());
  CHECK(answer["components"].empty());
  REQUIRE(answer["rows"].size() == 4);
  CHECK(answer["rows"][0]["row"] == 1);
  CHECK(answer["rows"][0]["value"].get<std::string>() == "5");
  CHECK(answer["rows"][0]["simultaneous"].size() == 1);
  CHECK(answer["rows"][1]["cells"][1]["groups"] == json::array({"A", "m"}));
  check_members(answer["rows"][2]["cells"][1], R"({"suppressed": true, "value": null})");
  CHECK(answer["rows"][3]["epsilon"]["charged"].get<std::string>() == "2000");
  CHECK(answer["rows"][3]["components"][0]["sensitivity"].get<std::string>() == "1");

  const std::string csv = ask(bench, {"--key", "k", "--format", "csv"}).out;
  check_parts(csv, {"decision_id,dummy,row,statistic,by,where,groups.0,groups.1,value,", ",1,count,,,,,5,"});
  CHECK(contains(csv, R"(,2,count,"[""ward"",""sex""]",,A,m,1,)"));
  CHECK(contains(csv, ",3,count,ward,,B,,,,,true,"));
  const std::string bare = ask(bench, {"--key", "k", "--quiet"}).out;
  check_parts(bare, {"1\t5\n2\tA\tf\t1\n", "4\t2\n"});
}

TEST_CASE("batch: history, report and export tell what each row asked and got", "[cli][batch]") {
  const Workbench bench;
  make_ledger(bench);
  REQUIRE(ask(bench, {}).exit == 0);
  CHECK(contains(bench.run({"history", "--ledger", "l.epsilog"}).out, "batch of 4 rows of clinic"));
  CHECK(contains(bench.run({"audit", "report", "--ledger", "l.epsilog"}).out,
                 "units of clinic where ward = 'C': 2"));
  const std::string csv = bench.run({"audit", "export", "--format", "csv", "--ledger", "l.epsilog"}).out;
  CHECK(contains(csv, R"({""row"":1,""statistic"":""count"",""value"":""5""})"));
  CHECK(contains(csv, R"({""groups"":[""A"",""f""],""value"":""1""})"));
  CHECK(contains(bench.run({"history", "--format", "csv", "--ledger", "l.epsilog"}).out, R"(""row"":4,)"));
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
  const Result exported = bench.run({"audit", "export", "--ledger", "l.epsilog"});
  bench.write("lines", exported.out);
  CHECK(bench.run({"audit", "import", "lines", "--ledger", "copy.epsilog"}).exit == 0);
  CHECK(bench.run({"audit", "verify", "--ledger", "copy.epsilog"}).exit == 0);
}

TEST_CASE("batch: a table that is no batch is refused with its line, and nothing is recorded",
          "[cli][batch][refused]") {
  const Workbench bench;
  make_ledger(bench);
  const auto refuses = [&](const std::string& table, const std::string& why, int exit = 2) {
    bench.write("table.csv", table);
    const Result refused = ask(bench, {});
    CAPTURE(table, refused.err);
    CHECK(refused.exit == exit);
    CHECK(contains(refused.err, why));
  };
  refuses("statistic,as\ncount,bob\n", "unknown column 'as'; the columns of a batch are dataset, statistic");
  refuses("statistic\n", "the table has no rows");
  refuses("statistic,epsilon\ncount,1\ncount,-1\n", "line 3: ");
  refuses("statistic,epsilon\ncount,1\nsums:cost,1\n", "line 3: ");
  refuses("statistic,dataset\ncount,clinic\ncount,ward\n", "line 3: dataset: 'ward' after 'clinic'");
  refuses("statistic,by\ncount,\nmean:costs,\n", "row 2: ", 3);
  bench.write("table.csv", "statistic\ncount\n");
  CHECK(contains(ask(bench, {"--value", "3"}).err, "--value: not with --batch"));
  CHECK(contains(ask(bench, {"--together", "--compare"}, "plan").err, "--compare: not with --batch"));
  CHECK(contains(
      bench.run({"plan", "clinic", "count", "--epsilon", "1", "--together", "--ledger", "l.epsilog"}).err,
      "--together: goes with --batch"));
  CHECK(decisions_of(bench.run({"history", "--ledger", "l.epsilog", "--json"}).out).empty());
}

TEST_CASE("batch: it is reserved and committed, and tried on invented rows, as a single question is",
          "[cli][batch]") {
  const Workbench bench;
  make_ledger(bench);
  const Result held = ask(bench, {"--quiet"}, "reserve");
  REQUIRE(held.exit == 0);
  const std::string id = held.out.substr(0, held.out.find('\n'));
  const Result committed = bench.run({"commit", id, "--ledger", "l.epsilog"});
  CHECK(committed.exit == 0);
  CHECK(contains(committed.out, "row 1: count of clinic: 5 "));
  const Result dummy = bench.run({"release", "clinic", "--batch", "table.csv", "--epsilon", "2000", "--dummy",
                                  "--policy", "clinic.yaml", "--json"});
  REQUIRE(dummy.exit == 0);
  CHECK(dummy.json()["dummy"] == true);
  CHECK(dummy.json()["rows"][1]["cells"].size() == 6);
}

TEST_CASE("batch: with --delta it is charged as one, and says by what and what the sums would be",
          "[cli][batch][fixed]") {
  const Workbench bench;
  make_ledger_with_delta(bench);
  const auto run = [&](std::vector<std::string> words, const std::string& delta = "1e-6") {
    const std::vector<std::string> asked{"clinic", "--batch", "many.csv", "--epsilon", "0.02"};
    words.insert(words.begin() + 1, asked.begin(), asked.end());
    if (!delta.empty()) words.insert(words.end(), {"--delta", delta});
    return bench.run(with(words, {"--ledger", "l.epsilog"}));
  };
  const json plan = run({"plan", "--together", "--json"}).json();
  const std::string charged = plan["epsilon"]["charged"].get<std::string>();
  CHECK(plan["composed"]["accountant"].get<std::string>() == "pld");
  CHECK(plan["composed"]["sum"] == json({{"epsilon", "1.2"}, {"delta", "0"}}));
  CHECK(plan["delta"]["requested"].get<std::string>() == "0.000001");
  CHECK(plan["delta"]["charged"].get<std::string>() == "0.000001");
  CHECK(plan["rows"][0]["epsilon"]["charged"].get<std::string>() == "0.02");
  CHECK(plan["rows"][0]["delta"].is_null());
  CHECK_FALSE(plan["rows"][0].contains("composed"));
  CHECK(std::stod(charged) < 0.9);
  const Result text = run({"plan", "--together"});
  CHECK(contains(text.out, "all rows\n  cost       epsilon " + charged +
                               "; delta 0.000001; all rows as one, by pld; their sums are epsilon 1.2\n"));
  CHECK_FALSE(contains(run({"plan", "--together"}, "").out, "as one"));
  CHECK_FALSE(run({"plan", "--together", "--json"}, "").json().contains("composed"));

  const Result made = run({"release", "--key", "k", "--json"});
  REQUIRE(made.exit == 0);
  CHECK(made.json()["composed"] == plan["composed"]);
  CHECK(made.json()["accounts"][0]["spent"].get<std::string>() == "0.000001");
  CHECK(made.json()["accounts"][1]["spent"].get<std::string>() == charged);
  CHECK(run({"release", "--key", "k", "--json"}).json()["replayed"] == true);
  CHECK(run({"release", "--key", "k"}, "2e-6").exit == 4);
  const std::string id = made.json()["decision_id"].get<std::string>();
  const json shown = bench.run({"show", id, "--ledger", "l.epsilog", "--json"}).json();
  CHECK(shown["composed"] == plan["composed"]);
  CHECK(contains(decisions_of(bench.run({"history", "--ledger", "l.epsilog", "--json"}).out),
                 R"("composed":{"accountant":"pld")"));
  CHECK(contains(bench.run({"audit", "report", "--ledger", "l.epsilog"}).out, charged));
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
  CHECK(bench.run({"audit", "replay", "--ledger", "l.epsilog"}).exit == 0);
  CHECK(bench.run({"audit", "reaccount", "clinic", "--ledger", "l.epsilog"}).exit == 0);
  const Result held = run({"reserve", "--quiet"});
  REQUIRE(held.exit == 0);
  CHECK(bench.run({"commit", held.out.substr(0, held.out.find('\n')), "--ledger", "l.epsilog"}).exit == 0);
  bench.write("lines", bench.run({"audit", "export", "--ledger", "l.epsilog"}).out);
  CHECK(bench.run({"audit", "import", "lines", "--ledger", "copy.epsilog"}).exit == 0);
  CHECK(bench.run({"audit", "verify", "--ledger", "copy.epsilog"}).exit == 0);
  CHECK(bench.run({"show", id, "--ledger", "copy.epsilog", "--json"}).json()["composed"] == plan["composed"]);
}

TEST_CASE("batch: a delta that cannot be charged is refused with what it would take",
          "[cli][batch][fixed][refused]") {
  const Workbench bench;
  make_ledger_with_delta(bench);
  const auto refuses = [&](const std::string& delta, int exit, const std::string& why) {
    const Result refused = bench.run({"release", "clinic", "--batch", "many.csv", "--epsilon", "0.02",
                                      "--delta", delta, "--ledger", "l.epsilog"});
    CAPTURE(delta, refused.err);
    CHECK(refused.exit == exit);
    CHECK(contains(refused.err + refused.out, why));
  };
  refuses("0", 2, "--delta");
  refuses("1", 2, "--delta");
  refuses("1e-19", 2, "--delta");
  refuses("x", 2, "--delta");
  refuses("1e-3", 4, "delta budget of dataset 'clinic': limit 0.0001, spent 0, asked 0.001");
}

TEST_CASE("batch: accuracies are wanted in place of epsilons, and a total of these makes them less accurate",
          "[cli][batch]") {
  const Workbench bench;
  make_ledger(bench);
  bench.write("wanted.csv", "statistic,by,accuracy\ncount,,10\nsum:cost,ward,500\n");
  const std::vector<std::string> wanted = {"clinic", "--batch", "wanted.csv", "--ledger", "l.epsilog"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, wanted.begin(), wanted.end());
    return bench.run(words);
  };
  const json free = run({"plan", "--together", "--json"}).json();
  for (const std::size_t row : {0U, 1U}) {
    const double a = std::stod(free["rows"][row]["accuracy"][0]["within"].get<std::string>());
    CHECK(a <= (row == 0 ? 10 : 500));
    CHECK(a > (row == 0 ? 9 : 450));
  }
  const Result within = run({"plan", "--together", "--epsilon", "0.5", "--json"});
  CHECK(std::stod(within.json()["epsilon"]["charged"].get<std::string>()) <= 0.5);
  CHECK(contains(within.err, "note: the accuracies are those wanted times "));
  const Result made = run({"release", "--epsilon", "0.5", "--key", "k", "--json"});
  REQUIRE(made.exit == 0);
  CHECK(made.json()["epsilon"]["charged"] == within.json()["epsilon"]["charged"]);
  CHECK(run({"release", "--epsilon", "0.5", "--key", "k", "--json"}).json()["replayed"] == true);
  const auto refuses = [&](const Result& refused, const std::string& why) {
    CHECK(refused.exit == 2);
    CAPTURE(refused.err);
    CHECK(contains(refused.err, why));
  };
  refuses(run({"release", "--rho", "0.1"}), "--rho: not with accuracies");
  refuses(run({"release", "--alpha", "0.1", "--alpha", "0.2"}), "--alpha: only once");
  refuses(bench.run({"release", "clinic", "--batch", "wanted.csv", "--dummy", "--policy", "clinic.yaml"}),
          "a dummy run takes epsilons");
  refuses(bench.run({"release", "clinic", "count", "--accuracy", "3", "--ledger", "l.epsilog"}),
          "--accuracy: goes with --batch");
  bench.write("wanted.csv", "statistic,epsilon,accuracy\ncount,1,10\n");
  refuses(run({"release"}), "the columns epsilon and rho");
  bench.write("wanted.csv", "statistic,accuracy\ncount,\n");
  refuses(run({"release"}), "line 2: accuracy: is neither in the row nor");
}

TEST_CASE("batch: a plan of rows without accuracies says of each how accurate it is of the rows assumed",
          "[cli][batch]") {
  const Workbench bench;
  make_ledger(bench);
  bench.write("asked.csv", "statistic,epsilon,assume_count\ncount,0.1,\nmean:cost,0.1,80\nmean:cost,0.1,\n");
  const Words asked{"plan", "clinic", "--batch", "asked.csv", "--together", "--ledger", "l.epsilog"};
  const json rows = bench.run(with(asked, {"--assume-count", "40", "--json"})).json()["rows"];
  CHECK_FALSE(rows[0].contains("assumed"));
  for (const auto& [row, count] : {std::pair{1, "80"}, {2, "40"}}) {
    const Words alone{"plan", "clinic", "mean:cost", "--epsilon", "0.1", "--assume-count", count, "--json"};
    CHECK(rows[row]["assumed"] == bench.run(with(alone, {"--ledger", "l.epsilog"})).json()["assumed"]);
  }
  const std::string text = bench.run(asked).out;
  check_parts(text, {"of the exact answer, if of 80 rows\n", "--assume-count N says how accurate means"});
  CHECK_FALSE(contains(bench.run(with(asked, {"--assume-count", "40"})).out, "--assume-count N"));
  CHECK(contains(bench.run(with(asked, {"--assume-count", "100000000"})).err, "row 3: assume_count: "));
}

TEST_CASE("batch: how accurate a mean or a proportion is follows from how many rows are assumed of it",
          "[cli][batch]") {
  const Workbench bench;
  make_ledger(bench);
  const auto run = [&](const std::string& table, std::vector<std::string> words) {
    bench.write("wanted.csv", table);
    words.insert(words.begin() + 1, {"clinic", "--batch", "wanted.csv", "--ledger", "l.epsilog"});
    return bench.run(words);
  };
  const std::string table =
      "statistic,accuracy,assume_count\ncount,3,\nmean:cost,5,\nmean:cost,5,80\nmean:cost,5,20\n";
  const Result planned = run(table, {"plan", "--together", "--assume-count", "40", "--json"});
  REQUIRE(planned.exit == 0);
  const auto epsilon_of = [&](std::size_t row) {
    return planned.json()["rows"][row]["epsilon"]["charged"].get<std::string>();
  };
  const auto alone = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"forecast", "clinic"});
    return bench.run(with(words, {"--ledger", "l.epsilog", "--json"})).json()["epsilon"].get<std::string>();
  };
  CHECK(epsilon_of(0) == alone({"count", "--accuracy", "3"}));
  CHECK(epsilon_of(1) == alone({"mean:cost", "--accuracy", "5", "--assume-count", "40"}));
  CHECK(epsilon_of(2) == alone({"mean:cost", "--accuracy", "5", "--assume-count", "80"}));
  CHECK(epsilon_of(3) == alone({"mean:cost", "--accuracy", "5", "--assume-count", "20"}));
  CHECK(std::stod(epsilon_of(2)) < std::stod(epsilon_of(1)));
  CHECK(std::stod(epsilon_of(1)) < std::stod(epsilon_of(3)));
  const Result released = run(table, {"release", "--assume-count", "40", "--epsilon", "0.5", "--json"});
  CHECK(released.exit == 0);
  CHECK(run(table, {"reserve", "--assume-count", "40", "--epsilon", "0.1", "--quiet"}).exit == 0);
  const auto refuses = [](const Result& refused, const std::string& why) {
    CHECK(refused.exit != 0);
    CAPTURE(refused.err);
    CHECK(contains(refused.err, why));
  };
  refuses(run("statistic,accuracy\nmean:cost,5\n", {"release"}),
          "row 1: accuracy: 'mean:cost' is a quotient");
  refuses(run("statistic,epsilon\nmean:cost,0.1\n", {"release", "--assume-count", "9"}),
          "--assume-count: goes with accuracies, or with plan");
  refuses(run("statistic,epsilon\nmean:cost,0.1\n", {"plan", "--assume-count", "9"}),
          "--assume-count: of --batch goes with --together");
  refuses(run(table, {"plan", "--together", "--assume-count", "0"}), "--assume-count");
  refuses(bench.run({"release", "clinic", "count", "--assume-count", "3", "--ledger", "l.epsilog"}),
          "--assume-count: goes with --batch");
}
