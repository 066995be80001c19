#include "ledger/support/fault_vfs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace epsilog::ledger_tests {
namespace {

/// SQLite allocates szOsFile bytes; the real file follows ours in the same block.
struct FaultFile {
  sqlite3_file base;
  FaultVfs* vfs;
  std::string* path;
  sqlite3_file* real;
};

FaultFile& ours(sqlite3_file* file) {
  return *reinterpret_cast<FaultFile*>(file);
}
const sqlite3_io_methods& methods(sqlite3_file* file) {
  return *ours(file).real->pMethods;
}

int x_close(sqlite3_file* file) {
  const int rc = methods(file).xClose(ours(file).real);
  delete ours(file).path;
  return rc;
}
int x_read(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  if (const int rc = ours(file).vfs->step("read", false); rc != SQLITE_OK) return rc;
  return methods(file).xRead(ours(file).real, buffer, amount, offset);
}
int x_write(sqlite3_file* file, const void* buffer, int amount, sqlite3_int64 offset) {
  if (const int rc = ours(file).vfs->step("write", true); rc != SQLITE_OK) return rc;
  ours(file).vfs->record({StorageEvent::Kind::write, *ours(file).path, offset,
                          std::string(static_cast<const char*>(buffer), static_cast<std::size_t>(amount))});
  return methods(file).xWrite(ours(file).real, buffer, amount, offset);
}
int x_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const int rc = ours(file).vfs->step("truncate", true); rc != SQLITE_OK) return rc;
  ours(file).vfs->record({StorageEvent::Kind::truncate, *ours(file).path, size, ""});
  return methods(file).xTruncate(ours(file).real, size);
}
int x_sync(sqlite3_file* file, int) {
  // Nothing here is about the real disk; leaving its sync out makes thousands of runs affordable.
  if (const int rc = ours(file).vfs->step("sync", false, ours(file).path); rc != SQLITE_OK) {
    ours(file).vfs->record({StorageEvent::Kind::failed_sync, *ours(file).path, 0, ""});
    return rc;
  }
  ours(file).vfs->record({StorageEvent::Kind::sync, *ours(file).path, 0, ""});
  return SQLITE_OK;
}
int x_file_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(ours(file).real, size);
}
int x_lock(sqlite3_file* file, int level) {
  return methods(file).xLock(ours(file).real, level);
}
int x_unlock(sqlite3_file* file, int level) {
  return methods(file).xUnlock(ours(file).real, level);
}
int x_check_reserved(sqlite3_file* file, int* out) {
  return methods(file).xCheckReservedLock(ours(file).real, out);
}
int x_file_control(sqlite3_file* file, int operation, void* argument) {
  bool handled = false;
  const int rc = ours(file).vfs->control(operation, argument, handled);
  return handled ? rc : methods(file).xFileControl(ours(file).real, operation, argument);
}
int x_sector_size(sqlite3_file* file) {
  return methods(file).xSectorSize(ours(file).real);
}
int x_device(sqlite3_file* file) {
  return methods(file).xDeviceCharacteristics(ours(file).real);
}
int x_shm_map(sqlite3_file* file, int region, int size, int extend, volatile void** memory) {
  return methods(file).xShmMap(ours(file).real, region, size, extend, memory);
}
int x_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return methods(file).xShmLock(ours(file).real, offset, count, flags);
}
void x_shm_barrier(sqlite3_file* file) {
  methods(file).xShmBarrier(ours(file).real);
}
int x_shm_unmap(sqlite3_file* file, int remove) {
  return methods(file).xShmUnmap(ours(file).real, remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,          x_close,       x_read,           x_write,        x_truncate,    x_sync,   x_file_size,
    x_lock,     x_unlock,      x_check_reserved, x_file_control, x_sector_size, x_device, x_shm_map,
    x_shm_lock, x_shm_barrier, x_shm_unmap,      nullptr,        nullptr};

FaultVfs& owner(sqlite3_vfs* vfs) {
  return *static_cast<FaultVfs*>(vfs->pAppData);
}

int v_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (const int rc = owner(vfs).step("open", false); rc != SQLITE_OK) return SQLITE_CANTOPEN;
  sqlite3_vfs* const real = owner(vfs).real();
  auto* const mine = new (file) FaultFile{};
  mine->real = reinterpret_cast<sqlite3_file*>(mine + 1);
  const int rc = real->xOpen(real, name, mine->real, flags, out_flags);
  if (mine->real->pMethods == nullptr) return rc;
  mine->vfs = &owner(vfs);
  mine->path = new std::string(name == nullptr ? "" : name);
  mine->base.pMethods = &kMethods;
  return rc;
}
int v_delete(sqlite3_vfs* vfs, const char* name, int sync) {
  if (const int rc = owner(vfs).step("delete", false); rc != SQLITE_OK) return rc;
  return owner(vfs).real()->xDelete(owner(vfs).real(), name, sync);
}
int v_access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
  return owner(vfs).real()->xAccess(owner(vfs).real(), name, flags, out);
}
int v_full_path(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return owner(vfs).real()->xFullPathname(owner(vfs).real(), name, size, out);
}

}  // namespace

