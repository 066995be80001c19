// init, policy check, policy show, policy apply and data check.
#include "cli/workbench.hpp"

using namespace epsilog::test;

TEST_CASE("init: makes a ledger, says its id, and never overwrites one", "[cli]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  const Result made = bench.run({"init", "--policy", "policy.yaml", "--ledger", "L"});
  CHECK(made.exit == 0);
  check_parts(made.out, {"sha256", "clinic"});
  const std::string before = dump(bench.path("L"));
  const Result again = bench.run({"init", "--policy", "policy.yaml", "--ledger", "L"});
  CHECK(again.exit == 3);
  CHECK(again.out.empty());
  CHECK(lines(again.err) == 1);
  CHECK(dump(bench.path("L")) == before);
  bench.write("notes.txt", "mine");
  CHECK(bench.run({"init", "--policy", "policy.yaml", "--ledger", "notes.txt"}).exit == 3);
  CHECK(bench.read("notes.txt") == "mine");
}

TEST_CASE("init: an invalid policy leaves no file behind", "[cli][negative]") {
  const Workbench bench;
  bench.write("policy.yaml", replaced(kClinicPolicy, "bounds: [0, 110]", "bounds: [110, 0]"));
  const std::vector<std::string> before = bench.files();
  const Result result = bench.run({"init", "--policy", "policy.yaml", "--ledger", "L"});
  check_ended(result, 3, "policy.yaml:10:");
  CHECK(bench.files() == before);
  CHECK(bench.run({"init", "--policy", "absent.yaml", "--ledger", "L"}).exit == 3);
  CHECK(bench.files() == before);
}

TEST_CASE("policy check: every fault is FILE:LINE:COLUMN: MESSAGE on standard error", "[cli]") {
  const Workbench bench;
  bench.write("good.yaml", kClinicPolicy);
  CHECK(bench.run({"policy", "check", "good.yaml"}).exit == 0);
  CHECK(bench.run({"policy", "check", "--policy", "good.yaml"}).exit == 0);
  CHECK(bench.run({"policy", "check", "good.yaml", "--quiet"}).out.empty());

  bench.write("bad.yaml", replaced(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 0}"),
                                   "    rows: {max: 1000}", "    rosw: {max: 1000}"));
  const Result result = bench.run({"policy", "check", "bad.yaml", "--json"});
  CHECK(result.exit == 3);
  const json report = result.json();
  CHECK(report["ok"] == false);
  REQUIRE(report["faults"].size() >= 2);
  CHECK(lines(result.err) == report["faults"].size());
  int line = 0;
  for (const json& fault : report["faults"]) {
    const std::string text =
        fault["file"].get<std::string>() + ":" + std::to_string(fault["line"].get<int>()) + ":" +
        std::to_string(fault["column"].get<int>()) + ": " + fault["message"].get<std::string>();
    CHECK(contains(result.err, text + "\n"));
    CHECK(fault["line"].get<int>() >= line);
    line = fault["line"];
  }
  check_parts(result.err, {"bad.yaml:6:5: ", "bad.yaml:8:"});
  CHECK(bench.run({"policy", "check", "absent.yaml"}).exit == 3);
}

TEST_CASE("policy check: a warning is told on standard error and changes no exit code", "[cli][warnings]") {
  const Workbench bench;
  bench.write("steep.yaml", replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 11}"));
  const Result result = bench.run({"policy", "check", "steep.yaml", "--json"});
  CHECK(result.exit == 0);
  const json report = result.json();
  CHECK(report["ok"] == true);
  REQUIRE(report["warnings"].size() == 2);
  CHECK(contains(report["warnings"][0]["message"].get<std::string>(), "{mechanism: discrete_laplace}"));
  CHECK(report["warnings"][0]["line"] == 3);
  CHECK(contains(report["warnings"][1]["message"].get<std::string>(), "epsilon 11 one unit may"));
  CHECK(report["warnings"][1]["line"] == 8);
  CHECK(lines(result.err) == 2);
  CHECK(contains(result.err, "steep.yaml:8:5: warning: dataset 'clinic': budget: with epsilon 11"));
  CHECK(bench.run({"policy", "check", "steep.yaml", "--quiet"}).err.empty());
  CHECK(contains(bench.run({"policy", "check", "steep.yaml"}).out, "valid"));
}

TEST_CASE("policy apply: a dataset that is declared no more has its history and its budget",
          "[cli][policy]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "2"}).exit ==
          4);  // refused, uncharged
  bench.write("other.yaml", replaced(kClinicPolicy, "  clinic:", "  hospital:"));
  REQUIRE(bench.with_ledger({"policy", "apply", "other.yaml", "--why", "renamed"}).exit == 0);
  const Result history = bench.with_ledger({"history", "clinic"});
  CHECK(history.exit == 0);
  CHECK(contains(history.out, "count of clinic"));
  CHECK(bench.with_ledger({"budget", "clinic"}).exit == 0);
  CHECK(bench.with_ledger({"history", "clinik"}).exit == 3);
}

