#include "merkle_tree.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {
namespace {

void require_size(std::uint64_t size) {
  if (size > kTreeSizeMax)
    throw InvalidParameter("tree: a size of " + std::to_string(size) + " is too large");
}

bool has_bit(std::uint64_t size, unsigned level) {
  return (size >> level & 1U) != 0;
}

/// The node above a row of 2^k full nodes.
Hash fold(std::span<const Hash> row) {
  if (row.size() == 1) return row.front();
  const std::size_t half = row.size() / 2;
  return node_hash(fold(row.first(half)), fold(row.subspan(half)));
}

/// The root of the last leaves, as many as the lowest `levels` bits of size say, from the full subtrees they
/// fall into: the last two first, as each is the right part of what RFC 6962 splits before it.
/// Requires  one of these bits.
template <class FullAt>
Hash edge_root(std::uint64_t size, unsigned levels, FullAt full_at) {
  auto level = static_cast<unsigned>(std::countr_zero(size));
  Hash root = full_at(level);
  for (++level; level < levels; ++level) {
    if (has_bit(size, level)) root = node_hash(full_at(level), root);
  }
  return root;
}

/// The nodes of a tree of that size, from the stored ones. Keeps the tile it read last: those who ask climb,
/// and find eight levels in it.
class StoredNodes final {
 public:
  StoredNodes(std::uint64_t size, NodeSource stored) : size_(size), stored_(stored) { require_size(size); }

  /// The last of the full ones that the size falls into.
  /// Requires  size has that bit.
  [[nodiscard]] Hash last_full(unsigned level) {
    return full({.level = level, .number = (size_ >> level) - 1});
  }

  [[nodiscard]] Hash root(const Subtree& subtree) {
    EPSILOG_INVARIANT(size_ != 0 && subtree.level < 64 && subtree.number <= (size_ - 1) >> subtree.level);
    if (size_ >> subtree.level > subtree.number) return full(subtree);
    return edge_root(size_, subtree.level, [this](unsigned level) { return last_full(level); });
  }

 private:
  [[nodiscard]] Hash full(const Subtree& node) {
    const unsigned height = node.level % kStoredLevels;
    const std::uint64_t first = node.number << height;
    open_tile(node.level - height, first / kTileWidth);
    return fold(std::span<const Hash>(hashes_).subspan(first % kTileWidth, std::size_t{1} << height));
  }
  void open_tile(unsigned level, std::uint64_t tile) {
    if (open_ && level == level_ && tile == tile_) return;
    const std::uint64_t first = tile * kTileWidth;
    const std::uint64_t count = std::min(kTileWidth, (size_ >> level) - first);
    open_ = false;
    stored_(level, first, std::span(hashes_).first(count));
    open_ = true;
    level_ = level;
    tile_ = tile;
  }

  std::uint64_t size_;
  NodeSource stored_;
  bool open_ = false;
  unsigned level_ = 0;
  std::uint64_t tile_ = 0;
  std::array<Hash, kTileWidth> hashes_{};
};

/// The siblings on the way from a full node to the root: PATH of RFC 6962, section 2.1.1, for a node instead
/// of a leaf (proofs/merkle_tree.md, sections 3 and 4).
void append_siblings(Subtree node, std::uint64_t size, std::vector<Subtree>& path) {
  for (; (size - 1) >> node.level != 0; ++node.level, node.number >>= 1U) {
    const std::uint64_t sibling = node.number ^ 1U;
    if (sibling <= (size - 1) >> node.level) path.push_back({.level = node.level, .number = sibling});
  }
}

}  // namespace

Frontier Frontier::load(std::uint64_t size, NodeSource stored) {
  StoredNodes nodes(size, stored);
  Frontier frontier;
  frontier.size_ = size;
  for (unsigned level = 0; size >> level != 0; ++level) {
    if (has_bit(size, level)) frontier.full_.at(level) = nodes.last_full(level);
  }
  return frontier;
}

Hash Frontier::root() const {
  if (size_ == 0) return empty_root();
  const auto levels = static_cast<unsigned>(std::bit_width(size_));
  return edge_root(size_, levels, [this](unsigned level) { return full_.at(level); });
}

void Frontier::append(const Hash& leaf, NodeSink store) {
  require_size(size_ + 1);
  // Nothing of the frontier is overwritten before the last node is stored.
  Hash node = leaf;
  unsigned level = 0;
  while (has_bit(size_, level)) {
    node = node_hash(full_.at(level), node);
    ++level;
    if (level % kStoredLevels == 0) store(level, size_ >> level, node);
  }
  full_.at(level) = node;
  ++size_;
}

void Frontier::append(std::span<const Hash> leaves, NodeSink store) {
  Frontier appended = *this;
  for (const Hash& leaf : leaves) appended.append(leaf, store);
  *this = appended;
}

Hash tree_root(std::uint64_t size, NodeSource stored) {
  return Frontier::load(size, stored).root();
}

std::vector<Subtree> inclusion_path(std::uint64_t index, std::uint64_t size) {
  require_size(size);
  if (index >= size) {
    throw InvalidParameter("tree: there is no leaf " + std::to_string(index) + " among " +
                           std::to_string(size));
  }
  std::vector<Subtree> path;
  append_siblings({.level = 0, .number = index}, size, path);
  return path;
}

std::vector<Subtree> consistency_path(std::uint64_t older, std::uint64_t newer) {
  require_size(newer);
  if (older > newer) {
    throw InvalidParameter("tree: size " + std::to_string(older) + " is not before size " +
                           std::to_string(newer));
  }
  std::vector<Subtree> path;
  if (older == 0 || older == newer) return path;
  // The last full subtree that the size `older` falls into is one of both trees, and the path begins there.
  // It is the older root itself, which needs no saying, if it is the only one.
  const auto level = static_cast<unsigned>(std::countr_zero(older));
  const Subtree last{.level = level, .number = (older >> level) - 1};
  if (!std::has_single_bit(older)) path.push_back(last);
  append_siblings(last, newer, path);
  return path;
}

std::vector<Hash> subtree_roots(std::span<const Subtree> subtrees, std::uint64_t size, NodeSource stored) {
  StoredNodes nodes(size, stored);
  std::vector<Hash> roots;
  roots.reserve(subtrees.size());
  for (const Subtree& subtree : subtrees) roots.push_back(nodes.root(subtree));
  return roots;
}

std::vector<Hash> inclusion_proof(std::uint64_t index, std::uint64_t size, NodeSource stored) {
  return subtree_roots(inclusion_path(index, size), size, stored);
}

std::vector<Hash> consistency_proof(std::uint64_t older, std::uint64_t newer, NodeSource stored) {
  return subtree_roots(consistency_path(older, newer), newer, stored);
}

}  // namespace epsilog::ledger
