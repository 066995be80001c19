#include "plan.hpp"

#include <algorithm>

#include "blocks.hpp"
#include "budget_notes.hpp"
#include "epsilog/accounting/bounded_sum.hpp"
#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "loss_caps.hpp"
#include "released_question.hpp"
#include "rows_left_out.hpp"

namespace epsilog::engine {
namespace {

using accounting::ApproximateLoss;
using accounting::PostProcessing;

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
  const bool counted = quantity == Component::Quantity::rows || quantity == Component::Quantity::units ||
                       quantity == Component::Quantity::rows_of_value ||
                       quantity == Component::Quantity::distinct;
  const bool summed = quantity == Component::Quantity::sum || quantity == Component::Quantity::numerator;
  const bool divides = quantity == Component::Quantity::denominator;
  const Column* column =
      summed || divides ? dataset.column(divides ? statistic.divisor : statistic.subject) : nullptr;
  if (counted || (column != nullptr && column->type == ColumnType::integer)) return Rational(1);
  return std::nullopt;
}

/// Whether what is drawn is in other units than the answer.
bool is_quotient(const Plan& plan) {
  return accounting::is_quotient(plan.derivation.post_processing.kind);
}

/// Where every answer is known to be whole, what was snapped to less than 1 becomes the nearest whole number.
void round_whole_answers(Plan& plan) {
  const std::vector<Component>& components = plan.derivation.components;
  if (is_quotient(plan) || components.front().step != Rational(1)) return;
  PostProcessing& recipe = plan.derivation.post_processing;
  if (accounting::has_totals(recipe.kind)) {
    const bool rounds = std::any_of(plan.mechanisms.begin(), plan.mechanisms.end(),
                                    [](const auto& mechanism) { return mechanism.whole_range(); });
    // What is made consistent is made of what was drawn, of which nothing is rounded away.
    if (rounds && recipe.kind == PostProcessing::Kind::totals)
      recipe.kind = PostProcessing::Kind::whole_totals;
    return;
  }
  const std::optional<WholeRange> range = plan.mechanisms.front().whole_range();
  if (!range) return;
  EPSILOG_INVARIANT(recipe.kind == PostProcessing::Kind::none);
  recipe = {PostProcessing::Kind::rounded, 0, Rational(range->least), Rational(range->most)};
}

/// So many values of all components together.
std::uint64_t values_drawn(const Plan& plan) {
  std::uint64_t values = 0;
  for (const std::size_t of_component : cells_drawn(plan)) values += of_component;
  return values;
}

/// By what the question is released.
struct Way {
  const ReleaseSettings* settings;  ///< nullptr of quantiles, which have none
  std::string mechanism;
  bool loses_delta;
};

Way way_of(const Dataset& dataset, const Statistic& statistic) {
  if (statistic.kind == StatisticKind::quantile)
    return {nullptr, std::string(name(dataset.selection())), false};
  const ReleaseSettings& settings = dataset.settings(release_key(statistic));
  return {&settings, std::string(name(settings.mechanism)), needs_delta(settings.mechanism)};
}

/// The settings of one of so many parts. What is cut off at an end does not average out, so sums over the
/// cells of a table, or with its totals, would be far from those of the rows: it is released from a range
/// that noise all but never leaves. That any of its draws meets an end has at most the sum of their
/// probabilities, 10^-9.
ReleaseSettings settings_of_part(const Way& way, const Plan& plan, const Question& question) {
  if (way.settings == nullptr) return {};
  ReleaseSettings settings = *way.settings;
  if (!is_summable(question) || settings.mechanism != MechanismChoice::snapping) return settings;
  settings.bound.reset();
  const Rational each = accounting::power_of_ten(-9) / Rational(values_drawn(plan));
  settings.binding_probability = std::min(settings.binding_probability.value_or(1), each);
  return settings;
}

/// What is asked, on the grid. A mechanism that has a delta needs one, and no other may be given one.
ApproximateLoss charged_loss(const Request& request, const Way& way) {
  ApproximateLoss charged = Epsilon::from_rational_down(request.epsilon);
  if (charged.epsilon == Epsilon()) {
    throw InvalidParameter("epsilon: " + accounting::text(request.epsilon) +
                           " is below the smallest loss kept, 0.000000000001");
  }
  const std::string what =
      "delta: '" + request.question.statistic.text() + "' is released by " + way.mechanism;
  if (!way.loses_delta) {
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

/// The least epsilon on the grid that a zCDP loss implies at that delta; a charge is never of nothing.
Epsilon epsilon_of_rho_up(const Rational& rho, const Rational& delta) {
  Epsilon epsilon =
      std::max(Epsilon::from_rational_up(accounting::zcdp_epsilon_up(rho, delta)), Epsilon::from_units(1));
  // Both directions of the conversion are rounded against the asker, each by itself.
  while (accounting::zcdp_delta_up(rho, epsilon.rational()) > delta) {
    epsilon = Epsilon::from_units(epsilon.units() + 1);
  }
  return epsilon;
}

/// What is asked of rho, on the grid.
Rho charged_rho(const Dataset& dataset, const Request& request, const Way& way) {
  if (!way.loses_delta) {
    throw InvalidParameter("rho: '" + request.question.statistic.text() + "' is released by " +
                           way.mechanism + ", which loses epsilon; give --epsilon");
  }
  if (counts_delta(dataset)) {
    throw InvalidParameter("rho: a budget of '" + dataset.name +
                           "' counts epsilon and delta; give --epsilon and --delta");
  }
  const Rho charged = Rho::from_rational_down(*request.rho);
  if (charged == Rho()) {
    throw InvalidParameter("rho: " + accounting::text(*request.rho) + " is below the smallest loss kept, " +
                           Rho::from_units(1).text());
  }
  return charged;
}

/// What each component is calibrated to.
struct Part {
  ApproximateLoss loss;
  std::optional<Rational> rho = std::nullopt;
};

std::vector<Part> parts_of_loss(const std::vector<Component>& components, const ApproximateLoss& charged) {
  const auto epsilons = shares(components, charged.epsilon, "epsilon");
  const auto deltas = shares(components, charged.delta, "delta");
  std::vector<Part> parts;
  for (std::size_t i = 0; i < components.size(); ++i) parts.push_back({{epsilons[i], deltas[i]}});
  return parts;
}

std::vector<Part> parts_of_rho(const std::vector<Component>& components, Rho charged, Delta delta) {
  const auto rhos = shares(components, charged, "rho");
  const auto deltas = shares(components, delta, "delta");
  std::vector<Part> parts;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Epsilon epsilon = epsilon_of_rho_up(rhos[i].rational(), deltas[i].rational());
    parts.push_back({{epsilon, deltas[i]}, rhos[i].rational()});
  }
  return parts;
}

/// What is asked, in parts; says in the plan what it was asked as.
std::vector<Part> parts_of(const Dataset& dataset, const Request& request, const Way& way,
                           std::uint64_t sharing, Plan& plan) {
  const std::vector<Component>& components = plan.derivation.components;
  if (!request.rho) return parts_of_loss(components, charged_loss(request, way));
  const Rho charged = charged_rho(dataset, request, way);
  plan.rho = {accounting::text(*request.rho), charged.text()};
  const Delta delta = Delta::from_rational_down(delta_of_rho(dataset).rational() / Rational(sharing));
  if (delta == Delta()) {
    throw InvalidParameter("rho: the delta at which it is told as an epsilon, " +
                           delta_of_rho(dataset).text() + ", is too small to be split over " +
                           std::to_string(sharing) + " rows");
  }
  return parts_of_rho(components, charged, delta);
}

DeltaCost delta_cost(const Request& request, const Plan& plan) {
  std::vector<Rational> adjusted;
  for (const ComponentMechanism& mechanism : plan.mechanisms) {
    adjusted.push_back(mechanism.adjusted_delta());
    EPSILOG_INVARIANT(adjusted.back() <= mechanism.charged().delta.rational());
  }
  const std::string charged = plan.charged.delta.text();
  return {request.delta ? accounting::text(*request.delta) : charged, charged,
          accounting::text(accounting::sum_up(adjusted))};
}

ledger::ReleaseRecord release_record(const Request& request, const Plan& plan, const Way& way) {
  ledger::ReleaseRecord record;
  const bool rounded = way.settings != nullptr && way.settings->mechanism == MechanismChoice::snapping &&
                       way.settings->arithmetic == ArithmeticChoice::mpfr;
  record.mechanism = way.mechanism;
  record.arithmetic = rounded ? "mpfr" : "exact";
  record.requested = request.rho ? plan.charged.epsilon.rational() : Rational(request.epsilon);
  record.charged = plan.charged.epsilon;
  std::vector<Rational> adjusted;
  std::vector<Rational> published;
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const ComponentMechanism& mechanism = plan.mechanisms[i];
    adjusted.push_back(mechanism.adjusted());
    EPSILOG_INVARIANT(adjusted.back() <= mechanism.charged().epsilon.rational());
    if (const auto by_formula = mechanism.published()) published.push_back(*by_formula);
    record.components.push_back(mechanism.record(plan.derivation.components[i]));
  }
  record.adjusted = accounting::sum_up(adjusted);
  if (published.size() == plan.mechanisms.size()) record.published = accounting::sum_up(published);
  record.cells = plan.derivation.cells;
  return record;
}

/// Whether what is drawn are days, counted from 1970-01-01: what reads the record then shows dates.
bool selects_days(const Dataset& dataset, const Statistic& statistic) {
  if (statistic.kind != StatisticKind::quantile) return false;
  const Column* column = dataset.column(statistic.subject);
  return column != nullptr && column->type == ColumnType::date;
}

/// Whose loss the release is charged as.
std::string unit_text(const UnitOfPrivacy& unit) {
  return unit.is_row() ? "row" : unit.id + " max_rows=" + std::to_string(unit.max_rows);
}

}  // namespace

