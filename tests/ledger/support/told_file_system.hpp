// What statfs(2) tells of a folder.
#pragma once

#include <cstdint>
#include <string>

namespace epsilog::ledger_tests {

/// While one lives, statfs tells that a folder, and whatever lies in it, is on a file system of that type.
/// One at a time.
class ToldFileSystem final {
 public:
  ToldFileSystem(std::string folder, std::uint32_t type);
  ToldFileSystem(const ToldFileSystem&) = delete;
  ToldFileSystem& operator=(const ToldFileSystem&) = delete;
  ~ToldFileSystem();
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
