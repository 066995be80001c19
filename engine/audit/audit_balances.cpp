#include "audit_balances.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

std::string account_record(std::int64_t id) {
  return "account " + std::to_string(id);
}

std::string policy_record(std::int64_t version) {
  return "policy " + std::to_string(version);
}

std::string order_text(std::int64_t from, std::int64_t to) {
  return " stands after decision " + std::to_string(from) + ", its policy came after " + std::to_string(to);
}

/// By id. What is not stored has none, and is named at the end.
template <class Value>
std::map<std::int64_t, Value> of_stored(const std::map<ledger::AccountName, Value>& values,
                                        const std::map<ledger::AccountName, std::int64_t>& ids) {
  std::map<std::int64_t, Value> result;
  for (const auto& [name, value] : values) {
    const auto id = ids.find(name);
    if (id != ids.end()) result.emplace(id->second, value);
  }
  return result;
}

}  // namespace

void AuditBalances::fault(const std::string& record, const char* code, std::string message) {
  faults_.push_back({record, code, std::move(message)});
}

void AuditBalances::limit_change(const ledger::LimitChange& change) {
  limit_changes_[change.policy_version].push_back(change);
}

void AuditBalances::limit_removal(const ledger::LimitRemoval& removal) {
  limit_removals_[removal.policy_version].push_back(removal);
}

void AuditBalances::accounts(const std::vector<ledger::AccountState>& stored) {
  stored_ = stored;
  for (const ledger::AccountState& account : stored) {
    ids_[account.name()] = account.id;
    names_[account.id] = account.name();
    if (!account.balance.valid()) {
      fault(account_record(account.id), "account_invalid", "spent and reserved do not fit its limit");
    }
  }
}

void AuditBalances::policy(const AppliedPolicy& applied, const AppliedPolicy* before,
                           const std::string& calendar_time) {
  const Effect expected = effect(applied, before, calendar_time);
  compare_limits(applied.version, expected);
  compare_removals(applied.version, expected);
  for (const auto& [name, limits] : expected.limits) {
    accounting::Balance& balance = folded_[name];
    const std::int64_t former = std::exchange(balance.limit, limits.second);
    if (balance.valid()) continue;
    balance.limit = former;
    fault(policy_record(applied.version.version), "limit_below_spent",
          "puts the " + name.measure + " limit of '" + name.dataset + "' below what is spent and reserved");
  }
  for (const ledger::AccountState& account : declared_accounts(applied.policy)) {
    folded_.try_emplace(account.name(), accounting::Balance{.limit = account.balance.limit});
  }
}

AuditBalances::Effect AuditBalances::effect(const AppliedPolicy& applied, const AppliedPolicy* before,
                                            const std::string& calendar_time) const {
  const LimitsAfter after(applied.policy, calendar_time);
  std::optional<LimitsAfter> earlier;
  if (before != nullptr) earlier.emplace(before->policy, calendar_time);
  Effect effect;
  for (const auto& [name, balance] : folded_) {
    const std::optional<std::int64_t> limit = after.of(name, balance);
    if (limit && *limit != balance.limit) effect.limits[name] = {balance.limit, *limit};
    if (!limit && earlier && earlier->of(name, balance)) effect.removed.insert(name);
  }
  return effect;
}

void AuditBalances::compare_limits(const ledger::PolicyVersion& version, const Effect& effect) {
  const std::string policy = policy_record(version.version);
  auto expected = of_stored(effect.limits, ids_);
  const auto recorded = limit_changes_.find(version.version);
  if (recorded != limit_changes_.end()) {
    for (const ledger::LimitChange& change : recorded->second) {
      const std::string what = "limit change " + std::to_string(change.seq);
      if (change.after_decision != version.after_decision) {
        fault(account_record(change.account), "limit_change_moved",
              what + order_text(change.after_decision, version.after_decision));
      }
      const auto entry = expected.find(change.account);
      if (entry == expected.end() || entry->second != std::pair(change.old_limit, change.new_limit)) {
        fault(account_record(change.account), "limit_change_unfounded",
              what + " does not follow from " + policy);
      } else {
        expected.erase(entry);
      }
    }
  }
  for (const auto& [account, limits] : expected) {
    fault(account_record(account), "limit_change_missing",
          policy + " changed its limit, but no limit change was recorded");
  }
}

