// key generate, add, retire: the keys that sign checkpoints, and what a ledger says of its own.
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/key_file.hpp"
#include "epsilog/engine/named_keys.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "evidence_arguments.hpp"
#include "evidence_json.hpp"
#include "ledger_arguments.hpp"
#include "printable.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct KeyArguments : LedgerArguments {
  std::optional<std::string> file;
  std::optional<std::string> name;
  std::optional<std::string> vkey;
  std::optional<std::string> why;
};

std::string key_name(const KeyArguments& arguments) {
  if (arguments.name && arguments.ledger) {
    throw UsageError("--name and --ledger both say whose key it is: give one");
  }
  if (arguments.name) return *arguments.name;
  return engine::ledger_origin(ledger::Ledger::open_read_only(ledger_path(arguments)).ledger_id());
}

ExitCode key_generate(const KeyArguments& arguments, Console& console) {
  if (arguments.file->empty()) throw UsageError("no file named for the key");
  const engine::VerifierKey key = engine::generate_key(*arguments.file, key_name(arguments));
  console.set_recorded_note("the key " + printable(*arguments.file) + " was made; its verifier key is " +
                            key.text());
  console.write(console.json() ? wire::key_json(*arguments.file, key) : key.text() + '\n');
  return ExitCode::done;
}

ExitCode change_key(const KeyArguments& arguments, Console& console, engine::KeyChange change) {
  const std::string path = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  const std::string why = why_argument(arguments.why);
  ledger::Ledger ledger = ledger::Ledger::open(path, engine_options(arguments, console).ledger_options());
  const engine::KeyReport report = engine::record_key_change(ledger, *arguments.vkey, change, by, why);
  const std::string now = change == engine::KeyChange::add ? "is a key of the ledger" : "is retired";
  if (report.changed) console.set_recorded_note("the key " + *arguments.vkey + " " + now);
  if (console.json()) {
    console.write(wire::named_key_json(ledger.ledger_id(), *arguments.vkey, change, report));
  } else if (!console.quiet()) {
    console.write(printable(*arguments.vkey) + " " + now +
                  (report.changed ? " as of " + report.at + "\n" : " already: nothing to do\n"));
  }
  return ExitCode::done;
}

ExitCode key_add(const KeyArguments& arguments, Console& console) {
  return change_key(arguments, console, engine::KeyChange::add);
}

ExitCode key_retire(const KeyArguments& arguments, Console& console) {
  return change_key(arguments, console, engine::KeyChange::retire);
}

VerbSpec key_generate_verb() {
  return Verb<KeyArguments>{
      .words = "key generate",
      .summary = "make a key that signs checkpoints, and print its verifier key",
      .examples =
          "epsilog key generate log.key --ledger clinic.epsilog\n"
          "epsilog key generate witness.key --name board.example/witness",
      .details =
          "FILE holds the key and FILE.state what it has signed, which is nothing yet; both are for their\n"
          "owner alone, and nothing is overwritten. Keep the two together, and not where the ledger lies.\n"
          "--name makes the key of a witness, or that of a ledger if it is epsilog/ and a ledger's id. The\n"
          "verifier key, which is printed, is for everybody who checks what the key signs.",
      .positionals = {{"FILE", &KeyArguments::file, true, "a new file for the key"}},
      .options = {{"--ledger", &KeyArguments::ledger, false,
                   "the ledger whose checkpoints it signs (default: EPSILOG_LEDGER)"},
                  {"--name", &KeyArguments::name}},
      .run = &key_generate};
}

Verb<KeyArguments> change_key_verb() {
  return {
      .words = {},
      .summary = {},
      .examples = {},
      .positionals = {{"VKEY", &KeyArguments::vkey, true, "the verifier key, as key generate printed it"}},
      .options = saying_options<KeyArguments>()};
}

VerbSpec key_add_verb() {
  Verb<KeyArguments> verb = change_key_verb();
  verb.words = "key add";
  verb.summary = "record that a key signs checkpoints of the ledger from now on";
  verb.examples = "epsilog key add VKEY --why 'first key, published in the contract'";
  verb.details =
      "For the history: who reads it later knows which keys there were, and who named them. Nobody is\n"
      "convinced by it: whoever forges a ledger names keys in it too.";
  verb.run = &key_add;
  return verb;
}

VerbSpec key_retire_verb() {
  Verb<KeyArguments> verb = change_key_verb();
  verb.words = "key retire";
  verb.summary = "record that a key signs checkpoints of the ledger no more";
  verb.examples = "epsilog key retire VKEY --why 'the machine it lay on was given away'";
  verb.details = "What it signed until then stays signed. The file of the key is not touched.";
  verb.run = &key_retire;
  return verb;
}

}  // namespace

std::vector<VerbSpec> key_verbs() {
  return with_evidence_options({key_generate_verb(), key_add_verb(), key_retire_verb()});
}

}  // namespace epsilog::command
