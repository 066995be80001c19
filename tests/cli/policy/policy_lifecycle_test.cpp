// policy diff, policy import and policy init.
#include "cli/workbench.hpp"

using namespace epsilog::test;

TEST_CASE("policy diff: says what became looser and what tighter, with its place and both values", "[cli]") {
  const Workbench bench;
  bench.write("a.yaml", kClinicPolicy);
  bench.write("b.yaml", replaced(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1.5}"), "max_rows: 2",
                                 "max_rows: 3"));
  const Result text = bench.run({"policy", "diff", "a.yaml", "b.yaml"});
  INFO(text.err);
  REQUIRE(text.exit == 0);
  CHECK(text.err.empty());
  CHECK(contains(text.out, ": looser: datasets.clinic.budget.epsilon: 1 -> 1.5: more can be lost\n"));
  CHECK(contains(text.out, ": incomparable: datasets.clinic.unit.max_rows: 2 -> 3: "));
  CHECK(contains(text.out, "\n1 looser, 0 tighter, 1 incomparable, 0 neutral\n"));
  CHECK_FALSE(contains(text.out, "policy apply"));

  const json report = bench.run({"policy", "diff", "a.yaml", "b.yaml", "--json"}).json();
  CHECK(report["changed"] == true);
  REQUIRE(report["looser"].size() == 1);
  CHECK(report["tighter"].empty());
  REQUIRE(report["other"].size() == 1);
  check_members(report, R"({"refused_by_apply": null, "limit_removals": null})");
  const json& change = report["looser"][0];
  check_members(change, R"({"direction": "looser", "path": "datasets.clinic.budget.epsilon", "before": "1",
      "after": "1.5"})");
  CHECK(contains(text.out, "b.yaml:" + std::to_string(change["line"].get<int>()) + ":" +
                               std::to_string(change["column"].get<int>()) + ": looser: "));
  CHECK(report["other"][0]["direction"] == "incomparable");

  const json back = bench.run({"policy", "diff", "b.yaml", "a.yaml", "--json"}).json();
  CHECK(back["looser"].empty());
  CHECK(back["tighter"].size() == 1);
}

TEST_CASE("policy diff: the same policy written differently has no difference", "[cli]") {
  const Workbench bench;
  bench.write("a.yaml", kClinicPolicy);
  bench.write("b.yaml", "# reviewed in March\n" + replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1.0}"));
  const Result text = bench.run({"policy", "diff", "a.yaml", "b.yaml"});
  CHECK(text.exit == 0);
  CHECK(text.out == "no difference\n");
  CHECK(bench.run({"policy", "diff", "a.yaml", "b.yaml", "--quiet"}).out.empty());
  CHECK(bench.run({"policy", "diff", "a.yaml", "b.yaml", "--json"}).json()["changed"] == false);
}

TEST_CASE("policy diff: with a ledger, says what policy apply would refuse, and apply refuses just that",
          "[cli]") {
  const Workbench bench(kClinicPolicy);
  const std::string policy = kClinicPolicy;
  const std::vector<std::string> changes = {replaced(policy, "max_rows: 2", "max_rows: 3"),
                                            replaced(policy, "add-remove", "replace-one"),
                                            replaced(policy, "visits.csv", "other.csv"),
                                            replaced(policy, "{epsilon: 1}", "{epsilon: 0.4}"),
                                            replaced(policy, "{epsilon: 1}", "{epsilon: 1, delta: 1e-6}"),
                                            replaced(policy, "  clinic:", "  clinic2:")};
  for (const std::string& change : changes) {
    bench.write("change.yaml", change);
    const json free = bench.with_ledger({"policy", "diff", "change.yaml", "--json"}).json();
    CAPTURE(change);
    check_members(free, R"({"changed": true, "refused_by_apply": []})");
  }
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 0);
  const std::string before = dump(bench.path("L"));
  for (const std::string& change : changes) {
    bench.write("change.yaml", change);
    const Result compared = bench.with_ledger({"policy", "diff", "change.yaml"});
    const json report = bench.with_ledger({"policy", "diff", "change.yaml", "--json"}).json();
    CAPTURE(change, compared.out);
    CHECK(compared.exit == 0);
    CHECK(contains(compared.out, "policy apply would refuse it:\n"));
    REQUIRE(report["refused_by_apply"].size() == 1);
    const Result applied = bench.with_ledger({"policy", "apply", "change.yaml", "--json"});
    CHECK(applied.exit == 3);
    CHECK(applied.json()["error"]["faults"] == report["refused_by_apply"]);
  }
  CHECK(dump(bench.path("L")) == before);

  bench.write("change.yaml", replaced(policy, "{epsilon: 1}", "{epsilon: 0.5}"));
  CHECK(contains(bench.with_ledger({"policy", "diff", "change.yaml"}).out, "policy apply would accept it\n"));
  CHECK(bench.with_ledger({"policy", "apply", "change.yaml"}).exit == 0);
}

