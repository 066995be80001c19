// What auditors have the daemon do beside answering requests: a verification at a time, in a thread of its
// own, and a reaccount at a time.
//
// A verification reads through connections of its own, at the lowest urgency that this machine has, and ends
// at its next step once it is cancelled or the daemon ends. Nothing is kept of it beyond the daemon's life,
// and of the last ones only. Thread-safety: may be used from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/progress.hpp"

namespace epsilog::serve {

struct Verification {
  enum class State {
    running,
    cancelling,  ///< told to end
    done,        ///< `report` says what was found
    cancelled,
    failed,  ///< `failure` says why: nothing is known of the ledger by it
  };
  std::string id;
  std::string by;
  engine::StorageCheck storage = engine::StorageCheck::full;
  State state = State::running;
  int percent = 0;
  std::string started_at;
  std::string ended_at = {};  ///< "" until it has
  std::shared_ptr<const engine::AuditReport> report = {};
  std::exception_ptr failure = {};

  [[nodiscard]] bool ended() const { return state != State::running && state != State::cancelling; }
};

class AuditJobs final {
 public:
  using Verify =
      std::function<engine::AuditReport(const engine::Progress& progress, engine::StorageCheck storage)>;

  /// `verify` is called by threads of this.
  explicit AuditJobs(Verify verify) : verify_(std::move(verify)) {}
  AuditJobs(const AuditJobs&) = delete;
  AuditJobs& operator=(const AuditJobs&) = delete;
  /// Cancels what runs, and waits for it.
  ~AuditJobs();

  struct StartedVerification {
    Verification verification;
    bool fresh = false;  ///< false: it runs already, and none was started
  };
  /// Throws  HttpProblem (503) once the daemon ends, and where there can be no thread; EntropyUnavailable.
  [[nodiscard]] StartedVerification start_verification(const std::string& by, engine::StorageCheck storage);
  /// How it stands; nothing where there is none of that id among the last ones.
  [[nodiscard]] std::optional<Verification> find(const std::string& id) const;
  /// Tells it to end, if it has not. Nothing likewise.
  std::optional<Verification> cancel(const std::string& id);

  /// Whoever holds it composes; nobody else does meanwhile.
  using ReaccountLock = std::unique_lock<std::mutex>;
  /// Without the lock if somebody else has it.
  [[nodiscard]] ReaccountLock try_lock_reaccount() {
    return ReaccountLock(reaccount_mutex_, std::try_to_lock);
  }
  /// Whether the daemon ends: whoever composes gives up.
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }

  /// Nothing is begun any more, and what runs is told to end. Does not wait.
  void stop() noexcept;
  /// Whether nothing runs any more, waiting for that until then.
  [[nodiscard]] bool wait_until_idle(std::chrono::steady_clock::time_point until);

 private:
  void work(engine::StorageCheck storage) noexcept;

  const Verify verify_;
  std::mutex reaccount_mutex_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> cancel_requested_ = false;  // of the verification that runs
  mutable std::mutex mutex_;                    // guards what follows
  std::condition_variable ended_;
  std::deque<Verification> recent_;  // the newest at the end, which alone may run
  std::thread thread_;
};

}  // namespace epsilog::serve
