#include "epsilog/engine/witness.hpp"

#include <algorithm>

namespace epsilog::engine {
namespace {

/// What the witness cosigned, by its own signatures.
SigningState state_of(std::span<const Checkpoint> notes, const KeyFile& witness) {
  bool readable = true;
  try {
    static_cast<void>(witness.state());
  } catch (const KeyUnusable&) {
    readable = false;
  }
  if (readable) {
    throw InvalidParameter("--state-from: the state of " + witness.file() +
                           " is there and can be read; the witness goes on from what it says");
  }
  SigningState state{.key = witness.key().verifier()};
  for (const Checkpoint& note : notes) {
    static_cast<void>(verify_attestation(note, {.witnesses = {state.key}, .required = 1}));
    SignedTree& kept = state.signed_trees[note.origin];
    if (note.tree.size == kept.tree.size && kept.tree.size > 0 && note.tree != kept.tree) {
      throw NotVerified("two of the checkpoints of " + note.origin + " have size " +
                        std::to_string(note.tree.size) + " and different roots");
    }
    if (note.tree.size >= kept.tree.size) kept.tree = note.tree;
  }
  return state;
}

}  // namespace

Checkpoint cosign(const Checkpoint& checkpoint, const ConsistencyText& proof, const VerifierKey& log,
                  KeyFile& witness, std::uint64_t seconds, std::span<const Checkpoint> state_from) {
  const VerifierKey& own = witness.key().verifier();
  if (own.type != SignatureType::cosignature) {
    throw KeyUnusable(witness.file() + " is the key of a ledger, " + own.name + ": it cosigns nothing");
  }
  static_cast<void>(verify_attestation(checkpoint, {.log = log}));
  if (proof.checkpoint.note.text != checkpoint.note.text) {
    throw NotVerified("proof: is of another checkpoint, of " + proof.checkpoint.origin + " at size " +
                      std::to_string(proof.checkpoint.tree.size));
  }
  SigningState state = state_from.empty() ? witness.state() : state_of(state_from, witness);
  require_extends(state.of(checkpoint.origin).tree, proof);
  state.signed_trees.insert_or_assign(checkpoint.origin, SignedTree{.tree = checkpoint.tree});
  witness.store(state);
  Checkpoint cosigned = checkpoint;
  const NoteSignature signature = witness.key().sign(checkpoint.note.text, seconds);
  std::erase_if(cosigned.note.signatures, [&](const NoteSignature& one) {
    return one.name == signature.name && one.id == signature.id;
  });
  cosigned.note.signatures.push_back(signature);
  return cosigned;
}

}  // namespace epsilog::engine
