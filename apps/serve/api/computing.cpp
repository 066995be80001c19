#include "computing.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "access.hpp"
#include "canonical_request.hpp"
#include "epsilog/ledger/digest.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using Clock = std::chrono::steady_clock;

/// So seldom it is looked whether a computation is still wanted, and it pays.
constexpr std::chrono::milliseconds kStopCheckInterval{5};

void spend(const Call& call, ProcessorTime::Time used) {
  if (!call.caller.is_keeper()) static_cast<void>(call.costs.processor.spend(call.caller.actor.name, used));
}

HttpProblem processor_time_problem(const Call& call) {
  const auto wait =
      std::chrono::ceil<std::chrono::seconds>(call.costs.processor.time_to_wait(call.caller.actor.name));
  return HttpProblem(
             429, "too_much_processor_time",
             "what you asked for lately took as much processor time as a principal has here "
             "(limits.processor_milliseconds): new questions, plans, forecasts and lists wait; ask for "
             "fewer rows, cells or quantiles at once")
      .with_retry_after(static_cast<int>(std::max<std::int64_t>(wait.count(), 1)));
}

}  // namespace

bool is_retry(ledger::Snapshot& view, const engine::Request& request) {
  const auto bound = view.find_by_key(request.principal, request.key);
  return bound && bound->draft.request_digest == ledger::sha256_hex(engine::canonical_request(request));
}

void require_new_questions(const Call& call, std::span<const engine::Request> requests, std::size_t alphas) {
  std::size_t refusals = 0;
  std::uint64_t steps = 0;
  const auto add = [&](const engine::Request& one) {
    refusals += call.refusals_of(one.rows.size());
    steps += planning_steps_up(call, one, alphas, engine::PlannedFor::once);
  };
  std::for_each(requests.begin(), requests.end(), add);
  if (refusals <= call.refusals_left() && steps <= call.costs.planning_steps && has_processor_time(call))
    return;
  // Only now it matters which of them are new.
  ledger::Snapshot view = call.context.view.snapshot();
  refusals = steps = 0;
  for (const engine::Request& one : requests) {
    if (!is_retry(view, one)) add(one);
  }
  if (refusals == 0) return;
  call.require_refusals_left(refusals);
  require_plannable(call, steps);
  require_processor_time(call);
}

void require_processor_time(const Call& call) {
  if (!has_processor_time(call)) throw processor_time_problem(call);
}

ComputationScope::ComputationScope(Call& call)
    : call_(call),
      compute_lock_(call.costs.processor, call.caller.actor.name),
      last_check_(),
      stop_query_([this] { return should_stop(); }),
      scope_(stop_query_) {
  require_processor_time(call);
  call.acquire_compute_lock = [this] { acquire_compute_lock(); };
  call.release_compute_lock = [this] { compute_lock_.release(); };
}

ComputationScope::~ComputationScope() {
  call_.acquire_compute_lock = call_.release_compute_lock = nullptr;
  spend(call_, used_.lap());
}

void ComputationScope::acquire_compute_lock() {
  if (call_.caller.is_keeper()) return;
  if (!compute_lock_.acquire([this] { return is_abandoned(); })) throw stop_problem();
  require_processor_time(call_);
}

bool ComputationScope::is_abandoned() {
  if (call_.body.stopping() || call_.context.audits.stopping()) {
    stop_reason_ = StopReason::stopping;
    return true;
  }
  stop_reason_ = StopReason::gone;
  return call_.body.gone();
}

bool ComputationScope::should_stop() {
  const Clock::time_point now = Clock::now();
  if (now - last_check_ < kStopCheckInterval) return false;
  last_check_ = now;
  if (is_abandoned()) return true;
  stop_reason_ = StopReason::no_time;
  return !call_.caller.is_keeper() && call_.costs.processor.spend(call_.caller.actor.name, used_.lap());
}

HttpProblem ComputationScope::stop_problem() const {
  switch (stop_reason_) {
    case StopReason::stopping:
      return admission_problem(AdmissionDenial::stopping);
    case StopReason::no_time:
      return processor_time_problem(call_);
    case StopReason::gone:
      break;
  }
  return {503, "client_gone", "the other end went away while its answer was computed; nothing was changed"};
}

UnchangedRequestCost::~UnchangedRequestCost() {
  if (!changed_) spend(call_, used_.lap());
}

void UnchangedRequestCost::note_outcome(const engine::Answer& answer) {
  changed_ =
      changed_ || (!answer.recorded.replayed && answer.recorded.state != engine::RequestState::refused);
}

bool has_processor_time(const Call& call) {
  return call.caller.is_keeper() ||
         call.costs.processor.time_to_wait(call.caller.actor.name) == std::chrono::milliseconds(0);
}

std::uint64_t planning_steps_up(const Call& call, const engine::Request& request, std::size_t alphas,
                                engine::PlannedFor what) {
  const engine::Dataset* const dataset = declared_dataset(call.caller, request.dataset);
  // Of one that is not there nothing is planned; the engine says so.
  return dataset == nullptr ? 0 : engine::planning_steps_up(*dataset, request, alphas, what);
}

void require_plannable(const Call& call, std::uint64_t steps) {
  const std::uint64_t most = call.costs.planning_steps;
  if (steps <= most) return;
  throw HttpProblem(400, "request_too_costly",
                    "to plan this takes up to " + std::to_string(steps) + " steps, and the daemon takes " +
                        std::to_string(most) +
                        " at once (limits.planning_steps): ask for fewer rows, cells, quantiles or values of "
                        "alpha, in several requests");
}

std::optional<Response> refused_by_rule(const Call& call, const engine::Request& request) {
  const engine::Dataset* const dataset = declared_dataset(call.caller, request.dataset);
  if (dataset == nullptr) return std::nullopt;
  engine::Answer answer;
  answer.recorded.reasons = engine::access_reasons(call.caller.view->policy, *dataset, request);
  if (answer.recorded.reasons.empty()) return std::nullopt;
  answer.recorded.reasons_count = answer.recorded.reasons.size();
  constexpr std::size_t kReasonsShownMax = 16;
  answer.recorded.reasons.resize(std::min(answer.recorded.reasons.size(), kReasonsShownMax));
  answer.recorded.ledger_id = call.context.ledger_id;
  answer.asked.principal = answer.asked.asker = request.principal;
  answer.asked.via = request.via;
  answer.asked.dataset = request.dataset;
  answer.asked.statistic =
      request.rows.empty() ? request.question.statistic.text() : std::string(ledger::kBatch);
  answer.asked.by = request.question.by;
  if (request.question.where) answer.asked.where = request.question.where->text();
  answer.asked.purpose = request.purpose;
  answer.planned.record.requested = request.epsilon.rational();
  for (const engine::RequestRow& row : request.rows)
    answer.planned.record.requested += row.epsilon.rational();
  answer.planned.policy_version = call.caller.view->policy_version;
  answer.rows_count = request.rows.size();
  return decision_response(call, std::move(answer), 200);
}

}  // namespace epsilog::serve
