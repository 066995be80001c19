// migrate, clock confirm and relocate.
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/catch.hpp"
#include "workbench.hpp"

using epsilog::test::contains;
using epsilog::test::kClinicPolicy;
using epsilog::test::lines;
using epsilog::test::query;
using epsilog::test::Result;
using epsilog::test::tamper;
using epsilog::test::Workbench;

namespace {

const std::vector<std::string> kRelease = {"release", "clinic", "count", "--epsilon", "0.1"};

std::string first_schema() {
  std::ifstream file(EPSILOG_FIRST_SCHEMA);
  std::string sql{std::istreambuf_iterator<char>(file), {}};
  if (sql.empty()) throw std::runtime_error("no " EPSILOG_FIRST_SCHEMA);
  return sql;
}

/// Writes the ledger L of a bench again as the first schema had it, row by row.
void as_schema_one(const Workbench& bench) {
  const std::string old = bench.path("old");
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(old.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) ==
          SQLITE_OK);
  std::string sql =
      "ATTACH '" + bench.path("L") + "' AS new; BEGIN;" + first_schema() +
      "INSERT INTO meta SELECT one, ledger_id, created_at, last_time, decisions, policy_versions,"
      " limit_changes FROM new.meta;"
      "INSERT INTO policy_version SELECT version, yaml, sha256, base_dir, applied_at, applied_by"
      " FROM new.policy_version ORDER BY version;"
      "INSERT INTO account SELECT id, dataset, scope, measure, budget, 0, 0 FROM new.account;"
      "UPDATE account AS a SET spent = (SELECT spent FROM new.account WHERE id = a.id);"
      "INSERT INTO decision SELECT seq, id, created_at, principal, key, request_digest, request,"
      " dataset, policy_version, outcome, reasons, accounts FROM new.decision ORDER BY seq;"
      "INSERT INTO charge SELECT * FROM new.charge;"
      "INSERT INTO release SELECT decision_id, mechanism, arithmetic, precision, sensitivity, bound,"
      " scale, grid, requested, charged, adjusted, published, value, components, cells,"
      " post_processing FROM new.release;"
      "PRAGMA application_id = 1162892108; PRAGMA user_version = 1; COMMIT; DETACH new";
  char* message = nullptr;
  const int rc = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
  CAPTURE(message == nullptr ? "" : message);
  REQUIRE(rc == SQLITE_OK);
  REQUIRE(sqlite3_close(db) == SQLITE_OK);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(bench.path("L") + suffix);
  std::filesystem::rename(old, bench.path("L"));
}

}  // namespace

TEST_CASE("migrate: a ledger of schema 1 is refused by name until migrated, then it answers as before",
          "[cli][migration]") {
  const Workbench bench;
  bench.init(kClinicPolicy);
  const Result first =
      bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--key", "k", "--json"});
  REQUIRE(first.exit == 0);
  as_schema_one(bench);

  for (const std::vector<std::string>& words :
       {kRelease, {"budget"}, {"history"}, {"audit", "verify"}, {"clock", "confirm"}}) {
    CAPTURE(words);
    const Result refused = bench.with_ledger(words);
    CHECK(refused.exit == 3);
    CHECK(contains(refused.err, "has schema 1, this program needs 3; run `epsilog migrate`"));
  }

  const Result migrated = bench.with_ledger({"migrate", "--json"});
  CAPTURE(migrated.err);
  CHECK(migrated.exit == 0);
  CHECK(migrated.json()["from"] == 1);
  CHECK(migrated.json()["to"] == 3);
  CHECK(contains(migrated.json()["copy"].get<std::string>(), "L.schema1"));
  CHECK(query(bench.path("L.schema1"), "PRAGMA user_version") == "1");

  const Result replayed =
      bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--key", "k", "--json"});
  CHECK(replayed.exit == 0);
  CHECK(replayed.json()["replayed"] == true);
  CHECK(replayed.json()["decision_id"] == first.json()["decision_id"]);
  CHECK(replayed.json()["value"] == first.json()["value"]);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(bench.with_ledger(kRelease).exit == 0);

  const Result again = bench.with_ledger({"migrate"});
  CHECK(again.exit == 0);
  CHECK(contains(again.out, "has schema 3 already: nothing to do"));
  CHECK(bench.with_ledger({"migrate", "--json"}).json()["copy"].is_null());
}

TEST_CASE("migrate: what lies at the name of the copy is not overwritten", "[cli][migration][negative]") {
  const Workbench bench;
  bench.init(kClinicPolicy);
  as_schema_one(bench);
  bench.write("L.schema1", "mine");
  const Result refused = bench.with_ledger({"migrate"});
  CHECK(refused.exit == 3);
  CHECK(lines(refused.err) == 1);
  CHECK(contains(refused.err, "move it away"));
  CHECK(bench.read("L.schema1") == "mine");
}

