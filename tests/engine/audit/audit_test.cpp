#include <filesystem>
#include <fstream>
#include <set>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::audit_verify;
using engine::AuditReport;
using engine::Engine;

namespace {

/// A ledger with every kind of record: grants, refusals, keys, a conflict, a raise.
class History {
 public:
  History() : clinic("epsilon: 2") {
    Engine engine = clinic.open();
    (void)release(engine, request("count", "0.5", "k1"));
    (void)release(engine, request("mean:cost", "0.5", "k2", "ward"));
    (void)release(engine, request("count", "0.25", "k1"));
    (void)release(engine, request("count", "3"));
    clinic.folder.write("raised.yaml", clinic_policy("epsilon: 4"));
    (void)engine.apply_policy(clinic.folder.path("raised.yaml"), "curator", "raise");
    (void)release(engine, request("count", "2", "k3"));
    (void)release(engine, supplied("3", "0.1"));
  }
  [[nodiscard]] AuditReport after(const std::string& sql) const {
    tamper(clinic.ledger(), sql);
    return audit_verify(clinic.ledger());
  }

  Clinic clinic;
};

bool names(const AuditReport& report, const std::string& code) {
  for (const auto& fault : report.faults) {
    if (fault.code == code) return true;
  }
  return false;
}

std::string all(const AuditReport& report) {
  std::string text;
  for (const auto& fault : report.faults)
    text += fault.record + " " + fault.code + ": " + fault.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("audit: an honest history verifies, record by record", "[engine][audit]") {
  History history;
  const AuditReport report = audit_verify(history.clinic.ledger());
  INFO(all(report));
  CHECK(report.ok);
  CHECK(report.records == 6);
}

TEST_CASE("audit: every kind of tampering is found and named", "[engine][audit][negative]") {
  struct Tampering {
    const char* what;
    const char* sql;
    const char* code;
  };
  const std::vector<Tampering> tamperings = {
      {"a charge lowered", "UPDATE charge SET amount = 1 WHERE amount = 2000000000000", "charge_changed"},
      {"a charge and its balance lowered together",
       "UPDATE charge SET amount = 1 WHERE amount = 2000000000000; UPDATE account SET spent = spent - "
       "1999999999999",
       "charge_changed"},
      {"a charge removed", "DELETE FROM charge WHERE amount = 2000000000000", "charge_changed"},
      {"a charge added to a refusal",
       "INSERT INTO charge SELECT id, 1, 5 FROM decision WHERE outcome = 'refused' LIMIT 1",
       "charge_changed"},
      {"a balance lowered", "UPDATE account SET spent = 0", "balance_changed"},
      {"a limit raised in silence", "UPDATE account SET budget = budget * 2", "limit_changed"},
      {"a reservation made up", "UPDATE account SET reserved = 1", "reservation_unfounded"},
      {"a released value changed",
       "UPDATE release SET value = '[\"123\"]' WHERE rowid = (SELECT min(rowid) FROM release)",
       "value_changed"},
      {"a component value changed with the value",
       "UPDATE release SET value = '[\"123.5\"]', components = json_set(components, '$[0].values', "
       "json('[\"123.5\"]')) "
       "WHERE rowid = (SELECT min(rowid) FROM release)",
       "value_impossible"},
      {"the noise scale restated",
       "UPDATE release SET scale = '1', components = json_set(components, '$[0].lambda', '1') "
       "WHERE rowid = (SELECT min(rowid) FROM release)",
       "release_changed"},
      {"a release removed", "DELETE FROM release WHERE rowid = (SELECT min(rowid) FROM release)",
       "release_missing"},
      {"a request restated",
       "UPDATE decision SET request = replace(request, '\"count\"', '\"units\"') WHERE seq = 1",
       "request_changed"},
      {"a refusal turned into a grant",
       "UPDATE decision SET outcome = 'granted', reasons = '[]' WHERE seq = 4", "decision_differs"},
      {"a grant turned into a refusal", "UPDATE decision SET outcome = 'refused' WHERE seq = 1",
       "decision_differs"},
      {"the reasons of a refusal restated",
       "UPDATE decision SET reasons = replace(reasons, 'spent', 'used') WHERE seq = 4", "decision_differs"},
      {"a principal restated", "UPDATE decision SET principal = 'bob' WHERE seq = 1",
       "key_conflict_unfounded"},
      {"the balances of a record restated",
       "UPDATE decision SET accounts = replace(accounts, '500000000000', '400000000000') WHERE seq = 1",
       "balance_changed"},
      {"a policy restated",
       "UPDATE policy_version SET yaml = replace(yaml, 'epsilon: 2', 'epsilon: 9') WHERE version = 1",
       "policy_changed"},
      {"a policy restated with its hash",
       "UPDATE policy_version SET yaml = 'version: 9', sha256 = "
       "'0000000000000000000000000000000000000000000000000000000000000000' WHERE version = 1",
       "policy_invalid"},
      {"a raise hidden", "DELETE FROM limit_change", "limit_change_missing"},
      {"a raise restated", "UPDATE limit_change SET old_limit = 1", "limit_change_unfounded"},
      {"a raise moved", "UPDATE limit_change SET after_decision = 1", "limit_change_moved"},
      {"a record dated back", "UPDATE decision SET created_at = '2001-01-01T00:00:00.000Z' WHERE seq = 3",
       "time_order"},
  };
  for (const Tampering& tampering : tamperings) {
    History history;
    const AuditReport report = history.after(tampering.sql);
    INFO(tampering.what << "\n" << all(report));
    CHECK_FALSE(report.ok);
    CHECK(names(report, tampering.code));
  }
}

namespace {

/// A ledger of all discrete mechanisms: 1 a Gaussian count, 2 a Gaussian mean by groups, 3 a Laplace count.
class DiscreteHistory {
 public:
  DiscreteHistory()
      : clinic("epsilon: 2, delta: 1e-6",
               "    release: {count: {mechanism: discrete_gaussian}, mean: {mechanism: gaussian}, "
               "units: {mechanism: discrete_laplace}}\n") {
    Engine engine = clinic.open();
    const auto gaussian = [&](const char* statistic, const char* key, std::optional<std::string> by) {
      engine::Request asked = request(statistic, "0.5", key, std::move(by));
      asked.delta = accounting::Rational(1, 4'000'000);
      return release(engine, asked);
    };
    CHECK(gaussian("count", "k1", std::nullopt).recorded.granted);
    CHECK(gaussian("mean:cost", "k2", "ward").recorded.granted);
    CHECK(release(engine, request("units", "0.5")).recorded.granted);
    engine::Request too_much = request("count", "0.25");
    too_much.delta = accounting::Rational(9, 10'000'000);
    CHECK_FALSE(release(engine, too_much).recorded.granted);
  }

  Clinic clinic;
};

std::string in_component(int seq, const std::string& field, const std::string& value) {
  return "UPDATE release SET components = json_set(components, '$[0]." + field + "', '" + value +
         "') WHERE decision_id = (SELECT id FROM decision WHERE seq = " + std::to_string(seq) + ")";
}

}  // namespace

TEST_CASE("audit: an honest history of discrete mechanisms verifies", "[engine][audit]") {
  const DiscreteHistory history;
  const AuditReport report = audit_verify(history.clinic.ledger());
  INFO(all(report));
  CHECK(report.ok);
  CHECK(report.records == 4);
}

TEST_CASE("audit: every parameter of a discrete release is recomputed", "[engine][audit][negative]") {
  struct Tampering {
    std::string sql;
    const char* code;
  };
  const std::string lowered_delta =
      "UPDATE charge SET amount = 1 WHERE amount = 250000000000 AND decision_id = (SELECT id FROM decision "
      "WHERE seq = 1)";
  std::vector<Tampering> tamperings = {
      {lowered_delta, "charge_changed"},
      {lowered_delta + "; UPDATE account SET spent = spent - 249999999999 WHERE measure = 'delta'",
       "charge_changed"},
      {"UPDATE account SET spent = 0 WHERE measure = 'delta'", "balance_changed"},
      {"UPDATE account SET budget = budget * 2 WHERE measure = 'delta'", "limit_changed"},
      {"UPDATE decision SET request = replace(request, '\"delta\":\"0.00000025\"', "
       "'\"delta\":\"0.00000024\"') WHERE seq = 1",
       "request_changed"},
      {"UPDATE decision SET request = replace(request, '\"delta\":\"0.00000025\",', '') WHERE seq = 1",
       "decision_unreadable"},
      {"UPDATE decision SET reasons = replace(reasons, 'delta', 'gamma') WHERE seq = 4", "decision_differs"},
      {"UPDATE release SET mechanism = 'gaussian' WHERE mechanism = 'discrete_gaussian'", "release_changed"},
      {"UPDATE release SET value = '[\"0.5\"]', components = json_set(components, '$[0].values', "
       "json('[\"0.5\"]')) WHERE mechanism = 'discrete_laplace'",
       "value_impossible"},
      {in_component(3, "delta", "0.1"), "release_changed"},
      {in_component(3, "inflated", "0.5"), "release_changed"},
      {in_component(3, "lambda", "1"), "release_changed"},
      {in_component(3, "rho", "1"), "release_changed"},
  };
  for (const int seq : {1, 2}) {
    for (const char* field : {"delta", "sensitivity_l2_squared", "inflated", "lambda", "grid", "adjusted",
                              "adjusted_delta", "rho"}) {
      tamperings.push_back({in_component(seq, field, "0.015625"), "release_changed"});
    }
  }
  tamperings.push_back({"UPDATE release SET components = json_remove(components, '$[0].rho', '$[0].delta')",
                        "release_changed"});
  tamperings.push_back(
      {"UPDATE release SET components = json_set(components, '$[0].delta', 1)", "record_unreadable"});
  for (const Tampering& tampering : tamperings) {
    const DiscreteHistory history;
    tamper(history.clinic.ledger(), tampering.sql);
    const AuditReport report = audit_verify(history.clinic.ledger());
    INFO(tampering.sql << "\n" << all(report));
    CHECK_FALSE(report.ok);
    CHECK(names(report, tampering.code));
  }
}

TEST_CASE("audit: a removed decision is found wherever it stood", "[engine][audit][negative]") {
  for (int seq = 1; seq <= 6; ++seq) {
    History history;
    const std::string which = "(SELECT id FROM decision WHERE seq = " + std::to_string(seq) + ")";
    const AuditReport report = history.after("DELETE FROM charge WHERE decision_id = " + which +
                                             "; DELETE FROM release WHERE decision_id = " + which +
                                             "; DELETE FROM decision WHERE seq = " + std::to_string(seq));
    INFO(seq << "\n" << all(report));
    CHECK_FALSE(report.ok);
  }
}

TEST_CASE("audit: two decisions in exchanged order are found", "[engine][audit][negative]") {
  History history;
  const AuditReport report = history.after(
      "UPDATE decision SET seq = 100 WHERE seq = 1; UPDATE decision SET seq = 1 WHERE seq = 2; "
      "UPDATE decision SET seq = 2 WHERE seq = 100");
  INFO(all(report));
  CHECK(names(report, "id_order"));
}

TEST_CASE("audit: a dropped trigger is a fault of the schema", "[engine][audit][negative]") {
  History history;
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(history.clinic.ledger().c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, "DROP TRIGGER charge_no_update", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  const AuditReport report = audit_verify(history.clinic.ledger());
  REQUIRE_FALSE(report.ok);
  CHECK(report.faults.at(0).record == "schema");
}

TEST_CASE("audit: a file that is not a ledger is not verified", "[engine][audit][negative]") {
  TemporaryFolder folder;
  CHECK_THROWS_AS(audit_verify(folder.path("absent")), LedgerUnusable);
  CHECK_THROWS_AS(audit_verify(folder.write("text", "this is not a database, only some text in a file\n")),
                  Error);
}

TEST_CASE("audit: how far SQLite checks the file is chosen, and everything else is checked all the same",
          "[engine][audit][negative]") {
  using engine::StorageCheck;
  History history;
  const std::string ledger = history.clinic.ledger();
  const auto codes = [&](StorageCheck storage) {
    std::set<std::string> found;
    const AuditReport report = audit_verify(ledger, {}, storage);
    for (const auto& fault : report.faults) found.insert(fault.code);
    CHECK(report.storage == storage);
    CHECK(report.ok == found.empty());
    return found;
  };
  using Codes = std::set<std::string>;
  SECTION("an index does not have what its table has") {
    const std::string of_schema = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ";
    const std::string of_index = " WHERE name = 'decision_by_key_first'";
    tamper(ledger, of_schema + "sql || ' AND seq <> 2'" + of_index);
    tamper(ledger, "UPDATE meta SET boot_id = boot_id || 'x'; REINDEX decision_by_key_first");
    tamper(ledger, of_schema + "replace(sql, ' AND seq <> 2', '')" + of_index);
    CHECK(codes(StorageCheck::full) == Codes{"storage_damaged"});
    CHECK(codes(StorageCheck::quick).empty());
    CHECK(codes(StorageCheck::none).empty());
  }
  SECTION("the file counts a free page that is not there") {
    tamper(ledger, "UPDATE meta SET boot_id = boot_id || 'x'; PRAGMA wal_checkpoint(TRUNCATE)");
    constexpr std::streamoff kFreePages = 36 + 3;
    std::fstream file(ledger, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kFreePages).put('\x05');
    file.close();
    CHECK(codes(StorageCheck::full) == Codes{"storage_damaged"});
    CHECK(codes(StorageCheck::quick) == Codes{"storage_damaged"});
    CHECK(codes(StorageCheck::none).empty());
  }
  SECTION("rows are another matter") {
    tamper(ledger, "UPDATE account SET spent = 0");
    CHECK(codes(StorageCheck::none) == codes(StorageCheck::full));
    CHECK(codes(StorageCheck::none).contains("balance_changed"));
  }
}
