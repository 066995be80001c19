// accuracy discrete-gaussian and accuracy discrete-laplace: from two of scale, accuracy and alpha the third.
#include "calculator.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"

namespace epsilog::command {
namespace {

using accounting::Integer;

struct DiscreteArguments {
  std::optional<std::string> scale;
  std::optional<std::string> accuracy;
  std::vector<std::string> alphas;
};

/// What is known of one law.
struct Law {
  const char* mechanism;
  Integer (*accuracy)(const Rational& scale, const Rational& alpha);
  Rational (*scale_down)(const Rational& accuracy, const Rational& alpha);
  Rational (*tail_up)(const Rational& scale, const Integer& accuracy);
};

constexpr Law kGaussian{"discrete_gaussian", &mechanisms::discrete_gaussian_accuracy,
                        &mechanisms::discrete_gaussian_scale_down, &mechanisms::discrete_gaussian_tail_up};
constexpr Law kLaplace{"discrete_laplace", &mechanisms::discrete_laplace_accuracy,
                       &mechanisms::discrete_laplace_scale_down, &mechanisms::discrete_laplace_tail_up};

template <const Law& law>
Calculation accuracy_of(const DiscreteArguments& arguments) {
  const Rational scale = positive_argument(*arguments.scale, "--scale");
  const Rational alpha = single_alpha_argument(arguments.alphas);
  return {{{"mechanism", law.mechanism},
           {"scale", accounting::text(scale)},
           {"alpha", accounting::text(alpha)},
           {"accuracy", law.accuracy(scale, alpha).get_str()}}};
}

template <const Law& law>
Calculation scale_of(const DiscreteArguments& arguments) {
  const Rational accuracy = positive_argument(*arguments.accuracy, "--accuracy");
  const Rational alpha = single_alpha_argument(arguments.alphas);
  const Rational scale = law.scale_down(accuracy, alpha);
  return {{{"mechanism", law.mechanism},
           {"accuracy", accounting::text(accuracy)},
           {"alpha", accounting::text(alpha)},
           {"scale", digits_down(scale, "scale")},
           text_or_nothing("scale_hex", binary64_down(scale))}};
}

template <const Law& law>
Calculation alpha_of(const DiscreteArguments& arguments) {
  const Rational scale = positive_argument(*arguments.scale, "--scale");
  const Rational accuracy = non_negative_argument(*arguments.accuracy, "--accuracy");
  // The noise is an integer: it reaches `accuracy` when it reaches the next integer.
  const Rational alpha = law.tail_up(scale, accounting::ceil(accuracy));
  return {{{"mechanism", law.mechanism},
           {"scale", accounting::text(scale)},
           {"accuracy", accounting::text(accuracy)},
           {"alpha", digits_up(alpha, "alpha")}}};
}

template <const Law& law>
std::vector<Form<DiscreteArguments>> forms_of() {
  const Option<DiscreteArguments> kScale{"--scale", &DiscreteArguments::scale, true};
  const Option<DiscreteArguments> kAlpha{"--alpha", &DiscreteArguments::alphas, true,
                                         "probability in (0,1) that the error reaches the accuracy"};
  const Option<DiscreteArguments> kAccuracy{"--accuracy", &DiscreteArguments::accuracy, true,
                                            "what the error reaches with probability alpha at most"};
  return {{{kScale, kAlpha}, {"accuracy"}, &accuracy_of<law>},
          {{kAccuracy, kAlpha}, {"scale", "scale_hex"}, &scale_of<law>},
          {{kScale, kAccuracy}, {"alpha"}, &alpha_of<law>}};
}

}  // namespace

VerbSpec accuracy_discrete_gaussian_verb() {
  return Calculator<DiscreteArguments>{
      .words = "accuracy discrete-gaussian",
      .summary = "of scale, accuracy and alpha of the discrete Gaussian, the third from two",
      .examples =
          "epsilog accuracy discrete-gaussian --scale 10 --alpha 0.05\n"
          "epsilog accuracy discrete-gaussian --accuracy 20 --alpha 0.05\n"
          "epsilog accuracy discrete-gaussian --scale 10 --accuracy 20",
      .details =
          "The noise X is an integer with P(X = x) proportional to exp(-x^2/(2 s^2)), s the scale:\n"
          "Canonne, Kamath and Steinke, NeurIPS 2020.\n"
          "  accuracy = the least integer a >= 0 with P(|X| >= a) <= alpha: the error is below a with\n"
          "             probability at least 1 - alpha; exact.\n"
          "  scale    = the largest s with P(|X| >= ceil(a)) <= alpha; rounded down.\n"
          "  alpha    = P(|X| >= ceil(a)); rounded up.",
      .forms = forms_of<kGaussian>()};
}

VerbSpec accuracy_discrete_laplace_verb() {
  return Calculator<DiscreteArguments>{
      .words = "accuracy discrete-laplace",
      .summary = "of scale, accuracy and alpha of the discrete Laplace, the third from two",
      .examples =
          "epsilog accuracy discrete-laplace --scale 10 --alpha 0.05\n"
          "epsilog accuracy discrete-laplace --accuracy 30 --alpha 0.05\n"
          "epsilog accuracy discrete-laplace --scale 10 --accuracy 30",
      .details =
          "The noise X is an integer with P(X = x) proportional to exp(-|x|/s), s the scale: the\n"
          "two-sided geometric law of Ghosh, Roughgarden and Sundararajan, STOC 2009. With q =\n"
          "exp(-1/s), P(|X| >= a) = 2 q^a / (1 + q) for integers a >= 1.\n"
          "  accuracy = the least integer a >= 0 with P(|X| >= a) <= alpha: the error is below a with\n"
          "             probability at least 1 - alpha; exact.\n"
          "  scale    = the largest s with P(|X| >= ceil(a)) <= alpha; rounded down.\n"
          "  alpha    = P(|X| >= ceil(a)); rounded up.",
      .forms = forms_of<kLaplace>()};
}

}  // namespace epsilog::command
