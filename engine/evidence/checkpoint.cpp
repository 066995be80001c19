#include "epsilog/engine/checkpoint.hpp"

#include <algorithm>
#include <set>

#include "epsilog/ledger/base64.hpp"
#include "text_lines.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kPrefix = "epsilog/";

}  // namespace

std::string ledger_origin(std::string_view ledger_id) {
  return std::string(kPrefix) + std::string(ledger_id);
}

bool is_ledger_origin(std::string_view name) {
  constexpr std::size_t kIdDigits = 32;
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view id = name.substr(kPrefix.size());
  return id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string checkpoint_text(std::string_view origin, const ledger::TreeHead& tree) {
  return std::string(origin) + '\n' + std::to_string(tree.size) + '\n' + ledger::base64_text(tree.root) +
         '\n';
}

Checkpoint parse_checkpoint(std::string_view note, std::size_t first_line) {
  Checkpoint checkpoint;
  checkpoint.note = parse_note(note, first_line);
  TextLines lines(checkpoint.note.text, "checkpoint", first_line);
  checkpoint.origin = lines.next();
  if (checkpoint.origin.empty()) lines.fail("is empty: it must name the origin");
  checkpoint.tree.size = lines.count(lines.next());
  checkpoint.tree.root = lines.hash(lines.next());
  if (checkpoint.tree.size == 0 && checkpoint.tree.root != ledger::empty_root()) {
    lines.fail("is not the root of a tree without leaves");
  }
  while (!lines.at_end()) {
    if (lines.next().empty()) lines.fail("is empty, where only signatures may follow");
  }
  return checkpoint;
}

std::vector<Checkpoint> parse_checkpoints(std::string_view notes) {
  require_no_trailing_lines(notes);
  std::vector<Checkpoint> checkpoints;
  std::size_t line = 1;
  while (true) {
    // A text, an empty line, signatures; then an empty line if another one follows.
    const std::size_t text_end = notes.find("\n\n");
    const std::size_t end = text_end == std::string_view::npos ? text_end : notes.find("\n\n", text_end + 2);
    if (end == std::string_view::npos) {
      checkpoints.push_back(parse_checkpoint(notes, line));
      return checkpoints;
    }
    const std::string_view one = notes.substr(0, end + 1);
    checkpoints.push_back(parse_checkpoint(one, line));
    line += static_cast<std::size_t>(std::count(one.begin(), one.end(), '\n')) + 1;
    notes.remove_prefix(end + 2);
  }
}

void require_sound(const TrustedKeys& keys) {
  std::set<std::array<unsigned char, 32>> seen;
  if (keys.log) {
    if (keys.log->type != SignatureType::ed25519) {
      throw InvalidParameter("the key of " + keys.log->name + " is a witness's: it signs no checkpoints");
    }
    seen.insert(keys.log->public_key);
  }
  for (const VerifierKey& witness : keys.witnesses) {
    if (witness.type != SignatureType::cosignature) {
      throw InvalidParameter("the key of " + witness.name + " is no witness's: it is not of type 4");
    }
    if (!seen.insert(witness.public_key).second) {
      throw InvalidParameter("the key of " + witness.name + " is named twice: one key is one who signs");
    }
  }
  if (keys.required > keys.witnesses.size()) {
    throw InvalidParameter("of " + std::to_string(keys.witnesses.size()) + " witnesses no " +
                           std::to_string(keys.required) + " can have cosigned");
  }
}

Attestation verify_attestation(const Checkpoint& checkpoint, const TrustedKeys& keys) {
  require_sound(keys);
  const std::string which =
      "checkpoint of " + checkpoint.origin + " at size " + std::to_string(checkpoint.tree.size) + ": ";
  Attestation attestation;
  if (keys.log) {
    if (keys.log->name != checkpoint.origin) {
      throw NotVerified(which + "its origin is not the name of the key, " + keys.log->name);
    }
    attestation.signed_by_log = signed_by(checkpoint.note, std::span(&*keys.log, 1)).front();
    if (!attestation.signed_by_log) throw NotVerified(which + "is not signed by the key that is given");
  }
  const std::vector<bool> cosigned = signed_by(checkpoint.note, keys.witnesses);
  for (std::size_t i = 0; i < cosigned.size(); ++i) {
    if (cosigned[i]) attestation.witnesses.push_back(keys.witnesses[i].name);
  }
  if (attestation.witnesses.size() < keys.required) {
    throw NotVerified(which + "is cosigned by " + std::to_string(attestation.witnesses.size()) +
                      " of the witnesses, and " + std::to_string(keys.required) + " are required");
  }
  return attestation;
}

}  // namespace epsilog::engine
