// The accounts of a ledger as its policies and decisions make them, from nothing: what an audit holds the
// stored accounts, limit changes and balances against.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decide.hpp"
#include "engine_state.hpp"

namespace epsilog::engine {

class AuditBalances final {
 public:
  explicit AuditBalances(std::vector<AuditFault>& faults) : faults_(faults) {}

  /// Call in this order: every limit change, the accounts as they stand; then policies and decisions as they
  /// follow each other; then finish().
  void limit_change(const ledger::LimitChange& change);
  void accounts(const std::vector<ledger::AccountState>& stored);
  /// A policy becomes active after `after_decision` decisions: limits follow it, and the limit changes
  /// recorded under its number have to say so.
  void policy(std::int64_t version, const Policy& policy, const std::string& calendar_time,
              std::int64_t after_decision);

  /// After how many decisions a policy version came, if it changed a limit.
  [[nodiscard]] std::optional<std::int64_t> came_after(std::int64_t version) const;
  /// Those of the named accounts that are there by now, in their order.
  [[nodiscard]] std::vector<ledger::AccountState> present(
      const std::vector<ledger::AccountName>& names) const;
  /// Those of a dataset, ordered by (scope, measure).
  [[nodiscard]] std::vector<ledger::AccountState> of_dataset(const std::string& dataset) const;
  /// A request opens the accounts that were not there.
  void open(const std::vector<Ask>& asks);
  /// Moves a balance by a decision's charge; names an account that does not exist or is overdrawn by it.
  void apply(const std::string& decision, const ledger::Charge& charge, std::int64_t spent,
             std::int64_t reserved);
  void finish();

 private:
  void fault(const std::string& record, const char* code, std::string message);
  void compare_limit_changes(std::int64_t version, std::int64_t after_decision,
                             std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected);
  void compare_account(const ledger::AccountState& stored);
  [[nodiscard]] ledger::AccountState state(const ledger::AccountName& name,
                                           const accounting::Balance& balance) const;

  std::vector<AuditFault>& faults_;
  std::map<std::int64_t, std::vector<ledger::LimitChange>> limit_changes_;  // by policy version
  std::vector<ledger::AccountState> stored_;
  std::map<std::int64_t, ledger::AccountName> names_;  // by id
  std::map<ledger::AccountName, std::int64_t> ids_;
  std::map<ledger::AccountName, accounting::Balance> folded_;
};

}  // namespace epsilog::engine
