// init and `policy apply`: how a policy enters the ledger, and which changes it may not make.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "loss_amounts.hpp"
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

/// Whether what was summed under one budget is still a sum of the same thing under the other.
bool same_measure(const Budget& first, const Budget& second) {
  return std::ranges::equal(measure_limits(first), measure_limits(second), {}, &MeasureLimit::measure,
                            &MeasureLimit::measure);
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
    for (const Dataset& dataset : before_.policy.datasets()) {
      if (charged[dataset.name]) check_charged(dataset);
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

  void check_charged(const Dataset& old) {
    const std::string subject = "dataset '" + old.name + "' was charged already: ";
    const Dataset* now = find(old.name);
    if (now == nullptr) return fault(nullptr, subject + "it may not disappear");
    if (now->unit.id != old.unit.id || now->unit.max_rows != old.unit.max_rows) {
      fault(now, subject + "its unit may not change");
    }
    if (now->neighbours != old.neighbours) fault(now, subject + "its neighbours may not change");
    if (!same_measure(now->budget, old.budget)) fault(now, subject + "its measure may not change");
    if (now->renews != old.renews) fault(now, subject + "when its budget renews may not change");
    check_blocks(*now, old, subject);
    check_lifetime(*now, old, subject);
    if (source_identity(*now, version_.base_dir) != source_identity(old, before_.version.base_dir)) {
      fault(now, subject + "its source may not change");
    }
  }

  void check_blocks(const Dataset& now, const Dataset& old, const std::string& subject) {
    const bool same =
        now.blocks.has_value() == old.blocks.has_value() &&
        (!now.blocks || (now.blocks->by == old.blocks->by && now.blocks->per == old.blocks->per));
    if (!same) fault(&now, subject + "its blocks may change in their range only");
  }

  /// An account of a lifetime begins with the dataset, or it would not hold what was spent before.
  void check_lifetime(const Dataset& now, const Dataset& old, const std::string& subject) {
    if (!now.lifetime) return;
    if (!old.lifetime) {
      fault(&now, subject + "a lifetime budget cannot be added, it would not count what was spent before");
    } else if (!same_measure(*now.lifetime, *old.lifetime)) {
      fault(&now, subject + "the measure of its lifetime budget may not change");
    }
  }

  void check_limit(const ledger::AccountState& account, const LimitsAfter& limits) {
    const std::int64_t limit = limits.of(account.name(), account.balance);
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

/// What the accounts shall be after the change, those that cannot be listed included: accounts are history
/// and never go.
std::vector<ledger::AccountState> accounts_after(const LimitsAfter& limits,
                                                 const std::vector<ledger::AccountState>& existing) {
  std::vector<ledger::AccountState> wanted = existing;
  std::set<ledger::AccountName> there;
  for (ledger::AccountState& account : wanted) {
    account.balance.limit = limits.of(account.name(), account.balance);
    there.insert(account.name());
  }
  for (const ledger::AccountState& account : limits.listed()) {
    if (!there.contains(account.name())) wanted.push_back(account);
  }
  return wanted;
}

}  // namespace

InitReport Engine::init(const std::string& policy_path, const std::string& ledger_path,
                        const std::string& by) {
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
  const Policy policy = Policy::read(policy_path);
  const ledger::PolicyVersion version = version_of(policy, policy_path, by);
  ApplyReport report;
  report.policy_sha256 = version.sha256;

  ledger::Ledger& ledger = state_->writer();
  Begun begun = begin_after_expiries(*state_);
  ledger::Transaction& transaction = begun.transaction;
  const ledger::PolicyVersion active = transaction.active_policy();
  const AppliedPolicy before{active, Policy::parse(active.yaml, "the active policy")};
  report.policy_version = before.version.version;
  if (before.version.sha256 == version.sha256 && before.version.base_dir == version.base_dir) return report;

  const std::vector<ledger::AccountState> existing = transaction.accounts("");
  std::vector<PolicyFault> faults =
      ChangeCheck(before, policy, version, policy_path).faults(existing, transaction.calendar_time());
  if (!faults.empty()) throw PolicyError(std::move(faults));
  transaction.apply_policy(version,
                           accounts_after(LimitsAfter(policy, transaction.calendar_time()), existing), why);
  (void)ledger.commit(std::move(transaction));

  report.changed = true;
  report.policy_version = before.version.version + 1;
  ledger::Snapshot view = state_->snapshot();
  view.each_limit_change([&report](const ledger::LimitChange& change) {
    if (change.policy_version == report.policy_version) report.limit_changes.push_back(change);
  });
  return report;
}

std::vector<PolicyFault> Engine::apply_faults(const std::string& policy_path) const {
  const Policy policy = Policy::read(policy_path);
  ledger::Snapshot view = state_->snapshot();
  const auto before = state_->active_policy(view);
  return ChangeCheck(*before, policy, version_of(policy, policy_path, ""), policy_path)
      .faults(view.accounts(""), view.calendar_time());
}

}  // namespace epsilog::engine
