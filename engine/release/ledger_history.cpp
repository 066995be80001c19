#include "epsilog/engine/ledger_history.hpp"

#include "access.hpp"
#include "budget_notes.hpp"
#include "decide.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/engine/policy.hpp"
#include "expiry.hpp"
#include "page_visit.hpp"

namespace epsilog::engine {
namespace {

/// Begins the cursors of pages with the newest first.
constexpr std::string_view kBackwards = "b";

/// Visits decisions of a range until one of which `visit` returns false.
ledger::RangeEnd visit_history(EngineState& state, ledger::Snapshot& view, const ledger::DecisionRange& range,
                               const Alphas& alphas, BatchRows rows,
                               accounting::CallbackRef<bool(const Answer&)> visit) {
  require_dataset_known(state, view, range.dataset);
  state.remember_policies(view);
  bool goes_on = true;
  const auto told = [&](const Answer& answer) { goes_on = visit(answer); };
  return view.each_decision_while(
      range,
      [&](const ledger::StoredDecision& stored) {
        visit_readable(state, stored.id, told,
                       [&] { return state.recorded_answer(stored, view, alphas, rows); });
        return goes_on;
      },
      [&](const ledger::MalformedRecord& record) { state.report_unreadable(record.id, record.message); });
}

}  // namespace

std::vector<BudgetAccount> LedgerHistory::budget(const std::string& dataset) const {
  ledger::Snapshot view = state_->snapshot();
  auto accounts = view.accounts(dataset);
  const auto applied = state_->active_policy(view);
  if (accounts.empty() && !dataset.empty()) {
    (void)applied->policy.dataset(dataset);  // NotFound, with the nearest name
  }
  const std::string calendar_time = view.calendar_time();
  add_current_periods(applied->policy, dataset, calendar_time, accounts);
  const LimitsAfter limits(applied->policy, calendar_time);
  std::vector<BudgetAccount> result;
  for (ledger::AccountState& account : accounts) {
    const bool active = limits.of(account.name(), account.balance).has_value();
    result.push_back({std::move(account), active});
  }
  return result;
}

std::vector<std::string> LedgerHistory::notes(const std::string& dataset) const {
  ledger::Snapshot view = state_->snapshot();
  std::vector<std::string> notes;
  const auto applied = state_->active_policy(view);
  for (const Dataset& declared : applied->policy.datasets()) {
    if (!dataset.empty() && declared.name != dataset) continue;
    for (const std::string& note : budget_notes(declared)) notes.push_back(declared.name + ": " + note);
  }
  return notes;
}

void LedgerHistory::history(const std::string& dataset, std::int64_t limit,
                            accounting::CallbackRef<void(const Answer&)> visit) const {
  ledger::Snapshot view = state_->snapshot();
  static_cast<void>(visit_history(*state_, view,
                                  {.dataset = dataset, .after = view.seq_before_last(dataset, limit)}, {},
                                  BatchRows::included, each_of(visit)));
}

HistoryEnd LedgerHistory::history(const HistoryPage& page,
                                  accounting::CallbackRef<bool(const Answer&)> visit) const {
  require_one_at_least(page.limit);
  if (page.newest_first && page.limit > kNewestPageMax) {
    throw InvalidParameter("history: newest first, a page has at most " + std::to_string(kNewestPageMax) +
                           " decisions");
  }
  if (page.newest_first && !page.since.empty())
    throw InvalidParameter("history: newest first, a page does not begin with a time");
  ledger::Snapshot view = state_->snapshot();
  const std::string_view order = page.newest_first ? kBackwards : "";
  const bool begins = page.after.empty() && !page.since.empty();
  const ledger::DecisionRange range{
      .dataset = page.dataset,
      .after = begins ? view.decision_count_before(page.since) : place_of_cursor(page.after, order),
      .limit = page.limit,
      .newest_first = page.newest_first,
      .asker = page.asker};
  const ledger::RangeEnd end = visit_history(*state_, view, range, page.alphas, rows_of(page), visit);
  return {std::string(order) + std::to_string(end.last), end.more};
}

std::int64_t LedgerHistory::newest_seq() const {
  return state_->snapshot().decision_count();
}

Answer LedgerHistory::show(const std::string& decision_id, const Alphas& alphas) const {
  ledger::Snapshot view = state_->snapshot();
  auto stored = view.find_by_token(decision_id);
  if (!stored) stored = view.find_by_id(decision_id);
  if (!stored) throw NotFound("no decision '" + decision_id + "' in this ledger");
  const auto outcome = stored->draft.outcome;
  const bool waits = outcome == ledger::Outcome::pending || outcome == ledger::Outcome::reserved;
  if (!waits) {
    Answer answer = state_->recorded_answer(*stored, view, alphas);
    add_log(answer, *stored, view);
    return answer;
  }
  const RequestFamily family = family_of(view, stored->id).value();
  Answer answer = state_->family_answer(family, view, alphas);
  add_log(answer, family.current_decision(), view);
  return answer;
}

Policy LedgerHistory::active_policy() const {
  ledger::Snapshot view = state_->snapshot();
  return state_->active_policy(view)->policy;
}

ledger::PolicyVersion LedgerHistory::active_policy_version() const {
  ledger::Snapshot view = state_->snapshot();
  return view.active_policy();
}

std::string LedgerHistory::ledger_id() const {
  return state_->ledger_id;
}

std::optional<std::string> LedgerHistory::calendar_held_at() const {
  return state_->snapshot().calendar_held_at();
}

}  // namespace epsilog::engine
