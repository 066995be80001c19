// backup, restore, seal: a ledger in a second place, and back again.
#include <fmt/format.h>

#include "epsilog/engine/verified_backup.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "evidence_arguments.hpp"
#include "printable.hpp"
#include "recovery_text.hpp"
#include "report_json.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct BackupArguments : EvidenceArguments {
  std::optional<std::string> why;
  std::optional<std::string> from;
  bool accept_rollback = false;
  bool accept_truncated = false;
  bool sealed = false;
};

std::string faults_text(const std::string& said, const std::vector<ledger::StoredFault>& faults) {
  std::string text = said + "\n";
  for (const ledger::StoredFault& fault : faults) {
    text += fmt::format("  {}  {}: {}\n", printable(fault.record), fault.code, printable(fault.message));
  }
  return text;
}

std::string tree_text(const ledger::TreeHead& tree) {
  return fmt::format("  log      {} lines, root {}\n", tree.size, ledger::hex_text(tree.root));
}

ExitCode backup(const BackupArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::string& file = *arguments.file;
  const ledger::Backup made =
      engine::backup(ledger, file, engine_options(arguments, console), console.progress("backing up"));
  console.end_progress();
  const bool done = made.faults.empty();
  if (done)
    console.set_recorded_note("the backup " + file + " stands at " + std::to_string(made.tree.size) +
                              " lines");
  if (console.json()) {
    console.write(wire::backup_json(ledger, file, made));
  } else if (!done) {
    console.write(
        faults_text(fmt::format("{} does not verify: no backup was made", printable(ledger)), made.faults));
  } else if (!console.quiet()) {
    console.write(
        fmt::format("{} is a backup of {}\n", printable(file), printable(ledger)) + tree_text(made.tree) +
        fmt::format("  stands   at {} decisions, the last line of {}\n", made.decisions, made.last_time));
  }
  return done ? ExitCode::done : ExitCode::not_verified;
}

ExitCode restore(const BackupArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::string& file = *arguments.file;
  ledger::RestoreOptions steps{.by = principal_argument(arguments),
                               .why = why_argument(arguments.why),
                               .replica = arguments.from.value_or(""),
                               .accept_rollback = arguments.accept_rollback,
                               .accept_truncated = arguments.accept_truncated,
                               .sealed = arguments.sealed};
  steps.check_result = evidence_check(arguments, console);
  const ledger::Restoration restored = engine::restore(
      ledger, file, std::move(steps), engine_options(arguments, console), console.progress("restoring"));
  console.end_progress();
  const bool done = restored.faults.empty();
  if (done) console.set_recorded_note(ledger + " is the ledger of the backup again");
  if (console.json()) {
    console.write(wire::restore_json(ledger, file, restored));
  } else if (!done) {
    console.write(faults_text(fmt::format("{} does not verify: nothing was restored", printable(file)),
                              restored.faults));
  } else if (!console.quiet()) {
    console.write(fmt::format("{} is restored from {}{}\n", printable(ledger), printable(file),
                              restored.unsealed ? ", and goes on here from its seal" : ""));
    console.write(
        restored.replica.empty() && restored.unsealed
            ? fmt::format("  lines    {} of the backup; nothing was recorded after its seal\n", restored.kept)
        : restored.replica.empty()
            ? fmt::format("  lines    {} of the backup; what was spent after it is forgotten\n",
                          restored.kept)
            : fmt::format("  lines    {} of the backup, {} after them of the replica {}\n"
                          "  replica  ends with line {} of {}\n",
                          restored.kept, restored.restored, printable(restored.replica),
                          restored.replica_lines - 1, restored.replica_end));
    console.write(
        cut_off_text(restored.dropped_from, restored.dropped, restored.dropped_bytes, restored.truncated));
    console.write(tree_text(restored.tree));
  }
  return done ? ExitCode::done : ExitCode::not_verified;
}

ExitCode seal(const BackupArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const ledger::SealResult done =
      ledger::Ledger::seal(ledger, principal_argument(arguments), why_argument(arguments.why),
                           engine_options(arguments, console).ledger_options());
  if (done.changed) console.set_recorded_note(ledger + " is sealed");
  if (console.json()) {
    console.write(wire::seal_json(ledger, done));
  } else if (!console.quiet()) {
    console.write(done.changed
                      ? fmt::format("{} is sealed: nothing is recorded in it any more\n", printable(ledger))
                      : fmt::format("{} is sealed already, since {}, by {}: nothing to do\n",
                                    printable(ledger), done.seal.at, printable(done.seal.by)));
    console.write(tree_text(done.tree));
  }
  return ExitCode::done;
}

