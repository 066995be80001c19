// audit report: its page is read by programs of another language (page_reader.py), its figures held to what
// the other verbs say, its exit codes to the states a ledger can be in.
#include <sys/stat.h>

#include <cstdio>
#include <regex>

#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace {

/// Names that would do harm where they are not taken for text: in HTML, in SVG, on a terminal.
constexpr const char* kScript = "<script>alert(1)</script>";
constexpr const char* kQuotes = "\" onload='x' & </text></td> ]]> &amp;";
constexpr const char* kTurned = "x\xE2\x80\xAEy\xEF\xBF\xBF";  // U+202E, and U+FFFF, which no XML has
constexpr const char* kTurnedShown = "x\\u202ey";

const std::string kPolicy = policy_text("report.yaml");

/// A ledger with everything that a report lists.
class Reported {
 public:
  Reported() {
    bench.init(kPolicy);
    ask({"release", "clinic", "count", "--epsilon", "0.1", "--as", "alice"}, 0);
    ask({"release", "clinic", "units", "--by", "ward", "--epsilon", "0.2", "--as", "alice"}, 0);
    ask({"release", "clinic", "count", "--epsilon", "1.75", "--as", "alice"}, 4);
    ask({"release", "clinic", "count", "--epsilon", "0.1", "--as", kScript}, 4);
    ask({"release", "clinic", "count", "--epsilon", "0.1", "--as", kQuotes}, 4);
    ask({"release", "clinic", "count", "--epsilon", "0.1", "--as", kTurned}, 4);
    ask({"release", "clinic", "count", "--epsilon", "0.5", "--as", "alice"}, 5);
    const std::string pending = decision_id(bench.path("L"));
    ask({"reject", pending, "--as", "carol", "--why", kScript}, 0);
    ask({"release", "clinic", "count", "--epsilon", "0.5", "--as", "alice"}, 5);
    ask({"approve", decision_id(bench.path("L")), "--as", "carol"}, 0);
    bench.write("next.yaml", replaced(kPolicy, "lifetime: {epsilon: 3}", "lifetime: {epsilon: 4}"));
    ask({"policy", "apply", bench.path("next.yaml"), "--why", kQuotes, "--as", "curator"}, 0);
  }

  Result ask(const Words& words, int exit) const {
    Result result = bench.with_ledger(words);
    CAPTURE(words, result.err, result.out);
    REQUIRE(result.exit == exit);
    return result;
  }
  /// The page of the ledger as it stands; requires that exit code.
  [[nodiscard]] json page(int exit = 0, Words more = {}) const {
    const std::string file = "page" + std::to_string(++pages_) + ".html";
    const Words words = with({"audit", "report", "--html", bench.path(file)}, more);
    const Result result = bench.with_ledger(words);
    CAPTURE(result.err);
    REQUIRE(result.exit == exit);
    return read(file);
  }
  [[nodiscard]] json read(const std::string& file) const {
    const std::string command =
        "python3 '" EPSILOG_SOURCE_DIR "/tests/cli/ledger/page_reader.py' '" + bench.path(file) + "'";
    std::FILE* reader = ::popen(command.c_str(), "r");
    REQUIRE(reader != nullptr);
    std::string told;
    char part[4096];
    for (std::size_t some = 1; some > 0;) {
      some = std::fread(part, 1, sizeof part, reader);
      told.append(part, some);
    }
    CAPTURE(bench.read(file).substr(0, 2000));
    REQUIRE(::pclose(reader) == 0);
    return json::parse(told);
  }
  [[nodiscard]] std::vector<json> history() const {
    std::vector<json> list;
    std::istringstream in(decisions_of(bench.with_ledger({"history", "--json"}).out));
    for (std::string line; std::getline(in, line);) list.push_back(json::parse(line));
    return list;
  }

  Workbench bench;

 private:
  mutable int pages_ = 0;
};

const json& table_below(const json& page, std::string_view heading) {
  for (const json& table : page["tables"]) {
    if (table["heading"].get<std::string>().starts_with(heading)) return table;
  }
  FAIL("no table below " << heading);
  return page;
}

}  // namespace

