// What a ledger holds: budgets, decisions, policy versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/history_page.hpp"
#include "epsilog/engine/state_handle.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

class Policy;  // policy.hpp

/// An account as `budget` reports it.
struct BudgetAccount : ledger::AccountState {
  bool active = true;  ///< false: the active policy declares no limit for it any more
};

/// Reads what is recorded. What holds of each call stands in engine.hpp.
class LedgerHistory {
 public:
  /// `dataset` "" = all.
  /// Throws  NotFound likewise; reading.
  [[nodiscard]] std::vector<BudgetAccount> budget(const std::string& dataset) const;
  /// What every report says about the budgets of a dataset, "" = of all, each sentence named after its own.
  /// Throws  reading.
  [[nodiscard]] std::vector<std::string> notes(const std::string& dataset) const;
  /// The last `limit` decisions, or all if it is 0, oldest first.
  /// Throws  NotFound likewise; reading.
  void history(const std::string& dataset, std::int64_t limit,
               accounting::CallbackRef<void(const Answer&)> visit) const;
  /// One page, which also ends with the first decision of which `visit` returns false; HistoryEnd::cursor goes on
  /// behind it. It costs what it holds, wherever it begins. A decision that cannot be read counts for one.
  /// Throws  NotFound likewise; InvalidParameter for a limit out of range, for `since` with newest first, and for
  ///         a text that is no cursor of that order; reading.
  HistoryEnd history(const HistoryPage& page, accounting::CallbackRef<bool(const Answer&)> visit) const;
  /// The seq of the newest decision, 0 before the first: a look at one row.
  /// Throws  reading.
  [[nodiscard]] std::int64_t newest_seq() const;
  /// Throws  NotFound; reading.
  [[nodiscard]] Answer show(const std::string& decision_id, const Alphas& alphas) const;
  // Each throws  reading.
  [[nodiscard]] Policy active_policy() const;
  [[nodiscard]] ledger::PolicyVersion active_policy_version() const;
  [[nodiscard]] std::string ledger_id() const;
  /// By whom and when, oldest first; `dataset` "" = all.
  /// Throws  reading.
  [[nodiscard]] std::vector<ledger::Relocation> relocations(const std::string& dataset) const;
  /// Since when no budget renews, because the clock jumped; nothing while the calendar goes on.
  [[nodiscard]] std::optional<std::string> calendar_held_at() const;

 protected:
  explicit LedgerHistory(StateHandle state) : state_(std::move(state)) {}

 private:
  StateHandle state_;
};

}  // namespace epsilog::engine
