// What a Ledger and everything made from it share.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit_mark.hpp"
#include "connection.hpp"
#include "end_mark.hpp"
#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/ledger_options.hpp"
#include "ledger_files.hpp"
#include "ledger_registration.hpp"
#include "ledger_tip.hpp"
#include "reading_gate.hpp"
#include "record_log.hpp"
#include "replication.hpp"
#include "schema_comparison.hpp"
#include "writer_lock.hpp"

namespace epsilog::ledger {

class LedgerState final {
 public:
  enum class Access {
    read_only,
    on_demand,
    read_write,
    recovery,  ///< writes, poisoned or not: whoever opens it so has looked whether it may be
  };

  LedgerState(const std::string& path, Access access, const Options& options);
  ~LedgerState();
  LedgerState(const LedgerState&) = delete;
  LedgerState& operator=(const LedgerState&) = delete;

  [[nodiscard]] const LedgerFiles& files() const noexcept { return files_; }
  [[nodiscard]] const std::string& ledger_id() const noexcept { return ledger_id_; }
  [[nodiscard]] const Clock& clock() const noexcept { return options_.clock; }
  /// Requires  the turn is held.
  [[nodiscard]] Connection& writer() noexcept { return *writer_; }

  /// Where every reader of the file passes by.
  [[nodiscard]] ReadingGate& gate() const noexcept { return gate_; }

  /// Requires  the turn is held.
  [[nodiscard]] SchemaWatch& schema_watch() noexcept { return schema_watch_; }

  /// Of the writer's connection.
  /// Requires  the turn is held.
  [[nodiscard]] LedgerTipCache& tip_cache() noexcept { return tip_cache_; }

  /// Requires  the turn is held.
  [[nodiscard]] Replication& replication() noexcept { return replication_; }
  /// L.lock.
  /// Requires  the turn is held.
  [[nodiscard]] int writer_lock_file() const noexcept { return writer_lock_file_; }
  /// The replica that a policy version names; none if nobody knows.
  [[nodiscard]] std::optional<Replica> replica_of_policy(const PolicyVersion& version) const;
  /// The same of the active one, by its number.
  /// Requires  the turn is held, a transaction.
  /// Throws    LedgerCorrupt if it cannot be read.
  [[nodiscard]] const std::optional<Replica>& active_replica(std::int64_t version);

  /// Of the lines that a snapshot shows, how many are known to be in the replica; all if there is none. If
  /// `index` is not among them, tries to see to it: as a writer would if nobody has the turn, else by waiting
  /// for whoever has, at most Options::wait.
  [[nodiscard]] std::int64_t replicated_lines(std::int64_t index, std::int64_t replica_size) const;

  /// A connection inherited through fork would share locks and memory images with the parent's.
  /// Throws  InvalidParameter in a forked child.
  void require_own_process() const;
  [[nodiscard]] bool own_process() const noexcept;
  [[nodiscard]] std::optional<std::string> poison_reason() const;

  /// Waits for the turn to write.
  /// Throws  InvalidParameter (read-only, fork), LedgerBusy, WaitStopped, LedgerIo (poisoned), LedgerUnusable,
  ///         FilesReplaced.
  void take_writer_lock();
  /// The same, waiting no longer than that: false if it is not to be had in that time. 0: if somebody has it
  /// or waits for it.
  [[nodiscard]] bool take_writer_lock_within(std::chrono::milliseconds wait);
  void give_back_writer_lock() noexcept;

  /// COMMIT is next: decisions from `first` on are not known to be durable, until clear_commit_mark() or, if this
  /// process does not get that far, the next turn.
  /// Requires  the turn is held; `first` is the number after the last decision of before the transaction.
  /// Throws    LedgerBusy: nothing may be committed then.
  void set_commit_mark(std::int64_t first);
  /// COMMIT returned. Nothing may be said to be recorded if it went into files that lost their names.
  /// Requires  the turn is held.
  /// Throws    FilesReplaced: this ledger is over, and the mark of the COMMIT stays.
  void require_recorded_in_place();
  /// COMMIT returned, and with it the sync of the log.
  void clear_commit_mark() noexcept;
  /// Compares the ledger with what L.lock remembers of its end, and brings the mark up to date where it is
  /// behind, unreadable or not there. `tip` is what this transaction found.
  /// Requires  the turn is held, a transaction that has written nothing yet.
  /// Throws    LinesMissing, LedgerBusy (L.lock cannot be read), StorageFailure, LedgerCorrupt.
  void require_marked_end(const LedgerTip& tip);
  /// Writes the end of the ledger into L.lock, after COMMIT returned. If that fails, it warns and the next
  /// turn does it.
  /// Requires  the turn is held.
  void update_end_mark(const EndMark& end) noexcept;
  /// What L.lock remembers, for a reader: before its snapshot begins.
  /// Throws  LedgerBusy.
  [[nodiscard]] EndMarkReading end_mark_reading() const;
  /// Throws  LinesMissing unless `reader` sees every line that was remembered before its snapshot began, or
  ///         that is accepted (Options::accept_missing_lines).
  void require_lines(Connection& reader, const EndMarkReading& remembered) const;

