// accuracy discrete-gaussian and accuracy discrete-laplace: from two of scale, accuracy and alpha the third.
#include "calculation.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"

namespace epsilog::command {
namespace {

using accounting::Integer;

/// What is known of one law.
struct Law {
  const char* mechanism;
  Integer (*accuracy)(const Rational& scale, const Rational& alpha);
  Rational (*scale_down)(const Rational& accuracy, const Rational& alpha);
  Rational (*tail_up)(const Rational& scale, const Integer& accuracy);
};

const Law kGaussian{"discrete_gaussian", &mechanisms::discrete_gaussian_accuracy,
                    &mechanisms::discrete_gaussian_scale_down, &mechanisms::discrete_gaussian_tail_up};
const Law kLaplace{"discrete_laplace", &mechanisms::discrete_laplace_accuracy,
                   &mechanisms::discrete_laplace_scale_down, &mechanisms::discrete_laplace_tail_up};

Calculation accuracy_of(const Law& law, const Arguments& arguments) {
  const Rational scale = positive_argument(*arguments.scale, "--scale");
  const Rational alpha = single_alpha_argument(arguments);
  return {{{"mechanism", law.mechanism},
           {"scale", accounting::text(scale)},
           {"alpha", accounting::text(alpha)},
           {"accuracy", law.accuracy(scale, alpha).get_str()}}};
}

Calculation scale_of(const Law& law, const Arguments& arguments) {
  const Rational accuracy = positive_argument(*arguments.accuracy, "--accuracy");
  const Rational alpha = single_alpha_argument(arguments);
  const Rational scale = law.scale_down(accuracy, alpha);
  return {{{"mechanism", law.mechanism},
           {"accuracy", accounting::text(accuracy)},
           {"alpha", accounting::text(alpha)},
           {"scale", digits_down(scale, "scale")},
           text_or_nothing("scale_hex", binary64_down(scale))}};
}

Calculation alpha_of(const Law& law, const Arguments& arguments) {
  const Rational scale = positive_argument(*arguments.scale, "--scale");
  const Rational accuracy = non_negative_argument(*arguments.accuracy, "--accuracy");
  // The noise is an integer: it reaches `accuracy` when it reaches the next integer.
  const Rational alpha = law.tail_up(scale, accounting::ceil(accuracy));
  return {{{"mechanism", law.mechanism},
           {"scale", accounting::text(scale)},
           {"accuracy", accounting::text(accuracy)},
           {"alpha", digits_up(alpha, "alpha")}}};
}

}  // namespace

Calculation discrete_gaussian_accuracy(const Arguments& arguments) {
  return accuracy_of(kGaussian, arguments);
}
Calculation discrete_gaussian_scale(const Arguments& arguments) {
  return scale_of(kGaussian, arguments);
}
Calculation discrete_gaussian_alpha(const Arguments& arguments) {
  return alpha_of(kGaussian, arguments);
}
Calculation discrete_laplace_accuracy(const Arguments& arguments) {
  return accuracy_of(kLaplace, arguments);
}
Calculation discrete_laplace_scale(const Arguments& arguments) {
  return scale_of(kLaplace, arguments);
}
Calculation discrete_laplace_alpha(const Arguments& arguments) {
  return alpha_of(kLaplace, arguments);
}

}  // namespace epsilog::command