TEST_CASE("policy implies: prints what the ledger records of the same file, to the byte", "[cli][exact]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  const Result implied = bench.run({"policy", "implies", "policy.yaml"});
  CHECK(implied.exit == 0);
  CHECK(bench.run({"policy", "implies", "--policy", "policy.yaml", "--json", "--quiet"}).out == implied.out);
  bench.init(kClinicPolicy);
  const Result lines = bench.with_ledger({"audit", "export"});
  const std::string after_ledger = lines.out.substr(lines.out.find('\n') + 1);
  const std::string line = after_ledger.substr(0, after_ledger.find('\n'));
  const json recorded = json::parse(line);
  REQUIRE(recorded["kind"] == "policy");
  // Both are canonical: members in byte order, no blanks.
  CHECK(implied.out ==
        "{\"implies\":" + recorded["implies"].dump() + ",\"sha256\":" + recorded["sha256"].dump() + "}\n");
  CHECK(contains(line, implied.out.substr(1, implied.out.find(",\"sha256\"") - 1)));
}

TEST_CASE("policy implies: a comment changes the hash and not what is implied", "[cli]") {
  const Workbench bench;
  bench.write("one.yaml", kClinicPolicy);
  bench.write("other.yaml", std::string("# for the board\n") + kClinicPolicy);
  const json one = bench.run({"policy", "implies", "one.yaml"}).json();
  const json other = bench.run({"policy", "implies", "other.yaml"}).json();
  CHECK(one["implies"] == other["implies"]);
  CHECK(one["sha256"] != other["sha256"]);
}

TEST_CASE("policy implies: a policy with faults is refused, and each is told as by policy check",
          "[cli][negative]") {
  const Workbench bench;
  bench.write("policy.yaml", replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: -1}"));
  const Result implied = bench.run({"policy", "implies", "policy.yaml"});
  CHECK(implied.exit == 3);
  CHECK(implied.out.empty());
  CHECK(implied.err == bench.run({"policy", "check", "policy.yaml"}).err);
  CHECK(bench.run({"policy", "implies", "missing.yaml"}).exit == 3);
}

TEST_CASE("policy show: prints the bytes that were applied", "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  bench.write("policy.yaml", "changed later");
  const Result result = bench.with_ledger({"policy", "show"});
  CHECK(result.exit == 0);
  CHECK(result.out == kClinicPolicy);
}

TEST_CASE("policy apply: a raised budget is a new version and a recorded limit change", "[cli]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1"}).exit == 0);
  bench.write("more.yaml", replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1.5}"));
  const Result result = bench.with_ledger(
      {"policy", "apply", "more.yaml", "--why", "board, 12 March", "--as", "ann", "--json"});
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const json report = result.json();
  check_members(report, R"({"changed": true, "policy_version": 2})");
  REQUIRE(report["limit_changes"].size() == 1);
  const json& change = report["limit_changes"][0];
  check_members(change, R"({"dataset": "clinic", "old_limit": "1", "new_limit": "1.5", "by": "ann",
      "why": "board, 12 March"})");
  CHECK(bench.with_ledger({"budget", "--json"}).json()["accounts"][0]["remaining"] == "0.5");

  const json again = bench.with_ledger({"policy", "apply", "--policy", "more.yaml", "--json"}).json();
  check_members(again, R"({"changed": false, "policy_version": 2})");
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("policy apply: what is looser needs a reason, and the first such change is named",
          "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  bench.write("more.yaml", replaced(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1.5}"),
                                    "values: [A, B, ", "values: [A, B, C, "));
  const Result compared = bench.with_ledger({"policy", "diff", "more.yaml"});
  const std::string first = compared.out.substr(0, compared.out.find('\n'));
  REQUIRE(contains(first, ": looser: datasets.clinic.budget.epsilon: 1 -> 1.5: more can be lost"));
  const std::string place = first.substr(0, first.find(": looser: ") + 2);
  for (const std::vector<std::string>& why : {std::vector<std::string>{}, {"--why", ""}}) {
    const Words words = with({"policy", "apply", "more.yaml"}, why);
    const Result refused = bench.with_ledger(words);
    CHECK(refused.exit == 2);
    CHECK(refused.err == "epsilog: why: the policy is looser, which needs a reason (--why): " + place +
                             "datasets.clinic.budget.epsilon: 1 -> 1.5: more can be lost\n");
  }
  CHECK(dump(bench.path("L")) == before);
  // What is tighter, neutral or incomparable needs none.
  bench.write("less.yaml", replaced(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 0.9}"), "max_rows: 2",
                                    "max_rows: 3"));
  CHECK(bench.with_ledger({"policy", "apply", "less.yaml"}).exit == 0);
  CHECK(bench.with_ledger({"policy", "apply", "more.yaml", "--why", "board"}).exit == 0);
}

