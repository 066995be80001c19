// audit verify through the command: a sound ledger passes, and each kind of tampering is named.
#include "cli/workbench.hpp"
#include "support/case_table.hpp"

using namespace epsilog::test;

namespace {

/// Three granted decisions and a refused one.
void fill(const Workbench& bench) {
  bench.init(kClinicPolicy);
  for (const char* statistic : {"count", "mean:cost", "histogram:ward"}) {
    REQUIRE(bench.with_ledger({"release", "clinic", statistic, "--epsilon", "0.1"}).exit == 0);
  }
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "5"}).exit == 4);
}

}  // namespace

TEST_CASE("audit: an untouched ledger verifies and every decision is counted", "[cli][audit]") {
  const Workbench bench;
  fill(bench);
  const Result result = bench.with_ledger({"audit", "verify", "--json"});
  INFO(result.out);
  CHECK(result.exit == 0);
  json report = result.json();
  for (const char* field : {"ledger_id", "policy_version", "policy_sha256", "accounts", "policy_versions"}) {
    CHECK(report.erase(field) == 1);
  }
  CHECK(report ==
        json::parse(R"({"ok": true, "records": 4, "faults": [], "notes": [], "length_record": "present",
    "file_system": "local",
                              "stale_replicas": [], "relocations": [], "events": [],
                              "claimed_approvals": null, "ended_credentials": null})"));
  CHECK(contains(bench.with_ledger({"audit", "verify"}).out, "verified: 4 decisions"));
  CHECK(bench.with_ledger({"audit", "verify", "--quiet"}).out.empty());
}

TEST_CASE("audit: how far SQLite checks the file can be chosen, and the report says what it did not",
          "[cli][audit]") {
  const Workbench bench;
  fill(bench);
  const auto verify = [&](const std::vector<std::string>& more) {
    return bench.with_ledger(with({"audit", "verify"}, more));
  };
  const std::string whole = verify({}).out;
  CHECK_FALSE(contains(whole, "unchecked"));
  CHECK(verify({"--storage", "full"}).out == whole);
  CHECK(verify({"--storage", "quick"}).out ==
        whole + "  unchecked  whether the indices of the file have what its tables have\n");
  CHECK(verify({"--storage", "none"}).out == whole + "  unchecked  the pages and the indices of the file\n");
  for (const char* storage : {"quick", "none"})
    CHECK(verify({"--storage", storage, "--json"}).json()["storage"] == storage);
  CHECK_FALSE(verify({"--storage", "full", "--json"}).json().contains("storage"));
  for (const char* none : {"", "Quick", "integrity_check"}) CHECK(verify({"--storage", none}).exit == 2);
}

TEST_CASE("audit: each tampering is found, with the record it touched", "[cli][audit][negative]") {
  const Workbench bench;
  fill(bench);
  const std::string first = decision_id(bench.path("L"), 1);
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/cli/ledger/tamperings.tsv")) {
    const Workbench copy;
    for (const std::string& file : bench.files()) copy.write(file, bench.read(file));
    tamper(copy.path("L"), row.at(1));
    const Result result = copy.with_ledger({"audit", "verify", "--json"});
    CAPTURE(row, result.out, result.err);
    CHECK(result.exit == 6);
    const json report = result.json();
    CHECK(report["ok"] == false);
    REQUIRE_FALSE(report["faults"].empty());
    bool named = row.at(2) == "any";
    for (const json& fault : report["faults"]) {
      CHECK_FALSE(fault["code"].get<std::string>().empty());
      CHECK_FALSE(fault["message"].get<std::string>().empty());
      named = named || fault["record"] == first;
    }
    CHECK(named);
    CHECK(copy.with_ledger({"audit", "verify"}).exit == 6);
  }
}

TEST_CASE("audit: a truncated or overwritten ledger ends with 6", "[cli][audit][negative]") {
  const Workbench bench;
  fill(bench);
  const std::string whole = bench.read("L");
  REQUIRE(whole.size() > 8192);
  std::filesystem::remove(bench.path("L-wal"));
  std::filesystem::remove(bench.path("L-shm"));
  std::string damaged = whole;
  damaged.replace(4096, 4096, std::string(4096, '\x5a'));
  for (const std::string& content :
       {std::string(), whole.substr(0, 100), whole.substr(0, 4096 * 2 + 17), damaged}) {
    bench.write("L", content);
    CAPTURE(content.size());
    const Result verified = bench.with_ledger({"audit", "verify", "--json"});
    CAPTURE(verified.out, verified.err);
    CHECK(verified.exit == 6);
    CHECK(verified.json()["ok"] == false);
  }
}
