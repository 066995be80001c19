// Keys in an audit: found in the file's index, which is not trusted for it, and not kept in memory.
#include <malloc.h>

#include "clinic.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::string key_of(int number) {
  return "key " + std::to_string(number) + std::string(200, '.');
}

/// Grants with the keys of the numbers from 0 on, all in one transaction.
void fill(const Clinic& clinic, int decisions) {
  std::vector<engine::Request> requests;
  for (int i = 0; i < decisions; ++i) requests.push_back(supplied("3", "0.001", key_of(i)));
  mechanisms::SystemBits bits;
  (void)clinic.open().release_many(requests, bits, {});
}

std::vector<engine::AuditFault> faults_with(const engine::AuditReport& report, const std::string& code) {
  std::vector<engine::AuditFault> found;
  std::copy_if(report.faults.begin(), report.faults.end(), std::back_inserter(found),
               [&](const engine::AuditFault& fault) { return fault.code == code; });
  return found;
}

/// The ids of the decisions by seq.
std::vector<std::string> ids(const Clinic& clinic) {
  std::vector<std::string> found;
  clinic.open().history("", 0,
                        [&](const engine::Answer& answer) { found.push_back(answer.recorded.decision_id); });
  return found;
}

/// Takes a decision out of the index of keys, and leaves the schema as it was.
void hide(const Clinic& clinic, int seq, const std::string& then) {
  const std::string hidden = "' AND seq <> " + std::to_string(seq) + "'";
  const std::string of_index = "WHERE name = 'decision_by_key'";
  const std::string of_schema = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ";
  tamper(clinic.ledger(), of_schema + "sql || " + hidden + of_index);
  tamper(clinic.ledger(), "REINDEX decision_by_key;" + then);
  tamper(clinic.ledger(), of_schema + "replace(sql, " + hidden + ", '') " + of_index);
}

const std::string kSameKey =
    "UPDATE decision SET key = (SELECT key FROM decision WHERE seq = 2) WHERE seq = ";

}  // namespace

TEST_CASE("audit: what it keeps does not grow with the decisions that have a key", "[engine][audit]") {
  const Clinic clinic("epsilon: 3000");
  fill(clinic, 2'000);
  std::size_t early = 0;
  std::size_t late = 0;
  const auto report = engine::audit_replay(clinic.ledger(), [&](const engine::ReplayedDecision& decision) {
    if (decision.seq == 200) early = ::mallinfo2().uordblks;
    if (decision.seq == 1'999) late = ::mallinfo2().uordblks;
  });
  CHECK(report.ok);
  // The keys alone have more than 350 KiB.
  CHECK(late < early + 64 * 1024);
}

TEST_CASE("audit: a key that is bound twice is found in every state of the index",
          "[engine][audit][negative]") {
  const Clinic clinic;
  fill(clinic, 8);
  const std::vector<std::string> id = ids(clinic);  // of a row that was changed nobody tells it
  const auto expect_second = [&id](const Clinic& changed, const std::vector<std::int64_t>& second) {
    const auto found = faults_with(engine::audit_verify(changed.ledger()), "key_bound_twice");
    REQUIRE(found.size() == second.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].record == id[static_cast<std::size_t>(second[i] - 1)]);
      CHECK(found[i].message == "its key is bound to decision " + id[1] + " already");
    }
  };
  SECTION("it is not unique") {
    tamper(clinic.ledger(),
           "DROP INDEX decision_by_key; CREATE INDEX decision_by_key ON decision(principal, key)"
           " WHERE key <> '';" +
               kSameKey + "5");
    expect_second(clinic, {5});
  }
  SECTION("it is not there") {
    tamper(clinic.ledger(), "DROP INDEX decision_by_key;" + kSameKey + "5;" + kSameKey + "7");
    expect_second(clinic, {5, 7});
  }
  SECTION("the first is missing in it") {
    hide(clinic, 2, kSameKey + "5");
    expect_second(clinic, {5});
  }
  SECTION("the second is missing in it") {
    hide(clinic, 5, kSameKey + "5");
    expect_second(clinic, {5});
  }
  SECTION("the first is an unreadable decision, which binds no key") {
    tamper(clinic.ledger(),
           "DROP INDEX decision_by_key; CREATE INDEX decision_by_key ON decision(principal, key)"
           " WHERE key <> ''; UPDATE decision SET component_values = '[' WHERE seq = 2;" +
               kSameKey + "5");
    CHECK(faults_with(engine::audit_verify(clinic.ledger()), "key_bound_twice").empty());
  }
}

TEST_CASE("audit: a key conflict is about a decision before it", "[engine][audit][negative]") {
  const Clinic clinic;
  fill(clinic, 4);
  engine::Engine engine = clinic.open();
  REQUIRE(release(engine, supplied("3", "0.002", key_of(1))).recorded.reasons.front().code ==
          engine::RefusalCode::key_conflict);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
  const auto unfounded = [&](const std::string& sql) {
    tamper(clinic.ledger(), sql);
    return faults_with(engine::audit_verify(clinic.ledger()), "key_conflict_unfounded").size();
  };
  SECTION("with another key") {
    CHECK(unfounded("UPDATE decision SET key = 'other' WHERE seq = 2") == 1);
  }
  SECTION("with another key, and no index") {
    CHECK(unfounded("DROP INDEX decision_by_key; UPDATE decision SET key = 'other' WHERE seq = 2") == 1);
  }
  SECTION("with the key, and no index") {
    CHECK(unfounded("DROP INDEX decision_by_key; UPDATE decision SET key = 'other' WHERE seq = 1") == 0);
  }
  SECTION("with the key only after it") {
    REQUIRE(release(engine, supplied("3", "0.002", "later")).recorded.granted);
    CHECK(unfounded("UPDATE decision SET key = 'other' WHERE seq = 2;"
                    "UPDATE decision SET key = '" +
                    key_of(1) + "' WHERE seq = 6") == 1);
  }
}
