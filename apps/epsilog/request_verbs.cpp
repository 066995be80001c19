// reserve, commit, cancel, token, pending, approve, reject.
#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "checked_arguments.hpp"
#include "history_text.hpp"
#include "opened_ledger.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
namespace {

using engine::Answer;
using engine::RequestState;

/// What became of a request, on standard output whatever it is: whoever acts on it has asked just that.
void print_standing(const Answer& answer, Console& console) {
  console.made("what became of the request is on record: epsilog show " + answer.decision_id +
               " prints it again" + (answer.token.empty() ? "" : "; its token is " + answer.token));
  warn_if_withheld(answer, console);
  if (console.json()) {
    console.write(answer_json(answer, AnswerKind::show));
  } else if (!console.quiet()) {
    console.write(decision_text(answer, console.style()));
  }
  console.flush();
}

bool open(const Answer& answer) {
  return answer.state == RequestState::pending || answer.state == RequestState::reserved;
}

}  // namespace

ExitCode reserve(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const engine::Request request = request_of(arguments);
  engine::Engine engine = engine::Engine::open(ledger, options);

  const Answer answer = engine.reserve(request, alphas);
  print_answer(answer, console);
  if (withheld(answer)) return ExitCode::try_again;
  if (answer.state == RequestState::pending) return ExitCode::pending;
  return answer.granted || open(answer) ? ExitCode::done : ExitCode::refused;
}

ExitCode commit(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const std::string by = principal_argument(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string id = decision_id_argument(arguments, ledger);
  const std::optional<std::string> value = commit_value(arguments);
  engine::Engine engine = engine::Engine::open(ledger, options);

  mechanisms::SystemBits bits;
  const engine::Progress progress = console.progress("reading the source");
  const Answer answer = engine.commit(id, by, value, bits, alphas, progress);
  console.end_progress();
  print_answer(answer, console);
  if (withheld(answer)) return ExitCode::try_again;
  if (answer.granted) return ExitCode::done;
  return open(answer) ? ExitCode::pending : ExitCode::refused;
}

ExitCode cancel(const Arguments& arguments, Console& console) {
  const std::string by = principal_argument(arguments);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string id = decision_id_argument(arguments, ledger);
  engine::Engine engine = engine::Engine::open(ledger, options);
  const Answer answer = engine.cancel(id, by);
  print_standing(answer, console);
  if (withheld(answer)) return ExitCode::try_again;
  return answer.granted ? ExitCode::refused : ExitCode::done;
}

ExitCode token(const Arguments& arguments, Console& console) {
  const std::string by = principal_argument(arguments);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string id = decision_id_argument(arguments, ledger);
  engine::Engine engine = engine::Engine::open(ledger, options);
  const Answer answer = engine.issue_token(id, by);
  const bool issued = !answer.token.empty() && (answer.granted || open(answer));
  if (console.quiet() && !console.json() && issued) console.write(answer.token + "\n");
  print_standing(answer, console);
  if (withheld(answer)) return ExitCode::try_again;
  if (answer.state == RequestState::pending) return ExitCode::pending;
  return issued ? ExitCode::done : ExitCode::refused;
}

ExitCode pending(const Arguments& arguments, Console& console) {
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger_path(arguments), console, engine_options(arguments), unreadable);
  if (!console.json() && !console.quiet()) console.write(pending_heading(console.style()));
  engine.pending(arguments.dataset.value_or(""), [&](const Answer& answer) {
    if (console.json()) {
      console.write(answer_json(answer, AnswerKind::pending));
    } else {
      console.write(console.quiet() ? answer.decision_id + "\n" : pending_line(answer, console.style()));
    }
  });
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

ExitCode approve(const Arguments& arguments, Console& console) {
  const std::string by = principal_argument(arguments);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string id = decision_id_argument(arguments, ledger);
  engine::Engine engine = engine::Engine::open(ledger, options);
  const Answer answer = engine.approve(id, by);
  print_standing(answer, console);
  if (withheld(answer)) return ExitCode::try_again;
  return answer.granted || open(answer) ? ExitCode::done : ExitCode::refused;
}

ExitCode reject(const Arguments& arguments, Console& console) {
  const std::string by = principal_argument(arguments);
  const std::string why = why_argument(arguments);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string id = decision_id_argument(arguments, ledger);
  engine::Engine engine = engine::Engine::open(ledger, options);
  const Answer answer = engine.reject(id, by, why);
  print_standing(answer, console);
  if (withheld(answer)) return ExitCode::try_again;
  return answer.state == RequestState::rejected ? ExitCode::done : ExitCode::refused;
}

}  // namespace epsilog::command
