// A ledger that is written anew beside itself, and put in its own place as one transaction of its log.
#pragma once

#include <cstdint>
#include <string>

#include "ledger_files.hpp"
#include "ledger_state.hpp"

namespace epsilog::ledger {

/// A file beside the ledger that only who has the turn makes, and that is gone when this is; what one that
/// crashed left is removed.
class Workspace final {
 public:
  Workspace(const LedgerFiles& ledger, const std::string& suffix);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { remove(); }
  [[nodiscard]] const LedgerFiles& files() const noexcept { return files_; }

 private:
  void remove() const noexcept;
  LedgerFiles files_;
};

/// Ends the turn and whatever is not committed.
class WriterLockGuard final {
 public:
  explicit WriterLockGuard(LedgerState& ledger) : ledger_(&ledger) { ledger.take_writer_lock(); }
  WriterLockGuard(const WriterLockGuard&) = delete;
  WriterLockGuard& operator=(const WriterLockGuard&) = delete;
  ~WriterLockGuard() {
    ledger_->roll_back();
    ledger_->give_back_writer_lock();
  }

 private:
  LedgerState* ledger_;
};

/// All pages of the file that was made, as one transaction of the ledger's own log. `decisions`: how many the
/// two have in common, or that nobody was told of.
/// Requires  the turn is held.
/// Throws    StorageFailure, LedgerBusy.
void replace_pages(LedgerState& ledger, const LedgerFiles& made, std::int64_t decisions);

}  // namespace epsilog::ledger
