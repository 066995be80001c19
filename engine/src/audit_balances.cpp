#include "audit_balances.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

std::string account_record(std::int64_t id) {
  return "account " + std::to_string(id);
}

}  // namespace

void AuditBalances::fault(const std::string& record, const char* code, std::string message) {
  faults_.push_back({record, code, std::move(message)});
}

void AuditBalances::limit_change(const ledger::LimitChange& change) {
  limit_changes_[change.policy_version].push_back(change);
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

void AuditBalances::policy(std::int64_t version, const Policy& policy, const std::string& calendar_time,
                           std::int64_t after_decision) {
  const LimitsAfter limits(policy, calendar_time);
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected;  // account id -> old, new
  for (auto& [name, balance] : folded_) {
    const std::int64_t limit = limits.of(name, balance);
    if (limit != balance.limit) expected[ids_[name]] = {balance.limit, limit};
    balance.limit = limit;
  }
  for (const ledger::AccountState& account : limits.listed()) {
    folded_.try_emplace(account.name(), accounting::Balance{.limit = account.balance.limit});
  }
  compare_limit_changes(version, after_decision, std::move(expected));
}

void AuditBalances::compare_limit_changes(
    std::int64_t version, std::int64_t after_decision,
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected) {
  const std::string policy_record = "policy " + std::to_string(version);
  for (const ledger::LimitChange& change : limit_changes_[version]) {
    if (change.after_decision != after_decision) {
      fault(account_record(change.account), "limit_change_moved",
            "limit change " + std::to_string(change.seq) + " stands after decision " +
                std::to_string(change.after_decision) + ", its policy came after " +
                std::to_string(after_decision));
    }
    const auto entry = expected.find(change.account);
    if (entry == expected.end() || entry->second != std::pair(change.old_limit, change.new_limit)) {
      fault(account_record(change.account), "limit_change_unfounded",
            "limit change " + std::to_string(change.seq) + " does not follow from " + policy_record);
    } else {
      expected.erase(entry);
    }
  }
  for (const auto& [account, limits] : expected) {
    fault(account_record(account), "limit_change_missing",
          policy_record + " changed its limit, but no limit change was recorded");
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

std::optional<std::int64_t> AuditBalances::came_after(std::int64_t version) const {
  const auto changes = limit_changes_.find(version);
  if (changes == limit_changes_.end() || changes->second.empty()) return std::nullopt;
  return changes->second.front().after_decision;
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

std::vector<ledger::AccountState> AuditBalances::of_dataset(const std::string& dataset) const {
  std::vector<ledger::AccountState> result;
  for (auto entry = folded_.lower_bound({dataset, "", ""});
       entry != folded_.end() && entry->first.dataset == dataset; ++entry) {
    result.push_back(state(entry->first, entry->second));
  }
  return result;
}

void AuditBalances::open(const std::vector<Ask>& asks) {
  for (const Ask& ask : asks) folded_.try_emplace(ask.account, accounting::Balance{.limit = ask.limit});
}

void AuditBalances::apply(const std::string& decision, const ledger::Charge& charge, std::int64_t spent,
                          std::int64_t reserved) {
  const auto name = names_.find(charge.account);
  const auto entry = name == names_.end() ? folded_.end() : folded_.find(name->second);
  if (entry == folded_.end()) {
    return fault(decision, "charge_changed", "charges an account that does not exist");
  }
  accounting::Balance& balance = entry->second;
  balance.spent += spent;
  balance.reserved += reserved;
  if (!balance.valid()) {
    fault(decision, "overspent", "spends more than the limit of " + account_record(charge.account));
  }
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
