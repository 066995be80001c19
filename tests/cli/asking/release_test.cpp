// plan and release: budgets, keys, supplied values, groups and conditions, through the command.
#include "cli/workbench.hpp"
#include "epsilog/accounting/rational.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

Result release(const Workbench& bench, std::vector<std::string> words) {
  words.insert(words.begin(), "release");
  words.emplace_back("--json");
  return bench.with_ledger(words);
}

Rational number(const json& text) {
  return parse_rational(text.get<std::string>(), "number");
}

std::string remaining(const Workbench& bench) {
  return bench.with_ledger({"budget", "clinic", "--json"}).json()["accounts"][0]["remaining"];
}

}  // namespace

TEST_CASE("budget: ten releases of 0.1 spend exactly 1 and the eleventh is refused", "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  for (int i = 0; i < 10; ++i) {
    const Result result = release(bench, {"clinic", "count", "--epsilon", "0.1"});
    INFO(result.err);
    REQUIRE(result.exit == 0);
  }
  CHECK(remaining(bench) == "0");
  const Result eleventh = release(bench, {"clinic", "count", "--epsilon", "0.1"});
  CHECK(eleventh.exit == 4);
  const json answer = eleventh.json();
  CHECK(answer["decision"] == "refused");
  REQUIRE(answer["reasons"].size() == 1);
  const json& reason = answer["reasons"][0];
  check_members(reason, R"({"code": "dataset_budget_exceeded", "limit": "1", "spent": "1", "charge": "0.1",
      "over_by": "0.1", "fits": "0"})");
  CHECK(answer["value"].is_null());
  CHECK(answer["epsilon"]["charged"] == "0");
  // The smallest loss there is does not fit either.
  CHECK(release(bench, {"clinic", "count", "--epsilon", "1e-12"}).exit != 0);
}

TEST_CASE("budget: a third three times fits into 1, and what is left is what the grid rounded off",
          "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  for (int i = 0; i < 3; ++i) {
    const json answer = release(bench, {"clinic", "units", "--epsilon", "1/3"}).json();
    CHECK(answer["decision"] == "granted");
    check_members(answer["epsilon"], R"({"requested": "1/3", "charged": "0.333333333333"})");
  }
  CHECK(remaining(bench) == "0.000000000001");
  CHECK(release(bench, {"clinic", "units", "--epsilon", "1/3"}).exit == 4);
}

TEST_CASE("refusal: says on standard error limit, spent, asked, over by and what fits", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(release(bench, {"clinic", "count", "--epsilon", "0.75"}).exit == 0);
  const Result result = bench.with_ledger({"release", "clinic", "sum:cost", "--epsilon", "0.5", "--verbose"});
  CHECK(result.exit == 4);
  CHECK(result.out.empty());
  CAPTURE(result.err);
  check_parts(result.err, {"refused: sum:cost of clinic", "dataset_budget_exceeded", "largest that fits"});
  for (const char* amount : {"1", "0.75", "0.5", "0.25"})
    CHECK(contains(result.err, std::string(" ") + amount));
  // It was recorded, cost nothing, and does not retire the account.
  CHECK(remaining(bench) == "0.25");
  CHECK(release(bench, {"clinic", "sum:cost", "--epsilon", "0.25"}).exit == 0);
  CHECK(lines(decisions_of(bench.with_ledger({"history", "--json"}).out)) == 3);
}

TEST_CASE("plan: shows cost and accuracy, ends with 0 or 4, and records nothing", "[cli]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  const Result fits = bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1", "--alpha", "0.01"});
  CHECK(fits.exit == 0);
  check_parts(fits.out, {"would be granted", "99 % confidence"});
  const Result refused = bench.with_ledger({"plan", "clinic", "count", "--epsilon", "1.5"});
  CHECK(refused.exit == 4);
  check_parts(refused.out, {"would be refused", "dataset_budget_exceeded"});
  CHECK(dump(bench.path("L")) == before);
  CHECK(bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1", "--quiet"}).out.empty());
}