TEST_CASE("audit report: the page lists each release, refusal and approval as history does, and every budget",
          "[cli][audit][report]") {
  const Reported reported;
  const json page = reported.page();
  const std::vector<json> history = reported.history();
  std::map<std::string, std::vector<json>> by_sort;
  for (const json& one : history) {
    const std::string state = one["state"];
    by_sort[state == "granted"   ? "Releases"
            : state == "refused" ? "Refusals"
                                 : "Reservations and approvals"]
        .push_back(one);
  }
  REQUIRE(by_sort.size() == 3);
  for (const auto& [heading, expected] : by_sort) {
    CAPTURE(heading);
    const json& table = table_below(page, heading);
    CHECK(table["heading"] == heading + " (" + std::to_string(expected.size()) + ")");
    REQUIRE(table["rows"].size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(table["rows"][i][2] == expected[i]["decision_id"]);
  }
  const json& releases = table_below(page, "Releases")["rows"];
  CHECK(releases[0][3] == "count of clinic");
  CHECK(releases[0][4] == "alice");
  CHECK(releases[0][6] == "epsilon 0.1");
  CHECK(std::regex_match(releases[0][5].get<std::string>(),
                         std::regex("-?[0-9,]+ (\u00b1 [0-9,.]+|\\[.*\\])")));
  CHECK(releases[1][5] == "3 cells, below");
  const json& cells = table_below(page, "No. 2, ")["rows"];
  REQUIRE(cells.size() == 3);
  CHECK(cells[0][0] == "A");
  CHECK(cells[2][0] == kScript);
  CHECK(
      contains(table_below(page, "Refusals")["rows"][0][6].get<std::string>(), "principal_limit_exceeded: "));
  const json& steps = table_below(page, "Reservations")["rows"];
  CHECK(steps[1][3] == "rejected");
  CHECK(steps[1][4] == "carol");
  CHECK(steps[1][5] == "alice");
  CHECK(steps[1][9] == kScript);

  const json accounts = reported.bench.with_ledger({"budget", "--json"}).json()["accounts"];
  const json& budgets = table_below(page, "Dataset clinic")["rows"];
  REQUIRE(budgets.size() == accounts.size());
  REQUIRE(page["pictures"].size() == accounts.size());
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const std::string scope = accounts[i]["scope"];
    CHECK(budgets[i][0] == (scope.empty() ? "the whole dataset" : scope));
    CHECK(budgets[i][2] == accounts[i]["limit"]);
    CHECK(budgets[i][3] == accounts[i]["spent"]);
    CHECK(budgets[i][5] == accounts[i]["remaining"]);
    CHECK(contains(page["pictures"][i]["title"].get<std::string>(),
                   accounts[i]["remaining"].get<std::string>()));
  }
}

TEST_CASE("audit report: the page has one table for each row of a batch, below its question",
          "[cli][audit][report]") {
  const Reported reported;
  reported.bench.write("rows.csv", "statistic,by,epsilon\ncount,ward,0.01\nunits,ward,0.01\n");
  reported.ask({"release", "clinic", "--batch", reported.bench.path("rows.csv"), "--as", "alice"}, 0);
  const json page = reported.page();
  const std::string name = ", " + decision_id(reported.bench.path("L")) + ", row ";
  std::vector<std::string> headings;
  for (const json& table : page["tables"]) {
    const std::string heading = table["heading"];
    if (!contains(heading, name)) continue;
    headings.push_back(heading.substr(heading.find(name) + name.size()));
    REQUIRE(table["rows"].size() == 3);
    CHECK(table["rows"][0][0] == "A");
  }
  CHECK(headings == std::vector<std::string>{"1: count of clinic by ward", "2: units of clinic by ward"});
}

