#include "ledger/support/reported_file_system.hpp"

#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace {

std::string reported_folder;
std::uint32_t reported_type = 0;
int reported_error = 0;

bool lies_there(std::string_view path) {
  if (reported_folder.empty() || !path.starts_with(reported_folder)) return false;
  return path.size() == reported_folder.size() || path[reported_folder.size()] == '/';
}

}  // namespace

/// Stands before that of the C library: the program is linked with it first.
extern "C" int statfs(const char* path, struct statfs* status) noexcept {
  if (reported_error != 0) {
    errno = reported_error;
    return -1;
  }
  const auto result = static_cast<int>(::syscall(SYS_statfs, path, status));
  if (result == 0 && lies_there(path)) status->f_type = static_cast<decltype(status->f_type)>(reported_type);
  return result;
}

namespace epsilog::ledger_tests {

ReportedFileSystem::ReportedFileSystem(std::string folder, std::uint32_t type) {
  reported_folder = std::move(folder);
  reported_type = type;
}

ReportedFileSystem::~ReportedFileSystem() {
  reported_folder.clear();
}

FailingStatfs::FailingStatfs(int error) {
  reported_error = error;
}

FailingStatfs::~FailingStatfs() {
  reported_error = 0;
}

}  // namespace epsilog::ledger_tests
