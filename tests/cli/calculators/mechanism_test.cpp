// The policy's choice of mechanism as the command shows it: --delta, JSON, text, refusals.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

constexpr const char* kMechanisms[] = {"discrete_laplace", "discrete_gaussian", "gaussian"};

/// The clinic with another mechanism; with "" its budget stays pure.
std::string clinic_by(const std::string& mechanism, const std::string& delta = "1e-6") {
  std::string policy = kClinicPolicy;
  if (!delta.empty()) policy = replaced(policy, "{epsilon: 1}", "{epsilon: 1, delta: " + delta + "}");
  return policy + "    release: {default: {mechanism: " + mechanism + "}}\n";
}

std::vector<std::string> ask(const std::string& mechanism, std::vector<std::string> words) {
  words.insert(words.end(), {"--epsilon", "0.25"});
  if (mechanism != "discrete_laplace") words.insert(words.end(), {"--delta", "2.5e-7"});
  return words;
}

}  // namespace

TEST_CASE("mechanism: release, show, history and plan describe it alike", "[cli][json][mechanism]") {
  for (const std::string mechanism : kMechanisms) {
    const Workbench bench(clinic_by(mechanism));
    const json plan = run_json(bench, ask(mechanism, {"plan", "clinic", "count"}));
    const json released = run_json(bench, ask(mechanism, {"release", "clinic", "count"}));
    const json shown = run_json(bench, {"show", released["decision_id"]});
    const json listed = json::parse(decisions_of(bench.with_ledger({"history", "--json"}).out));
    for (const json& answer : {plan, released, shown, listed}) {
      CAPTURE(answer.dump());
      CHECK(answer["mechanism"] == mechanism);
      check_members(answer, R"({"arithmetic": "exact", "precision": null, "bound": null,
          "sensitivity": "2"})");
      CHECK(answer["scale"].is_string());
      CHECK(answer["grid"].is_string());
      check_members(answer["epsilon"], R"({"requested": "0.25", "charged": "0.25", "published": null})");
      const json& component = answer["components"][0];
      CHECK(component["centre"].is_null());
      CHECK(component[mechanism == "discrete_laplace" ? "grid_sensitivity" : "grid_sensitivity_l2_squared"]
                .is_string());
      if (mechanism == "discrete_laplace") {
        CHECK(answer["delta"].is_null());
        for (const char* field : {"delta", "sensitivity_l2_squared", "rho", "adjusted_delta"})
          CHECK(component[field].is_null());
        check_members(answer, R"({"scale": "8", "grid": "1"})");
        CHECK(answer["epsilon"]["adjusted"] == "0.25");
      } else {
        check_members(answer["delta"], R"({"requested": "0.00000025", "charged": "0.00000025"})");
        CHECK(answer["delta"]["adjusted"] == component["adjusted_delta"]);
        check_members(component, R"({"delta": "0.00000025", "sensitivity_l2_squared": "4"})");
        CHECK(component["rho"].is_string());
      }
    }
    CHECK(shown["value"] == released["value"]);
    CHECK(plan["accuracy"] == released["accuracy"]);
    CHECK(plan["accuracy"][0]["within"].is_string());
    CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  }
}

TEST_CASE("mechanism: a snapped release has no delta and no fields of the others", "[cli][json][mechanism]") {
  const Workbench bench(kClinicPolicy);
  const json released = run_json(bench, {"release", "clinic", "count", "--epsilon", "0.25"});
  CHECK(released["delta"].is_null());
  for (const char* field : {"delta", "sensitivity_l2_squared", "grid_sensitivity",
                            "grid_sensitivity_l2_squared", "rho", "adjusted_delta"}) {
    CAPTURE(field);
    CHECK(released["components"][0].at(field).is_null());
  }
}

