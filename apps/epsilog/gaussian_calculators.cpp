// calibrate gaussian: sigma from delta, and delta from sigma.
#include "calculation.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"

namespace epsilog::command {

Calculation gaussian_sigma(const Arguments& arguments) {
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

Calculation gaussian_delta(const Arguments& arguments) {
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

}  // namespace epsilog::command
