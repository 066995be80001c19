#include "ledger_state.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/wait_stopped.hpp"
#include "file_system.hpp"
#include "file_verdict.hpp"
#include "known_features.hpp"
#include "leftover_log.hpp"
#include "lock_holder.hpp"
#include "log_durability.hpp"
#include "poison.hpp"
#include "queries.hpp"

namespace epsilog::ledger {
namespace {

constexpr int kCheckpointFrames = 1'000;        // 4 MiB of WAL; SQLite's own default
constexpr std::size_t kIdleReaders = 64;        // to open one costs more than most of what is read
constexpr std::int64_t kFrameHeaderBytes = 24;  // and a page: sqlite.org/fileformat2.html#walformat

/// Of the time for which the gate may be closed; the rest is for what those that leave kept from being moved.
constexpr std::chrono::milliseconds kForReadersToLeave(16);
/// A reader that stays costs writers one part in so many of their time, once a few attempts have shown that
/// it does: after each that fails the pause is twice as long, in units of what the attempt took.
constexpr int kLongestRestartPause = 32;

/// Whether it may be a file that failed, and not a statement.
bool of_file(const StorageFailure& failure) {
  switch (failure.code() & 0xff) {
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_NOMEM:
    case SQLITE_FULL:
      return true;
    default:
      return false;
  }
}

}  // namespace

LedgerState::LedgerState(const std::string& path, Access access, const Options& options)
    : files_(locate(path)),
      identity_(require_single_regular_file(files_)),
      gate_(ReadingGate::gate_of(identity_)),
      registered_(files_),
      process_(::getpid()),
      options_(options),
      access_(access),
      process_lock_(files_) {
  require_no_mount_point(files_);
  require_no_network(files_, options_);
  mend_modes_beside(files_);
  if (access == Access::read_write || access == Access::recovery) open_writer();
  try {
    std::unique_ptr<Connection> reader = writer_ == nullptr ? take_reader() : nullptr;
    Connection& first = reader != nullptr ? *reader : *writer_;
    require_known_features(first, files_.database);
    ledger_id_ = read_ledger_id(first);
    if (reader != nullptr) give_back_reader(std::move(reader));
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "ledger " + files_.database);
  }
}

LedgerState::~LedgerState() {
  if (own_process()) {
    checkpoint_before_closing();
    writer_.reset();
    idle_readers_.clear();
    tidy_copy(files_);
    return;
  }
  // In a forked child even closing would touch the parent's locks: the connections are abandoned.
  static_cast<void>(writer_.release());
  for (auto& reader : idle_readers_) static_cast<void>(reader.release());
}

void LedgerState::require_not_over() const {
  if (!over_) return;
  throw FilesReplaced(
      "ledger " + files_.database +
      ": its files were moved, removed or replaced while it was open. What this process recorded last "
      "may be in no ledger, and no value of it was told. Open the ledger again, then ask again with "
      "the same key");
}

void LedgerState::require_in_place(const Connection* open) {
  require_not_over();
  const bool same = open != nullptr ? open->is_in_place() : identity_of_name(files_.database) == identity_;
  if (same) return;
  over_ = true;
  const std::vector<std::unique_ptr<Connection>> idle = [this] {
    const std::lock_guard guard(mutex_);
    return std::move(idle_readers_);
  }();
  require_not_over();
}

void LedgerState::require_recorded_in_place() {
  try {
    require_in_place(writer_.get());
  } catch (const FilesReplaced&) {
    throw;
  } catch (const Error&) {  // it cannot be told, and COMMIT returned
    over_ = true;
    require_not_over();
  }
}

/// A short process reads, then writes once: to open another connection for that would take it as long as the
/// reading.
void LedgerState::open_writer() {
  require_ours_to_write();
  std::unique_ptr<Connection> writer = take_candidate();
  if (writer != nullptr) {
    writer->become_writer(files_);
  } else {
    writer = std::make_unique<Connection>(files_, Connection::Role::writer);
  }
  sqlite3_wal_hook(
      writer->handle(),
      [](void* frames, sqlite3*, const char*, int count) {
        *static_cast<int*>(frames) = count;
        return SQLITE_OK;
      },
      &wal_frames_);
  Query page_size = writer->query("PRAGMA page_size");
  EPSILOG_INVARIANT(page_size.step());
  frame_bytes_ = page_size.integer(0) + kFrameHeaderBytes;
  writer_ = std::move(writer);
}

void LedgerState::require_ours_to_write() const {
  require_owned(files_);
  if (!tighten_mode(files_)) return;
  warn("its group could write to it and now cannot: only the owner writes to a ledger, a group may read it");
}

