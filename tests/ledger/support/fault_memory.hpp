// Memory that SQLite is not given, at any one of its requests.
//
// SQLite takes an allocator only while it is not initialised: no connection of the process may be open when
// one of these is made or goes. One thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>

namespace epsilog::ledger_tests {

class FaultMemory final {
 public:
  FaultMemory();
  FaultMemory(const FaultMemory&) = delete;
  FaultMemory& operator=(const FaultMemory&) = delete;
  ~FaultMemory();

  /// The n-th request for memory from now (1, 2, …) is refused, once or it and all later ones.
  void fail_at(std::int64_t nth, bool from_then_on);
  void stop_failing();
  [[nodiscard]] bool failed() const;
};

}  // namespace epsilog::ledger_tests
