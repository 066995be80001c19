// accuracy snapping and calibrate snapping.
#include <fmt/format.h>

#include "calculator.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping_for_accuracy.hpp"
#include "epsilog/mechanisms/snapping_for_scale.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "table_output.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

struct SnappingArguments {
  std::optional<std::string> epsilon;
  std::optional<std::string> sensitivity;
  std::optional<std::string> bound;
  std::optional<std::string> coordinates;
  std::optional<std::string> arithmetic;
  std::optional<std::string> precision;
  std::optional<std::string> scale;
  std::optional<std::string> accuracy;
  std::optional<std::string> at;
  std::vector<std::string> alphas;
};

using mechanisms::Arithmetic;
using mechanisms::Precision;
using mechanisms::SnappingMechanism;
using Parameters = SnappingMechanism::Parameters;

constexpr std::int64_t kCoordinatesMax = 1'000'000'000'000;
constexpr std::int64_t kPrecisionMost = 1'000'000;

Arithmetic arithmetic_argument(const SnappingArguments& arguments, const char* otherwise) {
  const std::string text = arguments.arithmetic.value_or(otherwise);
  if (text == "mpfr") return Arithmetic::mpfr;
  if (text == "exact") return Arithmetic::exact;
  throw UsageError("--arithmetic: '" + text + "' must be mpfr or exact");
}

Precision precision_argument(const SnappingArguments& arguments) {
  const std::string text = arguments.precision.value_or("auto");
  if (text == "auto") return {0};
  if (text == "binary64") return {53};
  return {static_cast<unsigned>(whole_number_argument(text, "--precision", kPrecisionMost))};
}

std::uint64_t coordinates_argument(const SnappingArguments& arguments) {
  if (!arguments.coordinates) return 1;
  return static_cast<std::uint64_t>(
      whole_number_argument(*arguments.coordinates, "--coordinates", kCoordinatesMax));
}

void set_bound(SnappingMechanism::Options& options, const Rational& bound) {
  options.lower = -bound;
  options.upper = bound;
  options.bound = bound;
}

SnappingMechanism::Options options_of(const SnappingArguments& arguments, const Rational& epsilon) {
  SnappingMechanism::Options options;
  options.epsilon = accounting::Epsilon::from_rational_down(epsilon);
  options.sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  set_bound(options, positive_argument(*arguments.bound, "--bound"));
  options.arithmetic = arithmetic_argument(arguments, "mpfr");
  options.precision = precision_argument(arguments);
  options.coordinates = coordinates_argument(arguments);
  return options;
}

mechanisms::AccuracyGoal goal_of(const SnappingArguments& arguments) {
  mechanisms::AccuracyGoal goal;
  goal.accuracy = positive_argument(*arguments.accuracy, "--accuracy");
  goal.alpha = single_alpha_argument(arguments.alphas);
  goal.sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  if (arguments.bound) goal.bound = positive_argument(*arguments.bound, "--bound");
  goal.arithmetic = arithmetic_argument(arguments, goal.bound ? "mpfr" : "exact");
  if (!goal.bound && goal.arithmetic == Arithmetic::mpfr) {
    throw UsageError("--bound is required with --arithmetic mpfr, whose loss depends on it");
  }
  goal.precision = precision_argument(arguments);
  goal.coordinates = coordinates_argument(arguments);
  return goal;
}

/// The mechanism that a goal leads to. Without a bound it is one whose bound is too far away to matter: only
/// errors up to the goal's accuracy are asked about.
SnappingMechanism mechanism_for(const mechanisms::AccuracyGoal& goal, const accounting::Epsilon& epsilon) {
  SnappingMechanism::Options options;
  options.epsilon = epsilon;
  options.sensitivity = goal.sensitivity;
  options.coordinates = goal.coordinates;
  set_bound(options, goal.bound.value_or(4 * goal.accuracy));
  options.arithmetic = goal.arithmetic;
  options.precision = goal.precision;
  return SnappingMechanism(options);
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
          {"scale", accounting::text(parameters.scale)},
          {"grid", accounting::text(parameters.grid)}};
}