TEST_CASE("policy apply: a limit that is declared no more is named by diff, apply and budget", "[cli]") {
  const Workbench bench;
  const std::string limited =
      replaced(kClinicPolicy, "    budget: {epsilon: 1}\n",
               "    budget: {epsilon: 1}\n    limits: [{each: principal, epsilon: 0.5}]\n");
  bench.init(limited);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.25", "--as", "ann"}).exit == 0);
  bench.write("free.yaml", kClinicPolicy);
  const std::string line = "no limit any more: epsilon of dataset 'clinic', principal:ann, spent 0.25\n";
  CHECK(contains(bench.with_ledger({"policy", "diff", "free.yaml"}).out, line));
  const json compared = bench.with_ledger({"policy", "diff", "free.yaml", "--json"}).json();
  REQUIRE(compared["limit_removals"].size() == 1);
  check_members(compared["limit_removals"][0], R"({"scope": "principal:ann", "limit": "0.5",
      "spent": "0.25"})");
  const json report =
      bench.with_ledger({"policy", "apply", "free.yaml", "--why", "board", "--as", "ann", "--json"}).json();
  CHECK(report["limit_changes"] == json::array());
  REQUIRE(report["limit_removals"].size() == 1);
  check_members(report["limit_removals"][0], R"({"scope": "principal:ann", "by": "ann", "why": "board"})");

  CHECK(contains(bench.with_ledger({"budget"}).out, "no limit any more"));
  const json budgets = bench.with_ledger({"budget", "--json"}).json();
  for (const json& account : budgets["accounts"]) {
    CHECK(account["active"] == account["scope"].get<std::string>().empty());
  }
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5", "--as", "ann"}).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  bench.write("again.yaml", limited);
  const Result again = bench.with_ledger({"policy", "apply", "again.yaml"});
  CHECK(again.exit == 0);
  CHECK_FALSE(contains(again.out, "no limit any more"));
  CHECK_FALSE(contains(bench.with_ledger({"budget"}).out, "no limit any more"));
  bench.write("free.yaml", replaced(kClinicPolicy, "version: 1", "# again\nversion: 1"));
  CHECK(contains(bench.with_ledger({"policy", "apply", "free.yaml", "--why", "board"}).out, line));
}

TEST_CASE("policy apply: what a charged dataset was promised cannot be rewritten", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 0);
  const std::string before = dump(bench.path("L"));
  const std::string policy = kClinicPolicy;
  const std::vector<std::string> changes = {replaced(policy, "max_rows: 2", "max_rows: 3"),
                                            replaced(policy, "add-remove", "replace-one"),
                                            replaced(policy, "visits.csv", "other.csv"),
                                            replaced(policy, "{epsilon: 1}", "{epsilon: 0.4}"),
                                            replaced(policy, "{epsilon: 1}", "{epsilon: 1, delta: 1e-6}"),
                                            replaced(policy, "  clinic:", "  clinic2:")};
  for (const std::string& change : changes) {
    bench.write("change.yaml", change);
    const Result result = bench.with_ledger({"policy", "apply", "change.yaml"});
    CAPTURE(change, result.err);
    check_ended(result, 3, "change.yaml:");
  }
  bench.write("change.yaml", "version: 1\n");
  CHECK(bench.with_ledger({"policy", "apply", "change.yaml"}).exit == 3);
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("data check: reports what was missing, dropped and clamped, and records nothing", "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  const json by_policy = bench.run({"data", "check", "--policy", "policy.yaml", "--json"}).json();
  const json by_ledger = bench.with_ledger({"data", "check", "clinic", "--json"}).json();
  CHECK(by_policy == by_ledger);
  REQUIRE(by_ledger["datasets"].size() == 1);
  const json& report = by_ledger["datasets"][0];
  check_members(report, R"({"dataset": "clinic", "rows": 12, "units": 8, "malformed": 0, "without_unit": 1,
      "over_max_rows": 1, "beyond_rows_max": 0})");
  CHECK(report["columns"].size() == 3);
  const Result text = bench.with_ledger({"data", "check"});
  CHECK(text.exit == 0);
  CHECK(contains(text.out, "12  rows read"));
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("data check: a source of the wrong shape ends with 3, a dataset without source too",
          "[cli][negative]") {
  const Workbench bench;
  bench.write("outside.yaml", replaced(kClinicPolicy, "    source: {csv: visits.csv}\n", ""));
  CHECK(bench.run({"data", "check", "clinic", "--policy", "outside.yaml"}).exit == 3);
  const json all = bench.run({"data", "check", "--policy", "outside.yaml", "--json"}).json();
  CHECK(all["without_source"] == json::array({"clinic"}));
  bench.write("visits.csv", "patient,age\n");
  bench.write("policy.yaml", kClinicPolicy);
  const Result result = bench.run({"data", "check", "--policy", "policy.yaml"});
  check_ended(result, 3, "visits.csv");
}
