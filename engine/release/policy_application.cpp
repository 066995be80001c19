// init and `policy apply`: how a policy enters the ledger, and which changes it may not make.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "checkpoint_signer.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "expiry.hpp"
#include "folder_faults.hpp"
#include "implied_object.hpp"
#include "init_from_text.hpp"
#include "later_policy.hpp"
#include "policy_charged.hpp"
#include "policy_values.hpp"
#include "recorded_names.hpp"
#include "release_path.hpp"
#include "scopes.hpp"
#include "source_location.hpp"

namespace epsilog::engine {
namespace {

std::string folder_of(const std::string& policy_path) {
  return std::filesystem::path(absolute_path(policy_path, "policy")).parent_path().string();
}

/// A policy that is offered, from a file or as a text.
struct CandidatePolicy {
  Policy policy;
  std::string file;                          ///< as faults call it
  std::optional<std::string> base_dir;       ///< none: that of the active version
  std::optional<std::string> acting = {};    ///< who must not lose the duty to curate
  std::optional<std::string> expected = {};  ///< SHA-256 of the version that it replaces

  [[nodiscard]] std::string base_dir_over(const ledger::PolicyVersion& active) const {
    return base_dir.value_or(active.base_dir);
  }
  /// Throws  PolicyConflict.
  void require_expected(const ledger::PolicyVersion& active) const {
    if (expected && *expected != active.sha256) throw PolicyConflict(active.sha256);
  }
};

CandidatePolicy candidate_policy(const std::string& policy_path) {
  return {checked_policy_file(policy_path), policy_path, folder_of(policy_path)};
}

CandidatePolicy candidate_policy(const PolicyUpload& text) {
  return {checked_policy(text.yaml, text.name), text.name, std::nullopt, text.acting, text.expected_sha256};
}

ledger::PolicyVersion version_of(const Policy& policy, const std::string& base_dir, const std::string& by) {
  ledger::PolicyVersion version;
  version.yaml = policy.yaml();
  version.sha256 = ledger::sha256_hex(policy.yaml());
  version.implies = implied_object(policy);
  version.base_dir = base_dir;
  version.applied_by = by;
  return version;
}

/// Whether the rows are those of the same file and table.
bool same_source(const Dataset& before, const Locations& located, const Dataset& after,
                 const std::string& base_dir) {
  if (!before.has_source() || !after.has_source()) return before.has_source() == after.has_source();
  if (!keeps_file(before, located.at(before.name), after, base_dir)) return false;
  return !before.sqlite || before.sqlite->table == after.sqlite->table;
}

/// A source that is written otherwise may be the same.
std::vector<PolicyChange> diff(const Policy& before, const Locations& located, const Policy& after,
                               const std::string& base_dir) {
  std::vector<PolicyChange> changes = diff(before, after);
  for (PolicyChange& change : changes) {
    if (!names_source(change)) continue;
    const Dataset& old = before.dataset(change.path[1]);
    const Dataset* now = find_dataset(after, old.name);
    if (now != nullptr && same_source(old, located, *now, base_dir)) change.refused_once_charged = false;
  }
  return changes;
}

void append(std::vector<PolicyFault>& faults, std::vector<PolicyFault> more) {
  std::move(more.begin(), more.end(), std::back_inserter(faults));
}

/// Collects what an already charged dataset may not change: each of these would alter what the
/// recorded losses mean, or let them be forgotten.
class ChangeCheck {
 public:
  /// `located` is where the sources of `before` are found.
  ChangeCheck(const AppliedPolicy& before, Locations located, const CandidatePolicy& after)
      : before_(before),
        located_(std::move(located)),
        after_(after.policy),
        base_dir_(after.base_dir_over(before.version)),
        file_(after.file) {}

  std::vector<PolicyFault> faults(const std::vector<PolicyChange>& changes,
                                  const std::vector<ledger::AccountState>& accounts,
                                  const std::string& calendar_time) {
    std::map<std::string, bool> charged;
    for (const ledger::AccountState& account : accounts) {
      charged[account.dataset] |= account.balance.spent > 0 || account.balance.reserved > 0;
    }
    for (const Dataset& dataset : before_.policy.datasets()) {
      if (charged[dataset.name]) check_charged(dataset, changes);
    }
    const LimitsAfter limits(after_, calendar_time);
    for (const ledger::AccountState& account : accounts) check_limit(account, limits);
    return std::move(faults_);
  }

 private:
  void fault(const Dataset* at, const std::string& message) {
    faults_.push_back({file_, at ? at->mark.line : 1, at ? at->mark.column : 1, message});
  }