void add_accuracy(Figures& figures, const std::vector<Confidence>& confidences) {
  figures.push_back({"alpha", confidences.front().alpha});
  figures.push_back({"within", confidences.front().a});
  std::vector<Figures> list;
  for (const Confidence& one : confidences) list.push_back({{"alpha", one.alpha}, {"within", one.a}});
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

std::vector<Calculation::LabelledLine> lines_of(const Parameters& parameters) {
  std::vector<Calculation::LabelledLine> lines{
      {"scale", short_text(parameters.scale)},
      {"grid", short_text(parameters.grid)},
      {"bound", short_text(parameters.bound)},
      {"loss", "epsilon " + parameters.charged.text() + "; proved " + short_text(parameters.adjusted)}};
  if (parameters.precision != 0) {
    lines.push_back(
        {"precision", fmt::format("{} bits ({})", parameters.precision, parameters.precision_reason)});
  }
  return lines;
}

Calculation::LabelledLine confidence_line(const Rational& alpha, const Rational& a,
                                          const std::string& answer) {
  return {"accuracy",
          fmt::format("with {} % confidence within {} of {}", short_text(Rational(100 - 100 * alpha)),
                      accounting::text_up(a, 8), answer)};
}

constexpr const char* kAnyAnswer = "the exact answer, if that is within the bound";

std::optional<mechanisms::HypotheticalAnswer> hypothetical_answer(const SnappingArguments& arguments) {
  if (!arguments.at) return std::nullopt;
  static_cast<void>(number_argument(*arguments.at, "--at"));  // which names the option
  return mechanisms::HypotheticalAnswer::parse(*arguments.at);
}

Calculation snapping_accuracy(const SnappingArguments& arguments) {
  const Rational epsilon = epsilon_argument(*arguments.epsilon);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const auto at = hypothetical_answer(arguments);
  const std::string answer = at ? "an exact answer of " + short_text(at->rational()) : kAnyAnswer;
  const SnappingMechanism mechanism(options_of(arguments, epsilon));
  Calculation calculation{figures_of(mechanism.parameters()), lines_of(mechanism.parameters()), {}};
  std::vector<Confidence> confidences;
  for (const Rational& alpha : alphas) {
    const Rational a = at ? mechanism.accuracy_at_up(*at, alpha) : mechanism.accuracy_up(alpha);
    confidences.push_back({accounting::text(alpha), digits_up(a, "within")});
    calculation.lines.push_back(confidence_line(alpha, a, answer));
    calculation.answers.push_back(confidences.back().a);
  }
  calculation.figures.push_back(text_or_nothing("at", at ? accounting::text(at->rational()) : ""));
  add_accuracy(calculation.figures, confidences);
  add_loss(calculation.figures, epsilon, mechanism.parameters());
  return calculation;
}

Calculation snapping_alpha(const SnappingArguments& arguments) {
  const Rational epsilon = epsilon_argument(*arguments.epsilon);
  const Rational a = non_negative_argument(*arguments.accuracy, "--accuracy");
  const SnappingMechanism mechanism(options_of(arguments, epsilon));
  const std::string alpha = digits_up(mechanism.tail_up(a), "alpha");
  Calculation calculation{figures_of(mechanism.parameters()), lines_of(mechanism.parameters()), {alpha}};
  calculation.lines.push_back({"alpha", fmt::format("{}: the largest probability of an error above {}",
                                                    short_text(alpha), short_text(a))});
  add_accuracy(calculation.figures, {{alpha, accounting::text(a)}});
  add_loss(calculation.figures, epsilon, mechanism.parameters());
  return calculation;
}

Calculation snapping_epsilon(const SnappingArguments& arguments) {
  const mechanisms::AccuracyGoal goal = goal_of(arguments);
  const accounting::Epsilon epsilon = mechanisms::snapping_epsilon_for_accuracy_up(goal);
  const SnappingMechanism mechanism = mechanism_for(goal, epsilon);
  const Parameters& parameters = mechanism.parameters();
  const Rational a = mechanism.accuracy_up(goal.alpha);
  EPSILOG_INVARIANT(a <= goal.accuracy);

  Calculation calculation{{{"epsilon", epsilon.text()}, {"adjusted", accounting::text(parameters.adjusted)}},
                          lines_of(parameters),
                          {}};
  for (Figure& figure : figures_of(parameters)) {
    if (figure.name == "bound" && !goal.bound) figure.value = std::monostate{};
    calculation.figures.push_back(std::move(figure));
  }
  if (!goal.bound) {
    std::erase_if(calculation.lines, [](const auto& line) { return line.label == "bound"; });
  }
  add_accuracy(calculation.figures, {{accounting::text(goal.alpha), digits_up(a, "within")}});
  calculation.lines.push_back(confidence_line(goal.alpha, a, goal.bound ? kAnyAnswer : "the answer"));
  return calculation;
}

Calculation snapping_loss(const SnappingArguments& arguments) {
  mechanisms::SnappingScale scale;
  scale.scale = positive_argument(*arguments.scale, "--scale");
  scale.sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  scale.bound = positive_argument(*arguments.bound, "--bound");
  scale.coordinates = coordinates_argument(arguments);
  scale.arithmetic = arithmetic_argument(arguments, "mpfr");
  scale.precision = precision_argument(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const Parameters parameters = mechanisms::snapping_of_scale(scale);
  const std::string published = parameters.published ? accounting::text(*parameters.published) : "";

  Calculation calculation{{{"epsilon", parameters.charged.text()},
                           {"adjusted", accounting::text(parameters.adjusted)},
                           text_or_nothing("published", published),
                           text_or_nothing("published_note", parameters.published_note)},
                          lines_of(parameters),
                          {parameters.charged.text()}};
  if (parameters.published) {
    calculation.lines.push_back(
        {"published", "epsilon " + short_text(*parameters.published) +
                          (parameters.published_note.empty() ? "" : ", " + parameters.published_note)});
  }
  for (Figure& figure : figures_of(parameters)) calculation.figures.push_back(std::move(figure));
  std::vector<Confidence> confidences;
  for (const Rational& alpha : alphas) {
    const Rational a = mechanisms::snapping_accuracy_up(parameters, alpha);
    confidences.push_back({accounting::text(alpha), digits_up(a, "within")});
    calculation.lines.push_back(confidence_line(alpha, a, kAnyAnswer));
  }
  add_accuracy(calculation.figures, confidences);
  return calculation;
}

}  // namespace

VerbSpec accuracy_snapping_verb() {
  const std::vector<Option<SnappingArguments>> shared{
      {"--epsilon", &SnappingArguments::epsilon, true},
      {"--sensitivity", &SnappingArguments::sensitivity, true},
      {"--bound", &SnappingArguments::bound, true}};
  std::vector<Option<SnappingArguments>> forward = shared;
  forward.insert(forward.end(), {{"--alpha", &SnappingArguments::alphas},
                                 {"--at", &SnappingArguments::at},
                                 {"--arithmetic", &SnappingArguments::arithmetic},
                                 {"--precision", &SnappingArguments::precision},
                                 {"--coordinates", &SnappingArguments::coordinates}});
  std::vector<Option<SnappingArguments>> backward = shared;
  backward.insert(backward.end(), {{"--accuracy", &SnappingArguments::accuracy, true},
                                   {"--arithmetic", &SnappingArguments::arithmetic},
                                   {"--precision", &SnappingArguments::precision},
                                   {"--coordinates", &SnappingArguments::coordinates}});
  return Calculator<SnappingArguments>{
      .words = "accuracy snapping",
      .summary = "noise scale, grid and accuracy of the snapping mechanism",
      .examples =
          "epsilog accuracy snapping --epsilon 0.1 --sensitivity 1 --bound 20 --alpha 0.05\n"
          "epsilog accuracy snapping --epsilon 1 --sensitivity 1 --bound 1000 --alpha 0.01 --arithmetic "
          "exact\n"
          "epsilog accuracy snapping --epsilon 0.1 --sensitivity 1 --bound 20 --accuracy 40",
      .details =
          "The release is clamp_B(round_Lambda(clamp_B(y) + lambda S |ln U|)), S = +-1, U uniform in\n"
          "(0,1): Mironov, CCS 2012, section 5.2. lambda (scale) = D/epsilon in exact arithmetic, a\n"
          "little more in mpfr, so that the proved loss is at most epsilon; Lambda (grid) is the least\n"
          "power of two >= D/epsilon.\n"
          "  --alpha     within = the least a with P(|release - y| > a) <= alpha for every y in [-B, B];\n"
          "              rounded up.\n"
          "  --accuracy  alpha = the largest P(|release - y| > a) of any y in [-B, B]; rounded up.\n"
          "  --at        within at this y only; rounded up. Y is a value you make up, never the true\n"
          "              answer: what is printed depends on it, and nothing was charged for that.\n"
          "Epsilon is rounded down to a multiple of 10^-12, as a release would do.",
      .forms = {{forward, {"scale", "grid", "within"}, &snapping_accuracy},
                {backward, {"scale", "grid", "alpha"}, &snapping_alpha}}};
}

VerbSpec calibrate_snapping_verb() {
  return Calculator<SnappingArguments>{
      .words = "calibrate snapping",
      .summary = "the epsilon that a wanted accuracy, or a noise scale, costs",
      .examples =
          "epsilog calibrate snapping --accuracy 40 --alpha 0.05 --sensitivity 1\n"
          "epsilog calibrate snapping --accuracy 40 --alpha 0.05 --sensitivity 1 --bound 1000\n"
          "epsilog calibrate snapping --scale 10 --sensitivity 1 --bound 1000 --precision 118",
      .details =
          "  --accuracy  epsilon = the least multiple of 10^-12 from which on the mechanism has an\n"
          "              accuracy of at most a (see epsilog accuracy snapping --help), the jumps of Lambda\n"
          "              where D/epsilon passes a power of two allowed for. Rounded up, and certified by\n"
          "              calculating that accuracy. scale, grid and within are those of the mechanism\n"
          "              with this epsilon; without --bound it does not clamp.\n"
          "  --scale     adjusted = D/S + m (18 B/S + 10) 2^-p, the loss that is proved of noise of\n"
          "              scale S, and published = D/S + m (12 B/S + 2) 2^-p, S rounded up to p bits; in\n"
          "              exact arithmetic D/S. epsilon is adjusted, rounded up to a multiple of 10^-12;\n"
          "              Lambda (grid) is the least power of two >= S.",
      .forms = {{{{"--accuracy", &SnappingArguments::accuracy, true,
                   "how far the release may be off; exceeded with probability alpha"},
                  {"--alpha", &SnappingArguments::alphas, true,
                   "probability in (0,1) that the error is larger than the accuracy"},
                  {"--sensitivity", &SnappingArguments::sensitivity, true},
                  {"--bound", &SnappingArguments::bound},
                  {"--arithmetic", &SnappingArguments::arithmetic, false,
                   "mpfr needs --bound (default: mpfr with --bound, else exact)"},
                  {"--precision", &SnappingArguments::precision},
                  {"--coordinates", &SnappingArguments::coordinates}},
                 {"epsilon", "scale", "grid", "within"},
                 &snapping_epsilon},
                {{{"--scale", &SnappingArguments::scale, true},
                  {"--sensitivity", &SnappingArguments::sensitivity, true},
                  {"--bound", &SnappingArguments::bound, true},
                  {"--alpha", &SnappingArguments::alphas},
                  {"--arithmetic", &SnappingArguments::arithmetic},
                  {"--precision", &SnappingArguments::precision},
                  {"--coordinates", &SnappingArguments::coordinates}},
                 {"epsilon", "adjusted", "published", "scale", "grid", "within"},
                 &snapping_loss}}};
}

}  // namespace epsilog::command
