// Ledgers that older programs wrote tell after a migration what they told before, row for row. What the
// command says of them is for tests/engine/history and tests/cli.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/told_history.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> kept_ledgers() {
  std::vector<fs::path> kept;
  for (const auto& entry : fs::recursive_directory_iterator(EPSILOG_KEPT_LEDGERS)) {
    if (entry.path().extension() == ".epsilog") kept.push_back(entry.path());
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

/// A copy that may be written to.
struct CopiedLedger {
  explicit CopiedLedger(const fs::path& kept) : path(directory.path() + "/L") {
    fs::copy_file(kept, path);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  TemporaryDirectory directory;
  std::string path;
};

/// Without what a migration adds: its own row, and those of the schemas that it went through.
nlohmann::json without_migrations(nlohmann::json told, std::size_t kept) {
  auto& migrations = told["migrations"];
  migrations.erase(migrations.begin() + static_cast<std::ptrdiff_t>(kept), migrations.end());
  return told;
}

}  // namespace

TEST_CASE("old ledgers: every row of every one tells after a migration what it told before",
          "[ledger][migration][history]") {
  std::set<std::string> schemas;
  std::size_t migrated = 0;
  for (const fs::path& kept : kept_ledgers()) {
    CAPTURE(kept.string());
    const CopiedLedger copy(kept);
    const auto before = told_by_rows(copy.path);
    schemas.insert(query_sql(copy.path, "PRAGMA user_version"));
    const auto migration = ledger::Ledger::migrate(copy.path);
    for (const auto& fault : migration.faults)
      UNSCOPED_INFO(fault.record + " " + fault.code + " " + fault.message);
    REQUIRE(migration.faults.empty());
    CHECK(migration.to == 4);
    CHECK(difference(before, without_migrations(told_by_library(copy.path), before["migrations"].size())) ==
          "");
    CHECK(told_by_rows(migration.copy) == before);
    auto snapshot = ledger::Ledger::open_read_only(copy.path).snapshot();
    ledger::Inspection inspection(snapshot);
    CHECK(inspection.order_faults().empty());
    CHECK(inspection.completeness_faults().empty());
    CHECK(inspection.lifecycle_faults().empty());
    CHECK(inspection.clock_faults().empty());
    CHECK(inspection.record_faults().empty());
    CHECK(inspection.reference_faults().empty());
    CHECK(inspection.storage_faults(true).empty());
    CHECK(inspection.schema_differences().empty());
    CHECK(balances_fold(snapshot));
    ++migrated;
  }
  CHECK(schemas == std::set<std::string>{"1", "2", "3"});
  CHECK(migrated >= 25);
}

namespace {

/// The accounts that a version opened which the ledger has, as whoever reads policies would say.
ledger::MigrationSteps opening(const std::map<std::int64_t, std::vector<ledger::AccountName>>& accounts) {
  ledger::MigrationSteps steps;
  steps.meaning = [accounts](const ledger::PolicyVersion& version) -> ledger::PolicyMeaning {
    const auto found = accounts.find(version.version);
    return {.implies = "{}",
            .accounts = found == accounts.end() ? std::vector<ledger::AccountName>() : found->second};
  };
  return steps;
}

/// Kind and row of every line, decisions by their number alone: L(edger or limit), V(ersion), p(lace),
/// R(elocation), A(ccount), X (limit removal), P(lan), C(lock), M(igration).
std::string lines_of(const std::string& path) {
  return query_sql(
      path,
      "SELECT group_concat(CASE kind WHEN 8 THEN '' || row ELSE substr('LVpRALXPDCM', kind + 1, 1) ||"
      " row END, ' ') FROM log");
}

}  // namespace

TEST_CASE("old ledgers: what stood between two decisions stands there in its order among the lines",
          "[ledger][migration][order]") {
  const auto migrated = [](const std::string& name,
                           const std::map<std::int64_t, std::vector<ledger::AccountName>>& accounts) {
    const CopiedLedger copy(fs::path(EPSILOG_KEPT_LEDGERS) / (name + ".epsilog"));
    REQUIRE(ledger::Ledger::migrate(copy.path, {}, opening(accounts)).to == 4);
    return lines_of(copy.path);
  };
  const ledger::AccountName clinic{"clinic", "", "epsilon"};
  const ledger::AccountName lab{"lab", "", "epsilon"};
  const ledger::AccountName lab_alice{"lab", "principal:alice", "epsilon"};
  CHECK(migrated("schema3/between", {{1, {clinic}}, {2, {clinic}}, {3, {lab_alice, lab, clinic}}}) ==
        "L0 V1 p1 A1 P1 1 P2 2 P3 3 V2 p2 L1 P4 4 M2 P5 5 P6 6 M3 C1 P7 7 V3 p3 A2 A3 L2 V4 p4 L3 L4 L5 V5 "
        "p5 X1 R1 P8 8 C2 P9 9 C3 10 11 C4 R2 V6 p6 L6 L7 R3 R4 P10 12 P11 13 M4");
  const std::vector<ledger::AccountName> of_fresh{{"clinic", "principal:bob", "epsilon"},
                                                  {"clinic", "lifetime", "epsilon"},
                                                  {"clinic", "principal:alice", "epsilon"}};
  CHECK(migrated("schema3/fresh", {{1, of_fresh}}) ==
        "L0 V1 p1 A1 A2 A3 V2 p2 L1 L2 A4 P1 1 P2 2 P3 3 A5 P4 4 5 V3 p3 L3 X1 R1 C1 P5 6 C2 V4 p4 L4 R2 A6 "
        "P6 7 8 C3 9 P7 10 V5 p5 L5 R3 M4");
  // Where nobody says what a policy means, an account is opened when it is needed.
  CHECK(migrated("schema3/fresh", {}) ==
        "L0 V1 p1 V2 p2 A1 L1 A3 L2 A2 A4 P1 1 P2 2 P3 3 A5 P4 4 5 V3 p3 L3 X1 R1 C1 P5 6 C2 V4 p4 L4 R2 A6 "
        "P6 7 8 C3 9 P7 10 V5 p5 L5 R3 M4");
  CHECK(migrated("schema1/clinic", {}) == "L0 V1 p1 A1 P1 1 P2 2 P3 3 V2 p2 L1 P4 4 M2 M3 M4");
}
