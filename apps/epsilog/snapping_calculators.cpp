// accuracy snapping and calibrate snapping.
#include <fmt/format.h>

#include "calculation.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using mechanisms::Arithmetic;
using mechanisms::Precision;
using mechanisms::SnappingMechanism;
using Parameters = SnappingMechanism::Parameters;

constexpr std::int64_t kCoordinatesMost = 1'000'000'000'000;
constexpr std::int64_t kPrecisionMost = 1'000'000;

Arithmetic arithmetic_argument(const Arguments& arguments) {
  const std::string text = arguments.arithmetic.value_or("mpfr");
  if (text == "mpfr") return Arithmetic::mpfr;
  if (text == "exact") return Arithmetic::exact;
  throw UsageError("--arithmetic: '" + text + "' must be mpfr or exact");
}

Precision precision_argument(const Arguments& arguments) {
  const std::string text = arguments.precision.value_or("auto");
  if (text == "auto") return {0};
  if (text == "binary64") return {53};
  return {static_cast<unsigned>(whole_number_argument(text, "--precision", kPrecisionMost))};
}

std::uint64_t coordinates_argument(const Arguments& arguments) {
  if (!arguments.coordinates) return 1;
  return static_cast<std::uint64_t>(
      whole_number_argument(*arguments.coordinates, "--coordinates", kCoordinatesMost));
}

SnappingMechanism::Options options_of(const Arguments& arguments, const Rational& epsilon) {
  SnappingMechanism::Options options;
  options.epsilon = accounting::Epsilon::from_rational_down(epsilon);
  options.sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  options.upper = positive_argument(*arguments.bound, "--bound");
  options.lower = -options.upper;
  options.bound = options.upper;
  options.arithmetic = arithmetic_argument(arguments);
  options.precision = precision_argument(arguments);
  options.coordinates = coordinates_argument(arguments);
  return options;
}

/// Of an error: the probability alpha that it is larger than a.
struct Confidence {
  std::string alpha;
  std::string a;
};

Figures figures_of(const Parameters& parameters) {
  const bool exact = parameters.arithmetic == Arithmetic::exact;
  Figure precision{"precision", {}};
  if (!exact) precision.value = std::uint64_t{parameters.precision};
  return {{"mechanism", "snapping"},
          {"arithmetic", exact ? "exact" : "mpfr"},
          precision,
          text_or_nothing("precision_reason", parameters.precision_reason),
          {"sensitivity", accounting::text(parameters.sensitivity)},
          {"coordinates", parameters.coordinates},
          {"bound", accounting::text(parameters.bound)},
          {"lambda", accounting::text(parameters.lambda)},
          {"grid", accounting::text(parameters.grid)}};
}

void add_accuracy(Figures& figures, const std::vector<Confidence>& confidences) {
  figures.push_back({"alpha", confidences.front().alpha});
  figures.push_back({"a", confidences.front().a});
  std::vector<Figures> list;
  for (const Confidence& one : confidences) list.push_back({{"alpha", one.alpha}, {"a", one.a}});
  figures.push_back({"accuracy", std::move(list)});
}

void add_loss(Figures& figures, const Rational& requested, const Parameters& parameters) {
  figures.push_back(
      {"epsilon",
       Figures{
           {"requested", accounting::text(requested)},
           {"charged", parameters.charged.text()},
           {"adjusted", accounting::text(parameters.adjusted)},
           text_or_nothing("published", parameters.published ? accounting::text(*parameters.published) : ""),
           text_or_nothing("published_note", parameters.published_note)}});
}

std::vector<Calculation::Line> lines_of(const Parameters& parameters) {
  std::vector<Calculation::Line> lines{
      {"lambda", short_text(parameters.lambda)},
      {"grid", short_text(parameters.grid)},
      {"bound", short_text(parameters.bound)},
      {"loss", "epsilon " + parameters.charged.text() + "; proved " + short_text(parameters.adjusted)}};
  if (parameters.precision != 0) {
    lines.push_back(
        {"precision", fmt::format("{} bits ({})", parameters.precision, parameters.precision_reason)});
  }
  return lines;
}

Calculation::Line confidence_line(const Rational& alpha, const Rational& a) {
  return {"accuracy", fmt::format("with {} % confidence within {} of the clamped answer",
                                  short_text(Rational(100 - 100 * alpha)), accounting::text_up(a, 8))};
}

}  // namespace

Calculation snapping_accuracy(const Arguments& arguments) {
  const Rational epsilon = epsilon_argument(*arguments.epsilon);
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const SnappingMechanism mechanism(options_of(arguments, epsilon));
  Calculation calculation{figures_of(mechanism.parameters()), lines_of(mechanism.parameters()), {}};
  std::vector<Confidence> confidences;
  for (const Rational& alpha : alphas) {
    const Rational a = mechanism.accuracy_up(alpha);
    confidences.push_back({accounting::text(alpha), digits_up(a, "a")});
    calculation.lines.push_back(confidence_line(alpha, a));
    calculation.answers.push_back(confidences.back().a);
  }
  add_accuracy(calculation.figures, confidences);
  add_loss(calculation.figures, epsilon, mechanism.parameters());
  return calculation;
}

}  // namespace epsilog::command
