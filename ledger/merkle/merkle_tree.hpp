// RFC 6962's Merkle tree over rows: appending to it, its root at any size, its proofs.
//
// Definitions. The node of level L and number N is the root of the leaves [N * 2^L, (N + 1) * 2^L); a leaf is
// a node of level 0. A node is full when all these leaves are there, and never changes from then on.
//
// What is stored, and all that is read here:
//  (1) every leaf, by index;
//  (2) every full node of the levels 8, 16, 24, ...: one for each full tile of 256 below (C2SP tlog-tiles).
// Every other node is computed from at most 128 stored ones of one level. A tree of n leaves has less than
// n/255 nodes in (2).
//
// Why this suffices, and what it costs: ledger/proofs/merkle_tree.md. Sizes are at most kTreeSizeMax.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/merkle_proof.hpp"

namespace epsilog::ledger {

/// Rows are numbered by integers of SQLite.
inline constexpr std::uint64_t kTreeSizeMax = INT64_MAX;
/// Of the levels every eighth is stored; and at most 256 hashes of one are read in one call.
inline constexpr unsigned kStoredLevels = 8;
inline constexpr std::uint64_t kTileWidth = 1U << kStoredLevels;

/// Fills `hashes` with the stored nodes of `level` (0, 8, 16, ...) from number `first` on. At most kTileWidth
/// of them, all of one tile and all stored for the size that is asked about. Throws what it will if a row is
/// missing; it passes through.
using NodeSource = accounting::CallbackRef<void(unsigned level, std::uint64_t first, std::span<Hash> hashes)>;

/// Takes a node to be stored, of level 8, 16, ...: the row of a leaf is the caller's, who has more in it.
using NodeSink = accounting::CallbackRef<void(unsigned level, std::uint64_t number, const Hash& hash)>;

/// The right edge of a tree: the roots of the full subtrees that its size falls into, one for each bit of the
/// size. It is all that appending and the root need.
///
/// A value: a transaction that may be rolled back appends to a copy.
/// Thread-safety: distinct objects may be used concurrently.
class Frontier final {
 public:
  /// Of the tree without leaves.
  Frontier() = default;
  /// From what is stored. Reads less than kTileWidth hashes of each stored level, in one call each.
  /// Throws  InvalidParameter if size > kTreeSizeMax, and what `stored` throws.
  [[nodiscard]] static Frontier load(std::uint64_t size, NodeSource stored);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] Hash root() const;
  [[nodiscard]] TreeHead head() const { return {.size = size_, .root = root()}; }

  /// Appends a leaf, number size(), and hands the nodes that it completed and that are stored to `store`,
  /// from the lowest up. Computes as many hashes as the size ends in one-bits: over the whole, less than one
  /// a leaf.
  /// Throws  InvalidParameter if the tree has kTreeSizeMax leaves, and what `store` throws.
  ///         The frontier is then as it was.
  void append(const Hash& leaf, NodeSink store);
  /// The same for the leaves of a group, one after the other.
  /// Throws  as above; the frontier is then that before the first leaf.
  void append(std::span<const Hash> leaves, NodeSink store);

 private:
  std::uint64_t size_ = 0;
  std::array<Hash, 63> full_{};  ///< by level; means something where size_ has that bit
};

/// The root of the first `size` leaves. Reads and throws as Frontier::load.
[[nodiscard]] Hash tree_root(std::uint64_t size, NodeSource stored);

/// In a tree of some size, the leaves below the node of that level and number, as far as they are there: what
/// RFC 6962 writes D[k1:k2].
struct Subtree {
  unsigned level = 0;
  std::uint64_t number = 0;
};

/// The subtrees whose roots are PATH(index, D[size]) of RFC 6962, section 2.1.1, from the leaf up: at
/// most 63.
///
/// Throws  InvalidParameter unless index < size <= kTreeSizeMax.
[[nodiscard]] std::vector<Subtree> inclusion_path(std::uint64_t index, std::uint64_t size);

/// The subtrees whose roots are PROOF(older, D[newer]) of RFC 6962, section 2.1.2: at most 64, none from size
/// 0 or of equal sizes.
///
/// Throws  InvalidParameter unless older <= newer <= kTreeSizeMax.
[[nodiscard]] std::vector<Subtree> consistency_path(std::uint64_t older, std::uint64_t newer);

/// Their roots. For such a path `stored` is called at most twice for each stored level.
/// Requires  each has a leaf among the first `size`.
/// Throws    InvalidParameter if size > kTreeSizeMax, and what `stored` throws.
[[nodiscard]] std::vector<Hash> subtree_roots(std::span<const Subtree> subtrees, std::uint64_t size,
                                              NodeSource stored);

/// The two together, which verify_inclusion and verify_consistency accept.
[[nodiscard]] std::vector<Hash> inclusion_proof(std::uint64_t index, std::uint64_t size, NodeSource stored);
[[nodiscard]] std::vector<Hash> consistency_proof(std::uint64_t older, std::uint64_t newer,
                                                  NodeSource stored);

}  // namespace epsilog::ledger