TEST_CASE("plan: the release that follows has the mechanism and accuracy that were announced",
          "[cli][overlap]") {
  const Workbench bench(kClinicPolicy);
  for (const char* statistic : {"count", "units", "sum:cost", "mean:age", "histogram:ward"}) {
    CAPTURE(statistic);
    const json plan = bench.with_ledger({"plan", "clinic", statistic, "--epsilon", "0.1", "--json"}).json();
    const json answer = release(bench, {"clinic", statistic, "--epsilon", "0.1"}).json();
    for (const char* field : {"mechanism", "arithmetic", "precision", "sensitivity", "bound", "scale", "grid",
                              "accuracy", "epsilon", "statistic", "dataset", "policy_version"}) {
      CAPTURE(field);
      CHECK(plan[field] == answer[field]);
    }
  }
}

TEST_CASE("key: the same question again returns the same answer and costs nothing", "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::string> question = {"clinic", "sum:cost", "--epsilon", "0.25", "--key", "report"};
  const json first = release(bench, question).json();
  CHECK(first["replayed"] == false);
  const std::string after_first = remaining(bench);
  const Result again = release(bench, question);
  CHECK(again.exit == 0);
  const json second = again.json();
  CHECK(second["replayed"] == true);
  for (const char* field :
       {"decision_id", "value", "value_decimal", "value_hex", "created_at", "epsilon", "accounts"}) {
    CAPTURE(field);
    CHECK(second[field] == first[field]);
  }
  CHECK(remaining(bench) == after_first);
  CHECK(lines(decisions_of(bench.with_ledger({"history", "--json"}).out)) == 1);
}

TEST_CASE("key: another question under it is refused, and another principal's key is another key",
          "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const json first =
      release(bench, {"clinic", "count", "--epsilon", "0.1", "--key", "k", "--as", "ann"}).json();
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"clinic", "units", "--epsilon", "0.1"},
        {"clinic", "count", "--epsilon", "0.2"},
        {"clinic", "count", "--epsilon", "0.1", "--by", "ward"},
        {"clinic", "count", "--epsilon", "0.1", "--where", "age > 65"}}) {
    const Words words = with(other, {"--key", "k", "--as", "ann"});
    const Result result = release(bench, words);
    CHECK(result.exit == 4);
    CHECK(result.json()["reasons"][0]["code"] == "key_conflict");
  }
  const json bob =
      release(bench, {"clinic", "count", "--epsilon", "0.1", "--key", "k", "--as", "bob"}).json();
  check_members(bob, R"({"decision": "granted", "replayed": false})");
  CHECK(bob["decision_id"] != first["decision_id"]);
  CHECK(remaining(bench) == "0.8");
}

TEST_CASE("key: a refusal stays bound to it even after the budget was raised", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::string> question = {"clinic", "count", "--epsilon", "1.5", "--key", "big"};
  const Result first = release(bench, question);
  CHECK(first.exit == 4);
  bench.write("policy.yaml", replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 2}"));
  REQUIRE(bench.with_ledger({"policy", "apply", "policy.yaml", "--why", "more"}).exit == 0);
  const Result again = release(bench, question);
  CHECK(again.exit == 4);
  CHECK(again.json()["replayed"] == true);
  CHECK(again.json()["decision_id"] == first.json()["decision_id"]);
  CHECK(release(bench, {"clinic", "count", "--epsilon", "1.5", "--key", "other"}).exit == 0);
}

TEST_CASE("value: a query computed elsewhere takes --value, also from standard input", "[cli]") {
  const Workbench bench(kClinicPolicy);
  const Result given = release(bench, {"clinic", "value:auc", "--epsilon", "0.1", "--value", "0.75"});
  CHECK(given.exit == 0);
  CHECK(given.json()["statistic"] == "value:auc");
  Streams piped;
  piped.input = "  0.75 \n";
  const Result read =
      bench.with_ledger({"release", "clinic", "value:auc", "--epsilon", "0.1", "--value", "-"}, piped);
  CHECK(read.exit == 0);
  for (const char* value : {"-3", "nan", "-inf", "1e50", "3/4"}) {
    CAPTURE(value);
    CHECK(release(bench, {"clinic", "value:auc", "--epsilon", "0.01", "--value", value}).exit == 0);
  }
}

TEST_CASE("value: the same key with another --value replays the stored answer", "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  const auto ask = [&](const char* value) {
    return release(bench, {"clinic", "value:auc", "--epsilon", "0.1", "--key", "auc-1", "--value", value})
        .json();
  };
  const json first = ask("0.25");
  const json second = ask("0.99");
  CHECK(second["replayed"] == true);
  CHECK(second["value"] == first["value"]);
  CHECK(second["decision_id"] == first["decision_id"]);
  CHECK(remaining(bench) == "0.9");
}

