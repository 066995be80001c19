// compose: what mechanisms cost together under every accountant, side by side.
#include <string>
#include <utility>

#include "calculator.hpp"
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

struct CompositionArguments {
  std::vector<std::string> mechanisms;
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
};

/// nullopt: the accountant cannot express a mechanism, or has nothing to say there.
using Bound = std::optional<Rational>;

struct Schedule {
  Figures figures;  ///< what was given
  std::vector<KnownLoss> losses;
};

Schedule schedule_of(const CompositionArguments& arguments) {
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

Calculation composed_epsilon(const CompositionArguments& arguments) {
  const Rational delta = non_negative_argument(*arguments.delta, "--delta");
  if (delta >= 1) throw UsageError("--delta: '" + *arguments.delta + "' must be below 1");
  return calculation_of(schedule_of(arguments), {"delta", accounting::text(delta)}, "epsilon",
                        [&](Accountant accountant, const std::vector<KnownLoss>& losses) {
                          return accounting::composed_epsilon_up(accountant, losses, delta);
                        });
}

Calculation composed_delta(const CompositionArguments& arguments) {
  const Rational epsilon = non_negative_argument(*arguments.epsilon, "--epsilon");
  return calculation_of(schedule_of(arguments), {"epsilon", accounting::text(epsilon)}, "delta",
                        [&](Accountant accountant, const std::vector<KnownLoss>& losses) {
                          return accounting::composed_delta_up(accountant, losses, epsilon);
                        });
}

}  // namespace

VerbSpec compose_verb() {
  const Option<CompositionArguments> kMechanism{"--mechanism", &CompositionArguments::mechanisms, true};
  const std::vector<std::string_view> results{"pure", "approximate", "advanced", "optimal",
                                              "zcdp", "rdp",         "pld"};
  return Calculator<CompositionArguments>{
      .words = "compose",
      .summary = "what mechanisms cost together, under every accountant",
      .examples =
          "epsilog compose --mechanism \"laplace scale=1 sensitivity=1 count=100\" --delta 1e-6\n"
          "epsilog compose --mechanism \"gaussian sigma=20 sensitivity=1 count=50\" --mechanism \"pure "
          "epsilon=0.1\" --epsilon 1",
      .details =
          "  --delta D    epsilon = the least that each accountant proves with this delta; rounded up.\n"
          "  --epsilon E  delta = the least that each accountant proves with this epsilon; rounded up.\n"
          "The mechanisms, each with count=N (default 1), several in one text separated by semicolons:\n"
          "  laplace            scale=S sensitivity=D\n"
          "  discrete-laplace   scale=S sensitivity=D\n"
          "  gaussian           sigma=S sensitivity=D\n"
          "  discrete-gaussian  sigma=S sensitivity=D\n"
          "  snapping           epsilon=E, or scale=S sensitivity=D [bound=B precision=P]\n"
          "  pure               epsilon=E\n"
          "  approximate        epsilon=E delta=D\n"
          "The accountants:\n"
          "  pure         sum of the epsilons, delta 0: Dwork and Roth 2014, theorem 3.14.\n"
          "  approximate  sums of epsilons and of deltas: the same, theorem 3.16.\n"
          "  advanced     Kairouz, Oh and Viswanath, arXiv 1311.0776, theorem 3.5.\n"
          "  optimal      the same, theorem 3.3; of different mechanisms Murtagh and Vadhan, arXiv\n"
          "               1507.03113.\n"
          "  zcdp         sum of rho, then Canonne, Kamath and Steinke, arXiv 2004.00010, corollary 13.\n"
          "  rdp          Mironov, arXiv 1702.07476, over 144 orders from 1.0625 to 15361, then the\n"
          "               same.\n"
          "  pld          the distribution of the privacy loss.\n"
          "An accountant that cannot express a mechanism, or proves nothing there, has null: no Gaussian\n"
          "has one (epsilon, delta), which the first four need. advanced, optimal and pld hold only for\n"
          "parameters fixed in advance; the sums also for parameters chosen from earlier answers.",
      .forms = {
          {{kMechanism,
            {"--delta", &CompositionArguments::delta, true, "probability in [0,1) left to (epsilon, delta)"}},
           results,
           &composed_epsilon},
          {{kMechanism, {"--epsilon", &CompositionArguments::epsilon, true, "privacy loss, at least 0"}},
           results,
           &composed_delta}}};
}

}  // namespace epsilog::command
