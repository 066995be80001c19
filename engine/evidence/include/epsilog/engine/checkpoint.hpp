// Checkpoints: notes that say size and root of a ledger's tree, as C2SP tlog-checkpoint has them.
//
//   text   origin; size; base64 of the root; further lines if any, none of them empty       "Note text"
//
// The origin of a ledger, which is also the name of the key that signs its checkpoints, is
// `epsilog/<ledger_id>`. Thread-safety: values and pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/signed_note.hpp"
#include "epsilog/ledger/merkle_proof.hpp"

namespace epsilog::engine {

struct Checkpoint {
  std::string origin;
  ledger::TreeHead tree;
  SignedNote note;  ///< it is the text of this note that says it

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// `epsilog/<ledger_id>`.
[[nodiscard]] std::string ledger_origin(std::string_view ledger_id);
/// Whether it is one: a witness is not called so.
[[nodiscard]] bool is_ledger_origin(std::string_view name);

/// What such a note says.
[[nodiscard]] std::string checkpoint_text(std::string_view origin, const ledger::TreeHead& tree);

/// Throws  NotVerified, also of a tree without leaves whose root is not the hash of nothing.
[[nodiscard]] Checkpoint parse_checkpoint(std::string_view note, std::size_t first_line = 1);
/// One or more, one empty line between each two.
/// Throws  NotVerified.
[[nodiscard]] std::vector<Checkpoint> parse_checkpoints(std::string_view notes);

/// Whose signatures count, as somebody decided who did not ask the ledger.
struct TrustedKeys {
  std::optional<VerifierKey> log = {};      ///< none: a checkpoint is not held to be signed
  std::vector<VerifierKey> witnesses = {};  ///< distinct
  std::size_t required = 0;                 ///< so many of them at least
};

/// Throws  InvalidParameter unless the log's key is one for notes, witnesses' are for cosignatures, no key
///         stands for two, and as many are there as are required.
void require_sound(const TrustedKeys& keys);

/// Who signed a checkpoint.
struct Attestation {
  bool signed_by_log = false;
  std::vector<std::string> witnesses;  ///< names of those trusted that cosigned it
};

/// Throws  NotVerified unless what the keys demand is there: the log's signature, its key having the origin
///         for a name, and those of enough witnesses.
Attestation verify_attestation(const Checkpoint& checkpoint, const TrustedKeys& keys);

}  // namespace epsilog::engine
