// The vectors in tests/vectors/merkle_tree.json, which any program can run, computed by
// tests/reference/merkle_tree.py.
#include <nlohmann/json.hpp>

#include "ledger/support/reference_tree.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using epsilog::ledger::TreeHead;
using nlohmann::json;

namespace {

json vectors() {
  std::ifstream file(EPSILOG_TREE_VECTORS);
  REQUIRE(file);
  return json::parse(file);
}

TreeHead head(const json& object) {
  return {.size = object.at("size"), .root = from_hex(object.at("root"))};
}

std::vector<Hash> proof(const json& vector) {
  std::vector<Hash> hashes;
  for (const json& hash : vector.at("proof")) hashes.push_back(from_hex(hash));
  return hashes;
}

/// The tree of the vectors: line number i is i in digits.
struct Grown {
  explicit Grown(std::uint64_t size) {
    while (tree.size() < size) rows.append(tree, epsilog::ledger::leaf_hash(std::to_string(tree.size())));
  }
  MemoryRows rows;
  epsilog::ledger::Frontier tree;
};

}  // namespace

TEST_CASE("tree: the vectors for other programs hold for this one", "[ledger][tree][exact]") {
  const json all = vectors();
  Grown grown(65'537);
  CHECK(all.at("roots").size() == 29);
  for (const json& root : all.at("roots"))
    CHECK(epsilog::ledger::tree_root(root.at("size"), grown.rows) == head(root).root);
  std::map<bool, int> seen;
  for (const json& vector : all.at("inclusion")) {
    INFO(vector.at("name"));
    const std::uint64_t index = vector.at("index");
    const TreeHead tree = head(vector.at("tree"));
    const bool accepted = vector.at("accepted");
    CHECK(verify_inclusion(from_hex(vector.at("leaf")), index, tree, proof(vector)) == accepted);
    if (accepted) CHECK(epsilog::ledger::inclusion_proof(index, tree.size, grown.rows) == proof(vector));
    ++seen[accepted];
  }
  for (const json& vector : all.at("consistency")) {
    INFO(vector.at("name"));
    const TreeHead older = head(vector.at("older"));
    const TreeHead newer = head(vector.at("newer"));
    const bool accepted = vector.at("accepted");
    CHECK(verify_consistency(older, newer, proof(vector)) == accepted);
    if (accepted)
      CHECK(epsilog::ledger::consistency_proof(older.size, newer.size, grown.rows) == proof(vector));
    ++seen[accepted];
  }
  CHECK(seen[true] == 34);
  CHECK(seen[false] == 56);
}
