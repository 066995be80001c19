#include "ledger/support/full_disk.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <optional>

namespace {

std::optional<std::uint64_t> free_bytes_said;

}  // namespace

/// Stands before that of the C library: the program is linked with it first.
extern "C" int statvfs(const char* path, struct statvfs* disk) noexcept {
  const int directory = ::open(path, O_RDONLY | O_CLOEXEC);
  if (directory < 0) return -1;
  const int result = ::fstatvfs(directory, disk);
  ::close(directory);
  if (result == 0 && free_bytes_said) {
    disk->f_frsize = 1;
    disk->f_bavail = *free_bytes_said;
  }
  return result;
}

namespace epsilog::ledger_tests {

FullDisk::FullDisk(std::uint64_t free_bytes) {
  free_bytes_said = free_bytes;
}

FullDisk::~FullDisk() {
  free_bytes_said.reset();
}

}  // namespace epsilog::ledger_tests
