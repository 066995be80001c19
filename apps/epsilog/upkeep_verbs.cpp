// migrate, clock confirm, relocate: what is done to a ledger now and then, by hand.
#include <fmt/format.h>

#include "checked_arguments.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "ledger_json.hpp"
#include "opened_ledger.hpp"
#include "printable.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
ExitCode migrate(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const ledger::Migration migration =
      ledger::Ledger::migrate(ledger, engine_options(arguments).ledger_options());
  if (migration.from != migration.to) {
    console.made(ledger + " has schema " + std::to_string(migration.to) +
                 " now; as it was: " + migration.copy);
  }
  if (console.json()) {
    console.write(migrate_json(ledger, migration));
  } else if (!console.quiet()) {
    console.write(
        migration.from == migration.to
            ? fmt::format("{} has schema {} already: nothing to do\n", printable(ledger), migration.to)
            : fmt::format("{} was brought from schema {} to {}\n  as it was  {}\n", printable(ledger),
                          migration.from, migration.to, printable(migration.copy)));
  }
  return ExitCode::done;
}

ExitCode clock_confirm(const Arguments& arguments, Console& console) {
  const std::string path = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  ledger::Ledger ledger = ledger::Ledger::open(path, engine_options(arguments).ledger_options());
  ledger::Transaction transaction = ledger.begin();
  const std::string now = transaction.now();
  const std::string held_at = transaction.calendar_time();
  const bool held = held_at != now;
  if (held) {
    transaction.confirm_clock(by);
    static_cast<void>(ledger.commit(std::move(transaction)));
    console.made("the clock is confirmed as of " + now);
  }
  if (console.json()) {
    console.write(clock_confirm_json(path, held ? held_at : "", now));
  } else if (!console.quiet()) {
    console.write(held ? fmt::format("{}: budgets renew again as of {}; they had stood at {}\n",
                                     printable(path), now, held_at)
                       : fmt::format("{}: the clock is trusted, nothing to confirm\n", printable(path)));
  }
  return ExitCode::done;
}

ExitCode relocate(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  const std::string why = why_argument(arguments);
  engine::Engine engine = engine::Engine::open(ledger, options_for_writing(arguments, console));
  const engine::RelocateReport report = engine.relocate(*arguments.dataset, *arguments.source, by, why);
  if (report.changed) console.made("the source of " + report.dataset + " is found at " + report.to);
  if (console.json()) {
    console.write(relocate_json(report, engine.ledger_id()));
  } else if (!console.quiet()) {
    const std::string dataset = printable(report.dataset);
    console.write(report.changed ? fmt::format("{}: its source is found at {} now\n  until then  {}\n",
                                               dataset, printable(report.to), printable(report.from))
                                 : fmt::format("{}: its source is found at {} already: nothing to do\n",
                                               dataset, printable(report.to)));
  }
  return ExitCode::done;
}

}  // namespace epsilog::command
