#include "submissions.hpp"

#include <system_error>
#include <utility>

#include "checkpoint_keeper.hpp"
#include "epsilog/accounting/errors.hpp"
#include "quiet_thread.hpp"

namespace epsilog::engine {

/// What was submitted, until it is told.
struct Submissions::Submission {
  Submission(EngineState& state, const Request& asked, mechanisms::BitSource* bits, const Alphas& wanted,
             const OnDone& done)
      : request(asked), alphas(wanted), on_done(done), call(state, {&request, 1}, bits, alphas) {}

  const Request request;
  const Alphas alphas;
  const OnDone on_done;
  Deciding call;
  std::unique_ptr<Member> member;            // in the line
  std::unique_ptr<GroupLine::Place> replay;  // likewise, of what needs no group
  std::optional<Answer> answer;              // of a replay

  [[nodiscard]] GroupLine::Place& place() { return member ? *member : *replay; }
};

Submissions& Submissions::of(EngineState& state) {
  return static_cast<Submissions&>(state.beside([&state] { return std::make_unique<Submissions>(state); }));
}

Submissions::Submissions(EngineState& state) : state_(state), worker_(quiet_thread([this] { work(); })) {}

Submissions::~Submissions() {
  {
    std::unique_lock lock(mutex_);
    none_open_.wait(lock, [this] { return open_ == 0; });
  }
  state_.line().close();
  worker_.join();
  for (Restarted& restarted : restarted_) restarted.thread.join();
}

void Submissions::submit(const Request& request, mechanisms::BitSource* bits, const Alphas& alphas,
                         const OnDone& on_done) {
  auto submission = std::make_unique<Submission>(state_, request, bits, alphas, on_done);
  Deciding& call = submission->call;
  if (!call.prepare_ahead()) submission->answer = call.prepare({});
  if (submission->answer) {
    submission->replay = std::make_unique<GroupLine::Place>(request.principal, 0);
  } else {
    submission->member = call.member();
  }
  GroupLine::Place& place = submission->place();
  const bool waits = submission->member != nullptr;
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(&place, std::move(submission));
    ++open_;
  }
  try {
    if (waits) {
      state_.line().submit(place);
    } else {
      state_.line().submit_served(place);
    }
  } catch (...) {
    (void)taken_out(place);
    const std::lock_guard lock(mutex_);
    --open_;
    none_open_.notify_all();
    throw;
  }
}

std::unique_ptr<Submissions::Submission> Submissions::taken_out(const GroupLine::Place& place) {
  const std::lock_guard lock(mutex_);
  return std::move(waiting_.extract(&place).mapped());
}

void Submissions::work() noexcept {
  for (;;) {
    const GroupLine::Work work = state_.line().next();
    if (work.leads != nullptr) {
      lead(state_, static_cast<Member&>(*work.leads), Patience::turn);
      conclude(taken_out(*work.leads));
    } else if (work.served != nullptr) {
      conclude(taken_out(*work.served));
    } else {
      return;
    }
  }
}

void Submissions::conclude(std::unique_ptr<Submission> submission) noexcept {
  Submitted outcome;
  try {
    if (submission->answer) {
      outcome.answer = std::move(submission->answer);
    } else if (submission->member->fate == Member::Fate::lacks_bits) {
      return restart(submission);
    } else if (auto answers = submission->call.concluded(*submission->member)) {
      outcome.answer = std::move(answers->front());
    } else {
      return restart(submission);
    }
  } catch (...) {
    outcome.fault = std::current_exception();
  }
  tell(std::move(submission), std::move(outcome));
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
  Restarted& place = restarted_.emplace_back();
  try {
    place.thread = quiet_thread([this, &place, taken = submission.get()] {
      std::unique_ptr<Submission> own(taken);
      Submitted outcome;
      try {
        const bool lacks_bits = own->member->fate == Member::Fate::lacks_bits;
        outcome.answer = std::move(decided_further(state_, own->call, lacks_bits).front());
      } catch (...) {
        outcome.fault = std::current_exception();
      }
      tell(std::move(own), std::move(outcome));
      const std::lock_guard ended(mutex_);
      place.over = true;
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

void Submissions::tell(std::unique_ptr<Submission> submission, Submitted outcome) noexcept {
  submission->on_done(std::move(outcome));
  submission.reset();
  state_.checkpoints().answered();
  const std::lock_guard lock(mutex_);
  if (--open_ == 0) none_open_.notify_all();
}

}  // namespace epsilog::engine
