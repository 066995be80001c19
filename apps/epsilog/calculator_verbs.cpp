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
      Verb::calibrate_snapping, "calibrate snapping",
      "the epsilon that a wanted accuracy, or a noise scale, costs",
      "epsilog calibrate snapping --accuracy 40 --alpha 0.05 --sensitivity 1\n"
      "epsilog calibrate snapping --accuracy 40 --alpha 0.05 --sensitivity 1 --bound 1000\n"
      "epsilog calibrate snapping --lambda 10 --sensitivity 1 --bound 1000 --precision 118",
      "  --accuracy  epsilon = the least multiple of 10^-12 from which on the mechanism has an accuracy of "
      "at\n"
      "most a (see epsilog accuracy snapping --help), the jumps of Lambda where D/epsilon passes a power of\n"
      "two allowed for. Rounded up, and certified by calculating that accuracy. lambda, grid and a are "
      "those\n"
      "of the mechanism with this epsilon; without --bound it does not clamp.\n"
      "  --lambda    adjusted = D/L + m (18 B/L + 10) 2^-p, the loss that is proved of noise of scale L, "
      "and\n"
      "published = D/L + m (12 B/L + 2) 2^-p, L rounded up to p bits; in exact arithmetic D/L. epsilon is\n"
      "adjusted, rounded up to a multiple of 10^-12; Lambda (grid) is the least power of two >= L.",
      {{{{"--accuracy", true, kAccuracyHelp},
         {"--alpha", true, "probability in (0,1) that the error is larger than the accuracy"},
         {"--sensitivity", true},
         {"--bound"},
         {"--arithmetic", false, "mpfr needs --bound (default: mpfr with --bound, else exact)"},
         {"--precision"},
         {"--coordinates"}},
        {"epsilon", "lambda", "grid", "a"},
        &snapping_epsilon},
       {{{"--lambda", true},
         {"--sensitivity", true},
         {"--bound", true},
         {"--alpha"},
         {"--arithmetic"},
         {"--precision"},
         {"--coordinates"}},
        {"epsilon", "adjusted", "published", "lambda", "grid", "a"},
        &snapping_loss}});
}

VerbSpec calibrate_gaussian() {
  constexpr OptionUse kSensitivity{"--sensitivity", true,
                                   "L2 sensitivity: the largest L2 change by one unit"};
  return calculator(
      Verb::calibrate_gaussian, "calibrate gaussian",
      "sigma of the Gaussian for (epsilon, delta), or delta for sigma",
      "epsilog calibrate gaussian --epsilon 1 --delta 1e-6 --sensitivity 1\n"
      "epsilog calibrate gaussian --sigma 4.25 --epsilon 1 --sensitivity 1",
      "delta(sigma) = Phi(D/(2 sigma) - epsilon sigma/D) - e^epsilon Phi(-D/(2 sigma) - epsilon sigma/D),\n"
      "D the L2 sensitivity: Balle and Wang, ICML 2018, theorem 8, for every epsilon.\n"
      "  --delta  sigma = the least with delta(sigma) <= delta; rounded up, and delta(sigma) was verified.\n"
      "  --sigma  delta = delta(sigma); rounded up.\n"
      "This is the law of real-valued noise. A release here is a discrete Gaussian on a grid, whose delta\n"
      "is larger and is charged by its own formula.",
      {{{{"--epsilon", true}, {"--delta", true}, kSensitivity}, {"sigma", "sigma_hex"}, &gaussian_sigma},
       {{{"--sigma", true}, {"--epsilon", true}, kSensitivity}, {"delta"}, &gaussian_delta}});
}

constexpr std::string_view kPartitionsHelp = "partitions tested together (default 1)";

VerbSpec tolerance_laplace() {
  return calculator(
      Verb::tolerance_laplace, "tolerance laplace",
      "what a test may tolerate of Laplace noise, at a stated flakiness",
      "epsilog tolerance laplace --epsilon 50 --l1 1 --flakiness 23\n"
      "epsilog tolerance laplace --epsilon 1 --l1 2 --flakiness 15 --integer --partitions 10",
      "A test of a correct mechanism fails with probability 10^-k at most (Privacy on Beam, \"Tolerance\n"
      "Calculation for ApproxEquals in Tests\", corrected as docs/tolerance.md says). With b = l1/epsilon:\n"
      "  tolerance      t = b k ln 10 for one partition: P(|noise| > t) <= 10^-k; rounded up. For n of\n"
      "                 them, t = -b ln(1 - (1 - 10^-k)^(1/n)). With --integer max(0, ceil(t - 1/2)).\n"
      "  complementary  t = -b ln(1 - 10^-k) / n: P(some |noise| <= t) <= 10^-k; rounded down. Of\n"
      "                 real-valued noise; null when it is too small to be written out.",
      {{{{"--epsilon", true},
         {"--l1", true},
         {"--flakiness", true},
         {"--integer"},
         {"--partitions", false, kPartitionsHelp}},
        {"tolerance", "complementary"},
        &laplace_tolerance}});
}

