// reserve, commit, cancel, token, pending, approve, reject.
#include <utility>

#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "ask_arguments.hpp"
#include "batch_table_rows.hpp"
#include "checked_arguments.hpp"
#include "csv_option.hpp"
#include "evidence_arguments.hpp"
#include "history_text.hpp"
#include "ledger_opening.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct RequestArguments : LedgerArguments {
  std::optional<std::string> decision_id;
  std::optional<std::string> dataset;  ///< of pending
  std::optional<std::string> value;    ///< of commit
  std::vector<std::string> alphas;
  std::optional<std::string> why;  ///< of approve and reject
};

using engine::Answer;
using engine::RequestState;

/// What became of a request, on standard output whatever it is: whoever acts on it has asked just that.
void print_request_state(const Answer& answer, Console& console) {
  console.set_recorded_note(
      "what became of the request is on record: epsilog show " + answer.recorded.decision_id +
      " prints it again" +
      (answer.recorded.token.empty() ? "" : "; its data token is " + answer.recorded.token));
  warn_if_withheld(answer, console);
  if (console.json()) {
    console.write(wire::answer_json(answer, wire::AnswerKind::show));
  } else if (!console.quiet()) {
    console.write(decision_text(answer, console.style()));
  }
  console.flush();
}

bool open(const Answer& answer) {
  return answer.recorded.state == RequestState::pending || answer.recorded.state == RequestState::reserved;
}

ExitCode reserve(const AskArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  BatchRequest asked = batch_or_question_request(arguments, AskKind::reserve, console);
  engine::Engine engine = engine::Engine::open(ledger, options);
  const engine::Request request = with_epsilons(std::move(asked), engine, console);

  const Answer answer = engine.reserve(request, alphas);
  print_answer(answer, console);
  if (is_withheld(answer)) return ExitCode::try_again;
  if (answer.recorded.state == RequestState::pending) return ExitCode::pending;
  return answer.recorded.granted || open(answer) ? ExitCode::done : ExitCode::refused;
}

