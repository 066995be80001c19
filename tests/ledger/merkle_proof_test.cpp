// What is shown by an inclusion or a consistency proof, and by nothing else.
//
// Published values: those of the reference implementation of Certificate Transparency, as
// github.com/transparency-dev/merkle has them (testonly/constants.go, testdata/).
#include "epsilog/ledger/merkle_proof.hpp"
#include "ledger/support/reference_tree.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using epsilog::ledger::TreeHead;
using epsilog::ledger::verify_consistency;
using epsilog::ledger::verify_inclusion;

namespace {

using Proof = std::vector<Hash>;

const std::vector<std::string> kLines{"",
                                      std::string(1, '\0'),
                                      "\x10",
                                      "\x20\x21",
                                      "\x30\x31",
                                      "\x40\x41\x42\x43",
                                      "\x50\x51\x52\x53\x54\x55\x56\x57",
                                      "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};

/// The root of the first 0, 1, … 8 of them.
const std::vector<std::string> kRoots{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                                      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                                      "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                                      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                                      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                                      "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                                      "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                                      "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                                      "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

/// The nodes that the published proofs are made of, by level and number.
const std::string kLeaf0 = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
const std::string kLeaf1 = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const std::string kLeaf4 = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
const std::string kLeaf6 = "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f";
const std::string kPair0 = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125";
const std::string kPair1 = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const std::string kPair2 = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
const std::string kPair3 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const std::string kFour0 = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7";
const std::string kFour1 = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";

/// `index` of `size` for inclusion, sizes of both trees for consistency.
struct Published {
  std::uint64_t first;
  std::uint64_t second;
  std::vector<std::string> proof;
};
const std::vector<Published> kInclusions{{0, 1, {}},
                                         {0, 8, {kLeaf1, kPair1, kFour1}},
                                         {5, 8, {kLeaf4, kPair3, kFour0}},
                                         {2, 3, {kPair0}},
                                         {1, 5, {kLeaf0, kPair1, kLeaf4}}};
const std::vector<Published> kConsistencies{{1, 1, {}},
                                            {1, 8, {kLeaf1, kPair1, kFour1}},
                                            {6, 8, {kPair2, kPair3, kFour0}},
                                            {2, 5, {kPair1, kLeaf4}},
                                            {6, 7, {kPair2, kLeaf6, kFour0}}};

Proof hashes_of(const std::vector<std::string>& texts) {
  Proof proof;
  for (const std::string& text : texts) proof.push_back(from_hex(text));
  return proof;
}

TreeHead published_head(std::uint64_t size) {
  return {.size = size, .root = from_hex(kRoots.at(size))};
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
  CHECK(to_hex(epsilog::ledger::leaf_hash("")) == kLeaf0);
  CHECK(to_hex(epsilog::ledger::leaf_hash(kLines.at(1))) == kLeaf1);
  CHECK(to_hex(epsilog::ledger::leaf_hash(kLines.at(6))) == kLeaf6);
  CHECK(to_hex(epsilog::ledger::node_hash(from_hex(kLeaf0), from_hex(kLeaf1))) == kPair0);
  CHECK(to_hex(epsilog::ledger::node_hash(from_hex(kPair2), from_hex(kPair3))) == kFour1);
  CHECK(to_hex(epsilog::ledger::empty_root()) == kRoots.front());
  MemoryRows rows;
  epsilog::ledger::Frontier tree;
  for (std::size_t size = 0;; ++size) {
    CHECK(tree.head() == published_head(size));
    if (size == kLines.size()) break;
    rows.append(tree, epsilog::ledger::leaf_hash(kLines.at(size)));
  }
}

TEST_CASE("tree: the proofs that Certificate Transparency publishes are built and accepted",
          "[ledger][tree][exact]") {
  MemoryRows rows;
  epsilog::ledger::Frontier tree;
  for (const std::string& line : kLines) rows.append(tree, epsilog::ledger::leaf_hash(line));
  for (const Published& known : kInclusions) {
    const Proof proof = hashes_of(known.proof);
    CHECK(epsilog::ledger::inclusion_proof(known.first, known.second, rows) == proof);
    CHECK(verify_inclusion(epsilog::ledger::leaf_hash(kLines.at(known.first)), known.first,
                           published_head(known.second), proof));
  }
  for (const Published& known : kConsistencies) {
    const Proof proof = hashes_of(known.proof);
    CHECK(epsilog::ledger::consistency_proof(known.first, known.second, rows) == proof);
    CHECK(verify_consistency(published_head(known.first), published_head(known.second), proof));
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
