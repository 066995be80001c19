// What a key has signed: per origin the largest tree, and of a ledger's own key the right edge of that tree,
// from which it goes on with nothing but the lines since.
//
//   "epsilog signing state 1"; "key " verifier key; per origin, in byte order: "origin " origin; "size "
//   size; "root " base64; of a ledger's key an "edge " base64 for each bit of the size, from the highest;
//   then "sum ", the SHA-256 of all before it in hexadecimal digits
//
// Thread-safety: values and pure functions.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/signed_note.hpp"
#include "epsilog/ledger/merkle_proof.hpp"

namespace epsilog::engine {

/// The roots of the full subtrees that a size falls into, largest first: all that appending and the root
/// need.
class RightEdge final {
 public:
  RightEdge() = default;
  /// Requires  as many hashes as `size` has bits.
  RightEdge(std::uint64_t size, std::vector<ledger::Hash> hashes);

  void append(const ledger::Hash& leaf);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::vector<ledger::Hash>& hashes() const noexcept { return hashes_; }
  [[nodiscard]] ledger::TreeHead head() const;

  friend bool operator==(const RightEdge&, const RightEdge&) = default;

 private:
  std::uint64_t size_ = 0;
  std::vector<ledger::Hash> hashes_;
};

struct SignedTree {
  ledger::TreeHead tree;
  std::vector<ledger::Hash> edge = {};  ///< of a witness's key none

  friend bool operator==(const SignedTree&, const SignedTree&) = default;
};

struct SigningState {
  VerifierKey key;
  std::map<std::string, SignedTree> signed_trees = {};  ///< by origin

  /// What was signed of that origin; the tree without leaves if nothing was.
  [[nodiscard]] SignedTree of(const std::string& origin) const;

  friend bool operator==(const SigningState&, const SigningState&) = default;
};

[[nodiscard]] std::string state_text(const SigningState& state);
/// Throws  NotVerified of all that state_text() does not write.
[[nodiscard]] SigningState parse_state(std::string_view text);

}  // namespace epsilog::engine
