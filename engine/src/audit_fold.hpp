// Re-derives the whole history from policies and charges, and names what does not agree.
//
// Nothing stored is trusted that can be computed: balances are the sum of charges, limits come from
// the policy versions, outcomes from deciding again, values from the components.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "decide.hpp"
#include "engine_state.hpp"

namespace epsilog::engine {

class AuditFold {
 public:
  explicit AuditFold(std::vector<AuditFault>& faults) : faults_(faults) {}

  /// Call in this order: every policy version, every limit change, the accounts as they stand, every
  /// decision by seq, then finish().
  void policy_version(const ledger::PolicyVersion& version);
  void limit_change(const ledger::LimitChange& change);
  void accounts(const std::vector<ledger::AccountState>& stored);
  void decision(const ledger::StoredDecision& stored);
  void finish();

  [[nodiscard]] std::int64_t decisions() const noexcept { return last_seq_; }

 private:
  struct AccountName {
    std::string dataset, scope, measure;
    friend auto operator<=>(const AccountName&, const AccountName&) = default;
  };
  struct Binding {
    std::string id;
    std::string digest;
  };

  void fault(const std::string& record, const char* code, std::string message);
  void advance_policy(std::int64_t version, std::int64_t after_decision);
  void check_sequence(const ledger::StoredDecision& stored);
  void check_again(const ledger::StoredDecision& stored);
  void check_release(const ledger::StoredDecision& stored, const Plan& plan);
  void check_values(const ledger::StoredDecision& stored, const Plan& plan);
  void check_balances_after(const ledger::StoredDecision& stored);
  [[nodiscard]] std::optional<KeyConflict> bound_key(const ledger::StoredDecision& stored,
                                                     const std::string& conflicting_key);
  [[nodiscard]] std::vector<ledger::AccountState> balances(const std::string& dataset) const;

  std::vector<AuditFault>& faults_;
  std::map<std::int64_t, std::shared_ptr<const AppliedPolicy>> policies_;
  std::map<std::int64_t, std::vector<ledger::LimitChange>> limit_changes_;  // by policy version
  std::vector<ledger::AccountState> stored_accounts_;
  std::map<AccountName, std::int64_t> ids_;
  std::map<AccountName, accounting::Balance> folded_;
  std::map<std::pair<std::string, std::string>, Binding> keys_;  // (principal, key)
  PlanCache plans_;
  std::int64_t policy_ = 0;
  std::int64_t last_seq_ = 0;
  std::string last_id_;
  std::string last_time_;
};

}  // namespace epsilog::engine
