// The hashes of RFC 6962's Merkle tree, and what its two proofs prove. Nobody needs a ledger for this: a
// verifier has a proof, the hashes and the sizes, and trusts none of them.
//
//   leaf        SHA-256(0x00 || line)                                             RFC 6962, section 2.1
//   node        SHA-256(0x01 || left || right)
//   root        of no leaves SHA-256(""), of one the leaf, of n > 1 node(root of the first k, root of the
//               others), k the largest power of two below n
//   inclusion   a leaf has this index in the tree of that root                    RFC 9162, section 2.1.3.2
//   consistency the leaves of one tree are the first leaves of another            RFC 9162, section 2.1.4.2
//
// The two prefixes keep a node from being passed off as a leaf. docs/record_format.md has examples.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace epsilog::ledger {

/// A SHA-256.
using Hash = std::array<unsigned char, 32>;

[[nodiscard]] Hash leaf_hash(std::string_view line);
[[nodiscard]] Hash node_hash(const Hash& left, const Hash& right);
/// The root of the tree without leaves.
[[nodiscard]] Hash empty_root();

/// What a checkpoint says of a tree. The two are believed together: a root alone does not tell its size.
struct TreeHead {
  std::uint64_t size = 0;  ///< leaves
  Hash root{};

  friend bool operator==(const TreeHead&, const TreeHead&) = default;
};

/// Whether `proof` shows that `leaf` is leaf number `index`, counted from 0, of `tree`.
///
/// Defined for every argument: what is too short, too long, out of range or made up is false. Of a proof of
/// any length at most 64 hashes are looked at.
[[nodiscard]] bool verify_inclusion(const Hash& leaf, std::uint64_t index, const TreeHead& tree,
                                    std::span<const Hash> proof);

/// Whether `proof` shows that the leaves of `older` are the first ones of `newer`.
///
/// Defined for every argument, as verify_inclusion is. Of equal sizes the proof is empty and the roots are
/// equal. The tree of size 0 has one root and is the beginning of every tree: the proof is empty, and shows
/// nothing about the root of `newer`.
[[nodiscard]] bool verify_consistency(const TreeHead& older, const TreeHead& newer,
                                      std::span<const Hash> proof);

}  // namespace epsilog::ledger