TEST_CASE("mechanism: four quarters spend a budget of both measures, and the fifth names both",
          "[cli][exact][mechanism]") {
  const Workbench bench(clinic_by("discrete_gaussian"));
  for (int i = 0; i < 4; ++i) {
    CHECK(bench.with_ledger(ask("discrete_gaussian", {"release", "clinic", "mean:cost"})).exit == 0);
  }
  const json refused = run_json(bench, ask("discrete_gaussian", {"release", "clinic", "count"}), 4);
  check_members(refused["delta"], R"({"charged": "0", "adjusted": null})");
  REQUIRE(refused["reasons"].size() == 2);
  check_members(refused["reasons"][0], R"({"measure": "delta", "spent": "0.000001",
      "over_by": "0.00000025"})");
  CHECK(refused["reasons"][1]["measure"] == "epsilon");
  const json accounts = run_json(bench, {"budget"})["accounts"];
  for (const json& account : accounts) CHECK(account["remaining"] == "0");
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("mechanism: a Gaussian on a pure budget is refused by name with code 4",
          "[cli][negative][mechanism]") {
  for (const std::string mechanism : {"discrete_gaussian", "gaussian"}) {
    const Workbench bench(clinic_by(mechanism, ""));
    const json refused = run_json(bench, ask(mechanism, {"release", "clinic", "count"}), 4);
    CHECK(refused["decision"] == "refused");
    REQUIRE(refused["reasons"].size() == 1);
    const json& reason = refused["reasons"][0];
    check_members(reason, R"({"code": "measure_not_expressible", "number": 6})");
    for (const char* amount : {"measure", "limit", "spent", "charge", "over_by", "fits"}) {
      CAPTURE(amount);
      CHECK(reason[amount].is_null());
    }
    const Result text = bench.with_ledger(ask(mechanism, {"plan", "clinic", "count"}));
    CHECK(text.exit == 4);
    CHECK(contains(text.out, "measure_not_expressible: " + mechanism));
    CHECK(lines(decisions_of(bench.with_ledger({"history", "--json"}).out)) == 1);
    CHECK(run_json(bench, {"budget"})["accounts"][0]["spent"] == "0");
  }
}

