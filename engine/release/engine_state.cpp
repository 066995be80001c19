#include "engine_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "access.hpp"
#include "answer_tick.hpp"
#include "budget_notes.hpp"
#include "canonical_request.hpp"
#include "checkpoint_signer.hpp"
#include "commit_queue.hpp"
#include "decide.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/engine/request_visibility.hpp"
#include "epsilog/ledger/digest.hpp"
#include "later_policy.hpp"
#include "request_act.hpp"
#include "scopes.hpp"

namespace epsilog::engine {
namespace {

/// Throws  LedgerCorrupt: what is stored was valid when it was applied.
Policy parsed_policy(const ledger::PolicyVersion& version) {
  if (ledger::sha256_hex(version.yaml) != version.sha256) {
    throw LedgerCorrupt("policy version " + std::to_string(version.version) +
                        ": its text does not have the recorded SHA-256");
  }
  try {
    return Policy::parse_stored(version.yaml, "policy version " + std::to_string(version.version));
  } catch (const PolicyError& error) {
    throw LedgerCorrupt(std::string("a stored policy is not valid: ") + error.what());
  }
}

/// For a statistic computed here no data are handed out: the answer names the decision instead.
void add_data_access(Answer& answer, const ledger::StoredDecision& issued) {
  if (!issued.token) {
    answer.recorded.data_accessed_by = issued.id;
    return;
  }
  if (issued.token->bytes) answer.recorded.token = ledger::hex_text(*issued.token->bytes);
  answer.recorded.token_sha256 = ledger::hex_text(issued.token->sha256);
}

}  // namespace

EngineState::EngineState(std::string path, const EngineOptions& engine_options)
    : ledger_path(std::move(path)),
      options(engine_options),
      process_(::getpid()),
      ledger_(ledger::Ledger::open_on_demand(ledger_path, with_replica(options.ledger_options()))),
      commit_queue_(std::make_unique<CommitQueue>()),
      ticks_(options.answers ? std::make_unique<AnswerTicks>(*options.answers) : nullptr),
      checkpoints_(std::make_unique<CheckpointSigner>(
          WatchedEngine{.ledger = ledger_,
                        .ledger_path = ledger_path,
                        .warn = options.warn,
                        .known_policy = [this](std::int64_t version) { return known_policy(version); },
                        .active_policy =
                            [this] {
                              ledger::Snapshot view = snapshot();
                              return active_policy(view);
                            }})) {
  ledger_id = ledger_.ledger_id();
}

ledger::Options EngineState::with_replica(ledger::Options ledger_options) {
  // A policy that somebody asked under is parsed already.
  ledger_options.replica = [this](const ledger::PolicyVersion& version) {
    const auto known = known_policy(version.version);
    const bool same = known != nullptr && known->version.sha256 == version.sha256;
    return replica_of(same ? known->policy : parsed_policy(version));
  };
  return ledger_options;
}

EngineState::~EngineState() {
  if (::getpid() == process_) return;
  // In a forked child the threads that wait in them are not there: what they wait for cannot be destroyed.
  static_cast<void>(background_work_.release());
  static_cast<void>(checkpoints_.release());
  static_cast<void>(commit_queue_.release());
}

void EngineState::require_own_process() const {
  if (::getpid() == process_) return;
  throw InvalidParameter("engine: opened before fork() and used after it; open it again in the child");
}

BackgroundWork& EngineState::background_work(
    accounting::CallbackRef<std::unique_ptr<BackgroundWork>()> make) {
  const std::lock_guard lock(mutex_);
  if (!background_work_) background_work_ = make();
  return *background_work_;
}

ledger::Snapshot EngineState::snapshot() {
  return ledger_.snapshot();
}

std::optional<std::string> EngineState::poison_reason() {
  return ledger_.poison_reason();
}

std::shared_ptr<const AppliedPolicy> EngineState::known_policy(std::int64_t version) {
  const std::lock_guard lock(mutex_);
  const auto known = policies_.find(version);
  return known != policies_.end() ? known->second : nullptr;
}

std::shared_ptr<const AppliedPolicy> EngineState::remember_policy(const ledger::PolicyVersion& version) {
  if (auto known = known_policy(version.version)) return known;
  // Unlocked, because parsing takes long: two threads may both parse, and the first to end is remembered.
  auto parsed = std::make_shared<const AppliedPolicy>(AppliedPolicy{version, parsed_policy(version)});
  const std::lock_guard lock(mutex_);
  return policies_.emplace(version.version, std::move(parsed)).first->second;
}

std::shared_ptr<const AppliedPolicy> EngineState::active_policy(ledger::Snapshot& view) {
  // A version never changes: its text and their digest are read when it is met.
  if (auto known = known_policy(view.active_policy_version())) return known;
  return remember_policy(view.active_policy());
}

std::shared_ptr<const AppliedPolicy> EngineState::newest_policy() {
  const std::lock_guard lock(mutex_);
  return policies_.empty() ? nullptr : policies_.rbegin()->second;
}

std::shared_ptr<const AppliedPolicy> EngineState::policy(ledger::Snapshot& view, std::int64_t version) {
  if (auto known = known_policy(version)) return known;
  std::shared_ptr<const AppliedPolicy> found;
  view.each_policy_version([&](const ledger::PolicyVersion& candidate) {
    if (candidate.version == version) found = remember_policy(candidate);
  });
  if (!found) throw LedgerCorrupt("policy version " + std::to_string(version) + " is not in the ledger");
  return found;
}

const Dataset& EngineState::requested_dataset(const Policy& active, const Request& request) const {
  if (!options.conceals_datasets) return active.dataset(request.dataset);
  const Dataset* const dataset = find_dataset(active, request.dataset);
  if (dataset == nullptr || !may_ask(active, *dataset, request.principal))
    throw ConcealedDataset(request.dataset);
  return *dataset;
}

Answer EngineState::access_refusal(const AppliedPolicy& applied, const Dataset& dataset,
                                   const Request& unread) const {
  Answer answer = access_refusal_answer(applied.policy, dataset, unread, applied.version.version);
  answer.recorded.ledger_id = ledger_id;
  return answer;
}

void EngineState::remember_policies(ledger::Snapshot& view) {
  view.each_policy_version([this](const ledger::PolicyVersion& version) { (void)remember_policy(version); });
}

Answer EngineState::answer_from_plan(const Request& request, const Plan& plan, std::int64_t policy_version,
                                     std::vector<std::vector<Accuracy>> accuracy) const {
  Answer answer = planned_answer(request, plan, policy_version, std::move(accuracy));
  answer.recorded.ledger_id = ledger_id;
  return answer;
}

Answer EngineState::answer_from_plan(const Request& request, const std::shared_ptr<const Plan>& plan,
                                     std::int64_t policy_version, std::span<const Rational> alphas,
                                     BatchRows rows) {
  const bool tells_rows = rows == BatchRows::included;
  Answer answer =
      planned_answer(request, *plan, policy_version, plans.accuracies(plan, alphas),
                     tells_rows ? plans.accuracies_of_rows(plan, alphas) : std::vector<Accuracies>(), rows);
  answer.recorded.ledger_id = ledger_id;
  return answer;
}

void EngineState::add_intervals(Answer& answer, const std::shared_ptr<const Plan>& plan,
                                std::span<const Rational> alphas) {
  Answer::Released& released = answer.released;
  if (plan->rows.empty()) {
    released.intervals = plans.intervals(plan, alphas, released.component_values, released.values);
  }
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    Answer::Released& of_row = answer.rows[row].released;
    of_row.intervals =
        plans.intervals(plan->rows[row], alphas, of_row.component_values, of_row.values, plan->rows.size());
  }
}

