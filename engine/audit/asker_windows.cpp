#include "asker_windows.hpp"

#include <algorithm>

#include "epsilog/ledger/ledger_time.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

using ledger::Outcome;

constexpr std::int64_t kLongestMs = std::int64_t{1000} * 365 * 24 * 3600;

/// As ChargeWindow has it; nothing of accounts that not every request is charged to.
std::optional<std::string> scope_of_window(const std::string& account_scope) {
  const auto scope = parse_scope(account_scope);
  if (!scope) return std::nullopt;
  switch (scope->kind) {
    case Scope::Kind::dataset:
    case Scope::Kind::lifetime:
      return account_scope;
    case Scope::Kind::period:
      return "period";
    default:
      return std::nullopt;
  }
}

}  // namespace

void AskerWindows::policy(const Policy& policy) {
  for (const Dataset& dataset : policy.datasets()) {
    if (dataset.approvals && dataset.approvals->within_seconds != 0) datasets_.insert(dataset.name);
  }
}

void AskerWindows::charge(std::int64_t now, const Amounts& amounts) {
  for (const auto& [key, amount] : amounts) {
    auto& [times, sums] = charged_[key];
    times.push_back(now);
    sums.push_back(sums.back() + amount);
    const auto old = std::upper_bound(times.begin(), times.end(), now - kLongestMs) - times.begin();
    if (old < 1000 || 2 * static_cast<std::size_t>(old) < times.size()) continue;
    times.erase(times.begin(), times.begin() + old);
    sums.erase(sums.begin(), sums.begin() + old);
  }
}

void AskerWindows::decision(const ledger::StoredDecision& stored, const WaitingRequest* waiting) {
  const Outcome outcome = stored.draft.outcome;
  if (!datasets_.contains(stored.draft.dataset)) return;
  const bool settles = waiting != nullptr && waiting->reserved() && outcome != Outcome::data_accessed;
  if (settles) {
    const auto held = open_.extract(waiting->holder.id);
    if (held.empty()) return;
    for (const auto& [key, amount] : held.mapped()) reserved_[key] -= amount;
    if (outcome == Outcome::granted || outcome == Outcome::forfeited)
      charge(ledger::parse_time(stored.created_at), held.mapped());
    return;
  }
  if (outcome != Outcome::granted && outcome != Outcome::reserved) return;
  Amounts amounts;
  for (const ledger::Charge& charge : stored.charges) {
    const auto account = std::find_if(stored.accounts.begin(), stored.accounts.end(),
                                      [&](const auto& one) { return one.id == charge.account; });
    if (account == stored.accounts.end()) continue;
    const auto scope = scope_of_window(account->scope);
    if (!scope) continue;
    const std::string& asker = waiting != nullptr ? waiting->request.principal : stored.draft.principal;
    amounts[{asker, stored.draft.dataset, *scope, account->measure}] += charge.amount;
  }
  if (outcome == Outcome::granted) return charge(ledger::parse_time(stored.created_at), amounts);
  for (const auto& [key, amount] : amounts) reserved_[key] += amount;
  open_.insert_or_assign(stored.id, std::move(amounts));
}

accounting::Integer AskerWindows::before(const ledger::ChargeWindow& window, const std::string& at) const {
  const Key key{window.principal, window.dataset, window.scope, window.measure};
  accounting::Integer sum = 0;
  if (const auto reserved = reserved_.find(key); reserved != reserved_.end()) sum += reserved->second;
  const auto charged = charged_.find(key);
  if (charged == charged_.end()) return sum;
  const auto& [times, sums] = charged->second;
  const auto first =
      std::upper_bound(times.begin(), times.end(), ledger::parse_time(at) - window.seconds * 1000);
  return sum + sums.back() - sums[static_cast<std::size_t>(first - times.begin())];
}

}  // namespace epsilog::engine
