#include "epsilog/engine/signing_state.hpp"

#include <bit>
#include <utility>

#include "epsilog/ledger/base64.hpp"
#include "epsilog/ledger/digest.hpp"
#include "text_lines.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kFirst = "epsilog signing state 1";
constexpr std::string_view kOrigin = "origin ";
constexpr std::string_view kEdge = "edge ";
constexpr std::string_view kSum = "sum ";

SignedTree parse_tree(TextLines& lines, SignatureType type) {
  SignedTree one;
  one.tree.size = lines.count(lines.after("size "));
  one.tree.root = lines.hash(lines.after("root "));
  while (lines.peek().starts_with(kEdge)) one.edge.push_back(lines.hash(lines.after(kEdge)));
  const bool has_edge = type == SignatureType::ed25519;
  if (one.edge.size() != (has_edge ? static_cast<std::size_t>(std::popcount(one.tree.size)) : 0U)) {
    lines.fail("ends an edge that is not that of the size");
  }
  if (has_edge && RightEdge(one.tree.size, one.edge).head() != one.tree) {
    lines.fail("ends an edge that is not that of the root");
  }
  return one;
}

std::string sum_of(std::string_view text) {
  return std::string(kSum) + ledger::sha256_hex(text) + '\n';
}

}  // namespace

RightEdge::RightEdge(std::uint64_t size, std::vector<ledger::Hash> hashes)
    : size_(size), hashes_(std::move(hashes)) {
  EPSILOG_INVARIANT(hashes_.size() == static_cast<std::size_t>(std::popcount(size_)));
}

void RightEdge::append(const ledger::Hash& leaf) {
  hashes_.push_back(leaf);
  // Each one-bit that the size ends in is a subtree as large as the one beside it: the two are one.
  for (std::uint64_t size = size_; (size & 1U) != 0; size >>= 1U) {
    const ledger::Hash right = hashes_.back();
    hashes_.pop_back();
    hashes_.back() = ledger::node_hash(hashes_.back(), right);
  }
  ++size_;
}

ledger::TreeHead RightEdge::head() const {
  if (hashes_.empty()) return {.size = 0, .root = ledger::empty_root()};
  ledger::Hash root = hashes_.back();
  for (std::size_t i = hashes_.size() - 1; i-- > 0;) root = ledger::node_hash(hashes_[i], root);
  return {.size = size_, .root = root};
}

SignedTree SigningState::of(const std::string& origin) const {
  const auto found = signed_trees.find(origin);
  if (found != signed_trees.end()) return found->second;
  return {.tree = {.size = 0, .root = ledger::empty_root()}};
}

std::string state_text(const SigningState& state) {
  std::string text = std::string(kFirst) + "\nkey " + state.key.text() + '\n';
  for (const auto& [origin, one] : state.signed_trees) {
    text += std::string(kOrigin) + origin + "\nsize " + std::to_string(one.tree.size) + "\nroot " +
            ledger::base64_text(one.tree.root) + '\n';
    for (const ledger::Hash& hash : one.edge) text += std::string(kEdge) + ledger::base64_text(hash) + '\n';
  }
  return text + sum_of(text);
}

SigningState parse_state(std::string_view text) {
  TextLines lines(text, "state");
  if (lines.next() != kFirst) lines.fail("is not '" + std::string(kFirst) + "'");
  SigningState state;
  const std::string_view key = lines.after("key ");
  try {
    state.key = parse_verifier_key(key);
  } catch (const InvalidParameter& error) {
    lines.fail(std::string("has no key: ") + error.what());
  }
  while (lines.peek().starts_with(kOrigin)) {
    const std::string origin(lines.after(kOrigin));
    if (origin.empty() || (!state.signed_trees.empty() && state.signed_trees.rbegin()->first >= origin)) {
      lines.fail("has no origin that comes after those before it");
    }
    state.signed_trees.emplace(origin, parse_tree(lines, state.key.type));
  }
  const std::string_view before = text.substr(0, text.size() - lines.rest().size());
  if (lines.rest() != sum_of(before)) {
    lines.next();
    lines.fail("is not the sum of what stands before it, as the last line is");
  }
  return state;
}

}  // namespace epsilog::engine
