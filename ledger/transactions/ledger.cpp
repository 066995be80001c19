#include "epsilog/ledger/ledger.hpp"

#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "file_system.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kUpdateMeta =
    "UPDATE meta SET last_time = ?1, decisions = ?2, policy_versions = ?3, limit_changes = ?4,"
    " clock_events = ?5, wall_clock = ?6, boot_id = ?7, boot_offset = ?8, held_at = ?9, accounts = ?10,"
    " limit_removals = ?11, events = ?12, relocations = ?13, names = ?14, builds = ?15, plans = ?16,"
    " key_events = ?17, log_size = ?18, replica_size = ?22, recoveries = ?23, credential_events = ?24,"
    " seal_events = ?25, features = ?26"
    // As this transaction found it, or thought to: nobody counted on in between.
    " WHERE decisions = ?19 AND log_size = ?20 AND last_time = ?21";

}  // namespace

Ledger::Ledger(std::shared_ptr<LedgerState> state) : state_(std::move(state)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::open(const std::string& path, const Options& options) {
  return Ledger(std::make_shared<LedgerState>(path, LedgerState::Access::read_write, options));
}

Ledger Ledger::open_read_only(const std::string& path, const Options& options) {
  return Ledger(std::make_shared<LedgerState>(path, LedgerState::Access::read_only, options));
}

Ledger Ledger::open_on_demand(const std::string& path, const Options& options) {
  return Ledger(std::make_shared<LedgerState>(path, LedgerState::Access::on_demand, options));
}

const std::string& Ledger::ledger_id() const {
  return state_->ledger_id();
}

EndMarkState Ledger::end_mark_state() const {
  return read_end_mark(state_->files()).state;
}

bool Ledger::is_on_fuse() const {
  return file_system_of(state_->files().directory).kind == FileSystem::Kind::fuse;
}

std::optional<std::string> Ledger::poison_reason() const {
  return state_->poison_reason();
}

Transaction Ledger::begin() {
  return Transaction(std::make_unique<TransactionState>(state_));
}

Transaction Ledger::begin_to_apply(const PolicyVersion& next) {
  return Transaction(std::make_unique<TransactionState>(state_, std::nullopt, &next));
}

std::optional<Transaction> Ledger::begin_within(std::chrono::milliseconds wait) {
  auto begun = std::make_unique<TransactionState>(state_, wait);
  if (!begun->has_writer_lock) return std::nullopt;
  return Transaction(std::move(begun));
}

std::vector<StoredDecision> Ledger::commit(Transaction transaction) {
  transaction.state_->require_open();
  if (transaction.state_->ledger != state_) {
    throw InvalidParameter("ledger: a transaction of another ledger");
  }
  return commit(*transaction.state_);
}

std::vector<StoredDecision> Ledger::commit(TransactionState& state) {
  if (state.owing) throw InvalidParameter("ledger: a granted decision has no release; nothing was committed");
  if (!state.changed) return {};
  const TreeHead tree = state.log.head();
  if (!state.replica_ready && state.replica_use == ReplicaUse::required) {
    throw ReplicaUnavailable("ledger " + state_->files().database +
                             ": the replica cannot be used, and no policy was applied that names another");
  }
  try {
    Connection& db = state_->writer();
    EPSILOG_INVARIANT(state.clock.events.empty());  // whatever was recorded came after them
    Meta& meta = state.meta;
    if (!state.dated) meta.last_time = state.last_time_before;  // nothing has the time it would say
    meta.replica_size = state.reserve_in_replica();
    state.note_replaced_replica();
    // Whatever goes wrong from here on, the next turn looks at the file.
    state_->tip_cache().forget();
    db.query(kUpdateMeta)
        .with(stored_time(meta.last_time), meta.decisions, meta.policy_versions, meta.limit_changes,
              meta.clock_events, stored_time(meta.clock.wall_clock), meta.clock.boot_id,
              meta.clock.boot_offset, stored_time(meta.clock.held_at), meta.accounts, meta.limit_removals,
              meta.events, meta.relocations, meta.names, meta.builds, meta.plans, meta.key_events,
              meta.log_size, state.decisions_before, state.lines_before, stored_time(state.last_time_before),
              meta.replica_size, meta.recoveries, meta.credential_events, meta.seal_events, meta.features)
        .run();
    if (db.changes() != 1) throw LedgerCorrupt("ledger: meta does not have its one row as it was found");
    state_->set_commit_mark(state.decisions_before + 1);
    db.query("COMMIT").run();
  } catch (const StorageFailure& failure) {
    state_->fail(failure, "committing");
  }
  state_->require_recorded_in_place();
  RecordLog log = state.log;
  log.drop_lines();
  LedgerTip tip{.meta = state.meta,
                .last_id = state.last_id,
                .policy_version = state.policy_version,
                .log = std::move(log),
                .stale_replicas = state.stale_replicas,
                .seal = state.seal};
  const EndMark end = end_mark_of(tip);
  state_->tip_cache().remember_tip(std::move(tip));
  state_->clear_commit_mark();
  state_->update_end_mark(end);
  std::vector<StoredDecision> recorded = std::move(state.recorded);
  for (StoredDecision& decision : recorded) decision.log->tree = tree;
  state.write_to_replica(tree, recorded);
  if (!state.stale_replicas.empty()) {
    state_->tip_cache().forget();
    state.close_stale_replicas();
  }
  state_->checkpoint_if_due();
  return recorded;
}

Snapshot Ledger::snapshot() const {
  return Snapshot(std::make_unique<SnapshotState>(state_));
}

}  // namespace epsilog::ledger
