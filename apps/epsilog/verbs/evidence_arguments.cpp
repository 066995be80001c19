#include "evidence_arguments.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

#include "checked_arguments.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

constexpr std::int64_t kWitnessesMax = 100;

std::optional<std::string> option_text(const CommandLine& line, std::string_view option) {
  return line.has(option) ? std::optional(line.text(option)) : std::nullopt;
}

std::vector<std::string> option_texts(const CommandLine& line, std::string_view option) {
  std::vector<std::string> texts;
  for (const CommandLine::Given& one : line.options) {
    if (one.option->name == option) texts.push_back(one.text);
  }
  return texts;
}

void require_no_keys(bool given) {
  if (!given) return;
  throw UsageError("--vkey, --witness and --require say who signed a checkpoint: name it with --checkpoint");
}

/// The verb opens the ledger again: who may put another file in its place in between may do so at any time.
void require_evidence(const CommandLine& line, Console& console) {
  EvidenceArguments arguments;
  arguments.checkpoint = option_text(line, "--checkpoint");
  arguments.vkey = option_text(line, "--vkey");
  arguments.witnesses = option_texts(line, "--witness");
  arguments.require = option_text(line, "--require");
  arguments.ledger = option_text(line, "--ledger");
  const auto demanded = evidence_check(arguments, console);
  if (arguments.checkpoint) demanded(ledger_path(arguments));
}

OptionUse evidence_option(std::string_view name, OptionStorage storage, std::string_view help = {}) {
  return option_use(name, storage, false, help);
}

/// Those make what --ledger names, or take a checkpoint of their own.
bool takes_evidence(const VerbSpec& verb) {
  return verb.takes("--ledger") && !verb.takes("--checkpoint") && verb.words != "init" &&
         verb.words != "audit import";
}

}  // namespace

std::string file_argument(const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) throw UsageError("cannot read " + printable(file));
  }
  std::istream& input = file == "-" ? std::cin : opened;
  std::ostringstream text;
  text << input.rdbuf();
  if (input.bad()) throw InputError("cannot read " + (file == "-" ? "standard input" : printable(file)));
  return text.str();
}

std::vector<engine::Checkpoint> checkpoints_argument(const std::string& file) {
  return engine::parse_checkpoints(file_argument(file));
}

engine::TrustedKeys trusted_keys(const std::optional<std::string>& vkey,
                                 const std::vector<std::string>& witnesses,
                                 const std::optional<std::string>& require) {
  engine::TrustedKeys keys;
  if (vkey) keys.log = engine::parse_verifier_key(*vkey);
  for (const std::string& witness : witnesses) keys.witnesses.push_back(engine::parse_verifier_key(witness));
  keys.required = require
                      ? static_cast<std::size_t>(whole_number_argument(*require, "--require", kWitnessesMax))
                      : keys.witnesses.size();
  engine::require_sound(keys);
  return keys;
}

engine::TrustedKeys trusted_keys(const EvidenceArguments& arguments) {
  return trusted_keys(arguments.vkey, arguments.witnesses, arguments.require);
}

void require_checkpoint_named(const EvidenceArguments& arguments) {
  if (arguments.checkpoint) return;
  require_no_keys(arguments.vkey || !arguments.witnesses.empty() || arguments.require);
}

std::vector<engine::Attestation> require_attestations(const std::vector<engine::Checkpoint>& checkpoints,
                                                      const engine::TrustedKeys& keys) {
  std::vector<engine::Attestation> attestations;
  attestations.reserve(checkpoints.size());
  for (const engine::Checkpoint& one : checkpoints)
    attestations.push_back(engine::verify_attestation(one, keys));
  return attestations;
}

void warn_unsigned(const engine::TrustedKeys& keys, Console& console) {
  if (!keys.log) console.message("unsigned: without --vkey nobody is held to have signed the checkpoint");
}

std::function<void(const std::string& ledger)> evidence_check(const EvidenceArguments& arguments,
                                                              Console& console) {
  require_checkpoint_named(arguments);
  if (!arguments.checkpoint) return [](const std::string&) {};
  const engine::TrustedKeys keys = trusted_keys(arguments);
  const std::vector<engine::Checkpoint> checkpoints = checkpoints_argument(*arguments.checkpoint);
  static_cast<void>(require_attestations(checkpoints, keys));
  return [keys, checkpoints, &console](const std::string& ledger) {
    ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
    for (const engine::Checkpoint& one : checkpoints) engine::require_contained(view, one);
    if (!console.quiet()) warn_unsigned(keys, console);
  };
}

std::vector<VerbSpec> with_evidence_options(std::vector<VerbSpec> verbs) {
  for (VerbSpec& verb : verbs) {
    if (!takes_evidence(verb)) continue;
    verb.options.push_back(evidence_option("--checkpoint", OptionStorage::text));
    verb.options.push_back(evidence_option("--vkey", OptionStorage::text));
    verb.options.push_back(evidence_option("--witness", OptionStorage::texts));
    verb.options.push_back(evidence_option("--require", OptionStorage::text));
    verb.run = [run = std::move(verb.run)](const CommandLine& line, Console& console) {
      require_evidence(line, console);
      return run(line, console);
    };
  }
  return verbs;
}

}  // namespace epsilog::command
