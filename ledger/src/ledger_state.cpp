#include "ledger_state.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "poison.hpp"
#include "queries.hpp"

namespace epsilog::ledger {
namespace {

constexpr int kCheckpointFrames = 1'000;  // 4 MiB of WAL; SQLite's own default
constexpr std::size_t kIdleReaders = 4;

Deadline deadline_after(std::chrono::milliseconds wait) {
  // A wait of "for ever" must not overflow the clock.
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + std::clamp(wait, std::chrono::milliseconds(0), kLongest);
}

}  // namespace

LedgerState::LedgerState(const std::string& path, Access access, const Options& options)
    : files_(locate(path)),
      identity_(require_single_regular_file(files_)),
      registered_(files_),
      process_(::getpid()),
      options_(options) {
  if (access != Access::read_only) {
    tighten_mode(files_);
    writer_ = std::make_unique<Connection>(
        files_, access == Access::migration ? Connection::Role::migrator : Connection::Role::writer);
    sqlite3_wal_hook(
        writer_->handle(),
        [](void* frames, sqlite3*, const char*, int count) {
          *static_cast<int*>(frames) = count;
          return SQLITE_OK;
        },
        &wal_frames_);
  }
  try {
    std::unique_ptr<Connection> reader = writer_ == nullptr ? take_reader() : nullptr;
    ledger_id_ = read_ledger_id(reader != nullptr ? *reader : *writer_);
    if (reader != nullptr) give_back_reader(std::move(reader));
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "ledger " + files_.database);
  }
}

LedgerState::~LedgerState() {
  if (own_process()) {
    leave_main_file_complete();
    return;
  }
  // In a forked child even closing would touch the parent's locks: the connections are abandoned.
  static_cast<void>(writer_.release());
  for (auto& reader : idle_readers_) static_cast<void>(reader.release());
}

bool LedgerState::own_process() const noexcept {
  return ::getpid() == process_;
}

void LedgerState::require_own_process() const {
  if (!own_process()) {
    throw InvalidParameter("ledger: opened before fork() and used after it; open it again in the child");
  }
}

std::optional<std::string> LedgerState::poisoned() const {
  {
    const std::lock_guard guard(mutex_);
    if (!poisoned_here_.empty()) return poisoned_here_;
  }
  const auto marker = read_poison(files_);
  if (!marker) return std::nullopt;
  return marker->reason;
}

void LedgerState::require_usable_for_writing() const {
  if (const auto reason = poisoned()) {
    throw LedgerIo("ledger " + files_.database + " is poisoned: " + *reason +
                   ". What is on disk is unknown; reboot, then run `epsilog recover`");
  }
  if (require_single_regular_file(files_) != identity_) {
    throw LedgerUnusable("ledger " + files_.database + " was replaced by another file while it was open");
  }
}

Descriptor LedgerState::take_turn() {
  require_own_process();
  if (writer_ == nullptr) throw InvalidParameter("ledger: opened read-only, it cannot be written to");
  const Deadline deadline = deadline_after(options_.wait);
  if (!turns_.take(deadline)) {
    throw LedgerBusy("ledger " + files_.database +
                     " is in use by another thread; retry, or wait longer (--wait)");
  }
  try {
    Descriptor lock = take_process_lock(files_, deadline);
    require_usable_for_writing();
    return lock;
  } catch (...) {
    turns_.give_back();
    throw;
  }
}

void LedgerState::end_turn(Descriptor lock) noexcept {
  { const Descriptor released = std::move(lock); }
  if (own_process()) turns_.give_back();
}

bool LedgerState::roll_back() noexcept {
  // SQLite may have ended the transaction itself; then nothing more may be issued for it.
  if (!writer_->in_transaction()) return true;
  sqlite3_exec(writer_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (!writer_->in_transaction()) return true;
  poison(std::string("a transaction could not be rolled back: ") + sqlite3_errmsg(writer_->handle()));
  return false;
}

void LedgerState::fail(const StorageFailure& failure, const std::string& doing) {
  const std::string message = "ledger " + files_.database + ": " + doing + ": " + failure.what();
  if (kind_of(failure.code()) == FailureKind::storage) {
    poison(doing + ": " + failure.what() + " (SQLite " + std::to_string(failure.code()) + ")");
    roll_back();
    std::throw_with_nested(LedgerIo(message +
                                    ". The outcome is unknown, nothing is acknowledged and the ledger is "
                                    "poisoned; reboot, then run `epsilog recover`"));
  }
  roll_back();
  throw_translated(failure, "ledger " + files_.database + ": " + doing);
}

void LedgerState::poison(const std::string& reason) noexcept {
  static_cast<void>(write_poison(files_, reason));
  const std::lock_guard guard(mutex_);
  if (poisoned_here_.empty()) poisoned_here_ = reason;
}

void LedgerState::checkpoint(int mode) noexcept {
  const int rc = sqlite3_wal_checkpoint_v2(writer_->handle(), "main", mode, nullptr, nullptr);
  if (rc == SQLITE_OK || kind_of(rc) != FailureKind::storage) return;  // a later one will do
  poison(std::string("checkpoint: ") + sqlite3_errmsg(writer_->handle()) + " (SQLite " + std::to_string(rc) +
         ")");
}

void LedgerState::checkpoint_if_due() noexcept {
  if (wal_frames_ >= kCheckpointFrames) checkpoint(SQLITE_CHECKPOINT_PASSIVE);
}

/// Whoever copies an idle ledger should not lose what still lies in its WAL, and a read-only medium
/// cannot replay one. Courtesy only: if somebody else is at work, they will do it.
void LedgerState::leave_main_file_complete() noexcept {
  if (writer_ == nullptr || size_of(files_.wal()) == 0) return;
  try {
    const Descriptor lock = take_process_lock(files_, std::chrono::steady_clock::now());
    require_usable_for_writing();
    sqlite3_busy_timeout(writer_->handle(), 0);
    checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  } catch (const Error&) {
    return;
  }
}

std::unique_ptr<Connection> LedgerState::take_reader() {
  require_own_process();
  {
    const std::lock_guard guard(mutex_);
    if (!idle_readers_.empty()) {
      auto reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
      return reader;
    }
  }
  return open_reader();
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
  if (!immutable && idle_readers_.size() < kIdleReaders) idle_readers_.push_back(std::move(reader));
}

std::unique_ptr<Connection> LedgerState::open_reader() const {
  if (require_single_regular_file(files_) != identity_) {
    throw LedgerUnusable("ledger " + files_.database + " was replaced by another file while it was open");
  }
  if (::access(files_.directory.c_str(), W_OK) == 0) {
    return std::make_unique<Connection>(files_, Connection::Role::reader);
  }
  // SQLite needs L-shm to read beside a writer and may not create it here.
  if (size_of(files_.wal()) == 0 && !exists(files_.shm())) {
    return std::make_unique<Connection>(files_, Connection::Role::immutable);
  }
  try {
    return std::make_unique<Connection>(files_, Connection::Role::reader);
  } catch (const Error&) {
    if (size_of(files_.wal()) == 0) return std::make_unique<Connection>(files_, Connection::Role::immutable);
    std::throw_with_nested(
        LedgerBusy("ledger " + files_.database +
                   " lies in a directory you cannot write to and has a write-ahead log (" + files_.wal() +
                   ") that cannot be read there. Read it as its owner; the log is empty after the owner's " +
                   "last writing command ended in order"));
  }
}

}  // namespace epsilog::ledger