TEST_CASE("delta: what is missing, out of place or no probability ends with 2 and changes no table",
          "[cli][negative][mechanism]") {
  const Workbench bench(
      replaced(clinic_by("gaussian"), "release: {", "release: {units: {mechanism: discrete_laplace}, "));
  const std::string before = dump(bench.path("L"));
  const auto check = [&](std::vector<std::string> words, const std::string& part) {
    for (const char* verb : {"release", "plan"}) {
      std::vector<std::string> all = {verb, "clinic"};
      all.insert(all.end(), words.begin(), words.end());
      const Result result = bench.with_ledger(all);
      CAPTURE(all, result.err);
      CHECK(result.exit == 2);
      CHECK(result.out.empty());
      CHECK(lines(result.err) <= 2);
      CHECK(contains(result.err, part));
    }
  };
  check({"count", "--epsilon", "0.5"},
        "'count' is released by gaussian, which loses (epsilon, delta); give --delta");
  check({"units", "--epsilon", "0.5", "--delta", "1e-6"}, "leave --delta out");
  for (const char* delta : {"0", "1", "2", "-1e-6", "nan", "inf", "1e-19", "abc", "", "1/1", "0x1p-20"}) {
    check({"count", "--epsilon", "0.5", "--delta", delta}, "--delta");
  }
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("delta: another one under the same key is another question", "[cli][mechanism]") {
  const Workbench bench(clinic_by("gaussian"));
  const json first =
      run_json(bench, {"release", "clinic", "count", "--epsilon", "0.1", "--delta", "1e-7", "--key", "k"});
  const json again = run_json(
      bench, {"release", "clinic", "count", "--epsilon", "0.1", "--delta", "1/10000000", "--key", "k"});
  CHECK(again["replayed"] == true);
  CHECK(again["value"] == first["value"]);
  const json other =
      run_json(bench, {"release", "clinic", "count", "--epsilon", "0.1", "--delta", "2e-7", "--key", "k"}, 4);
  CHECK(other["reasons"][0]["code"] == "key_conflict");
}

TEST_CASE("mechanism: the text names it with scale, grid, cost and both budgets",
          "[cli][output][mechanism]") {
  const Workbench bench(clinic_by("discrete_gaussian"));
  const Result result =
      bench.with_ledger(ask("discrete_gaussian", {"release", "clinic", "sum:age", "--verbose"}));
  CAPTURE(result.out);
  CHECK(result.exit == 0);
  for (const char* part : {"epsilon 0.25; proved loss 0.25; delta 0.00000025, proved ~0.0000002",
                           "discrete_gaussian of sum, exact", "sensitivity 220, L2 squared 48400, scale ",
                           ", grid 1", "95 % confidence within ", "delta", "0.00000075"}) {
    CAPTURE(part);
    CHECK(contains(result.out, part));
  }
  CHECK_FALSE(contains(result.out, "bound"));
  CHECK(
      bench
          .with_ledger(
              {"show", json::parse(decisions_of(bench.with_ledger({"history", "--json"}).out))["decision_id"],
               "--verbose"})
          .out == result.out);
}

TEST_CASE("audit: a restated delta or scale is found", "[cli][audit][negative][mechanism]") {
  for (const char* field : {"delta", "rho", "scale", "adjusted_delta", "sensitivity_l2_squared"}) {
    const Workbench bench(clinic_by("gaussian"));
    REQUIRE(bench.with_ledger(ask("gaussian", {"release", "clinic", "count"})).exit == 0);
    tamper(bench.path("L"),
           "DROP TRIGGER plan_no_update; UPDATE plan SET release = json_set(release, '$.components[0]." +
               std::string(field) + "', '0.125')");
    const json report = run_json(bench, {"audit", "verify"}, 6);
    CAPTURE(field, report.dump());
    CHECK(contains(report.dump(), "release_changed"));
  }
}

TEST_CASE("rho: --rho asks in place of --epsilon and --delta, where no budget counts delta",
          "[cli][mechanism][rho]") {
  const Workbench bench;
  const std::string gaussian = "    release: {default: {mechanism: discrete_gaussian}}\n";
  bench.init(replaced(kClinicPolicy, "{epsilon: 1}", "{measure: zcdp, rho: 1/10}") + gaussian);
  const json plan = run_json(bench, {"plan", "clinic", "count", "--rho", "1/50"});
  const json answer = run_json(bench, {"release", "clinic", "count", "--rho", "1/50", "--key", "k"});
  for (const json& one : {plan, answer, run_json(bench, {"show", answer["decision_id"]})}) {
    CHECK(one["rho"] == json::parse(R"({"requested": "0.02", "charged": "0.02"})"));
    CHECK(one["delta"]["charged"] == "0.000001");
    CHECK(one["epsilon"] == plan["epsilon"]);
  }
  CHECK(answer["accounts"][0]["spent"] == "0.02");
  CHECK(run_json(bench, {"release", "clinic", "count", "--rho", "0.02", "--key", "k"})["replayed"] == true);
  CHECK(contains(bench.with_ledger({"show", answer["decision_id"]}).out, "; asked as rho 0.02\n"));
  // Without it there is no such field.
  const json by_epsilon = run_json(bench, {"plan", "clinic", "count", "--epsilon", "0.1", "--delta", "1e-7"});
  CHECK_FALSE(by_epsilon.contains("rho"));

  const json forecast = run_json(bench, {"forecast", "clinic", "count", "--rho", "0.02"});
  check_members(forecast, R"({"releases": 4, "rho": "0.02"})");
  const json held = run_json(bench, {"reserve", "clinic", "units", "--rho", "0.08"});
  CHECK(run_json(bench, {"commit", held["decision_id"]})["rho"]["charged"] == "0.08");
  CHECK(run_json(bench, {"release", "clinic", "count", "--rho", "1e-15"}, 4)["reasons"][0]["measure"] ==
        "rho");

  bench.write("rows.csv",
              "dataset,statistic,epsilon,delta,rho\nclinic,count,,,0.01\nclinic,count,0.1,1e-7,\n");
  const Result batch = bench.with_ledger({"plan", "--batch", "rows.csv", "--rho", "0.02"});
  CHECK(batch.exit == 4);
  CHECK(lines(batch.out) == 3);
  CHECK_FALSE(contains(batch.out, "rho: stands"));
  CHECK(run_json(bench, {"audit", "verify"})["ok"] == true);
}

TEST_CASE("rho: what it cannot be asked of, or beside, ends with exit code 2 and no trace",
          "[cli][mechanism][rho][negative]") {
  const Workbench bench(clinic_by("gaussian"));
  const std::string before = dump(bench.path("L"));
  const auto check = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {"release", "clinic", "count"});
    const Result result = bench.with_ledger(words);
    CAPTURE(words, result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, part));
  };
  check({"--rho", "0.1"}, "rho: a budget of 'clinic' counts epsilon and delta; give --epsilon and --delta");
  check({"--rho", "0.1", "--epsilon", "1"}, "--rho: stands in place of --epsilon and --delta");
  check({"--rho", "0.1", "--delta", "1e-6"}, "--rho: stands in place of --epsilon and --delta");
  check({}, "--epsilon is required");
  for (const char* rho : {"0", "-1", "nan", "1e-16", "", "abc", "1e19"}) check({"--rho", rho}, "--rho");
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("quantile: of a column of dates it is a date, wherever it is told", "[cli][quantile]") {
  const Workbench bench;
  bench.write("visits.csv",
              "patient,seen\np,1969-12-30\np,2024-02-29\nq,2024-02-29\nr,2030-01-01\ns,\nt,soon\n");
  bench.write("clinic.yaml", policy_text("dates.yaml"));
  const auto run = [&](std::vector<std::string> words) {
    return bench.run(with(words, {"--ledger", "l.epsilog"}));
  };
  REQUIRE(run({"init", "--policy", "clinic.yaml"}).exit == 0);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"release", "clinic"});
    return run(with(words, {"--epsilon", "5000"}));
  };
  // No other day is selected with a probability above 1e-100: the rows that count are one before the bounds,
  // two leap days and one beyond.
  CHECK(ask({"median:seen", "--key", "k", "--quiet"}).out == "2024-02-29\n");
  const Result again = ask({"median:seen", "--key", "k", "--json"});
  const json told = json::parse(again.out);
  check_members(told, R"({"replayed": true, "value": "2024-02-29", "value_decimal": null,
      "value_hex": null})");
  check_members(told.at("components")[0], R"({"statistic": "quantile_day", "value": "2024-02-29"})");
  CHECK(told.at("rank_accuracy").size() == 1);
  CHECK(contains(ask({"quantile:seen:0.01"}).out,
                 "quantile:seen:0.01 of clinic: 1969-12-31 [1969-12-31, 2024-12-31] whole range (95 %)\n"));
  check_members(told.at("interval")[0], R"({"low": "1969-12-31", "high": "2024-12-31"})");
  CHECK(ask({"quantiles:seen:0.01,0.5,0.99", "--quiet"}).out ==
        "0.01\t1969-12-31\n0.5\t2024-02-29\n0.99\t2024-12-31\n");
  const Result by = ask({"quantile:seen:0.9", "--by", "year", "--format", "csv"});
  check_parts(by.out, {",leap,2024-02-29,,,", ",rest,2024-12-31,,,"});
  // Days are no lengths.
  const std::string table = ask({"quantile:seen:0.9", "--by", "year"}).out;
  CHECK_FALSE(contains(table.substr(0, table.find("accuracy")), "\u2588"));
  CHECK(contains(run({"history"}).out, "2024-02-29"));
  CHECK(contains(run({"show", told.at("decision_id").get<std::string>()}).out, "2024-02-29"));
  CHECK(contains(run({"audit", "report"}).out, "1969-12-31"));
  // In the records it is a number of days.
  CHECK(contains(run({"audit", "export"}).out, R"("component_values":[["19782"]])"));
  CHECK(run({"audit", "verify"}).exit == 0);
  CHECK(ask({"mean:seen"}).exit == 3);
  const Result dummy = bench.run({"release", "clinic", "median:seen", "--epsilon", "5000", "--dummy",
                                  "--policy", "clinic.yaml", "--json"});
  CHECK(json::parse(dummy.out).at("value").get<std::string>().size() == 10);
  const json checked =
      bench.run({"data", "check", "--policy", "clinic.yaml", "--json"}).json()["datasets"][0]["columns"];
  CHECK(checked[0]["out_of_bounds"] == 2);
}

