// Ledgers that cannot be used now, or at all: one clear line and the documented exit code.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::vector<std::string> kRelease = {"release", "clinic", "count", "--epsilon", "0.1"};

void check_failure(const Result& result, int exit, const std::string& part) {
  CAPTURE(result.err, part);
  CHECK(result.exit == exit);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(contains(result.err, part));
}

}  // namespace

TEST_CASE("no ledger: every verb ends with 3", "[cli][negative]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  const std::vector<std::string> before = bench.files();
  for (const CaseRow& row : cli_table("ledger_verbs.tsv")) {
    if (!contains(row.at(0), "absent")) continue;
    const Words words = words_of(row.at(1));
    CAPTURE(words);
    check_failure(bench.with_ledger(words), 3, "no ledger at");
  }
  CHECK(bench.files() == before);
}

TEST_CASE("a ledger of a development version ends every verb with 3 and one message", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  bench.write("policy.yaml", kClinicPolicy);
  std::filesystem::copy_file(bench.path("L"), bench.path("whole"));
  const Result exported = bench.with_ledger({"audit", "export"});
  REQUIRE(exported.exit == 0);
  bench.write("lines", exported.out);
  tamper(bench.path("L"), "PRAGMA application_id = 1162892108; PRAGMA user_version = 1");  // "EPSL"
  const std::string before = bench.read("L");
  for (const CaseRow& row : cli_table("ledger_verbs.tsv")) {
    if (!contains(row.at(0), "old")) continue;
    const Words words = words_of(row.at(1));
    CAPTURE(words);
    const Result result = bench.with_ledger(words);
    check_failure(result, 3, "L: written by a development version of Epsilog; not readable");
    CHECK(bench.read("L") == before);
  }
  const Result restored = bench.run(
      {"restore", bench.path("L"), "--ledger", bench.path("other"), "--accept-rollback", "--why", "lost"});
  check_failure(restored, 3, "L: written by a development version of Epsilog; not readable");
}

TEST_CASE("another program's database or a newer schema ends with 3", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  tamper(bench.path("L"), "PRAGMA application_id = 42");
  check_failure(bench.with_ledger(kRelease), 3, "application_id");
  check_failure(bench.with_ledger({"audit", "verify"}), 3, "application_id");
  const Workbench newer(kClinicPolicy);
  tamper(newer.path("L"), "PRAGMA user_version = 999");
  check_failure(newer.with_ledger(kRelease), 3, "999");
  check_failure(newer.with_ledger({"budget"}), 3, "999");
}

TEST_CASE("a symbolic or hard link to a ledger is refused", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  std::filesystem::create_symlink("L", bench.path("soft"));
  check_failure(bench.run(with(kRelease, {"--ledger", "soft"})), 3, "symbolic link");
  std::filesystem::create_hard_link(bench.path("L"), bench.path("hard"));
  check_failure(bench.run(with(kRelease, {"--ledger", "hard"})), 3, "hard links");
}

TEST_CASE("locked: a writer waits as long as --wait says, then ends with 7, and readers do not wait",
          "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const int lock = open(bench.path("L.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(lock >= 0);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const std::string before = dump(bench.path("L"));
  const Result result = bench.with_ledger(with(kRelease, {"--wait", "0.2", "--json"}));
  CHECK(result.exit == 7);
  CHECK(result.json()["error"]["code"] == "ledger_busy");
  check_failure(bench.with_ledger(with(kRelease, {"--wait", "0"})), 7,
                "in use by process " + std::to_string(getpid()) + " (epsilog_cli_tes)");
  CHECK(bench.with_ledger({"budget"}).exit == 0);
  CHECK(bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(dump(bench.path("L")) == before);
  close(lock);
  CHECK(bench.with_ledger(kRelease).exit == 0);
}

TEST_CASE("a file that may not grow is no room, not an error of the disk: 7, and nothing is poisoned",
          "[cli][negative][crash]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  // Room for SQLite's shared-memory file of 32 KiB but not for the frames of a release: writing past the
  // limit fails with EFBIG, as writing beyond a quota does with EDQUOT.
  Streams cramped;
  cramped.file_size_max = 33'000;
  const Result failed = bench.with_ledger(with(kRelease, {"--key", "k", "--json"}), cramped);
  CAPTURE(failed.err);
  CHECK(failed.exit == 7);
  CHECK(failed.json()["error"]["code"] == "ledger_busy");
  CHECK(contains(failed.err, "make room"));
  const std::vector<std::string> files = bench.files();
  CHECK(std::find(files.begin(), files.end(), "L.poisoned") == files.end());
  CHECK(bench.with_ledger({"budget", "--json"}).json()["accounts"][0]["spent"] == "0.1");
  CHECK(bench.with_ledger(with(kRelease, {"--key", "k"})).exit == 0);
  CHECK(bench.with_ledger({"budget", "--json"}).json()["accounts"][0]["spent"] == "0.2");
}

TEST_CASE("read-only directory: writers end with 3, readers work or say why not, and nothing is left behind",
          "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  const std::string before = dump(bench.path("L"));
  for (const char* file : {"L-wal", "L-shm", "L.lock", "L.queue"}) std::filesystem::remove(bench.path(file));
  bench.make_read_only();
  const std::vector<std::string> files = bench.files();
  Streams heeding;
  heeding.heed_permissions = true;
  check_failure(bench.with_ledger(kRelease, heeding), 3, "trying again does not help");
  const Result budget = bench.with_ledger({"budget", "--json"}, heeding);
  CAPTURE(budget.err);
  CHECK(budget.exit == 0);
  CHECK(budget.json()["accounts"][0]["spent"] == "0.1");
  CHECK(bench.with_ledger({"audit", "verify"}, heeding).exit == 0);
  CHECK(bench.run({"init", "--policy", "policy.yaml", "--ledger", "M"}, heeding).exit == 3);
  CHECK(bench.files() == files);
  bench.make_writable();
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("recover: a ledger poisoned before the last boot is cleared once it verifies", "[cli][crash]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger(kRelease).exit == 0);
  bench.write("L.poisoned",
              R"({"reason": "test", "boot_id": "an earlier boot", "time": "2024-01-01T00:00:00.000Z"})");
  CHECK(bench.with_ledger(kRelease).exit == 7);
  const Result recovered = bench.with_ledger({"recover", "--json"});
  INFO(recovered.err);
  CHECK(recovered.exit == 0);
  check_members(recovered.json(), R"({"was_poisoned": true, "reason": "test"})");
  CHECK(bench.with_ledger(kRelease).exit == 0);
  const Result nothing = bench.with_ledger({"recover", "--json"});
  CHECK(nothing.exit == 0);
  CHECK(nothing.json()["was_poisoned"] == false);
}