TEST_CASE("policy diff: blocks of a charged dataset may change in their range only, and the diff says so",
          "[cli]") {
  const Workbench bench;
  const std::string policy =
      replaced(kClinicPolicy, "    budget: {epsilon: 1}\n",
               "    budget: {epsilon: 1}\n    lifetime: {epsilon: 4}\n    blocks: {by: ward}\n");
  bench.init(policy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 0);
  bench.write("change.yaml", replaced(policy, "    blocks: {by: ward}\n", ""));
  const json report = bench.with_ledger({"policy", "diff", "change.yaml", "--json"}).json();
  REQUIRE(report["other"].size() == 1);
  check_members(report["other"][0], R"({"path": "datasets.clinic.blocks", "direction": "incomparable",
      "refused_once_charged": true})");
  REQUIRE(report["refused_by_apply"].size() >= 1);
  CHECK(contains(report["refused_by_apply"][0]["message"].get<std::string>(),
                 "was charged already: blocks may not change: rows would lie in other blocks"));
}

TEST_CASE("policy diff: an invalid policy on either side ends with 3, a missing side with 2",
          "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  bench.write("bad.yaml", replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 0}"));
  const Result before = bench.run({"policy", "diff", "bad.yaml", "policy.yaml"});
  check_ended(before, 3, "bad.yaml:8:");
  CHECK(before.out.empty());
  CHECK(bench.run({"policy", "diff", "policy.yaml", "bad.yaml"}).exit == 3);
  CHECK(bench.with_ledger({"policy", "diff", "bad.yaml"}).exit == 3);
  CHECK(bench.run({"policy", "diff", "policy.yaml", "absent.yaml"}).exit == 3);
  CHECK(bench.run({"policy", "diff", "policy.yaml", "--ledger", "absent"}).exit == 3);
  CHECK(bench.run({"policy", "diff", "policy.yaml"}).exit == 2);
  CHECK(bench.run({"policy", "diff"}).exit == 2);
  CHECK(bench.with_ledger({"policy", "diff", "policy.yaml", "policy.yaml"}).exit == 2);
}

namespace {

const char* const kMetadata =
    "Database:\n"
    "  clinic:\n"
    "    visits:\n"
    "      max_ids: 2\n"
    "      rows: 1000\n"
    "      age: {type: int, lower: 0, upper: 110}\n"
    "      patient: {type: int, private_id: True}\n";

}  // namespace

TEST_CASE("policy import: writes a policy on standard output and what is left to decide on standard error",
          "[cli]") {
  const Workbench bench;
  bench.write("meta.yaml", kMetadata);
  const Result text = bench.run({"policy", "import", "meta.yaml"});
  REQUIRE(text.exit == 0);
  check_parts(text.out, {"  visits:\n", "    unit: {id: patient, max_rows: 2}\n",
                         "      age: {type: int, bounds: [0, 110]}\n"});
  check_parts(text.err, {": TODO: budget: ", ": NOTE: rows: 1000 ",
                         "2 things are left to decide; policy check refuses the policy until"});
  bench.write("draft.yaml", text.out);
  CHECK(contains(bench.run({"policy", "check", "draft.yaml"}).err, "the key 'budget' is missing"));
  CHECK(bench.run({"policy", "import", "meta.yaml", "--quiet"}).err.empty());
  CHECK(bench.run({"policy", "import", "meta.yaml", "--quiet"}).out == text.out);

  const json report = bench.run({"policy", "import", "meta.yaml", "--json"}).json();
  CHECK(report["policy"] == text.out);
  check_members(report, R"({"valid": false, "output": null})");
  CHECK(report["todos"].size() == 2);
  CHECK(report["todos"][0]["line"].is_number());
  CHECK(report["notes"].is_array());
}

