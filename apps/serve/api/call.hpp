// One request on its way to its answer, and what it is answered with.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "admission.hpp"
#include "audit_jobs.hpp"
#include "caller.hpp"
#include "epsilog/engine/engine.hpp"
#include "json_parts.hpp"
#include "ledger_view.hpp"
#include "metrics.hpp"
#include "poll_watch.hpp"
#include "problem.hpp"
#include "processor_time.hpp"
#include "readiness.hpp"
#include "refusal_count.hpp"
#include "service.hpp"

namespace epsilog::serve {

/// What all requests share. Thread-safety: its parts may be used from several threads.
struct ApiContext {
  engine::Engine& engine;
  LedgerView& view;
  Admission& admission;
  RefusalCount& refusals;
  Metrics& metrics;
  AuditJobs& audits;
  Readiness& readiness;
  std::string ledger_id;
  std::string ledger_path;
  std::uint32_t own_uid = 0;
  std::function<void(const std::string&)> warn = {};  ///< called by several threads
  /// Told when the engine's files have been replaced: whoever opened it has to open the ledger again.
  std::function<void()> files_replaced = {};
};

/// What may be computed for a request that changes nothing.
struct CostLimits {
  std::uint64_t planning_steps = 400'000;  ///< of one request (planning_steps.hpp)
  ProcessorLimits processor = {};          ///< of one principal
};

/// What principals have used of that. Thread-safety: may be used from several threads.
struct Costs {
  explicit Costs(const CostLimits& limits)
      : planning_steps(limits.planning_steps), processor(limits.processor) {}

  std::atomic<std::uint64_t> planning_steps;
  ProcessorTime processor;
};

struct Route;

struct Call {
  ApiContext& context;
  const Route& route;
  const RequestHead& head;
  const Peer& peer;
  Body& body;
  Caller caller;  ///< as it was decided last
  Admission::Entry& entry;
  Costs& costs;
  std::string id;                     ///< what stands for {id} in the path; "" without
  std::size_t refusals_per_hour = 0;  ///< how many refusals a principal may have
  std::string dataset = {};           ///< the dataset asked about, as far as is known: for problems
  std::chrono::steady_clock::time_point identified_at = std::chrono::steady_clock::now();
  // Of a route that changes nothing (computing.hpp): it waits for the caller's turn, and ends it.
  std::function<void()> acquire_compute_lock = {};
  std::function<void()> release_compute_lock = {};

  [[nodiscard]] engine::Engine& engine() const { return context.engine; }
  /// Returns how often the caller may still be refused in this hour.
  [[nodiscard]] std::size_t refusals_left() const;
  /// Returns as how many refusals one of a request with so many rows would count: a batch as its rows, at
  /// most a tenth of what a principal may have.
  [[nodiscard]] std::size_t refusals_of(std::size_t rows) const;
  /// Requires as many refusals left as there are new questions. Reading, retries and acts upon a request are
  /// no new questions and go on without any left.
  /// Throws  HttpProblem (429).
  void require_refusals_left(std::size_t new_questions) const;
  /// The decision of {id}, or how its request stands, all of it: seen() says what may leave.
  /// Throws  request_not_found().
  [[nodiscard]] engine::Answer visible_answer();
  /// The whole body, of `most` bytes at most, and a place to answer it in.
  /// Throws  HttpProblem (413, 408, 400, 503), as wait_for_slot().
  [[nodiscard]] std::string read_body(std::size_t most);
  /// What there is of the body when it ends or `size` bytes of it are there. Memory is taken for it as its
  /// bytes arrive, never more than twice what is there. If it cannot be refused any more, this waits for
  /// memory for as long as it takes.
  /// Throws  BodyFault; HttpProblem (503) if it can be refused.
  [[nodiscard]] std::string receive_body(std::size_t size, bool refusable);
  /// Waits for the turn to compute, if it computes, and for a place to answer it in; after a wait that could
  /// be noticed it decides again who the caller is.
  /// Throws  HttpProblem (503), as reidentify_caller().
  void wait_for_slot();
  /// Decides again who the caller is, as reidentify_caller(), if that was decided so long ago that others would
  /// notice.
  void reidentify_if_stale();
  /// Decides again who the caller is and whether the route is for them, under the policy and the credentials
  /// of now.
  /// Throws  HttpProblem (401, 403), also where the caller is another principal by now.
  void reidentify_caller();
  /// A long poll: waits, at most so many seconds and while the client is there, until `found` says that there
  /// is something to tell. Before each look it decides again who the caller is, and asks what the poll
  /// awaits.
  /// Ensures  what was read was read before the caller was decided last: tell what they see of it, and read
  ///          no more.
  /// Throws   HttpProblem (429), as reidentify_caller(), what `found` throws.
  void poll(std::int64_t seconds, const std::function<PollCondition()>& awaited,
            const std::function<bool()>& found);
  /// Returns the parameter, a whole number from `least` to `most`; `absent` without it.
  /// Throws  HttpProblem (400).
  [[nodiscard]] std::int64_t number(std::string_view parameter, std::int64_t most, std::int64_t absent,
                                    std::int64_t least = 0) const;
  /// Returns the parameter; "" without it.
  /// Throws  HttpProblem (400) for one that is empty.
  [[nodiscard]] std::string text(std::string_view parameter) const;
};

/// How long a long poll may last, seconds.
inline constexpr std::int64_t kLongPollSecondsMax = 60;

/// What is not there, and what the caller sees nothing of, in the same words.
[[nodiscard]] NotFound request_not_found();

/// A body of more than `most` bytes.
[[nodiscard]] HttpProblem body_too_large(std::size_t most);
/// Throws  HttpProblem: why it is not admitted.
void require_admitted(const std::optional<AdmissionDenial>& none);
[[nodiscard]] HttpProblem admission_problem(AdmissionDenial why);

[[nodiscard]] Response json_response(int status, const wire::Json& object);
/// A text that is one JSON object already.
[[nodiscard]] Response json_text_response(int status, std::string text);

/// A decision as the caller sees it, as one of several: the object that would be answered, with the status
/// that it would have. What alone would be a problem is that problem.
[[nodiscard]] wire::Json decision_object(const Call& call, engine::Answer answer, int fresh);

/// A decision as the caller sees it. `fresh` is the status of one that was made now.
/// Throws  NotFound where they see nothing; HttpProblem (503) where it is on record and not told yet.
[[nodiscard]] Response decision_response(const Call& call, engine::Answer answer, int fresh);
/// A request that was acted upon or read: 200, whatever state it is in.
[[nodiscard]] Response request_state_response(const Call& call, engine::Answer answer);

}  // namespace epsilog::serve