bool LedgerState::own_process() const noexcept {
  return ::getpid() == process_;
}

void LedgerState::require_own_process() const {
  if (!own_process()) {
    throw InvalidParameter("ledger: opened before fork() and used after it; open it again in the child");
  }
}

std::optional<std::string> LedgerState::poison_reason() const {
  return poison_reason([this] { return read_commit_mark(files_); });
}

std::optional<std::string> LedgerState::poison_reason(accounting::CallbackRef<CommitMark()> mark_left) const {
  {
    const std::lock_guard guard(mutex_);
    if (!poisoned_here_.empty()) return poisoned_here_;
  }
  const auto marker = read_poison(files_, mark_left);
  if (!marker) return std::nullopt;
  return marker->reason;
}

void LedgerState::require_usable_for_writing() {
  if (const auto reason = poison_reason([this] { return read_commit_mark(writer_lock_file_); })) {
    throw LedgerIo("ledger " + files_.database + " is poisoned: " + *reason +
                   ". What is on disk is unknown; reboot, then run `epsilog recover`");
  }
  require_in_place(writer_.get());
  static_cast<void>(require_single_regular_file(files_));
}

void LedgerState::require_writer() {
  require_own_process();
  if (access_ == Access::read_only)
    throw InvalidParameter("ledger: opened read-only, it cannot be written to");
  const std::lock_guard guard(opening_);
  if (writer_ != nullptr) return;
  require_in_place(nullptr);
  open_writer();
}

/// SQLite keeps what a file answered, and may have opened it for reading only.
void LedgerState::renew_writer_that_failed() {
  const std::lock_guard guard(opening_);
  if (writer_ != nullptr && !writer_failed_) return;
  writer_.reset();
  tip_cache_.forget();
  schema_watch_ = {};
  wal_frames_ = moved_frames_ = 0;
  open_writer();
  writer_failed_ = false;
}

/// What has to hold before anything is written.
void LedgerState::prepare_to_write() {
  writer_lock_file_ = process_lock_.file();
  try {
    if (access_ == Access::recovery) {
      copy_poison_to_marker(files_, writer_lock_file_);  // what follows writes to the lock file
      require_in_place(writer_.get());
      static_cast<void>(require_single_regular_file(files_));
    } else {
      require_usable_for_writing();
    }
    share_log_as_database(files_);
    renew_writer_that_failed();
    finish_interrupted_commit();
  } catch (...) {
    process_lock_.give_back();
    throw;
  }
}

void LedgerState::leave_thread_queue() noexcept {
  writer_lock_file_ = -1;
  thread_queue_.give_back();
}

void LedgerState::require_wait_wanted() const {
  if (options_.stop.stop_requested()) throw WaitStopped::of_ledger(files_.database);
}

void LedgerState::take_writer_lock() {
  require_writer();
  const Deadline deadline = deadline_after(options_.wait);
  if (!thread_queue_.take(deadline, options_.stop)) {
    require_wait_wanted();
    throw LedgerBusy("ledger " + files_.database +
                     " is in use by another thread; retry, or wait longer (--wait)");
  }
  try {
    process_lock_.take(deadline, options_.report_wait, options_.stop);
    prepare_to_write();
  } catch (...) {
    leave_thread_queue();
    throw;
  }
}

bool LedgerState::take_writer_lock_within(std::chrono::milliseconds wait) {
  require_writer();
  const Deadline deadline = deadline_after(wait);
  if (!thread_queue_.take(deadline, options_.stop)) {
    require_wait_wanted();
    return false;
  }
  try {
    const bool taken = process_lock_.take_until(deadline, options_.stop);
    if (taken) {
      prepare_to_write();
    } else {
      require_wait_wanted();
      leave_thread_queue();
    }
    return taken;
  } catch (...) {
    leave_thread_queue();
    throw;
  }
}

void LedgerState::finish_interrupted_commit() {
  // Of another boot or not: settling what is durable already does no harm.
  if (read_commit_mark(writer_lock_file_).state == CommitMark::State::settled) return;
  require_known_end();  // settling would cut off the evidence
  make_all_durable();
}

void LedgerState::require_known_end() const {
  try {
    require_known_features(*writer_, files_.database);
    require_lines(*writer_, read_end_mark(writer_lock_file_));
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "ledger " + files_.database);
  }
}

EndMarkReading LedgerState::end_mark_reading() const {
  return options_.accept_missing_lines ? EndMarkReading{} : read_end_mark(files_);
}

void LedgerState::require_lines(Connection& reader, const EndMarkReading& remembered) const {
  if (!options_.accept_missing_lines) require_marked_lines(reader, remembered, files_);
}

