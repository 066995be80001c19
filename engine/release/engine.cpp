#include "epsilog/engine/engine.hpp"

#include <charconv>
#include <chrono>
#include <limits>

#include "access.hpp"
#include "assumed_count.hpp"
#include "budget_notes.hpp"
#include "canonical_request.hpp"
#include "charged_before.hpp"
#include "checkpoint_signer.hpp"
#include "decide.hpp"
#include "decision_call.hpp"
#include "each_question.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "judgement.hpp"
#include "plan_advice.hpp"
#include "question_checks.hpp"
#include "recorded_names.hpp"
#include "release_path.hpp"
#include "request_path.hpp"
#include "submissions.hpp"

namespace epsilog::engine {
Engine::Engine(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Engine Engine::open(const std::string& ledger_path, const EngineOptions& options) {
  return Engine(std::make_shared<EngineState>(ledger_path, options));
}

namespace {

/// Returns how accurate an answer of so many rows would be: of a quantile, between which other ones it lies.
AssumedAccuracy assumed_accuracy(const Dataset& dataset, const Question& question, const Plan& plan,
                                 std::int64_t rows, std::span<const Rational> alphas) {
  const mechanisms::QuantileMechanism* selected = plan.mechanisms.front().quantiles();
  if (selected == nullptr) {
    require_assumable(plan.derivation, question, rows);
    return {rows, accuracies_of_count(plan, rows, alphas)};
  }
  require_possible_rows(dataset, rows);
  AssumedAccuracy assumed{rows, {}};
  for (std::size_t i = 0; i < question.statistic.quantiles.size(); ++i)
    assumed.quantiles.push_back(reaches_of_count(plan, i, rows, alphas));
  return assumed;
}

/// [row] of a batch; of one question one element; none where nothing is assumed.
using AssumedCounts = std::vector<std::optional<std::int64_t>>;

bool follows_from_rows(const Plan& plan) {
  return follows_from_count(plan.derivation) || plan.mechanisms.front().quantiles() != nullptr;
}

void assume_counts(Answer& answer, const Dataset& dataset, const Request& request, const Plan& plan,
                   const AssumedCounts& counts, std::span<const Rational> alphas) {
  std::size_t row = 0;
  each_question(request, [&](const Request& asked) {
    const Plan& of_row = *parts_of(plan)[row];
    const std::optional<std::int64_t>& count = counts.at(row);
    Answer& told = request.rows.empty() ? answer : answer.rows[row];
    ++row;
    if (!count || (!request.rows.empty() && !follows_from_rows(of_row))) return;
    told.planned.assumed = assumed_accuracy(dataset, asked.question, of_row, *count, alphas);
  });
}

Answer plan_as_answer(EngineState& state, const Request& request, const Alphas& alphas,
                      const AssumedCounts& counts) {
  ledger::Snapshot view = state.snapshot();
  const auto applied = state.active_policy(view);
  const Dataset& dataset = state.requested_dataset(applied->policy, request);
  const Request admitted = admitted_request(applied->policy, dataset, request);
  if (admitted.unread) return state.access_refusal(*applied, dataset, admitted);
  const std::string canonical = canonical_request(request);
  require_within_caps(request, canonical);
  require_askable(dataset, request);
  const auto plan = state.plans.plan(*applied, request, canonical);
  require_answerable(dataset, request, *plan);
  Answer answer = state.answer_from_plan(request, plan, applied->version.version, alphas);
  answer.planned.advice = plan_advice(dataset, request, *plan, alphas);
  if (request.rows.empty()) answer.planned.holds_from = state.plans.sizes(plan, alphas);
  for (std::size_t row = 0; row < plan->rows.size(); ++row) {
    answer.rows[row].planned.holds_from = state.plans.sizes(plan->rows[row], alphas, plan->rows.size());
  }
  if (!counts.empty() && counts.size() != parts_of(*plan).size())
    throw InvalidParameter("assume_count: there is one for each row of a batch, or none");
  if (!counts.empty()) assume_counts(answer, dataset, request, *plan, counts, alphas);
  const PlannedRequest of_policy{applied->policy, dataset, request, *plan};
  const std::vector<Debit> standing = debits_of(of_policy, view.calendar_time(), [&view](const auto& names) {
    return accounts_after_expiries(view, view.accounts(names));
  });
  const auto before = [&view](const ledger::ChargeWindow& window) { return charged_before(view, window); };
  add_judgement(answer, judge(of_policy, standing, before, std::nullopt), standing);
  note_held_calendar(answer, view.calendar_held_at().has_value());
  return answer;
}

}  // namespace

Answer Engine::plan(const Request& request, const Alphas& alphas,
                    std::optional<std::int64_t> assumed_count) const {
  return plan_as_answer(*state_, request, alphas,
                        assumed_count ? AssumedCounts{assumed_count} : AssumedCounts{});
}

Answer Engine::plan_batch(const Request& batch, const Alphas& alphas,
                          std::span<const std::optional<std::int64_t>> assumed_counts) const {
  return plan_as_answer(*state_, batch, alphas, AssumedCounts(assumed_counts.begin(), assumed_counts.end()));
}

namespace {

/// Visits one decision of a list. What cannot be read is told, and hides nothing that follows.
template <class Read>
void visit_readable(EngineState& state, const std::string& id,
                    accounting::CallbackRef<void(const Answer&)> visit, const Read& read) {
  accounting::stop_if_requested();
  std::optional<Answer> answer;
  try {
    answer = read();
  } catch (const LedgerCorrupt& fault) {
    return state.report_unreadable(id, fault.what());
  }
  visit(*answer);
}

/// Begins the cursors of pages that go backwards, so that none is taken for one that goes forwards.
constexpr std::string_view kBackwards = "b";

/// The place at which a page begins, of its text: a cursor is not made but by history() and newest().
std::int64_t place_of_cursor(const std::string& cursor, std::string_view order) {
  if (cursor.empty()) return 0;
  std::int64_t seq = 0;
  const char* const end = cursor.data() + cursor.size();
  const bool begins = cursor.starts_with(order);
  const auto [stop, error] = std::from_chars(cursor.data() + (begins ? order.size() : 0), end, seq);
  const std::int64_t first = order.empty() ? 0 : 1;
  if (begins && error == std::errc() && stop == end && seq >= first &&
      cursor == std::string(order) + std::to_string(seq)) {
    return seq;
  }
  throw InvalidParameter("history: '" + cursor + "' is not where a page ended");
}

void require_dataset_known(EngineState& state, ledger::Snapshot& view, const std::string& dataset) {
  if (dataset.empty() || !view.accounts(dataset).empty()) return;
  (void)state.active_policy(view)->policy.dataset(dataset);
}

void require_one_at_least(std::int64_t limit) {
  if (limit < 1) throw InvalidParameter("history: a page has one decision at least");
}

/// A visit that ends no page.
auto each_of(accounting::CallbackRef<void(const Answer&)>& visit) {
  return [&visit](const Answer& answer) {
    visit(answer);
    return true;
  };
}

template <class Page>
BatchRows rows_of(const Page& page) {
  return page.rows ? BatchRows::included : BatchRows::left_out;
}

void require_reservation(const Request& request, bool held) {
  if ((request.reservation != ReservationKind::none) == held) return;
  throw InvalidParameter(held ? "reserve: the request says nothing of being held"
                              : "release: a request that is held is reserved, then committed");
}

}  // namespace

Answer Engine::release(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                       const Progress& progress) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  require_reservation(request, false);
  return std::move(decide_requests(*state_, {&request, 1}, &bits, alphas, progress).front());
}

Answer Engine::reserve(const Request& request, const Alphas& alphas) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  require_reservation(request, true);
  return std::move(decide_requests(*state_, {&request, 1}, nullptr, alphas, {}).front());
}

