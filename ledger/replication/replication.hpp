// The protocol by which a replica holds whatever was acknowledged.
//
// bring_up_to_date() before anything is written, reserve() before COMMIT, write() after it, before a value leaves. All
// under the turn.
//
// What is known to be in the replica is said in two places: in meta, by the transaction that comes after it,
// so that a power failure leaves a number that is true; and in L.lock, at once, for this boot. Whoever finds
// fewer lines said there than the ledger has, did not write them, or does not know that they were synced: a
// failed sync leaves pages that the kernel holds for clean, which the next sync passes over and the next
// power failure takes away. So everything after the last line that is known to be there is compared, and
// written again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "connection.hpp"
#include "epsilog/ledger/replica.hpp"
#include "ledger_tip.hpp"
#include "replica_file.hpp"
#include "replica_tail.hpp"

namespace epsilog::ledger {

/// Thread-safety: used under the turn.
class Replication final {
 public:
  /// `ledger_id` may still be empty: it is read when it is needed.
  Replication(const LedgerFiles& files, const std::string& ledger_id)
      : files_(files), ledger_id_(ledger_id) {}

  /// Ensures  the replica holds the lines of the ledger, as surely as it says, and has room for more.
  /// Requires a transaction that has written nothing; `lock_file` is the lock of the turn.
  /// Throws   as read_replica().
  void bring_up_to_date(Connection& connection, int lock_file, const LedgerTip& tip, const Replica& replica);
  /// bring_up_to_date() of another replica than the one so far, which is made if it is not there: before the COMMIT of
  /// the policy that names it. Nobody is told what it holds until write().
  /// Requires a transaction; `size` is of the lines before it.
  void switch_to(Connection& connection, int lock_file, std::int64_t size, const Replica& replica);
  /// The same file, synced otherwise.
  /// Requires bring_up_to_date().
  void set_sync(const Replica& replica) { known_->replica = replica; }
  /// Room for what comes next.
  /// Throws   ReplicaUnavailable.
  void reserve(std::size_t bytes);
  /// Lines, each with its line feed, that COMMIT made durable, and the tree they make.
  /// Ensures  after an exception bring_up_to_date() looks at everything again.
  /// Throws   ReplicaUnavailable.
  void write(int lock_file, std::string_view lines, const TreeHead& tree, const Hash& last_leaf);
  /// What is written next is not known to be there.
  void forget() noexcept { known_.reset(); }

 private:
  /// A replica that holds so many lines and nothing else.
  struct Known {
    Replica replica;
    ReplicaFile file;
    ReplicaEnd at = {};
    Hash last_leaf{};
    off_t reserved = 0;  // up to there
  };

  [[nodiscard]] bool is_still_known(const LedgerTip& tip, const Replica& replica) const;
  void adopt(Connection& connection, std::int64_t size, const ReplicaEnd& said, Known found);
  void reserve_ahead(std::size_t bytes);
  void publish(int lock_file) noexcept;

  const LedgerFiles& files_;
  const std::string& ledger_id_;
  std::optional<Known> known_;
};

/// Compares a replica with the first `size` lines of the ledger, writes again what is not known to be on its
/// disk, and appends what is missing. `said`: as of read_replica(). Returns where it ends.
/// Requires  a transaction.
/// Throws    as read_replica(); nothing is written then.
ReplicaEnd catch_up(ReplicaFile& file, const Replica& replica, Connection& connection, std::int64_t size,
                    const ReplicaEnd& said);

/// A new file with the first `size` lines, durable.
/// Throws  ReplicaUnavailable; nothing is left then.
void make_replica(const Replica& replica, const LedgerFiles& files, Connection& connection,
                  std::int64_t size);

}  // namespace epsilog::ledger
