#include "epsilog/engine/asking.hpp"

#include "access.hpp"
#include "assumed_count.hpp"
#include "canonical_request.hpp"
#include "charged_before.hpp"
#include "checkpoint_signer.hpp"
#include "decide.hpp"
#include "decision_call.hpp"
#include "each_question.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "expiry.hpp"
#include "judgement.hpp"
#include "plan_advice.hpp"
#include "question_checks.hpp"
#include "recorded_names.hpp"
#include "release_path.hpp"
#include "submissions.hpp"

namespace epsilog::engine {
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

void require_not_held(const Request& request) {
  if (request.reservation == ReservationKind::none) return;
  throw InvalidParameter("release: a request that is held is reserved, then committed");
}

}  // namespace

Answer Asking::plan(const Request& request, const Alphas& alphas,
                    std::optional<std::int64_t> assumed_count) const {
  return plan_as_answer(*state_, request, alphas,
                        assumed_count ? AssumedCounts{assumed_count} : AssumedCounts{});
}

Answer Asking::plan_batch(const Request& batch, const Alphas& alphas,
                          std::span<const std::optional<std::int64_t>> assumed_counts) const {
  return plan_as_answer(*state_, batch, alphas, AssumedCounts(assumed_counts.begin(), assumed_counts.end()));
}

std::string Asking::same_question(const Request& request) const {
  const std::string text = canonical_request(request);
  return state_->snapshot().find_grant(request.principal, text).value_or("");
}

Answer Asking::release(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                       const Progress& progress) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  require_not_held(request);
  return std::move(decide_requests(*state_, {&request, 1}, &bits, alphas, progress).front());
}

std::vector<Answer> Asking::release_many(std::span<const Request> requests, mechanisms::BitSource& bits,
                                         const Alphas& alphas, const Progress& progress) {
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  if (requests.empty()) return {};
  for (const Request& request : requests) require_not_held(request);
  return decide_requests(*state_, requests, &bits, alphas, progress);
}

void Asking::submit(const Request& request, mechanisms::BitSource& bits, const Alphas& alphas,
                    const OnDone& on_done) {
  EngineState& state = *state_;
  if (!on_done) throw InvalidParameter("submit: nobody is told what became of it");
  state.require_own_process();
  Submissions::of(state).submit(request, &bits, alphas, on_done);
}

}  // namespace epsilog::engine
