#include "audit/tamperings.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

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
    tamper_with_log(clinic.ledger(), sql);
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
  for (const Tampering& tampering : tamperings_of("tamperings.tsv")) {
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

/// Plans of one mechanism.

}  // namespace

TEST_CASE("audit: an honest history of discrete mechanisms verifies", "[engine][audit]") {
  const DiscreteHistory history;
  const AuditReport report = audit_verify(history.clinic.ledger());
  INFO(all(report));
  CHECK(report.ok);
  CHECK(report.records == 4);
}

TEST_CASE("audit: every parameter of a discrete release is recomputed", "[engine][audit][negative]") {
  for (const Tampering& tampering : tamperings_of("discrete_tamperings.tsv")) {
    const DiscreteHistory history;
    tamper_with_log(history.clinic.ledger(), tampering.sql);
    const AuditReport report = audit_verify(history.clinic.ledger());
    INFO(tampering.sql << "\n" << all(report));
    CHECK_FALSE(report.ok);
    CHECK(names(report, tampering.code));
  }
}

TEST_CASE("audit: a removed decision is found wherever it stood", "[engine][audit][negative]") {
  for (int seq = 1; seq <= 6; ++seq) {
    History history;
    const std::string which = std::to_string(seq);
    const AuditReport report = history.after("DELETE FROM movement WHERE seq = " + which +
                                             "; DELETE FROM decision WHERE seq = " + which);
    INFO(seq << "\n" << all(report));
    CHECK_FALSE(report.ok);
  }
}

TEST_CASE("audit: two decisions in exchanged order are found", "[engine][audit][negative]") {
  History history;
  const auto moved = [](const std::string& from, const std::string& to) {
    const std::string set = " SET seq = " + to + " WHERE seq = " + from + ";";
    return "UPDATE decision" + set + "UPDATE movement" + set;
  };
  const AuditReport report = history.after(moved("1", "100") + moved("2", "1") + moved("100", "2"));
  INFO(all(report));
  CHECK(names(report, "id_order"));
}

TEST_CASE("audit: a dropped trigger is a fault of the schema", "[engine][audit][negative]") {
  History history;
  sql_rows(history.clinic.ledger(), "DROP TRIGGER movement_no_update");
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
