// What of a ledger decides who somebody is and what they may see: the active policy and the credentials, as
// they stand now.
//
// Read again whenever one of them changed, by whichever process: what is revoked stops with the next request,
// and with the next look of whoever waits.
// Thread-safety: may be used from several threads; views are immutable.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "refusal_count.hpp"

namespace epsilog::serve {

struct View {
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
struct Looked {
  std::shared_ptr<const View> view;
  /// Ledger time, which never runs back: what ended stays ended whatever the wall clock says.
  std::string now;
  std::int64_t decisions = 0;  ///< so many are on record
};

class LedgerView final {
 public:
  /// Throws  as ledger::Ledger::open_read_only().
  explicit LedgerView(const std::string& ledger_path);

  /// By one look, with which `refusals` catches up.
  /// Throws  LedgerBusy, LedgerIo, LedgerCorrupt.
  [[nodiscard]] Looked current(RefusalCount& refusals);
  /// What is on record now, for who reads rows themselves. Throws  likewise.
  [[nodiscard]] ledger::Snapshot snapshot() { return reader_.snapshot(); }
  /// How many decisions there are. Throws  likewise.
  [[nodiscard]] std::int64_t decisions();

  /// Returns once `changed` is true, at `until`, or when stop() was called. What this process recorded is
  /// seen at once (recorded()), what others did within 100 ms. Throws  what `changed` throws.
  void wait(const std::function<bool()>& changed, std::chrono::steady_clock::time_point until);
  /// Something may have been recorded.
  void recorded() noexcept;
  /// No wait lasts any longer.
  void stop() noexcept;

 private:
  ledger::Ledger reader_;
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<const View> view_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0;
  bool stopped_ = false;
};

}  // namespace epsilog::serve
