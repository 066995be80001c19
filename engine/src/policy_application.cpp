// init and `policy apply`: how a policy enters the ledger, and which changes it may not make.
#include <filesystem>
#include <map>

#include "decide.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"

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

  std::vector<PolicyFault> faults(const std::vector<ledger::AccountState>& accounts) {
    std::map<std::string, bool> charged;
    for (const ledger::AccountState& account : accounts) {
      charged[account.dataset] |= account.balance.spent > 0 || account.balance.reserved > 0;
    }
    for (const Dataset& dataset : before_.policy.datasets()) {
      if (charged[dataset.name]) check_charged(dataset);
    }
    for (const ledger::AccountState& wanted : accounts_wanted(after_)) check_limit(wanted, accounts);
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
    if (now->budget.measure != old.budget.measure) fault(now, subject + "its measure may not change");
    if (source_identity(*now, version_.base_dir) != source_identity(old, before_.version.base_dir)) {
      fault(now, subject + "its source may not change");
    }
  }

  void check_limit(const ledger::AccountState& wanted, const std::vector<ledger::AccountState>& accounts) {
    for (const ledger::AccountState& account : accounts) {
      if (account.dataset != wanted.dataset || account.scope != wanted.scope ||
          account.measure != wanted.measure) {
        continue;
      }
      const std::int64_t used = account.balance.spent + account.balance.reserved;
      if (wanted.balance.limit >= used) continue;
      fault(find(wanted.dataset), account.measure + " budget of dataset '" + wanted.dataset + "': " +
                                      amount_text(account.measure, wanted.balance.limit) + " is below the " +
                                      amount_text(account.measure, used) + " already spent");
    }
  }

  const AppliedPolicy& before_;
  const Policy& after_;
  const ledger::PolicyVersion& version_;
  std::string file_;
  std::vector<PolicyFault> faults_;
};

/// What the accounts shall be after the change. A dataset that was never charged and is gone keeps
/// its row, because accounts are history too, with nothing left to spend.
std::vector<ledger::AccountState> accounts_after(const Policy& policy,
                                                 const std::vector<ledger::AccountState>& existing) {
  std::vector<ledger::AccountState> wanted = accounts_wanted(policy);
  const std::size_t declared = wanted.size();
  for (const ledger::AccountState& account : existing) {
    bool kept = false;
    for (std::size_t i = 0; i < declared; ++i) {
      kept |= wanted[i].dataset == account.dataset && wanted[i].scope == account.scope &&
              wanted[i].measure == account.measure;
    }
    if (kept) continue;
    wanted.push_back(account);
    wanted.back().balance.limit = 0;
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
  ledger::Transaction transaction = ledger.begin();
  const ledger::PolicyVersion active = transaction.active_policy();
  const AppliedPolicy before{active, Policy::parse(active.yaml, "the active policy")};
  report.policy_version = before.version.version;
  if (before.version.sha256 == version.sha256 && before.version.base_dir == version.base_dir) return report;

  const std::vector<ledger::AccountState> existing = transaction.accounts("");
  std::vector<PolicyFault> faults = ChangeCheck(before, policy, version, policy_path).faults(existing);
  if (!faults.empty()) throw PolicyError(std::move(faults));
  transaction.apply_policy(version, accounts_after(policy, existing), why);
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
      .faults(view.accounts(""));
}

}  // namespace epsilog::engine
