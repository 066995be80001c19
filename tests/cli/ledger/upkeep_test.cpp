// clock confirm and relocate.
#include <regex>

#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::vector<std::string> kRelease = {"release", "clinic", "count", "--epsilon", "0.1"};

}  // namespace

TEST_CASE(
    "clock confirm: after a jump it says where budgets stood, and otherwise that there is nothing to do",
    "[cli][clock]") {
  const Workbench bench(kClinicPolicy);
  const auto time_of = [&](const std::string& column) {
    return query(bench.path("L"), "SELECT strftime('%Y-%m-%dT%H:%M:%S', " + column +
                                      " / 1000, 'unixepoch') || printf('.%03dZ', " + column +
                                      " % 1000) FROM meta");
  };
  const Result nothing = bench.with_ledger({"clock", "confirm"});
  CHECK(nothing.exit == 0);
  CHECK(contains(nothing.out, "nothing to confirm"));

  // As if the clock had been set forwards a day since the ledger was made.
  tamper(bench.path("L"), "UPDATE meta SET boot_offset = boot_offset - 86400000");
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  const std::string created = time_of("created_at");
  CHECK(time_of("held_at") == created);
  CHECK(query(bench.path("L"), "SELECT type FROM clock_event") == "forwards");

  const Result confirmed = bench.with_ledger({"clock", "confirm", "--as", "curator", "--json"});
  CAPTURE(confirmed.err);
  CHECK(confirmed.exit == 0);
  CHECK(confirmed.json()["was_held"] == true);
  CHECK(confirmed.json()["held_at"] == created);
  CHECK(query(bench.path("L"), "SELECT by FROM clock_event WHERE type = 'confirmed'") == "curator");
  CHECK(bench.with_ledger({"clock", "confirm", "--json"}).json()["was_held"] == false);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("relocate: a moved source is found again, and is told of by verify, history and data check",
          "[cli][relocate]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  std::filesystem::create_directory(bench.path("new"));
  std::filesystem::rename(bench.path("visits.csv"), bench.path("new/visits.csv"));
  CHECK(bench.with_ledger(kRelease).exit == 3);
  const auto relocate = [&](const std::string& source, std::vector<std::string> more) {
    return bench.with_ledger(with({"relocate", "clinic", "--source", source, "--as", "ann"}, more));
  };
  const Result moved = relocate("new/visits.csv", {"--why", "new server", "--json"});
  CAPTURE(moved.err);
  REQUIRE(moved.exit == 0);
  CHECK(moved.json()["changed"] == true);
  CHECK(moved.json()["from"] == bench.path("visits.csv"));
  CHECK(moved.json()["to"] == bench.path("new/visits.csv"));
  CHECK(moved.json()["at"].get<std::string>().size() == 24);
  const Result again = relocate("new/visits.csv", {"--why", "new server"});
  CHECK(again.exit == 0);
  CHECK(again.out ==
        "clinic: its source is found at " + bench.path("new/visits.csv") + " already: nothing to do\n");
  CHECK(bench.with_ledger(kRelease).exit == 0);
  const Result checked = bench.with_ledger({"data", "check"});
  CHECK(contains(checked.out, "clinic: " + bench.path("new/visits.csv")));

  const Result verified = bench.with_ledger({"audit", "verify"});
  CHECK(verified.exit == 0);
  CHECK(contains(verified.out, "relocated to"));
  CHECK(contains(verified.out, bench.path("new/visits.csv")));
  const auto report = bench.with_ledger({"audit", "verify", "--json"}).json();
  REQUIRE(report["relocations"].size() == 1);
  check_members(report["relocations"][0], R"({"after_decision": 1, "dataset": "clinic"})");
  CHECK(report["relocations"][0]["source"] == bench.path("new/visits.csv"));
  check_members(report["relocations"][0], R"({"by": "ann", "why": "new server"})");

  // Where a line is too narrow, it goes on in the next one.
  const auto flat = [](const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); };
  const std::string line =
      "the source of clinic moved to " + bench.path("new/visits.csv") + ", by ann: new server";
  const std::string listed = flat(bench.with_ledger({"history"}).out);
  CHECK(contains(listed, line));
  CHECK(listed.find("granted") < listed.find(line));
  CHECK(listed.find(line) < listed.rfind("granted"));
  CHECK(contains(flat(bench.with_ledger({"history", "--limit", "1"}).out), line));
  CHECK_FALSE(contains(bench.with_ledger({"history", "--quiet"}).out, line));
  CHECK(lines(decisions_of(bench.with_ledger({"history", "--json"}).out)) == 2);
}

TEST_CASE("relocate: what cannot be a source's place is refused by name", "[cli][relocate][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  const auto refused = [&](const std::vector<std::string>& words, int exit, const std::string& why) {
    const Words all = with({"relocate"}, words);
    const Result result = bench.with_ledger(all);
    CAPTURE(words, result.err);
    CHECK(result.exit == exit);
    CHECK(result.out.empty());
    CHECK(contains(result.err, why));
  };
  refused({"clinic", "--source", "visits.csv"}, 2, "--why");
  refused({"clinic", "--why", "test"}, 2, "--source");
  refused({"--source", "visits.csv", "--why", "test"}, 2, "DATASET");
  refused({"clinic", "--source", "visits.csv", "--why", ""}, 2, "--why: must not be empty");
  refused({"clinic", "--source", "visits\xff.csv", "--why", "test"}, 2, "--source: is not UTF-8");
  refused({"clinik", "--source", "visits.csv", "--why", "test"}, 3, "clinic");
  refused({"clinic", "--source", "absent.csv", "--why", "test"}, 3, "absent.csv");
  refused({"clinic", "--source", "L", "--why", "test"}, 3, "belongs to the ledger");
  refused({"clinic", "--source", "policy.yaml", "--why", "test"}, 3, "has no column");
  CHECK(query(bench.path("L"), "SELECT count(*) FROM relocation") == "0");
}

TEST_CASE("clock confirm: a clock that stands behind ledger time is not confirmed",
          "[cli][clock][negative]") {
  const Workbench bench(kClinicPolicy);
  // As if the clock had jumped into the year 2999, and the policy had been applied there.
  const std::string trigger =
      query(bench.path("L"), "SELECT sql FROM sqlite_master WHERE name = 'policy_version_no_update'");
  tamper(bench.path("L"),
         "DROP TRIGGER policy_version_no_update;"
         "UPDATE policy_version SET applied_at = 32472144000000;" +
             trigger +
             ";"
             "INSERT INTO clock_event(seq, after_decision, type, ledger_time, wall_clock, by, event)"
             " SELECT 1, 0, 'forwards', created_at, 32472144000000, '', 2 FROM meta;"
             "UPDATE meta SET held_at = created_at, last_time = 32472144000000, clock_events = 1,"
             " events = 2");
  const Result refused = bench.with_ledger({"clock", "confirm"});
  check_ended(refused, 7, "before ledger time");
  CHECK(query(bench.path("L"), "SELECT held_at = created_at FROM meta") == "1");
}
