// budget, history, show.
#include <limits>
#include <utility>

#include "accounts_text.hpp"
#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "checked_arguments.hpp"
#include "csv_option.hpp"
#include "evidence_arguments.hpp"
#include "history_text.hpp"
#include "ledger_arguments.hpp"
#include "opened_ledger.hpp"
#include "report_json.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct BooksArguments : LedgerArguments {
  std::optional<std::string> dataset;
  std::optional<std::string> decision_id;  ///< of show
  std::optional<std::string> limit;        ///< of history
  std::vector<std::string> alphas;         ///< of show
};

ExitCode budget(const BooksArguments& arguments, Console& console) {
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);
  const std::vector<engine::BudgetAccount> accounts = engine.budget(arguments.dataset.value_or(""));
  const std::vector<std::string> notes = engine.notes(arguments.dataset.value_or(""));
  console.write(console.json() ? budget_json(engine.ledger_id(), accounts, notes)
                               : budget_text(accounts, console.style()) + notes_text(notes));
  return ExitCode::done;
}

/// Relocations in their place between decisions, for people: JSON and --quiet list decisions only.
class Relocations final {
 public:
  Relocations(const engine::Engine& engine, const std::string& dataset, Console& console)
      : console_(console) {
    if (!console.json() && !console.quiet()) pending_ = engine.relocations(dataset);
  }

  /// Those since the decision written last, if it is of a part of the history.
  void write_before(std::int64_t seq, bool part) {
    for (; next_ < pending_.size() && pending_[next_].after_decision < seq; ++next_) {
      const bool shown = !part || begun_ || pending_[next_].after_decision == seq - 1;
      if (shown) console_.write(relocation_line(pending_[next_], console_.style()));
    }
    begun_ = true;
  }

 private:
  Console& console_;
  std::vector<ledger::Relocation> pending_;
  std::size_t next_ = 0;
  bool begun_ = false;
};

ExitCode history(const BooksArguments& arguments, Console& console) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t limit = arguments.limit ? whole_number_argument(*arguments.limit, "--limit", kMost) : 0;
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger_path(arguments), console, engine_options(arguments, console), unreadable);
  Style style = console.style();
  if (console.quiet()) style.width = std::numeric_limits<unsigned>::max();  // a decision a line
  // Of an unknown dataset nothing is printed but the suggestion.
  bool headed = console.json() || console.quiet();
  const auto head = [&] {
    if (!std::exchange(headed, true)) console.write(history_heading(style));
  };
  Relocations relocations(engine, arguments.dataset.value_or(""), console);
  engine.history(arguments.dataset.value_or(""), limit, [&](const engine::Answer& answer) {
    head();
    relocations.write_before(answer.recorded.seq, limit > 0);
    console.write(console.json() ? answer_json(answer, AnswerKind::history) : history_line(answer, style));
  });
  head();
  relocations.write_before(std::numeric_limits<std::int64_t>::max(), false);
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

ExitCode show(const BooksArguments& arguments, Console& console) {
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = engine_options(arguments, console);
  const std::string id = decision_id_argument(*arguments.decision_id, ledger);
  const engine::Engine engine = open_for_reading(ledger, console, options);
  const engine::Answer answer = engine.show(id, alphas);
  warn_if_withheld(answer, console);
  if (console.prints_rows() && !answer.recorded.granted) {
    console.message_line("epsilog: " + decision_text(answer, console.message_style()));
  } else if (console.json()) {
    console.write(answer_json(answer, AnswerKind::show));
  } else {
    const bool bare = console.quiet() && answer.recorded.granted;
    console.write(bare ? bare_values(answer) : decision_text(answer, console.style()));
  }
  return withheld(answer) ? ExitCode::try_again : ExitCode::done;
}

VerbSpec budget_verb() {
  return Verb<BooksArguments>{.words = "budget",
                              .summary = "limits, what is spent and what remains",
                              .examples =
                                  "epsilog budget\n"
                                  "epsilog budget clinic --json",
                              .positionals = {any_dataset<BooksArguments>()},
                              .options = {{"--ledger", &BooksArguments::ledger}},
                              .run = &budget};
}

VerbSpec history_verb() {
  return Verb<BooksArguments>{.words = "history",
                              .summary = "every decision, oldest first",
                              .examples =
                                  "epsilog history --limit 20\n"
                                  "epsilog history clinic --json",
                              .details = "With --json one object a line (JSON Lines).",
                              .positionals = {any_dataset<BooksArguments>()},
                              .options = {{"--limit", &BooksArguments::limit},
                                          {"--ledger", &BooksArguments::ledger},
                                          {"--wait", &BooksArguments::wait}},
                              .run = &history};
}

VerbSpec show_verb() {
  return Verb<BooksArguments>{
      .words = "show",
      .summary = "one decision with its stored answer",
      .examples = "epsilog show 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
      .details =
          "Free: what was released is printed again as it was stored. Exit code 7: it is not known to be\n"
          "on the disk, and withheld.",
      .positionals = {{"DECISION_ID", &BooksArguments::decision_id, true,
                       "the id that release printed, or how it begins; or a data token"}},
      .options = {{"--alpha", &BooksArguments::alphas},
                  {"--ledger", &BooksArguments::ledger},
                  {"--wait", &BooksArguments::wait}},
      .run = &show};
}

}  // namespace

std::vector<VerbSpec> ledger_verbs() {
  return held_to_checkpoints({with_rows(budget_verb(), &account_rows),
                              with_rows(history_verb(), &decision_rows),
                              with_rows(show_verb(), &value_rows_of)});
}

}  // namespace epsilog::command
