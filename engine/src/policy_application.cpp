// init and `policy apply`: how a policy enters the ledger, and which changes it may not make.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "policy_charged.hpp"
#include "policy_values.hpp"
#include "release_path.hpp"
#include "scopes.hpp"

namespace epsilog::engine {
namespace {

ledger::PolicyVersion version_of(const Policy& policy, const std::string& policy_path,
                                 const std::string& by) {
  ledger::PolicyVersion version;
  version.yaml = policy.yaml();
  version.sha256 = ledger::sha256_hex(policy.yaml());
  version.base_dir = std::filesystem::absolute(policy_path).lexically_normal().parent_path().string();
  version.applied_by = by;
  return version;
}

/// Where a dataset's rows come from, so that two declarations of one source compare equal.
std::string source_identity(const Dataset& dataset, const std::string& base_dir) {
  const auto resolved = [&base_dir](const std::string& path) {
    return (std::filesystem::path(base_dir) / path).lexically_normal().string();
  };
  if (dataset.csv) return "csv " + resolved(dataset.csv->path);
  if (dataset.sqlite) return "sqlite " + resolved(dataset.sqlite->path) + " table " + dataset.sqlite->table;
  return "none";
}

/// Collects what an already charged dataset may not change: each of these would alter what the
/// recorded losses mean, or let them be forgotten.
class ChangeCheck {
 public:
  ChangeCheck(const AppliedPolicy& before, const Policy& after, const ledger::PolicyVersion& version,
              std::string file)
      : before_(before), after_(after), version_(version), file_(std::move(file)) {}

  std::vector<PolicyFault> faults(const std::vector<ledger::AccountState>& accounts,
                                  const std::string& calendar_time) {
    std::map<std::string, bool> charged;
    for (const ledger::AccountState& account : accounts) {
      charged[account.dataset] |= account.balance.spent > 0 || account.balance.reserved > 0;
    }
    const std::vector<PolicyChange> changes = diff(before_.policy, after_);
    for (const Dataset& dataset : before_.policy.datasets()) {
      if (charged[dataset.name]) check_charged(dataset, changes);
    }
    const LimitsAfter limits(after_, calendar_time);
    for (const ledger::AccountState& account : accounts) check_limit(account, limits);
    return std::move(faults_);
  }

 private:
  const Dataset* find(const std::string& name) const {
    for (const Dataset& dataset : after_.datasets()) {
      if (dataset.name == name) return &dataset;
    }
    return nullptr;
  }

  void fault(const Dataset* at, const std::string& message) {
    faults_.push_back({file_, at ? at->mark.line : 1, at ? at->mark.column : 1, message});
  }

  /// What the table of policy_charged.cpp refuses. Policies name files relative to their own place, which a
  /// comparison of the two texts does not see.
  void check_charged(const Dataset& old, const std::vector<PolicyChange>& changes) {
    const Dataset* now = find(old.name);
    const bool same_source = now != nullptr && source_identity(*now, version_.base_dir) ==
                                                   source_identity(old, before_.version.base_dir);
    std::vector<PolicyFault> found = charged_faults(changes, old, same_source, file_);
    const bool moved = now != nullptr && !same_source && now->has_source() && old.has_source();
    if (moved && source_text(*now) == source_text(old)) {
      fault(now, "dataset '" + old.name +
                     "' was charged already: source may not change: it is relative to the "
                     "policy file, and names another file from there");
    }
    std::move(found.begin(), found.end(), std::back_inserter(faults_));
  }

  void check_limit(const ledger::AccountState& account, const LimitsAfter& limits) {
    const auto declared = limits.of(account.name(), account.balance);
    if (!declared) return;  // what limits nothing any more may have been used
    const std::int64_t limit = *declared;
    const std::int64_t used = account.balance.spent + account.balance.reserved;
    if (limit >= used) return;
    fault(find(account.dataset), account.measure + " budget of dataset '" + account.dataset + "'" +
                                     (account.scope.empty() ? "" : ", " + account.scope) + ": " +
                                     amount_text(account.measure, limit) + " is below the " +
                                     amount_text(account.measure, used) + " already spent" +
                                     (account.balance.reserved == 0 ? "" : " or reserved"));
  }

