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
#include "epsilog/engine/concealed_dataset.hpp"
#include "epsilog/engine/ledger_events.hpp"
#include "epsilog/engine/nearest.hpp"
#include "epsilog/engine/visible_budget.hpp"
#include "evidence_arguments.hpp"
#include "filter_arguments.hpp"
#include "history_text.hpp"
#include "json_parts.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "printable.hpp"
#include "report_json.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct HistoryArguments : LedgerArguments, FilterArguments {
  std::optional<std::string> dataset;
  std::optional<std::string> decision_id;  ///< of show
  std::optional<std::string> limit;        ///< of history
  std::vector<std::string> alphas;         ///< of show
};

/// For whom the daemon would show it, and the policy by which it decides that.
struct ViewerContext {
  engine::Policy active;
  engine::Viewer viewer;
};

/// Nothing without --as: whoever reads the ledger file sees all of it.
/// Throws  UsageError; NotFound for a name that the policy does not declare, whom a daemon lets in to
/// nothing.
std::optional<ViewerContext> viewer_context(const HistoryArguments& arguments, const engine::Engine& engine) {
  if (!arguments.principal) return std::nullopt;
  ViewerContext seen{engine.active_policy(), {principal_argument(arguments)}};
  const auto& principals = seen.active.principals();
  if (!principals || seen.active.principal(seen.viewer.name) != nullptr) return seen;
  std::vector<std::string> names;
  for (const engine::Principal& principal : *principals) names.push_back(principal.name);
  const std::string near = engine::nearest(seen.viewer.name, names);
  throw NotFound("the active policy declares no principal '" + seen.viewer.name + "'" +
                 (near.empty() ? "" : " (did you mean '" + near + "'?)"));
}

ExitCode budget(const HistoryArguments& arguments, Console& console) {
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);
  const std::string dataset = arguments.dataset.value_or("");
  const std::optional<ViewerContext> as = viewer_context(arguments, engine);
  const engine::VisibleBudget seen =
      as ? engine::visible_budget(engine, as->active, as->viewer, dataset)
         : engine::VisibleBudget{engine.budget(dataset), engine.notes(dataset)};
  console.write(console.json() ? wire::budget_json(engine.ledger_id(), seen.accounts, seen.notes)
                               : budget_text(seen.accounts, console.style()) + notes_text(seen.notes));
  return ExitCode::done;
}

/// What happened besides decisions: in its place between them for people, in JSON in one line after them.
/// Tables and
/// --quiet list decisions only, and so does a list of one person's decisions, or of those about a value. A
/// daemon shows them to nobody: `seen`, whether all of the ledger is.
class EventInterleaver final {
 public:
  EventInterleaver(std::string ledger, std::string dataset, const engine::DecisionFilter& filter, bool seen,
                   Console& console)
      : ledger_(std::move(ledger)), dataset_(std::move(dataset)), filter_(filter), console_(console) {
    prints_events_ =
        seen && !console.prints_rows() && !console.quiet() && filter.asker.empty() && filter.column.empty();
  }

  /// Those since the decision written last. `part`: the first one written is not the first of the ledger.
  void write_before(std::int64_t seq, bool part) {
    if (!prints_events_) return;
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
    if (prints_events_ && console_.json())
      console_.write(wire::one_object({{"events", wire::events_json(listed_)}}, -1));
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
  const engine::DecisionFilter& filter_;
  Console& console_;
  bool prints_events_ = false;
  bool read_ = false;
  std::vector<engine::LedgerEvent> events_;
  std::vector<engine::LedgerEvent> listed_;  // of JSON
  std::size_t next_ = 0;
  bool begun_ = false;
};

/// Tells the last `limit` decisions, or all if it is 0, that the filter lets through, oldest first.
void each_filtered_decision(const engine::Engine& engine, const std::string& dataset, std::int64_t limit,
                            const engine::DecisionFilter& filter,
                            const std::function<void(const engine::Answer&)>& visit) {
  if (filter.empty()) return engine.history(dataset, limit, visit);
  constexpr std::int64_t kPage = 1'000;
  std::deque<engine::Answer> last;
  bool over = false;
  engine::HistoryPage page{.dataset = dataset, .limit = kPage, .asker = filter.asker, .since = filter.since};
  for (bool more = true; more && !over;) {
    const engine::HistoryEnd end = engine.history(page, [&](const engine::Answer& answer) {
      over = over || (!filter.until.empty() && answer.recorded.created_at >= filter.until);
      if (!lets_through(filter, answer)) return true;
      if (limit == 0) {
        visit(answer);
        return true;
      }
      last.push_back(answer);
      if (static_cast<std::int64_t>(last.size()) > limit) last.pop_front();
      return true;
    });
    page.after = end.cursor;
    more = end.more;
  }
  for (const engine::Answer& answer : last) visit(answer);
}

/// Nothing where the request is not there for the viewer.
std::optional<engine::Answer> answer_for_viewer(const ViewerContext& as, const engine::Answer& answer) {
  if (!engine::visibility_of(as.active, as.viewer, answer).request) return std::nullopt;
  return engine::redacted_answer(as.active, as.viewer, answer);
}

/// Returns whether some of what the filter lets through may be listed for the viewer.
/// Ensures  the filter lets through nothing else.
/// Throws   engine::ConcealedDataset.
bool restrict_to_viewer(const ViewerContext& as, const std::string& dataset, engine::DecisionFilter& filter) {
  if (!dataset.empty() && !engine::sees_dataset(as.active, as.viewer, dataset))
    throw engine::ConcealedDataset(dataset);
  const std::string asker = engine::listed_asker(as.active, as.viewer);
  if (asker.empty()) return true;
  const bool theirs = filter.asker.empty() || filter.asker == asker;
  filter.asker = asker;
  return theirs;
}

ExitCode history(const HistoryArguments& arguments, Console& console) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t limit = arguments.limit ? whole_number_argument(*arguments.limit, "--limit", kMost) : 0;
  engine::DecisionFilter filter = filter_from_arguments(arguments);
  const std::string ledger = ledger_path(arguments);
  const std::string dataset = arguments.dataset.value_or("");
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger, console, engine_options(arguments, console), unreadable);
  const std::optional<ViewerContext> as = viewer_context(arguments, engine);
  const bool theirs = !as || restrict_to_viewer(*as, dataset, filter);
  Style style = console.style();
  if (console.quiet()) style.width = std::numeric_limits<unsigned>::max();  // a decision a line
  // Of an unknown dataset nothing is printed but the suggestion.
  bool headed = console.json() || console.quiet();
  const auto head = [&] {
    if (!std::exchange(headed, true)) console.write(history_heading(style));
  };
  EventInterleaver events(ledger, dataset, filter, !as, console);
  const bool part = limit > 0 || !filter.since.empty();
  const auto write = [&](const engine::Answer& answer) {
    head();
    events.write_before(answer.recorded.seq, part);
    console.write(console.json() ? wire::answer_json(answer, wire::AnswerKind::history)
                                 : history_line(answer, style));
  };
  const auto write_seen = [&](const engine::Answer& answer) {
    if (!as) return write(answer);
    if (const auto seen = answer_for_viewer(*as, answer)) write(*seen);
  };
  if (theirs) each_filtered_decision(engine, dataset, limit, filter, write_seen);
  head();
  events.end();
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

