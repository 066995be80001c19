// What a transaction does about the replica, and when.
#include <algorithm>
#include <exception>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/replica.hpp"
#include "replica_handover.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

/// Whether this program was told what policies name.
void require_known(const LedgerState& ledger, const std::optional<Replica>& replica, const Meta& meta) {
  if (replica || meta.replica_size == 0) return;
  throw ReplicaUnavailable("ledger " + ledger.files().database +
                           " has a replica, and whoever opened it here does not know where; nothing was "
                           "recorded");
}

}  // namespace

void TransactionState::prepare_replica(const LedgerTip& tip, const PolicyVersion* next) {
  replica_ready = replica_use != ReplicaUse::later;
  if (!replica_ready) return;
  try {
    find_replica(tip, next);
  } catch (const ReplicaUnavailable& error) {
    if (replica_use == ReplicaUse::required) throw;
    replica_ready = false;
    ledger->warn(error.what());
  }
}

void TransactionState::find_replica(const LedgerTip& tip, const PolicyVersion* next) {
  try {
    replica = ledger->active_replica(tip.policy_version);
  } catch (const LedgerBusy&) {
    throw;
  } catch (const Error&) {
    // A policy that cannot be read keeps nobody from what does not need it.
    if (tip.meta.replica_size > 0) throw;
  } catch (const StorageFailure& failure) {
    // What could not be read now may name a replica.
    if (tip.meta.replica_size > 0 || kind_of(failure) == FailureKind::transient) throw;
  }
  require_known(*ledger, replica, tip.meta);
  if (!replica) return;
  try {
    ledger->replication().bring_up_to_date(ledger->writer(), ledger->writer_lock_file(), tip, *replica);
  } catch (const ReplicaUnavailable&) {
    const std::optional<Replica> instead = next != nullptr ? ledger->replica_of_policy(*next) : replica;
    if (instead && instead->path == replica->path) throw;
    replica_ready = false;
  }
}

void TransactionState::prepare_replica_of_sealed(const LedgerTip& tip, OnSeal on_seal) {
  replica_ready = false;
  try {
    find_replica(tip, nullptr);
    replica_ready = true;
  } catch (const LedgerRolledBack& error) {  // the ledger goes on elsewhere, and its replica with it
    if (on_seal == OnSeal::go_on) ledger->warn(error.what());
  } catch (const ReplicaUnavailable& error) {
    if (on_seal == OnSeal::go_on && replica_use == ReplicaUse::required) throw;
    if (on_seal == OnSeal::go_on) ledger->warn(error.what());
  } catch (const Error&) {
    if (on_seal == OnSeal::go_on) throw;
  }
}

void TransactionState::replicate_under(const PolicyVersion& version) {
  std::optional<Replica> next = ledger->replica_of_policy(version);
  if (next == replica) return;
  // What was not synced so far is written again, all of it: nothing of it is known to be on the disk.
  const bool synced_now = next && replica && next->sync == Replica::Sync::commit;
  const bool moved = next && (!replica || next->path != replica->path || synced_now);
  if (moved)
    ledger->replication().switch_to(ledger->writer(), ledger->writer_lock_file(), lines_before, *next);
  if (next && !moved) ledger->replication().set_sync(*next);
  if (!next) ledger->replication().forget();
  if (replica && (!next || next->path != replica->path)) {
    replaced = {.replica = *replica, .known = replica_ready ? lines_before : meta.replica_size, .size = 0};
  }
  replica = std::move(next);
  replica_ready = true;
}

void TransactionState::note_replaced_replica() {
  Connection& db = ledger->writer();
  if (replica) {
    delete_stale_replica(db, replica->path);  // it is in use again
    std::erase_if(stale_replicas, [&](const StaleReplica& one) { return one.replica.path == replica->path; });
  }
  if (!replaced) return;
  replaced->size = meta.log_size;
  insert_stale_replica(db, *replaced);
  std::erase_if(stale_replicas,
                [&](const StaleReplica& one) { return one.replica.path == replaced->replica.path; });
  stale_replicas.push_back(*replaced);
}

void TransactionState::close_stale_replicas() noexcept {
  for (const StaleReplica& one : std::vector(stale_replicas)) {
    try {
      Connection& db = ledger->writer();
      db.execute("BEGIN IMMEDIATE");
      const std::string failed = close_stale_replica(db, one, ledger->files());
      if (failed.empty()) {
        delete_stale_replica(db, one.replica.path);
        db.execute("COMMIT");
        std::erase(stale_replicas, one);
        continue;
      }
      ledger->roll_back();
      ledger->warn("the replica that was replaced is not told so yet, and a restore would believe it: " + failed);
    } catch (const StorageFailure& failure) {
      ledger->roll_back();
      ledger->warn(std::string("the replica that was replaced is not told so yet: ") + failure.what());
    } catch (const std::exception&) {
      ledger->roll_back();
    }
  }
}

std::int64_t TransactionState::reserve_in_replica() {
  if (!replica_ready) return meta.replica_size;
  if (!replica) return 0;
  ledger->replication().reserve(log.kept_lines().size());
  return lines_before;
}

void TransactionState::write_to_replica(const TreeHead& tree, std::vector<StoredDecision>& committed) {
  if (!replica || !replica_ready) return;
  try {
    ledger->replication().write(ledger->writer_lock_file(), log.kept_lines(), tree, log.last_leaf());
  } catch (const std::exception& failure) {  // memory, too: whatever it is, COMMIT returned
    for (StoredDecision& decision : committed) {
      decision.durable = decision.in_replica = false;
      decision.values.clear();
      decision.component_values.clear();
      if (decision.token) decision.token->bytes.reset();
    }
    throw ReplicaBehind(std::string(failure.what()) +
                            ". What was asked is on record and charged; what it answers is told once the "
                            "replica holds it: ask again with the same key, or `epsilog show`",
                        std::move(committed));
  }
}

}  // namespace epsilog::ledger
