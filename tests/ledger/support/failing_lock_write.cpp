#include "ledger/support/failing_lock_write.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>

namespace {

constexpr off_t kEndOffset = 1'024;  // ledger/tables/remembered_end.cpp

std::atomic<int> failing_with = 0;
std::atomic<int> failed = 0;

bool is_lock_file(int file) {
  std::array<char, 4'096> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), name.data(), name.size());
  return length > 0 && std::string_view(name.data(), static_cast<std::size_t>(length)).ends_with(".lock");
}

}  // namespace

/// Stands before that of the C library: the program is linked with it first.
extern "C" ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  const int error = failing_with;
  if (error != 0 && at == kEndOffset && is_lock_file(file)) {
    ++failed;
    errno = error;
    return -1;
  }
  return static_cast<ssize_t>(::syscall(SYS_pwrite64, file, bytes, count, at));
}

namespace epsilog::ledger_tests {

FailingLockWrite::FailingLockWrite(int error) {
  failed = 0;
  failing_with = error;
}

FailingLockWrite::~FailingLockWrite() {
  failing_with = 0;
}

int FailingLockWrite::failures() noexcept {
  return failed;
}

}  // namespace epsilog::ledger_tests
