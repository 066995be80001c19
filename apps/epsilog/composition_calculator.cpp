// compose: what mechanisms cost together under every accountant, side by side.
#include <algorithm>
#include <functional>

#include "calculation.hpp"
#include "calculator_verbs.hpp"
#include "checked_arguments.hpp"
#include "composed_mechanism.hpp"
#include "epsilog/accounting/advanced_composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/failure_probability.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"

namespace epsilog::command {
namespace {

using accounting::ComposedLaw;
using accounting::LossGroup;
using Kind = ComposedLaw::Kind;

/// nullopt: the accountant cannot express a mechanism, or has nothing to say there.
using Bound = std::optional<Rational>;

/// What is composed, as each accountant takes it.
struct Schedule {
  Figures figures;  ///< what was given
  std::vector<ComposedLaw> laws;
  std::vector<LossGroup>
      groups;      ///< empty when a Gaussian is among them, which has no single (epsilon, delta)
  Rational delta;  ///< of the approximate laws together, at most 1

  [[nodiscard]] bool has_groups() const { return !groups.empty(); }
};

bool is_gaussian(const ComposedLaw& law) {
  return law.kind == Kind::gaussian || law.kind == Kind::discrete_gaussian;
}

/// The pure loss of noise that has one: D/b of Laplace noise, continuous or on the integers.
Rational loss_of(const ComposedLaw& law) {
  const bool noise = law.kind == Kind::laplace || law.kind == Kind::discrete_laplace;
  return noise ? Rational(law.sensitivity / law.scale) : law.epsilon;
}

Rational count_of(const ComposedLaw& law) {
  return Rational(accounting::Integer(static_cast<unsigned long>(law.count)));
}

Schedule schedule_of(const Arguments& arguments) {
  Schedule schedule;
  std::vector<Figures> figures;
  std::uint64_t all = 0;
  for (const std::string& text : arguments.mechanisms) {
    for (ComposedMechanism& mechanism : parse_mechanisms(text)) {
      figures.push_back(std::move(mechanism.figures));
      schedule.laws.push_back(mechanism.law);
      if ((all += mechanism.law.count) > accounting::kComposedMax) {
        throw UsageError("--mechanism: the counts must add up to at most " +
                         std::to_string(accounting::kComposedMax));
      }
    }
  }
  schedule.figures.push_back({"mechanisms", std::move(figures)});
  const bool gaussian = std::any_of(schedule.laws.begin(), schedule.laws.end(), is_gaussian);
  for (const ComposedLaw& law : schedule.laws) {
    schedule.delta += count_of(law) * law.delta;
    if (!gaussian) schedule.groups.push_back({loss_of(law), law.delta, law.count});
  }
  schedule.delta = std::min(schedule.delta, Rational(1));
  return schedule;
}

Rational total_rho(const Schedule& schedule) {
  Rational rho;
  for (const ComposedLaw& law : schedule.laws) {
    rho += count_of(law) * (is_gaussian(law) ? accounting::zcdp_rho_of_gaussian(law.scale, law.sensitivity)
                                             : accounting::zcdp_rho_of_pure(loss_of(law)));
  }
  return rho;
}

accounting::RenyiCurve total_curve(const Schedule& schedule) {
  accounting::RenyiCurve sum = accounting::renyi_curve_up(schedule.laws.front());
  for (std::size_t i = 1; i < schedule.laws.size(); ++i) {
    accounting::compose_renyi(sum, accounting::renyi_curve_up(schedule.laws[i]));
  }
  return sum;
}

/// Outside its domain an accountant has nothing to say; what was typed was checked before.
Bound where_defined(const std::function<Bound()>& bound) {
  try {
    return bound();
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

/// A decimal of at least 17 digits, never below the bound, or exact.
Figure bound_figure(const std::string& accountant, const std::string& measure, const Bound& bound) {
  if (!bound) return {accountant, {}};
  const bool finite_decimal = accounting::text(*bound).find('/') == std::string::npos;
  const Rational value =
      finite_decimal ? *bound : accounting::MpfrNumber::rounded(*bound, 128, MPFR_RNDU).rational();
  return {accountant, Figures{{measure, digits_up(value, accountant)}}};
}

struct Entry {
  const char* accountant;
  Bound bound;
};

Calculation calculation_of(Schedule schedule, Figure given, const char* measure,
                           const std::vector<Entry>& entries) {
  Calculation calculation{std::move(schedule.figures)};
  calculation.lines.push_back({given.name, std::get<std::string>(given.value)});
  calculation.figures.push_back(std::move(given));
  Bound least;
  for (const Entry& entry : entries) {
    calculation.figures.push_back(bound_figure(entry.accountant, measure, entry.bound));
    const std::string text = text_of(calculation, entry.accountant);
    calculation.lines.push_back({entry.accountant, text.empty() ? "-" : measure + (" " + text)});
    if (entry.bound && (!least || *entry.bound < *least)) least = entry.bound;
  }
  calculation.answers = {least ? text_of({{bound_figure("least", measure, least)}}, "least") : ""};
  return calculation;
}

}  // namespace

Calculation composed_epsilon(const Arguments& arguments) {
  const Rational delta = non_negative_argument(*arguments.delta, "--delta");
  if (delta >= 1) throw UsageError("--delta: '" + *arguments.delta + "' must be below 1");
  Schedule schedule = schedule_of(arguments);
  const auto& groups = schedule.groups;
  Bound pure;
  Bound approximate;
  Bound advanced;
  Bound optimal;
  if (schedule.has_groups()) {
    if (schedule.delta == 0) pure = accounting::total_epsilon(groups);
    approximate = accounting::basic_epsilon(groups, delta);
    advanced = where_defined([&] { return accounting::advanced_epsilon_up(groups, delta); });
    optimal = where_defined([&] { return accounting::optimal_epsilon_up(groups, delta); });
  }
  Bound zcdp;
  Bound rdp;
  const Rational left = delta - schedule.delta;
  if (left > 0) {
    zcdp = accounting::zcdp_epsilon_up(total_rho(schedule), left);
    rdp = accounting::renyi_epsilon_up(total_curve(schedule), left);
  }
  const Bound pld = where_defined([&] { return accounting::pld_epsilon_up(schedule.laws, delta); });
  return calculation_of(std::move(schedule), {"delta", accounting::text(delta)}, "epsilon",
                        {{"pure", pure},
                         {"approximate", approximate},
                         {"advanced", advanced},
                         {"optimal", optimal},
                         {"zcdp", zcdp},
                         {"rdp", rdp},
                         {"pld", pld}});
}

Calculation composed_delta(const Arguments& arguments) {
  const Rational epsilon = non_negative_argument(*arguments.epsilon, "--epsilon");
  Schedule schedule = schedule_of(arguments);
  const auto& groups = schedule.groups;
  Bound pure;
  Bound approximate;
  Bound advanced;
  Bound optimal;
  if (schedule.has_groups()) {
    if (schedule.delta == 0 && accounting::total_epsilon(groups) <= epsilon) pure = Rational(0);
    approximate = accounting::basic_delta(groups, epsilon);
    advanced = where_defined([&] { return accounting::advanced_delta_up(groups, epsilon); });
    optimal = where_defined([&] { return accounting::optimal_delta_up(groups, epsilon); });
  }
  const auto with_failures = [&](const Rational& delta) {
    return Bound(std::min(Rational(1), Rational(delta + schedule.delta)));
  };
  const Bound zcdp = with_failures(accounting::zcdp_delta_up(total_rho(schedule), epsilon));
  const Bound rdp = with_failures(accounting::renyi_delta_up(total_curve(schedule), epsilon));
  const Bound pld = where_defined([&] { return accounting::pld_delta_up(schedule.laws, epsilon); });
  return calculation_of(std::move(schedule), {"epsilon", accounting::text(epsilon)}, "delta",
                        {{"pure", pure},
                         {"approximate", approximate},
                         {"advanced", advanced},
                         {"optimal", optimal},
                         {"zcdp", zcdp},
                         {"rdp", rdp},
                         {"pld", pld}});
}

}  // namespace epsilog::command
