// budget, history and show in the name of somebody, and what waits for approvals.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::string kSeenPolicy = policy_text("seen_as.yaml");

/// The accounts that are told, "quarter" for that of any period.
std::string scopes_told(const json& accounts) {
  std::string text;
  for (const json& account : accounts) {
    const auto scope = account["scope"].get<std::string>();
    text += (text.empty() ? "" : " ") + (scope.starts_with("period:") ? "quarter" : scope);
  }
  return text;
}

}  // namespace

TEST_CASE("as: budget, history and show tell each principal what a daemon would, and all without a name",
          "[cli][scopes]") {
  const Workbench bench(kSeenPolicy);
  const auto release = [&](const std::string& who, const std::string& epsilon, int exit) {
    return run_json(bench, {"release", "clinic", "count", "--epsilon", epsilon, "--as", who},
                    exit)["decision_id"]
        .get<std::string>();
  };
  const std::string granted = release("alice", "0.1", 0), others = release("bob", "0.1", 0);
  const std::string waits = release("alice", "0.5", 5);
  for (const CaseRow& row : cli_table("asking/seen_as.tsv")) {
    CAPTURE(row);
    const Words as = row.at(0).empty() ? Words{} : Words{"--as", row.at(0)};
    const auto run = [&](const Words& words) { return bench.with_ledger(with(with(words, as), {"--json"})); };
    const Result budget = run({"budget"});
    CHECK((budget.exit == 0 ? scopes_told(budget.json()["accounts"]) : std::to_string(budget.exit)) ==
          row.at(1));
    const Result history = run({"history"});
    std::string listed = history.exit == 0 ? "" : " " + std::to_string(history.exit);
    for (const json& line : json_lines(history.exit == 0 ? history.out : ""))
      listed += line.contains("events")   ? " events"
                : line["value"].is_null() ? " " + line["principal"].get<std::string>() + "-"
                                          : " " + line["principal"].get<std::string>() + "+";
    CHECK(listed == (row.at(2).empty() ? "" : " " + row.at(2)));
    std::string shown;
    for (const std::string& id : {granted, others, waits}) {
      const Result one = run({"show", id});
      shown += (shown.empty() ? "" : " ") + (one.exit != 0                   ? std::to_string(one.exit)
                                             : one.json()["value"].is_null() ? "no"
                                                                             : "value");
    }
    CHECK(shown == row.at(3));
  }
  check_ended(bench.with_ledger({"budget", "--as", "alise"}), 3,
              "the active policy declares no principal 'alise' (did you mean 'alice'?)");
  for (const char* verb : {"budget", "history"})
    check_ended(bench.with_ledger({verb, "clinic", "--as", "carol"}), 3, "none of that name for you");
  CHECK(
      contains(bench.with_ledger({"show", granted, "--as", "eve"}).out, "not shown to those who do not see"));
  CHECK(bench.with_ledger({"history", "--by-asker", "bob", "--as", "alice", "--quiet"}).out.empty());
  CHECK(run_json(Workbench(kClinicPolicy), {"budget", "--as", "anybody"})["accounts"].size() == 1);
}

TEST_CASE("waiting: what waits for approvals shows the accounts that its plan shows, opened or not",
          "[cli][requests]") {
  const Workbench bench(kSeenPolicy);
  const Words question{"clinic", "count", "--epsilon", "0.5", "--as", "alice"};
  const auto told = [&](const char* verb, int exit) { return run_json(bench, with({verb}, question), exit); };
  const json planned = told("plan", 5)["accounts"];
  REQUIRE(scopes_told(planned) == "quarter lifetime principal:alice");
  const json waits = told("release", 5);
  CHECK(waits["accounts"] == planned);
  const std::string id = waits["decision_id"];
  CHECK(run_json(bench, {"show", id})["accounts"] == planned);
  CHECK(json_lines(bench.with_ledger({"pending", "--json"}).out).at(0)["accounts"] == planned);
  // A charge opens the accounts: what waits then is stored with them, and what waited says what it said.
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.2", "--as", "alice"}).exit == 0);
  const json spent = told("plan", 5)["accounts"];
  CHECK(spent != planned);
  CHECK(told("release", 5)["accounts"] == spent);
  CHECK(run_json(bench, {"show", id})["accounts"] == planned);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}