  /// Makes durable what can be read, whether or not somebody left a mark.
  /// Requires  the turn is held.
  /// Throws    LedgerBusy, LedgerIo (poisoned, or now is), LedgerCorrupt.
  void make_all_durable();

  /// Decisions below the result are durable. If `seq` is not among them, tries to make it so: as a writer
  /// would, if nobody holds the turn, else by waiting for whoever does, at most Options::wait.
  [[nodiscard]] std::int64_t durable_below(std::int64_t seq);

  /// What a transaction had written when it failed.
  enum class Written { nothing, perhaps };

  /// Ends the open SQLite transaction after `failure`, poisons if the outcome is unknown, and throws
  /// what the caller reports. A damaged page is no such outcome where nothing was written.
  /// Requires  the turn is held, an exception handler is active.
  [[noreturn]] void fail(const StorageFailure& failure, const std::string& doing,
                         Written written = Written::perhaps);
  /// Ends the open SQLite transaction, if it is still there. True if nothing is left of it.
  bool roll_back() noexcept;
  /// After a COMMIT: copies the WAL into the database when it has grown, and has it begin anew where it has
  /// grown beyond Options::log_limit (reading_gate.hpp).
  /// Requires  the turn is held.
  void checkpoint_if_due() noexcept;

  /// Tells Options::warn.
  void warn(const std::string& message) const noexcept;

  /// The tree of the first `size` lines, which a reader asks for. What was read of it before is gone on from,
  /// where the line that was its last still stands.
  /// Throws  StorageFailure, LedgerCorrupt.
  [[nodiscard]] TreeHead tree(Connection& reader, std::int64_t size);

  [[nodiscard]] std::unique_ptr<Connection> take_reader();
  void give_back_reader(std::unique_ptr<Connection> reader) noexcept;

 private:
  void require_writer();
  void renew_writer_that_failed();
  void prepare_to_write();
  void leave_thread_queue() noexcept;
  /// Called where a wait goes on.
  /// Throws  WaitStopped if Options::stop is requested.
  void require_wait_wanted() const;
  /// Throws  FilesReplaced unless the names lead to what `open` has open, if given; this ledger is over then.
  void require_in_place(const Connection* open);
  void require_not_over() const;
  void require_ours_to_write() const;
  void open_writer();
  [[nodiscard]] std::unique_ptr<Connection> take_candidate();
  [[nodiscard]] std::optional<std::string> poison_reason(
      accounting::CallbackRef<CommitMark()> mark_left) const;
  void require_usable_for_writing();
  void finish_interrupted_commit();
  /// Throws  NeedsFeature, LinesMissing.
  void require_known_end() const;
  enum class FinishAttempt { done, taken, impossible };
  [[nodiscard]] FinishAttempt try_to_finish_commit() noexcept;
  [[nodiscard]] bool is_writer_lock_taken() const noexcept;
  void try_to_replicate() const noexcept;
  void discard_failed_commit() noexcept;
  void poison(const std::string& reason) noexcept;
  /// Whether it did all that it was to do.
  bool checkpoint(int mode) noexcept;
  [[nodiscard]] bool log_is_long() const noexcept;
  void restart_log() noexcept;
  void checkpoint_before_closing() noexcept;
  [[nodiscard]] std::unique_ptr<Connection> open_reader();
  [[nodiscard]] std::unique_ptr<Connection> open_without_log() const;

  const LedgerFiles files_;
  const FileIdentity identity_;
  ReadingGate& gate_;
  const LedgerRegistration registered_;  // also while no connection is open
  const pid_t process_;
  const Options options_;
  const Access access_;
  std::string ledger_id_;
  ThreadQueue thread_queue_;
  ProcessLock process_lock_;            // of whoever has the turn of the threads
  std::mutex opening_;                  // guards that writer_ is made
  std::unique_ptr<Connection> writer_;  // null: read-only, or nobody has written yet
  bool writer_failed_ = false;          // a file did: the next turn opens it again
  SchemaWatch schema_watch_;            // of what writer_ has open
  LedgerTipCache tip_cache_;            // likewise
  Replication replication_{files_, ledger_id_};
  std::optional<std::pair<std::int64_t, std::optional<Replica>>> active_replica_;  // (version, its replica)
  std::int64_t frame_bytes_ = 0;                                                   // of one frame of the WAL
  int wal_frames_ = 0;    // of the WAL after our last commit
  int moved_frames_ = 0;  // of these, when they were last copied into the database
  std::chrono::steady_clock::time_point next_restart_{};  // of the log, not before
  int restart_pause_ = 1;                                 // after the next attempt, in units of what it takes
  int writer_lock_file_ = -1;                             // L.lock, while this ledger has the turn
  bool marked_ = false;                                   // a COMMIT of this turn has not returned
  std::atomic<bool> over_ = false;                        // its files were replaced
  mutable std::mutex mutex_;                              // guards what follows
  std::vector<std::unique_ptr<Connection>> idle_readers_;
  RecordLog tree_;             // of the most lines that a reader asked for
  std::string poisoned_here_;  // why this process gave up; "" = it did not
};

}  // namespace epsilog::ledger