void LedgerState::require_marked_end(const LedgerTip& tip) {
  const EndMarkReading remembered = read_end_mark(writer_lock_file_);
  const EndMark now = end_mark_of(tip);
  if (remembered.end == now) return;
  require_lines(*writer_, remembered);
  if (options_.accept_missing_lines) return;  // the mark stays until the recovery is on record
  if (remembered.state == EndMarkState::none) {
    warn("nothing remembers how many lines it should have: it is a copy, or " + files_.lock() +
         " was deleted. From now on that file remembers " + std::to_string(now.lines));
  } else if (remembered.state == EndMarkState::unreadable) {
    warn(files_.lock() + " is damaged and does not say how many lines the ledger should have. From now on it "
         "remembers " + std::to_string(now.lines));
  }
  update_end_mark(now);
}

void LedgerState::update_end_mark(const EndMark& end) noexcept {
  try {
    const int error = write_end_mark(writer_lock_file_, end);
    if (error != 0) {
      warn(system_message("cannot write to " + files_.lock() + " how many lines the ledger has", error) +
           "; everything that was recorded is durable, and the next writer tries again");
    }
  } catch (const std::exception&) {
    return;
  }
}

void LedgerState::make_all_durable() {
  try {
    make_log_durable(*writer_, files_);
    clear_commit_mark();
  } catch (const StorageFailure& failure) {
    fail(failure, "settling what an interrupted commit left");
  }
}

void LedgerState::set_commit_mark(std::int64_t first) {
  const int error = write_commit_mark(
      writer_lock_file_,
      {.state = CommitMark::State::committing, .boot_id = current_boot_id(), .first = first});
  if (error != 0) {
    throw_refused("ledger " + files_.database + ": writing " + files_.lock(), error, "; nothing was done");
  }
  marked_ = true;
  if (options_.before_commit) options_.before_commit();
}

void LedgerState::clear_commit_mark() noexcept {
  marked_ = false;
  try {
    // If it cannot be written, the next turn settles once more what is settled.
    static_cast<void>(write_commit_mark(writer_lock_file_, {.boot_id = current_boot_id()}));
  } catch (const std::exception&) {
    return;
  }
}