FaultVfs::FaultVfs() : real_(sqlite3_vfs_find(nullptr)), name_("epsilog-fault") {
  vfs_ = *real_;  // clock, randomness and sleep are the real one's
  vfs_.zName = name_.c_str();
  vfs_.pNext = nullptr;
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(FaultFile)) + real_->szOsFile;
  vfs_.xOpen = v_open;
  vfs_.xDelete = v_delete;
  vfs_.xAccess = v_access;
  vfs_.xFullPathname = v_full_path;
  sqlite3_vfs_register(&vfs_, 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(real_, 1);
}

void FaultVfs::fail_at(std::int64_t nth, int code, bool from_then_on) {
  operations_ = 0;
  fail_at_ = nth;
  code_ = code;
  from_then_on_ = from_then_on;
  failed_ = false;
}

void FaultVfs::die_at(std::int64_t nth) {
  operations_ = 0;
  die_at_ = nth;
}

void FaultVfs::fail_kind(const std::string& kind, int code) {
  failing_kind_ = kind;
  code_ = code;
  failed_ = false;
}

void FaultVfs::stop_failing() {
  fail_at_ = 0;
  die_at_ = 0;
  failing_kind_.clear();
}

int FaultVfs::step(const char* kind, bool write_like, const std::string* path) {
  ++operations_;
  if (die_at_ != 0 && operations_ == die_at_) {
    // Killed in a sync: nobody learns whether it went well, so it did not.
    if (path != nullptr) record({StorageEvent::Kind::failed_sync, *path, 0, ""});
    ::_exit(kKilled);
  }
  const bool now = fail_at_ != 0 && (operations_ == fail_at_ || (from_then_on_ && operations_ > fail_at_));
  if (!now && failing_kind_ != kind) return SQLITE_OK;
  failed_ = true;
  if (code_ == SQLITE_FULL) return write_like ? SQLITE_FULL : SQLITE_OK;  // only writing needs room
  if (code_ != SQLITE_IOERR) return code_;
  errno = errno_;
  const std::string name = kind;
  return name == "read" ? SQLITE_IOERR_READ : name == "sync" ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
}

namespace {

struct StreamedSizes {
  StorageEvent::Kind kind;
  std::int64_t offset;
  std::size_t file;
  std::size_t bytes;
};

void write_whole(int descriptor, const void* bytes, std::size_t size) {
  if (::write(descriptor, bytes, size) != static_cast<ssize_t>(size)) std::abort();
}

std::string read_whole(int descriptor, std::size_t size) {
  std::string bytes(size, '\0');
  if (::read(descriptor, bytes.data(), size) != static_cast<ssize_t>(size)) std::abort();
  return bytes;
}

}  // namespace

