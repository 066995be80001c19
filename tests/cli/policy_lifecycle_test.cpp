// policy diff.
#include "support/catch.hpp"
#include "workbench.hpp"

using epsilog::test::contains;
using epsilog::test::dump;
using epsilog::test::kClinicPolicy;
using epsilog::test::lines;
using epsilog::test::replaced;
using epsilog::test::Result;
using epsilog::test::Workbench;
using nlohmann::json;

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
  CHECK(report["refused_by_apply"].is_null());
  const json& change = report["looser"][0];
  CHECK(change["direction"] == "looser");
  CHECK(change["path"] == "datasets.clinic.budget.epsilon");
  CHECK(change["before"] == "1");
  CHECK(change["after"] == "1.5");
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
  const Workbench bench;
  bench.init(kClinicPolicy);
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
    CHECK(free["changed"] == true);
    CHECK(free["refused_by_apply"] == json::array());
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

TEST_CASE("policy diff: an invalid policy on either side ends with 3, a missing side with 2",
          "[cli][negative]") {
  const Workbench bench;
  bench.init(kClinicPolicy);
  bench.write("bad.yaml", replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 0}"));
  const Result before = bench.run({"policy", "diff", "bad.yaml", "policy.yaml"});
  CHECK(before.exit == 3);
  CHECK(contains(before.err, "bad.yaml:8:"));
  CHECK(before.out.empty());
  CHECK(bench.run({"policy", "diff", "policy.yaml", "bad.yaml"}).exit == 3);
  CHECK(bench.with_ledger({"policy", "diff", "bad.yaml"}).exit == 3);
  CHECK(bench.run({"policy", "diff", "policy.yaml", "absent.yaml"}).exit == 3);
  CHECK(bench.run({"policy", "diff", "policy.yaml", "--ledger", "absent"}).exit == 3);
  CHECK(bench.run({"policy", "diff", "policy.yaml"}).exit == 2);
  CHECK(bench.run({"policy", "diff"}).exit == 2);
  CHECK(bench.with_ledger({"policy", "diff", "policy.yaml", "policy.yaml"}).exit == 2);
}