TEST_CASE("value: absent or out of place it is refused, and never repeated", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"release", "clinic", "value:auc", "--epsilon", "0.1"},
        {"release", "clinic", "value:auc", "--epsilon", "0.1", "--value"},
        {"release", "clinic", "count", "--epsilon", "0.1", "--value", "31415"},
        {"plan", "clinic", "value:auc", "--epsilon", "0.1", "--value", "31415x"}}) {
    for (const bool as_json : {false, true}) {
      std::vector<std::string> all = words;
      if (as_json) all.insert(all.begin() + 1, "--json");
      all.insert(all.begin() + 1, {"--ledger", "L"});
      const Result result = bench.run(all);
      CAPTURE(all, result.err);
      check_ended(result, 2, "--value");
      CHECK_FALSE(contains(result.err + result.out, "31415"));
    }
  }
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("value: whatever is no number costs as usual and looks like any other", "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  // All that differs between two releases of as much: who, when and the noise.
  const auto public_part = [](json answer) {
    for (const char* field : {"decision_id", "seq", "created_at", "log", "value", "value_decimal",
                              "value_hex", "interval", "accounts", "budget", "same_question"}) {
      answer.erase(field);
    }
    for (json& component : answer["components"]) {
      for (const char* field : {"value", "value_decimal", "value_hex", "cells"}) component.erase(field);
    }
    return answer;
  };
  const std::vector<std::string> texts = {"0.5",     "",        "NA",
                                          "None",    "null",    "<NA>",
                                          "\u221e",  "inf",     "nan",
                                          "1.#QNAN", "31415x",  "--31415",
                                          "3,1415",  "0x31415", "1\n2",
                                          "\xff",    "-",       "{}",
                                          "[1,2]",   "%%",      "--json",
                                          "@L",      "--",      "-h",
                                          "1e",      "\x01",    std::string(100'000, 'x')};
  json first;
  int asked = 0;
  const auto check = [&](const std::string& text, const std::vector<std::string>& value,
                         const Streams& streams) {
    const Words words = with({"release", "clinic", "value:auc", "--epsilon", "0.01", "--json"}, value);
    const Result result = bench.with_ledger(words, streams);
    CAPTURE(text.substr(0, 60), result.err);
    REQUIRE(result.exit == 0);
    CHECK(result.err.empty());
    CHECK_FALSE(contains(result.out, "31415"));
    const json answer = public_part(result.json());
    if (asked++ == 0) first = answer;
    CHECK(answer == first);
  };
  for (const std::string& text : texts) {
    if (text != "-") check(text, {"--value=" + text}, {});
    Streams piped;
    piped.input = text;
    check(text, {"--value", "-"}, piped);
  }
  Streams piped;
  for (const std::string& input :
       {std::string("0.5\0", 4), std::string("\0", 1), std::string(20'000'000, '5')}) {
    piped.input = input;
    check(input, {"--value", "-"}, piped);
  }
  CHECK(asked == 56);
  CHECK(remaining(bench) == "0.44");
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("value: standard input that cannot be read is the only error, and nothing is asked",
          "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  Streams closed;
  closed.close_input = true;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"release", "clinic", "value:auc", "--epsilon", "0.1"},
        {"commit", "01HV5Y3K9QZ8T7W6R5N4M3J2XA"}}) {
    const Words all = with(words, {"--value", "-", "--json"});
    const Result result = bench.with_ledger(all, closed);
    CAPTURE(all, result.err);
    CHECK(result.exit == 7);
    CHECK(result.json()["error"]["code"] == "input");
    CHECK(result.err == "epsilog: --value -: standard input could not be read; nothing was asked\n");
  }
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("value: the true answer is in no file of the ledger and in no output", "[cli]") {
  const Workbench bench(kClinicPolicy);
  // A value with so many digits that the noisy answer, a multiple of the grid, cannot have them.
  const std::string secret = "0.123456789123456789";
  const Result result =
      release(bench, {"clinic", "value:auc", "--epsilon", "0.5", "--key", "k", "--value", secret});
  REQUIRE(result.exit == 0);
  std::string everything = result.out + result.err + bench.with_ledger({"history", "--json"}).out;
  for (const std::string& file : bench.files()) everything += bench.read(file);
  CHECK_FALSE(contains(everything, "123456789123456789"));
}

TEST_CASE("by: one cell for each declared value, in declared order", "[cli]") {
  const Workbench bench(kClinicPolicy);
  const json by = release(bench, {"clinic", "count", "--by", "ward", "--epsilon", "0.1"}).json();
  const json histogram = release(bench, {"clinic", "histogram:ward", "--epsilon", "0.1"}).json();
  for (const json& answer : {by, histogram}) {
    check_members(answer, R"({"statistic": "count", "by": "ward", "value": null})");
    REQUIRE(answer["cells"].size() == 3);
    CHECK(answer["cells"][0]["group"] == "A");
    CHECK(answer["cells"][1]["group"] == "B");
    CHECK(answer["cells"][2]["group"] == "it's, C");
    const Rational centre = number(answer["components"][0]["centre"]);
    for (const json& cell : answer["cells"]) {
      const Rational from_centre = number(cell["value"]) - centre;
      const Rational steps = from_centre / number(answer["grid"]);
      CHECK((steps.get_den() == 1 || abs(from_centre) == number(answer["bound"])));
      CHECK(abs(from_centre) <= number(answer["bound"]));
    }
  }
  CHECK(remaining(bench) == "0.8");
}

TEST_CASE(
    "where: what no row can satisfy ends with 2 before anything is recorded, what is on record is answered",
    "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  const auto refused = [&](std::vector<std::string> words, const std::string& where, const std::string& why) {
    words.insert(words.end(), {"--where", where});
    const Result result = bench.with_ledger(words);
    CAPTURE(words, result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(result.err == "epsilog: where: " + why + "\n");
  };
  for (const char* verb : {"release", "reserve", "plan", "forecast"}) {
    refused(
        {verb, "clinic", "count", "--epsilon", "0.1"}, "age > 5 and age < 3",
        "no row satisfies age > 5 and age < 3, whatever is in the data: the comparisons with column 'age' "
        "contradict each other");
    refused({verb, "clinic", "count", "--epsilon", "0.1"}, "ward = 'a'",
            "'a' is not among the values of column 'ward' (did you mean 'A'?)");
    refused({verb, "clinic", "count", "--epsilon", "0.1"}, "ward in ('A', 'its, C')",
            "'its, C' is not among the values of column 'ward' (did you mean 'it''s, C'?)");
    refused({verb, "clinic", "count", "--epsilon", "0.1"}, "ward != 'X'",
            "'X' is not among the values of column 'ward' (they are 'A', 'B', 'it''s, C')");
  }
  bench.write("batch.csv", "where\nage > 5 and age < 3\nage > 500\n");
  const Result batch =
      bench.with_ledger({"plan", "--batch", "batch.csv", "clinic", "count", "--epsilon", "0.1"});
  CHECK(contains(batch.out, "no row satisfies age > 5 and age < 3"));
  CHECK(batch.exit == 4);
  CHECK(dump(bench.path("L")) == before);
  // Bounds are no such fact.
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--where", "age > 500"}).exit ==
        0);
}

