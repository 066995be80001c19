// That every kind of record is told where people look, and which decisions a filter lists.
#include <regex>

#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace {

const std::string kPolicy = policy_text("events.yaml");

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

/// What each report has to say of a kind of record: the rows of kinds_told.tsv, [kind][report].
std::map<std::string, std::map<std::string, std::string>> told_by_reports() {
  std::ifstream in(std::string(EPSILOG_SOURCE_DIR) + "/tests/cli/ledger/kinds_told.tsv");
  REQUIRE(in);
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream split(line);
    for (std::string cell; std::getline(split, cell, '\t');) cells.push_back(cell);
    return cells;
  };
  std::vector<std::string> reports;
  std::map<std::string, std::map<std::string, std::string>> table;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = cells_of(line);
    if (reports.empty()) {
      reports = cells;
      continue;
    }
    CAPTURE(line);
    REQUIRE(cells.size() == reports.size());
    for (std::size_t i = 1; i < cells.size(); ++i) {
      REQUIRE_FALSE(cells[i].empty());
      table[cells[0]][reports[i]] = cells[i];
    }
  }
  return table;
}

/// What the verifier's summary says of the ledger.
std::string verified(const Workbench& bench) {
  bench.write("lines", bench.with_ledger({"audit", "export"}).out);
  const std::string command =
      std::string("python3 ") + EPSILOG_SOURCE_DIR + "/verifier/epsilog_verify.py " + bench.path("lines") +
      " --accept-unchecked implies --accept-unchecked vouching > " + bench.path("verified");
  REQUIRE(std::system(command.c_str()) == 0);
  return bench.read("verified");
}

}  // namespace

TEST_CASE("events: every kind of record is told by history, report and verification",
          "[cli][audit][report][events]") {
  const EveryKind every;
  const auto output = [&](const Words& words) { return every.bench.with_ledger(words).out; };
  ask(every.bench, {"audit", "report", "--html", every.bench.path("page.html")});
  const std::map<std::string, std::string> reports{
      {"history", output({"history"})},
      {"history --json", output({"history", "--json"})},
      {"audit report", output({"audit", "report"})},
      {"audit report --json", output({"audit", "report", "--json"})},
      {"audit report --html", every.bench.read("page.html")},
      {"audit verify", output({"audit", "verify"})},
      {"audit verify --json", output({"audit", "verify", "--json"})},
      {"epsilog_verify.py", verified(every.bench)},
  };
  const auto table = told_by_reports();
  std::set<std::string> kinds;
  for (const auto& [kind, cells] : table) {
    kinds.insert(kind);
    REQUIRE(cells.size() == reports.size());
    for (const auto& [report, said] : cells) {
      CAPTURE(kind, report, said);
      if (said != "not of interest") CHECK(contains(reports.at(report), said));
    }
  }
  CHECK(kinds == every.kinds());
  for (const auto& [report, said] : reports) {
    CAPTURE(report);
    check_parts(said, {"reason-recovery", "reason-limit"});
  }
}

TEST_CASE("history: in JSON events are listed after the decisions, those that the text has between them",
          "[cli][json][events]") {
  const EveryKind every;
  const auto events = [&](Words words) {
    words.insert(words.begin(), "history");
    words.emplace_back("--json");
    const std::string out = every.bench.with_ledger(words).out;
    if (out.empty()) return json();
    const std::string last = out.substr(out.rfind('\n', out.size() - 2) + 1);
    return json::parse(last).value("events", json());
  };
  const json all = events({});
  const auto without_blanks = [](std::string words) {  // which lines are broken at
    std::erase_if(words, [](char c) { return c == ' ' || c == '\n'; });
    return words;
  };
  const std::string text = without_blanks(every.bench.with_ledger({"history"}).out);
  std::set<std::string> kinds;
  for (const json& event : all) {
    kinds.insert(event.at("kind").get<std::string>());
    CAPTURE(event.dump());
    CHECK(contains(text, without_blanks(event.at("what"))));
  }
  CHECK(kinds ==
        std::set<std::string>{"ledger", "policy", "relocation", "clock", "credential", "key", "recovery"});
  // As the text: with a limit those since the first decision that is listed, and none of one person or value.
  const json since = events({"--limit", "1"});
  CHECK(since.size() < all.size());
  CHECK(since.back() == all.back());
  CHECK(events({"--since", "2999-01-01"}) == json::array());
  CHECK(events({"--by-asker", "ann"}).is_null());
  CHECK(events({"--column", "ward", "--value", "A"}).is_null());
  CHECK_FALSE(contains(every.bench.with_ledger({"history", "--format", "csv"}).out, "reason-recovery"));
  CHECK_FALSE(contains(every.bench.with_ledger({"history", "--quiet"}).out, "reason-recovery"));
}

TEST_CASE("events: one that cannot be read is told as that, and hides no decision",
          "[cli][audit][report][events]") {
  const Workbench bench(kPolicy);
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
  const Workbench bench(
      replaced(kPolicy, "  bob: {roles: [custodian]}\n", "  bob: {roles: [custodian]}\n  eve: {}\n"));
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
    const auto with = [&](const Words& filter) { return listed(epsilog::test::with(verb, filter)); };
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
  check_parts(page, {"Listed are only decisions on what eve asked", "Releases (3)"});
  CHECK_FALSE(contains(page, ids["count"]));
  for (const Words& wrong : {Words{"--column", "ward"}, Words{"--value", "A"}, Words{"--since", "yesterday"},
                             Words{"--until", "2027-02-30"}, Words{"--by-asker", ""}}) {
    const Words words = with({"history"}, wrong);
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
    check_parts(plain, {"protects all rows of one patient, of which at most 2 count", "at most e^epsilon",
                        "covered by no checkpoint"});
  }
  CHECK_FALSE(contains(page, "\\x0a"));
  CHECK(contains(page, "white-space:nowrap"));
  const std::regex with_interval("class=\"n\">-?[0-9,]+ (\xC2\xB1 |\\[)");
  CHECK(std::regex_search(page, with_interval));
}
