// A witness without a network: it cosigns a checkpoint that extends what it cosigned before, as C2SP
// tlog-witness, "add-checkpoint", demands, and keeps what it cosigned.
#pragma once

#include <cstdint>
#include <span>

#include "epsilog/engine/key_file.hpp"
#include "epsilog/engine/proof_text.hpp"

namespace epsilog::engine {

/// The checkpoint with a cosignature of that second by the witness, in place of an earlier one of its own.
/// With `state_from`, for want of a state: the witness cosigned these notes, as is checked, and no others; it
/// goes on from the largest of each origin.
///
/// Requires  `log` is the key of the origin, as the witness knows it.
/// Ensures   what is cosigned is kept, durably, before it returns.
/// Throws    NotVerified: not signed by `log`, the proof is of another checkpoint, not from the size that was
///           cosigned last (0: nothing was), or shows nothing. KeyUnusable, KeyIo; InvalidParameter: a state
///           that can be read needs no `state_from`.
[[nodiscard]] Checkpoint cosign(const Checkpoint& checkpoint, const ConsistencyText& proof,
                                const VerifierKey& log, KeyFile& witness, std::uint64_t seconds,
                                std::span<const Checkpoint> state_from = {});

}  // namespace epsilog::engine