VerbSpec backup_verb() {
  return Verb<BackupArguments>{
      .words = "backup",
      .summary = "copy the ledger into a new file, while others write to it",
      .examples =
          "epsilog backup /mnt/second/clinic-monday.epsilog --ledger clinic.epsilog\n"
          "epsilog backup monday.epsilog --json",
      .details =
          "The copy is verified, its file included, and durable before it has its name; nothing is\n"
          "overwritten. It holds everything that was acknowledged before, and says at which line of the log\n"
          "it stands. Put back, by `epsilog restore`, it has forgotten what was spent since, unless a\n"
          "replica knows. Exit code 6: the ledger does not verify, or was put back itself.",
      .positionals = {{"FILE", &BackupArguments::file, true, "the new file"}},
      .options = {{"--ledger", &BackupArguments::ledger}, {"--wait", &BackupArguments::wait}},
      .run = &backup};
}

VerbSpec restore_verb() {
  return Verb<BackupArguments>{
      .words = "restore",
      .summary = "put a backup in the place of a ledger that is gone",
      .examples =
          "epsilog restore /mnt/second/clinic-monday.epsilog --ledger clinic.epsilog --why 'disk failed'\n"
          "epsilog restore monday.epsilog --accept-rollback --why 'no replica; 0.4 spent since by hand'\n"
          "epsilog restore moved.epsilog --ledger /srv/clinic/clinic.epsilog --sealed --why 'new server'",
      .details =
          "FILE is a backup, or any copy of a ledger. Where a ledger is, it is never overwritten: move it\n"
          "away first, with what lies beside it. What the replica that the backup's policy names holds\n"
          "after it is put back. Where there is none that can be used, nothing shows what was spent since:\n"
          "that takes --accept-rollback and a reason. Either is a line of the ledger. With --checkpoint\n"
          "what does not contain it is not restored.\n"
          "\n"
          "A ledger that was sealed (epsilog seal) goes on from its seal with --sealed: nothing is "
          "forgotten,\n"
          "and no replica is needed to show that. Nothing prevents that two copies go on so: restore one, "
          "and\n"
          "delete FILE afterwards.",
      .positionals = {{"FILE", &BackupArguments::file, true, "the backup"}},
      .options = {{"--ledger", &BackupArguments::ledger},
                  {"--from", &BackupArguments::from, false,
                   "the replica (default: the one that the backup's policy names)"},
                  {"--accept-rollback", &BackupArguments::accept_rollback},
                  {"--accept-truncated", &BackupArguments::accept_truncated},
                  {"--sealed", &BackupArguments::sealed},
                  {"--why", &BackupArguments::why, false, "the reason, kept with the recovery"},
                  {"--as", &BackupArguments::principal, false,
                   "who does it (default: the name of the operating system's user)"},
                  {"--checkpoint", &BackupArguments::checkpoint},
                  {"--vkey", &BackupArguments::vkey},
                  {"--witness", &BackupArguments::witnesses},
                  {"--require", &BackupArguments::require},
                  {"--wait", &BackupArguments::wait}},
      .run = &restore};
}

VerbSpec seal_verb() {
  return Verb<BackupArguments>{
      .words = "seal",
      .summary = "end the ledger here, so that it can go on on another machine",
      .examples = "epsilog seal --ledger clinic.epsilog --why 'moves to the new server'",
      .details =
          "Records the seal as the last line, in the ledger and in its replica. From then on the ledger can "
          "be\n"
          "read, verified and backed up, and whatever would be recorded in it is refused (ledger_sealed, "
          "exit\n"
          "code 3). Requests that wait and reservations stay as they are. To go on: `epsilog backup`, bring\n"
          "the copy to its new place, `epsilog restore --sealed` there. Of a ledger that is sealed already "
          "it\n"
          "brings the replica up to date and records nothing.",
      .options = {{"--ledger", &BackupArguments::ledger},
                  {"--why", &BackupArguments::why, true, "the reason, kept with the seal"},
                  {"--as", &BackupArguments::principal, false,
                   "who does it (default: the name of the operating system's user)"},
                  {"--wait", &BackupArguments::wait}},
      .run = &seal};
}

}  // namespace

std::vector<VerbSpec> backup_verbs() {
  return with_evidence_options({backup_verb(), restore_verb(), seal_verb()});
}

}  // namespace epsilog::command