TEST_CASE(
    "audit report: the page says what verification, checkpoints and accountants say, and who changed limits",
    "[cli][audit][report]") {
  const Reported reported;
  const std::string vkey = reported.ask({"key", "generate", reported.bench.path("log.key")}, 0).out;
  reported.bench.write("kept",
                       reported.ask({"audit", "checkpoint", "--key", reported.bench.path("log.key")}, 0).out);
  const json page = reported.page(
      0, {"--checkpoint", reported.bench.path("kept"), "--vkey", vkey.substr(0, vkey.size() - 1)});
  const std::string text = page["text"];
  CHECK(contains(text,
                 "Verified: " + std::to_string(reported.history().size()) + " decisions, nothing wrong."));
  const json summary = json::parse([&] {
    const std::string out =
        reported.ask({"audit", "report", "--json", "--checkpoint", reported.bench.path("kept")}, 0).out;
    return out.substr(out.rfind('\n', out.size() - 2) + 1);
  }());
  CHECK(contains(text, summary["root"].get<std::string>()));
  const json& checkpoint = table_below(page, "Checkpoints")["rows"][0];
  CHECK(checkpoint[0] == "epsilog/" + summary["ledger_id"].get<std::string>());
  CHECK(checkpoint[1] == summary["size"].dump());
  CHECK(checkpoint[2] == summary["root"]);
  CHECK(checkpoint[3] == "signed by the log's key");
  CHECK(summary["checkpoints"][0]["signed"] == false);  // no --vkey was given there
  const json& limits = table_below(page, "Limits that changed")["rows"];
  REQUIRE(limits.size() == 1);
  CHECK(limits[0][2] == "epsilon of clinic, lifetime");
  CHECK(limits[0][3] == "3");
  CHECK(limits[0][4] == "4");
  CHECK(limits[0][5] == "curator");
  CHECK(limits[0][6] == kQuotes);
  const json& accountants = table_below(page, "clinic: 2 releases");
  REQUIRE(accountants["rows"].size() == 8);
  CHECK(accountants["rows"][0][1] == "0.3");
  CHECK(contains(text, "retrospective, valid only for parameters fixed in advance"));
}

TEST_CASE("audit report: what people typed is text in HTML, in SVG and on a terminal",
          "[cli][audit][report]") {
  const Reported reported;
  // Control characters come in by another way than the command's: by one that changes what was recorded.
  tamper(reported.bench.path("L"),
         std::string("UPDATE name SET name = 'ev' || char(27) || '[31m' || char(10) || "
                     "'<b>' WHERE name = '") +
             kScript + "'");
  const json page = reported.page(6);
  const json& refusals = table_below(page, "Refusals")["rows"];
  CHECK(refusals[1][4] == kQuotes);
  CHECK(refusals[2][4] == std::string(kTurnedShown) + "\\uffff");
  CHECK(contains(page["pictures"].dump(), "block:<script>"));
  const std::string raw = reported.bench.read("page1.html");
  CHECK_FALSE(contains(raw, "<script"));
  CHECK_FALSE(contains(raw, "\x1b"));
  CHECK_FALSE(contains(raw, "\xE2\x80\xAE"));
  const Result text = reported.bench.with_ledger({"audit", "report"});
  CHECK(text.exit == 6);
  CHECK(contains(text.out, kTurnedShown));
  CHECK_FALSE(contains(text.out, "\x1b"));
  CHECK_FALSE(contains(text.out, "\xE2\x80\xAE"));
}

TEST_CASE("audit report: the same ledger gives the same page, one file of mode 0600, and nothing is recorded",
          "[cli][audit][report]") {
  const Reported reported;
  const std::string before = dump(reported.bench.path("L"));
  static_cast<void>(reported.page());
  static_cast<void>(reported.page());
  CHECK(reported.bench.read("page1.html") == reported.bench.read("page2.html"));
  struct stat about {};
  REQUIRE(::stat(reported.bench.path("page1.html").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U) == 0600);
  CHECK(dump(reported.bench.path("L")) == before);
}

