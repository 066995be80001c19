// What the verbs on checkpoints and proofs take, and what every verb on a ledger takes to hold it to a
// checkpoint.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/checkpoint.hpp"
#include "ledger_arguments.hpp"
#include "verb.hpp"

namespace epsilog::command {

struct EvidenceArguments : LedgerArguments {
  std::optional<std::string> file;  ///< the positional
  std::optional<std::string> checkpoint;
  std::optional<std::string> key;
  std::optional<std::string> proof;
  std::optional<std::string> state_from;
  std::optional<std::string> vkey;
  std::optional<std::string> require;
  std::vector<std::string> witnesses;
};

/// The content of a file, or of standard input for "-".
/// Throws  UsageError, InputError.
[[nodiscard]] std::string file_argument(const std::string& file);
/// Its checkpoints, at least one.
/// Throws  also NotVerified.
[[nodiscard]] std::vector<engine::Checkpoint> checkpoints_argument(const std::string& file);

/// --vkey, --witness and --require, of which every witness is required where it is not given.
/// Throws  UsageError, InvalidParameter.
[[nodiscard]] engine::TrustedKeys trusted_keys(const std::optional<std::string>& vkey,
                                               const std::vector<std::string>& witnesses,
                                               const std::optional<std::string>& require);
[[nodiscard]] engine::TrustedKeys trusted_keys(const EvidenceArguments& arguments);
/// Throws  UsageError where one of them is given and no checkpoint that it could be about.
void require_checkpoint_named(const EvidenceArguments& arguments);
/// Throws  NotVerified, the attestation of each otherwise.
std::vector<engine::Attestation> require_attestations(const std::vector<engine::Checkpoint>& checkpoints,
                                                      const engine::TrustedKeys& keys);
/// On standard error, where no key of the log was given.
void warn_unsigned(const engine::TrustedKeys& keys, Console& console);

/// What --checkpoint, --vkey, --witness and --require demand of the ledger at a path: looked at now, and
/// thrown by what is returned, which is called with that path.
/// Throws  as the above.
[[nodiscard]] std::function<void(const std::string& ledger)> evidence_check(
    const EvidenceArguments& arguments, Console& console);

/// The verbs, each of which then takes --checkpoint, --vkey, --witness and --require if it reads a ledger,
/// and refuses a ledger that does not contain every checkpoint of that file before it does anything else.
[[nodiscard]] std::vector<VerbSpec> with_evidence_options(std::vector<VerbSpec> verbs);

}  // namespace epsilog::command
