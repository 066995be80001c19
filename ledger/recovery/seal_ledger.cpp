// A ledger that is sealed: a line that says so, in the ledger and in its replica, and in L.lock.
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "seal_rows.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {

SealResult Ledger::seal(const std::string& path, const std::string& by, const std::string& why,
                        const Options& options) {
  if (by.empty() || why.empty()) throw InvalidParameter("ledger: a seal says who makes it, and why");
  Ledger ledger = open(path, options);
  Transaction transaction(std::make_unique<TransactionState>(ledger.state_, std::nullopt, nullptr,
                                                             ReplicaUse::required, OnSeal::go_on));
  TransactionState& state = *transaction.state_;
  SealResult done{
      .ledger_id = ledger.ledger_id(), .tree = state.log.head(), .seal = {}, .changed = !state.seal};
  if (state.seal) {
    done.seal = *state.seal;
    return done;
  }
  state.run_step("sealing", [&](TransactionState& begun) { begun.insert_seal(by, why); });
  done.seal = {.at = state.meta.last_time, .by = by, .why = why};
  done.tree = state.log.head();
  static_cast<void>(ledger.commit(state));
  return done;
}

}  // namespace epsilog::ledger
