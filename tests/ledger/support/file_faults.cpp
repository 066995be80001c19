#include "ledger/support/file_faults.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace epsilog::ledger_tests {
namespace {

using ledger::FileCall;

FileFaults* faults = nullptr;

int failed_with(int error) {
  errno = error;
  return -1;
}

int faulty_open(const char* path, int flags, int mode) {
  if (const int error = faults->error_of(FileCall::open, std::string(path)); error != 0)
    return failed_with(error);
  const int descriptor = ::open(path, flags, mode);
  if (descriptor >= 0) faults->opened(descriptor, path);
  return descriptor;
}

ssize_t faulty_pread(int descriptor, void* buffer, size_t count, off_t at) {
  if (const int error = faults->error_of(FileCall::read, descriptor); error != 0) return failed_with(error);
  return ::pread(descriptor, buffer, count, at);
}

ssize_t faulty_pwrite(int descriptor, const void* buffer, size_t count, off_t at) {
  // What writes nothing only asks whether it could.
  const int error = count == 0 ? 0 : faults->error_of(FileCall::write, descriptor);
  return error != 0 ? failed_with(error) : ::pwrite(descriptor, buffer, count, at);
}

int faulty_ftruncate(int descriptor, off_t size) {
  if (const int error = faults->error_of(FileCall::write, descriptor); error != 0) return failed_with(error);
  return ::ftruncate(descriptor, size);
}

// A sync is no call that SQLite lets be replaced; the method of the file is.
std::mutex names_mutex;
std::map<const sqlite3_file*, std::string> names;
std::map<const sqlite3_io_methods*, std::unique_ptr<sqlite3_io_methods>> with_other_sync;
sqlite3_vfs* real = nullptr;

std::string name_of(const sqlite3_file* file) {
  const std::scoped_lock lock(names_mutex);
  return names[file];
}

int faulty_sync(sqlite3_file* file, int) {
  if (const int error = faults->error_of(FileCall::sync, name_of(file)); error != 0) {
    errno = error;
    return SQLITE_IOERR_FSYNC;
  }
  return SQLITE_OK;
}

int faulty_vfs_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  const int rc = real->xOpen(real, name, file, flags, out);
  if (rc != SQLITE_OK || file->pMethods == nullptr) return rc;
  const std::scoped_lock lock(names_mutex);
  names[file] = name == nullptr ? "" : name;
  auto& methods = with_other_sync[file->pMethods];
  if (methods == nullptr) {
    methods = std::make_unique<sqlite3_io_methods>(*file->pMethods);
    methods->xSync = faulty_sync;
  }
  file->pMethods = methods.get();
  return rc;
}

sqlite3_vfs with_other_open;

template <class Function>
void replace(const char* call, Function* function) {
  real->xSetSystemCall(real, call, reinterpret_cast<sqlite3_syscall_ptr>(function));
}

}  // namespace

FileFaults::FileFaults(std::string ledger) : ledger_(std::move(ledger)) {
  faults = this;
  real = sqlite3_vfs_find(nullptr);
  replace("open", faulty_open);
  replace("pread", faulty_pread);
  replace("pread64", faulty_pread);
  replace("pwrite", faulty_pwrite);
  replace("pwrite64", faulty_pwrite);
  replace("ftruncate", faulty_ftruncate);
  with_other_open = *real;
  with_other_open.zName = "epsilog-file-faults";
  with_other_open.pNext = nullptr;
  with_other_open.xOpen = faulty_vfs_open;
  sqlite3_vfs_register(&with_other_open, 1);
}

FileFaults::~FileFaults() {
  sqlite3_vfs_unregister(&with_other_open);
  for (const char* call : {"open", "pread", "pread64", "pwrite", "pwrite64", "ftruncate"})
    real->xSetSystemCall(real, call, nullptr);
  sqlite3_vfs_register(real, 1);
  names.clear();
  faults = nullptr;
}

void FileFaults::watch(std::string ledger) {
  const std::scoped_lock lock(mutex_);
  ledger_ = std::move(ledger);
}

void FileFaults::count() {
  const std::scoped_lock lock(mutex_);
  counts_.clear();
  countdown_ = 0;
  failed_ = false;
}

std::map<FaultyCall, int> FileFaults::counted() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

void FileFaults::fail(FaultyCall call, int nth, int error) {
  const std::scoped_lock lock(mutex_);
  failing_ = std::move(call);
  countdown_ = nth;
  error_ = error;
  failed_ = false;
}

bool FileFaults::failed() const {
  const std::scoped_lock lock(mutex_);
  return failed_;
}

int FileFaults::error_of(ledger::FileCall call, const std::string& path) {
  const std::scoped_lock lock(mutex_);
  return error_of_locked(call, path);
}

int FileFaults::error_of(ledger::FileCall call, int descriptor) {
  const std::scoped_lock lock(mutex_);
  const auto path = paths_.find(descriptor);
  return path == paths_.end() ? 0 : error_of_locked(call, path->second);
}

void FileFaults::opened(int descriptor, const std::string& path) {
  const std::scoped_lock lock(mutex_);
  paths_[descriptor] = path;
}

int FileFaults::error_of_locked(ledger::FileCall call, const std::string& path) {
  FaultyCall made;
  made.call = call;
  std::string database = path;
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    if (!path.ends_with(suffix)) continue;
    made.file = suffix;
    database.resize(path.size() - made.file.size());
  }
  made.scratch = database != ledger_;
  ++counts_[made];
  if (countdown_ == 0 || made != failing_ || --countdown_ != 0) return 0;
  failed_ = true;
  return error_;
}

}  // namespace epsilog::ledger_tests
