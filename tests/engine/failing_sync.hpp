// A disk that does not take what is written to a replica.
#pragma once

#include <cerrno>

#include "replica_file.hpp"

namespace epsilog::test {

/// While one lives, no line gets into a replica.
struct FailingSync {
  FailingSync() : before(ledger::replica_calls()) {
    ledger::replica_calls().sync = [](int) {
      errno = EIO;
      return -1;
    };
  }
  FailingSync(const FailingSync&) = delete;
  FailingSync& operator=(const FailingSync&) = delete;
  ~FailingSync() { ledger::replica_calls() = before; }
  ledger::ReplicaCalls before;
};

}  // namespace epsilog::test
