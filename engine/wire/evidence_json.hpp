// What the verbs on keys, checkpoints and proofs report, as JSON.
#pragma once

#include <string>

#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/named_keys.hpp"

namespace epsilog::wire {

[[nodiscard]] std::string key_json(const std::string& file, const engine::VerifierKey& key);
[[nodiscard]] std::string named_key_json(const std::string& ledger_id, const std::string& verifier_key,
                                         engine::KeyChange change, const engine::KeyReport& report);
/// Of one that was signed or cosigned just now, by that key.
[[nodiscard]] std::string checkpoint_json(const engine::Checkpoint& checkpoint,
                                          const engine::VerifierKey& by);
/// Of one that was signed earlier: by whom, its note says to who has the key.
[[nodiscard]] std::string kept_checkpoint_json(const engine::Checkpoint& checkpoint);
[[nodiscard]] std::string proved_line_json(const engine::ProvedLine& proved);
[[nodiscard]] std::string consistency_json(const engine::ConsistencyText& proof);
[[nodiscard]] std::string checked_proof_json(const engine::ProvedLine& proved,
                                             const engine::Attestation& attestation);

}  // namespace epsilog::wire
