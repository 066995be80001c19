// The tree over rows is that of RFC 6962, whatever the size, and reads few of them.
#include "merkle_tree.hpp"

#include "epsilog/accounting/errors.hpp"
#include "ledger/support/reference_tree.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using epsilog::InvalidParameter;
using epsilog::ledger::Frontier;
using epsilog::ledger::kTreeSizeMax;
using epsilog::ledger::Subtree;
using epsilog::ledger::TreeHead;

namespace {

constexpr std::uint64_t kEverySize = 1'100;

Hash leaf(std::uint64_t index) {
  return hash_of(std::string(1, '\0') + "line " + std::to_string(index));
}

/// Leaves 0, 1, … in rows, and the head of every size on the way.
struct Grown {
  explicit Grown(std::uint64_t size) : reference(leaf) {
    for (; tree.size() < size; rows.append(tree, leaf(tree.size()))) {
    }
  }
  MemoryRows rows;
  Frontier tree;
  ReferenceTree reference;
};

/// At most so many calls for each stored level that a tree of that size has, and no other level.
void require_few_reads(const std::map<unsigned, MemoryRows::Read>& reads, std::uint64_t size,
                       std::size_t calls, std::size_t hashes) {
  for (const auto& [level, read] : reads) {
    INFO("level " << level << " at size " << size);
    REQUIRE(level % 8 == 0);
    REQUIRE(size >> level != 0);
    REQUIRE(read.calls <= calls);
    REQUIRE(read.hashes <= hashes);
  }
}

/// Both proofs as the definition has them and as a verifier accepts them, from few rows.
void require_proofs(Grown& grown, std::uint64_t first, std::uint64_t size) {
  const TreeHead head = grown.reference.head(size);
  INFO(first << " and " << size);
  if (first < size) {
    const std::vector<Hash> path = epsilog::ledger::inclusion_proof(first, size, grown.rows);
    require_few_reads(grown.rows.take_reads(), size, 2, 512);
    REQUIRE(path == grown.reference.path(first, size));
    REQUIRE(verify_inclusion(leaf(first), first, head, path));
  }
  const std::vector<Hash> proof = epsilog::ledger::consistency_proof(first, size, grown.rows);
  require_few_reads(grown.rows.take_reads(), size, 2, 512);
  REQUIRE(proof == grown.reference.proof(first, size));
  REQUIRE(verify_consistency(grown.reference.head(first), head, proof));
}

/// Rows of a tree of any size in which one leaf differs from all others, computed when they are asked for.
class OddLeafRows final {
 public:
  explicit OddLeafRows(std::uint64_t odd_one) : odd_one_(odd_one) {
    plain_.front() = leaf(0);
    odd_.front() = leaf(1);
    for (unsigned level = 0; level + 1 < plain_.size(); ++level) {
      const Hash& plain = plain_.at(level);
      const Hash& odd = odd_.at(level);
      plain_.at(level + 1) = epsilog::ledger::node_hash(plain, plain);
      odd_.at(level + 1) = (odd_one >> level & 1U) != 0 ? epsilog::ledger::node_hash(plain, odd)
                                                        : epsilog::ledger::node_hash(odd, plain);
    }
  }
  void operator()(unsigned level, std::uint64_t first, std::span<Hash> hashes) {
    for (Hash& hash : hashes) hash = first++ == odd_one_ >> level ? odd_.at(level) : plain_.at(level);
    ++calls_[level];
  }
  [[nodiscard]] ReferenceTree reference() const {
    const std::uint64_t odd_one = odd_one_;
    return {[odd_one](std::uint64_t index) { return leaf(index == odd_one ? 1 : 0); }, odd_one};
  }
  [[nodiscard]] const std::map<unsigned, std::size_t>& calls() const { return calls_; }

 private:
  std::uint64_t odd_one_;
  std::array<Hash, 64> plain_{};
  std::array<Hash, 64> odd_{};
  std::map<unsigned, std::size_t> calls_;
};

}  // namespace

TEST_CASE("tree: the root of every size to 1100 is that of the definition, kept or loaded",
          "[ledger][tree][exhaustive]") {
  Grown grown(0);
  for (std::uint64_t size = 0;; ++size) {
    const TreeHead head = grown.reference.head(size);
    REQUIRE(grown.tree.head() == head);
    REQUIRE(epsilog::ledger::tree_root(size, grown.rows) == head.root);
    static_cast<void>(grown.rows.take_reads());
    Frontier loaded = Frontier::load(size, grown.rows);
    require_few_reads(grown.rows.take_reads(), size, 1, 255);
    REQUIRE(loaded.head() == head);
    if (size == kEverySize) break;
    // What was loaded goes on as what was kept does, nodes included.
    std::vector<std::pair<unsigned, std::uint64_t>> kept;
    std::vector<std::pair<unsigned, std::uint64_t>> stored;
    loaded.append(leaf(size), [&](unsigned level, std::uint64_t number, const Hash& hash) {
      stored.emplace_back(level, number);
      REQUIRE(hash == grown.reference.mth({number << level, (number + 1) << level}));
    });
    for (unsigned level = 8; (size + 1) % (std::uint64_t{1} << level) == 0; level += 8)
      kept.emplace_back(level, size >> level);
    REQUIRE(stored == kept);
    grown.rows.append(grown.tree, leaf(size));
    REQUIRE(loaded.head() == grown.tree.head());
  }
  // Earlier sizes from the rows of a later one.
  for (std::uint64_t size = 0; size <= kEverySize; ++size)
    REQUIRE(epsilog::ledger::tree_root(size, grown.rows) == grown.reference.head(size).root);
}

