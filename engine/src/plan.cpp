#include "plan.hpp"

#include "blocks.hpp"
#include "budget_notes.hpp"
#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

using accounting::ApproximateLoss;

/// Puts each component's share on the grid; the last one takes what is left, so that nothing of the
/// charge is lost to rounding and nothing is charged twice.
template <class Quantity>
std::vector<Quantity> shares(const std::vector<Component>& components, Quantity charged, const char* what) {
  std::vector<Quantity> parts;
  std::int64_t rest = charged.units();
  for (std::size_t i = 0; i + 1 < components.size(); ++i) {
    const Quantity part = Quantity::from_rational_down(charged.rational() * components[i].share);
    parts.push_back(part);
    rest -= part.units();
  }
  parts.push_back(Quantity::from_units(rest));
  for (const Quantity part : parts) {
    if (part == Quantity() && charged != Quantity()) {
      throw InvalidParameter(std::string(what) + ": " + charged.text() +
                             " is too small to be split over the " + std::to_string(components.size()) +
                             " releases this statistic needs");
    }
  }
  return parts;
}

/// What the snapping mechanism's published loss is told that every answer is a multiple of: counts, and
/// sums of whole numbers. It decides only whether that loss is shown as a bound, which is recorded, so
/// it must not change.
std::optional<Rational> published_step(const Dataset& dataset, const Statistic& statistic,
                                       Component::Quantity quantity) {
  const bool counted = quantity == Component::Quantity::rows || quantity == Component::Quantity::units;
  const Column* column = quantity == Component::Quantity::sum ? dataset.column(statistic.subject) : nullptr;
  if (counted || (column != nullptr && column->type == ColumnType::integer)) return Rational(1);
  return std::nullopt;
}

/// What is asked, on the grid. A mechanism that has a delta needs one, and no other may be given one.
ApproximateLoss charged_loss(const Request& request, const ReleaseSettings& settings) {
  ApproximateLoss charged = Epsilon::from_rational_down(request.epsilon);
  if (charged.epsilon == Epsilon()) {
    throw InvalidParameter("epsilon: " + accounting::text(request.epsilon) +
                           " is below the smallest loss kept, 0.000000000001");
  }
  const std::string what = "delta: '" + request.question.statistic.text() + "' is released by " +
                           std::string(name(settings.mechanism));
  if (!needs_delta(settings.mechanism)) {
    if (request.delta) throw InvalidParameter(what + ", which loses epsilon only; leave --delta out");
    return charged;
  }
  if (!request.delta) throw InvalidParameter(what + ", which loses (epsilon, delta); give --delta");
  if (*request.delta <= 0 || *request.delta >= 1) {
    throw InvalidParameter("delta: must lie strictly between 0 and 1");
  }
  charged.delta = accounting::Delta::from_rational_down(*request.delta);
  if (charged.pure()) {
    throw InvalidParameter("delta: " + accounting::text(*request.delta) +
                           " is below the smallest one kept, 0.000000000000000001");
  }
  return charged;
}

DeltaCost delta_cost(const Request& request, const Plan& plan) {
  Rational adjusted = 0;
  for (const ComponentMechanism& mechanism : plan.mechanisms) adjusted += mechanism.adjusted_delta();
  EPSILOG_INVARIANT(adjusted <= plan.charged.delta.rational());
  return {accounting::text(*request.delta), plan.charged.delta.text(), accounting::text(adjusted)};
}

ledger::ReleaseRecord release_record(const Request& request, const Plan& plan,
                                     const ReleaseSettings& settings) {
  ledger::ReleaseRecord record;
  const bool rounded =
      settings.mechanism == MechanismChoice::snapping && settings.arithmetic == ArithmeticChoice::mpfr;
  record.mechanism = std::string(name(settings.mechanism));
  record.arithmetic = rounded ? "mpfr" : "exact";
  record.requested = accounting::text(request.epsilon);
  record.charged = plan.charged.epsilon.text();
  Rational adjusted = 0;
  std::optional<Rational> published = Rational(0);
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const ComponentMechanism& mechanism = plan.mechanisms[i];
    adjusted += mechanism.adjusted();
    const auto by_formula = mechanism.published();
    if (published && by_formula) {
      *published += *by_formula;
    } else {
      published.reset();
    }
    record.components.push_back(mechanism.record(plan.derivation.components[i].quantity));
  }
  EPSILOG_INVARIANT(adjusted <= plan.charged.epsilon.rational());
  record.adjusted = accounting::text(adjusted);
  record.published = published ? accounting::text(*published) : "";
  record.cells = plan.derivation.cells;
  return record;
}

/// Whose loss the release is charged as.
std::string unit_text(const UnitOfPrivacy& unit) {
  return unit.is_row() ? "row" : unit.id + " max_rows=" + std::to_string(unit.max_rows);
}

}  // namespace

Plan make_plan(const Dataset& dataset, const Request& request, ledger::Rules rules) {
  Plan plan;
  plan.rules = rules;
  plan.derivation = derive(dataset, request.question);
  const Statistic& statistic = request.question.statistic;
  const ReleaseSettings& settings = dataset.settings(
      statistic.kind == StatisticKind::value ? std::string_view(statistic.subject) : name(statistic.kind));
  plan.charged = charged_loss(request, settings);
  const std::vector<Component>& components = plan.derivation.components;
  const auto epsilons = shares(components, plan.charged.epsilon, "epsilon");
  const auto deltas = shares(components, plan.charged.delta, "delta");
  std::vector<ApproximateLoss> parts;
  for (std::size_t i = 0; i < components.size(); ++i) {
    parts.emplace_back(epsilons[i], deltas[i]);
    plan.mechanisms.emplace_back(
        components[i],
        MechanismRequest{.loss = parts.back(),
                         .settings = settings,
                         .in_units_of_the_answer = components.size() == 1,
                         .published_step = published_step(dataset, statistic, components[i].quantity)});
  }
  EPSILOG_INVARIANT(accounting::compose_sequential(parts) == plan.charged);
  plan.record = release_record(request, plan, settings);
  plan.record.unit = unit_text(dataset.unit);
  plan.record.relation = std::string(name(dataset.neighbours));
  if (dataset.blocks) plan.blocks = covered_blocks(dataset, request.question.where);
  plan.approvals_required = approvals_required(dataset, plan.charged.epsilon);
  plan.notes = budget_notes(dataset);
  plan.amounts = LossAmounts(plan.mechanisms, plan.charged);
  if (request.delta) plan.delta = delta_cost(request, plan);
  return plan;
}

std::vector<std::vector<Accuracy>> accuracies(const Plan& plan, std::span<const Rational> alphas) {
  std::vector<std::vector<Accuracy>> result;
  for (const ComponentMechanism& mechanism : plan.mechanisms) {
    auto& of_component = result.emplace_back();
    for (const Rational& alpha : alphas) of_component.push_back({alpha, mechanism.accuracy_up(alpha)});
  }
  return result;
}

}  // namespace epsilog::engine
