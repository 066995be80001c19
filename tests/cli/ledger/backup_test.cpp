// backup, restore, and a replica that is given up in part, from the command line.
#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> release_with(const std::string& key) {
  return {"release", "clinic", "count", "--epsilon", "0.1", "--key", key, "--as", "alice", "--json"};
}

/// One release, a backup B, another release; then L is moved away.
struct Lost {
  explicit Lost(bool replicated) {
    bench.init(std::string(kClinicPolicy) +
               (replicated ? "\nreplica: {file: " + bench.path("R") + "}\n" : ""));
    REQUIRE(bench.with_ledger(release_with("a")).exit == 0);
    backup = bench.with_ledger({"backup", "B", "--json"});
    later = bench.with_ledger(release_with("b"));
    REQUIRE(later.exit == 0);
    exported = bench.with_ledger({"audit", "export"}).out;
    for (const char* file : {"L", "L-wal", "L-shm"}) fs::remove(bench.path(file));
  }
  [[nodiscard]] Result restore(std::vector<std::string> more = {}) const {
    return bench.with_ledger(with({"restore", "B", "--as", "cleo", "--json"}, more));
  }
  [[nodiscard]] std::string code_of(const Result& result) const {
    return result.json()["error"]["code"].get<std::string>();
  }

  Workbench bench;
  Result backup;
  Result later;
  std::string exported;
};

}  // namespace

TEST_CASE("backup: says where it stands, verifies, and overwrites nothing", "[cli][backup]") {
  const Lost lost(false);
  CAPTURE(lost.backup.err);
  CHECK(lost.backup.exit == 0);
  const auto told = lost.backup.json();
  check_members(told, R"({"ledger": "L", "backup": "B", "decisions": 1, "replica": null})");
  CHECK(told["faults"].empty());
  CHECK(told["bytes"] == fs::file_size(lost.bench.path("B")));
  CHECK(fs::status(lost.bench.path("B")).permissions() == fs::perms(0600));
  CHECK(std::to_string(told["size"].get<int>()) == query(lost.bench.path("B"), "SELECT log_size FROM meta"));
  const Result shown = lost.bench.run({"audit", "verify", "--ledger", "B"});
  CHECK(shown.exit == 0);
  CHECK(lost.bench.run({"audit", "export", "--ledger", "B"}).out ==
        lost.exported.substr(0, lost.bench.run({"audit", "export", "--ledger", "B"}).out.size()));
  const Result again = lost.bench.run({"backup", "B", "--ledger", "B"});
  CHECK(again.exit == 3);
  CHECK(lost.bench.run({"backup", "C", "--ledger", "B", "--quiet"}).out.empty());
  const Result text = lost.bench.run({"backup", "D", "--ledger", "B"});
  CHECK(contains(text.out, "D is a backup of"));
  CHECK(contains(text.out, told["root"].get<std::string>()));
  CHECK(contains(text.out, "at 1 decisions"));
  const Result taken = lost.bench.run({"backup", "D", "--ledger", "B", "--json"});
  check_ended(taken, 3, "never overwritten");
}

TEST_CASE("backup: a ledger that does not verify has none", "[cli][backup][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger(release_with("a")).exit == 0);
  const auto joined = [&](const std::string& what) {
    return query(bench.path("L"),
                 "SELECT group_concat(" + what + ", ';') FROM sqlite_master WHERE type = 'trigger'");
  };
  const std::string triggers = joined("sql");
  epsilog::test::tamper(bench.path("L"), joined("'DROP TRIGGER ' || name") +
                                             ";UPDATE log SET blind = zeroblob(16) WHERE line_index = 1;" +
                                             triggers);
  const Result result = bench.with_ledger({"backup", "B", "--json"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit == 6);
  CHECK_FALSE(result.json()["faults"].empty());
  CHECK(result.json()["backup"].is_null());
  CHECK(contains(bench.with_ledger({"backup", "B"}).out, "does not verify: no backup was made"));
  CHECK_FALSE(fs::exists(bench.path("B")));
}

TEST_CASE("backup: no verb that reads one leaves a file beside it", "[cli][backup]") {
  const Lost lost(false);
  const std::string id = epsilog::test::decision_id(lost.bench.path("B"));
  fs::remove(lost.bench.path("B-wal"));
  fs::remove(lost.bench.path("B-shm"));
  const std::string bytes = lost.bench.read("B");
  for (const CaseRow& row : cli_table("ledger/backup_readers.tsv")) {
    Words words = words_of(row.at(0));
    for (std::string& word : words) word = word == "ID" ? id : word;
    CAPTURE(words);
    words.insert(words.end(), {"--ledger", words.front() == "restore" ? "N" : "B"});
    const Result result = lost.bench.run(words);
    CAPTURE(result.err);
    CHECK(result.exit == 0);
    CHECK_FALSE(fs::exists(lost.bench.path("B-wal")));
    CHECK_FALSE(fs::exists(lost.bench.path("B-shm")));
  }
  CHECK((lost.bench.read("B") == bytes));
  fs::rename(lost.bench.path("B"), lost.bench.path("old"));
  CHECK(lost.bench.run({"backup", "B", "--ledger", "N"}).exit == 0);
}

TEST_CASE("restore: what the replica holds after the backup is there again", "[cli][backup][replica]") {
  const Lost lost(true);
  CHECK(lost.backup.json()["replica"] == "agrees");
  const Result done = lost.restore({"--why", "disk failed"});
  CAPTURE(done.err);
  CHECK(done.exit == 0);
  CHECK(done.json()["restored_lines"] == 1);
  CHECK(done.json()["replica"] == lost.bench.path("R"));
  check_members(done.json(), R"({"dropped_lines": 0, "dropped_from": null})");
  const std::string now = lost.bench.with_ledger({"audit", "export"}).out;
  CHECK(now.starts_with(lost.exported));
  CHECK(lines(now) == lines(lost.exported) + 1);
  check_parts(now, {"\"cause\":\"restored\"", "\"why\":\"disk failed\""});
  CHECK(lost.bench.with_ledger(release_with("b")).json()["value"] == lost.later.json()["value"]);
  CHECK(lost.bench.with_ledger({"audit", "verify"}).exit == 0);
  const Result taken = lost.restore({"--why", "again"});
  CHECK(taken.exit == 3);
  CHECK(lost.code_of(taken) == "ledger_unusable");
}

TEST_CASE("restore: without a replica only with a reason, and on record", "[cli][backup]") {
  const Lost lost(false);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"--accept-rollback"}, {"--why", "x"}}) {
    const Result refused = lost.restore(words);
    check_ended(refused, 2, "--accept-rollback");
    CHECK_FALSE(fs::exists(lost.bench.path("L")));
  }
  const Result done = lost.bench.with_ledger({"restore", "B", "--accept-rollback", "--why", "no replica"});
  CAPTURE(done.err);
  CHECK(done.exit == 0);
  CHECK(contains(done.out, "what was spent after it is forgotten"));
  CHECK(contains(lost.bench.with_ledger({"audit", "export"}).out, "\"cause\":\"rolled_back\""));
  CHECK(lost.bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(lost.bench.with_ledger(release_with("b")).json()["replayed"] == false);
}

