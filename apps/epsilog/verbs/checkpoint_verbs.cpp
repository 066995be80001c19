// audit checkpoint, prove, consistency: what a ledger gives away, for others to hold it to.
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "evidence_arguments.hpp"
#include "evidence_json.hpp"
#include "ledger_opening.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

ledger::Snapshot open_snapshot(const EvidenceArguments& arguments, const Console& console) {
  return ledger::Ledger::open_read_only(ledger_path(arguments),
                                        engine_options(arguments, console).ledger_options())
      .snapshot();
}

/// The newest of --checkpoint, all of which must be signed as is demanded and be of this ledger.
engine::Checkpoint newest_checkpoint(const EvidenceArguments& arguments, ledger::Snapshot& view,
                                     Console& console) {
  const engine::TrustedKeys keys = trusted_keys(arguments);
  const std::vector<engine::Checkpoint> checkpoints = checkpoints_argument(*arguments.checkpoint);
  static_cast<void>(require_attestations(checkpoints, keys));
  for (const engine::Checkpoint& one : checkpoints) engine::require_contained(view, one);
  if (!console.quiet()) warn_unsigned(keys, console);
  return checkpoints.back();
}

ExitCode audit_checkpoint(const EvidenceArguments& arguments, Console& console) {
  const engine::EngineOptions options = engine_options(arguments, console);
  std::vector<engine::Checkpoint> state_from;
  if (arguments.state_from) state_from = checkpoints_argument(*arguments.state_from);
  engine::KeyFile key(*arguments.key, options.ledger_options().wait);
  ledger::Snapshot view = open_snapshot(arguments, console);
  const engine::Checkpoint checkpoint = engine::sign_checkpoint(view, key, state_from);
  console.write(console.json() ? wire::checkpoint_json(checkpoint, key.key().verifier())
                               : engine::note_text(checkpoint.note));
  return ExitCode::done;
}

ExitCode audit_prove(const EvidenceArguments& arguments, Console& console) {
  const std::string id = decision_id_argument(*arguments.file, ledger_path(arguments));
  ledger::Snapshot view = open_snapshot(arguments, console);
  const engine::Checkpoint checkpoint = newest_checkpoint(arguments, view, console);
  const auto decision = view.find_by_id(id);
  if (!decision) throw NotFound("no decision has the id '" + id + "'");
  const engine::ProvedLine proved =
      engine::prove_line(view, static_cast<std::uint64_t>(decision->line), checkpoint);
  console.write(console.json() ? wire::proved_line_json(proved)
                               : proved.line + '\n' + engine::inclusion_text(proved.proof));
  return ExitCode::done;
}

ExitCode audit_consistency(const EvidenceArguments& arguments, Console& console) {
  ledger::Snapshot view = open_snapshot(arguments, console);
  std::uint64_t old_size = 0;
  if (arguments.file) {
    const std::vector<engine::Checkpoint> old = checkpoints_argument(*arguments.file);
    // Who cosigned the newer one need not have seen this one.
    static_cast<void>(require_attestations(old, {.log = trusted_keys(arguments).log}));
    for (const engine::Checkpoint& one : old) engine::require_contained(view, one);
    old_size = old.back().tree.size;
  }
  const engine::ConsistencyText proof =
      engine::prove_consistency(view, old_size, newest_checkpoint(arguments, view, console));
  console.write(console.json() ? wire::consistency_json(proof) : engine::consistency_text(proof));
  return ExitCode::done;
}

VerbSpec audit_checkpoint_verb() {
  return Verb<EvidenceArguments>{
      .words = "audit checkpoint",
      .summary = "sign what the ledger holds now, for others to keep",
      .examples =
          "epsilog audit checkpoint --key log.key\n"
          "epsilog audit checkpoint --key log.key --json\n"
          "epsilog audit checkpoint --key log.key --state-from kept.checkpoint",
      .details =
          "Size and root of the ledger's tree as a C2SP tlog-checkpoint. Lines since the key signed last\n"
          "are hashed again, from their rows. What was signed is kept in FILE.state before anything is\n"
          "printed; a ledger that lacks a line of it, or has another in its place, is not signed: exit\n"
          "code 6. Without a state nothing is signed, but with --state-from, the newest checkpoint that\n"
          "the key signed: then every line is hashed again.",
      .options = {{"--key", &EvidenceArguments::key, true,
                   "the file of the ledger's key (epsilog key generate)"},
                  {"--state-from", &EvidenceArguments::state_from},
                  {"--ledger", &EvidenceArguments::ledger},
                  {"--wait", &EvidenceArguments::wait}},
      .run = &audit_checkpoint};
}

/// Of a verb that proves something of a checkpoint. `says`: which.
std::vector<Option<EvidenceArguments>> checkpoint_options(std::string_view says) {
  return {{"--checkpoint", &EvidenceArguments::checkpoint, true, says},
          {"--vkey", &EvidenceArguments::vkey},
          {"--witness", &EvidenceArguments::witnesses},
          {"--require", &EvidenceArguments::require},
          {"--ledger", &EvidenceArguments::ledger},
          {"--wait", &EvidenceArguments::wait}};
}

VerbSpec audit_prove_verb() {
  return Verb<EvidenceArguments>{
      .words = "audit prove",
      .summary = "a decision's line, and the proof that a checkpoint has it",
      .examples =
          "epsilog audit prove 01HV5Y3K9QZ8T7W6R5N4M3J2XA --checkpoint today.checkpoint\n"
          "epsilog audit prove 01HV5 --checkpoint today.checkpoint > release.proof",
      .details =
          "First the line, as audit export prints it, then a C2SP tlog-proof with the checkpoint, the last\n"
          "one of its file. epsilog audit check-proof checks the two without a ledger. Exit code 3: the\n"
          "checkpoint is older than the decision.",
      .positionals = {{"DECISION_ID", &EvidenceArguments::file, true,
                       "the id that release printed, or how it begins"}},
      .options = checkpoint_options("the file of the checkpoint that is to have it"),
      .run = &audit_prove};
}

VerbSpec audit_consistency_verb() {
  return Verb<EvidenceArguments>{
      .words = "audit consistency",
      .summary = "the proof that a checkpoint extends an older one, for a witness",
      .examples =
          "epsilog audit consistency kept.checkpoint --checkpoint today.checkpoint\n"
          "epsilog audit consistency --checkpoint first.checkpoint",
      .details =
          "The body of add-checkpoint of C2SP tlog-witness, which audit cosign takes as --proof. Without\n"
          "OLD from size 0, for a witness that cosigned nothing yet. Exit code 6: the ledger does not\n"
          "contain one of the checkpoints.",
      .positionals = {{"OLD", &EvidenceArguments::file, false,
                       "the file of the older checkpoint; of several the last"}},
      .options = checkpoint_options("the file of the newer checkpoint; of several the last"),
      .run = &audit_consistency};
}

}  // namespace

std::vector<VerbSpec> audit_checkpoint_verbs() {
  return {audit_checkpoint_verb(), audit_prove_verb(), audit_consistency_verb()};
}

}  // namespace epsilog::command
