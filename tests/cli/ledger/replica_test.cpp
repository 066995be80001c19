// A policy with a replica, from the command line: refused without it, put right from it.
#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> release(const std::string& key) {
  return {"release", "clinic", "count", "--epsilon", "0.1", "--key", key, "--as", "alice", "--json"};
}

std::string code_of(const Result& result) {
  return result.json()["error"]["code"].get<std::string>();
}

void init_with_replica(const Workbench& bench) {
  bench.init(std::string(kClinicPolicy) + "\nreplica: {file: " + bench.path("R") + "}\n");
}

void put_back(const Workbench& bench, const std::string& copy) {
  for (const char* file : {"L-wal", "L-shm"}) fs::remove(bench.path(file));
  fs::copy_file(bench.path(copy), bench.path("L"), fs::copy_options::overwrite_existing);
}

}  // namespace

TEST_CASE("replica: while it is gone nothing is recorded, and what is on record is told", "[cli][replica]") {
  const Workbench bench;
  init_with_replica(bench);
  const Result first = bench.with_ledger(release("a"));
  CHECK(first.exit == 0);
  fs::rename(bench.path("R"), bench.path("away"));
  const Result refused = bench.with_ledger(release("b"));
  CHECK(refused.exit == 7);
  CHECK(code_of(refused) == "replica_unavailable");
  CHECK(contains(refused.err, "nothing was recorded"));
  CHECK(bench.with_ledger(release("a")).json()["value"] == first.json()["value"]);
  fs::rename(bench.path("away"), bench.path("R"));
  CHECK(bench.with_ledger(release("b")).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("replica: a ledger that was put back is refused, recovered, and goes on", "[cli][replica]") {
  const Workbench bench;
  init_with_replica(bench);
  CHECK(bench.with_ledger(release("a")).exit == 0);
  fs::copy_file(bench.path("L"), bench.path("copy"));
  const Result told = bench.with_ledger(release("b"));
  put_back(bench, "copy");

  const Result refused = bench.with_ledger(release("c"));
  CHECK(refused.exit == 6);
  CHECK(code_of(refused) == "lines_missing");
  // Where nothing remembers how many lines there were, the replica has what the copy lacks.
  fs::remove(bench.path("L.lock"));
  CHECK(code_of(bench.with_ledger(release("c"))) == "ledger_rolled_back");
  CHECK(bench.with_ledger({"recover", "--from", "R"}).exit == 2);  // without a reason
  const Result recovered =
      bench.with_ledger({"recover", "--from", "R", "--why", "the wrong copy", "--as", "cleo", "--json"});
  CAPTURE(recovered.err);
  CHECK(recovered.exit == 0);
  check_members(recovered.json(), R"({"restored_lines": 1, "dropped_lines": 0})");
  const Result again = bench.with_ledger(release("b"));
  CHECK(again.json()["value"] == told.json()["value"]);
  CHECK(again.json()["replayed"] == true);
  CHECK(bench.with_ledger(release("c")).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(contains(bench.with_ledger({"audit", "export"}).out, "\"why\":\"the wrong copy\""));
  CHECK(contains(bench.with_ledger({"recover", "--from", "R", "--why", "again"}).out, "it lacks nothing"));
}

TEST_CASE("replica: a ledger that is lost is made again", "[cli][replica]") {
  const Workbench bench;
  init_with_replica(bench);
  const Result told = bench.with_ledger(release("a"));
  const std::string lines = bench.with_ledger({"audit", "export"}).out;
  for (const char* file : {"L", "L-wal", "L-shm", "L.lock", "L.queue"}) fs::remove(bench.path(file));
  const Result made = bench.with_ledger({"recover", "--from", "R", "--why", "lost"});
  CAPTURE(made.err);
  CHECK(made.exit == 0);
  CHECK(contains(made.out, "lines built from the replica"));
  CHECK(bench.with_ledger({"audit", "export"}).out.starts_with(lines));
  CHECK(bench.with_ledger(release("a")).json()["value"] == told.json()["value"]);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("replica: to give it up is looser, and so is to sync it no more", "[cli][replica]") {
  const Workbench bench;
  init_with_replica(bench);
  bench.write("none.yaml", kClinicPolicy);
  bench.write("unsynced.yaml",
              std::string(kClinicPolicy) + "\nreplica: {file: " + bench.path("R") + ", sync: none}\n");
  for (const char* policy : {"unsynced.yaml", "none.yaml"}) {
    CAPTURE(policy);
    CHECK(bench.with_ledger({"policy", "apply", policy}).exit == 2);
    CHECK(contains(bench.with_ledger({"policy", "diff", policy}).out, "looser"));
    CHECK(bench.with_ledger({"policy", "apply", policy, "--why", "a test"}).exit == 0);
  }
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}
