// What is shown by an inclusion or a consistency proof, and by nothing else.
//
// Published values: those of the reference implementation of Certificate Transparency, as
// github.com/transparency-dev/merkle has them (testonly/constants.go, testdata/).
#include "epsilog/ledger/merkle_proof.hpp"
#include "ledger/support/reference_tree.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using namespace epsilog::test;
using epsilog::ledger::TreeHead;
using epsilog::ledger::verify_consistency;
using epsilog::ledger::verify_inclusion;

namespace {

using Proof = std::vector<Hash>;

/// The rows of published_tree.tsv of one kind: lines, roots of the first 0, 1, … 8 of them, nodes and proofs.
std::vector<CaseRow> published(const std::string& kind) {
  std::vector<CaseRow> rows = case_table(EPSILOG_SOURCE_DIR "/tests/ledger/merkle/published_tree.tsv");
  std::erase_if(rows, [&](const CaseRow& row) { return row.at(0) != kind; });
  return rows;
}

Hash published_node(const std::string& name) {
  return from_hex(published(name).at(0).at(1));
}

Hash published_leaf(std::size_t index) {
  return epsilog::ledger::leaf_hash(published("line").at(index).at(1));
}

Proof published_proof(const CaseRow& row) {
  Proof proof;
  for (const std::string& name : words_of(row.at(3))) proof.push_back(published_node(name));
  return proof;
}

TreeHead published_head(std::uint64_t size) {
  return {.size = size, .root = from_hex(published("root").at(size).at(1))};
}

/// Leaf i is that of the line "line i".
Hash leaf(std::uint64_t index) {
  return hash_of(std::string(1, '\0') + "line " + std::to_string(index));
}

/// A proof, and whoever is to be convinced by it.
struct Claim {
  Proof proof;
  std::function<bool(const Proof&)> accepted;
};

void require_refused(const Claim& claim, Proof changed, const char* how) {
  INFO(how << " in a proof of " << claim.proof.size() << " hashes");
  REQUIRE_FALSE(claim.accepted(changed));
}

void require_only_itself(const Claim& claim) {
  REQUIRE(claim.accepted(claim.proof));
  for (std::size_t i = 0; i < claim.proof.size(); ++i) {
    for (std::size_t bit = 0; bit < 256; ++bit) {
      Proof changed = claim.proof;
      changed.at(i).at(bit / 8) ^= static_cast<unsigned char>(1U << bit % 8);
      require_refused(claim, changed, "a flipped bit");
    }
    const auto at = static_cast<std::ptrdiff_t>(i);
    Proof changed = claim.proof;
    changed.erase(changed.begin() + at);
    require_refused(claim, changed, "a hash left out");
    changed = claim.proof;
    changed.insert(changed.begin() + at, claim.proof.at(i));
    require_refused(claim, changed, "a hash doubled");
    if (i != 0) {
      changed = claim.proof;
      std::swap(changed.at(i), changed.at(i - 1));
      require_refused(claim, changed, "neighbours swapped");
    }
    require_refused(claim, Proof(claim.proof.begin(), claim.proof.begin() + at), "the rest left out");
  }
  for (const Hash& more : {Hash{}, hash_of(""), leaf(0)}) {
    Proof changed = claim.proof;
    changed.push_back(more);
    require_refused(claim, changed, "a hash appended");
    changed = claim.proof;
    changed.insert(changed.begin(), more);
    require_refused(claim, changed, "a hash before it");
  }
}

}  // namespace

TEST_CASE("tree: leaves, nodes and roots are those that Certificate Transparency publishes",
          "[ledger][tree][exact]") {
  for (const std::size_t index : {0U, 1U, 4U, 6U})
    CHECK(published_leaf(index) == published_node("leaf" + std::to_string(index)));
  CHECK(epsilog::ledger::node_hash(published_leaf(0), published_leaf(1)) == published_node("pair0"));
  CHECK(epsilog::ledger::node_hash(published_node("pair2"), published_node("pair3")) ==
        published_node("four1"));
  CHECK(epsilog::ledger::empty_root() == published_head(0).root);
  MemoryRows rows;
  epsilog::ledger::Frontier tree;
  for (std::size_t size = 0;; ++size) {
    CHECK(tree.head() == published_head(size));
    if (size == published("line").size()) break;
    rows.append(tree, published_leaf(size));
  }
}

TEST_CASE("tree: the proofs that Certificate Transparency publishes are built and accepted",
          "[ledger][tree][exact]") {
  MemoryRows rows;
  epsilog::ledger::Frontier tree;
  for (std::size_t index = 0; index < 8; ++index) rows.append(tree, published_leaf(index));
  for (const CaseRow& known : published("inclusion")) {
    const std::uint64_t index = std::stoull(known.at(1));
    const std::uint64_t size = std::stoull(known.at(2));
    CHECK(epsilog::ledger::inclusion_proof(index, size, rows) == published_proof(known));
    CHECK(verify_inclusion(published_leaf(index), index, published_head(size), published_proof(known)));
  }
  for (const CaseRow& known : published("consistency")) {
    const std::uint64_t older = std::stoull(known.at(1));
    const std::uint64_t size = std::stoull(known.at(2));
    CHECK(epsilog::ledger::consistency_proof(older, size, rows) == published_proof(known));
    CHECK(verify_consistency(published_head(older), published_head(size), published_proof(known)));
  }
}

