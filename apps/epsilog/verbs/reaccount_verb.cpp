// audit reaccount: what the releases on record cost together, in retrospect.
#include <fmt/format.h>

#include <algorithm>

#include "checked_arguments.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "figures.hpp"
#include "figures_json.hpp"
#include "ledger_arguments.hpp"
#include "opened_ledger.hpp"
#include "printable.hpp"
#include "table_output.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct ReaccountArguments : LedgerArguments {
  std::optional<std::string> dataset;
  std::optional<std::string> accountant;
  std::optional<std::string> delta;
  std::optional<std::string> epsilon;
  bool scopes = false;
};

using accounting::Accountant;
using engine::Reaccount;
using Bound = std::optional<Rational>;

std::vector<Accountant> accountants_argument(const std::optional<std::string>& name) {
  const auto& all = accounting::kAccountants;
  if (!name || *name == "all") return {all.begin(), all.end()};
  std::string names;
  for (const Accountant accountant : all) {
    if (accounting::name(accountant) == *name) return {accountant};
    names += std::string(accounting::name(accountant)) + ", ";
  }
  throw UsageError("--accountant: there is no '" + name->substr(0, 60) + "'; there are " + names + "all");
}

engine::ReaccountQuestion question_of(const ReaccountArguments& arguments) {
  engine::ReaccountQuestion question;
  question.dataset = arguments.dataset.value_or("");
  question.accountants = accountants_argument(arguments.accountant);
  question.scopes = arguments.scopes;
  if (arguments.delta && arguments.epsilon) {
    throw UsageError("--delta and --epsilon: give one of them, the other is what is asked");
  }
  if (arguments.delta) {
    question.delta = non_negative_argument(*arguments.delta, "--delta");
    if (*question.delta >= 1) throw UsageError("--delta: '" + *arguments.delta + "' must be below 1");
  }
  if (arguments.epsilon) question.epsilon = non_negative_argument(*arguments.epsilon, "--epsilon");
  return question;
}

const char* measure_of(const Reaccount& answer) {
  return answer.delta ? "epsilon" : "delta";
}

Bound least_of(const Reaccount& answer) {
  Bound least;
  for (const Reaccount::Figure& figure : answer.figures) {
    if (figure.bound && (!least || *figure.bound < *least)) least = figure.bound;
  }
  return least;
}

/// How much less than charged, where that is more than the rounding of a scale.
Bound gained(const Reaccount& answer, const Bound& bound) {
  if (!answer.charged || !bound) return std::nullopt;
  const Rational less = *answer.charged - *bound;
  return less * 1'000'000'000 > *answer.charged ? Bound(less) : std::nullopt;
}

Figure count_figure(const char* name, std::int64_t count) {
  return {name, static_cast<std::uint64_t>(count)};
}

Figures figures_of(const Reaccount& answer) {
  const char* measure = measure_of(answer);
  Figures figures{{"dataset", answer.dataset}, {"scope", answer.scope}};
  figures.push_back(
      {answer.delta ? "delta" : "epsilon", accounting::text(answer.delta ? *answer.delta : *answer.epsilon)});
  figures.push_back(count_figure("releases", answer.releases));
  figures.push_back(count_figure("draws", answer.draws));
  figures.push_back(count_figure("laws", answer.laws));
  figures.push_back(count_figure("inexpressible", answer.inexpressible));
  figures.push_back(count_figure("unreadable", answer.unreadable));
  figures.push_back(bound_figure("charged", measure, answer.charged));
  for (const Reaccount::Figure& figure : answer.figures) {
    figures.push_back(bound_figure(std::string(accounting::name(figure.accountant)), measure, figure.bound));
  }
  figures.push_back(bound_figure("least", measure, least_of(answer)));
  return figures;
}

std::string short_bound(const Bound& bound, const char* measure) {
  if (!bound) return "-";
  return short_text(text_of({bound_figure("bound", measure, bound)}, "bound"));
}

