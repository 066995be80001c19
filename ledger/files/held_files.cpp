#include "held_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "lock_file.hpp"

namespace epsilog::ledger {

/// What this process holds of one database file.
struct HeldLedger {
  int holders = 0;
  std::vector<std::unique_ptr<LockFile>>
      database;  // the first is locked; none is closed while there are holders
  FileIdentity identity;
  std::unique_ptr<LockFile> index;  // locked if `index_held`
  bool index_held = false;
  std::optional<FileIdentity> log_identity;
  std::optional<FileIdentity> index_identity;
};

namespace {

// sqlite.org, os_unix.c: SHARED_FIRST and SHARED_SIZE; UNIX_SHM_DMS of the index.
constexpr off_t kSharedFirst = 0x40000002;
constexpr off_t kSharedSize = 510;
constexpr off_t kIndexInUse = 128;

/// Closing a ledger takes SQLite a checkpoint at most.
constexpr std::chrono::milliseconds kWaitForClosing{1'000};
constexpr std::chrono::milliseconds kLongestPause{20};

using FileKey = std::tuple<dev_t, ino_t>;

struct HeldLedgers {
  explicit HeldLedgers(pid_t own) : process(own) {}
  const pid_t process;
  std::mutex mutex;
  std::map<FileKey, HeldLedger> known;
};

/// Those of this process. A forked child begins with none, whatever its parent's threads were doing: it does
/// not touch the parent's mutex. Never destroyed: a ledger may be closed by another static object.
HeldLedgers& held_ledgers() {
  static std::atomic<HeldLedgers*> current{nullptr};
  for (;;) {
    HeldLedgers* known = current.load(std::memory_order_acquire);
    if (known != nullptr && known->process == ::getpid()) return *known;
    auto own = std::make_unique<HeldLedgers>(::getpid());
    if (current.compare_exchange_strong(known, own.get(), std::memory_order_acq_rel)) return *own.release();
  }
}

FileIdentity identity_of(const LockFile& file) {
  struct stat status {};
  if (::fstat(file.descriptor().get(), &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

FileKey key_of(const FileIdentity& file) {
  return {file.device, file.inode};
}

/// Null if it cannot be opened; errno says why.
std::unique_ptr<LockFile> open_to_hold(const std::string& path) {
  int error = 0;
  auto file = std::make_unique<LockFile>(path, [&] {
    Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    error = errno;
    return opened;
  });
  if (file->valid()) return file;
  errno = error;
  return nullptr;
}

bool is_held_by_other(int error) {
  return error == EAGAIN || error == EACCES;
}

int lock_open_file_description(int file, short type, off_t start, off_t length) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = length;
  while (::fcntl(file, F_OFD_SETLK, &range) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int share(const LockFile& file, off_t start, off_t length) {
  return held_file_calls().lock(file.descriptor().get(), F_RDLCK, start, length);
}

/// Tries until it is done, for as long as closing a ledger may take. `attempt` returns 0 or the system's
/// error.
template <class Attempt>
int try_while_held_by_other(Attempt attempt) {
  const auto until = std::chrono::steady_clock::now() + kWaitForClosing;
  std::chrono::milliseconds pause{1};
  for (;;) {
    const int error = attempt();
    if (!is_held_by_other(error) || std::chrono::steady_clock::now() >= until) return error;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

[[noreturn]] void throw_lock_refused(const std::string& path, int error) {
  if (is_held_by_other(error)) {
    throw LedgerBusy("another program is closing ledger " + path +
                     ", or has it to itself; nothing was done, retry");
  }
  if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK) {
    throw LedgerUnusable(
        system_message("this system has no open-file-description locks (F_OFD_SETLK) for " + path, error) +
        ": without them other programs could remove the ledger's log while it is in use. Put the "
        "ledger on a local file system");
  }
  throw_refused("cannot lock " + path, error);
}

[[noreturn]] void throw_cannot_open(const std::string& path, int error) {
  throw_refused("cannot open " + path, error, permission_advice(path, error));
}

[[noreturn]] void throw_files_replaced(const LedgerFiles& files) {
  throw FilesReplaced(
      "ledger " + files.database +
      ": its log or index was replaced or removed while this process has the ledger open; nothing "
      "was done. Close it everywhere in this process, then open it again");
}

}  // namespace

void use_unless_held(const LedgerFiles& files, accounting::CallbackRef<void()> use) {
  HeldLedgers& all = held_ledgers();
  const std::lock_guard guard(all.mutex);
  const std::optional<FileIdentity> named = identity_of_name(files.database);
  if (named && !all.known.contains(key_of(*named))) use();
}

HeldFileCalls& held_file_calls() noexcept {
  static HeldFileCalls calls{lock_open_file_description};
  return calls;
}

HeldFiles::HeldFiles(const LedgerFiles& files) : files_(files), process_(::getpid()) {
  const int error = try_while_held_by_other([this] { return try_to_begin(); });
  if (error != 0) throw_lock_refused(files_.database, error);
}

/// A descriptor that was opened may be of a file that others hold: whatever it is of, it stays open until
/// that has no holders.
int HeldFiles::try_to_begin() {
  HeldLedgers& all = held_ledgers();
  const std::lock_guard guard(all.mutex);
  const std::optional<FileIdentity> named = identity_of_name(files_.database);
  if (!named) throw_cannot_open(files_.database, ENOENT);
  if (const auto known = all.known.find(key_of(*named)); known != all.known.end()) {
    held_ = &known->second;
    ++held_->holders;
    return 0;
  }
  std::unique_ptr<LockFile> file = open_to_hold(files_.database);
  if (file == nullptr) throw_cannot_open(files_.database, errno);
  const FileIdentity identity = identity_of(*file);
  const auto [place, fresh] = all.known.try_emplace(key_of(identity));
  HeldLedger& held = place->second;
  held.identity = identity;
  held.database.push_back(std::move(file));
  if (fresh) {
    const int error = share(*held.database.front(), kSharedFirst, kSharedSize);
    if (error != 0) {
      all.known.erase(place);  // nobody else has it open here
      return error;
    }
  }
  held_ = &held;
  ++held.holders;
  return 0;
}

HeldFiles::~HeldFiles() {
  if (held_ == nullptr || ::getpid() != process_) return;
  HeldLedgers& all = held_ledgers();
  const std::lock_guard guard(all.mutex);
  if (--held_->holders > 0) return;
  for (auto at = all.known.begin(); at != all.known.end(); ++at) {
    if (&at->second != held_) continue;
    all.known.erase(at);
    return;
  }
}

void HeldFiles::hold_index() {
  const int error = try_while_held_by_other([this] { return try_to_hold_index(); });
  if (error != 0) throw_lock_refused(files_.shm(), error);
}

int HeldFiles::try_to_hold_index() {
  HeldLedgers& all = held_ledgers();
  const std::lock_guard guard(all.mutex);
  database_ = held_->identity;
  log_ = identity_of_name(files_.wal());
  index_ = identity_of_name(files_.shm());
  if (identity_of_name(files_.database) != database_) {
    throw LedgerBusy("ledger " + files_.database +
                     " was replaced while it was being opened; nothing was done, retry");
  }
  if (held_->index != nullptr) {
    if (log_ != held_->log_identity || index_ != held_->index_identity) throw_files_replaced(files_);
  } else if (index_) {  // a ledger whose journal mode another program changed has none
    std::unique_ptr<LockFile> file = open_to_hold(files_.shm());
    if (file == nullptr) throw_cannot_open(files_.shm(), errno);
    held_->index = std::move(file);
    held_->index_identity = index_ = identity_of(*held_->index);
    held_->log_identity = log_;
  }
  if (held_->index == nullptr || held_->index_held) return 0;
  const int error = share(*held_->index, kIndexInUse, 1);
  held_->index_held = error == 0;
  return error;
}

bool HeldFiles::is_in_place() const {
  if (!held_file_calls().compare_names) return true;
  return identity_of_name(files_.database) == database_ && identity_of_name(files_.wal()) == log_ &&
         identity_of_name(files_.shm()) == index_;
}

void HeldFiles::unlock_database() {
  HeldLedgers& all = held_ledgers();
  const std::lock_guard guard(all.mutex);
  if (held_->holders > 1) {
    throw LedgerBusy(
        "ledger " + files_.database +
        " is not in SQLite's journal mode WAL, and is open more than once: close it elsewhere, retry");
  }
  const LockFile& file = *held_->database.front();
  static_cast<void>(held_file_calls().lock(file.descriptor().get(), F_UNLCK, kSharedFirst, kSharedSize));
}

void HeldFiles::lock_database() {
  const int error = try_while_held_by_other([this] {
    HeldLedgers& all = held_ledgers();
    const std::lock_guard guard(all.mutex);
    return share(*held_->database.front(), kSharedFirst, kSharedSize);
  });
  if (error != 0) throw_lock_refused(files_.database, error);
}

}  // namespace epsilog::ledger
