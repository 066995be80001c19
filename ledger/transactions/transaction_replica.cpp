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

void TransactionState::ready_replica(const Standing& standing, const PolicyVersion* next) {
  replica_ready = replica_use != ReplicaUse::later;
  if (!replica_ready) return;
  try {
    find_replica(standing, next);
  } catch (const ReplicaUnavailable& error) {
    if (replica_use == ReplicaUse::required) throw;
    replica_ready = false;
    ledger->warn(error.what());
  }
}

void TransactionState::find_replica(const Standing& standing, const PolicyVersion* next) {
  try {
    replica = ledger->active_replica(standing.policy_version);
  } catch (const LedgerBusy&) {
    throw;
  } catch (const Error&) {
    // A policy that cannot be read keeps nobody from what does not need it.
    if (standing.meta.replica_size > 0) throw;
  } catch (const StorageFailure& failure) {
    // What could not be read now may name a replica.
    if (standing.meta.replica_size > 0 || kind_of(failure) == FailureKind::transient) throw;
  }
  require_known(*ledger, replica, standing.meta);
  if (!replica) return;
  try {
    ledger->replication().ready(ledger->writer(), ledger->turn_file(), standing, *replica);
  } catch (const ReplicaUnavailable&) {
    const std::optional<Replica> instead = next != nullptr ? ledger->replica_named_by(*next) : replica;
    if (instead && instead->path == replica->path) throw;
    replica_ready = false;
  }
}

void TransactionState::ready_replica_of_sealed(const Standing& standing, OnSeal on_seal) {
  replica_ready = false;
  try {
    find_replica(standing, nullptr);
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
  std::optional<Replica> next = ledger->replica_named_by(version);
  if (next == replica) return;
  // What was not synced so far is written again, all of it: nothing of it is known to be on the disk.
  const bool synced_now = next && replica && next->sync == Replica::Sync::commit;
  const bool moved = next && (!replica || next->path != replica->path || synced_now);
  if (moved) ledger->replication().move(ledger->writer(), ledger->turn_file(), lines_before, *next);
  if (next && !moved) ledger->replication().change(*next);
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
    forget_untold(db, replica->path);  // it is in use again
    std::erase_if(untold, [&](const UntoldReplica& one) { return one.replica.path == replica->path; });
  }
  if (!replaced) return;
  replaced->size = meta.log_size;
  note_untold(db, *replaced);
  std::erase_if(untold, [&](const UntoldReplica& one) { return one.replica.path == replaced->replica.path; });
  untold.push_back(*replaced);
}

void TransactionState::tell_replaced_replicas() noexcept {
  for (const UntoldReplica& one : std::vector(untold)) {
    try {
      Connection& db = ledger->writer();
      db.execute("BEGIN IMMEDIATE");
      const std::string failed = tell_untold(db, one, ledger->files());
      if (failed.empty()) {
        forget_untold(db, one.replica.path);
        db.execute("COMMIT");
        std::erase(untold, one);
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
    ledger->replication().write(ledger->turn_file(), log.kept_lines(), tree, log.last_leaf());
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
