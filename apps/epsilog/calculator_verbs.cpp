#include "calculator_verbs.hpp"

#include <algorithm>

namespace epsilog::command {
namespace {

/// The options of all forms, each once, and --batch.
std::vector<OptionUse> all_uses(const std::vector<Form>& forms) {
  std::vector<OptionUse> uses;
  for (const Form& form : forms) {
    for (const OptionUse& use : form.options) {
      const bool known = std::any_of(uses.begin(), uses.end(),
                                     [&](const OptionUse& earlier) { return earlier.name == use.name; });
      if (!known) uses.push_back({use.name, false, use.help});
    }
  }
  uses.push_back({"--batch"});
  return uses;
}

VerbSpec calculator(Verb verb, std::string_view words, std::string_view summary, std::string_view examples,
                    std::string_view details, std::vector<Form> forms) {
  VerbSpec spec{verb, words, summary, examples, details, {}, all_uses(forms)};
  spec.forms = std::move(forms);
  return spec;
}

constexpr std::string_view kAccuracyHelp = "how far the release may be off; exceeded with probability alpha";

VerbSpec accuracy_snapping() {
  const std::vector<OptionUse> shared{{"--epsilon", true}, {"--sensitivity", true}, {"--bound", true}};
  std::vector<OptionUse> forward = shared;
  forward.insert(forward.end(),
                 {{"--alpha"}, {"--at"}, {"--arithmetic"}, {"--precision"}, {"--coordinates"}});
  std::vector<OptionUse> backward = shared;
  backward.insert(backward.end(),
                  {{"--accuracy", true}, {"--arithmetic"}, {"--precision"}, {"--coordinates"}});
  return calculator(
      Verb::accuracy_snapping, "accuracy snapping",
      "noise scale, grid and accuracy of the snapping mechanism",
      "epsilog accuracy snapping --epsilon 0.1 --sensitivity 1 --bound 20 --alpha 0.05\n"
      "epsilog accuracy snapping --epsilon 1 --sensitivity 1 --bound 1000 --alpha 0.01 --arithmetic exact\n"
      "epsilog accuracy snapping --epsilon 0.1 --sensitivity 1 --bound 20 --accuracy 40",
      "The release is clamp_B(round_Lambda(clamp_B(y) + lambda S |ln U|)), S = +-1, U uniform in (0,1):\n"
      "Mironov, CCS 2012, section 5.2. lambda = D/epsilon in exact arithmetic, a little more in mpfr, so\n"
      "that the proved loss is at most epsilon; Lambda (grid) is the least power of two >= D/epsilon.\n"
      "  --alpha     a = the least number with P(|release - y| > a) <= alpha for every y in [-B, B];\n"
      "              rounded up.\n"
      "  --accuracy  alpha = the largest P(|release - y| > a) of any y in [-B, B]; rounded up.\n"
      "  --at        a at this y only; rounded up. Y is a value you make up, never the true answer:\n"
      "              what is printed depends on it, and nothing was charged for that.\n"
      "Epsilon is rounded down to a multiple of 10^-12, as a release would do.",
      {{forward, {"lambda", "grid", "a"}, &snapping_accuracy},
       {backward, {"lambda", "grid", "alpha"}, &snapping_alpha}});
}

std::vector<Form> discrete_forms(Calculation (*accuracy)(const Arguments&),
                                 Calculation (*scale)(const Arguments&),
                                 Calculation (*alpha)(const Arguments&)) {
  constexpr OptionUse kScale{"--scale", true};
  constexpr OptionUse kAlpha{"--alpha", true, "probability in (0,1) that the error reaches the accuracy"};
  constexpr OptionUse kAccuracy{"--accuracy", true, "what the error reaches with probability alpha at most"};
  return {{{kScale, kAlpha}, {"accuracy"}, accuracy},
          {{kAccuracy, kAlpha}, {"scale", "scale_hex"}, scale},
          {{kScale, kAccuracy}, {"alpha"}, alpha}};
}

VerbSpec accuracy_discrete_gaussian() {
  return calculator(
      Verb::accuracy_discrete_gaussian, "accuracy discrete-gaussian",
      "of scale, accuracy and alpha of the discrete Gaussian, the third from two",
      "epsilog accuracy discrete-gaussian --scale 10 --alpha 0.05\n"
      "epsilog accuracy discrete-gaussian --accuracy 20 --alpha 0.05\n"
      "epsilog accuracy discrete-gaussian --scale 10 --accuracy 20",
      "The noise X is an integer with P(X = x) proportional to exp(-x^2/(2 s^2)), s the scale:\n"
      "Canonne, Kamath and Steinke, NeurIPS 2020.\n"
      "  accuracy = the least integer a >= 0 with P(|X| >= a) <= alpha: the error is below a with\n"
      "             probability at least 1 - alpha; exact.\n"
      "  scale    = the largest s with P(|X| >= ceil(a)) <= alpha; rounded down.\n"
      "  alpha    = P(|X| >= ceil(a)); rounded up.",
      discrete_forms(&discrete_gaussian_accuracy, &discrete_gaussian_scale, &discrete_gaussian_alpha));
}

VerbSpec accuracy_discrete_laplace() {
  return calculator(
      Verb::accuracy_discrete_laplace, "accuracy discrete-laplace",
      "of scale, accuracy and alpha of the discrete Laplace, the third from two",
      "epsilog accuracy discrete-laplace --scale 10 --alpha 0.05\n"
      "epsilog accuracy discrete-laplace --accuracy 30 --alpha 0.05\n"
      "epsilog accuracy discrete-laplace --scale 10 --accuracy 30",
      "The noise X is an integer with P(X = x) proportional to exp(-|x|/s), s the scale: the two-sided\n"
      "geometric law of Ghosh, Roughgarden and Sundararajan, STOC 2009. With q = exp(-1/s),\n"
      "P(|X| >= a) = 2 q^a / (1 + q) for integers a >= 1.\n"
      "  accuracy = the least integer a >= 0 with P(|X| >= a) <= alpha: the error is below a with\n"
      "             probability at least 1 - alpha; exact.\n"
      "  scale    = the largest s with P(|X| >= ceil(a)) <= alpha; rounded down.\n"
      "  alpha    = P(|X| >= ceil(a)); rounded up.",
      discrete_forms(&discrete_laplace_accuracy, &discrete_laplace_scale, &discrete_laplace_alpha));
}

VerbSpec calibrate_snapping() {
  return calculator(
      Verb::calibrate_snapping, "calibrate snapping", "the epsilon that a wanted accuracy costs",
      "epsilog calibrate snapping --accuracy 40 --alpha 0.05 --sensitivity 1\n"
      "epsilog calibrate snapping --accuracy 40 --alpha 0.05 --sensitivity 1 --bound 1000",
      "epsilon = the least multiple of 10^-12 whose snapping mechanism has an accuracy of at most a: see\n"
      "epsilog accuracy snapping --help. Rounded up, and certified by calculating that accuracy; the jumps\n"
      "of Lambda where D/epsilon passes a power of two are allowed for. lambda, grid and a are those of the\n"
      "mechanism with this epsilon; without --bound it does not clamp.",
      {{{{"--accuracy", true, kAccuracyHelp},
         {"--alpha", true},
         {"--sensitivity", true},
         {"--bound"},
         {"--arithmetic", false, "mpfr needs --bound (default: mpfr with --bound, else exact)"},
         {"--precision"},
         {"--coordinates"}},
        {"epsilon", "lambda", "grid", "a"},
        &snapping_epsilon}});
}

}  // namespace

std::vector<VerbSpec> calculator_verbs() {
  return {accuracy_snapping(), accuracy_discrete_gaussian(), accuracy_discrete_laplace(),
          calibrate_snapping()};
}

}  // namespace epsilog::command