Answer EngineState::recorded_answer(const ledger::StoredDecision& stored, ledger::Snapshot& view,
                                    std::span<const Rational> alphas, BatchRows rows) {
  const ledger::StoredDecision root = root_decision(view, stored);
  Request request = parse_stored_request(root.draft.request).request;
  request.principal = stored.draft.principal;
  request.key = stored.draft.key;
  const auto applied = policy(view, stored.draft.policy_version);
  try {
    const auto plan = plans.plan(*applied, request, canonical_request(request));
    Answer answer = answer_from_plan(request, plan, stored.draft.policy_version,
                                     accuracy_alphas(stored.draft.reasons, alphas), rows);
    answer.asked.asker = root.draft.principal;
    add_approvals(answer, root, applied->policy);
    add_decision(answer, stored, false);
    add_intervals(answer, plan, alphas);
    if (stored.draft.outcome == ledger::Outcome::pending)
      add_unopened_accounts(answer, *applied, request, *plan, view.calendar_time());
    note_held_calendar(answer, view.calendar_held_at().has_value());
    return answer;
  } catch (const InvalidParameter& error) {
    throw LedgerCorrupt("decision " + stored.id + " cannot be planned under its policy: " + error.what());
  } catch (const NotFound& error) {
    throw LedgerCorrupt("decision " + stored.id + " cannot be planned under its policy: " + error.what());
  } catch (const Underivable& error) {
    throw LedgerCorrupt("decision " + stored.id + " cannot be planned under its policy: " + error.what());
  }
}