TEST_CASE("policy import: with a budget, a policy that is complete, initialises a ledger", "[cli]") {
  const Workbench bench;
  bench.write("meta.yaml", kMetadata);
  const Result made = bench.run({"policy", "import", "meta.yaml", "--from", "smartnoise", "--epsilon", "1/3",
                                 "--dataset", "clinic", "--output", "policy.yaml"});
  INFO(made.err);
  REQUIRE(made.exit == 0);
  CHECK(made.out.empty());
  check_parts(made.err, {"policy.yaml:6: TODO: source: ", "policy check accepts the policy as it stands"});
  CHECK(contains(bench.read("policy.yaml"), "    budget: {epsilon: 0.333333333333}\n"));
  CHECK(bench.run({"policy", "check", "policy.yaml"}).exit == 0);
  CHECK(bench.run({"init", "--policy", "policy.yaml", "--ledger", "L"}).exit == 0);
}

TEST_CASE("policy import: never overwrites, and one fault with its place for what it does not know",
          "[cli][negative]") {
  const Workbench bench;
  bench.write("meta.yaml", kMetadata);
  bench.write("mine.yaml", "mine");
  const Result kept = bench.run({"policy", "import", "meta.yaml", "--output", "mine.yaml"});
  check_ended(kept, 2, "mine.yaml': exists already");
  CHECK(bench.read("mine.yaml") == "mine");
  CHECK(bench.run({"policy", "import", "meta.yaml", "--output", "nowhere/p.yaml"}).exit == 2);

  const std::vector<std::string> before = bench.files();
  bench.write("meta.yaml", replaced(replaced(kMetadata, "lower:", "min:"), "private_id", "is_key"));
  const Result unknown = bench.run({"policy", "import", "meta.yaml", "--output", "p.yaml"});
  check_ended(unknown, 3, "meta.yaml:6:24: unknown key 'min'");
  CHECK(lines(unknown.err) == 1);
  CHECK(bench.run({"policy", "import", "absent.yaml"}).exit == 3);
  CHECK(bench.files() == before);
  CHECK(bench.run({"policy", "import"}).exit == 2);
  CHECK(bench.run({"policy", "import", "meta.yaml", "--from", "opendp"}).exit == 2);
  CHECK(bench.run({"policy", "import", "meta.yaml", "--delta", "1e-6"}).exit == 2);
  CHECK(bench.run({"policy", "import", "meta.yaml", "--epsilon", "0"}).exit == 2);
  CHECK(bench.run({"policy", "import", "meta.yaml", "--dataset", "a b"}).exit == 2);
}

TEST_CASE("policy init: a draft from a CSV header whose source is found from where the draft is", "[cli]") {
  const Workbench bench;
  std::filesystem::create_directory(bench.path("policies"));
  const Result made = bench.run({"policy", "init", "--from-csv", "visits.csv", "--dataset", "clinic",
                                 "--output", "policies/clinic.yaml"});
  INFO(made.err);
  REQUIRE(made.exit == 0);
  check_parts(made.err, {": TODO: unit: ", "policy check refuses the policy until"});
  const std::string draft = bench.read("policies/clinic.yaml");
  check_parts(draft, {"    source: {csv: \"../visits.csv\"}\n", "confirm each"});
  CHECK(bench.run({"policy", "check", "policies/clinic.yaml"}).exit == 3);
  bench.write(
      "policies/whole.yaml",
      replaced(
          draft, "    neighbours: add-remove\n",
          "    neighbours: add-remove\n    unit: row\n    rows: {max: 100}\n    budget: {epsilon: 1}\n"));
  CHECK(bench.run({"data", "check", "--policy", "policies/whole.yaml"}).exit == 0);

  const Result printed = bench.run({"policy", "init", "--from-csv", "visits.csv"});
  check_parts(printed.out, {"  visits:\n", "    source: {csv: visits.csv}\n"});
  CHECK(bench.run({"policy", "init", "--from-csv", "absent.csv"}).exit == 3);
  CHECK(bench.run({"policy", "init"}).exit == 2);
  CHECK(contains(bench.run({"policy", "init", "--help"}).out, "must be confirmed"));
}

