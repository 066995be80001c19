// Signs what the active policy has signed by itself (docs/evidence.md), after COMMITs of an engine.
//
//   note_commit   a COMMIT returned: may one be due by now?
//   sign_if_due   the answers of the call left: if so, a thread looks, and signs
//
// So no answer waits for it, nor does whoever wants the turn, and what fails is warned of and nothing else.
// The thread ends when nothing is left to look at. Thread-safety: may be used from several threads.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "due_checkpoint.hpp"
#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "plan_cache.hpp"

namespace epsilog::engine {

/// An engine, as far as it is looked at.
struct WatchedEngine {
  ledger::Ledger& ledger;
  const std::string& ledger_path;
  const accounting::Callback<void(const std::string&)>& warn;
  /// The policy of that version; nullptr if it was not met yet.
  std::function<std::shared_ptr<const AppliedPolicy>(std::int64_t version)> known_policy;
  std::function<std::shared_ptr<const AppliedPolicy>()> active_policy;
};

class CheckpointSigner final {
 public:
  explicit CheckpointSigner(WatchedEngine engine);
  CheckpointSigner(const CheckpointSigner&) = delete;
  CheckpointSigner& operator=(const CheckpointSigner&) = delete;
  /// Waits for the thread.
  ~CheckpointSigner();

  /// `last` is the newest decision of it, nullptr where it recorded none.
  void note_commit(std::int64_t policy_version, const ledger::StoredDecision* last) noexcept;
  /// Does nothing in a forked child, whose parent's it is.
  void sign_if_due() noexcept;

  /// sign_if_due() at the end of a call.
  class AfterCall final {
   public:
    explicit AfterCall(CheckpointSigner& keeper) : signer_(keeper) {}
    AfterCall(const AfterCall&) = delete;
    AfterCall& operator=(const AfterCall&) = delete;
    ~AfterCall() { signer_.sign_if_due(); }

   private:
    CheckpointSigner& signer_;
  };

 private:
  void work() noexcept;
  /// Throws  what append_due_checkpoint() throws, and why the active policy cannot be read.
  void sign_due_checkpoint();
  void report_failure(const std::string& why) noexcept;

  const WatchedEngine engine_;
  const pid_t process_;
  std::atomic<bool> pending_ = false;  // a look is wanted
  std::mutex mutex_;                   // guards what follows
  bool signing_ = false;               // the thread is not over
  std::int64_t checked_version_ = 0;   // of the policy under which was looked last
  std::optional<NextDue> next_;        // what was found then
  std::chrono::steady_clock::time_point not_before_{};
  std::thread thread_;
};

}  // namespace epsilog::engine
