// That every kind of record is told where people look, and which decisions a filter lists.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "support/catch.hpp"
#include "workbench.hpp"

using epsilog::test::contains;
using epsilog::test::decision_id;
using epsilog::test::replaced;
using epsilog::test::Result;
using epsilog::test::tamper;
using epsilog::test::Workbench;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kPolicy =
    "version: 1\n"
    "principals:\n"
    "  ann: {}\n"
    "  bob: {roles: [custodian]}\n"
    "datasets:\n"
    "  clinic:\n"
    "    source: {csv: visits.csv}\n"
    "    unit: {id: patient, max_rows: 2}\n"
    "    rows: {max: 1000}\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 2}\n"
    "    lifetime: {epsilon: 3}\n"
    "    approvals: {required: 1, by: {roles: [custodian]}, above: {epsilon: 0.4}, expires: 2h}\n"
    "    columns:\n"
    "      age:  {type: int, bounds: [0, 110]}\n"
    "      ward: {type: string, values: [A, B, C]}\n";

void ask(const Workbench& bench, const Words& words, int exit = 0) {
  const Result result = bench.with_ledger(words);
  CAPTURE(words, result.err, result.out);
  REQUIRE(result.exit == exit);
}

/// A ledger with a line of every kind, put back from a backup at the end. Every reason is "reason-KIND".
class EveryKind {
 public:
  EveryKind() {
    bench.init(kPolicy);
    ask(bench, {"release", "clinic", "count", "--epsilon", "0.1", "--as", "ann"});
    ask(bench, {"release", "clinic", "count", "--epsilon", "0.5", "--as", "ann"}, 5);
    ask(bench, {"reject", decision_id(bench.path("L")), "--as", "bob", "--why", "reason-decision"});
    // As if the clock had been set forwards a day since the ledger was made.
    tamper(bench.path("L"), "UPDATE meta SET boot_offset = boot_offset - 86400000");
    ask(bench, {"release", "clinic", "units", "--epsilon", "0.1", "--as", "ann"});
    ask(bench, {"clock", "confirm", "--as", "curator"});
    bench.write("next.yaml", replaced(kPolicy, "lifetime: {epsilon: 3}", "lifetime: {epsilon: 4}"));
    ask(bench, {"policy", "apply", bench.path("next.yaml"), "--why", "reason-limit", "--as", "curator"});
    bench.write("moved.csv", bench.read("visits.csv"));
    ask(bench, {"relocate", "clinic", "--source", "moved.csv", "--why", "reason-location"});
    ask(bench, {"credentials", "add", "ann", "--uid", "4711", "--why", "reason-credential"});
    const std::string vkey = bench.with_ledger({"key", "generate", bench.path("log.key")}).out;
    ask(bench, {"key", "add", vkey.substr(0, vkey.size() - 1), "--why", "reason-key"});
    ask(bench, {"backup", bench.path("saved")});
    std::filesystem::rename(bench.path("L"), bench.path("gone"));
    for (const char* beside : {"L-wal", "L-shm", "L.lock", "L.queue"})
      std::filesystem::remove(bench.path(beside));
    ask(bench, {"restore", bench.path("saved"), "--accept-rollback", "--why", "reason-recovery"});
  }

  [[nodiscard]] std::set<std::string> kinds() const {
    std::set<std::string> found;
    std::istringstream in(bench.with_ledger({"audit", "export"}).out);
    for (std::string line; std::getline(in, line);)
      found.insert(json::parse(line)["kind"].get<std::string>());
    return found;
  }

  Workbench bench;
};

/// What of a kind of record each report has to say; "" nothing.
struct Told {
  const char* history;
  const char* text;
  const char* page;
  const char* report_json;
  const char* verify;
  const char* verify_json;
};

}  // namespace

