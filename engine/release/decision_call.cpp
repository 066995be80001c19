#include "decision_call.hpp"

#include <algorithm>
#include <utility>

#include "answer_tick.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "expiry.hpp"
#include "question_checks.hpp"

namespace epsilog::engine {
namespace {

/// How often a call starts over because the policy or a balance changed under it.
constexpr int kAttemptsMax = 100;

/// Ends what is overdue by itself, so that the next attempt sees what became free.
void end_overdue(EngineState& state) {
  BegunTransaction begun = begin_after_expiries(state);
  if (begun.ended > 0) (void)commit_transaction(state, std::move(begun.transaction));
}

/// None: nothing of the call is recorded, and it is to be prepared (again).
std::optional<std::vector<Answer>> record_supplying_bits(EngineState& state, DecisionCall& call,
                                                         LockWait patience) {
  for (;;) {
    const std::unique_ptr<GroupMember> member = call.member();
    record_in_group(state, *member, patience);
    if (member->fate != GroupMember::Fate::lacks_bits) return call.take_answers(*member);
    call.supply_more();
  }
}

}  // namespace

DecisionCall::DecisionCall(EngineState& state, std::span<const Request> requests, mechanisms::BitSource* bits,
                           std::span<const Rational> alphas)
    : state_(state), requests_(requests), bits_(bits), alphas_(alphas) {
  state.require_own_process();
}

bool DecisionCall::prepare_ahead() {
  replays_ = ReplayHandling::deferred;
  steps_.clear();
  steps_.reserve(requests_.size());
  for (const Request& request : requests_) {
    std::optional<PreparedRequest> step = prepare_request_ahead(state_, request);
    if (!step) return false;
    add_exact_answers(*step, state_.options.folders, {});
    steps_.push_back(std::move(*step));
  }
  try {
    supply();
  } catch (const EntropyUnavailable&) {
    return false;  // what is decided already needs none
  }
  return true;
}

std::optional<Answer> DecisionCall::prepare(const Progress& progress) {
  replays_ = ReplayHandling::allowed;
  steps_.clear();
  steps_.reserve(requests_.size());
  {
    // Reading a source may take long, and an open view keeps the log from being recycled.
    ledger::Snapshot view = state_.snapshot();
    const auto active = state_.active_policy(view);
    for (const Request& request : requests_) steps_.push_back(prepare_request(state_, view, active, request));
    if (steps_.size() == 1 && steps_.front().replay) {
      return state_.replay_answer(*steps_.front().replay, view, alphas_);
    }
  }
  std::uint64_t candidates = 0;
  for (const PreparedRequest& step : steps_) candidates += step.replay ? 0 : candidates_of(*step.plan);
  if (steps_.size() > 1) require_selectable(candidates);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto tell = [&](double fraction) {
      progress((static_cast<double>(i) + fraction) / static_cast<double>(steps_.size()));
    };
    answer_step(steps_[i], progress ? Progress(tell) : Progress());
  }
  supply();
  return std::nullopt;
}

/// What of it depends on data, its faults among them, is told at a tick.
void DecisionCall::answer_step(PreparedRequest& step, const Progress& progress) {
  try {
    add_exact_answers(step, state_.options.folders, progress);
  } catch (...) {
    if (state_.ticks() != nullptr) state_.ticks()->wait(arrived_);
    throw;
  }
  read_data_ = read_data_ || (!step.exact.empty() && reads_source(step));
}

void DecisionCall::supply() {
  std::size_t bytes = 0;
  for (const PreparedRequest& step : steps_) {
    if (!step.exact.empty()) bytes += bytes_drawn(*step.plan);
  }
  bits_.supply(bytes);
}

std::unique_ptr<GroupMember> DecisionCall::member() {
  auto member = std::make_unique<GroupMember>(steps_, bits_, replays_);
  if (read_data_ && state_.ticks() != nullptr) member->set_due(state_.ticks()->due(arrived_), arrived_);
  return member;
}

std::optional<std::vector<Answer>> DecisionCall::take_answers(GroupMember& member) {
  switch (member.fate) {
    case GroupMember::Fate::unmet:
    case GroupMember::Fate::outdated:
      return std::nullopt;
    case GroupMember::Fate::failed:
      std::rethrow_exception(std::exchange(member.fault, nullptr));
    case GroupMember::Fate::recorded:
      return answers(member);
    case GroupMember::Fate::lacks_bits:
      break;
  }
  EPSILOG_INVARIANT(false);
}

std::vector<Answer> DecisionCall::answers(GroupMember& member) {
  std::vector<Answer> answers;
  answers.reserve(steps_.size());
  std::optional<ledger::Snapshot> view;  // replays need one, and what waits for approvals
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const RecordedRequest& recorded = member.recorded[i];
    if (recorded.kind == RecordedRequest::Kind::written) {
      const auto& plan = steps_[i].plan;
      const auto alphas = accuracy_alphas(recorded.decision->draft.reasons, alphas_);
      answers.push_back(state_.answer_from_plan(steps_[i].request, plan, member.policy_version, alphas));
      add_approvals(answers.back(), *recorded.decision, steps_[i].applied->policy);
      add_decision(answers.back(), *recorded.decision, false);
      state_.add_intervals(answers.back(), plan, alphas);
      if (recorded.decision->draft.outcome == ledger::Outcome::pending) {
        if (!view) view.emplace(state_.snapshot());
        add_unopened_accounts(answers.back(), *steps_[i].applied, steps_[i].request, *plan,
                              view->calendar_time());
      }
      note_held_calendar(answers.back(), member.calendar_held);
    } else {
      if (!view) view.emplace(state_.snapshot());
      answers.push_back(state_.replay_answer(*recorded.decision, *view, alphas_));
    }
  }
  return answers;
}

namespace {

std::vector<Answer> decide_with_retries(EngineState& state, DecisionCall& call, const Progress& progress) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    if (attempt > 0) end_overdue(state);
    if (auto replayed = call.prepare(progress)) return {std::move(*replayed)};
    if (auto answers = record_supplying_bits(state, call, LockWait::full)) return std::move(*answers);
  }
  throw LedgerBusy(
      "the policy or the budget kept changing while the answer was computed; nothing was charged");
}

}  // namespace

std::vector<Answer> decide_requests(EngineState& state, std::span<const Request> requests,
                                    mechanisms::BitSource* bits, std::span<const Rational> alphas,
                                    const Progress& progress) {
  DecisionCall call(state, requests, bits, alphas);
  if (call.prepare_ahead()) {
    if (auto answers = record_supplying_bits(state, call, LockWait::brief)) return std::move(*answers);
  }
  return decide_with_retries(state, call, progress);
}

std::vector<Answer> resume_decision(EngineState& state, DecisionCall& call, bool lacks_bits) {
  if (lacks_bits) {
    call.supply_more();
    if (auto answers = record_supplying_bits(state, call, LockWait::full)) return std::move(*answers);
  }
  return decide_with_retries(state, call, {});
}

}  // namespace epsilog::engine
