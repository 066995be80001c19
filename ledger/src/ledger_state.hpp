// What a Ledger and everything made from it share.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "ledger_files.hpp"
#include "schema_comparison.hpp"
#include "turnstile.hpp"

namespace epsilog::ledger {

class LedgerState final {
 public:
  enum class Access { read_only, read_write, migration };

  LedgerState(const std::string& path, Access access, const Options& options);
  ~LedgerState();
  LedgerState(const LedgerState&) = delete;
  LedgerState& operator=(const LedgerState&) = delete;

  [[nodiscard]] const LedgerFiles& files() const noexcept { return files_; }
  [[nodiscard]] const std::string& ledger_id() const noexcept { return ledger_id_; }
  [[nodiscard]] const Clock& clock() const noexcept { return options_.clock; }
  /// Requires  the turn is held.
  [[nodiscard]] Connection& writer() noexcept { return *writer_; }

  /// Requires  the turn is held.
  [[nodiscard]] SchemaWatch& schema_watch() noexcept { return schema_watch_; }

  /// A connection inherited through fork would share locks and memory images with the parent's.
  /// Throws  InvalidParameter in a forked child.
  void require_own_process() const;
  [[nodiscard]] bool own_process() const noexcept;
  [[nodiscard]] std::optional<std::string> poisoned() const;

  /// Waits for the turn to write.
  /// Throws  InvalidParameter (read-only, fork), LedgerBusy, LedgerIo (poisoned), LedgerUnusable (the
  ///         file was replaced).
  [[nodiscard]] Descriptor take_turn();
  void end_turn(Descriptor lock) noexcept;

  /// Ends the open SQLite transaction after `failure`, poisons if the outcome is unknown, and throws
  /// what the caller reports.
  /// Requires  the turn is held, an exception handler is active.
  [[noreturn]] void fail(const StorageFailure& failure, const std::string& doing);
  /// Ends the open SQLite transaction, if it is still there. True if nothing is left of it.
  bool roll_back() noexcept;
  /// Copies the WAL into the database when it has grown, under the turn.
  void checkpoint_if_due() noexcept;

  [[nodiscard]] std::unique_ptr<Connection> take_reader();
  void give_back_reader(std::unique_ptr<Connection> reader) noexcept;

 private:
  void require_usable_for_writing() const;
  void poison(const std::string& reason) noexcept;
  void checkpoint(int mode) noexcept;
  void leave_main_file_complete() noexcept;
  [[nodiscard]] std::unique_ptr<Connection> open_reader() const;

  const LedgerFiles files_;
  const FileIdentity identity_;
  const pid_t process_;
  const Options options_;
  std::string ledger_id_;
  ThreadTurns turns_;
  std::unique_ptr<Connection> writer_;  // null: read-only
  SchemaWatch schema_watch_;            // of what writer_ has open
  int wal_frames_ = 0;                  // of the WAL after our last commit
  mutable std::mutex mutex_;            // guards what follows
  std::vector<std::unique_ptr<Connection>> idle_readers_;
  std::string poisoned_here_;  // why this process gave up; "" = it did not
};

}  // namespace epsilog::ledger