TEST_CASE("events: every kind of record is told by history, report and verification",
          "[cli][audit][report][events]") {
  const EveryKind every;
  const std::string id = decision_id(every.bench.path("L"), 1);
  const char* const decision = id.c_str();
  const std::map<std::string, Told> expected{
      {"ledger",
       {"the ledger began, with id", "the ledger began, with id", "the ledger began, with id",
        "the ledger began, with id", "ledger", "ledger_id"}},
      {"policy",
       {"policy version 2, by curator: reason-limit", "policy 2: reason-limit", "reason-limit",
        "policy version 2", "policy version 2, by curator: reason-limit", "policy version 2"}},
      {"limit",
       {"epsilon of clinic, lifetime: limit 3 to 4", "reason-limit", "epsilon of clinic, lifetime",
        "epsilon of clinic, lifetime: limit 3 to 4", "lifetime.epsilon from 3 to 4",
        "lifetime.epsilon from 3 to 4"}},
      {"account", {"", "lifetime", "lifetime", "\"scope\":\"lifetime\"", "2 accounts", "\"accounts\": 2"}},
      {"location",
       {"reason-location", "reason-location", "reason-location", "reason-location", "reason-location",
        "reason-location"}},
      {"plan", {"count of clinic", "count of clinic", "count of clinic", "\"statistic\":\"count\"", "", ""}},
      {"decision",
       {"reason-decision", "reason-decision", "reason-decision", decision, "4 decisions", "\"records\": 4"}},
      {"clock", {"the clock was confirmed", "confirmed", "confirmed", "confirmed", "", ""}},
      {"credential",
       {"reason-credential", "reason-credential", "reason-credential", "reason-credential", "", ""}},
      {"key", {"reason-key", "reason-key", "reason-key", "reason-key", "", ""}},
      {"recovery",
       {"rolled back", "rolled back", "rolled back", "rolled back", "rolled back", "rolled back"}},
  };
  std::set<std::string> told;
  for (const auto& [kind, where] : expected) told.insert(kind);
  REQUIRE(every.kinds() == told);
  const auto output = [&](const Words& words) { return every.bench.with_ledger(words).out; };
  const std::string history = output({"history"});
  const std::string text = output({"audit", "report"});
  ask(every.bench, {"audit", "report", "--html", every.bench.path("page.html")});
  const std::string page = every.bench.read("page.html");
  const std::string report_json = output({"audit", "report", "--json"});
  const std::string verify = output({"audit", "verify"});
  const std::string verify_json = output({"audit", "verify", "--json"});
  for (const auto& [kind, where] : expected) {
    CAPTURE(kind);
    CHECK(contains(history, where.history));
    CHECK(contains(text, where.text));
    CHECK(contains(page, where.page));
    CHECK(contains(report_json, where.report_json));
    CHECK(contains(verify, where.verify));
    CHECK(contains(verify_json, where.verify_json));
  }
  for (const std::string& report : {history, text, page, report_json, verify, verify_json}) {
    CHECK(contains(report, "reason-recovery"));
  }
}

TEST_CASE("events: one that cannot be read is told as that, and hides no decision",
          "[cli][audit][report][events]") {
  const Workbench bench;
  bench.init(kPolicy);
  ask(bench, {"release", "clinic", "count", "--epsilon", "0.1", "--as", "ann"});
  bench.write("moved.csv", bench.read("visits.csv"));
  ask(bench, {"relocate", "clinic", "--source", "moved.csv", "--why", "moved"});
  CHECK(contains(bench.with_ledger({"history"}).out, "the ledger began"));
  // A damaged event hides no decision.
  tamper(bench.path("L"), "UPDATE relocation SET why = 'eve'");
  const Result history = bench.with_ledger({"history"});
  CAPTURE(history.out, history.err);
  CHECK(contains(history.out, decision_id(bench.path("L"))));
  CHECK(contains(history.out, "cannot be read"));
}

TEST_CASE("events: an act of an approver is told with who asked", "[cli][audit][report]") {
  const EveryKind every;
  const std::string text = every.bench.with_ledger({"audit", "report"}).out;
  CHECK(contains(text, "waits for approvals; asked by ann"));
  CHECK_FALSE(contains(text, "waits for approvals by ann"));
  CHECK(contains(text, "rejected by bob"));
  const std::string history = every.bench.with_ledger({"history"}).out;
  CHECK(contains(history, "count of clinic for ann, by bob: reason-decision"));
  CHECK_FALSE(contains(history, "for bob"));
}

