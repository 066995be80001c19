// calibrate gaussian: sigma from delta, and delta from sigma.
#include "calculator.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"

namespace epsilog::command {
namespace {

struct GaussianArguments {
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::optional<std::string> sigma;
  std::optional<std::string> sensitivity;
};

Calculation gaussian_sigma(const GaussianArguments& arguments) {
  const Rational epsilon = positive_argument(*arguments.epsilon, "--epsilon");
  const Rational delta = probability_argument(*arguments.delta, "--delta");
  const Rational sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  const Rational sigma = mechanisms::gaussian_sigma_up(epsilon, delta, sensitivity);
  return {{{"mechanism", "gaussian"},
           {"epsilon", accounting::text(epsilon)},
           {"delta", accounting::text(delta)},
           {"sensitivity", accounting::text(sensitivity)},
           {"sigma", digits_up(sigma, "sigma")},
           text_or_nothing("sigma_hex", binary64_up(sigma))}};
}

Calculation gaussian_delta(const GaussianArguments& arguments) {
  const Rational sigma = positive_argument(*arguments.sigma, "--sigma");
  const Rational epsilon = non_negative_argument(*arguments.epsilon, "--epsilon");
  const Rational sensitivity = positive_argument(*arguments.sensitivity, "--sensitivity");
  const Rational delta = mechanisms::gaussian_delta_up(sigma, epsilon, sensitivity);
  return {{{"mechanism", "gaussian"},
           {"sigma", accounting::text(sigma)},
           {"epsilon", accounting::text(epsilon)},
           {"sensitivity", accounting::text(sensitivity)},
           {"delta", digits_up(delta, "delta")}}};
}

}  // namespace

VerbSpec calibrate_gaussian_verb() {
  const Option<GaussianArguments> kSensitivity{"--sensitivity", &GaussianArguments::sensitivity, true,
                                               "L2 sensitivity: the largest L2 change by one unit"};
  return Calculator<GaussianArguments>{
      .words = "calibrate gaussian",
      .summary = "sigma of the Gaussian for (epsilon, delta), or delta for sigma",
      .examples =
          "epsilog calibrate gaussian --epsilon 1 --delta 1e-6 --sensitivity 1\n"
          "epsilog calibrate gaussian --sigma 4.25 --epsilon 1 --sensitivity 1",
      .details =
          "delta(sigma) = Phi(D/(2 sigma) - epsilon sigma/D) - e^epsilon Phi(-D/(2 sigma) - epsilon\n"
          "sigma/D), D the L2 sensitivity: Balle and Wang, ICML 2018, theorem 8, for every epsilon.\n"
          "  --delta  sigma = the least with delta(sigma) <= delta; rounded up, and delta(sigma) was\n"
          "           verified.\n"
          "  --sigma  delta = delta(sigma); rounded up.\n"
          "This is the law of real-valued noise. A release here is a discrete Gaussian on a grid, whose\n"
          "delta is larger and is charged by its own formula.",
      .forms = {{{{"--epsilon", &GaussianArguments::epsilon, true},
                  {"--delta", &GaussianArguments::delta, true},
                  kSensitivity},
                 {"sigma", "sigma_hex"},
                 &gaussian_sigma},
                {{{"--sigma", &GaussianArguments::sigma, true},
                  {"--epsilon", &GaussianArguments::epsilon, true},
                  kSensitivity},
                 {"delta"},
                 &gaussian_delta}}};
}

}  // namespace epsilog::command