TEST_CASE("restore: what a checkpoint is not contained in is refused", "[cli][backup][evidence]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"key", "generate", "log.key", "--quiet"}).exit == 0);
  const auto sign = [&](const std::string& file) {
    bench.write(file, bench.with_ledger({"audit", "checkpoint", "--key", "log.key"}).out);
  };
  sign("old");
  REQUIRE(bench.with_ledger({"backup", "B"}).exit == 0);
  REQUIRE(bench.with_ledger(release_with("a")).exit == 0);
  sign("new");
  for (const char* file : {"L", "L-wal", "L-shm"}) fs::remove(bench.path(file));
  const auto restore = [&](const std::string& checkpoint) {
    return bench.with_ledger(
        {"restore", "B", "--accept-rollback", "--why", "lost", "--checkpoint", checkpoint});
  };
  const Result refused = restore("new");
  CHECK(refused.exit == 6);
  CHECK_FALSE(fs::exists(bench.path("L")));
  CHECK(bench.with_ledger({"restore", "B", "--vkey", "x"}).exit == 2);
  const Result done = restore("old");
  CAPTURE(done.err);
  check_ended(done, 0, "unsigned");
  CHECK(bench.with_ledger({"audit", "verify", "--checkpoint", "old"}).exit == 0);
}

TEST_CASE("recover: what follows damage in the replica is given up only where that is said",
          "[cli][replica][negative]") {
  const Workbench bench;
  bench.init(std::string(kClinicPolicy) + "\nreplica: {file: " + bench.path("R") + "}\n");
  REQUIRE(bench.with_ledger(release_with("a")).exit == 0);
  const std::string before = bench.read("R");
  REQUIRE(bench.with_ledger(release_with("b")).exit == 0);
  REQUIRE(bench.with_ledger(release_with("c")).exit == 0);
  std::string damaged = bench.read("R");
  damaged[damaged.find("\"granted\"", before.size()) + 1] = 'G';
  bench.write("R", damaged);
  for (const char* file : {"L", "L-wal", "L-shm"}) fs::remove(bench.path(file));
  const Result refused = bench.with_ledger({"recover", "--from", "R", "--why", "lost"});
  CAPTURE(refused.err);
  check_ended(refused, 6, "--accept-truncated");
  CHECK(bench.read("R") == damaged);
  CHECK(bench.with_ledger({"recover", "--accept-truncated"}).exit == 2);
  const std::vector<std::string> truncated{"recover", "--from", "R", "--why", "lost", "--accept-truncated"};
  const Result shorter = bench.with_ledger(truncated);
  check_ended(shorter, 6, "L.lock remembers");
  CHECK(bench.read("R") == damaged);
  std::vector<std::string> accepted = truncated;
  accepted.emplace_back("--accept-rollback");
  const Result done = bench.with_ledger(accepted);
  CAPTURE(done.err);
  CHECK(done.exit == 0);
  const auto kept = lines(before) - 2;  // trailers: of init, and of the first release
  CHECK(contains(done.out, "cut off  2 lines (" + std::to_string(damaged.size() - before.size()) +
                               " bytes) of the replica from line " + std::to_string(kept)));
  CHECK(bench.read("R").starts_with(before));
  CHECK(contains(bench.with_ledger({"audit", "export"}).out, "\"dropped_lines\":2"));
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(bench.with_ledger(release_with("b")).json()["replayed"] == false);
}

TEST_CASE("recover: what had failed is on record", "[cli][crash]") {
  const Workbench bench(kClinicPolicy);
  bench.write(
      "L.poisoned",
      R"({"reason": "fsync failed", "boot_id": "an earlier boot", "time": "2024-01-01T00:00:00.000Z"})");
  REQUIRE(bench.with_ledger({"recover", "--as", "cleo", "--why", "a new disk"}).exit == 0);
  const std::string told = bench.with_ledger({"audit", "export"}).out;
  CHECK(contains(told, R"("by":"cleo","cause":"poisoned")"));
  CHECK(contains(told, R"("why":"2024-01-01T00:00:00.000Z fsync failed; a new disk")"));
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}