VerbSpec tolerance_gaussian() {
  return calculator(
      Verb::tolerance_gaussian, "tolerance gaussian",
      "what a test may tolerate of Gaussian noise, at a stated flakiness",
      "epsilog tolerance gaussian --epsilon 1 --delta 1e-6 --l2 1 --flakiness 23\n"
      "epsilog tolerance gaussian --epsilon 1 --delta 1e-6 --l2 2 --flakiness 15 --integer --partitions 10",
      "As epsilog tolerance laplace, for normal noise with the sigma of epsilog calibrate gaussian:\n"
      "  tolerance      t = sigma sqrt(2) erfcinv(10^-k) for one partition; rounded up. For n of them\n"
      "                 10^-k becomes 1 - (1 - 10^-k)^(1/n). With --integer max(0, ceil(t - 1/2)).\n"
      "  complementary  t = sigma sqrt(2) erfinv(10^-k), for n with the same change; rounded down. Of\n"
      "                 real-valued noise; null when it is too small to be written out.",
      {{{{"--epsilon", true},
         {"--delta", true},
         {"--l2", true},
         {"--flakiness", true},
         {"--integer"},
         {"--partitions", false, kPartitionsHelp}},
        {"tolerance", "complementary"},
        &gaussian_tolerance}});
}

VerbSpec tolerance_mean() {
  return calculator(
      Verb::tolerance_mean, "tolerance mean",
      "what a test may tolerate of a mean made of a noisy sum and a noisy count",
      "epsilog tolerance mean --epsilon 1 --lower 0 --upper 10 --sum 500 --count 100 --flakiness 10\n"
      "epsilog tolerance mean --epsilon 1 --delta 1e-6 --lower 0 --upper 10 --sum 500 --count 100 --max-rows "
      "2 --partitions 3 --flakiness 10",
      "The noisy mean is clamp(c + S/max(1, n)): S the noisy sum about the midpoint c, n the noisy count,\n"
      "each with half of epsilon and delta; Laplace noise without --delta, Gaussian with it. Sum and count\n"
      "both stay within their own tolerances t_s and t_c with probability 1 - 10^-k.\n"
      "  tolerance     = the largest |noisy mean - mean| for S within t_s and n within ceil(t_c); rounded "
      "up.\n"
      "  complementary = a t with P(|noisy mean - mean| <= t) <= 10^-k; rounded down. None where the mean\n"
      "                  is an end of the range, at which the clamp holds it.\n"
      "--sum and --count are values you make up, never true ones: nothing is charged for what is printed.",
      {{{{"--epsilon", true, "privacy loss of sum and count together"},
         {"--delta", false, "delta of both together: Gaussian noise (default: Laplace noise)"},
         {"--lower", true},
         {"--upper", true},
         {"--sum", true, "hypothetical sum of the clamped values"},
         {"--count", true, "hypothetical number of the values"},
         {"--max-rows"},
         {"--partitions", false, "partitions one unit may have values in (default 1)"},
         {"--flakiness", true}},
        {"tolerance", "complementary"},
        &mean_tolerance}});
}

VerbSpec compose() {
  constexpr OptionUse kMechanism{"--mechanism", true};
  const std::vector<std::string_view> results{"pure", "approximate", "advanced", "optimal",
                                              "zcdp", "rdp",         "pld"};
  return calculator(
      Verb::compose, "compose", "what mechanisms cost together, under every accountant",
      "epsilog compose --mechanism \"laplace scale=1 sensitivity=1 count=100\" --delta 1e-6\n"
      "epsilog compose --mechanism \"gaussian sigma=20 sensitivity=1 count=50\" --mechanism \"pure "
      "epsilon=0.1\" --epsilon 1",
      "  --delta D    epsilon = the least that each accountant proves with this delta; rounded up.\n"
      "  --epsilon E  delta = the least that each accountant proves with this epsilon; rounded up.\n"
      "The mechanisms, each with count=N (default 1), several in one text separated by semicolons:\n"
      "  laplace            scale=S sensitivity=D\n"
      "  discrete-laplace   scale=S sensitivity=D\n"
      "  gaussian           sigma=S sensitivity=D\n"
      "  discrete-gaussian  sigma=S sensitivity=D\n"
      "  snapping           epsilon=E, or lambda=L sensitivity=D [bound=B precision=P]\n"
      "  pure               epsilon=E\n"
      "  approximate        epsilon=E delta=D\n"
      "The accountants:\n"
      "  pure         sum of the epsilons, delta 0: Dwork and Roth 2014, theorem 3.14.\n"
      "  approximate  sums of epsilons and of deltas: the same, theorem 3.16.\n"
      "  advanced     Kairouz, Oh and Viswanath, arXiv 1311.0776, theorem 3.5.\n"
      "  optimal      the same, theorem 3.3; of different mechanisms Murtagh and Vadhan, arXiv 1507.03113.\n"
      "  zcdp         sum of rho, then Canonne, Kamath and Steinke, arXiv 2004.00010, corollary 13.\n"
      "  rdp          Mironov, arXiv 1702.07476, over 144 orders from 1.0625 to 15361, then the same.\n"
      "  pld          the distribution of the privacy loss.\n"
      "An accountant that cannot express a mechanism, or proves nothing there, has null: no Gaussian has\n"
      "one (epsilon, delta), which the first four need. advanced, optimal and pld hold only for parameters\n"
      "fixed in advance; the sums also for parameters chosen from earlier answers.",
      {{{kMechanism, {"--delta", true, "probability in [0,1) left to (epsilon, delta)"}},
        results,
        &composed_epsilon},
       {{kMechanism, {"--epsilon", true, "privacy loss, at least 0"}}, results, &composed_delta}});
}

}  // namespace

std::vector<VerbSpec> calculator_verbs() {
  return {accuracy_snapping(),
          accuracy_discrete_gaussian(),
          accuracy_discrete_laplace(),
          calibrate_snapping(),
          calibrate_gaussian(),
          tolerance_laplace(),
          tolerance_gaussian(),
          tolerance_mean(),
          compose()};
}

}  // namespace epsilog::command