TEST_CASE("audit report: nothing is overwritten, and what cannot be written whole is not there",
          "[cli][audit][report][negative]") {
  const Reported reported;
  const std::string page = reported.bench.path("page.html");
  reported.bench.write("page.html", "kept");
  const std::vector<std::string> before = reported.bench.files();
  const Result again = reported.bench.with_ledger({"audit", "report", "--html", page});
  check_ended(again, 2, "exists already, and nothing is overwritten");
  CHECK(reported.bench.read("page.html") == "kept");
  for (const char* own : {"L", "L.poisoned", "L-wal", "L-journal", "L.lock"}) {
    const Result ledger = reported.bench.with_ledger({"audit", "report", "--html", reported.bench.path(own)});
    check_ended(ledger, 2, "is the name of a file of the ledger");
  }
  const Result nowhere =
      reported.bench.with_ledger({"audit", "report", "--html", reported.bench.path("no/page")});
  CHECK(nowhere.exit == 2);
  CHECK(reported.bench.files() == before);

  // A page of many budgets is larger than the files that a ledger needs.
  const Workbench large;
  std::string wards;
  for (int i = 0; i < 100; ++i) wards += "ward" + std::to_string(i) + ", ";
  large.init(replaced(kPolicy, "values: [A,", "values: [" + wards + "A,"));
  const std::vector<std::string> files = large.files();
  Streams short_of_room;
  short_of_room.file_size_max = 65'536;
  const Result full =
      large.with_ledger({"audit", "report", "--html", large.path("page.html")}, short_of_room);
  check_ended(full, 1, "cannot write");
  CHECK(large.files() == files);
  REQUIRE(large.with_ledger({"audit", "report", "--html", large.path("page.html")}).exit == 0);
  CHECK(large.read("page.html").size() > 65'536);
}

TEST_CASE("audit report: a poisoned ledger ends with 7 and is told without a value", "[cli][audit][report]") {
  const Reported reported;
  const std::string value = reported.page()["tables"][1]["rows"][0][5];
  reported.bench.write("L.poisoned", "{\"reason\": \"committing\"}");
  const json page = reported.page(7);
  for (const json& row : table_below(page, "Releases")["rows"]) CHECK(row[5] == "withheld");
  CHECK(contains(page["text"].get<std::string>(),
                 "2 releases are not known to be on the disk, or in the replica"));
  CHECK(contains(page["text"].get<std::string>(), "Not verified"));
  const Result text = reported.bench.with_ledger({"audit", "report"});
  CHECK(text.exit == 7);
  CHECK(contains(text.out, "withheld"));
  const Result told = reported.bench.with_ledger({"audit", "report", "--json"});
  CHECK(told.exit == 7);
  CHECK_FALSE(contains(told.out, "\"value\":\""));
  CHECK(reported.bench.with_ledger({"audit", "report", "--quiet"}).exit == 7);
}

TEST_CASE("audit report: one that cannot be read is named, the others are told, and it ends with 6",
          "[cli][audit][report]") {
  const Reported reported;
  const std::string id = decision_id(reported.bench.path("L"), 1);
  tamper(reported.bench.path("L"),
         "DROP TRIGGER decision_no_update; UPDATE decision SET plan = 0 WHERE seq = 1;");
  const json page = reported.page(6);
  CHECK(table_below(page, "Releases")["rows"].size() == 1);
  CHECK(table_below(page, "Decisions that cannot be read")["rows"][0][0] == id);
  const Result text = reported.bench.with_ledger({"audit", "report"});
  check_ended(text, 6, "decision " + id + " cannot be read");
  CHECK(lines(text.err) == 1);
}

TEST_CASE("audit report: what makes no report makes no file", "[cli][audit][report][negative]") {
  const Reported reported;
  const std::string page = reported.bench.path("page.html");
  const auto refused = [&](const Words& more, int exit, const char* message) {
    const Words words = with({"audit", "report", "--html", page}, more);
    const Result result = reported.bench.run(words);
    CAPTURE(result.err);
    CHECK(result.exit == exit);
    CHECK(contains(result.err, message));
    for (const std::string& file : reported.bench.files()) CHECK_FALSE(file.starts_with("page"));
  };
  const std::string ledger = reported.bench.path("L");
  refused({"--ledger", reported.bench.path("none")}, 3, "none");
  refused({"clinc", "--ledger", ledger}, 3, "Did you mean 'clinic'?");
  refused({"--ledger", ledger, "--vkey", "x"}, 2, "name it with --checkpoint");
  std::filesystem::copy_file(ledger, reported.bench.path("older"));
  tamper(reported.bench.path("older"), "PRAGMA application_id = 1162892108");
  refused({"--ledger", reported.bench.path("older")}, 3, "written by a development version of Epsilog");
  // A checkpoint of what the ledger is not.
  REQUIRE(reported.bench.run({"key", "generate", reported.bench.path("log.key"), "--ledger", ledger}).exit ==
          0);
  std::string note =
      reported.bench.run({"audit", "checkpoint", "--key", reported.bench.path("log.key"), "--ledger", ledger})
          .out;
  const std::size_t size = note.find('\n') + 1;
  note.replace(size, note.find('\n', size) - size, "9999");
  reported.bench.write("kept", note);
  refused({"--ledger", ledger, "--checkpoint", reported.bench.path("kept")}, 6, "9999");
}

TEST_CASE("audit report: a ledger too damaged for its accounts is told as far as it goes",
          "[cli][audit][report]") {
  const Reported reported;
  tamper(reported.bench.path("L"), "DELETE FROM account");
  const json page = reported.page(6);
  const std::string text = page["text"];
  CHECK(contains(text, "Not verified"));
  CHECK(table_below(page, "Versions of the policy")["rows"].size() == 2);
}

TEST_CASE("audit report: as JSON decisions are as in history, then comes all the rest",
          "[cli][audit][report]") {
  const Reported reported;
  const Result told = reported.bench.with_ledger({"audit", "report", "clinic", "--json"});
  REQUIRE(told.exit == 0);
  const std::size_t last = told.out.rfind('\n', told.out.size() - 2) + 1;
  CHECK(told.out.substr(0, last) == decisions_of(reported.bench.with_ledger({"history", "--json"}).out));
  const json summary = json::parse(told.out.substr(last));
  check_members(summary, R"({"ok": true, "dataset": "clinic", "released": 2, "refused": 4, "html": null})");
  CHECK(summary["audit"]["faults"].empty());
  CHECK(summary["limit_changes"][0]["why"] == kQuotes);
  CHECK(summary["accountants"][0]["charged"]["epsilon"] == "0.3");
  for (const json& budget : summary["budgets"]) {
    CHECK(budget["points"].size() == budget["changes"].get<std::size_t>() + 1);
    CHECK(budget["points"].back()["spent"] == budget["spent"]);
  }
  const Result page =
      reported.bench.with_ledger({"audit", "report", "--json", "--html", reported.bench.path("p.html")});
  CHECK(page.json()["html"] == reported.bench.path("p.html"));
  CHECK(page.json()["released"] == 2);
}

TEST_CASE("audit report: text keeps its parts in order, pictures what remained, and --quiet says nothing",
          "[cli][audit][report]") {
  Reported reported;
  reported.bench.environment["COLUMNS"] = "110";
  const std::string text = reported.ask({"audit", "report"}, 0).out;
  std::size_t at = 0;
  for (const char* part :
       {"verified: ", "\nledger\n", "\nbudgets\n", "what remained over time", "\nreleases (2)\n",
        "    A: ", "\nrefusals (4)\n", "principal_limit_exceeded", "\nreservations and approvals (",
        "rejected by carol, about ", "\nwho changed what\n", "\nunder tighter accountants\n"}) {
    CAPTURE(part);
    const std::size_t next = text.find(part, at);
    CHECK(next != std::string::npos);
    at = next == std::string::npos ? at : next;
  }
  CHECK(contains(text, "█"));
  reported.bench.environment["LC_ALL"] = "C";
  CHECK_FALSE(contains(reported.ask({"audit", "report"}, 0).out, "█"));
  CHECK(reported.ask({"audit", "report", "--quiet"}, 0).out.empty());
}