TEST_CASE("policy init: a file of a German spreadsheet needs the three decisions only, and then reads whole",
          "[cli][exact]") {
  const Workbench bench;
  bench.write("Besuche.csv",
              "Patient;Alter (Jahre);Kosten, brutto;Gesehen am;Stra\xDF"
              "e\r\n"
              "M\xFCller;34;1.234,50;03.01.2024;Hauptstr. 1\r\n"
              "M\xFCller;34;89,90;17.01.2024;\"Am Bach; 2\"\r\n"
              "Gro\xDF;entf\xE4llt;12.005,00;29.02.2024;Ring 3\r\n");
  const Result made = bench.run({"policy", "init", "--from-csv", "Besuche.csv", "--output", "draft.yaml"});
  INFO(made.err);
  REQUIRE(made.exit == 0);
  const std::string draft = bench.read("draft.yaml");
  CHECK(contains(draft,
                 "source: {csv: Besuche.csv, delimiter: \";\", decimal: \",\", thousands: \".\", encoding: "
                 "windows-1252, date_format: DD.MM.YYYY}\n"));
  CHECK(contains(draft, "Alter_Jahre: {column: \"Alter (Jahre)\", type: string}\n"));
  CHECK(contains(draft, "Kosten_brutto: {column: \"Kosten, brutto\", type: double}\n"));
  CHECK(contains(draft, "Gesehen_am: {column: \"Gesehen am\", type: date}\n"));
  CHECK(contains(draft, "Strasse: {column: \"Straße\", type: string}\n"));
  CHECK(contains(made.err,
                 "columns.Alter_Jahre.type: a string, since line 4 has a text; most cells seen are whole"));
  std::string whole = replaced(draft, "    neighbours: add-remove\n",
                               "    neighbours: add-remove\n    unit: {id: Patient, max_rows: 2}\n"
                               "    rows: {max: 2}\n    budget: {epsilon: 1}\n");
  whole = replaced(whole, "Alter_Jahre: {column: \"Alter (Jahre)\", type: string}",
                   "Alter_Jahre: {column: \"Alter (Jahre)\", type: int, bounds: [0, 40]}");
  bench.write("whole.yaml", whole);
  const Result checked = bench.run({"data", "check", "--policy", "whole.yaml"});
  INFO(checked.err << checked.out);
  REQUIRE(checked.exit == 0);
  check_parts(checked.out, {"Alter_Jahre: no int in line 4\n", "rows: {max: 2} is below the 3 rows kept"});
  CHECK_FALSE(contains(checked.out, "malformed: "));
  const json report = bench.run({"data", "check", "--policy", "whole.yaml", "--json"}).json()["datasets"][0];
  check_members(report, R"({"units": 2, "kept": 3, "rows_declared": 2, "rows_exact": false,
      "beyond_rows_max": 1, "malformed_at": []})");
  CHECK(report["columns"][1]["unreadable"] == 1);
  CHECK(report["columns"][1]["unreadable_at"] == json::array({4}));
  CHECK(report["columns"][1]["nulls"] == 0);
}

TEST_CASE("data check: malformed rows are told with their lines, and a wrong exact number of rows", "[cli]") {
  const Workbench bench;
  bench.write("v.csv", "patient,age\np,1\nq\nr,2,3\ns,4\n");
  bench.write(
      "p.yaml",
      "version: 1\ndatasets:\n  clinic:\n    source: {csv: v.csv}\n    unit: row\n    rows: {exact: 5}\n"
      "    neighbours: replace-one\n    budget: {epsilon: 1}\n    columns:\n"
      "      age: {type: int, bounds: [0, 9], missing: 0}\n");
  const Result checked = bench.run({"data", "check", "--policy", "p.yaml"});
  INFO(checked.err);
  REQUIRE(checked.exit == 0);
  CHECK(contains(checked.out, "  malformed: lines 3 and 4\n"));
  CHECK(contains(checked.out, "rows: {exact: 5}, but there are 4: every release ends with an error\n"));
}

TEST_CASE(
    "policy diff: a path of a file that is written otherwise and leads to the same place is no other source",
    "[cli][policy]") {
  const Workbench bench;
  const auto refused = [&](const char* path) {
    bench.write("before.yaml", kClinicPolicy);
    bench.write("after.yaml", replaced(kClinicPolicy, "visits.csv", path));
    return bench.run({"policy", "diff", "before.yaml", "after.yaml", "--json"})
               .json()["other"][0]["refused_once_charged"] == true;
  };
  CHECK_FALSE(refused("./visits.csv"));
  CHECK_FALSE(refused("a/../visits.csv"));
  CHECK(refused("other/visits.csv"));
}
