// A disk that says how much room it has.
#pragma once

#include <cstdint>

namespace epsilog::ledger_tests {

/// While one lives every file system of the process says that so many bytes are free.
class FullDisk final {
 public:
  explicit FullDisk(std::uint64_t free_bytes);
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk();
};

}  // namespace epsilog::ledger_tests
