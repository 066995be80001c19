// A ledger that may not be written to, or not read, as it stands: what each verb does about it.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// A verb that reads or writes the ledger L; "ID" stands for a decision.
struct LedgerVerb {
  Words words;
  bool writes = false;
};

std::vector<LedgerVerb> ledger_verbs() {
  std::vector<LedgerVerb> verbs;
  for (const CaseRow& row : cli_table("ledger/standing_verbs.tsv"))
    verbs.push_back({words_of(row.at(1)), row.at(0) == "writes"});
  return verbs;
}

Words with_id(Words words, const std::string& id) {
  for (std::string& word : words) {
    if (word == "ID") word = id;
  }
  words.emplace_back("--json");
  return words;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

}  // namespace

TEST_CASE("needs_feature: every verb names the feature that this program lacks, and records nothing",
          "[cli][feature][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  const std::string id = decision_id(bench.path("L"));
  tamper(bench.path("L"), "INSERT INTO feature VALUES(1, 'of tomorrow', 1767603600000)");
  const std::string before = dump(bench.path("L"));
  for (const LedgerVerb& verb : ledger_verbs()) {
    const Words words = with_id(verb.words, id);
    CAPTURE(joined(words));
    const Result refused = bench.with_ledger(words);
    CAPTURE(refused.out, refused.err);
    CHECK(refused.exit == 3);
    CHECK(refused.json()["error"]["code"] == "needs_feature");
    CHECK(contains(refused.err, "needs feature of tomorrow: use a newer Epsilog"));
  }
  CHECK(bench.run({"restore", "L", "--ledger", "elsewhere", "--accept-rollback", "--why", "lost"}).exit == 3);
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("ledger_sealed: every verb that reads goes on, and every verb that records is refused",
          "[cli][seal]") {
  const Workbench bench(kClinicPolicy);
  const Words asked = {"release", "clinic", "count", "--epsilon", "0.1", "--key", "old", "--json"};
  const Result told = bench.with_ledger(asked);
  REQUIRE(told.exit == 0);
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  const std::string id = decision_id(bench.path("L"));
  CHECK(bench.with_ledger({"seal"}).exit == 2);  // without a reason
  const Result sealed = bench.with_ledger({"seal", "--why", "moves", "--as", "cleo", "--json"});
  REQUIRE(sealed.exit == 0);
  check_members(sealed.json(), R"({"changed": true, "why": "moves"})");
  const std::string before = dump(bench.path("L"));
  for (const LedgerVerb& verb : ledger_verbs()) {
    const Words words = with_id(verb.words, id);
    CAPTURE(joined(words));
    const Result result = bench.with_ledger(words);
    CAPTURE(result.out, result.err);
    CHECK(result.exit == (verb.writes ? 3 : 0));
    if (!verb.writes) continue;
    CHECK(result.json()["error"]["code"] == "ledger_sealed");
    CHECK(contains(result.err, "by cleo (moves)"));
  }
  CHECK(bench.with_ledger(asked).json()["value"] == told.json()["value"]);  // answered from what is on record
  const Result again = bench.with_ledger({"seal", "--why", "again", "--json"});
  CHECK(again.exit == 0);
  check_members(again.json(), R"({"changed": false, "why": "moves"})");
  CHECK(dump(bench.path("L")) == before);
  CHECK(contains(bench.with_ledger({"history"}).out, "sealed: it goes on elsewhere"));
  CHECK(bench.run({"restore", "L", "--ledger", "next"}).exit == 3);
  REQUIRE(bench.run({"restore", "L", "--ledger", "next", "--sealed", "--as", "dora"}).exit == 0);
  CHECK(bench.run({"commit", id, "--ledger", "next"}).exit == 0);  // what was reserved before the seal
  CHECK(contains(bench.run({"history", "--ledger", "next"}).out, "unsealed: it goes on from here"));
  CHECK(bench.run({"restore", "next", "--ledger", "third", "--sealed"}).exit == 2);  // which is not sealed
}

namespace {

/// The commands of a fenced block of docs/recovery.md, each as words.
std::vector<Words> commands_of_page(const std::string& mark) {
  std::ifstream page(EPSILOG_SOURCE_DIR "/docs/recovery.md");
  std::vector<Words> commands;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + mark;
      continue;
    }
    if (!inside) continue;
    Words words(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '\'') quoted = !quoted;
      if (c == '\'') continue;
      if (c == ' ' && !quoted) {
        words.emplace_back();
      } else {
        words.back() += c;
      }
    }
    commands.push_back(words);
  }
  return commands;
}

}  // namespace

TEST_CASE("seal: the steps of the page move a ledger to another place", "[cli][seal][documents]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  std::filesystem::create_directory(bench.path("new"));
  REQUIRE(bench.run({"init", "--policy", "policy.yaml", "--ledger", "old/clinic.epsilog"}).exit == 0);
  const Words asked = {"release", "clinic", "count", "--epsilon", "0.1", "--key", "old", "--json"};
  const auto at = [&](const std::string& ledger, Words words) {
    return bench.run(with(words, {"--ledger", ledger}));
  };
  const Result told = at("old/clinic.epsilog", asked);
  REQUIRE(told.exit == 0);
  const std::vector<Words> commands = commands_of_page("move");
  REQUIRE(commands.size() == 6);
  for (const Words& command : commands) {
    CAPTURE(joined(command));
    const Words rest(command.begin() + 1, command.end());
    if (command.front() == "rm") {
      for (const std::string& file : rest) std::filesystem::remove(bench.path(file));
      continue;
    }
    REQUIRE(command.front() == "epsilog");
    const Result result = bench.run(rest);
    CAPTURE(result.err);
    REQUIRE(result.exit == 0);
  }
  CHECK(at("new/clinic.epsilog", asked).json()["value"] == told.json()["value"]);
  CHECK(at("new/clinic.epsilog", {"release", "clinic", "count", "--epsilon", "0.1", "--key", "new"}).exit ==
        0);
  const Result anew = bench.run({"init", "--policy", "policy.yaml", "--ledger", "old/clinic.epsilog"});
  check_ended(anew, 3, "It was sealed then");
}
