// A ledger as it stands, in a file of its own.
#include <algorithm>
#include <memory>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "file_system.hpp"
#include "ledger_copy.hpp"
#include "new_ledger_file.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

/// One turn, as of whoever writes: what was not finished is, and a ledger that its replica is ahead of is
/// refused. Everything that was acknowledged so far is read after it.
Backup::ReplicaCheck bring_replica_up_to_date(const std::shared_ptr<LedgerState>& ledger) {
  const TransactionState turn(ledger, std::nullopt, nullptr, ReplicaUse::if_usable, OnSeal::go_on);
  if (!turn.replica_ready) return Backup::ReplicaCheck::unusable;
  return turn.replica ? Backup::ReplicaCheck::agrees : Backup::ReplicaCheck::none;
}

TreeHead tree_of(Connection& db, Backup& backup) {
  const Meta meta = read_meta(db);
  backup.ledger_id = meta.ledger_id;
  backup.decisions = meta.decisions;
  backup.last_time = meta.last_time;
  return RecordLog::load(db, meta.log_size).head();
}

/// How many of its lines the replica is known to hold now: meta says it one group late.
std::int64_t replicated_line_count(SnapshotState& view) {
  const Meta meta = read_meta(*view.connection);
  if (meta.replica_size == 0) return 0;
  return std::min(meta.log_size, view.ledger->replicated_lines(meta.log_size - 1, meta.replica_size));
}

/// Whoever reads the copy knows nothing of L.lock, which says it in time.
void write_replica_size(const LedgerFiles& copy, std::int64_t lines) {
  if (lines == 0) return;
  Connection db(copy, Connection::Role::creator);
  db.execute("BEGIN IMMEDIATE");
  db.query("UPDATE meta SET replica_size = ?1").with(lines).run();
  db.execute("COMMIT");
  db.move_log_into_file(copy);
}

TreeHead tree_of_copy(const LedgerFiles& files) {
  SnapshotState copy(
      std::make_shared<LedgerState>(files.database, LedgerState::Access::read_only, Options{}));
  Backup unused;
  return copy.run_read([&](Connection& db) { return tree_of(db, unused); });
}

}  // namespace

Backup Ledger::backup(const std::string& path, const std::string& file, const BackupHooks& steps,
                      const Options& options) {
  const LedgerFiles files = locate(path);
  const LedgerFiles wanted = locate(file);
  if (is_ledger_file_name(files, wanted.database)) {
    throw LedgerUnusable(wanted.database + " is the name of a file of the ledger; choose another one");
  }
  require_no_network(wanted, options);
  require_nothing_there(wanted);
  const auto ledger = std::make_shared<LedgerState>(path, LedgerState::Access::read_write, options);
  Backup backup{.replica = bring_replica_up_to_date(ledger)};
  const NewLedgerFile made(wanted);
  try {
    SnapshotState view(ledger);
    require_durable(view);
    backup.tree = tree_of(*view.connection, backup);
    const std::int64_t replicated = replicated_line_count(view);
    copy_into_new_file(view, made.files(), [&](double part) {
      if (steps.progress) steps.progress(part);
    });
    write_replica_size(made.files(), replicated);
  } catch (const StorageFailure& failure) {  // the ledger was only read
    throw_translated(failure, "ledger " + files.database + ": copying it to " + wanted.database);
  }
  if (steps.verify) backup.faults = steps.verify(made.files().database);
  if (!backup.faults.empty()) return backup;
  if (tree_of_copy(made.files()) != backup.tree) {
    throw LedgerCorrupt("ledger " + files.database + ": its copy has another tree; nothing was made");
  }
  backup.bytes = size_of(made.files().database);
  made.give_name(wanted);
  return backup;
}

}  // namespace epsilog::ledger
