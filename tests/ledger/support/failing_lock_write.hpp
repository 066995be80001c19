// Writes to L.lock that fail.
#pragma once

namespace epsilog::ledger_tests {

/// While one lives, writing what L.lock remembers of the ledger's end fails with that error; errors of other
/// writes are the system's own. One at a time.
class FailingLockWrite final {
 public:
  explicit FailingLockWrite(int error);
  FailingLockWrite(const FailingLockWrite&) = delete;
  FailingLockWrite& operator=(const FailingLockWrite&) = delete;
  ~FailingLockWrite();
  [[nodiscard]] static int failures() noexcept;
};

}  // namespace epsilog::ledger_tests