std::vector<const Plan*> parts_of(const Plan& plan) {
  if (plan.rows.empty()) return {&plan};
  std::vector<const Plan*> parts;
  parts.reserve(plan.rows.size());
  for (const auto& row : plan.rows) parts.push_back(row.get());
  return parts;
}

Plan make_plan(const Dataset& dataset, const Request& request, std::uint64_t sharing) {
  EPSILOG_INVARIANT(request.rows.empty());
  accounting::stop_if_requested();
  Plan plan;
  plan.derivation = released_derivation(dataset, request.question);
  plan.suppress_below = request.question.suppress_below;
  const Statistic& statistic = request.question.statistic;
  const Way way = way_of(dataset, statistic);
  const std::vector<Component>& components = plan.derivation.components;
  const std::vector<Part> parts = parts_of(dataset, request, way, sharing, plan);
  const ReleaseSettings settings = settings_of_part(way, plan, request.question);
  std::vector<ApproximateLoss> losses;
  for (std::size_t i = 0; i < components.size(); ++i) {
    losses.push_back(parts[i].loss);
    plan.mechanisms.emplace_back(
        components[i],
        MechanismRequest{.loss = parts[i].loss,
                         .rho = parts[i].rho,
                         .settings = settings,
                         .in_units_of_the_answer = !is_quotient(plan),
                         .selection = dataset.selection(),
                         .published_step = published_step(dataset, statistic, components[i].quantity)});
  }
  round_whole_answers(plan);
  plan.charged = accounting::compose_sequential(losses);
  plan.record = release_record(request, plan, way);
  if (selects_days(dataset, statistic)) plan.record.components.front().statistic = "quantile_day";
  plan.record.unit = unit_text(dataset.unit);
  plan.record.neighbours = std::string(name(dataset.neighbours));
  if (dataset.blocks) plan.blocks = covered_blocks(dataset, request.question.where);
  if (dataset.approvals && needs_approval(*dataset.approvals, plan.charged, plan.mechanisms)) {
    plan.approvals_required = dataset.approvals->required;
  }
  plan.notes = budget_notes(dataset);
  plan.left_out = rows_left_out(dataset, request.question);
  plan.amounts = LossAmounts(plan.mechanisms, plan.charged);
  if (!plan.charged.pure()) plan.delta = delta_cost(request, plan);
  return plan;
}