Answer EngineState::family_answer(const RequestFamily& family, ledger::Snapshot& view,
                                  std::span<const Rational> alphas, BatchRows rows) {
  const RequestState state = family.state();
  const ledger::StoredDecision& told = family.current_decision();
  Answer answer = recorded_answer(told, view, alphas, rows);
  answer.recorded.state = state;
  answer.asked.principal = family.root.draft.principal;
  answer.asked.via = family.root.via;
  answer.asked.key = family.root.draft.key;
  for (const ledger::StoredDecision& approval : family.approvals) {
    answer.recorded.approvals.push_back(
        {approval.draft.principal, approval.created_at, approval.via, parse_act(approval.draft.request).why});
  }
  try {
    answer.recorded.tag = tag_of(family, view.active_policy_version());
  } catch (const LedgerCorrupt&) {
    // What it says does not depend on the active policy; nobody can approve it.
  }
  answer.recorded.durable = family.durable();
  answer.recorded.replica_behind = family.replica_behind();
  if (family.token && family.token->durable) add_data_access(answer, *family.token);
  if (family.end && &told != &*family.end) {
    answer.recorded.ended_by = family.end->id;
    answer.recorded.why = parse_act(family.end->draft.request).why;
    if (!family.end->accounts.empty()) answer.recorded.accounts = family.end->accounts;
  }
  return answer;
}

Answer EngineState::replay_answer(const ledger::StoredDecision& stored, ledger::Snapshot& view,
                                  std::span<const Rational> alphas) {
  const auto family = family_of(view, stored.id);
  Answer answer = family ? family_answer(*family, view, alphas) : recorded_answer(stored, view, alphas);
  answer.recorded.replayed = true;
  // Once the data may have been seen, the asker is shown of it what the active policy lets them see.
  if (!answer.recorded.token.empty() || !answer.recorded.data_accessed_by.empty()) {
    const Viewer asker{answer.asked.asker};
    answer = redacted_answer(active_policy(view)->policy, asker, std::move(answer));
  }
  add_log(answer, family ? family->current_decision() : stored, view);
  return answer;
}

void EngineState::report_unreadable(const std::string& decision_id, const std::string& message) {
  {
    const std::lock_guard lock(mutex_);
    if (!reported_unreadable_.emplace(decision_id, message).second) return;
  }
  if (options.unreadable) options.unreadable({decision_id, message});
}

void add_log(Answer& answer, const ledger::StoredDecision& told, ledger::Snapshot& view,
             const std::optional<ledger::TreeHead>& tree) {
  if (!answer.recorded.durable.value_or(false)) return;
  try {
    answer.recorded.log = view.log_position(told, tree);
  } catch (const LedgerCorrupt&) {
    // What was answered does not depend on the tree.
  }
}

namespace {

/// How a row of a batch is answered, as a release of its own.
ledger::ReleaseRecord record_of(const ledger::ReleaseRecord& batch, const ledger::ReleaseRow& row,
                                const ledger::ReleasePart& part) {
  const auto first = batch.components.begin() + static_cast<std::ptrdiff_t>(part.component);
  ledger::ReleaseRecord record;
  record.mechanism = row.mechanism;
  record.arithmetic = row.arithmetic;
  record.requested = row.requested;
  record.charged = row.charged;
  record.adjusted = row.adjusted;
  record.published = row.published;
  record.components.assign(first, first + static_cast<std::ptrdiff_t>(part.components));
  record.cells = row.cells;
  record.unit = batch.unit;
  record.neighbours = batch.neighbours;
  return record;
}

/// Those of a vector that a part of a release has; fewer where a damaged record does not have them.
template <class Element>
std::vector<Element> run(const std::vector<Element>& all, std::size_t first, std::size_t count) {
  if (first >= all.size()) return {};
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, all.size() - first))};
}