TEST_CASE("tree: the paths of every leaf and pair of sizes to 1100 are those of the definition",
          "[ledger][tree][exhaustive]") {
  // A proof is the roots of the subtrees of its path. The paths are compared as ranges of leaves, every one
  // of them; the root of every range that occurs, from rows, once.
  Grown grown(kEverySize);
  std::vector<bool> compared((kEverySize + 1) * (kEverySize + 1));
  std::vector<LeafRange> expected;
  const auto compare = [&](const std::vector<Subtree>& path, std::uint64_t size) {
    bool equal = path.size() == expected.size();
    for (std::size_t i = 0; equal && i < path.size(); ++i) {
      const LeafRange range = range_of(path[i], size);
      equal = range == expected[i];
      const std::size_t seen = range.first * (kEverySize + 1) + range.last;
      if (compared[seen]) continue;
      compared[seen] = true;
      REQUIRE(epsilog::ledger::subtree_roots(std::span(&path[i], 1), size, grown.rows).front() ==
              grown.reference.mth(range));
    }
    if (!equal) FAIL("another path at size " << size);
  };
  std::size_t paths = 0;
  for (std::uint64_t size = 0; size <= kEverySize; ++size) {
    for (std::uint64_t index = 0; index < size; ++index, ++paths) {
      expected.clear();
      reference_path(index, {0, size}, expected);
      compare(epsilog::ledger::inclusion_path(index, size), size);
    }
    for (std::uint64_t older = 0; older <= size; ++older, ++paths) {
      expected.clear();
      if (older != 0) reference_proof(older, size, expected);
      compare(epsilog::ledger::consistency_path(older, size), size);
    }
  }
  CHECK(paths == 1'100 * 1'101 / 2 + 1'101 * 1'102 / 2);
}

TEST_CASE("tree: every leaf and pair of sizes to 70 is proved from rows and accepted",
          "[ledger][tree][exhaustive]") {
  Grown grown(70);
  for (std::uint64_t size = 0; size <= 70; ++size) {
    for (std::uint64_t first = 0; first <= size; ++first) require_proofs(grown, first, size);
  }
}

TEST_CASE("tree: every leaf and pair of sizes to 1100 is proved from rows and accepted",
          "[ledger][tree][exhaustive][.long]") {
  Grown grown(kEverySize);
  for (std::uint64_t size = 0; size <= kEverySize; ++size) {
    for (std::uint64_t first = 0; first <= size; ++first) require_proofs(grown, first, size);
  }
}

