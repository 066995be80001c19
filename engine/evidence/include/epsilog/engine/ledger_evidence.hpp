// Checkpoints and proofs of a ledger, and what a ledger is held against.
//
// Nothing here takes the turn: all is read from a snapshot, and what it says is durable.
// Thread-safety: as Snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "epsilog/engine/key_file.hpp"
#include "epsilog/engine/proof_text.hpp"
#include "epsilog/ledger/snapshot.hpp"

namespace epsilog::engine {

/// Signs the tree of all lines, and keeps that it did before it returns. Lines since what the key signed last
/// are hashed again, from their rows; with `state_from` all are, from the first on, for want of a state: the
/// key has signed these notes, as is checked, and goes on from the largest.
///
/// Requires the snapshot was made after the key was locked: an older one may lack what was signed since.
/// Ensures  no note that this key signed contradicts this one: the ledger has all lines of what was signed,
///          as they were.
/// Throws   NotVerified: the ledger is behind or not what was signed. KeyUnusable: the key or its state,
///          also a key that the ledger says is retired. InvalidParameter: a state that can be read needs no `state_from`. KeyIo; LedgerIo of a line that
///          is not known to be durable; LedgerCorrupt.
[[nodiscard]] Checkpoint sign_checkpoint(ledger::Snapshot& ledger, KeyFile& key,
                                         std::span<const Checkpoint> state_from = {});

/// Throws  NotVerified unless the ledger has the lines of this checkpoint, as they were: it is of another
///         origin, larger than the ledger, or of other lines.
void require_contained(ledger::Snapshot& ledger, const Checkpoint& checkpoint);

/// A line of the ledger, and that it is in the checkpoint.
struct ProvedLine {
  std::string line;
  InclusionText proof;
};
/// Throws  NotFound: no line of that number is in it. NotVerified as require_contained(). LedgerIo,
///         LedgerCorrupt.
[[nodiscard]] ProvedLine prove_line(ledger::Snapshot& ledger, std::uint64_t index,
                                    const Checkpoint& checkpoint);
/// That the newer checkpoint extends a tree of the ledger of that size.
/// Throws  NotVerified as require_contained(), and for a size above that of the checkpoint.
[[nodiscard]] ConsistencyText prove_consistency(ledger::Snapshot& ledger, std::uint64_t old_size,
                                                const Checkpoint& newer);

}  // namespace epsilog::engine
