// A ledger that may not be written to, or not read, as it stands: what each verb does about it.
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "workbench.hpp"

using epsilog::test::contains;
using epsilog::test::decision_id;
using epsilog::test::dump;
using epsilog::test::kClinicPolicy;
using epsilog::test::Result;
using epsilog::test::tamper;
using epsilog::test::Workbench;

namespace {

using Words = std::vector<std::string>;

/// A verb that reads or writes the ledger L; "ID" stands for a decision.
struct LedgerVerb {
  Words words;
  bool writes = false;
};

const std::vector<LedgerVerb>& ledger_verbs() {
  static const std::vector<LedgerVerb> kVerbs = {
      {{"plan", "clinic", "count", "--epsilon", "0.1"}},
      {{"forecast", "clinic", "count", "--epsilon", "0.1"}},
      {{"release", "clinic", "count", "--epsilon", "0.1", "--key", "new"}, true},
      {{"reserve", "clinic", "count", "--epsilon", "0.1"}, true},
      {{"commit", "ID"}, true},
      {{"cancel", "ID"}, true},
      {{"budget"}},
      {{"pending"}},
      {{"history"}},
      {{"show", "ID"}},
      {{"policy", "show"}},
      {{"policy", "apply", "policy.yaml", "--why", "again"}, true},
      {{"policy", "diff", "policy.yaml"}},
      {{"audit", "verify"}},
      {{"audit", "replay"}},
      {{"audit", "reaccount"}},
      {{"audit", "report"}},
      {{"audit", "export"}},
      {{"credentials", "list"}},
      {{"credentials", "add", "alice", "--uid", "1000", "--why", "asks"}, true},
      {{"backup", "B"}},
      {{"clock", "confirm"}},
      {{"relocate", "clinic", "--source", "visits.csv", "--why", "moved"}, true},
      {{"recover", "--accept-rollback", "--why", "lost"}, true}};
  return kVerbs;
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
  const Workbench bench;
  bench.init(kClinicPolicy);
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
