// What is done about a ledger that an I/O error poisoned: looking, and going on with it, on record.
//
// The record comes first, while the marker still keeps everybody else out, and the marker goes when that is
// durable: who is killed in between leaves a record that nothing follows, and whoever recovers again finds it
// there. The other way round, a ledger could go on that says nothing of it.
#include <optional>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "file_system.hpp"
#include "poison.hpp"
#include "recovery_record.hpp"
#include "seal_rows.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

std::string advice_for(const RecoveryState& state, bool boot_known) {
  if (!boot_known) {
    return "the marker does not say in which boot it was written: reboot this machine, then remove the "
           "marker by hand and verify the ledger (docs/recovery.md)";
  }
  if (!state.rebooted) {
    return "reboot this machine first: until then the kernel may show commits that never reached the disk";
  }
  if (!state.problems.empty())
    return "the file is damaged: restore it from a backup and keep this copy as evidence";
  return "verify the ledger and clear the marker: `epsilog recover` does both";
}

/// Of the marker that is there now. Nothing is written until the one who cleared it is done, so that it is
/// the last line.
bool is_on_record(Connection& db, const Meta& meta, const std::string& poison) {
  const std::optional<RecoveryEvent> last = last_recovery(db, meta);
  return last && last->cause == "poisoned" && last->why.starts_with(poison);
}

/// What L.lock remembers and the ledger does not have.
/// Requires  a transaction that has written nothing.
std::optional<AcceptedRollback> missing_lines(TransactionState& begun) {
  Connection& db = begun.ledger->writer();
  const EndMarkReading remembered = read_end_mark(begun.ledger->writer_lock_file());
  if (!remembered.end || has_marked_line(db, *remembered.end)) return std::nullopt;
  return AcceptedRollback{.remembered = remembered.end->lines, .found = begun.meta.log_size};
}

/// After a seal no recovery is right. The mark goes all the same: what can be read is what was recorded.
void require_nothing_to_record(TransactionState& begun, const std::string& database) {
  const auto missing = begun.run_step("looking for missing lines", &missing_lines);
  if (missing)
    refuse_sealed("ledger " + database, *begun.seal, "That lines are missing cannot be accepted in it");
}

void note(RecoveryEvent& event, const AcceptedRollback& accepted) {
  event.remembered = static_cast<std::uint64_t>(accepted.remembered);
  event.found = static_cast<std::uint64_t>(accepted.found);
}

}  // namespace

void require_recoverable(const std::string& path, const std::string& boot_id) {
  const RecoveryState state = Ledger::recovery_state(path, boot_id);
  const std::string name = "ledger " + locate(path).database;
  if (!state.poisoned) throw LedgerIo(name + " is not poisoned: there is nothing to recover");
  if (state.rebooted && state.problems.empty()) return;
  throw LedgerIo(name + " stays poisoned (" + state.reason + "): " + state.advice +
                 (state.problems.empty() ? "" : "; quick_check: " + state.problems.front()));
}

RecoveryState Ledger::recovery_state(const std::string& path) {
  return recovery_state(path, current_boot_id());
}

RecoveryState Ledger::recovery_state(const std::string& path, const std::string& boot_id) {
  const LedgerFiles files = locate(path);
  static_cast<void>(require_single_regular_file(files));
  RecoveryState state;
  require_no_mount_point(files);
  require_no_network(files, {});
  refuse_development_ledger(files);
  const auto marker = read_poison(files);
  if (!marker) return state;
  state.poisoned = true;
  state.reason = marker->reason;
  state.poisoned_at = marker->time;
  // A marker whose boot id is lost could be of this boot; it is treated so until a boot is proved.
  const bool boot_known = !marker->boot_id.empty() && marker->boot_id != "unknown";
  const CommitMark mark = read_commit_mark(files);  // of a failure that the marker could not be made to say
  const bool failed_here = mark.state == CommitMark::State::poisoned && mark.boot_id == boot_id;
  state.rebooted = boot_known && marker->boot_id != boot_id && !failed_here;
  Snapshot snapshot = open_read_only(path, {.accept_missing_lines = true}).snapshot();  // it only looks
  state.problems = Inspection(snapshot).storage_faults(false);
  state.advice = advice_for(state, boot_known);
  return state;
}

void Ledger::clear_poison(const std::string& path, const PoisonRecovery& recovery, const Options& options) {
  clear_poison(path, current_boot_id(), recovery, options);
}

void Ledger::clear_poison(const std::string& path, const std::string& boot_id, const PoisonRecovery& recovery,
                          const Options& options) {
  if (recovery.by.empty()) throw InvalidParameter("ledger: a recovery says who makes it");
  const LedgerFiles files = locate(path);
  static_cast<void>(require_single_regular_file(files));
  require_recoverable(path, boot_id);
  const auto marker = read_poison(files);
  const std::string poison = marker ? poison_text(*marker) : "";
  Ledger ledger(std::make_shared<LedgerState>(path, LedgerState::Access::recovery, options));
  const Transaction transaction(std::make_unique<TransactionState>(ledger.state_, std::nullopt, nullptr,
                                                                   ReplicaUse::if_usable, OnSeal::go_on));
  TransactionState& state = *transaction.state_;
  const auto now = read_poison(files);
  if (!now || poison_text(*now) != poison) {
    throw LedgerBusy("ledger " + files.database + ": somebody else recovered it meanwhile; nothing was done");
  }
  const bool recorded = state.run_step("looking for the recovery", [&](TransactionState& begun) {
    return is_on_record(begun.ledger->writer(), begun.meta, poison);
  });
  if (state.seal) {
    require_nothing_to_record(state, files.database);
  } else if (!recorded) {
    state.run_step("recording the recovery", [&](TransactionState& begun) {
      RecoveryEvent event{.seq = 0, .cause = "poisoned", .at = "", .by = recovery.by, .why = ""};
      event.why = recovery.why.empty() ? poison : poison + "; " + recovery.why;
      if (const std::optional<AcceptedRollback> missing = missing_lines(begun)) note(event, *missing);
      begun.insert_recovery(std::move(event));
    });
    try {
      static_cast<void>(ledger.commit(state));
    } catch (const ReplicaBehind& error) {
      ledger.state_->warn(error.what());  // it is on record, and whoever writes next writes it there too
    }
  }
  remove_poison(files, ledger.state_->writer_lock_file());
}

AcceptedRollback Ledger::accept_rollback(const std::string& path, const std::string& by, const std::string& why,
                                         const Options& options) {
  if (by.empty() || why.empty()) {
    throw InvalidParameter("ledger: a rollback is accepted by somebody and for a reason");
  }
  Options accepting = options;
  accepting.accept_missing_lines = true;
  Ledger ledger = open(path, accepting);
  Transaction transaction = ledger.begin();
  const std::optional<AcceptedRollback> missing =
      transaction.state_->run_step("looking for missing lines", &missing_lines);
  if (!missing) return {};
  transaction.state_->run_step("recording the rollback", [&](TransactionState& begun) {
    RecoveryEvent event{.seq = 0, .cause = "rolled_back", .at = "", .by = by, .why = why};
    note(event, *missing);
    begun.insert_recovery(std::move(event));
  });
  static_cast<void>(ledger.commit(std::move(transaction)));
  return *missing;
}

}  // namespace epsilog::ledger
