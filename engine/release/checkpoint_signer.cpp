#include "checkpoint_signer.hpp"

#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "background_thread.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::engine {
namespace {

/// How long nothing is tried again in this engine after a failure: commits come by the thousand in a second.
constexpr std::chrono::seconds kPause(10);

bool reached(const NextDue& next, const ledger::StoredDecision& last) {
  if (!last.log) return true;
  return last.log->tree.size >= next.size || ledger::parse_time(last.created_at) >= next.time_ms;
}

}  // namespace

CheckpointSigner::CheckpointSigner(WatchedEngine engine) : engine_(std::move(engine)), process_(::getpid()) {}

CheckpointSigner::~CheckpointSigner() {
  if (thread_.joinable()) thread_.join();
}

void CheckpointSigner::note_commit(std::int64_t policy_version, const ledger::StoredDecision* last) noexcept {
  try {
    const auto known = engine_.known_policy(policy_version);
    if (known && !known->policy.checkpoint()) return;
    const std::lock_guard lock(mutex_);
    const bool early =
        checked_version_ == policy_version && next_ && last != nullptr && !reached(*next_, *last);
    if (!early) pending_ = true;
  } catch (...) {
    pending_ = true;
  }
}

void CheckpointSigner::sign_if_due() noexcept {
  if (!pending_ || ::getpid() != process_) return;
  std::string why;
  try {
    const std::lock_guard lock(mutex_);
    if (signing_ || std::chrono::steady_clock::now() < not_before_) return;
    if (thread_.joinable()) thread_.join();  // it has nothing more to do
    thread_ = start_background_thread([this] { work(); });
    signing_ = true;
    return;
  } catch (const std::exception& error) {
    why = error.what();
  }
  report_failure(why);
}

void CheckpointSigner::work() noexcept {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (!pending_ || std::chrono::steady_clock::now() < not_before_) {
        signing_ = false;
        return;
      }
      pending_ = false;
    }
    try {
      sign_due_checkpoint();
    } catch (const std::bad_alloc&) {
      report_failure("out of memory");
    } catch (const std::exception& error) {
      report_failure(error.what());
    }
  }
}

void CheckpointSigner::sign_due_checkpoint() {
  const auto active = engine_.active_policy();
  DueCheckpoint found;
  if (const auto& wanted = active->policy.checkpoint()) {
    found = append_due_checkpoint(
        engine_.ledger, engine_.ledger_path,
        {.key = wanted->key, .file = wanted->path, .lines = wanted->lines, .seconds = wanted->seconds});
  }
  const std::lock_guard lock(mutex_);
  checked_version_ = active->version.version;
  next_.reset();
  if (active->policy.checkpoint() && found.outcome == DueOutcome::not_yet) next_ = found.next;
}

void CheckpointSigner::report_failure(const std::string& why) noexcept {
  try {
    pending_ = true;
    {
      const std::lock_guard lock(mutex_);
      not_before_ = std::chrono::steady_clock::now() + kPause;
    }
    if (engine_.warn) engine_.warn("no checkpoint was appended: " + why);
  } catch (...) {
    // Who is told threw, and has no caller to be told of it.
  }
}

}  // namespace epsilog::engine