TEST_CASE("tree: the proof of every leaf and pair of sizes to 256 is accepted",
          "[ledger][tree][exhaustive]") {
  constexpr std::uint64_t kSizeMax = 256;
  ReferenceTree tree(leaf);
  std::vector<Hash> leaves;
  std::vector<TreeHead> heads;
  for (std::uint64_t size = 0; size <= kSizeMax; ++size) {
    leaves.push_back(leaf(size));
    heads.push_back(tree.head(size));
  }
  for (std::uint64_t size = 0; size <= kSizeMax; ++size) {
    for (std::uint64_t first = 0; first <= size; ++first) {
      INFO(first << " and " << size);
      if (first < size) REQUIRE(verify_inclusion(leaves[first], first, heads[size], tree.path(first, size)));
      REQUIRE(verify_consistency(heads[first], heads[size], tree.proof(first, size)));
    }
  }
}

TEST_CASE("tree: a proof of which anything is changed shows nothing", "[ledger][tree][negative]") {
  ReferenceTree tree(leaf);
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 11U, 64U, 100U}) {
    for (const std::uint64_t index : {std::uint64_t{0}, size / 2, size - 1}) {
      const TreeHead head = tree.head(size);
      require_only_itself({tree.path(index, size), [&](const Proof& proof) {
                             return verify_inclusion(leaf(index), index, head, proof);
                           }});
      const Proof path = tree.path(index, size);
      Hash other = leaf(index);
      other.back() ^= 1U;
      CHECK_FALSE(verify_inclusion(other, index, head, path));
      TreeHead wrong = head;
      wrong.root.front() ^= 0x80U;
      CHECK_FALSE(verify_inclusion(leaf(index), index, wrong, path));
    }
    for (std::uint64_t older = 1; older <= size; older += older < 8 ? 1 : 17) {
      const TreeHead before = tree.head(older);
      const TreeHead head = tree.head(size);
      const Proof between = tree.proof(older, size);
      require_only_itself(
          {between, [&](const Proof& proof) { return verify_consistency(before, head, proof); }});
      TreeHead wrong = head;
      wrong.root.front() ^= 0x80U;
      CHECK_FALSE(verify_consistency(before, wrong, between));
      wrong = before;
      wrong.root.back() ^= 1U;
      CHECK_FALSE(verify_consistency(wrong, head, between));
    }
  }
}

TEST_CASE("tree: a proof is accepted where it is the one that RFC 6962 defines, and nowhere else",
          "[ledger][tree][exhaustive][negative]") {
  constexpr std::uint64_t kSizeMax = 18;
  ReferenceTree tree(leaf);
  std::vector<TreeHead> heads;
  for (std::uint64_t size = 0; size <= kSizeMax; ++size) heads.push_back(tree.head(size));
  struct Placed {
    std::uint64_t first;
    std::uint64_t second;
    Proof proof;
  };
  std::vector<Placed> inclusions;
  std::vector<Placed> consistencies;
  for (std::uint64_t size = 0; size <= kSizeMax; ++size) {
    for (std::uint64_t index = 0; index < size; ++index)
      inclusions.push_back({index, size, tree.path(index, size)});
    for (std::uint64_t older = 0; older <= size; ++older)
      consistencies.push_back({older, size, tree.proof(older, size)});
  }
  std::size_t accepted = 0;
  for (const Placed& given : inclusions) {
    for (const Placed& asked : inclusions) {
      const bool is_it = given.proof == asked.proof;
      const bool shown =
          verify_inclusion(leaf(asked.first), asked.first, heads.at(asked.second), given.proof);
      if (shown != is_it) FAIL(given.first << " of " << given.second << " for " << asked.first);
      accepted += shown ? 1U : 0U;
      // Where the size is made up too: what has too few or too many hashes for it.
      if (given.proof.size() != asked.proof.size()) {
        const TreeHead made_up{.size = asked.second, .root = heads.at(given.second).root};
        REQUIRE_FALSE(verify_inclusion(leaf(given.first), asked.first, made_up, given.proof));
      }
    }
  }
  CHECK(accepted == inclusions.size());
  for (const Placed& given : consistencies) {
    for (const Placed& asked : consistencies) {
      const bool is_it = given.proof == asked.proof;
      if (verify_consistency(heads.at(asked.first), heads.at(asked.second), given.proof) != is_it) {
        FAIL(given.first << " and " << given.second << " for " << asked.first << " and " << asked.second);
      }
      if (given.proof.size() != asked.proof.size()) {
        const TreeHead older{.size = asked.first, .root = heads.at(given.first).root};
        const TreeHead newer{.size = asked.second, .root = heads.at(given.second).root};
        REQUIRE_FALSE(verify_consistency(older, newer, given.proof));
      }
      // What is larger is not before what is smaller, whatever is shown for it.
      if (asked.first < asked.second)
        REQUIRE_FALSE(verify_consistency(heads.at(asked.second), heads.at(asked.first), given.proof));
    }
  }
}

