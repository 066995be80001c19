// The replica of a ledger that is being made.
//
// The replica gets its name before the ledger does: a ledger is not there before what it needs is. A call
// that is killed in between leaves a replica of a ledger that never was. L.lock says beforehand which ledger
// is being made, so the next call knows that file and makes it anew. It never removes a file that may hold
// somebody's history.
#pragma once

#include <cstdint>
#include <string>

#include "connection.hpp"
#include "epsilog/ledger/replica.hpp"
#include "new_ledger_file.hpp"

namespace epsilog::ledger {

class FirstReplica final {
 public:
  /// Removes what a killed call left of the replica, and notes in L.lock that this ledger is being made.
  /// Requires  the writer lock of the place.
  /// Throws    ReplicaUnavailable: another file is there, or the replica would be a file of the ledger.
  FirstReplica(const Replica& replica, const NewLedgerTarget& place, const std::string& ledger_id);
  FirstReplica(const FirstReplica&) = delete;
  FirstReplica& operator=(const FirstReplica&) = delete;
  /// Removes the replica, unless it was kept.
  ~FirstReplica();

  /// Writes the first `size` lines. The file gets its name when they are durable.
  /// Throws  ReplicaUnavailable; nothing is left then.
  void make(Connection& connection, std::int64_t size);
  /// Says that the ledger has its name.
  void keep() noexcept { made_ = false; }

 private:
  const Replica replica_;
  const LedgerFiles files_;
  const std::string unfinished_;  // the name of the file until it is complete
  bool made_ = false;
};

}  // namespace epsilog::ledger