std::vector<std::size_t> cells_drawn(const Plan& plan) {
  const ledger::CellKeys& cells = plan.derivation.cells;
  const std::size_t components = plan.derivation.components.size();
  if (cells.has_totals()) {
    std::vector<std::size_t> drawn;
    const accounting::TableMargins margins = cells.margins();
    for (const accounting::TableMargins::Margin& margin : margins.all()) drawn.push_back(margin.cells);
    return drawn;
  }
  return std::vector<std::size_t>(components,
                                  accounting::values_of_a_cell(plan.derivation.post_processing.kind) *
                                      std::max<std::size_t>(cells.size(), 1));
}

bool shows_whole(const Plan& plan, std::size_t component) {
  switch (plan.derivation.post_processing.kind) {
    case PostProcessing::Kind::rounded:
      return true;
    case PostProcessing::Kind::whole_totals:
      return plan.mechanisms.at(component).whole_range().has_value();
    default:
      return false;
  }
}

Rational accuracy_up(const Plan& plan, std::size_t component, const Rational& alpha) {
  const Rational drawn = plan.mechanisms.at(component).accuracy_up(alpha);
  return shows_whole(plan, component) ? Rational(accounting::floor(drawn + Rational(1, 2))) : drawn;
}

std::vector<std::vector<Accuracy>> accuracies(const Plan& plan, std::span<const Rational> alphas) {
  std::vector<std::vector<Accuracy>> result;
  if (plan.mechanisms.empty() || !plan.rows.empty()) return result;
  if (const mechanisms::QuantileMechanism* selected = plan.mechanisms.front().quantiles()) {
    result.resize(selected->parameters().nodes.size());
    for (const Rational& alpha : alphas) {
      if (alpha < mechanisms::least_rank_alpha()) continue;
      std::vector<mechanisms::RankAccuracy> ranks = selected->rank_accuracies_up(alpha);
      for (std::size_t i = 0; i < ranks.size(); ++i)
        result[i].push_back({alpha, std::move(ranks[i].error), std::move(ranks[i].ties)});
    }
    return result;
  }
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    auto& of_component = result.emplace_back();
    for (const Rational& alpha : alphas) {
      accounting::stop_if_requested();
      of_component.push_back({alpha, accuracy_up(plan, i, alpha)});
    }
  }
  return result;
}

}  // namespace epsilog::engine
