#include "epsilog/ledger/merkle_proof.hpp"

#include <bit>
#include <limits>

#include "sha256.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kLeafPrefix("\x00", 1);
constexpr std::string_view kNodePrefix("\x01", 1);

std::string_view bytes_of(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

/// Where in the tree a verification stands, as RFC 9162 keeps it: at each level the number of the node that
/// is computed, and that of the last node there.
class Position final {
 public:
  Position(std::uint64_t number, std::uint64_t last) : number_(number), last_(last) {}

  [[nodiscard]] bool at_root() const { return last_ == 0; }
  /// Whether the next hash of the proof belongs to the left of what is computed. The last node of a level
  /// that is a left child has no sibling there: it stands for its parent, until it is a right child.
  [[nodiscard]] bool sibling_is_left() const { return is_right() || number_ == last_; }
  [[nodiscard]] bool is_right() const { return (number_ & 1U) != 0; }
  void up() {
    number_ >>= 1U;
    last_ >>= 1U;
  }
  /// To the parent of the two that were hashed.
  void to_parent() {
    if (!is_right() && number_ == last_) {
      while (!is_right() && number_ != 0) up();
    }
    up();
  }

 private:
  std::uint64_t number_;
  std::uint64_t last_;
};

}  // namespace

Hash leaf_hash(std::string_view line) {
  return sha256({kLeafPrefix, line});
}

Hash node_hash(const Hash& left, const Hash& right) {
  return sha256({kNodePrefix, bytes_of(left), bytes_of(right)});
}

Hash empty_root() {
  return sha256("");
}

bool verify_inclusion(const Hash& leaf, std::uint64_t index, const TreeHead& tree,
                      std::span<const Hash> proof) {
  if (index >= tree.size) return false;
  Position at(index, tree.size - 1);
  Hash computed = leaf;
  for (const Hash& sibling : proof) {
    if (at.at_root()) return false;
    computed = at.sibling_is_left() ? node_hash(sibling, computed) : node_hash(computed, sibling);
    at.to_parent();
  }
  return at.at_root() && computed == tree.root;
}

bool verify_consistency(const TreeHead& older, const TreeHead& newer, std::span<const Hash> proof) {
  if (older.size > newer.size) return false;
  if (older.size == 0 && older.root != empty_root()) return false;
  if (older.size == newer.size) return proof.empty() && older.root == newer.root;
  if (older.size == 0) return proof.empty();
  Position at(older.size - 1, newer.size - 1);
  while (at.is_right()) at.up();  // to the last full subtree of the older tree: nothing below it is new
  // Where that subtree is all of the older tree, its root is known and left out of the proof.
  Hash of_older = older.root;
  if (!std::has_single_bit(older.size)) {
    if (proof.empty()) return false;
    of_older = proof.front();
    proof = proof.subspan(1);
  }
  Hash of_newer = of_older;
  for (const Hash& sibling : proof) {
    if (at.at_root()) return false;
    if (at.sibling_is_left()) {
      of_older = node_hash(sibling, of_older);
      of_newer = node_hash(sibling, of_newer);
    } else {
      of_newer = node_hash(of_newer, sibling);
    }
    at.to_parent();
  }
  return at.at_root() && of_older == older.root && of_newer == newer.root;
}

}  // namespace epsilog::ledger
