// audit reaccount: what the releases on record cost together, in retrospect.
#include "checked_arguments.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "figures.hpp"
#include "figures_json.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "reaccount_output.hpp"
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

ExitCode audit_reaccount(const ReaccountArguments& arguments, Console& console) {
  const engine::ReaccountQuestion question = question_of(arguments);
  const std::string ledger = ledger_path(arguments);
  std::vector<engine::UnreadableDecision> unreadable;
  engine::EngineOptions options = engine_options(arguments, console);
  options.unreadable = [&](const engine::UnreadableDecision& decision) { unreadable.push_back(decision); };
  const std::vector<Reaccount> answers =
      engine::reaccount(ledger, question, console.progress("composing"), options);
  console.end_progress();
  for (const engine::UnreadableDecision& decision : unreadable) warn_of_unreadable(decision, console);
  warn_if_poisoned(ledger, console);
  if (console.json()) {
    std::vector<Figures> list;
    for (const Reaccount& answer : answers) list.push_back(reaccount_figures(answer));
    console.write(figures_json({{"label", std::string(engine::kReaccountLabel)}, {"datasets", list}}));
    return unreadable.empty() ? ExitCode::done : ExitCode::not_verified;
  }
  for (const Reaccount& answer : answers) {
    if (console.quiet()) {
      const std::optional<Rational> least = least_of(answer);
      console.write((least ? text_of({bound_figure("least", "least", least)}, "least") : "-") + "\n");
    } else {
      console.write((&answer == &answers.front() ? "" : "\n") + reaccount_text(answer, console.style()));
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