TEST_CASE("filters: history and audit report list what is asked for, and nothing else", "[cli][filters]") {
  const Workbench bench;
  bench.init(replaced(kPolicy, "  bob: {roles: [custodian]}\n", "  bob: {roles: [custodian]}\n  eve: {}\n"));
  const auto released = [&](const Words& question, const std::string& who) {
    Words words{"release", "clinic"};
    words.insert(words.end(), question.begin(), question.end());
    words.insert(words.end(), {"--epsilon", "0.01", "--as", who});
    ask(bench, words);
    return decision_id(bench.path("L"));
  };
  std::map<std::string, std::string> ids;
  ids["count"] = released({"count"}, "ann");
  ids["table"] = released({"count", "--by", "ward"}, "eve");
  ids["only A"] = released({"count", "--where", "ward = 'A'"}, "ann");
  ids["not A"] = released({"count", "--where", "ward != 'A'"}, "eve");
  ids["not B"] = released({"count", "--where", "ward not in ('B')"}, "ann");
  ids["old"] = released({"count", "--where", "age > 60"}, "eve");
  ask(bench, {"release", "clinic", "count", "--epsilon", "0.5", "--as", "ann"}, 5);
  ids["waits"] = decision_id(bench.path("L"));
  ask(bench, {"reject", ids["waits"], "--as", "bob", "--why", "too much"});
  ids["rejected"] = decision_id(bench.path("L"));
  const auto listed = [&](Words words) {
    words.emplace_back("--json");
    const Result result = bench.with_ledger(words);
    CAPTURE(words, result.err);
    REQUIRE(result.exit == 0);
    std::set<std::string> names;
    std::istringstream in(result.out);
    for (std::string line; std::getline(in, line);) {
      const json one = json::parse(line);
      for (const auto& [name, id] : ids) {
        if (one.contains("decision_id") && one["decision_id"] == id) names.insert(name);
      }
    }
    return names;
  };
  using Names = std::set<std::string>;
  for (const Words& verb : {Words{"history"}, Words{"audit", "report"}}) {
    const auto with = [&](const Words& filter) {
      Words words = verb;
      words.insert(words.end(), filter.begin(), filter.end());
      return listed(words);
    };
    CAPTURE(verb);
    CHECK(with({}).size() == ids.size());
    CHECK(with({"--by-asker", "eve"}) == Names{"table", "not A", "old"});
    CHECK(with({"--by-asker", "ann"}) == Names{"count", "only A", "not B", "waits", "rejected"});
    CHECK(with({"--by-asker", "bob"}).empty());
    CHECK(with({"--column", "ward", "--value", "A"}) == Names{"table", "only A", "not A"});
    CHECK(with({"--column", "ward", "--value", "B"}) == Names{"table", "not B"});
    CHECK(with({"--column", "ward", "--value", "D"}).empty());
    CHECK(with({"--column", "age", "--value", "65"}) == Names{"old"});
    CHECK(with({"--column", "age", "--value", "60.0"}) == Names{"old"});
    CHECK(with({"--column", "age", "--value", "12"}).empty());
    CHECK(with({"--since", "2999-01-01"}).empty());
    CHECK(with({"--since", "2020-01-01", "--until", "2999-01-01T00:00:00Z"}).size() == ids.size());
    CHECK(with({"--until", "2020-01-01"}).empty());
    CHECK(with({"--by-asker", "eve", "--column", "ward", "--value", "A"}) == Names{"table", "not A"});
  }
  CHECK(listed({"history", "--by-asker", "ann", "--limit", "2"}) == Names{"waits", "rejected"});
  ask(bench, {"audit", "report", "--by-asker", "eve", "--html", bench.path("eve.html")});
  const std::string page = bench.read("eve.html");
  CHECK(contains(page, "Listed are only decisions on what eve asked"));
  CHECK(contains(page, "Releases (3)"));
  CHECK_FALSE(contains(page, ids["count"]));
  for (const Words& wrong : {Words{"--column", "ward"}, Words{"--value", "A"}, Words{"--since", "yesterday"},
                             Words{"--until", "2027-02-30"}, Words{"--by-asker", ""}}) {
    Words words{"history"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    CAPTURE(wrong);
    CHECK(bench.with_ledger(words).exit == 2);
  }
}

TEST_CASE("audit report: who is protected, what epsilon means and what no checkpoint covers is said",
          "[cli][audit][report]") {
  const EveryKind every;
  const std::string text = every.bench.with_ledger({"audit", "report"}).out;
  std::string page;
  ask(every.bench, {"audit", "report", "--html", every.bench.path("page.html")});
  page = every.bench.read("page.html");
  for (const std::string& report : {text, page}) {
    std::string plain;
    for (const char c : report) {
      if (c != '\n' || plain.empty() || plain.back() != ' ') plain += c == '\n' ? ' ' : c;
    }
    for (std::size_t at = plain.find("  "); at != std::string::npos; at = plain.find("  "))
      plain.erase(at, 1);
    CHECK(contains(plain, "protects all rows of one patient, of which at most 2 count"));
    CHECK(contains(plain, "at most e^epsilon"));
    CHECK(contains(plain, "covered by no checkpoint"));
  }
  CHECK_FALSE(contains(page, "\\x0a"));
  CHECK(contains(page, "white-space:nowrap"));
  const std::regex with_interval("class=\"n\">-?[0-9,]+ (\xC2\xB1 |\\[)");
  CHECK(std::regex_search(page, with_interval));
}
