#include "computing.hpp"

#include <utility>

#include "access.hpp"
#include "sight.hpp"

namespace epsilog::serve {
namespace {

using Clock = std::chrono::steady_clock;

/// So seldom it is looked whether a computation is still wanted, and it pays.
constexpr std::chrono::milliseconds kLooksEvery{5};

void spend(const Call& call, ProcessorTime::Time used) {
  if (!call.caller.keeper()) static_cast<void>(call.costs.processor.spend(call.caller.who.name, used));
}

Refused no_time(const Call& call) {
  const auto wait = std::chrono::ceil<std::chrono::seconds>(call.costs.processor.wait(call.caller.who.name));
  return Refused(429, "too_much_processor_time",
                 "what you asked for lately took as much processor time as a principal has here "
                 "(limits.processor_milliseconds): new questions, plans, forecasts and lists wait; ask for "
                 "fewer rows, cells or quantiles at once")
      .retry_in(static_cast<int>(std::max<std::int64_t>(wait.count(), 1)));
}

}  // namespace

void require_processor_time(const Call& call) {
  if (!has_processor_time(call)) throw no_time(call);
}

Computing::Computing(Call& call)
    : call_(call),
      turn_(call.costs.processor, call.caller.who.name),
      looked_(),
      ask_([this] { return wanted_no_more(); }),
      scope_(ask_) {
  require_processor_time(call);
  call.take_turn = [this] { take_turn(); };
  call.end_turn = [this] { turn_.end(); };
}

Computing::~Computing() {
  call_.take_turn = call_.end_turn = nullptr;
  spend(call_, used_.lap());
}

void Computing::take_turn() {
  if (call_.caller.keeper()) return;
  if (!turn_.take([this] { return nobody_waits(); })) throw why();
  require_processor_time(call_);
}

bool Computing::nobody_waits() {
  if (call_.body.stopping() || call_.parts.audits.stopping()) {
    why_ = Why::stopping;
    return true;
  }
  why_ = Why::gone;
  return call_.body.gone();
}

bool Computing::wanted_no_more() {
  const Clock::time_point now = Clock::now();
  if (now - looked_ < kLooksEvery) return false;
  looked_ = now;
  if (nobody_waits()) return true;
  why_ = Why::no_time;
  return !call_.caller.keeper() && call_.costs.processor.spend(call_.caller.who.name, used_.lap());
}

Refused Computing::why() const {
  switch (why_) {
    case Why::stopping:
      return not_admitted(NotAdmitted::stopping);
    case Why::no_time:
      return no_time(call_);
    case Why::gone:
      break;
  }
  return {503, "client_gone", "the other end went away while its answer was computed; nothing was changed"};
}

InVain::~InVain() {
  if (!changed_) spend(call_, used_.lap());
}

void InVain::became(const engine::Answer& answer) {
  changed_ =
      changed_ || (!answer.recorded.replayed && answer.recorded.state != engine::RequestState::refused);
}

bool has_processor_time(const Call& call) {
  return call.caller.keeper() ||
         call.costs.processor.wait(call.caller.who.name) == std::chrono::milliseconds(0);
}

std::uint64_t planning_steps_up(const Call& call, const engine::Request& request, std::size_t alphas,
                                engine::PlannedFor what) {
  const engine::Dataset* const dataset = declared(call.caller, request.dataset);
  // Of one that is not there nothing is planned; the engine says so.
  return dataset == nullptr ? 0 : engine::planning_steps_up(*dataset, request, alphas, what);
}

void require_plannable(const Call& call, std::uint64_t steps) {
  const std::uint64_t most = call.costs.planning_steps;
  if (steps <= most) return;
  throw Refused(400, "too_much_to_plan",
                "to plan this takes up to " + std::to_string(steps) + " steps, and the daemon takes " +
                    std::to_string(most) +
                    " at once (limits.planning_steps): ask for fewer rows, cells, quantiles or values of "
                    "alpha, in several requests");
}

std::optional<Response> refused_by_rule(const Call& call, const engine::Request& request) {
  const engine::Dataset* const dataset = declared(call.caller, request.dataset);
  if (dataset == nullptr) return std::nullopt;
  engine::Answer answer;
  answer.recorded.reasons = engine::access_reasons(call.caller.view->policy, *dataset, request);
  if (answer.recorded.reasons.empty()) return std::nullopt;
  answer.recorded.reasons_count = answer.recorded.reasons.size();
  constexpr std::size_t kTold = 16;
  answer.recorded.reasons.resize(std::min(answer.recorded.reasons.size(), kTold));
  answer.recorded.ledger_id = call.parts.ledger_id;
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
  return decision(call, std::move(answer), 200);
}

}  // namespace epsilog::serve