void AuditBalances::compare_removals(const ledger::PolicyVersion& version, const Effect& effect) {
  const std::string policy = policy_record(version.version);
  std::set<std::int64_t> expected;
  for (const ledger::AccountName& name : effect.removed) {
    const auto id = ids_.find(name);
    if (id != ids_.end()) expected.insert(id->second);
  }
  const auto recorded = limit_removals_.find(version.version);
  if (recorded != limit_removals_.end()) {
    for (const ledger::LimitRemoval& removal : recorded->second) {
      const std::string what = "limit removal " + std::to_string(removal.seq);
      const std::string record = account_record(removal.account);
      if (removal.after_decision != version.after_decision) {
        fault(record, "limit_removal_moved",
              what + order_text(removal.after_decision, version.after_decision));
      }
      if (removal.removed_at != version.applied_at || removal.by != version.applied_by) {
        fault(record, "limit_removal_changed", what + " has not the time and author of " + policy);
      }
      if (expected.erase(removal.account) == 0) {
        fault(record, "limit_removal_unfounded", what + " does not follow from " + policy);
      }
    }
  }
  for (const std::int64_t account : expected) {
    fault(account_record(account), "limit_removal_missing",
          policy + " declares its limit no more, but no removal was recorded");
  }
}

ledger::AccountState AuditBalances::state(const ledger::AccountName& name,
                                          const accounting::Balance& balance) const {
  const auto id = ids_.find(name);
  return {.id = id == ids_.end() ? 0 : id->second,
          .dataset = name.dataset,
          .scope = name.scope,
          .measure = name.measure,
          .balance = balance};
}

std::vector<ledger::AccountState> AuditBalances::present(
    const std::vector<ledger::AccountName>& names) const {
  std::vector<ledger::AccountState> result;
  for (const ledger::AccountName& name : names) {
    const auto entry = folded_.find(name);
    if (entry != folded_.end()) result.push_back(state(entry->first, entry->second));
  }
  return result;
}

void AuditBalances::open(const std::vector<PlannedCharge>& planned_charges) {
  for (const PlannedCharge& charge : planned_charges)
    folded_.try_emplace(charge.account, accounting::Balance{.limit = charge.limit});
}

std::vector<ledger::Charge> AuditBalances::charges_of(const std::string& decision,
                                                      const std::vector<Debit>& debits) {
  std::vector<Debit> stored;
  for (const Debit& debit : debits) {
    if (debit.account.id != 0) {
      stored.push_back(debit);
    } else if (debit.charge.amount != 0) {
      fault(decision, "account_missing",
            "charges the " + debit.account.measure + " account of '" + debit.account.dataset + "'" +
                (debit.account.scope.empty() ? "" : ", " + debit.account.scope) + ", which is not there");
    }
  }
  return charges(stored);
}

void AuditBalances::apply(const std::string& decision, const ledger::Charge& charge, std::int64_t spent,
                          std::int64_t reserved) {
  const auto name = names_.find(charge.account);
  const auto entry = name == names_.end() ? folded_.end() : folded_.find(name->second);
  if (entry == folded_.end()) {
    return fault(decision, "charge_changed", "charges an account that does not exist");
  }
  // A balance that cannot be stays as it was: what is decided again needs one that can.
  accounting::Balance moved = entry->second;
  const bool added = !__builtin_add_overflow(moved.spent, spent, &moved.spent) &&
                     !__builtin_add_overflow(moved.reserved, reserved, &moved.reserved);
  if (!added || !moved.valid()) {
    return fault(decision, "overspent", "spends more than the limit of " + account_record(charge.account));
  }
  entry->second = moved;
}

void AuditBalances::compare_account(const ledger::AccountState& stored) {
  const std::string record = account_record(stored.id);
  const auto entry = folded_.find(stored.name());
  if (entry == folded_.end()) {
    return fault(record, "account_unfounded", "no policy version declares it");
  }
  const accounting::Balance& expected = entry->second;
  if (stored.balance.spent != expected.spent) {
    fault(record, "balance_changed",
          stored.measure + " of '" + stored.dataset + "': spent is recorded as " +
              std::to_string(stored.balance.spent) + " units, its charges add up to " +
              std::to_string(expected.spent));
  }
  if (stored.balance.limit != expected.limit) {
    fault(record, "limit_changed",
          stored.measure + " of '" + stored.dataset + "': its limit is not the one its policy declares");
  }
  if (stored.balance.reserved != expected.reserved) {
    fault(record, "reservation_unfounded",
          "it holds back " + std::to_string(stored.balance.reserved) +
              " units, open reservations add up to " + std::to_string(expected.reserved));
  }
}

void AuditBalances::finish() {
  for (const ledger::AccountState& account : stored_) compare_account(account);
  for (const auto& [name, balance] : folded_) {
    if (!ids_.contains(name)) {
      fault("account of '" + name.dataset + "'", "account_missing",
            "its " + name.measure + " account" + (name.scope.empty() ? "" : " of " + name.scope) +
                " is not there");
    }
  }
}

}  // namespace epsilog::engine
