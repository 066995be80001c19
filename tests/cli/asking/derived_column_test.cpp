// Columns that are functions of others, as the command asks about them and shows what it found.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

constexpr const char* kVisits =
    "patient,age,seen,dx\n"
    "p,17,2024-01-31,C34\n"
    "p,18,2024-02-01,C33\n"
    "q,64,2024-02-29,I21\n"
    "r,old,2024-03-01,\n"
    "s,999,yesterday,Z00\n";

const std::string kPolicy = policy_text("derived_columns.yaml");

/// Noise of this epsilon is 0, all but surely: e^-1000 of the draws are not.
const std::string kNearlyExact = "1000";

void make_derived_ledger(const Workbench& bench) {
  bench.write("visits.csv", kVisits);
  bench.write("clinic.yaml", kPolicy);
  REQUIRE(bench.run({"init", "--policy", "clinic.yaml", "--ledger", "l.epsilog"}).exit == 0);
}

}  // namespace

TEST_CASE("derived columns: are grouped by and compared, recorded by their names, and verify",
          "[cli][derived]") {
  const Workbench bench;
  make_derived_ledger(bench);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"release", "clinic"});
    return bench.run(with(words, {"--epsilon", kNearlyExact, "--ledger", "l.epsilog"}));
  };
  CHECK(ask({"count", "--by", "age_band", "--quiet"}).out == "[0,18)\t1\n[18,65)\t2\n[65,111)\t0\n");
  CHECK(ask({"count", "--by", "month", "--quiet"}).out == "2024-01\t1\n2024-02\t2\n");
  const Result kinds = ask({"count", "--by", "kind", "--key", "kinds", "--json"});
  REQUIRE(kinds.exit == 0);
  REQUIRE(kinds.json()["cells"].size() == 3);
  CHECK(kinds.json()["cells"][0]["group"] == "heart");
  CHECK(kinds.json()["cells"][2]["group"] == "rest");
  CHECK(
      ask({"count", "--where", "age_band in ('[18,65)', '[0,18)') and month != '2024-01'", "--quiet"}).out ==
      "2\n");
  CHECK(ask({"count", "--where", "age_band is missing", "--quiet"}).out == "2\n");
  const json again = ask({"count", "--by", "kind", "--key", "kinds", "--json"}).json();
  CHECK(again["cells"] == kinds.json()["cells"]);
  CHECK(again["replayed"] == true);

  const Result forbidden = ask({"count", "--where", "kind = 'lung'"});
  CHECK(forbidden.exit == 4);
  CHECK(contains(forbidden.out + forbidden.err, "forbidden: rule 1 under forbid"));
  CHECK(ask({"count", "--by", "kind", "--quiet"}).exit == 0);  // another list
  CHECK(ask({"mean:age_band"}).exit == 3);
  CHECK(ask({"count", "--where", "age_band > '[0,18)'"}).exit == 2);
  CHECK(contains(ask({"count", "--where", "age_band = '[0,17)'"}).err, "did you mean '[0,18)'?"));
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
}

TEST_CASE("derived columns: data check counts the cells without a label, and names unreadable ones once",
          "[cli][derived]") {
  const Workbench bench;
  make_derived_ledger(bench);
  const Result checked = bench.run({"data", "check", "--policy", "clinic.yaml"});
  REQUIRE(checked.exit == 0);
  check_parts(checked.out, {"  age: no int in line 5\n", "  seen: no date in line 6\n"});
  CHECK_FALSE(contains(checked.out, "age_band: no"));
  CHECK_FALSE(contains(checked.out, "month: no"));
  const json columns =
      bench.run({"data", "check", "--policy", "clinic.yaml", "--json"}).json()["datasets"][0]["columns"];
  REQUIRE(columns.size() == 6);
  check_members(columns[3], R"({"column": "age_band", "undeclared": 1, "unreadable": 1})");
  CHECK(columns[4]["undeclared"] == 1);
  check_members(columns[5], R"({"undeclared": 0, "nulls": 1})");
}

TEST_CASE(
    "derived columns: dummy runs have rows of every label, and a dataset that was charged keeps what they "
    "are of",
    "[cli][derived]") {
  const Workbench bench;
  make_derived_ledger(bench);
  const Result dummy = bench.run({"release", "clinic", "count", "--by", "kind", "--epsilon", kNearlyExact,
                                  "--dummy", "--policy", "clinic.yaml", "--json"});
  REQUIRE(dummy.exit == 0);
  const json answer = dummy.json();
  for (const json& cell : answer["cells"]) CHECK(cell["group"] != "");
  CHECK(answer["cells"].size() == 3);

  REQUIRE(
      bench.run({"release", "clinic", "count", "--by", "month", "--epsilon", "1", "--ledger", "l.epsilog"})
          .exit == 0);
  bench.write("longer.yaml", replaced(kPolicy, "last: 2024-02", "last: 2024-03"));
  bench.write("other.yaml", replaced(kPolicy, "{from: age, bins", "{from: length, bins"));
  bench.write("other.yaml", replaced(bench.read("other.yaml"), "    columns:\n",
                                     "    columns:\n      length: {type: int, column: age}\n"));
  CHECK(bench.run({"policy", "apply", "longer.yaml", "--why", "march came", "--ledger", "l.epsilog"}).exit ==
        0);
  const Result other = bench.run({"policy", "apply", "other.yaml", "--why", "?", "--ledger", "l.epsilog"});
  check_ended(other, 3, "columns.age_band.from may not change");
}