TEST_CASE(
    "clock confirm: after a jump it says where budgets stood, and otherwise that there is nothing to do",
    "[cli][clock]") {
  const Workbench bench;
  bench.init(kClinicPolicy);
  const Result nothing = bench.with_ledger({"clock", "confirm"});
  CHECK(nothing.exit == 0);
  CHECK(contains(nothing.out, "nothing to confirm"));

  // As if the clock had been set forwards a day since the ledger was made.
  tamper(bench.path("L"), "UPDATE meta SET boot_offset = boot_offset - 86400000");
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  const std::string created = query(bench.path("L"), "SELECT created_at FROM meta");
  CHECK(query(bench.path("L"), "SELECT held_at FROM meta") == created);
  CHECK(query(bench.path("L"), "SELECT kind FROM clock_event") == "forwards");

  const Result confirmed = bench.with_ledger({"clock", "confirm", "--as", "curator", "--json"});
  CAPTURE(confirmed.err);
  CHECK(confirmed.exit == 0);
  CHECK(confirmed.json()["was_held"] == true);
  CHECK(confirmed.json()["held_at"] == created);
  CHECK(query(bench.path("L"), "SELECT by FROM clock_event WHERE kind = 'confirmed'") == "curator");
  CHECK(bench.with_ledger({"clock", "confirm", "--json"}).json()["was_held"] == false);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("relocate: a moved source is found again, and is told of by verify, history and data check",
          "[cli][relocate]") {
  const Workbench bench;
  bench.init(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  std::filesystem::create_directory(bench.path("new"));
  std::filesystem::rename(bench.path("visits.csv"), bench.path("new/visits.csv"));
  CHECK(bench.with_ledger(kRelease).exit == 3);
  const auto relocate = [&](const std::string& source, std::vector<std::string> more) {
    std::vector<std::string> words{"relocate", "clinic", "--source", source, "--as", "ann"};
    words.insert(words.end(), more.begin(), more.end());
    return bench.with_ledger(words);
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
  CHECK(report["relocations"][0]["after_decision"] == 1);
  CHECK(report["relocations"][0]["dataset"] == "clinic");
  CHECK(report["relocations"][0]["source"] == bench.path("new/visits.csv"));
  CHECK(report["relocations"][0]["by"] == "ann");
  CHECK(report["relocations"][0]["why"] == "new server");

  const std::string line = "source of clinic to " + bench.path("new/visits.csv") + " by ann: new server";
  const std::string listed = bench.with_ledger({"history"}).out;
  CHECK(lines(listed) == 8);  // the heading, two decisions and the relocation, each on two lines
  CHECK(contains(listed, line));
  CHECK(listed.find("granted") < listed.find(line));
  CHECK(listed.find(line) < listed.rfind("granted"));
  CHECK(contains(bench.with_ledger({"history", "--limit", "1"}).out, line));
  CHECK_FALSE(contains(bench.with_ledger({"history", "--quiet"}).out, line));
  CHECK(lines(bench.with_ledger({"history", "--json"}).out) == 2);
}

TEST_CASE("relocate: what cannot be a source's place is refused by name", "[cli][relocate][negative]") {
  const Workbench bench;
  bench.init(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  const auto refused = [&](const std::vector<std::string>& words, int exit, const std::string& why) {
    std::vector<std::string> all{"relocate"};
    all.insert(all.end(), words.begin(), words.end());
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
  const Workbench bench;
  bench.init(kClinicPolicy);
  // As if the clock had jumped into the year 2999, and the policy had been applied there.
  const std::string trigger =
      query(bench.path("L"), "SELECT sql FROM sqlite_master WHERE name = 'policy_version_no_update'");
  tamper(bench.path("L"),
         "DROP TRIGGER policy_version_no_update;"
         "UPDATE policy_version SET applied_at = '2999-01-01T00:00:00.000Z';" +
             trigger +
             ";"
             "INSERT INTO clock_event(seq, after_decision, kind, ledger_time, wall_clock, by, event)"
             " SELECT 1, 0, 'forwards', created_at, '2999-01-01T00:00:00.000Z', '', 2 FROM meta;"
             "UPDATE meta SET held_at = created_at, last_time = '2999-01-01T00:00:00.000Z', clock_events = 1,"
             " events = 2");
  const Result refused = bench.with_ledger({"clock", "confirm"});
  CHECK(refused.exit == 7);
  CHECK(contains(refused.err, "before ledger time"));
  CHECK(query(bench.path("L"), "SELECT held_at FROM meta").size() == 24);
}
