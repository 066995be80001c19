// A second file with every line of a ledger, so that a ledger that is lost, or put back to an earlier state,
// loses nothing that was acknowledged.
//
// The file has the lines in order, each ended by a line feed, and after those of each COMMIT one trailer
// "= SIZE ROOT": how many lines there are, and the root of their tree in base64 (docs/record_format.md, "The
// replica"). Order of things: the replica holds what the ledger does before a transaction begins; COMMIT is
// durable; lines and trailer are durable; only then a value leaves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// Where, and how surely, the lines are written a second time.
struct Replica {
  /// commit: synced before a value leaves. none: written before, and on the disk when the system gets to it:
  /// it outlives the death of the process, not that of the machine.
  enum class Sync { commit, none };
  std::string path;  ///< absolute
  Sync sync = Sync::commit;

  friend bool operator==(const Replica&, const Replica&) = default;
};

/// The replica that the active policy names cannot be used: it is not there, another ledger's, full. Nothing
/// happened; the same call may succeed once it is back.
class ReplicaUnavailable : public LedgerBusy {
 public:
  using LedgerBusy::LedgerBusy;
  [[nodiscard]] std::string_view code() const noexcept override { return "replica_unavailable"; }
};

/// The replica holds what the ledger does not: the ledger was put back to an earlier state, or the two went
/// different ways. Nothing was written to either.
class LedgerRolledBack : public LedgerCorrupt {
 public:
  using LedgerCorrupt::LedgerCorrupt;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_rolled_back"; }
};

/// COMMIT returned, and the lines did not get into the replica: what was recorded stands and is charged, and
/// no value of it leaves until they are there. Whoever begins next writes them.
class ReplicaBehind : public Error {
 public:
  ReplicaBehind(const std::string& message, std::vector<StoredDecision> decisions)
      : Error(message), decisions_(std::move(decisions)) {}
  /// Those of the transaction, in order, without values and not `durable`.
  [[nodiscard]] const std::vector<StoredDecision>& decisions() const noexcept { return decisions_; }
  [[nodiscard]] std::string_view code() const noexcept override { return "replica_behind"; }

 private:
  std::vector<StoredDecision> decisions_;
};

}  // namespace epsilog::ledger
