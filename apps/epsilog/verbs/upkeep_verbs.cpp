// recover, clock confirm, relocate: what is done to a ledger now and then, by hand.
#include <fmt/format.h>

#include "epsilog/engine/recovery.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "evidence_arguments.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "printable.hpp"
#include "recovery_text.hpp"
#include "report_json.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct UpkeepArguments : LedgerArguments {
  std::optional<std::string> dataset;
  std::optional<std::string> source;
  std::optional<std::string> why;
  std::optional<std::string> from;
  bool accept_truncated = false;
  bool accept_rollback = false;
};

ExitCode recover_from(const UpkeepArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const ledger::ReplicaRecovery recovery =
      engine::recover_from(ledger, *arguments.from,
                           {.by = principal_argument(arguments),
                            .why = why_argument(arguments.why),
                            .accept_truncated = arguments.accept_truncated,
                            .accept_rollback = arguments.accept_rollback},
                           engine_options(arguments, console), console.progress("verifying"));
  console.end_progress();
  const bool done = recovery.faults.empty();
  if (done && recovery.restored > 0) {
    console.set_recorded_note(ledger + " has " + std::to_string(recovery.restored) + " lines of the replica");
  }
  if (console.json()) {
    console.write(wire::recover_from_json(ledger, recovery));
  } else if (!done) {
    console.write(
        fmt::format("{}: what the replica holds does not verify: nothing was done\n", printable(ledger)));
    for (const ledger::StoredFault& fault : recovery.faults) {
      console.write(
          fmt::format("  {}  {}: {}\n", printable(fault.record), fault.code, printable(fault.message)));
    }
  } else if (!console.quiet()) {
    console.write(fmt::format("{}: {} lines {} from the replica{}\n", printable(ledger), recovery.restored,
                              recovery.kept == 0 ? "built" : "put back",
                              recovery.restored == 0 ? ": it lacks nothing" : ""));
    console.write(
        cut_off_text(recovery.dropped_from, recovery.dropped, recovery.dropped_bytes, recovery.truncated));
  }
  return done ? ExitCode::done : ExitCode::not_verified;
}

ExitCode recover(const UpkeepArguments& arguments, Console& console) {
  if (arguments.from) return recover_from(arguments, console);
  if (arguments.accept_truncated)
    throw UsageError("--accept-truncated is about a replica: name it with --from");
  const std::string ledger = ledger_path(arguments);
  const std::string why = why_argument(arguments.why);
  if (arguments.accept_rollback && why.empty()) {
    throw UsageError("--accept-rollback needs a reason: give it with --why");
  }
  const engine::RecoverReport report =
      engine::recover(ledger, principal_argument(arguments), why, engine_options(arguments, console),
                      arguments.accept_rollback);
  const bool accepted = report.accepted.remembered > 0;
  if (report.was_poisoned || accepted) console.set_recorded_note(ledger + " is usable again");
  if (console.json()) {
    console.write(wire::recover_json(ledger, report));
  } else if (!console.quiet()) {
    const std::string name = printable(ledger);
    if (accepted) {
      console.write(fmt::format("{} goes on with {} lines; it was known to have {}\n", name,
                                report.accepted.found, report.accepted.remembered));
    }
    if (arguments.accept_rollback && !accepted) {
      console.write(fmt::format("{} lacks no line that {}.lock remembers\n", name, name));
    }
    console.write(report.was_poisoned
                      ? fmt::format("{} verifies and is usable again; it had been poisoned: {}\n", name,
                                    printable(report.reason))
                      : fmt::format("{} is not poisoned: nothing to do\n", name));
  }
  return ExitCode::done;
}

ExitCode clock_confirm(const UpkeepArguments& arguments, Console& console) {
  const std::string path = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  ledger::Ledger ledger = ledger::Ledger::open(path, engine_options(arguments, console).ledger_options());
  ledger::Transaction transaction = ledger.begin();
  const std::string now = transaction.now();
  const std::string held_at = transaction.calendar_time();
  const bool held = held_at != now;
  if (held) {
    transaction.confirm_clock(by);
    static_cast<void>(ledger.commit(std::move(transaction)));
    console.set_recorded_note("the clock is confirmed as of " + now);
  }
  if (console.json()) {
    console.write(wire::clock_confirm_json(path, held ? held_at : "", now));
  } else if (!console.quiet()) {
    console.write(held ? fmt::format("{}: budgets renew again as of {}; they had stood at {}\n",
                                     printable(path), now, held_at)
                       : fmt::format("{}: the clock is trusted, nothing to confirm\n", printable(path)));
  }
  return ExitCode::done;
}

