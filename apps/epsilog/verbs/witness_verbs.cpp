// audit check-proof, audit cosign: what somebody does who has no ledger.
#include <fmt/format.h>

#include <chrono>

#include "epsilog/engine/key_file.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/witness.hpp"
#include "epsilog/ledger/ledger_options.hpp"
#include "evidence_arguments.hpp"
#include "evidence_json.hpp"
#include "printable.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

/// As audit prove prints it: a line, then the proof.
engine::ProvedLine proved_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) throw engine::NotVerified("proof: line 1, which is proved, does not end");
  return {.line = text.substr(0, end),
          .proof = engine::parse_inclusion(std::string_view(text).substr(end + 1), 2)};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

ExitCode audit_check_proof(const EvidenceArguments& arguments, Console& console) {
  const engine::TrustedKeys keys = trusted_keys(arguments);
  const engine::ProvedLine proved = proved_line(file_argument(*arguments.file));
  const engine::Attestation attestation = engine::verify_attestation(proved.proof.checkpoint, keys);
  require_included(proved.line, proved.proof);
  if (console.json()) {
    console.write(wire::checked_proof_json(proved, attestation));
  } else if (!console.quiet()) {
    const engine::Checkpoint& checkpoint = proved.proof.checkpoint;
    std::string text = fmt::format("the line is number {} of {} at size {}\n", proved.proof.index,
                                   printable(checkpoint.origin), checkpoint.tree.size);
    text += attestation.signed_by_log
                ? "  signed     by its key\n"
                : "  unsigned   without --vkey nobody is held to have signed the checkpoint\n";
    if (!attestation.witnesses.empty()) text += "  witnesses  " + joined(attestation.witnesses) + '\n';
    console.write(text);
  }
  return ExitCode::done;
}

engine::Checkpoint only_checkpoint(const std::string& file) {
  const std::vector<engine::Checkpoint> checkpoints = checkpoints_argument(file);
  if (checkpoints.size() == 1) return checkpoints.front();
  throw UsageError(printable(file) + " has " + std::to_string(checkpoints.size()) +
                   " checkpoints: one at a time is cosigned");
}

ExitCode audit_cosign(const EvidenceArguments& arguments, Console& console) {
  if (*arguments.file == "-" && *arguments.proof == "-") {
    throw UsageError("checkpoint and proof cannot both come from standard input");
  }
  const engine::VerifierKey log = engine::parse_verifier_key(*arguments.vkey);
  const engine::Checkpoint checkpoint = only_checkpoint(*arguments.file);
  const engine::ConsistencyText proof = engine::parse_consistency(file_argument(*arguments.proof));
  std::vector<engine::Checkpoint> state_from;
  if (arguments.state_from) state_from = checkpoints_argument(*arguments.state_from);
  engine::KeyFile key(*arguments.key, engine_options(arguments, console).ledger_options().wait);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const engine::Checkpoint cosigned =
      engine::cosign(checkpoint, proof, log, key, static_cast<std::uint64_t>(now.count()), state_from);
  console.write(console.json() ? wire::checkpoint_json(cosigned, key.key().verifier())
                               : engine::note_text(cosigned.note));
  return ExitCode::done;
}

VerbSpec audit_check_proof_verb() {
  return Verb<EvidenceArguments>{
      .words = "audit check-proof",
      .summary = "check a line and its proof, without a ledger",
      .examples =
          "epsilog audit check-proof release.proof --vkey epsilog/7f…+5202289b+Af/cLU2Y…\n"
          "epsilog audit check-proof release.proof --vkey VKEY --witness W1 --witness W2 --require 1",
      .details =
          "What audit prove printed: that the line is in the tree of the checkpoint, that the log's key\n"
          "signed that and so did the witnesses. Keys are those given here, got from somebody other than\n"
          "the ledger; without --vkey it is only said that the proof holds, unsigned. Exit code 6: it\n"
          "does not hold.",
      .positionals = {{"FILE", &EvidenceArguments::file, true,
                       "the file of line and proof; - for standard input"}},
      .options = {{"--vkey", &EvidenceArguments::vkey},
                  {"--witness", &EvidenceArguments::witnesses},
                  {"--require", &EvidenceArguments::require}},
      .run = &audit_check_proof};
}

VerbSpec audit_cosign_verb() {
  return Verb<EvidenceArguments>{
      .words = "audit cosign",
      .summary = "cosign a checkpoint as a witness, if it extends what was cosigned before",
      .examples = "epsilog audit cosign today.checkpoint --proof today.proof --key w.key --vkey VKEY",
      .details =
          "For a witness, who needs no ledger and no network: prints the checkpoint with a cosignature/v1\n"
          "(C2SP tlog-cosignature). The proof is what audit consistency printed from the checkpoint that\n"
          "this witness cosigned last, the first time from size 0. What was cosigned is kept in\n"
          "FILE.state before anything is printed. Exit code 6: the checkpoint is not signed by the log's\n"
          "key, or not shown to extend what was cosigned. --state-from names what the witness cosigned\n"
          "last, of every log, where its state was lost.",
      .positionals = {{"CHECKPOINT", &EvidenceArguments::file, true,
                       "the file of the checkpoint; - for standard input"}},
      .options = {{"--proof", &EvidenceArguments::proof, true},
                  {"--key", &EvidenceArguments::key, true,
                   "the file of the witness's key (epsilog key generate)"},
                  {"--vkey", &EvidenceArguments::vkey, true},
                  {"--state-from", &EvidenceArguments::state_from},
                  {"--wait", &EvidenceArguments::wait, false,
                   "seconds to wait while somebody else signs with the key (default 30)"}},
      .run = &audit_cosign};
}

}  // namespace

std::vector<VerbSpec> audit_witness_verbs() {
  return {audit_check_proof_verb(), audit_cosign_verb()};
}

}  // namespace epsilog::command
