// tolerance laplace, gaussian and mean.
#include "calculator.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "epsilog/mechanisms/tolerance.hpp"

namespace epsilog::command {
namespace {

struct ToleranceArguments {
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::optional<std::string> flakiness;
  std::optional<std::string> partitions;
  std::optional<std::string> l1;
  std::optional<std::string> l2;
  bool integer = false;
  // Of a mean.
  std::optional<std::string> lower;
  std::optional<std::string> upper;
  std::optional<std::string> sum;
  std::optional<std::string> count;
  std::optional<std::string> max_rows;
};

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

Calculation laplace_tolerance(const ToleranceArguments& arguments) {
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

Calculation gaussian_tolerance(const ToleranceArguments& arguments) {
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

Calculation mean_tolerance(const ToleranceArguments& arguments) {
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

constexpr std::string_view kPartitionsHelp = "partitions tested together (default 1)";

}  // namespace

VerbSpec tolerance_laplace_verb() {
  return Calculator<ToleranceArguments>{
      .words = "tolerance laplace",
      .summary = "what a test may tolerate of Laplace noise, at a stated flakiness",
      .examples =
          "epsilog tolerance laplace --epsilon 50 --l1 1 --flakiness 23\n"
          "epsilog tolerance laplace --epsilon 1 --l1 2 --flakiness 15 --integer --partitions 10",
      .details =
          "A test of a correct mechanism fails with probability 10^-k at most (Privacy on Beam,\n"
          "\"Tolerance Calculation for ApproxEquals in Tests\", corrected as docs/tolerance.md says).\n"
          "With b = l1/epsilon:\n"
          "  tolerance      t = b k ln 10 for one partition: P(|noise| > t) <= 10^-k; rounded up. For n\n"
          "                 of them, t = -b ln(1 - (1 - 10^-k)^(1/n)). With --integer max(0, ceil(t -\n"
          "                 1/2)).\n"
          "  complementary  t = -b ln(1 - 10^-k) / n: P(some |noise| <= t) <= 10^-k; rounded down. Of\n"
          "                 real-valued noise; null when it is too small to be written out.",
      .forms = {{{{"--epsilon", &ToleranceArguments::epsilon, true},
                  {"--l1", &ToleranceArguments::l1, true},
                  {"--flakiness", &ToleranceArguments::flakiness, true},
                  {"--integer", &ToleranceArguments::integer},
                  {"--partitions", &ToleranceArguments::partitions, false, kPartitionsHelp}},
                 {"tolerance", "complementary"},
                 &laplace_tolerance}}};
}

VerbSpec tolerance_gaussian_verb() {
  return Calculator<ToleranceArguments>{
      .words = "tolerance gaussian",
      .summary = "what a test may tolerate of Gaussian noise, at a stated flakiness",
      .examples =
          "epsilog tolerance gaussian --epsilon 1 --delta 1e-6 --l2 1 --flakiness 23\n"
          "epsilog tolerance gaussian --epsilon 1 --delta 1e-6 --l2 2 --flakiness 15 --integer --partitions "
          "10",
      .details =
          "As epsilog tolerance laplace, for normal noise with the sigma of epsilog calibrate gaussian:\n"
          "  tolerance      t = sigma sqrt(2) erfcinv(10^-k) for one partition; rounded up. For n of\n"
          "                 them 10^-k becomes 1 - (1 - 10^-k)^(1/n). With --integer max(0, ceil(t -\n"
          "                 1/2)).\n"
          "  complementary  t = sigma sqrt(2) erfinv(10^-k), for n with the same change; rounded down.\n"
          "                 Of real-valued noise; null when it is too small to be written out.",
      .forms = {{{{"--epsilon", &ToleranceArguments::epsilon, true},
                  {"--delta", &ToleranceArguments::delta, true},
                  {"--l2", &ToleranceArguments::l2, true},
                  {"--flakiness", &ToleranceArguments::flakiness, true},
                  {"--integer", &ToleranceArguments::integer},
                  {"--partitions", &ToleranceArguments::partitions, false, kPartitionsHelp}},
                 {"tolerance", "complementary"},
                 &gaussian_tolerance}}};
}

VerbSpec tolerance_mean_verb() {
  return Calculator<ToleranceArguments>{
      .words = "tolerance mean",
      .summary = "what a test may tolerate of a mean made of a noisy sum and a noisy count",
      .examples =
          "epsilog tolerance mean --epsilon 1 --lower 0 --upper 10 --sum 500 --count 100 --flakiness 10\n"
          "epsilog tolerance mean --epsilon 1 --delta 1e-6 --lower 0 --upper 10 --sum 500 --count 100 "
          "--max-rows "
          "2 --partitions 3 --flakiness 10",
      .details =
          "The noisy mean is clamp(c + S/max(1, n)): S the noisy sum about the midpoint c, n the noisy\n"
          "count, each with half of epsilon and delta; Laplace noise without --delta, Gaussian with it.\n"
          "Sum and count both stay within their own tolerances t_s and t_c with probability 1 - 10^-k.\n"
          "  tolerance     = the largest |noisy mean - mean| for S within t_s and n within ceil(t_c);\n"
          "                rounded up.\n"
          "  complementary = a t with P(|noisy mean - mean| <= t) <= 10^-k; rounded down. None where the\n"
          "  mean\n"
          "                  is an end of the range, at which the clamp holds it.\n"
          "--sum and --count are values you make up, never true ones: nothing is charged for what is\n"
          "printed.",
      .forms = {{{{"--epsilon", &ToleranceArguments::epsilon, true, "privacy loss of sum and count together"},
                  {"--delta", &ToleranceArguments::delta, false,
                   "delta of both together: Gaussian noise (default: Laplace noise)"},
                  {"--lower", &ToleranceArguments::lower, true},
                  {"--upper", &ToleranceArguments::upper, true},
                  {"--sum", &ToleranceArguments::sum, true, "hypothetical sum of the clamped values"},
                  {"--count", &ToleranceArguments::count, true, "hypothetical number of the values"},
                  {"--max-rows", &ToleranceArguments::max_rows},
                  {"--partitions", &ToleranceArguments::partitions, false,
                   "partitions one unit may have values in (default 1)"},
                  {"--flakiness", &ToleranceArguments::flakiness, true}},
                 {"tolerance", "complementary"},
                 &mean_tolerance}}};
}

}  // namespace epsilog::command
