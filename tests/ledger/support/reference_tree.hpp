// The Merkle tree a second time, written from the recursive definitions of RFC 6962, section 2.1, and nothing
// else; and rows in memory for the one of the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "merkle_tree.hpp"

namespace epsilog::ledger_tests {

using ledger::Hash;

[[nodiscard]] Hash hash_of(const std::string& bytes);
[[nodiscard]] Hash from_hex(const std::string& hex);
[[nodiscard]] std::string to_hex(const Hash& hash);

/// D[first:last].
struct LeafRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const LeafRange&, const LeafRange&) = default;
};

/// Those whose MTH is PATH(m, D[first:last]), m counted from `first`; appended.
void reference_path(std::uint64_t m, LeafRange range, std::vector<LeafRange>& path);
/// Those whose MTH is PROOF(m, D[0:n]), 0 < m <= n.
void reference_proof(std::uint64_t m, std::uint64_t n, std::vector<LeafRange>& proof);
/// What the ledger calls a subtree, in a tree of that size.
[[nodiscard]] LeafRange range_of(const ledger::Subtree& subtree, std::uint64_t size);

/// MTH over given leaves, each range computed once.
class ReferenceTree final {
 public:
  /// The leaf of that index, already hashed.
  using LeafAt = std::function<Hash(std::uint64_t index)>;
  explicit ReferenceTree(LeafAt leaf_at) : leaf_at_(std::move(leaf_at)) {}
  /// All leaves are the same but one: a range without it is known by its length, however long.
  ReferenceTree(LeafAt leaf_at, std::uint64_t odd_one) : leaf_at_(std::move(leaf_at)), odd_one_(odd_one) {}

  [[nodiscard]] Hash mth(LeafRange range);
  [[nodiscard]] std::vector<Hash> mth(const std::vector<LeafRange>& ranges);
  [[nodiscard]] std::vector<Hash> path(std::uint64_t index, std::uint64_t size);
  [[nodiscard]] std::vector<Hash> proof(std::uint64_t older, std::uint64_t newer);
  [[nodiscard]] ledger::TreeHead head(std::uint64_t size) { return {.size = size, .root = mth({0, size})}; }

 private:
  LeafAt leaf_at_;
  std::optional<std::uint64_t> odd_one_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Hash> known_;
};

/// Rows as a ledger would store them, and what was read of them. Whatever breaks the contract of NodeSource
/// throws.
class MemoryRows final {
 public:
  /// Appends to the tree and stores the leaf and the nodes.
  void append(ledger::Frontier& tree, const Hash& leaf);
  /// For ledger::NodeSource.
  void operator()(unsigned level, std::uint64_t first, std::span<Hash> hashes);
  /// For ledger::NodeSink.
  [[nodiscard]] auto sink() {
    return [this](unsigned level, std::uint64_t number, const Hash& hash) { store(level, number, hash); };
  }
  void store(unsigned level, std::uint64_t number, const Hash& hash);
  [[nodiscard]] Hash& row(unsigned level, std::uint64_t number) { return rows_.at(level).at(number); }
  [[nodiscard]] const std::map<unsigned, std::vector<Hash>>& rows() const { return rows_; }

  struct Read {
    std::size_t calls = 0;
    std::size_t hashes = 0;
  };
  /// By level, since it was asked for last.
  [[nodiscard]] std::map<unsigned, Read> take_reads() { return std::exchange(reads_, {}); }

 private:
  std::map<unsigned, std::vector<Hash>> rows_;
  std::map<unsigned, Read> reads_;
};

}  // namespace epsilog::ledger_tests