TEST_CASE("release: an earlier answer to the same question is named, and the release goes on", "[cli]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::string> question{"release", "clinic", "count", "--epsilon", "0.1", "--as", "ann"};
  const auto asked = [&](const std::vector<std::string>& more) {
    return bench.with_ledger(with(question, more));
  };
  const Result first = asked({"--json"});
  CHECK(first.json()["same_question"].is_null());
  const std::string id = first.json()["decision_id"];
  const std::string note =
      "epsilog: note: the same question was answered as " + id + "; 'epsilog show " + id + "' is free\n";
  const Result planned = bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1", "--as", "ann"});
  CHECK(planned.err == note);
  const Result second = asked({});
  CHECK(second.exit == 0);
  CHECK(second.err == note);
  CHECK(asked({"--json"}).json()["same_question"] != id);  // the second one now
  CHECK(asked({"--json"}).err.empty());
  CHECK(asked({"--quiet"}).err.empty());
  // Another request, asker or key is not the same question.
  CHECK(asked({"--where", "age > 5"}).err.empty());
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--as", "bob"}).err.empty());
  CHECK(asked({"--key", "k"}).err.empty());
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("where: quoted strings, dates and lists are accepted and shown in canonical form", "[cli]") {
  const Workbench bench(kClinicPolicy);
  const json answer = release(bench, {"clinic", "count", "--epsilon", "0.1", "--where",
                                      "age>65   and ward in ('A','it''s, C')"})
                          .json();
  CHECK(answer["decision"] == "granted");
  CHECK(answer["where"] == "age > 65 and ward in ('A', 'it''s, C')");
  // The same question in other words is the same question.
  const json a =
      release(bench, {"clinic", "units", "--epsilon", "0.1", "--key", "w", "--where", "age > 65"}).json();
  const json b =
      release(bench, {"clinic", "units", "--epsilon", "0.1", "--key", "w", "--where", "age>65.0"}).json();
  CHECK(b["replayed"] == true);
  CHECK(b["decision_id"] == a["decision_id"]);
}

TEST_CASE("where: or, not, between, is missing and parentheses are accepted and told at the same place",
          "[cli][condition]") {
  const Workbench bench(kClinicPolicy);
  const auto asked = [&](const std::string& where) {
    return bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--where", where, "--json"});
  };
  const json answer = asked("NOT (age between 18 and 65 OR ward='A') or age is missing").json();
  CHECK(answer["decision"] == "granted");
  CHECK(answer["where"] == "(age < 18 or age > 65) and ward != 'A' or age is missing");
  CHECK(bench.with_ledger({"show", answer["decision_id"], "--json"}).json()["where"] == answer["where"]);
  const std::size_t history = decisions_of(bench.with_ledger({"history", "--json"}).out).size();
  for (const auto& [where, why] : std::vector<std::pair<std::string, std::string>>{
           {"age > 5 or", "at character 11: expected a column name"},
           {"(age > 5 or age < 3", "at character 20: expected 'and', 'or' or ')'"},
           {"missing = 3", "at character 1: expected a column name (quote it as \"missing\")"},
           {std::string(33, '(') + "age = 1" + std::string(33, ')'),
            "at character 33: expected at most 32 parentheses within one another (`between` is one)"},
           {"age is missing and age > 5",
            "no row satisfies age is missing and age > 5, whatever is in the data: the comparisons with "
            "column "
            "'age' contradict each other"}}) {
    CAPTURE(where);
    const Result result = asked(where);
    CHECK(result.exit == 2);
    CHECK(result.json()["error"]["message"] == "where: " + why);
  }
  CHECK(decisions_of(bench.with_ledger({"history", "--json"}).out).size() == history);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("mean of a private number of rows: two components, charged once, nothing single on top",
          "[cli][exact]") {
  const Workbench bench(kClinicPolicy);
  const json answer = release(bench, {"clinic", "mean:cost", "--epsilon", "0.2"}).json();
  REQUIRE(answer["components"].size() == 2);
  CHECK(number(answer["components"][0]["epsilon"]) + number(answer["components"][1]["epsilon"]) ==
        Rational(1, 5));
  for (const char* field : {"scale", "grid", "bound"}) {
    CHECK(answer[field].is_null());
    for (const json& component : answer["components"]) CHECK(component[field].is_string());
  }
  CHECK(answer["accuracy"].empty());
  // value = clamp(c + S / max(C, 1)), c the midpoint of [0, 500].
  const Rational sum = number(answer["components"][0]["value"]);
  const Rational count = number(answer["components"][1]["value"]);
  Rational expected = Rational(250) + sum / (count > 1 ? count : Rational(1));
  if (expected < 0) expected = 0;
  if (expected > 500) expected = 500;
  CHECK(number(answer["value"]) == expected);
  CHECK(remaining(bench) == "0.8");
}

TEST_CASE("arithmetic: the policy's choice of exact or mpfr shows in the answer", "[cli]") {
  const std::string policy = std::string(kClinicPolicy) +
                             "    release:\n"
                             "      default: {arithmetic: mpfr}\n"
                             "      sum: {arithmetic: exact}\n";
  const Workbench bench(policy);
  const json mpfr = release(bench, {"clinic", "count", "--epsilon", "0.1"}).json();
  CHECK(mpfr["arithmetic"] == "mpfr");
  CHECK(mpfr["precision"].get<int>() >= 118);
  CHECK(mpfr["epsilon"]["published"].is_string());
  CHECK(number(mpfr["epsilon"]["adjusted"]) <= Rational(1, 10));
  const json exact = release(bench, {"clinic", "sum:cost", "--epsilon", "0.1"}).json();
  check_members(exact, R"({"arithmetic": "exact", "precision": null})");
  check_members(exact["epsilon"], R"({"published": null, "adjusted": "0.1"})");
  // D/epsilon = 2 * 500 / 0.1.
  check_members(exact, R"({"scale": "10000", "grid": "16384"})");
}

TEST_CASE("names: unknown dataset, column, query, id and a statistic without bounds end with 3",
          "[cli][negative]") {
  const Workbench bench(replaced(kClinicPolicy, "    columns:\n", "    columns:\n      free: {type: int}\n"));
  const std::string before = dump(bench.path("L"));
  const auto check = [&](const std::vector<std::string>& words, const std::string& part) {
    const Result result = bench.with_ledger(words);
    CAPTURE(words, result.err);
    CHECK(result.exit == 3);
    CHECK(result.out.empty());
    CHECK(lines(result.err) == 1);
    CHECK(contains(result.err, part));
  };
  for (const char* verb : {"plan", "release"}) {
    check({verb, "clinik", "count", "--epsilon", "0.1"}, "clinic");
    check({verb, "clinic", "sum:cots", "--epsilon", "0.1"}, "cost");
    check({verb, "clinic", "count", "--by", "wrad", "--epsilon", "0.1"}, "ward");
    check({verb, "clinic", "count", "--where", "aeg > 3", "--epsilon", "0.1"}, "age");
    check({verb, "clinic", "sum:free", "--epsilon", "0.1"}, "bounds");
    check({verb, "clinic", "variance:free", "--epsilon", "0.1"}, "to bound its variance");
    check({verb, "clinic", "count", "--by", "age", "--epsilon", "0.1"}, "values");
  }
  check({"release", "clinic", "value:acu", "--value", "1", "--epsilon", "0.1"}, "auc");
  check({"budget", "clinik"}, "clinic");
  check({"history", "clinik"}, "clinic");
  check({"data", "check", "clinik"}, "clinic");
  check({"show", "01HV5Y3K9QZ8T7W6R5N4M3J2XA"}, "01HV5Y3K9QZ8T7W6R5N4M3J2XA");
  check({"show", "nonsense"}, "nonsense");
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("source: a wrong shape ends with 3 and charges nothing", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  bench.write("visits.csv", "patient,age,ward\np1,3,A\n");
  const Result no_column = bench.with_ledger({"release", "clinic", "sum:cost", "--epsilon", "0.1"});
  check_ended(no_column, 3, "cost");
  std::filesystem::remove(bench.path("visits.csv"));
  const Result no_file = bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1"});
  check_ended(no_file, 3, "visits.csv");
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("source: no file of the ledger is one, whatever it is called", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(release(bench, {"clinic", "count", "--epsilon", "0.1"}).exit == 0);
  std::filesystem::remove(bench.path("visits.csv"));
  for (const char* suffix : {"", ".lock"}) {
    std::filesystem::create_symlink(bench.path("L") + suffix, bench.path("visits.csv"));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"release", "clinic", "count", "--epsilon", "0.1"}, {"data", "check"}}) {
      const Result result = bench.with_ledger(words);
      CAPTURE(suffix, words, result.err);
      check_ended(result, 3, "belongs to the ledger");
    }
    std::filesystem::remove(bench.path("visits.csv"));
  }
  CHECK(remaining(bench) == "0.9");
}

TEST_CASE("source: a table damaged beyond its first row ends with 7, charges nothing and quotes nothing",
          "[cli][negative]") {
  const Workbench bench(replaced(kClinicPolicy, "{csv: visits.csv}", "{sqlite: visits.db, table: visits}"));
  bench.write("visits.db", "");
  tamper(bench.path("visits.db"),
         "CREATE TABLE visits(patient, age, cost, ward);"
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
         "INSERT INTO visits SELECT 'secret' || i, 3, hex(zeroblob(1000)), 'A' FROM n");
  REQUIRE(release(bench, {"clinic", "count", "--epsilon", "0.1"}).exit == 0);
  std::string content = bench.read("visits.db");
  content.replace(40 * 4096, 4096, std::string(4096, '\xff'));
  bench.write("visits.db", content);
  const Result result = release(bench, {"clinic", "count", "--epsilon", "0.1"});
  CHECK(result.exit == 7);
  CHECK(result.json()["error"]["code"] == "source_io");
  CHECK(result.err ==
        "epsilog: the data source could not be read to its end (a damaged file, an input error or too little "
        "memory); nothing was released\n");
  CHECK(bench.with_ledger({"data", "check"}).err == result.err);
  CHECK(remaining(bench) == "0.9");
}
