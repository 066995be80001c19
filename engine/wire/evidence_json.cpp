#include "evidence_json.hpp"

#include "epsilog/ledger/digest.hpp"
#include "json_parts.hpp"

namespace epsilog::wire {
namespace {

Json checkpoint_object(const engine::Checkpoint& checkpoint) {
  return {{"origin", checkpoint.origin},
          {"size", checkpoint.tree.size},
          {"root", ledger::hex_text(checkpoint.tree.root)}};
}

}  // namespace

std::string key_json(const std::string& file, const engine::VerifierKey& key) {
  const bool witness = key.type == engine::SignatureType::cosignature;
  return pretty({{"key", file},
                 {"state", file + ".state"},
                 {"name", key.name},
                 {"of", witness ? "witness" : "ledger"},
                 {"verifier_key", key.text()}});
}

std::string named_key_json(const std::string& ledger_id, const std::string& verifier_key,
                           engine::KeyChange change, const engine::KeyReport& report) {
  return pretty({{"ledger_id", ledger_id},
                 {"verifier_key", verifier_key},
                 {"retired", change == engine::KeyChange::retire},
                 {"changed", report.changed},
                 {"at", or_null(report.at)}});
}

std::string checkpoint_json(const engine::Checkpoint& checkpoint, const engine::VerifierKey& by) {
  Json object = checkpoint_object(checkpoint);
  object["verifier_key"] = by.text();
  object["note"] = engine::note_text(checkpoint.note);
  return pretty(object);
}

std::string kept_checkpoint_json(const engine::Checkpoint& checkpoint) {
  Json object = checkpoint_object(checkpoint);
  object["note"] = engine::note_text(checkpoint.note);
  return pretty(object);
}

std::string proved_line_json(const engine::ProvedLine& proved) {
  Json object = checkpoint_object(proved.proof.checkpoint);
  object["index"] = proved.proof.index;
  object["leaf"] = ledger::hex_text(ledger::leaf_hash(proved.line));
  object["line"] = proved.line;
  object["proof"] = engine::inclusion_text(proved.proof);
  return pretty(object);
}

std::string consistency_json(const engine::ConsistencyText& proof) {
  Json object = checkpoint_object(proof.checkpoint);
  object["old_size"] = proof.old_size;
  object["proof"] = engine::consistency_text(proof);
  return pretty(object);
}

std::string checked_proof_json(const engine::ProvedLine& proved, const engine::Attestation& attestation) {
  Json object{{"ok", true}};
  object.update(checkpoint_object(proved.proof.checkpoint));
  object["index"] = proved.proof.index;
  object["line"] = proved.line;
  object["signed"] = attestation.signed_by_log;
  object["witnesses"] = attestation.witnesses;
  return pretty(object);
}

}  // namespace epsilog::wire
