// accuracy snapping: a calculator; opens no ledger.
#include <fmt/format.h>

#include "checked_arguments.hpp"
#include "epsilog/accounting/errors.hpp"
#include "json_output.hpp"
#include "snapping_report.hpp"
#include "table_output.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
namespace {

using mechanisms::Arithmetic;
using mechanisms::Precision;
using mechanisms::SnappingMechanism;

Arithmetic arithmetic_argument(const Arguments& arguments) {
  const std::string text = arguments.arithmetic.value_or("mpfr");
  if (text == "mpfr") return Arithmetic::mpfr;
  if (text == "exact") return Arithmetic::exact;
  throw UsageError("--arithmetic: '" + text + "' must be mpfr or exact");
}

Precision precision_argument(const Arguments& arguments) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::string text = arguments.precision.value_or("auto");
  if (text == "auto") return {0};
  if (text == "binary64") return {53};
  return {static_cast<unsigned>(whole_number_argument(text, "--precision", kMost))};
}

SnappingMechanism::Options options_of(const Arguments& arguments, const Rational& epsilon) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  SnappingMechanism::Options options;
  options.epsilon = accounting::Epsilon::from_rational_down(epsilon);
  options.sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  options.upper = positive_argument(*arguments.bound, "--bound");
  options.lower = -options.upper;
  options.bound = options.upper;
  options.arithmetic = arithmetic_argument(arguments);
  options.precision = precision_argument(arguments);
  if (arguments.coordinates) {
    options.coordinates =
        static_cast<std::uint64_t>(whole_number_argument(*arguments.coordinates, "--coordinates", kMost));
  }
  return options;
}

std::string report_text(const SnappingReport& report) {
  const auto& parameters = report.parameters;
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<11}{}\n", name, value);
  };
  line("lambda", short_text(parameters.lambda));
  line("grid", short_text(parameters.grid));
  line("bound", short_text(parameters.bound));
  line("loss", "epsilon " + parameters.charged.text() + "; proved " + short_text(parameters.adjusted));
  if (parameters.precision != 0) {
    line("precision", fmt::format("{} bits ({})", parameters.precision, parameters.precision_reason));
  }
  for (const engine::Accuracy& one : report.accuracy) {
    line("accuracy", fmt::format("with {} % confidence within {} of the clamped answer",
                                 short_text(Rational(100 - 100 * one.alpha)), accounting::text_up(one.a, 8)));
  }
  return text;
}

}  // namespace

ExitCode accuracy_snapping(const Arguments& arguments, Console& console) {
  const Rational epsilon = epsilon_argument(*arguments.epsilon);
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const SnappingMechanism mechanism(options_of(arguments, epsilon));
  SnappingReport report{epsilon, mechanism.parameters(), {}};
  for (const Rational& alpha : alphas) report.accuracy.push_back({alpha, mechanism.accuracy_up(alpha)});
  if (console.json()) {
    console.write(snapping_json(report));
  } else if (console.quiet()) {
    for (const engine::Accuracy& one : report.accuracy) console.write(accounting::text_up(one.a, 17) + "\n");
  } else {
    console.write(report_text(report));
  }
  return ExitCode::done;
}

}  // namespace epsilog::command
