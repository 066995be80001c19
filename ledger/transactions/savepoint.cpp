// A part of a transaction that is there whole or not at all, in a SAVEPOINT.
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/transaction.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {

SavepointMemory::SavepointMemory(const TransactionState& state)
    : meta_(state.meta),
      last_id_(state.last_id),
      clock_(state.clock),
      reading_(state.reading),
      policy_version_(state.policy_version),
      changed_(state.changed),
      dated_(state.dated),
      recorded_(state.recorded.size()),
      log_(state.log),
      later_(std::make_shared<accounting::TransactionLiveness>()) {}

void SavepointMemory::restore(TransactionState& state) noexcept {
  state.meta = std::move(meta_);
  state.last_id = std::move(last_id_);
  state.clock = std::move(clock_);
  state.reading = std::move(reading_);
  state.policy_version = policy_version_;
  state.changed = changed_;
  state.dated = dated_;
  state.owing = false;
  state.recorded.resize(recorded_);
  state.log = log_;
  state.owed_movements.clear();
  state.ledger->writer().shared_rows().forget();
  state.liveness->open = false;
  state.liveness = std::move(later_);
  state.account_rows.forget();
  state.existing_accounts.reset();
  state.reserved_sums.reset();
  state.free_key.reset();
}

void TransactionState::run_in_savepoint(accounting::CallbackRef<void()> step) {
  require_open();
  require(savepoint == Savepoint::none, "a member has no members");
  require(!owing, "the decision charged before still waits for its release");
  SavepointMemory before(*this);
  run_step("beginning a member",
           [](TransactionState& state) { state.ledger->writer().query("SAVEPOINT member").run(); });
  savepoint = Savepoint::under_way;
  try {
    step();
    require_open();
    require(!owing, "a granted decision of a member has no release; it is undone");
  } catch (...) {
    undo_savepoint(before);
    throw;
  }
  savepoint = Savepoint::none;
  run_step("ending a member",
           [](TransactionState& state) { state.ledger->writer().query("RELEASE member").run(); });
}

void TransactionState::undo_savepoint(SavepointMemory& before) {
  savepoint = Savepoint::none;
  if (!has_writer_lock) return;  // over, for all
  run_step("undoing a member", [&before](TransactionState& state) {
    state.ledger->writer().query("ROLLBACK TO member").run();
    state.ledger->writer().query("RELEASE member").run();
    before.restore(state);
  });
}

void TransactionState::fail(const StorageFailure& failure, const char* doing) {
  if (savepoint != Savepoint::none && kind_of(failure) == FailureKind::constraint) {
    throw_translated(failure, "ledger " + ledger->files().database + ": " + doing);
  }
  ledger->fail(failure, doing);
}

void TransactionState::end_or_give_up_savepoint() noexcept {
  // After a failure that ended SQLite's transaction there is nothing that a member could be taken out of.
  if (savepoint == Savepoint::none || !ledger->own_process() || !ledger->writer().in_transaction())
    return end();
  savepoint = Savepoint::given_up;
}

}  // namespace epsilog::ledger
