// The accounts of a ledger as its policies and decisions make them, from nothing: what an audit holds the
// stored accounts, limit changes, removals and balances against.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decide.hpp"
#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/engine/policy.hpp"
#include "plan_cache.hpp"

namespace epsilog::engine {

class AuditBalances final {
 public:
  explicit AuditBalances(std::vector<AuditFault>& faults) : faults_(faults) {}

  /// Call in this order: every limit change and removal, the accounts as they stand; then policies and
  /// decisions as they follow each other; then finish().
  void limit_change(const ledger::LimitChange& change);
  void limit_removal(const ledger::LimitRemoval& removal);
  void accounts(const std::vector<ledger::AccountState>& stored);
  /// A policy becomes active, the one before it being `before` (nullptr if that is missing or invalid):
  /// limits follow it, and the limit changes and removals recorded under its number have to say so.
  void policy(const AppliedPolicy& applied, const AppliedPolicy* before, const std::string& calendar_time);

  /// Those of the named accounts that are there by now, in their order.
  [[nodiscard]] std::vector<ledger::AccountState> present(
      const std::vector<ledger::AccountName>& names) const;
  /// A request opens the accounts that were not there.
  void open(const std::vector<PlannedCharge>& planned_charges);
  /// What a decision takes from accounts; one that is not stored is named and left out.
  [[nodiscard]] std::vector<ledger::Charge> charges_of(const std::string& decision,
                                                       const std::vector<Debit>& debits);
  /// Moves a balance by a decision's charge; names an account that does not exist or is overdrawn by it.
  void apply(const std::string& decision, const ledger::Charge& charge, std::int64_t spent,
             std::int64_t reserved);
  void finish();

 private:
  /// What a policy version does to the accounts that are there.
  struct Effect {
    std::map<ledger::AccountName, std::pair<std::int64_t, std::int64_t>> limits;  // old, new
    std::set<ledger::AccountName> removed;
  };

  void fault(const std::string& record, const char* code, std::string message);
  [[nodiscard]] Effect effect(const AppliedPolicy& applied, const AppliedPolicy* before,
                              const std::string& calendar_time) const;
  // What is recorded under a version and does not follow from it, or the other way round.
  void compare_limits(const ledger::PolicyVersion& version, const Effect& effect);
  void compare_removals(const ledger::PolicyVersion& version, const Effect& effect);
  void compare_account(const ledger::AccountState& stored);
  [[nodiscard]] ledger::AccountState state(const ledger::AccountName& name,
                                           const accounting::Balance& balance) const;

  std::vector<AuditFault>& faults_;
  std::map<std::int64_t, std::vector<ledger::LimitChange>> limit_changes_;    // by policy version
  std::map<std::int64_t, std::vector<ledger::LimitRemoval>> limit_removals_;  // by policy version
  std::vector<ledger::AccountState> stored_;
  std::map<std::int64_t, ledger::AccountName> names_;  // by id
  std::map<ledger::AccountName, std::int64_t> ids_;
  std::map<ledger::AccountName, accounting::Balance> folded_;
};

}  // namespace epsilog::engine