  /// What the table of policy_charged.cpp refuses.
  void check_charged(const Dataset& old, const std::vector<PolicyChange>& changes) {
    const Dataset* now = find_dataset(after_, old.name);
    const bool same = now != nullptr && same_source(old, located_, *now, base_dir_);
    append(faults_, charged_faults(changes, old, same, file_));
  }

  void check_limit(const ledger::AccountState& account, const LimitsAfter& limits) {
    const auto declared = limits.of(account.name(), account.balance);
    if (!declared) return;  // what limits nothing any more may have been used
    const std::int64_t limit = *declared;
    const std::int64_t used = account.balance.spent + account.balance.reserved;
    if (limit >= used) return;
    fault(find_dataset(after_, account.dataset),
          account.measure + " budget of dataset '" + account.dataset + "'" +
              (account.scope.empty() ? "" : ", " + account.scope) + ": " +
              amount_text(account.measure, limit) + " is below the " + amount_text(account.measure, used) +
              " already spent" + (account.balance.reserved == 0 ? "" : " or reserved"));
  }

  const AppliedPolicy& before_;
  Locations located_;
  const Policy& after_;
  std::string base_dir_;
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
  for (const ledger::AccountState& account : limits.listed_accounts()) {
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

/// What gives more needs a reason, which is kept with the limits that change.
void require_reason(const std::vector<PolicyChange>& changes, const std::string& file) {
  const PolicyChange* first = nullptr;
  for (const PolicyChange& change : changes) {
    if (change.direction != Direction::looser) continue;
    const auto place = [](const PolicyChange& at) { return std::pair(at.mark.line, at.mark.column); };
    if (first == nullptr || place(change) < place(*first)) first = &change;
  }
  if (first == nullptr) return;
  const auto shown = [](const std::string& value) { return value.empty() ? "(none)" : value; };
  throw InvalidParameter("why: the policy is looser, which needs a reason (--why): " + file + ":" +
                         std::to_string(first->mark.line) + ":" + std::to_string(first->mark.column) + ": " +
                         first->path_text() + ": " + shown(first->before) + " -> " + shown(first->after) +
                         ": " + first->why);
}

/// Checkpoints neither go into a file of the ledger, nor is one of those their key.
std::vector<PolicyFault> checkpoint_path_faults(const Policy& policy, const std::string& policy_path,
                                                const std::string& ledger_path) {
  std::vector<PolicyFault> faults;
  if (!policy.checkpoint()) return faults;
  const AutomaticCheckpoint& checkpoint = *policy.checkpoint();
  for (const std::string& path : {checkpoint.key, checkpoint.key + ".state", checkpoint.path}) {
    if (!ledger::is_name_of_ledger(path, ledger_path)) continue;
    faults.push_back({policy_path, checkpoint.mark.line, checkpoint.mark.column,
                      "checkpoint: '" + path + "' is the name of a file of the ledger"});
  }
  return faults;
}

bool curates(const Principal& principal) {
  return std::find(principal.duties.begin(), principal.duties.end(), Duty::curate) != principal.duties.end();
}

bool curates(const Policy& policy, const std::string& who) {
  const Principal* const principal = policy.principal(who);
  return principal != nullptr && curates(*principal);
}

/// Over a daemon nobody could take such a policy back.
std::vector<PolicyFault> lock_out_faults(const Policy& before, const CandidatePolicy& after) {
  if (!after.acting) return {};
  const auto fault = [&](const std::string& message) {
    const Mark& mark = after.policy.principals_mark();
    return std::vector{
        PolicyFault{after.file, mark.line, mark.column, "principals: would_lock_out: " + message}};
  };
  const auto& principals = after.policy.principals();
  const bool any = principals && std::any_of(principals->begin(), principals->end(),
                                             [](const Principal& one) { return curates(one); });
  if (!any) return fault("nobody would have the duty curate any more");
  if (!curates(before, *after.acting) || curates(after.policy, *after.acting)) return {};
  return fault("'" + *after.acting + "', who applies this policy, would not have the duty curate any more");
}

/// Where the sources of a policy are found once it is applied.
Locations locations_after(const AppliedPolicy& before, const Locations& located, const Policy& after,
                          const std::string& base_dir) {
  Locations found;
  for (const Dataset& dataset : after.datasets()) {
    if (!dataset.has_source()) continue;
    const Dataset* old = find_dataset(before.policy, dataset.name);
    const bool kept =
        old != nullptr && old->has_source() && keeps_file(*old, located.at(dataset.name), dataset, base_dir);
    found.emplace(dataset.name, kept ? located.at(dataset.name) : declared_location(dataset, base_dir));
  }
  return found;
}

/// What a policy may not name here, as it would be applied over `before`.
std::vector<PolicyFault> file_faults_over(const AppliedPolicy& before, const Locations& located,
                                          const CandidatePolicy& after,
                                          const std::optional<Folders>& folders) {
  const std::string base_dir = after.base_dir_over(before.version);
  const Locations found = locations_after(before, located, after.policy, base_dir);
  // A source that may not be read here is not looked at.
  if (folders) {
    auto faults = folder_faults(after.policy, found, *folders, after.file);
    if (!faults.empty()) return faults;
  }
  return source_kind_faults(after.policy, found, after.file);
}

/// Throws  PolicyError.
void require_checkpoint_paths(const Policy& policy, const std::string& policy_path,
                              const std::string& ledger_path) {
  std::vector<PolicyFault> faults = checkpoint_path_faults(policy, policy_path, ledger_path);
  if (!faults.empty()) throw PolicyError(std::move(faults));
}

/// Sources that are written as before stay where they are, from wherever the policy is applied.
void keep_locations(ledger::Transaction& transaction, const AppliedPolicy& before, const Locations& located,
                    const Policy& after, const ledger::PolicyVersion& version, const std::string& why) {
  for (const Dataset& dataset : after.datasets()) {
    const Dataset* old = find_dataset(before.policy, dataset.name);
    if (old == nullptr || !old->has_source()) continue;
    const std::string& place = located.at(dataset.name);
    if (!keeps_file(*old, place, dataset, version.base_dir)) continue;
    if (same_location(place, declared_location(dataset, version.base_dir))) continue;
    transaction.relocate(dataset.name, place, version.applied_by, why);
  }
}

}  // namespace

std::vector<PolicyChange> diff_of_files(const std::string& before_path, const std::string& after_path) {
  const Policy before = checked_policy_file(before_path);
  const Policy after = checked_policy_file(after_path);
  const std::string folder = folder_of(before_path);
  Locations located;
  for (const Dataset& dataset : before.datasets()) {
    if (dataset.has_source()) located.emplace(dataset.name, declared_location(dataset, folder));
  }
  return diff(before, located, after, folder_of(after_path));
}

namespace {

/// `file`: as faults call the policy.
/// Throws  as Engine::init().
InitReport create_ledger(const Policy& policy, const std::string& file, const std::string& base_dir,
                         const std::string& ledger_path, const std::string& by,
                         const std::string& forget_ledger, const EngineOptions& options) {
  const ledger::PolicyVersion version = version_of(policy, base_dir, by);
  require_checkpoint_paths(policy, file, ledger_path);
  std::vector<PolicyFault> faults =
      source_kind_faults(policy, declared_sources(policy, version.base_dir), file);
  if (!faults.empty()) throw PolicyError(std::move(faults));
  InitReport report;
  report.ledger_id = ledger::Ledger::create(ledger_path, version, declared_accounts(policy),
                                            options.ledger_options(), forget_ledger);
  report.ledger = absolute_path(ledger_path, "ledger");
  report.policy_sha256 = version.sha256;
  return report;
}

}  // namespace

InitReport Engine::init(const std::string& policy_path, const std::string& ledger_path, const std::string& by,
                        const std::string& forget_ledger, const EngineOptions& options) {
  check_name(by, "by");
  return create_ledger(checked_policy_file(policy_path), policy_path, folder_of(policy_path), ledger_path, by,
                       forget_ledger, options);
}

InitReport init_from_text(const std::string& yaml, const std::string& folder, const std::string& ledger_path,
                          const std::string& by, const EngineOptions& options) {
  check_name(by, "by");
  const std::string file = "policy";
  return create_ledger(checked_policy(yaml, file), file,
                       folder_of((std::filesystem::path(folder) / file).string()), ledger_path, by, "",
                       options);
}

namespace {

ApplyReport apply_candidate(EngineState& state, const CandidatePolicy& next, const std::string& by,
                            const std::string& why) {
  const Policy& policy = next.policy;
  ledger::PolicyVersion version = version_of(policy, next.base_dir.value_or(""), by);
  require_checkpoint_paths(policy, next.file, state.ledger_path);
  const CheckpointSigner::AfterCall at_end(state.checkpoints());
  ApplyReport report;
  report.policy_sha256 = version.sha256;

  ledger::Ledger& ledger = state.writer();
  BegunTransaction begun = begin_after_expiries(state, "", &version);
  ledger::Transaction& transaction = begun.transaction;
  const ledger::PolicyVersion active = transaction.active_policy();
  next.require_expected(active);
  version.base_dir = next.base_dir_over(active);
  const AppliedPolicy before{active, Policy::parse_stored(active.yaml, "the active policy")};
  report.policy_version = before.version.version;
  if (before.version.sha256 == version.sha256) return report;

  const std::vector<ledger::AccountState> existing = transaction.accounts("");
  const Locations located = locations(transaction, before);
  const std::vector<PolicyChange> changes = diff(before.policy, policy);
  std::vector<PolicyFault> faults =
      ChangeCheck(before, located, next).faults(changes, existing, transaction.calendar_time());
  append(faults, lock_out_faults(before.policy, next));
  append(faults, file_faults_over(before, located, next, state.options.folders));
  if (!faults.empty()) throw PolicyError(std::move(faults));
  if (why.empty()) require_reason(changes, next.file);
  const LimitsAfter after(policy, transaction.calendar_time());
  std::vector<ledger::AccountName> removed;
  for (const ledger::AccountState& account :
       removed_between(LimitsAfter(before.policy, transaction.calendar_time()), after, existing)) {
    removed.push_back(account.name());
  }
  transaction.apply_policy(version, accounts_after(after, existing), why, removed);
  keep_locations(transaction, before, located, policy, version, why);
  (void)ledger.commit(std::move(transaction));
  state.checkpoints().note_commit(before.version.version + 1, nullptr);

  report.changed = true;
  report.policy_version = before.version.version + 1;
  ledger::Snapshot view = state.snapshot();
  view.each_limit_change([&report](const ledger::LimitChange& change) {
    if (change.policy_version == report.policy_version) report.limit_changes.push_back(change);
  });
  view.each_limit_removal([&report](const ledger::LimitRemoval& removal) {
    if (removal.policy_version == report.policy_version) report.limit_removals.push_back(removal);
  });
  return report;
}

std::vector<PolicyFault> faults_of(EngineState& state, const CandidatePolicy& next) {
  std::vector<PolicyFault> faults = checkpoint_path_faults(next.policy, next.file, state.ledger_path);
  if (!faults.empty()) return faults;
  ledger::Snapshot view = state.snapshot();
  const auto before = state.active_policy(view);
  next.require_expected(before->version);
  const Locations located = locations(view, *before);
  faults = ChangeCheck(*before, located, next)
               .faults(diff(before->policy, next.policy), accounts_after_expiries(view, view.accounts("")),
                       view.calendar_time());
  append(faults, lock_out_faults(before->policy, next));
  append(faults, file_faults_over(*before, located, next, state.options.folders));
  return faults;
}

PolicyReview review_of(EngineState& state, const CandidatePolicy& next) {
  PolicyReview review;
  review.refused = faults_of(state, next);
  ledger::Snapshot view = state.snapshot();
  const auto before = state.active_policy(view);
  next.require_expected(before->version);
  review.changes =
      diff(before->policy, locations(view, *before), next.policy, next.base_dir_over(before->version));
  review.removed = removed_between(LimitsAfter(before->policy, view.calendar_time()),
                                   LimitsAfter(next.policy, view.calendar_time()),
                                   accounts_after_expiries(view, view.accounts("")));
  return review;
}

}  // namespace

ApplyReport Curating::apply_policy(const std::string& policy_path, const std::string& by,
                                   const std::string& why) {
  check_name(by, "by");
  check_reason(why);
  return apply_candidate(*state_, candidate_policy(policy_path), by, why);
}

ApplyReport Curating::apply_policy(const PolicyUpload& text, const std::string& by, const std::string& why) {
  check_name(by, "by");
  check_reason(why);
  return apply_candidate(*state_, candidate_policy(text), by, why);
}

PolicyReview Curating::review(const std::string& policy_path) const {
  return review_of(*state_, candidate_policy(policy_path));
}

PolicyReview Curating::review(const PolicyUpload& text) const {
  return review_of(*state_, candidate_policy(text));
}

std::vector<PolicyFault> Curating::folder_faults() const {
  if (!state_->options.folders) return {};
  ledger::Snapshot view = state_->snapshot();
  const auto active = state_->active_policy(view);
  return engine::folder_faults(active->policy, locations(view, *active), *state_->options.folders,
                               "the active policy");
}

}  // namespace epsilog::engine