  const AppliedPolicy& before_;
  const Policy& after_;
  const ledger::PolicyVersion& version_;
  std::string file_;
  std::vector<PolicyFault> faults_;
};

/// What the accounts with a limit shall be after the change, those that cannot be listed included.
std::vector<ledger::AccountState> accounts_after(const LimitsAfter& limits,
                                                 const std::vector<ledger::AccountState>& existing) {
  std::vector<ledger::AccountState> wanted;
  std::set<ledger::AccountName> there;
  for (ledger::AccountState account : existing) {
    there.insert(account.name());
    const auto limit = limits.of(account.name(), account.balance);
    if (!limit) continue;
    account.balance.limit = *limit;
    wanted.push_back(std::move(account));
  }
  for (const ledger::AccountState& account : limits.listed()) {
    if (!there.contains(account.name())) wanted.push_back(account);
  }
  return wanted;
}

/// The accounts that the change leaves without a limit. They are history and never go.
std::vector<ledger::AccountState> removed_between(const LimitsAfter& before, const LimitsAfter& after,
                                                  const std::vector<ledger::AccountState>& existing) {
  std::vector<ledger::AccountState> removed;
  for (const ledger::AccountState& account : existing) {
    const auto limit_in = [&account](const LimitsAfter& limits) {
      return limits.of(account.name(), account.balance);
    };
    if (limit_in(before) && !limit_in(after)) removed.push_back(account);
  }
  return removed;
}

}  // namespace

InitReport Engine::init(const std::string& policy_path, const std::string& ledger_path,
                        const std::string& by) {
  check_name(by, "by");
  const Policy policy = Policy::read(policy_path);
  const ledger::PolicyVersion version = version_of(policy, policy_path, by);
  InitReport report;
  report.ledger_id = ledger::Ledger::create(ledger_path, version, accounts_wanted(policy));
  report.ledger = std::filesystem::absolute(ledger_path).lexically_normal().string();
  report.policy_sha256 = version.sha256;
  return report;
}

ApplyReport Engine::apply_policy(const std::string& policy_path, const std::string& by,
                                 const std::string& why) {
  check_name(by, "by");
  check_name(why, "why");
  const Policy policy = Policy::read(policy_path);
  const ledger::PolicyVersion version = version_of(policy, policy_path, by);
  ApplyReport report;
  report.policy_sha256 = version.sha256;

  ledger::Ledger& ledger = state_->writer();
  Begun begun = begin_after_expiries(*state_);
  ledger::Transaction& transaction = begun.transaction;
  const ledger::PolicyVersion active = transaction.active_policy();
  const AppliedPolicy before{active, Policy::parse_stored(active.yaml, "the active policy")};
  report.policy_version = before.version.version;
  if (before.version.sha256 == version.sha256 && before.version.base_dir == version.base_dir) return report;

  const std::vector<ledger::AccountState> existing = transaction.accounts("");
  std::vector<PolicyFault> faults =
      ChangeCheck(before, policy, version, policy_path).faults(existing, transaction.calendar_time());
  if (!faults.empty()) throw PolicyError(std::move(faults));
  const LimitsAfter after(policy, transaction.calendar_time());
  std::vector<ledger::AccountName> removed;
  for (const ledger::AccountState& account :
       removed_between(LimitsAfter(before.policy, transaction.calendar_time()), after, existing)) {
    removed.push_back(account.name());
  }
  transaction.apply_policy(version, accounts_after(after, existing), why, removed);
  (void)ledger.commit(std::move(transaction));

  report.changed = true;
  report.policy_version = before.version.version + 1;
  ledger::Snapshot view = state_->snapshot();
  view.each_limit_change([&report](const ledger::LimitChange& change) {
    if (change.policy_version == report.policy_version) report.limit_changes.push_back(change);
  });
  view.each_limit_removal([&report](const ledger::LimitRemoval& removal) {
    if (removal.policy_version == report.policy_version) report.limit_removals.push_back(removal);
  });
  return report;
}

std::vector<PolicyFault> Engine::apply_faults(const std::string& policy_path) const {
  const Policy policy = Policy::read(policy_path);
  ledger::Snapshot view = state_->snapshot();
  const auto before = state_->active_policy(view);
  return ChangeCheck(*before, policy, version_of(policy, policy_path, ""), policy_path)
      .faults(after_expiries(view, view.accounts("")), view.calendar_time());
}

std::vector<ledger::AccountState> Engine::removed_by(const std::string& policy_path) const {
  const Policy policy = Policy::read(policy_path);
  ledger::Snapshot view = state_->snapshot();
  const auto before = state_->active_policy(view);
  return removed_between(LimitsAfter(before->policy, view.calendar_time()),
                         LimitsAfter(policy, view.calendar_time()), after_expiries(view, view.accounts("")));
}

}  // namespace epsilog::engine