TEST_CASE("quantile: the command plans, releases, tells and verifies it, and says how far its rank may be",
          "[cli][quantile]") {
  const Workbench bench(replaced(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 2}"),
                                 "    budget:", "    allow: {statistics: [count, quantile]}\n    budget:"));
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, "clinic");
    return bench.with_ledger(with(words, {"--epsilon", "0.5"}));
  };
  const json planned = json::parse(ask({"plan", "median:age", "--json"}).out);
  check_members(planned, R"({"statistic": "quantile:age:0.5", "mechanism": "permute_and_flip",
      "accuracy": []})");
  REQUIRE(planned.at("rank_accuracy").size() == 1);
  check_members(planned.at("rank_accuracy")[0], R"({"quantile": "0.5", "ties": "0"})");
  const Result forecast = bench.with_ledger(
      {"forecast", "clinic", "median:age", "--accuracy", "20", "--alpha", "0.05", "--json"});
  CHECK(forecast.exit == 0);
  const json found = json::parse(forecast.out);
  CHECK(found.at("accuracy") == json::array());
  CHECK(found.at("rank_accuracy")[0].at("alpha") == "0.05");
  const Result told = ask({"release", "median:age"});
  CHECK(told.exit == 0);
  check_parts(told.out, {"with 95 % confidence within ", " rows of the exact median\n"});
  // Both ends are in reach of the rank error if half of the rows are no more than that.
  const std::string error = planned.at("rank_accuracy")[0].at("within");
  const std::string few = planned.at("rank_accuracy")[0].at("any_value_to");
  CHECK(std::stod(few) == std::floor(2 * std::stod(error)));
  CHECK(contains(told.out, "may be any value of " + few + " rows or fewer\n"));
  CHECK(contains(told.out, "] whole range (95 %)"));
  const json whole = json::parse(ask({"release", "median:age", "--json"}).out).at("interval");
  REQUIRE(whole.size() == 1);
  check_members(whole[0], R"({"whole_range": true, "holds_from": null})");
  // With an assumed count, between which quantiles of the rows it lies.
  const auto assumed = [&](const std::string& rows) {
    return json::parse(ask({"plan", "median:age", "--assume-count", rows, "--json"}).out).at("assumed");
  };
  CHECK(assumed(few).at("quantiles")[0].at("whole_range") == true);
  const json many = assumed("1000");
  CHECK(many.at("accuracy") == json::array());
  check_members(many.at("quantiles")[0], R"({"whole_range": false, "holds_from": "1000"})");
  const double share = std::stod(error) / 1000;
  CHECK(std::abs(std::stod(many.at("quantiles")[0].at("low").get<std::string>()) - (0.5 - share)) < 1e-9);
  CHECK(std::abs(std::stod(many.at("quantiles")[0].at("high").get<std::string>()) - (0.5 + share)) < 1e-9);
  CHECK(contains(ask({"plan", "median:age", "--assume-count", few}).out, "quantile 0.5 may be any value\n"));
  CHECK(contains(ask({"plan", "median:age", "--assume-count", "1000"}).out,
                 "if of 1,000 rows: quantile 0.5 lies between those of "));
  CHECK(ask({"plan", "median:age", "--assume-count", "1001"}).exit == 2);
  CHECK(bench
            .with_ledger({"forecast", "clinic", "median:age", "--accuracy", "20", "--alpha", "0.05",
                          "--assume-count", "100"})
            .exit == 3);
  const json several = json::parse(ask({"release", "quantiles:age:0.25,0.75", "--json"}).out);
  REQUIRE(several.at("cells").size() == 2);
  CHECK(several.at("cells")[0].at("group") == "0.25");
  CHECK(several.at("cells")[1].at("group") == "0.75");
  CHECK(several.at("value").is_null());
  CHECK(several.at("rank_accuracy")[0].at("quantile") == "0.25");
  CHECK(contains(ask({"plan", "quantiles:age:0.25,0.75"}).out, "times the most rows at one value"));
  const Result by = ask({"release", "quantiles:age:0.25,0.75", "--by", "ward", "--json", "--key", "k"});
  const json cells = json::parse(by.out).at("cells");
  REQUIRE(cells.size() == 6);
  CHECK(cells[1].at("group").is_null());
  CHECK(cells[1].at("groups") == json::array({"A", "0.75"}));
  CHECK(json::parse(by.out).at("rank_accuracy")[1].at("quantile") == "0.75");
  CHECK(json::parse(by.out).at("rank_accuracy").size() == 2);
  const auto again = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"release", "quantiles:age:0.25,0.75", "--by", "ward", "--key", "k"});
    return ask(more).out;
  };
  const std::string value = cells[1].at("value").get<std::string>();
  CHECK(contains(again({"--quiet"}), "A\t0.75\t" + value + "\n"));
  CHECK(contains(again({"--format", "csv"}), "groups.0,groups.1,value"));
  CHECK(contains(again({"--format", "csv"}), ",A,0.75," + value + ","));
  CHECK(contains(again({}), "  ward     0.25  0.75\n"));  // as wide as "it's, C"
  CHECK(contains(again({"--verbose"}), "ward  "));
  const Result refused = ask({"release", "sum:age"});
  CHECK(refused.exit == 4);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  const Result dummy = bench.run({"release", "clinic", "quantile:age:0.9", "--epsilon", "0.5", "--dummy",
                                  "--policy", "policy.yaml", "--json"});
  CHECK(dummy.exit == 0);
  CHECK(json::parse(dummy.out).at("dummy") == true);
  CHECK(json::parse(dummy.out).at("rank_accuracy").size() == 1);
}