std::string plural(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string heading(const Reaccount& answer) {
  const std::string scope = answer.scope.empty() ? "" : ", " + printable(answer.scope);
  const std::string given =
      answer.delta ? "delta " + short_text(*answer.delta) : "epsilon " + short_text(*answer.epsilon);
  std::string text = fmt::format("{}{}: {}, {} by {}, at {}\n", printable(answer.dataset), scope,
                                 plural(answer.releases, "release"), plural(answer.draws, "draw"),
                                 plural(answer.laws, "different law"), given);
  if (answer.inexpressible > 0) {
    text += fmt::format("  {} without a release cannot be expressed: there are no figures\n",
                        plural(answer.inexpressible, "charge"));
  }
  if (answer.unreadable > 0) {
    text += fmt::format("  {} cannot be read: there are no figures\n", plural(answer.unreadable, "decision"));
  }
  return text;
}

std::string answer_text(const Reaccount& answer, const Style& style) {
  const char* measure = measure_of(answer);
  Table table({{"accountant"},
               {measure, Table::Align::right},
               {"less than charged", Table::Align::right},
               {"parameters"}});
  table.add({"charged", short_bound(answer.charged, measure), "", "as they were chosen"});
  for (const Reaccount::Figure& figure : answer.figures) {
    const Bound less = gained(answer, figure.bound);
    table.add({std::string(accounting::name(figure.accountant)), short_bound(figure.bound, measure),
               less ? "by " + short_bound(less, measure) : "",
               accounting::fixed_in_advance(figure.accountant) ? "only if fixed in advance"
                                                               : "a sum that a filter may keep"});
  }
  return style.bold(heading(answer)) + table.text(style);
}

ExitCode audit_reaccount(const ReaccountArguments& arguments, Console& console) {
  const engine::ReaccountQuestion question = question_of(arguments);
  const std::string ledger = ledger_path(arguments);
  std::vector<engine::UnreadableDecision> unreadable;
  const std::vector<Reaccount> answers =
      engine::reaccount(ledger, question, console.progress("composing"),
                        [&](const engine::UnreadableDecision& decision) { unreadable.push_back(decision); });
  console.end_progress();
  for (const engine::UnreadableDecision& decision : unreadable) warn_of_unreadable(decision, console);
  warn_if_poisoned(ledger, console);
  if (console.json()) {
    std::vector<Figures> list;
    for (const Reaccount& answer : answers) list.push_back(figures_of(answer));
    console.write(figures_json({{"label", std::string(engine::kReaccountLabel)}, {"datasets", list}}));
    return unreadable.empty() ? ExitCode::done : ExitCode::not_verified;
  }
  for (const Reaccount& answer : answers) {
    if (console.quiet()) {
      const Bound least = least_of(answer);
      console.write((least ? text_of({bound_figure("least", "least", least)}, "least") : "-") + "\n");
    } else {
      console.write((&answer == &answers.front() ? "" : "\n") + answer_text(answer, console.style()));
    }
  }
  if (!console.quiet()) console.write("\n" + std::string(engine::kReaccountLabel) + "\n");
  return unreadable.empty() ? ExitCode::done : ExitCode::not_verified;
}

}  // namespace

VerbSpec audit_reaccount_verb() {
  return Verb<ReaccountArguments>{
      .words = "audit reaccount",
      .summary = "what all releases cost together under each accountant, in retrospect",
      .examples =
          "epsilog audit reaccount clinic\n"
          "epsilog audit reaccount --accountant pld --delta 1e-9 --json",
      .details =
          "Retrospective, valid only for parameters fixed in advance: no limit and no balance follows\n"
          "from it, and nothing is written. Without --delta it is the one that the policy declares, else\n"
          "1e-6.",
      .positionals = {any_dataset<ReaccountArguments>()},
      .options = {{"--accountant", &ReaccountArguments::accountant},
                  {"--delta", &ReaccountArguments::delta},
                  {"--epsilon", &ReaccountArguments::epsilon, false,
                   "asks for the delta kept with this epsilon instead, at least 0"},
                  {"--scopes", &ReaccountArguments::scopes},
                  {"--ledger", &ReaccountArguments::ledger}},
      .run = &audit_reaccount};
}

}  // namespace epsilog::command
