// compose: what mechanisms cost together under every accountant, side by side.
#include <string>
#include <utility>

#include "calculation.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "composed_mechanism.hpp"
#include "epsilog/accounting/accountant.hpp"
#include "epsilog/accounting/optimal_composition.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

using accounting::Accountant;
using accounting::KnownLoss;

/// nullopt: the accountant cannot express a mechanism, or has nothing to say there.
using Bound = std::optional<Rational>;

struct Schedule {
  Figures figures;  ///< what was given
  std::vector<KnownLoss> losses;
};

Schedule schedule_of(const Arguments& arguments) {
  Schedule schedule;
  std::vector<Figures> figures;
  std::uint64_t all = 0;
  for (const std::string& text : arguments.mechanisms) {
    for (ComposedMechanism& mechanism : parse_mechanisms(text)) {
      figures.push_back(std::move(mechanism.figures));
      schedule.losses.push_back(accounting::known_loss(mechanism.law));
      if ((all += mechanism.law.count) > accounting::kComposedMax) {
        throw UsageError("--mechanism: the counts must add up to at most " +
                         std::to_string(accounting::kComposedMax));
      }
    }
  }
  schedule.figures.push_back({"mechanisms", std::move(figures)});
  return schedule;
}

template <typename BoundOf>
Calculation calculation_of(Schedule schedule, Figure given, const char* measure, const BoundOf& bound_of) {
  Calculation calculation{std::move(schedule.figures)};
  calculation.lines.push_back({given.name, std::get<std::string>(given.value)});
  calculation.figures.push_back(std::move(given));
  Bound least;
  for (const Accountant accountant : accounting::kAccountants) {
    const std::string name(accounting::name(accountant));
    const Bound bound = bound_of(accountant, schedule.losses);
    calculation.figures.push_back(bound_figure(name, measure, bound));
    const std::string text = text_of(calculation.figures, name);
    calculation.lines.push_back({name, text.empty() ? "-" : measure + (" " + text)});
    if (bound && (!least || *bound < *least)) least = bound;
  }
  calculation.answers = {least ? text_of({bound_figure("least", measure, least)}, "least") : ""};
  return calculation;
}

}  // namespace

Calculation composed_epsilon(const Arguments& arguments) {
  const Rational delta = non_negative_argument(*arguments.delta, "--delta");
  if (delta >= 1) throw UsageError("--delta: '" + *arguments.delta + "' must be below 1");
  return calculation_of(schedule_of(arguments), {"delta", accounting::text(delta)}, "epsilon",
                        [&](Accountant accountant, const std::vector<KnownLoss>& losses) {
                          return accounting::composed_epsilon_up(accountant, losses, delta);
                        });
}

Calculation composed_delta(const Arguments& arguments) {
  const Rational epsilon = non_negative_argument(*arguments.epsilon, "--epsilon");
  return calculation_of(schedule_of(arguments), {"epsilon", accounting::text(epsilon)}, "delta",
                        [&](Accountant accountant, const std::vector<KnownLoss>& losses) {
                          return accounting::composed_delta_up(accountant, losses, epsilon);
                        });
}

}  // namespace epsilog::command