TEST_CASE("tree: proofs hold across the edges of tiles", "[ledger][tree]") {
  Grown grown(65'537);
  const std::set<std::uint64_t> sizes{255, 256, 257, 511, 512, 513, 65'535, 65'536, 65'537};
  std::set<std::uint64_t> firsts = sizes;
  firsts.insert(
      {0, 1, 2, 3, 127, 128, 129, 254, 258, 510, 514, 32'767, 32'768, 40'000, 65'279, 65'280, 65'534});
  for (const std::uint64_t size : sizes) {
    REQUIRE(epsilog::ledger::tree_root(size, grown.rows) == grown.reference.head(size).root);
    require_few_reads(grown.rows.take_reads(), size, 1, 255);
    for (const std::uint64_t first : firsts) {
      if (first <= size) require_proofs(grown, first, size);
    }
  }
  CHECK(grown.rows.rows().at(0).size() == 65'537);
  CHECK(grown.rows.rows().at(8).size() == 256);
  CHECK(grown.rows.rows().at(16).size() == 1);
  CHECK(grown.rows.rows().size() == 3);
}

TEST_CASE("tree: proofs hold in trees of any size there can be", "[ledger][tree]") {
  constexpr std::uint64_t kThirdTile = std::uint64_t{1} << 24U;
  const std::uint64_t size = GENERATE_COPY(kThirdTile - 1, kThirdTile, kThirdTile + 1, 987'654'321'012'345U,
                                           std::uint64_t{1} << 56U, kTreeSizeMax - 1, kTreeSizeMax);
  const std::set<std::uint64_t> firsts{0,        1,          255,        256,      kThirdTile - 256, size / 3,
                                       size / 2, size - 257, size - 256, size - 2, size - 1};
  for (const std::uint64_t first : firsts) {
    if (first >= size) continue;
    OddLeafRows rows(first);
    ReferenceTree reference = rows.reference();
    INFO(first << " of " << size);
    const TreeHead head = reference.head(size);
    REQUIRE(Frontier::load(size, rows).head() == head);
    const std::vector<Hash> path = epsilog::ledger::inclusion_proof(first, size, rows);
    REQUIRE(path == reference.path(first, size));
    REQUIRE(verify_inclusion(leaf(1), first, head, path));
    const std::vector<Hash> proof = epsilog::ledger::consistency_proof(first + 1, size, rows);
    REQUIRE(proof == reference.proof(first + 1, size));
    REQUIRE(verify_consistency(reference.head(first + 1), head, proof));
    // Once for the frontier, twice for each proof.
    for (const auto& [level, calls] : rows.calls()) REQUIRE((level % 8 == 0 && calls <= 5));
  }
}

TEST_CASE("tree: a group of leaves is appended as its leaves are", "[ledger][tree]") {
  Grown grown(1'000);
  std::vector<Hash> leaves;
  for (std::uint64_t index = 0; index < 1'000; ++index) leaves.push_back(leaf(index));
  Frontier tree;
  MemoryRows rows;
  for (const std::size_t end : {0U, 1U, 200U, 256U, 257U, 900U, 1'000U}) {
    const std::size_t begin = tree.size();
    for (std::size_t i = begin; i < end; ++i) rows.store(0, i, leaves.at(i));
    tree.append(std::span<const Hash>(leaves).subspan(begin, end - begin), rows.sink());
    CHECK(tree.head() == grown.reference.head(end));
  }
  CHECK(rows.rows() == grown.rows.rows());
}

TEST_CASE("tree: what cannot be stored or read leaves the frontier as it was", "[ledger][tree][negative]") {
  struct Full {};
  Grown grown(255);
  const auto full = [](unsigned, std::uint64_t, const Hash&) { throw Full(); };
  CHECK_THROWS_AS(grown.tree.append(leaf(255), full), Full);
  CHECK(grown.tree.head() == grown.reference.head(255));
  // In a group, after leaves that were taken.
  Grown shorter(250);
  std::vector<Hash> leaves;
  for (std::uint64_t index = 250; index < 260; ++index) leaves.push_back(leaf(index));
  CHECK_THROWS_AS(shorter.tree.append(leaves, full), Full);
  CHECK(shorter.tree.head() == grown.reference.head(250));
  shorter.tree.append(leaves, [](unsigned, std::uint64_t, const Hash&) {});
  CHECK(shorter.tree.head() == grown.reference.head(260));
  // A row that is missing: as whoever reads says it.
  CHECK_THROWS_AS(epsilog::ledger::inclusion_proof(3, 256, grown.rows), std::logic_error);
  CHECK_THROWS_AS(epsilog::ledger::tree_root(256, grown.rows), std::logic_error);
}

TEST_CASE("tree: there is no proof of what is not there", "[ledger][tree][negative]") {
  using epsilog::ledger::consistency_proof;
  using epsilog::ledger::inclusion_proof;
  OddLeafRows rows(0);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{300}, kTreeSizeMax}) {
    CHECK_THROWS_AS(inclusion_proof(size, size, rows), InvalidParameter);
    CHECK_THROWS_AS(inclusion_proof(UINT64_MAX, size, rows), InvalidParameter);
    CHECK_THROWS_AS(consistency_proof(size + 1, size, rows), InvalidParameter);
    CHECK(consistency_proof(size, size, rows).empty());
    CHECK(consistency_proof(0, size, rows).empty());
  }
  for (const std::uint64_t size : {kTreeSizeMax + 1, UINT64_MAX}) {
    CHECK_THROWS_AS(inclusion_proof(0, size, rows), InvalidParameter);
    CHECK_THROWS_AS(consistency_proof(1, size, rows), InvalidParameter);
    CHECK_THROWS_AS(epsilog::ledger::subtree_roots({}, size, rows), InvalidParameter);
    CHECK_THROWS_AS(epsilog::ledger::tree_root(size, rows), InvalidParameter);
  }
  CHECK(rows.calls().empty());
}

TEST_CASE("tree: a tree that is full takes no leaf more", "[ledger][tree][negative]") {
  OddLeafRows rows(kTreeSizeMax);  // no leaf of it
  const auto none = [](unsigned, std::uint64_t, const Hash&) { FAIL("no node is complete"); };
  Frontier tree = Frontier::load(kTreeSizeMax - 1, rows);
  tree.append(leaf(0), none);
  ReferenceTree reference = rows.reference();
  CHECK(tree.head() == reference.head(kTreeSizeMax));
  CHECK_THROWS_AS(tree.append(leaf(0), none), InvalidParameter);
  CHECK(tree.head() == reference.head(kTreeSizeMax));
}
