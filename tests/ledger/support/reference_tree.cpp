#include "reference_tree.hpp"

#include <sodium.h>

#include <stdexcept>

namespace epsilog::ledger_tests {
namespace {

/// The largest power of two smaller than n.
/// Requires  n > 1.
std::uint64_t split_of(std::uint64_t n) {
  std::uint64_t k = 1;
  while (k < n - k) k *= 2;
  return k;
}

std::string bytes_of(const Hash& hash) {
  return {hash.begin(), hash.end()};
}

void reference_subproof(std::uint64_t m, LeafRange range, bool is_older, std::vector<LeafRange>& proof) {
  const std::uint64_t n = range.last - range.first;
  if (m == n) {
    if (!is_older) proof.push_back(range);
    return;
  }
  const std::uint64_t middle = range.first + split_of(n);
  if (m <= middle - range.first) {
    reference_subproof(m, {range.first, middle}, is_older, proof);
    proof.push_back({middle, range.last});
  } else {
    reference_subproof(m - (middle - range.first), {middle, range.last}, false, proof);
    proof.push_back({range.first, middle});
  }
}

}  // namespace

Hash hash_of(const std::string& bytes) {
  Hash hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return hash;
}

Hash from_hex(const std::string& hex) {
  Hash hash{};
  if (sodium_hex2bin(hash.data(), hash.size(), hex.data(), hex.size(), nullptr, nullptr, nullptr) != 0 ||
      hex.size() != 2 * hash.size()) {
    throw std::invalid_argument("not a hash: " + hex);
  }
  return hash;
}

std::string to_hex(const Hash& hash) {
  std::string hex(2 * hash.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  hex.pop_back();
  return hex;
}

void reference_path(std::uint64_t m, LeafRange range, std::vector<LeafRange>& path) {
  const std::uint64_t n = range.last - range.first;
  if (n == 1) return;
  const std::uint64_t k = split_of(n);
  const std::uint64_t middle = range.first + k;
  if (m < k) {
    reference_path(m, {range.first, middle}, path);
    path.push_back({middle, range.last});
  } else {
    reference_path(m - k, {middle, range.last}, path);
    path.push_back({range.first, middle});
  }
}

void reference_proof(std::uint64_t m, std::uint64_t n, std::vector<LeafRange>& proof) {
  reference_subproof(m, {0, n}, true, proof);
}

LeafRange range_of(const ledger::Subtree& subtree, std::uint64_t size) {
  const std::uint64_t first = subtree.number << subtree.level;
  const std::uint64_t length = std::uint64_t{1} << subtree.level;
  return {first, size - first < length ? size : first + length};
}

Hash ReferenceTree::mth(LeafRange range) {
  const std::uint64_t n = range.last - range.first;
  if (n == 0) return hash_of("");
  // Only ranges that have the odd one in them are told apart by where they begin.
  const bool plain = odd_one_ && (*odd_one_ < range.first || *odd_one_ >= range.last);
  const std::pair key = plain ? std::pair(UINT64_MAX, n) : std::pair(range.first, range.last);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Hash hash{};
  if (n == 1) {
    hash = leaf_at_(range.first);
  } else {
    const std::uint64_t middle = range.first + split_of(n);
    hash = hash_of('\x01' + bytes_of(mth({range.first, middle})) + bytes_of(mth({middle, range.last})));
  }
  known_.emplace(key, hash);
  return hash;
}

std::vector<Hash> ReferenceTree::mth(const std::vector<LeafRange>& ranges) {
  std::vector<Hash> hashes;
  for (const LeafRange& range : ranges) hashes.push_back(mth(range));
  return hashes;
}

std::vector<Hash> ReferenceTree::path(std::uint64_t index, std::uint64_t size) {
  std::vector<LeafRange> ranges;
  reference_path(index, {0, size}, ranges);
  return mth(ranges);
}

std::vector<Hash> ReferenceTree::proof(std::uint64_t older, std::uint64_t newer) {
  std::vector<LeafRange> ranges;
  if (older != 0) reference_proof(older, newer, ranges);
  return mth(ranges);
}

void MemoryRows::append(ledger::Frontier& tree, const Hash& leaf) {
  store(0, tree.size(), leaf);
  tree.append(leaf, sink());
}

void MemoryRows::operator()(unsigned level, std::uint64_t first, std::span<Hash> hashes) {
  const auto found = rows_.find(level);
  if (found == rows_.end()) throw std::logic_error("no such level is stored");
  if (hashes.empty() || hashes.size() > 256) throw std::logic_error("too many hashes in one call, or none");
  const std::uint64_t last = first + hashes.size() - 1;
  if (first / 256 != last / 256) throw std::logic_error("more than one tile in one call");
  if (last >= found->second.size()) throw std::logic_error("a row is asked for that is not there");
  std::copy_n(found->second.begin() + static_cast<std::ptrdiff_t>(first), hashes.size(), hashes.begin());
  ++reads_[level].calls;
  reads_[level].hashes += hashes.size();
}

void MemoryRows::store(unsigned level, std::uint64_t number, const Hash& hash) {
  if (number != rows_[level].size()) throw std::logic_error("rows are stored out of order");
  rows_[level].push_back(hash);
}

}  // namespace epsilog::ledger_tests