ExitCode commit(const RequestArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const std::string by = principal_argument(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string id = request_id_argument(*arguments.decision_id, ledger);
  std::optional<std::string> value;
  if (arguments.value) value = value_argument(*arguments.value);
  engine::Engine engine = engine::Engine::open(ledger, options);

  mechanisms::SystemBits bits;
  const accounting::Callback<void(double)> progress = console.progress("reading the source");
  const Answer answer = engine.commit(id, by, value, bits, alphas, progress);
  console.end_progress();
  print_answer(answer, console);
  if (is_withheld(answer)) return ExitCode::try_again;
  if (answer.recorded.granted) return ExitCode::done;
  return open(answer) ? ExitCode::pending : ExitCode::refused;
}

/// A request that somebody acts on, and the ledger it is of.
struct ActedRequest {
  engine::Engine engine;
  std::string id;
  std::string by;
  std::string why;
};

ActedRequest open_for_acting(const RequestArguments& arguments, Console& console) {
  std::string by = principal_argument(arguments);
  std::string why = why_argument(arguments.why);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  std::string id = request_id_argument(*arguments.decision_id, ledger);
  return {engine::Engine::open(ledger, options), std::move(id), std::move(by), std::move(why)};
}

ExitCode cancel(const RequestArguments& arguments, Console& console) {
  ActedRequest request = open_for_acting(arguments, console);
  const Answer answer = request.engine.cancel(request.id, request.by);
  print_request_state(answer, console);
  if (is_withheld(answer)) return ExitCode::try_again;
  return answer.recorded.granted ? ExitCode::refused : ExitCode::done;
}

ExitCode token(const RequestArguments& arguments, Console& console) {
  ActedRequest request = open_for_acting(arguments, console);
  const Answer answer = request.engine.issue_token(request.id, request.by);
  const bool issued = !answer.recorded.token.empty() && (answer.recorded.granted || open(answer));
  if (console.quiet() && !console.json() && issued) console.write(answer.recorded.token + "\n");
  print_request_state(answer, console);
  if (is_withheld(answer)) return ExitCode::try_again;
  if (answer.recorded.state == RequestState::pending) return ExitCode::pending;
  return issued ? ExitCode::done : ExitCode::refused;
}

ExitCode pending(const RequestArguments& arguments, Console& console) {
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger_path(arguments), console, engine_options(arguments, console), unreadable);
  if (!console.json() && !console.quiet()) console.write(pending_heading(console.style()));
  engine.pending(arguments.dataset.value_or(""), [&](const Answer& answer) {
    if (console.json()) {
      console.write(wire::answer_json(answer, wire::AnswerKind::pending));
    } else {
      console.write(console.quiet() ? answer.recorded.decision_id + "\n"
                                    : pending_line(answer, console.style()));
    }
  });
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

ExitCode approve(const RequestArguments& arguments, Console& console) {
  ActedRequest request = open_for_acting(arguments, console);
  const Answer answer = request.engine.approve(request.id, request.by, request.why);
  print_request_state(answer, console);
  if (is_withheld(answer)) return ExitCode::try_again;
  return answer.recorded.granted || open(answer) ? ExitCode::done : ExitCode::refused;
}

ExitCode reject(const RequestArguments& arguments, Console& console) {
  ActedRequest request = open_for_acting(arguments, console);
  const Answer answer = request.engine.reject(request.id, request.by, request.why);
  print_request_state(answer, console);
  if (is_withheld(answer)) return ExitCode::try_again;
  return answer.recorded.state == RequestState::rejected ? ExitCode::done : ExitCode::refused;
}

const Positional<RequestArguments> kRequestId{"ID", &RequestArguments::decision_id, true,
                                              "the id that reserve or release printed, or how it begins"};

VerbSpec reserve_verb() {
  return Verb<AskArguments>{
      .words = "reserve",
      .summary = "hold the cost of a release back, to be committed or cancelled before a deadline",
      .examples =
          "epsilog reserve clinic mean:cost --by ward --epsilon 0.2\n"
          "epsilog reserve clinic value:auc --epsilon 0.5 --data-token",
      .details =
          "Prints id, deadline and plan. What is reserved is not there for others. An uncommitted\n"
          "reservation is given back only when nobody can have seen the data for it, else it is charged\n"
          "in full: a statistic computed here reads them in its commit only; for value:NAME that is\n"
          "known only with --data-token. Exit code 4: refused; 5: it waits for approvals first.",
      .positionals = question_positionals(),
      .options = question_options(
          {{"--data-token", &AskArguments::data_token},
           {"--batch", &AskArguments::batch, false,
            "reserve for the rows of a CSV table as one, as of release; - reads standard input"},
           {"--accuracy", &AskArguments::accuracy, false, "of --batch: wanted of each row"},
           {"--assume-count", &AskArguments::assume_count, false,
            "of --accuracy: of how many rows a mean or a proportion is"},
           {"--key", &AskArguments::key},
           {"--as", &AskArguments::principal},
           {"--purpose", &AskArguments::purpose},
           {"--alpha", &AskArguments::alphas},
           {"--ledger", &AskArguments::ledger},
           {"--wait", &AskArguments::wait}}),
      .run = &reserve};
}

VerbSpec commit_verb() {
  return Verb<RequestArguments>{
      .words = "commit",
      .summary = "release what was reserved, or approved, and charge exactly that",
      .examples =
          "epsilog commit 01HV5Y3K9QZ8T7W6R5N4M3J2XA\n"
          "echo 17.25 | epsilog commit 01HV5Y3K9QZ8T7W6R5N4M3J2XA --value -",
      .details =
          "By who asked. A second commit prints the stored answer, free. Exit code 4: it ended\n"
          "otherwise; 5: it still waits for approvals.",
      .positionals = {kRequestId},
      .options = {{"--value", &RequestArguments::value},
                  {"--as", &RequestArguments::principal},
                  {"--alpha", &RequestArguments::alphas},
                  {"--ledger", &RequestArguments::ledger},
                  {"--wait", &RequestArguments::wait}},
      .run = &commit};
}

VerbSpec cancel_verb() {
  return Verb<RequestArguments>{
      .words = "cancel",
      .summary = "end a reservation, or a request that waits for approvals",
      .examples = "epsilog cancel 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
      .details =
          "By who asked, or may approve it. Prints whether what was reserved is given back or charged,\n"
          "or what became of it before. Exit code 4: it was released.",
      .positionals = {kRequestId},
      .options = acting_options<RequestArguments>(),
      .run = &cancel};
}

VerbSpec token_verb() {
  return Verb<RequestArguments>{
      .words = "token",
      .summary = "issue the data token of a reservation made with --data-token",
      .examples = "epsilog token 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
      .details =
          "Prints the token, the same each time. From then on the data may have been seen, and the\n"
          "reservation is charged in full when it is not committed.",
      .positionals = {kRequestId},
      .options = acting_options<RequestArguments>(),
      .run = &token};
}

VerbSpec pending_verb() {
  return Verb<RequestArguments>{
      .words = "pending",
      .summary = "what waits for approvals or for its commit, oldest first",
      .examples =
          "epsilog pending\n"
          "epsilog pending clinic --json",
      .details = "With --json one object a line (JSON Lines).",
      .positionals = {any_dataset<RequestArguments>()},
      .options = {{"--ledger", &RequestArguments::ledger}, {"--wait", &RequestArguments::wait}},
      .run = &pending};
}

VerbSpec approve_verb() {
  return Verb<RequestArguments>{
      .words = "approve",
      .summary = "agree to a request that waits for approvals",
      .examples =
          "epsilog approve 01HV5Y3K9QZ8T7W6R5N4M3J2XA --as carol\n"
          "epsilog approve 01HV5Y3K9QZ8T7W6R5N4M3J2XA --as carol --why 'agreed with the ethics board'",
      .details =
          "By those whom the policy names under approvals, but not by who asked. The last approval that\n"
          "is needed decides the request again: what fits then is reserved for who asked to commit. Exit\n"
          "code 4: it no longer fits, or had ended.",
      .positionals = {kRequestId},
      .options = {{"--as", &RequestArguments::principal},
                  {"--why", &RequestArguments::why, false, "the reason, kept with the approval"},
                  {"--ledger", &RequestArguments::ledger},
                  {"--wait", &RequestArguments::wait}},
      .run = &approve};
}

VerbSpec reject_verb() {
  return Verb<RequestArguments>{
      .words = "reject",
      .summary = "end a request that waits for approvals",
      .examples = "epsilog reject 01HV5Y3K9QZ8T7W6R5N4M3J2XA --as carol --why 'ask for fewer wards'",
      .details = "By those who may approve it; one is enough. Exit code 4: it had ended otherwise.",
      .positionals = {kRequestId},
      .options = {{"--as", &RequestArguments::principal},
                  {"--why", &RequestArguments::why, false, "the reason, kept with the rejection"},
                  {"--ledger", &RequestArguments::ledger},
                  {"--wait", &RequestArguments::wait}},
      .run = &reject};
}

}  // namespace

std::vector<VerbSpec> request_verbs() {
  return with_evidence_options({reserve_verb(), with_rows(commit_verb(), &value_rows_of), cancel_verb(),
                                token_verb(), with_rows(pending_verb(), &decision_rows), approve_verb(),
                                reject_verb()});
}

}  // namespace epsilog::command
