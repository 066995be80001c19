// plan and release.
#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "checked_arguments.hpp"
#include "forecast_output.hpp"
#include "opened_ledger.hpp"
#include "plan_batch.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
namespace {

/// What is approved still waits, for its commit.
ExitCode exit_of(const engine::Answer& answer) {
  if (withheld(answer)) return ExitCode::try_again;
  if (answer.state == engine::RequestState::granted) return ExitCode::done;
  const bool waits =
      answer.state == engine::RequestState::pending || answer.state == engine::RequestState::reserved;
  return waits ? ExitCode::pending : ExitCode::refused;
}

/// The id of an earlier answer to just this, "" if there is none or the request has a key, which says what a
/// retry is. Who asks is told, and nothing else follows from it.
std::string same_question(const engine::Engine& engine, const engine::Request& request) {
  return request.key.empty() ? engine.same_question(request) : "";
}

void say_same_question(const std::string& id, Console& console) {
  if (id.empty() || console.json() || console.quiet()) return;
  console.message("note: the same question was answered as " + id + "; 'epsilog show " + id + "' is free");
}

}  // namespace

ExitCode plan(const Arguments& arguments, Console& console) {
  if (arguments.batch) return plan_batch(arguments, console);
  std::optional<std::int64_t> count;
  if (arguments.count) count = count_argument(*arguments.count);
  const engine::Request request = request_of(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);

  engine::Answer answer = engine.plan(request, alphas);
  answer.same_question = same_question(engine, request);
  say_same_question(answer.same_question, console);
  if (count && (console.json() || !console.quiet())) {
    const ForecastPlan forecast{answer, engine.forecast(request, alphas), *count,
                                engine.forecast_of_count(request, *count, alphas)};
    console.write(console.json() ? forecast_plan_json(forecast)
                                 : forecast_plan_text(request, forecast, console.style()));
  } else if (console.json()) {
    console.write(answer_json(answer, AnswerKind::plan));
  } else if (!console.quiet()) {
    console.write(plan_text(answer, console.style()));
  }
  return exit_of(answer);
}

ExitCode release(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const engine::Request request = request_of(arguments);
  engine::Engine engine = engine::Engine::open(ledger, options);

  mechanisms::SystemBits bits;
  const engine::Progress progress = console.progress("reading the source of " + request.dataset);
  const std::string same = same_question(engine, request);
  engine::Answer answer = engine.release(request, bits, alphas, progress);
  console.end_progress();
  answer.same_question = same;
  say_same_question(same, console);
  print_answer(answer, console);
  return exit_of(answer);
}

}  // namespace epsilog::command
