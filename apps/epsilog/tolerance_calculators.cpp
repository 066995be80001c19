// tolerance laplace, gaussian and mean.
#include "calculation.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/tolerance.hpp"

namespace epsilog::command {
namespace {

constexpr std::int64_t kMost = 1'000'000'000'000;

std::uint64_t count_or_one(const std::optional<std::string>& text, const std::string& option) {
  return text ? static_cast<std::uint64_t>(whole_number_argument(*text, option, kMost)) : 1;
}

void add_tolerance(Figures& figures, const Rational& tolerance,
                   const std::optional<Rational>& complementary) {
  figures.push_back({"tolerance", digits_up(tolerance, "tolerance")});
  // Of the order of 10^-k; there is no need to write it out for every k there is.
  const bool writable = complementary && is_writable(*complementary);
  figures.push_back(
      text_or_nothing("complementary", writable ? digits_down(*complementary, "complementary") : ""));
}

void add_tolerance(Figures& figures, const mechanisms::NoiseTolerance& found) {
  add_tolerance(figures, found.tolerance, found.complementary);
}

}  // namespace

Calculation laplace_tolerance(const Arguments& arguments) {
  const Rational epsilon = positive_argument(*arguments.epsilon, "--epsilon");
  const Rational l1 = positive_argument(*arguments.l1, "--l1");
  const Rational flakiness = positive_argument(*arguments.flakiness, "--flakiness");
  const std::uint64_t partitions = count_or_one(arguments.partitions, "--partitions");
  Calculation calculation{{{"noise", "laplace"},
                           {"epsilon", accounting::text(epsilon)},
                           {"l1", accounting::text(l1)},
                           {"flakiness", accounting::text(flakiness)},
                           {"integer", arguments.integer},
                           {"partitions", partitions}}};
  add_tolerance(calculation.figures,
                mechanisms::laplace_tolerance(epsilon, l1, flakiness, arguments.integer, partitions));
  return calculation;
}

Calculation gaussian_tolerance(const Arguments& arguments) {
  const Rational epsilon = positive_argument(*arguments.epsilon, "--epsilon");
  const Rational delta = probability_argument(*arguments.delta, "--delta");
  const Rational l2 = positive_argument(*arguments.l2, "--l2");
  const Rational flakiness = positive_argument(*arguments.flakiness, "--flakiness");
  const std::uint64_t partitions = count_or_one(arguments.partitions, "--partitions");
  Calculation calculation{{{"noise", "gaussian"},
                           {"epsilon", accounting::text(epsilon)},
                           {"delta", accounting::text(delta)},
                           {"l2", accounting::text(l2)},
                           {"flakiness", accounting::text(flakiness)},
                           {"integer", arguments.integer},
                           {"partitions", partitions}}};
  add_tolerance(calculation.figures,
                mechanisms::gaussian_tolerance(epsilon, delta, l2, flakiness, arguments.integer, partitions));
  return calculation;
}

Calculation mean_tolerance(const Arguments& arguments) {
  mechanisms::MeanScenario scenario;
  scenario.epsilon = positive_argument(*arguments.epsilon, "--epsilon");
  scenario.delta = arguments.delta ? probability_argument(*arguments.delta, "--delta") : Rational(0);
  scenario.lower = number_argument(*arguments.lower, "--lower");
  scenario.upper = number_argument(*arguments.upper, "--upper");
  scenario.sum = number_argument(*arguments.sum, "--sum");
  scenario.count = non_negative_argument(*arguments.count, "--count");
  scenario.max_rows = count_or_one(arguments.max_rows, "--max-rows");
  scenario.partitions = count_or_one(arguments.partitions, "--partitions");
  scenario.flakiness = positive_argument(*arguments.flakiness, "--flakiness");
  Calculation calculation{{{"noise", scenario.delta == 0 ? "laplace" : "gaussian"},
                           {"epsilon", accounting::text(scenario.epsilon)},
                           {"delta", accounting::text(scenario.delta)},
                           {"lower", accounting::text(scenario.lower)},
                           {"upper", accounting::text(scenario.upper)},
                           {"sum", accounting::text(scenario.sum)},
                           {"count", accounting::text(scenario.count)},
                           {"max_rows", scenario.max_rows},
                           {"partitions", scenario.partitions},
                           {"flakiness", accounting::text(scenario.flakiness)}}};
  add_tolerance(calculation.figures, mechanisms::mean_tolerance_up(scenario),
                mechanisms::mean_complementary_down(scenario));
  return calculation;
}

}  // namespace epsilog::command