TEST_CASE("derived columns: each label may be a block, which a condition on what it is derived from debits",
          "[cli][derived][blocks]") {
  const Workbench bench;
  const std::string blocks =
      "    budget: {epsilon: 2000}\n    lifetime: {epsilon: 9000}\n    blocks: {by: age_band}\n";
  const std::string policy = replaced(kPolicy, "    budget: {epsilon: 10000}\n", blocks);
  bench.write("visits.csv", kVisits);
  bench.write("clinic.yaml", policy);
  REQUIRE(bench.run({"init", "--policy", "clinic.yaml", "--ledger", "l.epsilog"}).exit == 0);
  const auto spent = [&] {
    std::string text;
    const json told = bench.run({"budget", "--ledger", "l.epsilog", "--json"}).json();
    for (const json& account : told["accounts"]) {
      text += account["scope"].get<std::string>() + " " + account["spent"].get<std::string>() + "; ";
    }
    return text;
  };
  const auto ask = [&](std::vector<std::string> words) {
    return bench.run(with(words, {"--ledger", "l.epsilog"}));
  };
  // The rows of 999 and of no age are in no block.
  CHECK(ask({"release", "clinic", "count", "--where", "age between 18 and 64", "--epsilon", "1000", "--key",
             "k", "--quiet"})
            .out == "2\n");
  CHECK(ask({"release", "clinic", "count", "--where", "age between 18 and 64", "--epsilon", "1000", "--key",
             "k", "--quiet"})
            .out == "2\n");
  CHECK(spent() == "block:[0,18) 0; block:[18,65) 1000; block:[65,111) 0; lifetime 1000; ");
  const Result held = ask({"reserve", "clinic", "count", "--where", "age_band = '[0,18)' or age > 64",
                           "--epsilon", "100", "--json"});
  REQUIRE(held.exit == 0);
  CHECK(ask({"commit", held.json()["decision_id"].get<std::string>(), "--quiet"}).out == "1\n");
  CHECK(spent() == "block:[0,18) 100; block:[18,65) 1000; block:[65,111) 100; lifetime 1100; ");
  const Result too_much = ask({"release", "clinic", "count", "--where", "age >= 64", "--epsilon", "1500"});
  CHECK(too_much.exit == 4);
  CHECK(contains(too_much.out + too_much.err, "block:[18,65): limit 2000, spent 1000, asked 1500"));
  CHECK_FALSE(contains(too_much.out + too_much.err, "block:[65,111): limit"));

  const auto applied = [&](const std::string& from, const std::string& to) {
    bench.write("other.yaml", replaced(policy, from, to));
    return ask({"policy", "apply", "other.yaml", "--why", "asked for"});
  };
  const Result finer = applied("bins: [0, 18, 65, 111]", "bins: [0, 18, 40, 65, 111]");
  check_ended(finer, 3, "columns.age_band.bins may not change: rows would lie in other blocks");
  CHECK(contains(applied("bounds: [0, 110]", "bounds: [0, 110], missing: 0").err,
                 "columns.age.missing may not change"));
  CHECK(applied("bounds: [0, 110]", "bounds: [0, 120]").exit == 0);
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
}

TEST_CASE("derived columns: periods that are blocks may grow at their end, once something is charged",
          "[cli][derived][blocks]") {
  const Workbench bench;
  const std::string policy =
      replaced(kPolicy, "    budget: {epsilon: 10000}\n",
               "    budget: {epsilon: 2000}\n    lifetime: {epsilon: 9000}\n    blocks: {by: month}\n");
  bench.write("visits.csv", kVisits);
  bench.write("clinic.yaml", policy);
  REQUIRE(bench.run({"init", "--policy", "clinic.yaml", "--ledger", "l.epsilog"}).exit == 0);
  const auto count = [&](const std::string& where) {
    return bench
        .run({"release", "clinic", "count", "--where", where, "--epsilon", kNearlyExact, "--quiet",
              "--ledger", "l.epsilog"})
        .out;
  };
  CHECK(count("seen >= 2024-02-01") == "2\n");
  const std::string longer = replaced(policy, "last: 2024-02", "last: 2024-03");
  bench.write("longer.yaml", longer);
  const Result differs = bench.run({"policy", "diff", "clinic.yaml", "longer.yaml"});
  CHECK(contains(differs.out, "one more block has a budget"));
  CHECK_FALSE(contains(differs.out, "refused once charged"));
  CHECK(bench.run({"policy", "apply", "longer.yaml", "--why", "march came", "--ledger", "l.epsilog"}).exit ==
        0);
  CHECK(count("seen >= 2024-03-01") == "1\n");
  bench.write("shorter.yaml", policy + "# again\n");
  const Result shorter =
      bench.run({"policy", "apply", "shorter.yaml", "--why", "?", "--ledger", "l.epsilog"});
  check_ended(shorter, 3, "columns.month.last may not change");
  CHECK(bench.run({"audit", "verify", "--ledger", "l.epsilog"}).exit == 0);
}
