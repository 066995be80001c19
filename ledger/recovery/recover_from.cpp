// A ledger from its replica: what it lost is put back, or all of it is made again.
#include <algorithm>
#include <optional>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "from_replica.hpp"
#include "known_features.hpp"
#include "new_ledger_file.hpp"
#include "poison.hpp"
#include "recovery_record.hpp"
#include "replacement.hpp"
#include "replica_handover.hpp"
#include "replica_mark.hpp"
#include "rollback_check.hpp"
#include "seal_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

std::string ledger_id_of(Connection& db) {
  Query row = db.query("SELECT ledger_id FROM meta");
  if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
  return hex_text(row.bytes(0));
}

RecoveryEvent event_of(const ReplicaRecoveryOptions& steps, const char* cause, std::int64_t restored,
                       std::int64_t dropped, const AcceptedRollback& accepted) {
  return {.seq = 0,
          .cause = cause,
          .restored = static_cast<std::uint64_t>(restored),
          .dropped = static_cast<std::uint64_t>(dropped),
          .remembered = static_cast<std::uint64_t>(accepted.remembered),
          .found = static_cast<std::uint64_t>(accepted.found),
          .at = "",
          .by = steps.by,
          .why = steps.why};
}

/// What was recorded after a replica was replaced is not in it.
void require_not_replaced(Connection& made, const std::string& replica, const ReplicaRecoveryOptions& steps,
                          const Options& options) {
  const std::string replaced = replacement_notice(made, replica, options);
  if (replaced.empty() || steps.accept_rollback) return;
  throw InvalidParameter("recover: " + replaced +
                         ". Recover from the replica that has it; or, if that is lost, with --accept-rollback");
}

void fill_dropped(ReplicaRecovery& recovery, const ReplicaContent& held, const ReplicaFile& file) {
  recovery.dropped = held.dropped;
  recovery.dropped_from = held.end.size;
  recovery.dropped_bytes = file.size() - held.end.end;
  recovery.truncated = held.acknowledged;
}

ReplicaRecovery rebuild_lost(const std::string& path, ReplicaFile& file, const std::string& replica,
                             const ReplicaRecoveryOptions& steps, const Options& options) {
  const ReplicaContent held = read_replica_content(file, replica, nullptr, 0, steps.accept_truncated);
  ReplicaRecovery recovery{.restored = held.end.size};
  fill_dropped(recovery, held, file);
  make_ledger_file(
      path, options,
      [&](Connection& db, const NewLedgerTarget& place) {
        const AcceptedRollback accepted = accepted_rollback(
            place.remembered, {.replica = &file, .content = &held}, place.files, steps.accept_rollback);
        rebuild(db, file, held, nullptr,
                {.recovery = event_of(steps, "rebuilt", held.end.size, held.dropped, accepted)},
                options.clock());
        require_not_replaced(db, replica, steps, options);
        recovery.ledger_id = ledger_id_of(db);
      },
      [&](const std::string& made) {
        if (steps.verify) recovery.faults = steps.verify(made);
        if (recovery.faults.empty()) cut_off(file, held);
        return recovery.faults.empty();
      });
  return recovery;
}

/// Nothing is put behind a seal, here: what the replica has behind it was recorded where the ledger went on.
void require_nothing_to_put_back(const Seal& seal, const std::string& database,
                                 const ReplicaRecovery& recovery, const AcceptedRollback& accepted) {
  if (recovery.restored == 0 && !recovery.truncated && accepted.remembered == 0) return;
  refuse_sealed("ledger " + database, seal,
                recovery.restored > 0 ? "The replica shows that it goes on elsewhere: recover it there"
                                      : "That lines are lost cannot be recorded in it");
}

/// The ledger has all that is right in the replica: what goes away with the rest is a line of it, before that
/// is gone. One who was killed may have written it.
void record_what_is_dropped(LedgerState& ledger, const ReplicaFile& file, const ReplicaContent& held,
                            const ReplicaRecoveryOptions& steps, const AcceptedRollback& accepted,
                            const Options& options) {
  Connection& db = ledger.writer();
  const RecoveryEvent event = event_of(steps, "behind_replica", 0, lost_line_count(held, file, db), accepted);
  const Meta meta = read_meta(db);
  const std::optional<RecoveryEvent> last = last_recovery(db, meta);
  if (last && last->cause == event.cause && last->restored == 0 && last->dropped == event.dropped &&
      last->by == event.by && last->why == event.why) {
    return;
  }
  db.execute("BEGIN IMMEDIATE");
  record_closing(db, {.recovery = event}, options.clock(), held.end.size);
  ledger.tip_cache().forget();
  ledger.set_commit_mark(meta.decisions + 1);
  db.execute("COMMIT");
  ledger.require_recorded_in_place();
  ledger.clear_commit_mark();
  ledger.update_end_mark(end_mark_of(db));
  write_replica_mark(ledger.writer_lock_file(), {});  // what it held was said of what goes away
}