std::int64_t LedgerState::durable_below(std::int64_t seq) {
  constexpr std::chrono::milliseconds kLongestPause(20);
  const Deadline deadline = deadline_after(options_.wait);
  const Deadline until_said = deadline_after(kReportHolderAfter);
  std::chrono::milliseconds pause(1);
  bool said = false;
  bool tried = false;  // and done, yet the mark is still there: it cannot be written
  for (;;) {
    // After an I/O error nothing is known of what the disk holds.
    if (poison_reason()) return 0;
    // The mark is read after the snapshot was taken: who wrote what is seen there had set it before, and
    // whoever took it out since had made that durable.
    const std::int64_t doubtful = read_commit_mark(files_).first_doubtful_seq(current_boot_id());
    if (seq < doubtful) return doubtful;
    const FinishAttempt settling = tried ? FinishAttempt::impossible : try_to_finish_commit();
    tried = settling == FinishAttempt::done;
    if (tried) continue;
    const Deadline now = std::chrono::steady_clock::now();
    if (settling == FinishAttempt::impossible || now >= deadline) return doubtful;
    if (!said && now >= until_said) {
      report_lock_holder(files_, options_.report_wait);
      said = true;
    }
    require_wait_wanted();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

LedgerState::FinishAttempt LedgerState::try_to_finish_commit() noexcept {
  try {
    const LockAttempt attempt = try_process_lock(files_);
    if (attempt.taken) return FinishAttempt::taken;
    if (!attempt.writable || !owned(files_)) return FinishAttempt::impossible;
    // Its own state and connection: those of this ledger may be another thread's.
    LedgerState writer(files_.database, Access::read_write, options_);
    writer.writer_lock_file_ = attempt.lock->descriptor().get();
    const bool usable = !writer.poison_reason();
    if (usable) writer.finish_interrupted_commit();
    writer.writer_lock_file_ = -1;
    return usable ? FinishAttempt::done : FinishAttempt::impossible;
  } catch (const std::exception&) {
    return FinishAttempt::impossible;
  }
}

void LedgerState::give_back_writer_lock() noexcept {
  if (!own_process()) return;
  marked_ = false;
  process_lock_.give_back();
  leave_thread_queue();
}

bool LedgerState::roll_back() noexcept {
  // SQLite may have ended the transaction itself; then nothing more may be issued for it.
  if (!writer_->in_transaction()) return true;
  writer_->shared_rows().forget();  // rows that are taken back
  sqlite3_exec(writer_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (!writer_->in_transaction()) return true;
  poison(std::string("a transaction could not be rolled back: ") + sqlite3_errmsg(writer_->handle()));
  return false;
}

void LedgerState::fail(const StorageFailure& failure, const std::string& doing, Written written) {
  const std::string message = "ledger " + files_.database + ": " + doing + ": " + failure.what();
  const bool in_commit = std::exchange(marked_, false);
  writer_->shared_rows().forget();
  writer_failed_ = writer_failed_ || of_file(failure);
  const int primary = failure.code() & 0xff;
  const bool damaged_page = primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
  const bool known = written == Written::nothing && damaged_page;
  if (kind_of(failure) == FailureKind::storage && !known) {
    poison(doing + ": " + failure.what() + " (SQLite " + std::to_string(failure.code()) + ")");
    roll_back();
    std::throw_with_nested(LedgerIo(message +
                                    ". The outcome is unknown, nothing is acknowledged and the ledger is "
                                    "poisoned; reboot, then run `epsilog recover`"));
  }
  roll_back();
  if (in_commit) discard_failed_commit();
  throw_translated(failure, "ledger " + files_.database + ": " + doing);
}

/// What was rolled back may lie in the log nevertheless, every byte of it. If it cannot be cut off now, the
/// mark stays and the next turn does it.
void LedgerState::discard_failed_commit() noexcept {
  try {
    make_all_durable();
  } catch (const std::exception&) {
    return;
  }
}

void LedgerState::poison(const std::string& reason) noexcept {
  if (!write_poison(files_, reason) && writer_lock_file_ >= 0) write_poison(writer_lock_file_, reason);
  const std::lock_guard guard(mutex_);
  if (poisoned_here_.empty()) poisoned_here_ = reason;
}

void LedgerState::warn(const std::string& message) const noexcept {
  try {
    if (options_.warn) options_.warn("ledger " + files_.database + ": " + message);
  } catch (const std::exception&) {
    return;
  }
}

/// One that fails loses nothing: what it moves is durable in the log, stays there, and is moved again as a
/// whole by a later one.
bool LedgerState::checkpoint(int mode) noexcept {
  const int rc = sqlite3_wal_checkpoint_v2(writer_->handle(), "main", mode, nullptr, nullptr);
  if (rc == SQLITE_OK) return true;
  const StorageFailure failure = writer_->last_failure();
  const std::string reason =
      std::string("checkpoint: ") + failure.what() + " (SQLite " + std::to_string(failure.code()) + ")";
  writer_failed_ = writer_failed_ || of_file(failure);
  const int primary = failure.code() & 0xff;
  const bool damaged = (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) && failure.system_error() == 0;
  if (damaged) {
    poison(reason);
  } else if (of_file(failure)) {
    warn(reason + "; everything that was recorded is durable in " + files_.wal() + " and stays there");
  }
  return false;
}

void LedgerState::checkpoint_if_due() noexcept {
  if (wal_frames_ < moved_frames_) moved_frames_ = 0;  // it began anew
  if (log_is_long() && std::chrono::steady_clock::now() >= next_restart_) {
    restart_log();
  } else if (wal_frames_ - moved_frames_ >= kCheckpointFrames) {
    if (checkpoint(SQLITE_CHECKPOINT_PASSIVE)) moved_frames_ = wal_frames_;
  }
}

bool LedgerState::log_is_long() const noexcept {
  return wal_frames_ * frame_bytes_ >= options_.log_limit;
}

/// What can be moved is moved before the gate is closed: syncing the database takes its time. Who writes next
/// then writes to the beginning of the log.
void LedgerState::restart_log() noexcept {
  if (!checkpoint(SQLITE_CHECKPOINT_PASSIVE)) return;
  moved_frames_ = wal_frames_;
  const auto begun = std::chrono::steady_clock::now();
  bool begins_anew = false;
  {
    ReadingGate::ClosedScope gate(gate_);
    gate.await_readers(kForReadersToLeave);
    // Some readers of this process may stay, and be in nobody's way: they began when all was moved. Of other
    // processes nothing is known here.
    writer_->set_busy_timeout(gate.left());
    begins_anew = checkpoint(SQLITE_CHECKPOINT_RESTART);
    writer_->set_busy_timeout(Connection::kBusyTimeout);
  }
  const auto ended = std::chrono::steady_clock::now();
  next_restart_ = begins_anew ? ended : ended + restart_pause_ * (ended - begun);
  restart_pause_ = begins_anew ? 1 : std::min(restart_pause_ * 2, kLongestRestartPause);
}

/// Whoever copies an idle ledger should not lose what still lies in its WAL, and a read-only medium
/// cannot replay one. Courtesy only: if somebody else is at work, they will do it.
void LedgerState::checkpoint_before_closing() noexcept {
  if (writer_ == nullptr || over_) return;
  try {
    if (size_of(files_.wal()) == 0) return;
    if (!process_lock_.take_until(std::chrono::steady_clock::now())) return;
    writer_lock_file_ = process_lock_.file();
    require_usable_for_writing();
    require_known_end();
    finish_interrupted_commit();
    writer_->set_busy_timeout(std::chrono::milliseconds(0));
    checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  } catch (const std::exception&) {
  }
  writer_lock_file_ = -1;
  process_lock_.give_back();
}

TreeHead LedgerState::tree(Connection& reader, std::int64_t size) {
  RecordLog known;
  {
    const std::lock_guard guard(mutex_);
    known = tree_;
  }
  static_cast<void>(known.follow(reader, size));
  const TreeHead head = known.head();
  const std::lock_guard guard(mutex_);
  if (size >= tree_.size()) tree_ = std::move(known);
  return head;
}

std::unique_ptr<Connection> LedgerState::take_reader() {
  require_own_process();
  std::unique_ptr<Connection> reader;
  {
    const std::lock_guard guard(mutex_);
    if (!idle_readers_.empty()) {
      reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
    }
  }
  require_in_place(reader.get());
  if (reader == nullptr) reader = open_reader();
  return reader;
}

void LedgerState::give_back_reader(std::unique_ptr<Connection> reader) noexcept {
  if (!own_process()) {
    static_cast<void>(reader.release());
    return;
  }
  const bool immutable =
      sqlite3_uri_boolean(sqlite3_db_filename(reader->handle(), "main"), "immutable", 0) != 0;
  const std::lock_guard guard(mutex_);
  // An immutable connection caches for ever what it once read; the next snapshot looks again.
  if (!immutable && !over_ && idle_readers_.size() < kIdleReaders) idle_readers_.push_back(std::move(reader));
}

std::unique_ptr<Connection> LedgerState::take_candidate() {
  const std::lock_guard guard(mutex_);
  const auto found = std::find_if(idle_readers_.begin(), idle_readers_.end(),
                                  [](const auto& reader) { return reader->can_become_writer(); });
  if (found == idle_readers_.end()) return nullptr;
  std::unique_ptr<Connection> candidate = std::move(*found);
  idle_readers_.erase(found);
  return candidate;
}

std::unique_ptr<Connection> LedgerState::open_reader() {
  const int refused = ::access(files_.directory.c_str(), W_OK) == 0 ? 0 : errno;
  if (refused != 0 && file_verdict(FileCall::open, FileRole::beside, refused) == FileVerdict::transient)
    throw_refused("cannot examine " + files_.directory, refused);
  const bool may_make_files = refused == 0;
  if (may_make_files && owned(files_)) {
    const bool candidate = access_ == Access::on_demand;
    return std::make_unique<Connection>(files_,
                                        candidate ? Connection::Role::candidate : Connection::Role::reader);
  }
  // SQLite needs L-wal and L-shm to read beside a writer. It must not make them here: either it cannot, or
  // they would be another's than the ledger and keep its owner out.
  const bool wal_empty = size_of(files_.wal()) == 0;
  const bool both_there = exists(files_.wal()) && exists(files_.shm());
  if (wal_empty && (!exists(files_.shm()) || (may_make_files && !both_there))) {
    return std::make_unique<Connection>(files_, Connection::Role::immutable);
  }
  try {
    if (may_make_files && !both_there) throw LedgerUnusable("they would have to be made");
    return std::make_unique<Connection>(files_, Connection::Role::reader);
  } catch (const LedgerBusy&) {
    if (both_there) throw;  // it passes
    return open_without_log();
  } catch (const Error&) {
    return open_without_log();
  }
}

/// Within a handler of what kept a reader from opening the log.
std::unique_ptr<Connection> LedgerState::open_without_log() const {
  if (size_of(files_.wal()) == 0) return std::make_unique<Connection>(files_, Connection::Role::immutable);
  std::throw_with_nested(LedgerUnusable(
      "ledger " + files_.database +
      " is another's, or lies in a directory you cannot write to, and has a write-ahead log (" +
      files_.wal() + ") that cannot be read there. Read it as its owner; the log is empty after " +
      "the owner's last writing command ended in order"));
}

}  // namespace epsilog::ledger
