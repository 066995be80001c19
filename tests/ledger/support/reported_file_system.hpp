// What statfs(2) tells of a folder.
#pragma once

#include <cstdint>
#include <string>

namespace epsilog::ledger_tests {

/// While one lives, statfs tells that a folder, and whatever lies in it, is on a file system of that type.
/// One at a time.
class ReportedFileSystem final {
 public:
  ReportedFileSystem(std::string folder, std::uint32_t type);
  ReportedFileSystem(const ReportedFileSystem&) = delete;
  ReportedFileSystem& operator=(const ReportedFileSystem&) = delete;
  ~ReportedFileSystem();
};

/// While one lives, statfs fails with that error.
class FailingStatfs final {
 public:
  explicit FailingStatfs(int error);
  FailingStatfs(const FailingStatfs&) = delete;
  FailingStatfs& operator=(const FailingStatfs&) = delete;
  ~FailingStatfs();
};

}  // namespace epsilog::ledger_tests
