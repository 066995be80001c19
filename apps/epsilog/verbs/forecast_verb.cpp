// forecast.
#include "ask_arguments.hpp"
#include "checked_arguments.hpp"
#include "forecast_output.hpp"
#include "ledger_opening.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

ForecastGoal goal_of(const AskArguments& arguments, const std::vector<Rational>& alphas) {
  const int given = int{arguments.epsilon.has_value()} + int{arguments.rho.has_value()} +
                    int{arguments.count.has_value()} + int{arguments.accuracy.has_value()};
  if (given != 1) {
    throw UsageError(std::string("forecast: give ") + (given == 0 ? "one" : "only one") +
                     " of --epsilon, --rho, --count and --accuracy; epsilog forecast --help shows examples");
  }
  ForecastGoal goal;
  if (arguments.count) goal.count = count_argument(*arguments.count);
  if (arguments.accuracy) {
    if (alphas.size() != 1) throw UsageError("--alpha: only once with --accuracy");
    goal.accuracy = engine::Accuracy{alphas.front(), positive_argument(*arguments.accuracy, "--accuracy")};
  }
  return goal;
}

std::optional<engine::Forecast> forecast_for_goal(const engine::Engine& engine,
                                                  const engine::Request& request, const ForecastGoal& goal,
                                                  const std::vector<Rational>& alphas,
                                                  std::optional<std::int64_t> assumed) {
  if (goal.count) return engine.forecast_of_count(request, *goal.count, alphas, assumed);
  if (goal.accuracy) return engine.forecast_of_accuracy(request, *goal.accuracy, alphas, assumed);
  return engine.forecast(request, alphas, assumed);
}

/// The one figure that was sought; nothing where there is none.
std::string bare_figure(const ForecastGoal& goal, const std::optional<engine::Forecast>& forecast) {
  const bool epsilon_sought = goal.count || goal.accuracy;
  if (!forecast || (epsilon_sought && engine::is_unread(forecast->each))) return "";
  return (epsilon_sought ? accounting::text(forecast->epsilon) : std::to_string(forecast->releases)) + "\n";
}

ExitCode forecast(const AskArguments& arguments, Console& console) {
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const ForecastGoal goal = goal_of(arguments, alphas);
  const engine::Request request = request_of(arguments, AskKind::forecast);
  const std::optional<std::int64_t> assumed = assumed_count(arguments);
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);

  const std::optional<engine::Forecast> forecast = forecast_for_goal(engine, request, goal, alphas, assumed);
  if (console.prints_rows() && !forecast) {
    console.message("forecast: no epsilon does");
  } else if (console.json()) {
    console.write(forecast_json(engine.ledger_id(), request, goal, forecast));
  } else {
    console.write(console.quiet() ? bare_figure(goal, forecast)
                                  : forecast_text(request, goal, forecast, console.style()));
  }
  return forecast && forecast->releases >= goal.count.value_or(1) ? ExitCode::done : ExitCode::refused;
}

}  // namespace

VerbSpec forecast_verb() {
  return Verb<AskArguments>{
      .words = "forecast",
      .summary = "how many more releases fit, how accurate K more can be, what an accuracy costs",
      .examples =
          "epsilog forecast clinic count --epsilon 0.1               # how many more\n"
          "epsilog forecast clinic histogram:ward --count 52         # best for 52 more\n"
          "epsilog forecast clinic count --accuracy 20 --alpha 0.05  # the least epsilon\n"
          "epsilog forecast clinic mean:cost --accuracy 25 --assume-count 5000",
      .details =
          "Exact under every account that the request would debit, each by its own measure; spends\n"
          "nothing, reads no data. It holds while nobody else is charged. Exit code 0: at least one more\n"
          "(K more) would be granted; 4: none. How accurate a mean over a private number of rows is, or a\n"
          "proportion, depends on that number: --accuracy takes the one of --assume-count.",
      .positionals = question_positionals(),
      .options = {{"--epsilon", &AskArguments::epsilon},
                  {"--rho", &AskArguments::rho},
                  {"--count", &AskArguments::count, false, "how many more releases there shall be"},
                  {"--accuracy", &AskArguments::accuracy},
                  {"--assume-count", &AskArguments::assume_count},
                  {"--alpha", &AskArguments::alphas},
                  {"--delta", &AskArguments::delta},
                  {"--by", &AskArguments::by},
                  {"--where", &AskArguments::where},
                  {"--totals", &AskArguments::totals},
                  {"--consistent", &AskArguments::consistent},
                  {"--as", &AskArguments::principal},
                  {"--purpose", &AskArguments::purpose},
                  {"--ledger", &AskArguments::ledger}},
      .run = &forecast};
}

}  // namespace epsilog::command
