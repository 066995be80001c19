// What was recorded of credentials, written and read.
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "epsilog/ledger/transaction.hpp"
#include "record_members.hpp"
#include "row_columns.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kEventsOfCredential =
    "SELECT revoked, type, principal FROM credential_event WHERE credential = ?1 ORDER BY seq";

/// Throws  InvalidParameter unless it may follow what is on record of that id.
void require_follows(Connection& db, const CredentialEvent& event) {
  Query of_id = db.query(kEventsOfCredential);
  of_id.with(event.credential);
  const bool known = of_id.step();
  if (!event.revoked) {
    require(!known, "the id of a credential is used again");
    return;
  }
  require(known && of_id.text(1) == event.type && of_id.text(2) == event.principal,
          "a credential is revoked that is not one of this ledger");
  require(!of_id.step(), "a credential is revoked that was revoked before");
}

}  // namespace

void Transaction::each_credential_event(const std::function<void(const CredentialEvent&)>& visit) {
  state_->run_step("looking for credentials", [&](TransactionState& state) {
    each_row<CredentialEvent>(state.ledger->writer(), visit);
  });
}

void Transaction::record_credential(const CredentialEvent& wanted) {
  state_->run_step("recording a credential", [&](TransactionState& state) {
    require(!state.owing, "the decision charged before still waits for its release");
    require(!wanted.credential.empty() && !wanted.principal.empty() && !wanted.by.empty(),
            "a credential has an id and a principal, and somebody says so");
    if (wanted.revoked) {
      require(wanted.value.empty() && wanted.until.empty(),
              "a credential that is revoked has neither a value nor an end");
    } else {
      require(is_credential_value(wanted.type, wanted.value),
              "a credential is a uid below 2^32 or the SHA-256 of a token");
      require(wanted.until.empty() || (is_time(wanted.until) && wanted.until > state.meta.last_time),
              "a credential ends at a time after " + state.meta.last_time);
    }
    require_follows(state.ledger->writer(), wanted);
    state.changed = state.dated = true;
    state.insert_noticed_clock_events();  // they came before it
    CredentialEvent event = wanted;
    event.seq = ++state.meta.credential_events;
    event.at = state.meta.last_time;
    state.recorder().write(event);
  });
}

void Snapshot::each_credential_event(const std::function<void(const CredentialEvent&)>& visit) {
  state_->run_read([&](Connection& connection) { each_row<CredentialEvent>(connection, visit); });
}

std::int64_t Snapshot::credential_event_count() {
  return state_->run_read([&](Connection&) { return state_->meta().credential_events; });
}

}  // namespace epsilog::ledger
