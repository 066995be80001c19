#include "ledger_view.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::serve {

namespace {

/// Whether the principal may commit what others asked for.
bool supplies(const engine::Policy& policy, const std::string& principal) {
  for (const engine::Dataset& dataset : policy.datasets()) {
    for (const engine::NamedQuery& query : dataset.queries) {
      if (query.supplied_by && std::find(query.supplied_by->begin(), query.supplied_by->end(), principal) !=
                                   query.supplied_by->end())
        return true;
    }
  }
  return false;
}

/// Adds whom a decision can concern that was recorded under this policy. Of acts upon a request the outcome
/// does not say whose request it is: these concern everybody. So does a commit by who supplies values, and
/// one under a policy by which everybody may commit. All others are of who asked.
void add(News& news, const engine::Policy& policy, const ledger::DecisionOutcome& decision) {
  switch (decision.outcome) {
    case ledger::Outcome::granted:
      if (!policy.principals() || supplies(policy, decision.principal)) break;
      [[fallthrough]];
    case ledger::Outcome::refused:
    case ledger::Outcome::reserved:
    case ledger::Outcome::pending:
      news.askers.insert(decision.principal);
      return;
    default:
      break;
  }
  news.all = true;
}

}  // namespace

LedgerView::LedgerView(const std::string& ledger_path)
    : reader_(ledger::Ledger::open_read_only(ledger_path)),
      polls_([this](bool first) { return read_news(first); }) {}

CurrentView LedgerView::current(RefusalCount& refusals) {
  ledger::Snapshot snapshot = reader_.snapshot();
  refusals.catch_up(snapshot, ledger::wall_clock_ms());
  std::string now = snapshot.now();
  return {view_of(snapshot), std::move(now)};
}

std::shared_ptr<const AccessView> LedgerView::view_of(ledger::Snapshot& snapshot) {
  const std::int64_t version = snapshot.active_policy_version();
  const std::int64_t events = snapshot.credential_event_count();
  {
    const std::scoped_lock lock(mutex_);
    if (view_ && view_->policy_version == version && view_->credential_events == events) return view_;
  }
  const ledger::PolicyVersion active = snapshot.active_policy();
  const std::string file = "policy version " + std::to_string(version);
  auto view = std::make_shared<const AccessView>(
      AccessView{engine::Policy::parse_stored(active.yaml, file), version, active.sha256, active.base_dir,
                 active.applied_at, active.implies, events, engine::CredentialBook::of(snapshot)});
  const std::scoped_lock lock(mutex_);
  // Another thread may have read a later one meanwhile.
  const bool newer = !view_ || view_->policy_version < version || view_->credential_events < events;
  if (newer) view_ = view;
  return view;
}

std::shared_ptr<const AccessView> LedgerView::last_view() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

News LedgerView::read_news(bool first) {
  ledger::Snapshot snapshot = reader_.snapshot();
  const LedgerCounts now{snapshot.decision_count(), snapshot.active_policy_version(),
                         snapshot.credential_event_count()};
  const LedgerCounts before = std::exchange(last_counts_, now);
  News news;
  // While neither changed, everything since the look before was recorded under this policy.
  news.all = first || now.policy_version != before.policy_version ||
             now.credential_events != before.credential_events;
  if (news.all || now.decisions == before.decisions) return news;
  const std::shared_ptr<const AccessView> view = view_of(snapshot);
  std::int64_t read = before.decisions;
  snapshot.each_outcome(before.decisions, [&](const ledger::DecisionOutcome& decision) {
    ++read;
    add(news, view->policy, decision);
  });
  if (read != now.decisions) news.all = true;  // one could not be read
  return news;
}

std::int64_t LedgerView::decisions() {
  return reader_.snapshot().decision_count();
}

}  // namespace epsilog::serve
