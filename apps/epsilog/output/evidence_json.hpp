// What the verbs on keys, checkpoints and proofs report, as JSON.
#pragma once

#include <string>

#include "epsilog/engine/ledger_evidence.hpp"

namespace epsilog::command {

[[nodiscard]] std::string key_json(const std::string& file, const engine::VerifierKey& key);
/// Of one that was signed or cosigned just now, by that key.
[[nodiscard]] std::string checkpoint_json(const engine::Checkpoint& checkpoint,
                                          const engine::VerifierKey& by);
[[nodiscard]] std::string proved_line_json(const engine::ProvedLine& proved);
[[nodiscard]] std::string consistency_json(const engine::ConsistencyText& proof);
[[nodiscard]] std::string checked_proof_json(const engine::ProvedLine& proved,
                                             const engine::Attestation& attestation);

}  // namespace epsilog::command
