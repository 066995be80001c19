// Re-derives the whole history from policies and charges, and names what does not agree.
//
// Nothing stored is trusted that can be computed: balances are the sum of charges, limits come from
// the policy versions, outcomes from deciding again, values from the components.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "audit_balances.hpp"
#include "audit_calendar.hpp"
#include "decide.hpp"
#include "engine_state.hpp"

namespace epsilog::engine {

class AuditFold {
 public:
  explicit AuditFold(std::vector<AuditFault>& faults) : faults_(faults), balances_(faults) {}

  /// Call in this order: every schema migration, clock event, policy version and limit change, the accounts
  /// as they stand, every decision by seq, then finish().
  void schema_migration(const ledger::SchemaMigration& migration);
  void clock_event(const ledger::ClockEvent& event);
  void policy_version(const ledger::PolicyVersion& version);
  void limit_change(const ledger::LimitChange& change);
  void accounts(const std::vector<ledger::AccountState>& stored);
  void decision(const ledger::StoredDecision& stored);
  void finish();

  /// "" for a version that is not there.
  [[nodiscard]] std::string policy_sha256(std::int64_t version) const;

 private:
  struct Binding {
    std::string id;
    std::string digest;
  };

  void fault(const std::string& record, const char* code, std::string message);
  void advance_policy(std::int64_t version, std::int64_t after_decision);
  void check_sequence(const ledger::StoredDecision& stored);
  /// What the request asked.
  std::vector<Ask> check_again(const ledger::StoredDecision& stored);
  void check_release(const ledger::StoredDecision& stored, const Plan& plan);
  void check_values(const ledger::StoredDecision& stored, const Plan& plan);
  void check_balances_after(const ledger::StoredDecision& stored, const std::vector<Ask>& asked);
  [[nodiscard]] std::optional<KeyConflict> bound_key(const ledger::StoredDecision& stored,
                                                     const std::string& conflicting_key);
  /// Whether it was written before decisions stored only the accounts they touch.
  [[nodiscard]] bool of_schema_1(const ledger::StoredDecision& stored) const;

  std::vector<AuditFault>& faults_;
  std::map<std::int64_t, std::shared_ptr<const AppliedPolicy>> policies_;
  AuditBalances balances_;
  AuditCalendar calendar_;
  std::int64_t last_of_schema_1_ = 0;
  std::map<std::pair<std::string, std::string>, Binding> keys_;  // (principal, key)
  PlanCache plans_;
  std::int64_t policy_ = 0;
  std::int64_t last_seq_ = 0;
  std::string last_id_;
  std::string last_time_;
};

}  // namespace epsilog::engine