engine::Answer require_answer_for_viewer(const ViewerContext& as, const engine::Answer& answer,
                                         const std::string& id) {
  if (auto seen = answer_for_viewer(as, answer)) return std::move(*seen);
  throw NotFound("decision '" + id + "' is not there for '" + as.viewer.name + "'");
}

ExitCode show(const HistoryArguments& arguments, Console& console) {
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = engine_options(arguments, console);
  const std::string id = request_id_argument(*arguments.decision_id, ledger);
  const engine::Engine engine = open_for_reading(ledger, console, options);
  const std::optional<ViewerContext> as = viewer_context(arguments, engine);
  const engine::Answer answer =
      as ? require_answer_for_viewer(*as, engine.show(id, alphas), id) : engine.show(id, alphas);
  warn_if_withheld(answer, console);
  if (console.prints_rows() && !answer.recorded.granted) {
    console.message_line("epsilog: " + decision_text(answer, console.message_style()));
  } else if (console.json()) {
    console.write(wire::answer_json(answer, wire::AnswerKind::show));
  } else {
    const bool bare = console.quiet() && answer.recorded.granted;
    console.write(bare ? bare_values(answer) : decision_text(answer, console.style()));
  }
  return is_withheld(answer) ? ExitCode::try_again : ExitCode::done;
}

constexpr const char* kAsHelp = "only what the daemon would show this principal (default: all)";

VerbSpec budget_verb() {
  return Verb<HistoryArguments>{.words = "budget",
                                .summary = "limits, what is spent and what remains",
                                .examples =
                                    "epsilog budget\n"
                                    "epsilog budget clinic --json\n"
                                    "epsilog budget --as alice",
                                .positionals = {any_dataset<HistoryArguments>()},
                                .options = {{"--as", &HistoryArguments::principal, false, kAsHelp},
                                            {"--ledger", &HistoryArguments::ledger}},
                                .run = &budget};
}

VerbSpec history_verb() {
  return Verb<HistoryArguments>{
      .words = "history",
      .summary = "every decision, oldest first",
      .examples =
          "epsilog history --limit 20\n"
          "epsilog history clinic --by-asker ann --since 2027-01-01\n"
          "epsilog history --column ward --value Oncology --json",
      .details =
          "Between decisions: policy versions and what they loosened, recoveries,\n"
          "credentials, keys and the clock, with their reasons. With --json one\n"
          "decision a line (JSON Lines), then a line {\"events\": […]} with these.",
      .positionals = {any_dataset<HistoryArguments>()},
      .options = {{"--as", &HistoryArguments::principal, false, kAsHelp},
                  {"--limit", &HistoryArguments::limit},
                  {"--by-asker", &HistoryArguments::by_asker},
                  {"--since", &HistoryArguments::since},
                  {"--until", &HistoryArguments::until, false,
                   "only before then: 2027-01-31 or 2027-01-31T18:00:00Z, UTC"},
                  {"--column", &HistoryArguments::column},
                  {"--value", &HistoryArguments::value, false, "the value of --column"},
                  {"--ledger", &HistoryArguments::ledger},
                  {"--wait", &HistoryArguments::wait}},
      .run = &history};
}

VerbSpec show_verb() {
  return Verb<HistoryArguments>{
      .words = "show",
      .summary = "one decision with its stored answer",
      .examples = "epsilog show 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
      .details =
          "Free: what was released is printed again as it was stored. Exit code 7: it is not known to be\n"
          "on the disk, and withheld.",
      .positionals = {{"DECISION_ID", &HistoryArguments::decision_id, true,
                       "the id that release printed, or how it begins; or a data token"}},
      .options = {{"--alpha", &HistoryArguments::alphas},
                  {"--as", &HistoryArguments::principal, false, kAsHelp},
                  {"--ledger", &HistoryArguments::ledger},
                  {"--wait", &HistoryArguments::wait}},
      .run = &show};
}

}  // namespace

std::vector<VerbSpec> ledger_verbs() {
  return with_evidence_options({with_rows(budget_verb(), &account_rows),
                                with_rows(history_verb(), &decision_rows),
                                with_rows(show_verb(), &value_rows_of)});
}

}  // namespace epsilog::command