ReplicaRecovery restore_missing_lines(const std::string& path, ReplicaFile& file, const std::string& replica,
                                      const ReplicaRecoveryOptions& steps, const Options& options) {
  const bool poisoned = read_poison(locate(path)).has_value();
  if (poisoned) require_recoverable(path, current_boot_id());
  Options accepting = options;
  accepting.accept_missing_lines = true;  // what is missing may be in the replica
  LedgerState ledger(path, poisoned ? LedgerState::Access::recovery : LedgerState::Access::read_write,
                     accepting);
  ReplicaRecovery recovery{.ledger_id = ledger.ledger_id()};
  const WriterLockGuard turn(ledger);
  try {
    Connection& db = ledger.writer();
    require_known_features(db, ledger.files().database);
    const Meta meta = read_meta(db);
    if (meta.read_only) {
      throw LedgerUnusable("ledger " + path + " was made from exported lines and is read-only: move it away");
    }
    recovery.kept = meta.log_size;
    const ReplicaContent held =
        read_replica_content(file, replica, &db, meta.log_size, steps.accept_truncated);
    require_one_history(held, replica, db, meta.log_size);
    recovery.restored = std::max<std::int64_t>(0, held.end.size - meta.log_size);
    fill_dropped(recovery, held, file);
    const AcceptedRollback accepted = accepted_rollback(read_end_mark(ledger.writer_lock_file()),
                                                        {.ledger = &db, .replica = &file, .content = &held},
                                                        ledger.files(), steps.accept_rollback);
    if (const std::optional<Seal> seal = read_seal(db)) {
      require_nothing_to_put_back(*seal, ledger.files().database, recovery, accepted);
      return recovery;
    }
    if (recovery.restored == 0) {
      if (held.acknowledged && poisoned) {
        throw LedgerIo(
            "ledger " + path +
            " is poisoned, and has what is right in the replica: nothing is written to it before it "
            "is recovered. Move the replica away, run `epsilog recover`, then bring it back");
      }
      if (held.acknowledged || accepted.remembered > 0) {
        record_what_is_dropped(ledger, file, held, steps, accepted, options);
      }
      cut_off(file, held);
      return recovery;
    }
    const Workspace made(ledger.files(), ".recovering");
    try {
      Connection to(made.files(), Connection::Role::creator);
      to.execute("BEGIN IMMEDIATE");
      rebuild(to, file, held, &db,
              {.recovery = event_of(steps, "behind_replica", recovery.restored, held.dropped, accepted)},
              options.clock());
      require_not_replaced(to, replica, steps, options);
      to.execute("COMMIT");
      to.move_log_into_file(made.files());
    } catch (const StorageFailure& failure) {  // of a file that nobody knows: the ledger was only read
      throw_translated(failure, "making " + made.files().database);
    }
    if (steps.verify) recovery.faults = steps.verify(made.files().database);
    if (!recovery.faults.empty()) return recovery;
    cut_off(file, held);
    replace_pages(ledger, made.files(), meta.decisions);
    ledger.update_end_mark(end_mark_of(db));
  } catch (const StorageFailure& failure) {
    ledger.fail(failure, "putting back what the replica holds");
  }
  return recovery;
}

/// The replica that the active policy names, which need not be the one that was read.
void write_recovery_to_replica(const std::string& path, const Options& options) {
  try {
    Ledger ledger = Ledger::open(path, options);
    if (ledger.poison_reason()) return;  // whoever clears that sees to it
    const Transaction transaction = ledger.begin();
  } catch (const LedgerSealed&) {  // its replica has all of it
    return;
  } catch (const Error& error) {
    if (options.warn) options.warn(std::string("the ledger is put right; ") + error.what());
  }
}

}  // namespace

ReplicaRecovery Ledger::recover_from(const std::string& path, const std::string& replica,
                                     const ReplicaRecoveryOptions& steps, const Options& options) {
  if (steps.by.empty() || steps.why.empty()) {
    throw InvalidParameter("ledger: a recovery says who makes it, and why");
  }
  const LedgerFiles files = locate(path);
  ReplicaFile file = ReplicaFile::open(replica, files);
  ReplicaRecovery recovery = exists(files.database)
                                 ? restore_missing_lines(path, file, replica, steps, options)
                                 : rebuild_lost(path, file, replica, steps, options);
  if (recovery.faults.empty()) write_recovery_to_replica(path, options);
  return recovery;
}

}  // namespace epsilog::ledger