ExitCode relocate(const UpkeepArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  const std::string why = why_argument(arguments.why);
  engine::Engine engine = engine::Engine::open(ledger, options_for_writing(arguments, console));
  const engine::RelocateReport report = engine.relocate(*arguments.dataset, *arguments.source, by, why);
  if (report.changed)
    console.set_recorded_note("the source of " + report.dataset + " is found at " + report.to);
  if (console.json()) {
    console.write(wire::relocate_json(report, engine.ledger_id()));
  } else if (!console.quiet()) {
    const std::string dataset = printable(report.dataset);
    console.write(report.changed ? fmt::format("{}: its source is found at {} now\n  until then  {}\n",
                                               dataset, printable(report.to), printable(report.from))
                                 : fmt::format("{}: its source is found at {} already: nothing to do\n",
                                               dataset, printable(report.to)));
  }
  console.flush();  // what goes on beside the calls ends with the engine
  return ExitCode::done;
}

VerbSpec recover_verb() {
  return Verb<UpkeepArguments>{
      .words = "recover",
      .summary = "put a ledger right after an input/output error, lost lines, or from its replica",
      .examples =
          "epsilog recover --ledger clinic.epsilog\n"
          "epsilog recover --ledger clinic.epsilog --from /mnt/second/clinic.replica --why 'disk failed'\n"
          "epsilog recover --ledger clinic.epsilog --accept-rollback --why 'lost with the disk, no backup'",
      .details =
          "Without --from: clears the mark that an input/output error left. Works only after a reboot, when\n"
          "what is on the disk is all there is, and only if the ledger then verifies. The recovery is a "
          "line\n"
          "of its own, with what had failed.\n"
          "With --from: puts back the lines that the replica holds and the ledger has lost, or makes the\n"
          "ledger of them if it is not there, if what comes of it verifies; the recovery is a line of its\n"
          "own. A torn end of the replica is cut off: nobody was told of it. Lines that were written whole\n"
          "and changed since are damage (exit code 6): somebody may have been told of them, and\n"
          "--accept-truncated cuts off these, too.\n"
          "\n"
          "If the ledger has fewer lines than its lock file remembers (lines_missing), put them back from the\n"
          "replica or a backup. If they are lost, --accept-rollback goes on without them. The ledger keeps\n"
          "both numbers and the reason. What was spent in those lines can be spent again.",
      .options = {{"--ledger", &UpkeepArguments::ledger},
                  {"--from", &UpkeepArguments::from, false, "the replica"},
                  {"--accept-rollback", &UpkeepArguments::accept_rollback},
                  {"--accept-truncated", &UpkeepArguments::accept_truncated},
                  {"--why", &UpkeepArguments::why, false,
                   "the reason, kept with the recovery; needed with --from and --accept-rollback"},
                  {"--as", &UpkeepArguments::principal, false,
                   "who does it (default: the name of the operating system's user)"},
                  {"--wait", &UpkeepArguments::wait}},
      .run = &recover};
}

VerbSpec clock_confirm_verb() {
  return Verb<UpkeepArguments>{
      .words = "clock confirm",
      .summary = "vouch for a clock that jumped forwards, so that budgets renew again",
      .examples = "epsilog clock confirm --ledger clinic.epsilog --as curator",
      .details =
          "When the wall clock runs ahead of the time since boot, releases go on but no budget renews\n"
          "until somebody, by name, confirms that the clock is right. Exit code 7: it stands behind\n"
          "ledger time.",
      .options = {{"--ledger", &UpkeepArguments::ledger},
                  {"--as", &UpkeepArguments::principal},
                  {"--wait", &UpkeepArguments::wait}},
      .run = &clock_confirm};
}

VerbSpec relocate_verb() {
  return Verb<UpkeepArguments>{
      .words = "relocate",
      .summary = "say where the source of a dataset stands now, once it was moved",
      .examples =
          "epsilog relocate clinic --source /srv/clinic/visits.csv --why 'project moved to the new server'",
      .details =
          "The same data, vouched for by whoever runs this: nothing in the ledger could show others.\n"
          "What is there must have the kind and the columns that the policy declares. PATH is relative\n"
          "to the working directory. Every reader of the source goes by it until it is relocated again,\n"
          "or a policy writes another path; `epsilog audit verify` and `epsilog history` show it with\n"
          "who and why.",
      .positionals = {{"DATASET", &UpkeepArguments::dataset, true, "the dataset whose source was moved"}},
      .options =
          joined<UpkeepArguments>({{"--source", &UpkeepArguments::source, true}},
                                  saying_options<UpkeepArguments>("the reason, kept with the relocation")),
      .run = &relocate};
}

}  // namespace

std::vector<VerbSpec> upkeep_verbs() {
  return with_evidence_options({recover_verb(), clock_confirm_verb(), relocate_verb()});
}

}  // namespace epsilog::command
