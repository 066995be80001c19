// Budgets of many scopes through the command: what is printed of them, and who is told what.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::string kPolicy = policy_text("scopes.yaml");

Result ask(const Workbench& bench, const std::string& who, const std::string& epsilon,
           const std::vector<std::string>& more = {"--json"}) {
  std::vector<std::string> words{"release", "clinic", "value:auc", "--value",   "0.5",     "--epsilon",
                                 epsilon,   "--as",   who,         "--purpose", "planning"};
  words.insert(words.end(), more.begin(), more.end());
  return bench.with_ledger(words);
}

json account(const json& accounts, const std::string& scope) {
  for (const json& one : accounts) {
    const auto name = one.at("scope").get<std::string>();
    if (name == scope || (!scope.empty() && scope.back() == ':' && name.starts_with(scope))) return one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("scopes: a release reports every account it touched, with its filter and the theorem",
          "[cli][scopes]") {
  const Workbench bench(kPolicy);
  const Result result = ask(bench, "alice", "0.2");
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const json answer = result.json();
  CHECK(answer.at("purpose").get<std::string>() == "planning");
  CHECK(answer.at("unit").get<std::string>() == "row");
  CHECK(answer.at("neighbours").get<std::string>() == "replace-one");
  REQUIRE(answer.at("accounts").size() == 3);
  CHECK(account(answer.at("accounts"), "period:").at("spent").get<std::string>() == "0.2");
  CHECK(account(answer.at("accounts"), "principal:alice").at("remaining").get<std::string>() == "0.1");
  const json role = account(answer.at("accounts"), "role:research");
  CHECK(role.at("measure").get<std::string>() == "rho");
  CHECK(role.at("spent").get<std::string>() == "0.02");
  CHECK(role.at("kind").get<std::string>() == "filter");
  CHECK(contains(role.at("theorem").get<std::string>(), "zCDP"));
  REQUIRE(answer.at("notes").size() == 1);
  CHECK(contains(answer.at("notes")[0].get<std::string>(), "no lifetime budget"));

  const std::string shown = bench.with_ledger({"budget"}).out;
  check_parts(shown, {"principal:bob", "no lifetime budget"});
  CHECK(contains(bench.with_ledger({"budget", "--json"}).json().at("notes")[0].get<std::string>(), "clinic"));
}

TEST_CASE("scopes: a refusal says of every scope what is asked, what fits and when that changes",
          "[cli][scopes][negative]") {
  const Workbench bench(kPolicy);
  REQUIRE(ask(bench, "alice", "0.2").exit == 0);
  const Result refused = ask(bench, "alice", "0.6");
  CHECK(refused.exit == 4);
  const json reasons = refused.json().at("reasons");
  REQUIRE(reasons.size() == 3);
  CHECK(reasons[0].at("code").get<std::string>() == "dataset_budget_exceeded");
  CHECK(contains(reasons[0].at("changes_at").get<std::string>(), "-01T00:00:00.000Z"));
  CHECK(reasons[1].at("code").get<std::string>() == "principal_limit_exceeded");
  CHECK(reasons[1].at("fits").get<std::string>() == "0.1");
  CHECK(reasons[1].at("changes_at").is_null());
  CHECK(reasons[1].at("reserved").get<std::string>() == "0");
  CHECK(reasons[2].at("code").get<std::string>() == "role_limit_exceeded");
  CHECK(reasons[2].at("charge").get<std::string>() == "0.18");
  CHECK(reasons[2].at("fits").get<std::string>() == "0.08");
  const std::string text = ask(bench, "alice", "0.6", {}).err;
  check_parts(text, {"a new period begins at", "principal:alice"});
}

TEST_CASE("scopes: whoever may not ask is told so and nothing else", "[cli][scopes][negative]") {
  const Workbench bench(kPolicy);
  const Result stranger = ask(bench, "mallory", "9");
  CHECK(stranger.exit == 4);
  REQUIRE(stranger.json().at("reasons").size() == 1);
  CHECK(stranger.json().at("reasons")[0].at("code").get<std::string>() == "principal_not_allowed");
  // Nor how the question would be answered, and what it would cost.
  for (const char* of_plan : {"mechanism", "sensitivity", "bound", "grid", "cells", "unit", "neighbours"}) {
    CAPTURE(of_plan);
    CHECK(stranger.json().at(of_plan).is_null());
  }
  CHECK(stranger.json().at("components").empty());
  CHECK(stranger.json().at("accounts").empty());
  const Result purpose = bench.with_ledger(
      {"plan", "clinic", "value:auc", "--epsilon", "9", "--as", "bob", "--purpose", "quality", "--json"});
  CHECK(purpose.exit == 4);
  REQUIRE(purpose.json().at("reasons").size() == 1);
  CHECK(purpose.json().at("reasons")[0].at("code").get<std::string>() == "purpose_not_allowed");
}

TEST_CASE("scopes: whoever may not ask is told the same of every question, by every verb that asks one",
          "[cli][scopes][negative]") {
  const Workbench bench(kPolicy);
  const std::vector<std::vector<std::string>> verbs{
      {"release", "clinic", "?", "--epsilon", "1"},
      {"release", "clinic", "?", "--epsilon", "1", "--dummy", "--policy", "policy.yaml"},
      {"release", "clinic", "--batch", "rows.csv", "--purpose", "planning"},
      {"release", "clinic", "--batch", "accurate.csv", "--alpha", "0.05"},
      {"reserve", "clinic", "?", "--epsilon", "1"},
      {"plan", "clinic", "?", "--epsilon", "1"},
      {"plan", "clinic", "?", "--epsilon", "1", "--compare"},
      {"plan", "clinic", "?", "--epsilon", "1", "--count", "3"},
      {"plan", "clinic", "--batch", "rows.csv", "--together"},
      {"forecast", "clinic", "?", "--epsilon", "1"},
      {"forecast", "clinic", "?", "--count", "3"},
      {"forecast", "clinic", "?", "--accuracy", "5", "--assume-count", "100"},
  };
  const auto asked = [&](const std::vector<std::string>& verb, const std::string& question) {
    bench.write("rows.csv", "statistic,epsilon\ncount,1\n" + question + ",1\n");
    bench.write("accurate.csv", "statistic,accuracy\ncount,5\n" + question + ",5\n");
    std::vector<std::string> words = verb;
    std::replace(words.begin(), words.end(), std::string("?"), question);
    words.insert(words.end(), {"--as", "mallory"});
    const bool dummy = std::count(words.begin(), words.end(), "--dummy") > 0;
    const Result result = dummy ? bench.run(words) : bench.with_ledger(words);
    std::istringstream lines(result.out + result.err);
    std::string told = std::to_string(result.exit) + "\n";
    for (std::string line; std::getline(lines, line);) {
      if (!contains(line, "decision ")) told += line + "\n";  // its id and time
    }
    return told;
  };
  for (const auto& verb : verbs) {
    const std::string known = asked(verb, "sum:cost");
    CAPTURE(verb.front(), verb.back(), known);
    CHECK(known.starts_with(contains(known, "refused") || contains(known, "never fits") ? "4" : "3"));
    CHECK(contains(known, "'mallory' is not among"));
    for (const char* const hint : {"cost", "bounds", "zcdp", "snapping"}) CHECK_FALSE(contains(known, hint));
    CHECK(asked(verb, "sum:nothing") == known);
    CHECK(asked(verb, "count") == known);
  }
}

TEST_CASE("scopes: policy apply says of each limit that changed which scope it is of", "[cli][scopes]") {
  const Workbench bench(kPolicy);
  REQUIRE(ask(bench, "alice", "0.2").exit == 0);
  bench.write("larger.yaml", replaced(replaced(kPolicy, "principal, epsilon: 0.3", "principal, epsilon: 0.4"),
                                      "{epsilon: 0.5, renew", "{epsilon: 0.6, renew"));
  const Result applied = bench.with_ledger({"policy", "apply", "larger.yaml", "--why", "asked for"});
  INFO(applied.err);
  REQUIRE(applied.exit == 0);
  check_parts(applied.out, {"clinic principal:alice", "clinic principal:bob", "clinic period:"});
}

TEST_CASE("scopes: while the calendar is held a refusal does not say when a period ends",
          "[cli][scopes][clock]") {
  const Workbench bench(kPolicy);
  const auto changes_at = [&bench] {
    return ask(bench, "alice", "9").json().at("reasons")[0].at("changes_at");
  };
  CHECK(changes_at().is_string());
  CHECK(contains(ask(bench, "alice", "9", {}).err, "a new period begins at"));
  // As if the clock had been set forwards a day since the ledger was made.
  tamper(bench.path("L"), "UPDATE meta SET boot_offset = boot_offset - 86400000");
  CHECK(changes_at().is_null());
  CHECK_FALSE(contains(ask(bench, "alice", "9", {}).err, "a new period begins at"));
  REQUIRE(bench.with_ledger({"clock", "confirm", "--as", "curator"}).exit == 0);
  CHECK(changes_at().is_string());
}

TEST_CASE("scopes: the purpose belongs to the request that a key names", "[cli][scopes]") {
  const Workbench bench(kPolicy);
  REQUIRE(ask(bench, "alice", "0.1", {"--key", "k"}).exit == 0);
  const Result other =
      bench.with_ledger({"release", "clinic", "value:auc", "--value", "0.5", "--epsilon", "0.1", "--as",
                         "alice", "--purpose", "quality", "--key", "k", "--json"});
  CHECK(other.exit == 4);
  CHECK(other.json().at("reasons")[0].at("code").get<std::string>() == "key_conflict");
}

TEST_CASE("audit replay: every decision comes out the same, and one that was changed does not",
          "[cli][scopes][audit]") {
  const Workbench bench(kPolicy);
  REQUIRE(ask(bench, "alice", "0.2").exit == 0);
  REQUIRE(ask(bench, "bob", "0.9").exit == 4);
  REQUIRE(ask(bench, "bob", "0.1").exit == 0);

  const Result same = bench.with_ledger({"audit", "replay", "--json"});
  INFO(same.out);
  CHECK(same.exit == 0);
  std::vector<json> lines;
  std::istringstream stream(same.out);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  REQUIRE(lines.size() == 4);
  const json policy = bench.with_ledger({"policy", "show", "--json"}).json();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lines[i].at("same").get<bool>());
    CHECK(lines[i].at("policy_sha256") == policy.at("policy_sha256"));
  }
  CHECK(lines[1].at("outcome").get<std::string>() == "refused");
  CHECK(lines[3].at("same").get<int>() == 3);
  CHECK(contains(bench.with_ledger({"audit", "replay"}).out, "3 of 3 the same"));

  tamper(bench.path("L"),
         "DROP TRIGGER decision_no_update; UPDATE decision SET reasons = "
         "replace(reasons, '\"limit\":\"0.5\"', '\"limit\":\"0.6\"') WHERE seq = 2");
  const Result changed = bench.with_ledger({"audit", "replay"});
  CHECK(changed.exit == 6);
  check_parts(changed.out, {"differs", "2 of 3 the same"});
}
