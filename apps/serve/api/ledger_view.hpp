// What of a ledger decides who somebody is and what they may see: the active policy and the credentials, as
// they stand now.
//
// Both are kept in memory, and read again when they changed, by whichever process. What is revoked is never
// let in after its revocation was acknowledged:
//
//   1. A revocation is one COMMIT, by this process or another, and acknowledged after COMMIT returned. Its
//      records are in the write-ahead log by then, and the log's index, which all processes share, says so.
//   2. Only current() lets a request in. It makes a snapshot after the request was read. A snapshot reads the
//      log's index when it begins, so it shows every COMMIT that returned before.
//   3. In that snapshot current() counts the credential events and reads the number of the active policy.
//      Events are never changed or removed: the credentials in memory are those of the snapshot if the count
//      is theirs. Otherwise they are read from the same snapshot.
//
// A request that was sent after the acknowledgement is read after it, so 2 and 3 find the revocation. Polls
// and requests that waited are decided again by current(). last_view() lets nobody in.
//
// Thread-safety: may be used from several threads; views are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "poll_watch.hpp"
#include "refusal_count.hpp"

namespace epsilog::serve {

struct AccessView {
  engine::Policy policy;
  std::int64_t policy_version = 0;
  std::string policy_sha256;
  std::string base_dir;
  std::string applied_at;
  std::string implies;  ///< canonical JSON of what the policy means
  std::int64_t credential_events = 0;
  engine::CredentialBook credentials;
};

/// What a request finds when it comes.
struct CurrentView {
  std::shared_ptr<const AccessView> view;
  /// Ledger time, which never runs back: what ended stays ended whatever the wall clock says.
  std::string now;
};

class LedgerView final {
 public:
  /// Throws  as ledger::Ledger::open_read_only().
  explicit LedgerView(const std::string& ledger_path);

  /// By one look, with which `refusals` catches up.
  /// Throws  LedgerBusy, LedgerIo, LedgerCorrupt.
  [[nodiscard]] CurrentView current(RefusalCount& refusals);
  /// What was current() last, without a look at the ledger; nullptr before. It may be out of date: to turn
  /// away by it is to say that somebody should come again, and nobody is let in by it.
  [[nodiscard]] std::shared_ptr<const AccessView> last_view() const;
  /// What is on record now, for who reads rows themselves.
  /// Throws  likewise.
  [[nodiscard]] ledger::Snapshot snapshot() { return reader_.snapshot(); }
  /// How many decisions there are.
  /// Throws  likewise.
  [[nodiscard]] std::int64_t decisions();

  /// What long polls wait by.
  [[nodiscard]] PollWatch& polls() noexcept { return polls_; }
  /// Something may have been recorded.
  void notify_recorded() noexcept { polls_.notify_recorded(); }
  /// No long poll waits any longer.
  void stop() noexcept { polls_.stop(); }

 private:
  /// What the thread of the watch has looked at.
  struct LedgerCounts {
    std::int64_t decisions = 0;
    std::int64_t policy_version = 0;
    std::int64_t credential_events = 0;
  };

  [[nodiscard]] std::shared_ptr<const AccessView> view_of(ledger::Snapshot& snapshot);
  [[nodiscard]] News read_news(bool first);

  ledger::Ledger reader_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const AccessView> view_;
  LedgerCounts last_counts_;  // used by the thread of the watch alone
  PollWatch polls_;  // last: its thread uses what is above
};

}  // namespace epsilog::serve
