#include "submissions.hpp"

#include <system_error>
#include <utility>

#include "background_thread.hpp"
#include "checkpoint_signer.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// What was submitted, until it is told.
struct Submissions::Submission {
  Submission(EngineState& state, const Request& asked, mechanisms::BitSource* bits, const Alphas& wanted,
             const OnDone& done)
      : request(asked), alphas(wanted), on_done(done), call(state, {&request, 1}, bits, alphas) {}

  const Request request;
  const Alphas alphas;
  const OnDone on_done;
  DecisionCall call;
  std::unique_ptr<GroupMember> member;              // in the line
  std::unique_ptr<CommitQueue::QueueEntry> replay;  // likewise, of what needs no group
  std::optional<Answer> answer;              // of a replay

  [[nodiscard]] CommitQueue::QueueEntry& entry() { return member ? *member : *replay; }
};

Submissions& Submissions::of(EngineState& state) {
  return static_cast<Submissions&>(
      state.background_work([&state] { return std::make_unique<Submissions>(state); }));
}

Submissions::Submissions(EngineState& state)
    : state_(state), worker_(start_background_thread([this] { work(); })) {}

Submissions::~Submissions() {
  {
    std::unique_lock lock(mutex_);
    none_open_.wait(lock, [this] { return open_ == 0; });
  }
  state_.commit_queue().close();
  worker_.join();
  for (RestartedThread& restarted : restarted_) restarted.thread.join();
}

void Submissions::submit(const Request& request, mechanisms::BitSource* bits, const Alphas& alphas,
                         const OnDone& on_done) {
  auto submission = std::make_unique<Submission>(state_, request, bits, alphas, on_done);
  DecisionCall& call = submission->call;
  if (!call.prepare_ahead()) submission->answer = call.prepare({});
  if (submission->answer) {
    submission->replay = std::make_unique<CommitQueue::QueueEntry>(request.principal, 0);
  } else {
    submission->member = call.member();
  }
  CommitQueue::QueueEntry& entry = submission->entry();
  const bool waits = submission->member != nullptr;
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(&entry, std::move(submission));
    ++open_;
  }
  try {
    if (waits) {
      state_.commit_queue().submit(entry);
    } else {
      state_.commit_queue().submit_served(entry);
    }
  } catch (...) {
    (void)take_submission(entry);
    const std::lock_guard lock(mutex_);
    --open_;
    none_open_.notify_all();
    throw;
  }
}

std::unique_ptr<Submissions::Submission> Submissions::take_submission(const CommitQueue::QueueEntry& entry) {
  const std::lock_guard lock(mutex_);
  return std::move(waiting_.extract(&entry).mapped());
}

void Submissions::work() noexcept {
  for (;;) {
    const CommitQueue::Work work = state_.commit_queue().next();
    if (work.leads != nullptr) {
      commit_group(state_, static_cast<GroupMember&>(*work.leads), LockWait::full);
      conclude(take_submission(*work.leads));
    } else if (work.served != nullptr) {
      conclude(take_submission(*work.served));
    } else {
      return;
    }
  }
}

void Submissions::conclude(std::unique_ptr<Submission> submission) noexcept {
  SubmissionOutcome outcome;
  try {
    if (submission->answer) {
      outcome.answer = std::move(submission->answer);
    } else if (submission->member->fate == GroupMember::Fate::lacks_bits) {
      return restart(submission);
    } else if (auto answers = submission->call.take_answers(*submission->member)) {
      outcome.answer = std::move(answers->front());
    } else {
      return restart(submission);
    }
  } catch (...) {
    outcome.fault = std::current_exception();
  }
  report_outcome(std::move(submission), std::move(outcome));
}

void Submissions::restart(std::unique_ptr<Submission>& submission) {
  const std::lock_guard lock(mutex_);
  for (auto at = restarted_.begin(); at != restarted_.end();) {
    if (!at->over) {
      ++at;
      continue;
    }
    at->thread.join();  // it has nothing more to do
    at = restarted_.erase(at);
  }
  RestartedThread& entry = restarted_.emplace_back();
  try {
    entry.thread = start_background_thread([this, &entry, taken = submission.get()] {
      std::unique_ptr<Submission> own(taken);
      SubmissionOutcome outcome;
      try {
        const bool lacks_bits = own->member->fate == GroupMember::Fate::lacks_bits;
        outcome.answer = std::move(resume_decision(state_, own->call, lacks_bits).front());
      } catch (...) {
        outcome.fault = std::current_exception();
      }
      report_outcome(std::move(own), std::move(outcome));
      const std::lock_guard ended(mutex_);
      entry.over = true;
    });
    (void)submission.release();
  } catch (const std::system_error& error) {
    restarted_.pop_back();
    throw LedgerBusy(std::string("the request has to start over, and no thread can be had for it: ") +
                     error.what() + "; nothing was charged");
  } catch (...) {
    restarted_.pop_back();  // what was not started cannot be joined
    throw;
  }
}

void Submissions::report_outcome(std::unique_ptr<Submission> submission, SubmissionOutcome outcome) noexcept {
  submission->on_done(std::move(outcome));
  submission.reset();
  state_.checkpoints().sign_if_due();
  const std::lock_guard lock(mutex_);
  if (--open_ == 0) none_open_.notify_all();
}

}  // namespace epsilog::engine
