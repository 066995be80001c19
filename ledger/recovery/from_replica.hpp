// What a replica holds, read from its first line to its last, and a ledger made of it.
#pragma once

#include <cstdint>
#include <string>

#include "connection.hpp"
#include "epsilog/ledger/clock.hpp"
#include "merkle_tree.hpp"
#include "records.hpp"
#include "recovery_record.hpp"
#include "replica_file.hpp"
#include "replica_tail.hpp"

namespace epsilog::ledger {

/// What a replica holds by its own account.
struct ReplicaContent {
  ReplicaEnd end;            ///< after the last trailer before which everything is right
  Hash root_in_common{};     ///< of as many first lines as both have
  std::int64_t dropped = 0;  ///< lines after that
  bool acknowledged =
      false;  ///< what comes after that was changed: somebody may have been told of those lines
};

/// Reads all of it. `ledger`, if there is one, has the first `kept` lines.
///
/// What follows the last right trailer is left out, if it is torn (ReplicaTail) or lines that the ledger has.
/// Other lines there were changed, and so was what is wrong and has a trailer after it: somebody may have
/// been told of them. They are passed over only where that is accepted.
/// Throws  LedgerCorrupt, saying what would be dropped; NeedsFeature, of what is right or follows it;
///         ReplicaUnavailable; StorageFailure.
[[nodiscard]] ReplicaContent read_replica_content(const ReplicaFile& file, const std::string& path,
                                                  Connection* ledger, std::int64_t kept,
                                                  bool accept_truncated);
/// The line of that number, without its line feed; "" if there is none. Reads the file up to it.
/// Throws  ReplicaUnavailable.
[[nodiscard]] std::string line_of_replica(const ReplicaFile& file, std::int64_t index);
/// Of the lines that follow what is held, how many are not lines of the ledger to the byte.
/// Throws  StorageFailure, ReplicaUnavailable.
[[nodiscard]] std::int64_t lost_line_count(const ReplicaContent& held, const ReplicaFile& file,
                                           Connection& ledger);
/// What follows would be another history than the one that goes on from here. It is gone for good.
/// Throws  ReplicaUnavailable.
void cut_off(ReplicaFile& file, const ReplicaContent& held);

/// Throws  LedgerCorrupt unless the first lines that both have are the same.
void require_one_history(const ReplicaContent& held, const std::string& path, Connection& ledger,
                         std::int64_t kept);

/// Fills an empty file with what the replica holds and, behind it, the closing lines. Where what it holds
/// ends with a seal that they do not end, no line is right behind it, and none is written. `ledger`, if there
/// is one, is what the first lines are of: it has the tokens of which they have the hash.
/// Requires  a transaction of `to`.
/// Throws    as import_all(); LedgerSealed: the recovery says that lines are lost, and cannot be recorded.
void rebuild(Connection& to, const ReplicaFile& file, const ReplicaContent& held, Connection* ledger,
             const ClosingLines& closing, const ClockReading& reading);

}  // namespace epsilog::ledger