void Engine::submit(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                    const OnDone& on_done) {
  EngineState& state = *state_;
  if (!on_done) throw InvalidParameter("submit: nobody is told what became of it");
  state.require_own_process();
  Submissions::of(state).submit(request, &bits, alphas, on_done);
}

Answer Engine::commit(const std::string& id, const Actor& by, const std::optional<std::string>& supplied,
                      mechanisms::BitSource& bits, const Alphas& alphas, const Progress& progress) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  return commit_reservation(*state_, {id, by, supplied}, bits, alphas, progress);
}

Answer Engine::cancel(const std::string& id, const Actor& by) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  return cancel_request(*state_, id, by);
}

Answer Engine::issue_token(const std::string& id, const Actor& by) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  return issue_data_token(*state_, id, by);
}

Answer Engine::approve(const std::string& id, const Actor& by, const std::string& why,
                       const std::optional<std::string>& seen) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  check_reason(why);
  return approve_request(*state_, id, by, why, seen);
}

Answer Engine::reject(const std::string& id, const Actor& by, const std::string& why) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  check_actor(by);
  check_reason(why);
  return reject_request(*state_, id, by, why);
}

void Engine::pending(const std::string& dataset, accounting::CallbackRef<void(const Answer&)> visit) const {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  static_cast<void>(pending_while({.dataset = dataset, .limit = kAll}, each_of(visit)));
}

HistoryEnd Engine::pending_while(const PendingPage& page,
                                 accounting::CallbackRef<bool(const Answer&)> visit) const {
  require_one_at_least(page.limit);
  ledger::Snapshot view = state_->snapshot();
  require_dataset_known(*state_, view, page.dataset);
  bool goes_on = true;
  const auto told = [&](const Answer& answer) { goes_on = visit(answer); };
  const ledger::RangeEnd end = view.each_open_while(
      {.dataset = page.dataset, .after = place_of_cursor(page.after, ""), .limit = page.limit},
      [&](const ledger::StoredDecision& stored) {
        visit_readable(*state_, stored.id, told, [&] {
          const auto family = family_of(view, stored.id);
          if (!family) throw LedgerCorrupt("it is listed as open but waits for nothing");
          return state_->family_answer(*family, view, {}, rows_of(page));
        });
        return goes_on;
      },
      [&](const ledger::MalformedRecord& record) { state_->report_unreadable(record.id, record.message); });
  return {std::to_string(end.last), end.more};
}

