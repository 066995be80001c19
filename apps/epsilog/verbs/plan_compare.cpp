#include "plan_compare.hpp"

#include <algorithm>

#include "checked_arguments.hpp"
#include "comparison_output.hpp"
#include "ledger_opening.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

bool would_be(const engine::MechanismComparison& comparison, engine::RequestState state) {
  return std::any_of(
      comparison.mechanisms.begin(), comparison.mechanisms.end(),
      [state](const engine::ComparedPlan& one) { return one.plan && one.plan->recorded.state == state; });
}

}  // namespace

ExitCode plan_compare(const AskArguments& arguments, Console& console) {
  if (arguments.count) throw UsageError("--count: not with --compare");
  const engine::Request request = request_of(arguments, AskKind::plan);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);

  const engine::MechanismComparison comparison = engine.compare(request, alphas);
  if (console.json()) {
    console.write(comparison_json(request, comparison, alphas));
  } else {
    console.write(console.quiet() ? bare_mechanism(comparison)
                                  : comparison_text(request, comparison, alphas, console.style()));
  }
  if (would_be(comparison, engine::RequestState::granted)) return ExitCode::done;
  return would_be(comparison, engine::RequestState::pending) ? ExitCode::pending : ExitCode::refused;
}

}  // namespace epsilog::command
