// What is computed and changes nothing: it costs its principal processor time, is bounded before it begins,
// and ends when nobody waits for it any more.
//
// A principal who was refused too often waits with requests that ask something new, and with those alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "call.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "planning_steps.hpp"
#include "processor_time.hpp"

namespace epsilog::serve {

/// Returns whether the key of the request is bound to the same question. Such a request is answered from the
/// record, whatever the policy says of its question by now, and cannot be refused anew.
/// Throws  LedgerBusy, LedgerIo, LedgerCorrupt.
[[nodiscard]] bool is_retry(ledger::Snapshot& view, const engine::Request& request);

/// Requires of those requests that are no retries that there are as many refusals left as they would count
/// for, and processor time, and that planning each is within what the daemon takes at once. `alphas`: of
/// each, at how many its intervals are told.
/// Throws  HttpProblem (400, 429); as is_retry().
void require_new_questions(const Call& call, std::span<const engine::Request> requests, std::size_t alphas);

/// A route that changes nothing (Route::computes), for as long as it is answered. Whatever the engine
/// computes meanwhile on this thread ends with Stopped when the other end is gone, the daemon ends, or the
/// caller owes as much processor time as they may.
class ComputationScope final {
 public:
  /// Throws  HttpProblem (429) if the caller has no processor time left.
  explicit ComputationScope(Call& call);
  ComputationScope(const ComputationScope&) = delete;
  ComputationScope& operator=(const ComputationScope&) = delete;
  /// Charges the processor time that was used.
  ~ComputationScope();

  /// What is answered after Stopped.
  [[nodiscard]] HttpProblem stop_problem() const;

 private:
  /// Waits until nothing else is computed for the caller, unless that is the keeper.
  /// Throws  HttpProblem (429) if the caller has no processor time left then; HttpProblem (503) if the other end goes
  /// away or the daemon ends before.
  void acquire_compute_lock();
  [[nodiscard]] bool is_abandoned();
  /// Looks every few milliseconds only.
  [[nodiscard]] bool should_stop();

  enum class StopReason : std::uint8_t { gone, stopping, no_time };

  Call& call_;
  ProcessorTime::ComputeLock compute_lock_;
  ThreadTime used_;
  std::chrono::steady_clock::time_point last_check_;
  StopReason stop_reason_ = StopReason::gone;
  const std::function<bool()> stop_query_;
  const accounting::StopScope scope_;
};

/// The processor time of a request that may turn out to have changed nothing, and is charged then.
class UnchangedRequestCost final {
 public:
  explicit UnchangedRequestCost(const Call& call) : call_(call) {}
  UnchangedRequestCost(const UnchangedRequestCost&) = delete;
  UnchangedRequestCost& operator=(const UnchangedRequestCost&) = delete;
  ~UnchangedRequestCost();

  /// Something was granted, reserved or waits by now: nothing is charged unless this is a retry or a refusal.
  void note_outcome(const engine::Answer& answer);

 private:
  const Call& call_;
  ThreadTime used_;
  bool changed_ = false;
};

[[nodiscard]] bool has_processor_time(const Call& call);
/// Throws  HttpProblem (429) if the caller has no processor time left.
void require_processor_time(const Call& call);

/// Returns the bound of planning_steps.hpp under the policy that the caller was identified under.
[[nodiscard]] std::uint64_t planning_steps_up(const Call& call, const engine::Request& request,
                                              std::size_t alphas, engine::PlannedFor what);
/// Requires that it is no more than the daemon takes at once.
/// Throws  HttpProblem (400), which names the limit.
void require_plannable(const Call& call, std::uint64_t steps);

/// What the rules of the policy refuse, whatever the balances: as a refusal, without its question being
/// planned. None: they refuse nothing.
[[nodiscard]] std::optional<Response> refused_by_rule(const Call& call, const engine::Request& request);

}  // namespace epsilog::serve
