// budget, history, show.
#include <deque>
#include <functional>
#include <limits>
#include <utility>

#include "accounts_text.hpp"
#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "checked_arguments.hpp"
#include "csv_option.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/ledger_events.hpp"
#include "evidence_arguments.hpp"
#include "filter_arguments.hpp"
#include "history_text.hpp"
#include "json_parts.hpp"
#include "ledger_arguments.hpp"
#include "opened_ledger.hpp"
#include "printable.hpp"
#include "report_json.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct BooksArguments : LedgerArguments, FilterArguments {
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

/// What happened besides decisions: in its place between them for people, in JSON in one line after them.
/// Tables and
/// --quiet list decisions only, and so does a list of one person's decisions, or of those about a value.
class EventsBetween final {
 public:
  EventsBetween(std::string ledger, std::string dataset, const engine::ToldFilter& filter, Console& console)
      : ledger_(std::move(ledger)), dataset_(std::move(dataset)), filter_(filter), console_(console) {
    told_ = !console.prints_rows() && !console.quiet() && filter.asker.empty() && filter.column.empty();
  }

  /// Those since the decision written last. `part`: the first one written is not the first of the ledger.
  void write_before(std::int64_t seq, bool part) {
    if (!told_) return;
    if (!read_) read(part ? std::max<std::int64_t>(seq - 2, 0) : 0);
    for (; next_ < events_.size() && events_[next_].after_decision < seq; ++next_) {
      const engine::LedgerEvent& event = events_[next_];
      const bool in_time = (filter_.since.empty() || event.at >= filter_.since) &&
                           (filter_.until.empty() || event.at < filter_.until);
      if (in_time && (!part || begun_ || event.after_decision == seq - 1)) {
        console_.json() ? listed_.push_back(event) : console_.write(event_lines(event, console_.style()));
      }
    }
    begun_ = true;
  }

  /// Those after the last decision, and in JSON the line that lists all.
  void end() {
    write_before(std::numeric_limits<std::int64_t>::max(), false);
    if (told_ && console_.json()) console_.write(one_object({{"events", events_json(listed_)}}, -1));
  }

 private:
  /// What is damaged there hides no decision.
  void read(std::int64_t after) {
    read_ = true;
    try {
      events_ = engine::ledger_events(ledger_, {.dataset = dataset_, .after_decision = after});
    } catch (const LedgerCorrupt& error) {
      console_.message_line(std::string("epsilog: what happened besides decisions cannot be read: ") +
                            printable(error.what()));
    }
  }

  std::string ledger_;
  std::string dataset_;
  const engine::ToldFilter& filter_;
  Console& console_;
  bool told_ = false;
  bool read_ = false;
  std::vector<engine::LedgerEvent> events_;
  std::vector<engine::LedgerEvent> listed_;  // of JSON
  std::size_t next_ = 0;
  bool begun_ = false;
};

/// Tells the last `limit` decisions, or all if it is 0, that the filter lets through, oldest first.
void each_let_through(const engine::Engine& engine, const std::string& dataset, std::int64_t limit,
                      const engine::ToldFilter& filter,
                      const std::function<void(const engine::Answer&)>& visit) {
  if (filter.empty()) return engine.history(dataset, limit, visit);
  constexpr std::int64_t kPage = 1'000;
  std::deque<engine::Answer> last;
  bool over = false;
  engine::HistoryPage page{.dataset = dataset, .limit = kPage, .asker = filter.asker, .since = filter.since};
  for (bool more = true; more && !over;) {
    const engine::HistoryEnd end = engine.history(page, [&](const engine::Answer& answer) {
      over = over || (!filter.until.empty() && answer.recorded.created_at >= filter.until);
      if (!lets_through(filter, answer)) return;
      if (limit == 0) return visit(answer);
      last.push_back(answer);
      if (static_cast<std::int64_t>(last.size()) > limit) last.pop_front();
    });
    page.after = end.cursor;
    more = end.more;
  }
  for (const engine::Answer& answer : last) visit(answer);
}

ExitCode history(const BooksArguments& arguments, Console& console) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t limit = arguments.limit ? whole_number_argument(*arguments.limit, "--limit", kMost) : 0;
  const engine::ToldFilter filter = told_filter(arguments);
  const std::string ledger = ledger_path(arguments);
  const std::string dataset = arguments.dataset.value_or("");
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger, console, engine_options(arguments, console), unreadable);
  Style style = console.style();
  if (console.quiet()) style.width = std::numeric_limits<unsigned>::max();  // a decision a line
  // Of an unknown dataset nothing is printed but the suggestion.
  bool headed = console.json() || console.quiet();
  const auto head = [&] {
    if (!std::exchange(headed, true)) console.write(history_heading(style));
  };
  EventsBetween events(ledger, dataset, filter, console);
  const bool part = limit > 0 || !filter.since.empty();
  each_let_through(engine, dataset, limit, filter, [&](const engine::Answer& answer) {
    head();
    events.write_before(answer.recorded.seq, part);
    console.write(console.json() ? answer_json(answer, AnswerKind::history) : history_line(answer, style));
  });
  head();
  events.end();
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

ExitCode show(const BooksArguments& arguments, Console& console) {
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = engine_options(arguments, console);
  const std::string id = request_id_argument(*arguments.decision_id, ledger);
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
                                  "epsilog history clinic --by-asker ann --since 2027-01-01\n"
                                  "epsilog history --column ward --value Oncology --json",
                              .details =
                                  "Between decisions: policy versions and what they loosened, recoveries,\n"
                                  "credentials, keys and the clock, with their reasons. With --json one\n"
                                  "decision a line (JSON Lines), then a line {\"events\": […]} with these.",
                              .positionals = {any_dataset<BooksArguments>()},
                              .options = {{"--limit", &BooksArguments::limit},
                                          {"--by-asker", &BooksArguments::by_asker},
                                          {"--since", &BooksArguments::since},
                                          {"--until", &BooksArguments::until, false,
                                           "only before then: 2027-01-31 or 2027-01-31T18:00:00Z, UTC"},
                                          {"--column", &BooksArguments::column},
                                          {"--value", &BooksArguments::value, false, "the value of --column"},
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
