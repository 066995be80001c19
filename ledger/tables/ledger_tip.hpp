// How a ledger stood when this connection last looked, or wrote.
//
// PRAGMA data_version of a connection changes when, and only when, another one committed in between: another
// process, another object of this process, a program that knows nothing of turns. While it is
// the same under a turn, everything in the file is as this connection knows it, and what it knew was held
// against itself and the rows when it was read (ledger_tip.cpp).
//
// When it has changed, the leaf known last tells whether the file goes on from what is known. Then only what
// was appended is read, and rows that never change are kept. See ledger.hpp for why that cannot be stale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "end_mark.hpp"
#include "epsilog/ledger/seal.hpp"
#include "queries.hpp"
#include "record_log.hpp"
#include "stale_replicas.hpp"

namespace epsilog::ledger {

struct LedgerTip {
  Meta meta;
  std::string last_id;              ///< of the last decision; "" when there is none
  std::int64_t policy_version = 0;  ///< the active one
  RecordLog log;
  std::vector<StaleReplica> stale_replicas = {};
  std::optional<Seal> seal = {};  ///< that is its last line
};

/// The end of the ledger that stands so.
[[nodiscard]] inline EndMark end_mark_of(const LedgerTip& tip) {
  return {.ledger_id = tip.meta.ledger_id,
          .lines = tip.meta.log_size,
          .leaf = tip.log.last_leaf(),
          .time = tip.meta.last_time,
          .sealed = tip.seal.has_value()};
}

/// Thread-safety: none; used under the turn.
class LedgerTipCache final {
 public:
  /// Reads it and holds it against itself. Where what was known last is not what it follows, the connection's
  /// shared rows are forgotten.
  /// Requires  a transaction of the one connection this is for, that has written nothing yet.
  /// Throws    StorageFailure, LedgerCorrupt, LedgerUnusable (newer rules), NeedsFeature.
  [[nodiscard]] const LedgerTip& read(Connection& connection, const std::string& database);
  /// The outcome of what comes next is not known until it returned.
  void forget() noexcept { tip_.reset(); }
  /// What a COMMIT of that connection left, which returned, in a transaction that began with read().
  void remember_tip(LedgerTip tip);

 private:
  std::optional<LedgerTip> tip_;
  std::int64_t version_ = 0;  // PRAGMA data_version it was read at
};

}  // namespace epsilog::ledger
