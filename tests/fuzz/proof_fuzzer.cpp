// The text of a proof, of either form: what is read is read again as it was written.
#include "epsilog/engine/proof_text.hpp"

#include "epsilog/engine/not_verified.hpp"
#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const engine::InclusionText proof = engine::parse_inclusion(text);
    ++fuzz::accepted_count;
    fuzz::require(engine::parse_inclusion(engine::inclusion_text(proof)) == proof,
                  "an inclusion is read as written");
    engine::require_included("no line of any ledger", proof);
    fuzz::require(false, "a proof shows no line that is not under it");
  } catch (const engine::NotVerified&) {
  }
  try {
    const engine::ConsistencyText proof = engine::parse_consistency(text);
    ++fuzz::accepted_count;
    fuzz::require(engine::parse_consistency(engine::consistency_text(proof)) == proof,
                  "a consistency is read as written");
    engine::require_extends({.size = proof.old_size, .root = ledger::leaf_hash("no tree")}, proof);
    fuzz::require(proof.old_size == 0, "a proof shows no tree that is not before it");
  } catch (const engine::NotVerified&) {
  }
  return 0;
}