TEST_CASE("tree: there is no leaf beyond the size, and no smaller tree after a larger one",
          "[ledger][tree][negative]") {
  ReferenceTree tree(leaf);
  for (std::uint64_t size = 1; size <= 20; ++size) {
    const TreeHead head = tree.head(size);
    for (std::uint64_t index = 0; index < size; ++index) {
      const Proof path = tree.path(index, size);
      for (std::uint64_t beyond = size; beyond < 100; ++beyond)
        REQUIRE_FALSE(verify_inclusion(leaf(index), beyond, head, path));
      for (unsigned bit = 7; bit < 64; ++bit)
        REQUIRE_FALSE(verify_inclusion(leaf(index), index | std::uint64_t{1} << bit, head, path));
    }
    for (std::uint64_t smaller = 0; smaller < size; ++smaller) {
      for (const Hash& root : {head.root, tree.head(smaller).root}) {
        const Proof nothing;
        REQUIRE_FALSE(
            verify_consistency({.size = size, .root = root}, {.size = smaller, .root = root}, nothing));
        REQUIRE_FALSE(verify_consistency({.size = size, .root = root}, {.size = smaller, .root = root},
                                         tree.proof(smaller, size)));
      }
    }
  }
}

TEST_CASE("tree: the empty tree is the beginning of every tree, and has one root", "[ledger][tree]") {
  ReferenceTree tree(leaf);
  const TreeHead empty = tree.head(0);
  CHECK(verify_consistency(empty, empty, {}));
  CHECK(verify_consistency(empty, tree.head(7), {}));
  CHECK_FALSE(verify_consistency(empty, tree.head(7), Proof{leaf(0)}));
  CHECK_FALSE(verify_consistency(empty, empty, Proof{leaf(0)}));
  CHECK_FALSE(verify_consistency({.size = 0, .root = leaf(0)}, tree.head(7), {}));
  CHECK_FALSE(verify_consistency({.size = 0, .root = leaf(0)}, {.size = 0, .root = leaf(0)}, {}));
  CHECK_FALSE(verify_inclusion(empty.root, 0, empty, {}));
}

TEST_CASE("tree: verification is defined for every index and size there is", "[ledger][tree][negative]") {
  // One leaf differs from all others, so that the reference can be computed for any size.
  const std::uint64_t odd =
      GENERATE(std::uint64_t{0}, std::uint64_t{1} << 63U, UINT64_MAX - 2, UINT64_MAX - 1);
  ReferenceTree tree([&](std::uint64_t index) { return leaf(index == odd ? 1 : 0); }, odd);
  for (const std::uint64_t size : {UINT64_MAX, std::uint64_t{1} << 63U, (std::uint64_t{1} << 63U) + 1}) {
    if (odd >= size) {
      CHECK_FALSE(verify_inclusion(leaf(1), odd, tree.head(size), Proof(64)));
      continue;
    }
    const Proof path = tree.path(odd, size);
    CHECK(verify_inclusion(leaf(1), odd, tree.head(size), path));
    CHECK_FALSE(verify_inclusion(leaf(0), odd, tree.head(size), path));
    for (const std::uint64_t older : {std::uint64_t{1}, size / 2, size / 2 + 1, size - 1}) {
      CHECK(verify_consistency(tree.head(older), tree.head(size), tree.proof(older, size)));
      CHECK_FALSE(verify_consistency(tree.head(older - 1), tree.head(size), tree.proof(older, size)));
    }
  }
  CHECK_FALSE(verify_inclusion(leaf(0), UINT64_MAX, {.size = UINT64_MAX, .root = leaf(0)}, Proof(100'000)));
}

TEST_CASE("tree: verifiers take any bytes for a proof and accept none that is not one",
          "[ledger][tree][fuzz]") {
  constexpr unsigned kSeed = 20'261'122;
  std::mt19937_64 random(kSeed);
  ReferenceTree tree(leaf);
  const auto number = [&] { return random() >> random() % 64U; };
  const auto hash = [&] {
    // Half of them occur in small trees.
    if (random() % 2 == 0) return tree.mth({0, random() % 9});
    Hash drawn{};
    for (unsigned char& byte : drawn) byte = static_cast<unsigned char>(random());
    return drawn;
  };
  for (int round = 0; round < 20'000; ++round) {
    Proof proof(random() % 70);
    for (Hash& one : proof) one = hash();
    const TreeHead newer{.size = number(), .root = hash()};
    const std::uint64_t first = number();
    INFO("seed " << kSeed << ", round " << round);
    // Only where a proof is empty can chance have drawn one.
    const Hash given = hash();
    if (!proof.empty()) REQUIRE_FALSE(verify_inclusion(given, first, newer, proof));
    if (!proof.empty()) REQUIRE_FALSE(verify_consistency({.size = first, .root = given}, newer, proof));
    if (proof.empty()) {
      REQUIRE(verify_inclusion(given, first, newer, proof) ==
              (first == 0 && newer.size == 1 && given == newer.root));
    }
  }
}
