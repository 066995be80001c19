// Requests that were submitted, and the threads that tell what became of them.
//
// One thread leads groups of what is submitted while nobody leads who waits for an answer of their own, and
// tells what was recorded. What has to start over, because the world changed under it or its draw needs more
// bits, goes on in a thread of its own: to read a source or a generator again may take long, and keeps nobody
// else waiting.
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "decision_call.hpp"
#include "epsilog/engine/submission_outcome.hpp"

namespace epsilog::engine {

/// Thread-safety: may be used from several threads.
class Submissions final : public BackgroundWork {
 public:
  /// Those of an engine.
  [[nodiscard]] static Submissions& of(EngineState& state);

  explicit Submissions(EngineState& state);
  /// Waits until everything submitted was told.
  /// Requires  not called from within `on_done`.
  ~Submissions() override;

  /// As Engine::submit().
  void submit(const Request& request, mechanisms::BitSource* bits, const Alphas& alphas,
              const OnDone& on_done);

 private:
  struct Submission;
  struct RestartedThread {
    std::thread thread;
    bool over = false;
  };

  void work() noexcept;
  [[nodiscard]] std::unique_ptr<Submission> take_submission(const CommitQueue::QueueEntry& entry);
  void conclude(std::unique_ptr<Submission> submission) noexcept;
  /// Takes it unless it throws.
  void restart(std::unique_ptr<Submission>& submission);
  void report_outcome(std::unique_ptr<Submission> submission, SubmissionOutcome outcome) noexcept;

  EngineState& state_;
  std::mutex mutex_;  // guards what follows
  std::map<const CommitQueue::QueueEntry*, std::unique_ptr<Submission>> waiting_;
  std::list<RestartedThread> restarted_;
  std::size_t open_ = 0;  // not told yet
  std::condition_variable none_open_;
  std::thread worker_;
};

}  // namespace epsilog::engine
