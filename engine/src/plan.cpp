#include "plan.hpp"

#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

/// Puts each component's share on the grid; the last one takes what is left, so that nothing of the
/// charge is lost to rounding and nothing is charged twice.
std::vector<Epsilon> shares(const std::vector<Component>& components, Epsilon charged) {
  std::vector<Epsilon> parts;
  std::int64_t rest = charged.units();
  for (std::size_t i = 0; i + 1 < components.size(); ++i) {
    const Epsilon part = Epsilon::from_rational_down(charged.rational() * components[i].share);
    parts.push_back(part);
    rest -= part.units();
  }
  parts.push_back(Epsilon::from_units(rest));
  for (const Epsilon part : parts) {
    if (part == Epsilon()) {
      throw InvalidParameter("epsilon: " + charged.text() + " is too small to be split over the " +
                             std::to_string(components.size()) + " releases this statistic needs");
    }
  }
  return parts;
}

/// What every possible answer is a multiple of, where the policy says so: counts, and sums of whole
/// numbers. It decides only whether the published form of the loss is shown as a bound.
std::optional<Rational> answer_step(const Dataset& dataset, const Statistic& statistic,
                                    Component::Quantity quantity) {
  const bool counted = quantity == Component::Quantity::rows || quantity == Component::Quantity::units;
  const Column* column = quantity == Component::Quantity::sum ? dataset.column(statistic.subject) : nullptr;
  if (counted || (column != nullptr && column->type == ColumnType::integer)) return Rational(1);
  return std::nullopt;
}

mechanisms::SnappingMechanism calibrated(const Component& component, Epsilon epsilon,
                                         const ReleaseSettings& settings, bool bound_applies,
                                         const std::optional<Rational>& step) {
  return mechanisms::SnappingMechanism({
      .epsilon = epsilon,
      .sensitivity = component.sensitivity,
      .coordinates = component.coordinates,
      .lower = component.lower,
      .upper = component.upper,
      .arithmetic = settings.arithmetic == ArithmeticChoice::exact ? mechanisms::Arithmetic::exact
                                                                   : mechanisms::Arithmetic::mpfr,
      .precision = {settings.precision.bits},
      .bound = bound_applies ? settings.bound : std::nullopt,
      .binding_probability = settings.binding_probability,
      .answer_step = step,
  });
}

ledger::ComponentRecord component_record(const Component& component,
                                         const mechanisms::SnappingMechanism::Parameters& parameters) {
  using accounting::text;
  return {
      .statistic = std::string(name(component.quantity)),
      .epsilon = parameters.charged.text(),
      .sensitivity = text(parameters.sensitivity),
      .lambda = text(parameters.lambda),
      .grid = text(parameters.grid),
      .centre = text(parameters.centre),
      .bound = text(parameters.bound),
      .coordinates = static_cast<std::int64_t>(parameters.coordinates),
      .precision = static_cast<std::int64_t>(parameters.precision),
      .adjusted = text(parameters.adjusted),
      .published = parameters.published ? text(*parameters.published) : "",
      .published_note = parameters.published_note,
  };
}

ledger::ReleaseRecord release_record(const Request& request, const Plan& plan, ArithmeticChoice arithmetic) {
  ledger::ReleaseRecord record;
  record.mechanism = "snapping";
  record.arithmetic = arithmetic == ArithmeticChoice::exact ? "exact" : "mpfr";
  record.requested = accounting::text(request.epsilon);
  record.charged = plan.charged.text();
  Rational adjusted = 0;
  std::optional<Rational> published = Rational(0);
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const auto& parameters = plan.mechanisms[i].parameters();
    adjusted += parameters.adjusted;
    if (published && parameters.published) {
      *published += *parameters.published;
    } else {
      published.reset();
    }
    record.components.push_back(component_record(plan.derivation.components[i], parameters));
  }
  EPSILOG_INVARIANT(adjusted <= plan.charged.rational());
  record.adjusted = accounting::text(adjusted);
  record.published = published ? accounting::text(*published) : "";
  record.cells = plan.derivation.cells;
  return record;
}

}  // namespace

Plan make_plan(const Dataset& dataset, const Request& request) {
  Plan plan;
  plan.derivation = derive(dataset, request.question);
  plan.charged = Epsilon::from_rational_down(request.epsilon);
  if (plan.charged == Epsilon()) {
    throw InvalidParameter("epsilon: " + accounting::text(request.epsilon) +
                           " is below the smallest loss kept, 0.000000000001");
  }
  const Statistic& statistic = request.question.statistic;
  const ReleaseSettings& settings = dataset.settings(
      statistic.kind == StatisticKind::value ? std::string_view(statistic.subject) : name(statistic.kind));
  const std::vector<Epsilon> parts = shares(plan.derivation.components, plan.charged);
  // A declared bound is in units of the answer, so it says nothing about the parts of a quotient.
  const bool bound_applies = parts.size() == 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Component& component = plan.derivation.components[i];
    plan.mechanisms.push_back(calibrated(component, parts[i], settings, bound_applies,
                                         answer_step(dataset, statistic, component.quantity)));
  }
  EPSILOG_INVARIANT(accounting::compose_sequential(parts) == plan.charged);
  plan.record = release_record(request, plan, settings.arithmetic);
  return plan;
}

std::vector<std::vector<Accuracy>> accuracies(const Plan& plan, std::span<const Rational> alphas) {
  std::vector<std::vector<Accuracy>> result;
  for (const auto& mechanism : plan.mechanisms) {
    auto& of_component = result.emplace_back();
    for (const Rational& alpha : alphas) of_component.push_back({alpha, mechanism.accuracy_up(alpha)});
  }
  return result;
}

}  // namespace epsilog::engine
