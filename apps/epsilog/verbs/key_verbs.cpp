// key generate: the keys that sign checkpoints.
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/key_file.hpp"
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
  console.made("the key " + printable(*arguments.file) + " was made; its verifier key is " + key.text());
  console.write(console.json() ? key_json(*arguments.file, key) : key.text() + '\n');
  return ExitCode::done;
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

}  // namespace

std::vector<VerbSpec> key_verbs() {
  return held_to_checkpoints({key_generate_verb()});
}

}  // namespace epsilog::command
