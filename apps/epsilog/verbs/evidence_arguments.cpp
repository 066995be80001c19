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

std::optional<std::string> given(const CommandLine& line, std::string_view option) {
  return line.has(option) ? std::optional(line.text(option)) : std::nullopt;
}

std::vector<std::string> all_given(const CommandLine& line, std::string_view option) {
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
void hold(const CommandLine& line, Console& console) {
  EvidenceArguments arguments;
  arguments.checkpoint = given(line, "--checkpoint");
  arguments.vkey = given(line, "--vkey");
  arguments.witnesses = all_given(line, "--witness");
  arguments.require = given(line, "--require");
  arguments.ledger = given(line, "--ledger");
  const auto demanded = demanded_of(arguments, console);
  if (arguments.checkpoint) demanded(ledger_path(arguments));
}

OptionUse use(std::string_view name, Kept kept, std::string_view help = {}) {
  return use_of(name, kept, false, help);
}

/// Those make what --ledger names, or take a checkpoint of their own.
bool is_held(const VerbSpec& verb) {
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

std::vector<engine::Attestation> attested_all(const std::vector<engine::Checkpoint>& checkpoints,
                                              const engine::TrustedKeys& keys) {
  std::vector<engine::Attestation> attestations;
  attestations.reserve(checkpoints.size());
  for (const engine::Checkpoint& one : checkpoints) attestations.push_back(engine::attested(one, keys));
  return attestations;
}

void say_unsigned(const engine::TrustedKeys& keys, Console& console) {
  if (!keys.log) console.message("unsigned: without --vkey nobody is held to have signed the checkpoint");
}

std::function<void(const std::string& ledger)> demanded_of(const EvidenceArguments& arguments,
                                                           Console& console) {
  require_checkpoint_named(arguments);
  if (!arguments.checkpoint) return [](const std::string&) {};
  const engine::TrustedKeys keys = trusted_keys(arguments);
  const std::vector<engine::Checkpoint> checkpoints = checkpoints_argument(*arguments.checkpoint);
  static_cast<void>(attested_all(checkpoints, keys));
  return [keys, checkpoints, &console](const std::string& ledger) {
    ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
    for (const engine::Checkpoint& one : checkpoints) engine::require_contained(view, one);
    if (!console.quiet()) say_unsigned(keys, console);
  };
}

std::vector<VerbSpec> held_to_checkpoints(std::vector<VerbSpec> verbs) {
  for (VerbSpec& verb : verbs) {
    if (!is_held(verb)) continue;
    verb.options.push_back(use("--checkpoint", Kept::text));
    verb.options.push_back(use("--vkey", Kept::text));
    verb.options.push_back(use("--witness", Kept::texts));
    verb.options.push_back(use("--require", Kept::text));
    verb.run = [run = std::move(verb.run)](const CommandLine& line, Console& console) {
      hold(line, console);
      return run(line, console);
    };
  }
  return verbs;
}

}  // namespace epsilog::command
