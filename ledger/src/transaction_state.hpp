#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epsilog/ledger/ledger.hpp"
#include "ledger_state.hpp"
#include "queries.hpp"

namespace epsilog::ledger {

struct Transaction::State {
  /// Takes the turn and begins.
  explicit State(std::shared_ptr<LedgerState> ledger);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Kills the receipts, rolls back what is not committed and gives the turn back. Repeatable.
  void end() noexcept;
  void require_open() const;
  /// Number, id and time of the next decision; its row still to be written.
  [[nodiscard]] StoredDecision next_decision(const DecisionDraft& draft);
  void require_recordable(const DecisionDraft& draft, Outcome outcome);
  void insert_decision(const StoredDecision& decision);
  void debit(const DecisionDraft& draft, std::span<const Charge> charges,
             const accounting::ApproximateLoss& loss);
  void insert_limit_change(const AccountState& before, std::int64_t new_limit, const PolicyVersion& version,
                           const std::string& why);

  std::shared_ptr<LedgerState> ledger;
  Descriptor lock;
  std::shared_ptr<accounting::TransactionLiveness> liveness =
      std::make_shared<accounting::TransactionLiveness>();
  Meta meta;                // as it will be written
  std::string last_id;      // of the last decision, "" when there is none
  std::int64_t now_ms = 0;  // ledger time of everything in this transaction
  std::int64_t policy_version = 0;
  bool changed = false;
  bool owing = false;                   // a granted decision waits for its release
  accounting::ApproximateLoss receipt;  // what the receipt of that decision covers
  std::vector<StoredDecision> recorded;
};

/// Inserts and updates shared by creation and `policy apply`.
void insert_policy_version(Connection& connection, const PolicyVersion& version);
void insert_account(Connection& connection, const AccountState& account);
/// Throws  InvalidParameter.
void require_sound_policy(const PolicyVersion& version);
void require_sound_account(const AccountState& account);

}  // namespace epsilog::ledger