TEST_CASE(
    "counted: the command plans, releases, tells and verifies counts of cells, proportions and distinct "
    "values",
    "[cli][counted]") {
  const Workbench bench;
  const std::string policy = replaced(
      kClinicPolicy,
      "    budget:", "    allow: {statistics: [count, count_of, proportion, distinct]}\n    budget:");
  bench.init(replaced(policy, "[0, 500]}", "[0, 500], missing: 0}"));
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, "clinic");
    return bench.with_ledger(with(words, {"--epsilon", "0.1"}));
  };
  const json planned = json::parse(ask({"plan", "proportion:ward:A", "--json"}).out);
  check_members(planned, R"({"statistic": "proportion:ward:A", "post_processing": "proportion",
      "accuracy": []})");
  CHECK(planned.at("components")[0].at("statistic") == "rows_of_value");
  CHECK(planned.at("components")[0].at("accuracy").size() == 1);
  CHECK(contains(ask({"plan", "proportion:ward:A"}).out,
                 "of its exact counts of rows with the value and of other rows\n"));

  const json share = json::parse(ask({"release", "proportion:ward:A", "--json"}).out);
  CHECK(share.at("cells").is_null());
  CHECK(share.at("value").is_string());
  CHECK(share.at("interval").size() == 1);
  CHECK(contains(share.at("interval_of").get<std::string>(), "at least one row"));
  const json& drawn = share.at("components")[0];
  CHECK(drawn.at("value").is_null());
  REQUIRE(drawn.at("cells").size() == 2);
  check_members(drawn.at("cells")[0], R"({"rows": "value", "group": null})");
  CHECK(drawn.at("cells")[1].at("rows") == "other");
  const json shown = json::parse(bench.with_ledger({"show", share.at("decision_id"), "--json"}).out);
  CHECK(shown.at("components") == share.at("components"));
  CHECK(shown.at("interval") == share.at("interval"));

  const json by_ward = json::parse(ask({"release", "proportion:ward:A", "--by", "ward", "--json"}).out);
  const std::size_t wards = by_ward.at("cells").size();
  REQUIRE(by_ward.at("components")[0].at("cells").size() == 2 * wards);
  CHECK(by_ward.at("components")[0].at("cells")[3].at("group") == by_ward.at("cells")[1].at("group"));
  CHECK(by_ward.at("cells")[0].at("simultaneous").size() == 1);
  const Result told = ask({"release", "proportion:ward:A", "--by", "ward"});
  CHECK(told.exit == 0);
  CHECK(lines(told.out) > wards + 2);
  CHECK(ask({"release", "proportion:ward:A"}).exit == 0);

  const json count = json::parse(ask({"release", "count:age", "--json"}).out);
  CHECK(count.at("statistic") == "count:age");
  CHECK(count.at("components")[0].at("statistic") == "count");
  const json kinds = json::parse(ask({"release", "distinct:ward", "--json"}).out);
  CHECK(kinds.at("components")[0].at("statistic") == "distinct");
  CHECK(kinds.at("accuracy").size() == 1);

  const Result unknown = ask({"release", "proportion:ward:a"});
  check_ended(unknown, 2, "'a' is not among the values of column 'ward'");
  const Result forecast =
      bench.with_ledger({"forecast", "clinic", "proportion:ward:A", "--accuracy", "0.1", "--alpha", "0.05"});
  check_ended(forecast, 3, "is a quotient of two releases");
  CHECK(ask({"release", "sum:age"}).exit == 4);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  const Result dummy = bench.run({"release", "clinic", "proportion:ward:A", "--epsilon", "0.5", "--dummy",
                                  "--policy", "policy.yaml", "--json"});
  CHECK(dummy.exit == 0);
  CHECK(json::parse(dummy.out).at("components")[0].at("cells").size() == 2);

  // What a row cannot lack is not counted: nothing is recorded.
  const std::string before = dump(bench.path("L"));
  const Result pointless = ask({"release", "count:cost"});
  check_ended(pointless, 2, "the policy says what stands for a missing one; ask for count");
  CHECK(dump(bench.path("L")) == before);
}