std::vector<Answer> Engine::release_many(std::span<const Request> requests, mechanisms::BitSource& bits,
                                         const Alphas& alphas, const Progress& progress) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  if (requests.empty()) return {};
  for (const Request& request : requests) require_reservation(request, false);
  return decide_requests(*state_, requests, &bits, alphas, progress);
}

std::string Engine::same_question(const Request& request) const {
  const std::string text = canonical_request(request);
  return state_->snapshot().find_grant(request.principal, text).value_or("");
}

std::vector<BudgetAccount> Engine::budget(const std::string& dataset) const {
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

std::vector<std::string> Engine::notes(const std::string& dataset) const {
  ledger::Snapshot view = state_->snapshot();
  std::vector<std::string> notes;
  const auto applied = state_->active_policy(view);
  for (const Dataset& declared : applied->policy.datasets()) {
    if (!dataset.empty() && declared.name != dataset) continue;
    for (const std::string& note : budget_notes(declared)) notes.push_back(declared.name + ": " + note);
  }
  return notes;
}

namespace {

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

void Engine::history(const std::string& dataset, std::int64_t limit,
                     accounting::CallbackRef<void(const Answer&)> visit) const {
  ledger::Snapshot view = state_->snapshot();
  static_cast<void>(visit_history(*state_, view,
                                  {.dataset = dataset, .after = view.seq_before_last(dataset, limit)}, {},
                                  BatchRows::included, each_of(visit)));
}

HistoryEnd Engine::history(const HistoryPage& page,
                           accounting::CallbackRef<void(const Answer&)> visit) const {
  return history_while(page, each_of(visit));
}

HistoryEnd Engine::newest(const NewestPage& page, accounting::CallbackRef<void(const Answer&)> visit) const {
  return newest_while(page, each_of(visit));
}

HistoryEnd Engine::history_while(const HistoryPage& page,
                                 accounting::CallbackRef<bool(const Answer&)> visit) const {
  require_one_at_least(page.limit);
  ledger::Snapshot view = state_->snapshot();
  const bool begins = page.after.empty() && !page.since.empty();
  const ledger::DecisionRange range{
      .dataset = page.dataset,
      .after = begins ? view.decision_count_before(page.since) : place_of_cursor(page.after, ""),
      .limit = page.limit,
      .asker = page.asker};
  const ledger::RangeEnd end = visit_history(*state_, view, range, page.alphas, rows_of(page), visit);
  return {std::to_string(end.last), end.more};
}

HistoryEnd Engine::newest_while(const NewestPage& page,
                                accounting::CallbackRef<bool(const Answer&)> visit) const {
  if (page.limit < 1 || page.limit > kNewestPageMax) {
    throw InvalidParameter("history: a page has 1 to " + std::to_string(kNewestPageMax) + " decisions");
  }
  ledger::Snapshot view = state_->snapshot();
  const ledger::DecisionRange range{.dataset = page.dataset,
                                    .after = place_of_cursor(page.before, kBackwards),
                                    .limit = page.limit,
                                    .newest_first = true,
                                    .asker = page.asker};
  const ledger::RangeEnd end = visit_history(*state_, view, range, {}, rows_of(page), visit);
  return {std::string(kBackwards) + std::to_string(end.last), end.more};
}

std::int64_t Engine::newest_seq() const {
  return state_->snapshot().decision_count();
}

void Engine::outcomes_after(std::int64_t seq,
                            accounting::CallbackRef<void(const ledger::DecisionOutcome&)> visit) const {
  state_->snapshot().each_outcome(seq, [&](const ledger::DecisionOutcome& outcome) { visit(outcome); });
}

std::int64_t Engine::last_before(const std::string& time) const {
  return state_->snapshot().decision_count_before(time);
}

Answer Engine::show(const std::string& decision_id, const Alphas& alphas) const {
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

Policy Engine::active_policy() const {
  ledger::Snapshot view = state_->snapshot();
  return state_->active_policy(view)->policy;
}

ledger::PolicyVersion Engine::active_policy_version() const {
  ledger::Snapshot view = state_->snapshot();
  return view.active_policy();
}

std::string Engine::ledger_id() const {
  return state_->ledger_id;
}

std::optional<std::string> Engine::poison_reason() const {
  return state_->poison_reason();
}

void Engine::check_recording(std::int64_t wait_ms) const {
  const auto begun = state_->writer().begin_within(std::chrono::milliseconds(wait_ms));
  if (!begun) throw LedgerBusy("the ledger is written to by others for longer than a moment");
}

LedgerCondition Engine::condition() const {
  return {.end_mark_state = state_->writer().end_mark_state(),
          .stale_replicas = state_->snapshot().stale_replicas(),
          .over_fuse = state_->writer().is_on_fuse()};
}

std::optional<std::string> Engine::calendar_held_at() const {
  return state_->snapshot().calendar_held_at();
}

}  // namespace epsilog::engine