void add_rows(Answer& answer, const ledger::StoredDecision& stored) {
  if (!stored.release) return;
  const auto parts = ledger::release_parts(*stored.release, stored.post_processing);
  if (parts.size() != answer.rows.size())
    throw LedgerCorrupt("it has another number of rows than were asked");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ledger::ReleasePart& part = parts[i];
    answer.rows[i].planned.record = record_of(*stored.release, stored.release->rows[i], part);
    answer.rows[i].planned.post_processing = part.post_processing.kind;
    answer.rows[i].released.component_values = run(stored.component_values, part.component, part.components);
    answer.rows[i].released.values = run(stored.values, part.value, part.values);
  }
}

}  // namespace

void add_approvals(Answer& answer, const ledger::StoredDecision& root, const Policy& policy) {
  if (root.draft.outcome != ledger::Outcome::pending) return;
  const Dataset* const dataset = find_dataset(policy, root.draft.dataset);
  if (dataset != nullptr && dataset->approvals)
    answer.planned.approvals_required = dataset->approvals->required;
}

std::span<const Rational> accuracy_alphas(const std::string& reasons, std::span<const Rational> alphas) {
  const Decision decision = parse_reasons(reasons);
  const auto of_a_rule = [](const Reason& reason) { return is_rule_refusal(reason.code); };
  return std::any_of(decision.reasons().begin(), decision.reasons().end(), of_a_rule)
             ? std::span<const Rational>()
             : alphas;
}

void add_decision(Answer& answer, const ledger::StoredDecision& stored, bool replayed) {
  answer.asked.via = stored.via;
  answer.recorded.granted = stored.draft.outcome == ledger::Outcome::granted;
  answer.recorded.replayed = replayed;
  answer.recorded.durable = stored.durable;
  answer.recorded.replica_behind = !stored.in_replica;
  if (stored.durable) answer.recorded.log = stored.log;
  answer.recorded.state = state_of(stored);
  answer.recorded.parent = stored.draft.parent;
  answer.recorded.deadline = stored.draft.deadline;
  if (stores_act(stored.draft.outcome)) answer.recorded.why = parse_act(stored.draft.request).why;
  answer.recorded.decision_id = stored.id;
  answer.recorded.seq = stored.seq;
  answer.recorded.decided_under = stored.decided_under;
  answer.recorded.rules = stored.rules;
  answer.recorded.build = stored.build;
  answer.recorded.created_at = stored.created_at;
  if (stored.token) answer.recorded.token_sha256 = ledger::hex_text(stored.token->sha256);
  const Decision decision = parse_reasons(stored.draft.reasons);
  answer.recorded.reasons = decision.reasons();
  answer.recorded.reasons_count = decision.count();
  const bool closed = hides_balances(answer.recorded.reasons);
  if (closed) withhold_plan(answer);
  if (!closed) answer.recorded.accounts = stored.accounts;
  if (stored.release) {
    answer.planned.record = *stored.release;
    answer.planned.post_processing = stored.post_processing.kind;
  }
  if (!answer.rows.empty()) return add_rows(answer, stored);
  if (answer.rows_count > 0) {  // a list leaves them out
    answer.planned.record.components.clear();
    answer.planned.record.rows.clear();
    answer.planned.precision_reasons.clear();
    return;
  }
  answer.released.component_values = stored.component_values;
  answer.released.values = stored.values;
}

void add_unopened_accounts(Answer& answer, const AppliedPolicy& applied, const Request& request,
                           const Plan& plan, const std::string& calendar_time) {
  const Dataset& dataset = applied.policy.dataset(request.dataset);
  // The calendar may stand still; it never ran ahead of the decision.
  const std::string& then = std::min(answer.recorded.created_at, calendar_time);
  const std::vector<PlannedCharge> asked = planned_charges(applied.policy, dataset, request, plan, then);
  const std::vector<ledger::AccountName> names = account_names(asked);
  if (recordable_count(names) < names.size()) return;  // it was stored with some of those that were open
  std::vector<ledger::AccountState>& accounts = answer.recorded.accounts;
  const bool same_period = std::all_of(accounts.begin(), accounts.end(), [&names](const auto& account) {
    return std::find(names.begin(), names.end(), account.name()) != names.end();
  });
  if (same_period) accounts = account_states(debits(asked, accounts));
}

}  // namespace epsilog::engine
