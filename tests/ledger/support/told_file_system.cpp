#include "ledger/support/told_file_system.hpp"

#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace {

std::string told_folder;
std::uint32_t told_type = 0;
int told_error = 0;

bool lies_there(std::string_view path) {
  if (told_folder.empty() || !path.starts_with(told_folder)) return false;
  return path.size() == told_folder.size() || path[told_folder.size()] == '/';
}

}  // namespace

/// Stands before that of the C library: the program is linked with it first.
extern "C" int statfs(const char* path, struct statfs* status) noexcept {
  if (told_error != 0) {
    errno = told_error;
    return -1;
  }
  const auto result = static_cast<int>(::syscall(SYS_statfs, path, status));
  if (result == 0 && lies_there(path)) status->f_type = static_cast<decltype(status->f_type)>(told_type);
  return result;
}

namespace epsilog::ledger_tests {

ToldFileSystem::ToldFileSystem(std::string folder, std::uint32_t type) {
  told_folder = std::move(folder);
  told_type = type;
}

ToldFileSystem::~ToldFileSystem() {
  told_folder.clear();
}

FailingStatfs::FailingStatfs(int error) {
  told_error = error;
}

FailingStatfs::~FailingStatfs() {
  told_error = 0;
}

}  // namespace epsilog::ledger_tests
