#include "epsilog/engine/proof_text.hpp"

#include "epsilog/ledger/base64.hpp"
#include "text_lines.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kInclusion = "c2sp.org/tlog-proof@v1";
constexpr std::string_view kExtra = "extra ";
/// A tree has no longer way: sizes are below 2^63.
constexpr std::size_t kHashesMax = 63;

/// Up to the empty line, which is taken too.
std::vector<ledger::Hash> parse_hashes(TextLines& lines) {
  std::vector<ledger::Hash> hashes;
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    if (hashes.size() == kHashesMax) {
      lines.fail("is one hash more than " + std::to_string(kHashesMax));
    }
    hashes.push_back(lines.hash(line));
  }
  return hashes;
}

std::string hashes_text(const std::vector<ledger::Hash>& hashes) {
  std::string text;
  for (const ledger::Hash& hash : hashes) text += ledger::base64_text(hash) + '\n';
  return text;
}

}  // namespace

InclusionText parse_inclusion(std::string_view text, std::size_t first_line) {
  TextLines lines(text, "proof", first_line);
  if (lines.next() != kInclusion) lines.fail("is not '" + std::string(kInclusion) + "'");
  InclusionText proof;
  if (lines.peek().starts_with(kExtra)) {
    const auto extra = ledger::base64_bytes(lines.after(kExtra));
    if (!extra || extra->empty()) lines.fail("has no base64 of extra data");
    proof.extra = *extra;
  }
  proof.index = lines.count(lines.after("index "));
  proof.hashes = parse_hashes(lines);
  proof.checkpoint = parse_checkpoint(lines.rest(), lines.number());
  return proof;
}

std::string inclusion_text(const InclusionText& proof) {
  std::string text = std::string(kInclusion) + '\n';
  if (!proof.extra.empty()) text += std::string(kExtra) + ledger::base64_text(proof.extra) + '\n';
  return text + "index " + std::to_string(proof.index) + '\n' + hashes_text(proof.hashes) + '\n' +
         note_text(proof.checkpoint.note);
}

ConsistencyText parse_consistency(std::string_view text) {
  TextLines lines(text, "proof");
  ConsistencyText proof;
  proof.old_size = lines.count(lines.after("old "));
  proof.hashes = parse_hashes(lines);
  proof.checkpoint = parse_checkpoint(lines.rest(), lines.number());
  if (proof.old_size > proof.checkpoint.tree.size) {
    throw NotVerified("proof: line 1 has a size above that of the checkpoint, " +
                      std::to_string(proof.checkpoint.tree.size));
  }
  if (proof.old_size == 0 && !proof.hashes.empty()) {
    throw NotVerified("proof: line 2 is a hash, and from size 0 there is nothing to prove");
  }
  return proof;
}

std::string consistency_text(const ConsistencyText& proof) {
  return "old " + std::to_string(proof.old_size) + '\n' + hashes_text(proof.hashes) + '\n' +
         note_text(proof.checkpoint.note);
}

void require_included(std::string_view line, const InclusionText& proof) {
  const ledger::TreeHead& tree = proof.checkpoint.tree;
  if (proof.index >= tree.size) {
    throw NotVerified("proof: its index, " + std::to_string(proof.index) + ", is not below the size, " +
                      std::to_string(tree.size));
  }
  if (!ledger::verify_inclusion(ledger::leaf_hash(line), proof.index, tree, proof.hashes)) {
    throw NotVerified("proof: the line is not number " + std::to_string(proof.index) +
                      " of the tree of the checkpoint");
  }
}

void require_extends(const ledger::TreeHead& older, const ConsistencyText& proof) {
  const ledger::TreeHead& newer = proof.checkpoint.tree;
  if (proof.old_size != older.size) {
    throw NotVerified("proof: is from size " + std::to_string(proof.old_size) + ", and one from size " +
                      std::to_string(older.size) + " is needed");
  }
  if (!ledger::verify_consistency(older, newer, proof.hashes)) {
    throw NotVerified("proof: the tree of size " + std::to_string(newer.size) +
                      " does not begin with that of size " + std::to_string(older.size));
  }
}

}  // namespace epsilog::engine
