// A signed note, a checkpoint or a key for verifying: what is read is written again to the byte.
#include <span>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/signed_note.hpp"
#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const engine::SignedNote note = engine::parse_note(text);
    ++fuzz::accepted_count;
    fuzz::require(engine::note_text(note) == text, "a note is written as it was read");
    // A point that is no key of anybody: no note is signed by it.
    const engine::VerifierKey key = {.name = note.signatures.front().name};
    fuzz::require(engine::signed_by(note, std::span(&key, 1)) == std::vector<bool>{false},
                  "no key signed the note");
  } catch (const engine::NotVerified&) {
  }
  try {
    for (const engine::Checkpoint& checkpoint : engine::parse_checkpoints(text)) {
      fuzz::require(engine::parse_checkpoint(engine::note_text(checkpoint.note)) == checkpoint,
                    "a checkpoint is read as it was written");
    }
  } catch (const engine::NotVerified&) {
  }
  try {
    const engine::VerifierKey key = engine::parse_verifier_key(text);
    ++fuzz::accepted_count;
    fuzz::require(engine::parse_verifier_key(key.text()) == key, "a key is read as it was written");
  } catch (const InvalidParameter&) {
  }
  return 0;
}