void FaultVfs::record(StorageEvent event) {
  if (!recording_) return;
  if (stream_ >= 0) {
    const StreamedSizes sizes{event.kind, event.offset, event.file.size(), event.bytes.size()};
    write_whole(stream_, &sizes, sizeof sizes);
    write_whole(stream_, event.file.data(), event.file.size());
    write_whole(stream_, event.bytes.data(), event.bytes.size());
  }
  events_.push_back(std::move(event));
}

void FaultVfs::add_events_of(int descriptor) {
  ::lseek(descriptor, 0, SEEK_SET);
  StreamedSizes sizes{};
  while (::read(descriptor, &sizes, sizeof sizes) == static_cast<ssize_t>(sizeof sizes)) {
    std::string file = read_whole(descriptor, sizes.file);
    events_.push_back({sizes.kind, std::move(file), sizes.offset, read_whole(descriptor, sizes.bytes)});
  }
}

void FaultVfs::acknowledge() {
  record({StorageEvent::Kind::acknowledged, "", 0, ""});
}

int FaultVfs::control(int operation, void* argument, bool& handled) {
  if (operation == SQLITE_FCNTL_LAST_ERRNO && failed_) {
    handled = true;
    *static_cast<int*>(argument) = errno_;
    return SQLITE_OK;
  }
  if (ignored_controls_.contains(operation)) {
    handled = true;
    if (*static_cast<int*>(argument) < 0) *static_cast<int*>(argument) = 77;
    return SQLITE_OK;
  }
  if (operation == SQLITE_FCNTL_PRAGMA) {
    char** const words = static_cast<char**>(argument);
    const auto answer = pragmas_.find(words[1]);
    if (answer != pragmas_.end()) {
      handled = true;
      words[0] = sqlite3_mprintf("%s", answer->second.c_str());
      return SQLITE_OK;
    }
  }
  return SQLITE_OK;
}

namespace {

void apply_write(std::string& content, std::size_t offset, const char* bytes, std::size_t size) {
  if (content.size() < offset + size) content.resize(offset + size, '\0');
  std::memcpy(content.data() + offset, bytes, size);
}

void apply(std::string& content, const StorageEvent& event) {
  if (event.kind == StorageEvent::Kind::write) {
    apply_write(content, static_cast<std::size_t>(event.offset), event.bytes.data(), event.bytes.size());
  } else {
    content.resize(static_cast<std::size_t>(event.offset), '\0');
  }
}

void apply_torn(std::string& content, const StorageEvent& event, unsigned keep_of_eight,
                std::mt19937_64& random) {
  if (event.kind == StorageEvent::Kind::truncate) {
    if (random() % 2 == 0) apply(content, event);
    return;
  }
  for (std::size_t start = 0; start < event.bytes.size();) {
    const std::size_t position = static_cast<std::size_t>(event.offset) + start;
    const std::size_t size = std::min(512 - position % 512, event.bytes.size() - start);
    if (random() % 8 < keep_of_eight) apply_write(content, position, event.bytes.data() + start, size);
    start += size;
  }
}

}  // namespace

std::map<std::string, std::string> image_after_power_failure(std::map<std::string, std::string> files,
                                                             const std::vector<StorageEvent>& events,
                                                             std::size_t until, std::mt19937_64& random) {
  std::map<std::string, bool> synced_later;
  std::vector<bool> durable(until);
  for (std::size_t i = until; i-- > 0;) {
    if (events[i].kind == StorageEvent::Kind::sync) synced_later[events[i].file] = true;
    if (events[i].kind == StorageEvent::Kind::failed_sync) synced_later[events[i].file] = false;
    durable[i] = synced_later[events[i].file];
  }
  const auto keep_of_eight = static_cast<unsigned>(random() % 9);  // from nothing to everything
  for (std::size_t i = 0; i < until; ++i) {
    const StorageEvent& event = events[i];
    if (event.kind != StorageEvent::Kind::write && event.kind != StorageEvent::Kind::truncate) continue;
    if (durable[i]) {
      apply(files[event.file], event);
    } else {
      apply_torn(files[event.file], event, keep_of_eight, random);
    }
  }
  return files;
}

}  // namespace epsilog::ledger_tests
