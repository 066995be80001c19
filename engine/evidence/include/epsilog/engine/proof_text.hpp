// Proofs as texts: that a line is in a tree, as C2SP tlog-proof has it, and that a tree extends an older one,
// as the body of add-checkpoint of C2SP tlog-witness has it.
//
//   inclusion     "c2sp.org/tlog-proof@v1"; "extra " base64 if any; "index " N; the hashes, a line each; an
//                 empty line; the checkpoint                                    tlog-proof, "Format"
//   consistency   "old " SIZE; the hashes, a line each, at most 63; an empty line; the checkpoint
//                                                                               tlog-witness,
//                                                                               "add-checkpoint"
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/checkpoint.hpp"

namespace epsilog::engine {

struct InclusionText {
  std::string extra = {};  ///< bytes; whoever reads them must not trust them
  std::uint64_t index = 0;
  std::vector<ledger::Hash> hashes;
  Checkpoint checkpoint;

  friend bool operator==(const InclusionText&, const InclusionText&) = default;
};

/// Throws  NotVerified.
[[nodiscard]] InclusionText parse_inclusion(std::string_view text, std::size_t first_line = 1);
[[nodiscard]] std::string inclusion_text(const InclusionText& proof);

struct ConsistencyText {
  std::uint64_t old_size = 0;
  std::vector<ledger::Hash> hashes;
  Checkpoint checkpoint;  ///< the newer one

  friend bool operator==(const ConsistencyText&, const ConsistencyText&) = default;
};

/// Throws  NotVerified, also for an old size above that of the checkpoint, and for hashes from size 0.
[[nodiscard]] ConsistencyText parse_consistency(std::string_view text);
[[nodiscard]] std::string consistency_text(const ConsistencyText& proof);

/// Throws  NotVerified unless the line has that index in the tree of the checkpoint. Signatures are not
///         looked at.
void require_included(std::string_view line, const InclusionText& proof);
/// Throws  NotVerified unless the tree of the checkpoint begins with the older one.
void require_extends(const ledger::TreeHead& older, const ConsistencyText& proof);

}  // namespace epsilog::engine
