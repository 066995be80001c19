// Credential events among everything else that a ledger keeps: in its replica, in another process's view, in
// groups, and in a ledger that is made of its lines.
#include "epsilog/ledger/credential_event.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using ledger::CredentialEvent;

namespace {

CredentialEvent added(const std::string& id, const std::string& uid) {
  return {.credential = id, .type = "uid", .principal = "ann", .value = uid, .at = {}, .by = "cleo"};
}

CredentialEvent revoked(const std::string& id) {
  return {.revoked = true,
          .credential = id,
          .type = "uid",
          .principal = "ann",
          .at = {},
          .by = "cleo",
          .why = "left"};
}

std::vector<CredentialEvent> events_of(ledger::Snapshot view) {
  std::vector<CredentialEvent> events;
  view.each_credential_event([&events](const CredentialEvent& event) { events.push_back(event); });
  CHECK(view.credential_event_count() == static_cast<std::int64_t>(events.size()));
  return events;
}

}  // namespace

TEST_CASE(
    "credentials: each event is a line, in the replica too, and counts in every view from its COMMIT on",
    "[ledger][credentials]") {
  const ReplicatedLedger fixture;
  ledger::Ledger ledger = fixture.open();
  ledger::Ledger other = fixture.open();
  {
    ledger::Transaction transaction = ledger.begin();
    transaction.record_credential(added("c1", "1000"));
    transaction.record_credential(added("c2", "1001"));
    CHECK(fixture.look().credential_event_count() == 0);
    static_cast<void>(ledger.commit(std::move(transaction)));
  }
  {
    ledger::Transaction transaction = ledger.begin();
    transaction.record_credential(added("lost", "1002"));  // rolled back
  }
  {
    ledger::Transaction transaction = other.begin();
    CHECK_THROWS_AS(transaction.run_in_savepoint([&] {
      transaction.record_credential(added("undone", "1003"));
      throw std::runtime_error("what else it does fails");
    }),
                    std::runtime_error);
    transaction.record_credential(revoked("c1"));
    static_cast<void>(other.commit(std::move(transaction)));
  }
  const std::vector<CredentialEvent> events = events_of(ledger.snapshot());
  REQUIRE(events.size() == 3);
  CHECK(events[0].seq == 1);
  CHECK(events[1].credential == "c2");
  CHECK(events[2].seq == 3);
  CHECK(events[2].revoked);
  CHECK(events[2].why == "left");
  CHECK(events[2].at >= events[0].at);
  CHECK(replica_fault(fixture.replica, fixture.look()).empty());
  // Who held the ledger meanwhile goes on from there.
  ledger::Transaction transaction = ledger.begin();
  CHECK_THROWS_AS(transaction.record_credential(revoked("c1")), InvalidParameter);
  CHECK_FALSE(transaction.is_open());

  // Made of its lines, it says the same.
  const std::vector<std::string> lines = lines_of(fixture.look());
  const std::string copy = fixture.directory.path() + "/copy";
  static_cast<void>(ledger::Ledger::import_lines(copy, each_of(lines)));
  CHECK(events_of(ledger::Ledger::open_read_only(copy).snapshot()) == events);
}
