#include "whole_answers.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

constexpr unsigned kShownDigits = 6;

bool counts_every_row(const Dataset& dataset, const Question& question) {
  if (!question.by.empty() || question.where) return false;
  const StatisticKind kind = question.statistic.kind;
  return kind == StatisticKind::count || (kind == StatisticKind::units && dataset.unit.is_row());
}

}  // namespace

void require_not_stated(const Dataset& dataset, const Question& question) {
  if (!dataset.rows.exact || !counts_every_row(dataset, question)) return;
  const bool units = question.statistic.kind == StatisticKind::units;
  throw Underivable("dataset '" + dataset.name +
                    "' declares `rows: {exact: " + std::to_string(dataset.rows.count) + "}`, so that the " +
                    (units ? "number of units" : "count of all rows") +
                    " is public: the policy states it, and no budget has to be spent on it");
}

std::vector<std::string> mechanism_advice(const Dataset& dataset, const Request& request, const Plan& plan,
                                          std::span<const Rational> alphas) {
  const std::vector<Component>& components = plan.derivation.components;
  const std::string statistic = release_key(request.question.statistic);
  ReleaseSettings settings = dataset.settings(statistic);
  const bool whole = !accounting::is_quotient(plan.derivation.post_processing.kind) &&
                     components.front().step == Rational(1);
  if (!whole || settings.mechanism != MechanismChoice::snapping) return {};
  settings.mechanism = MechanismChoice::discrete_laplace;
  const ComponentMechanism discrete(
      components.front(),
      MechanismRequest{
          .loss = plan.mechanisms.front().charged(), .settings = settings, .published_step = std::nullopt});
  const Rational alpha = alphas.empty() ? Rational(1, 20) : alphas.front();
  const Rational instead = discrete.accuracy_up(alpha);
  if (instead >= accuracy_up(plan, 0, alpha)) return {};
  return {"discrete_laplace is within " + accounting::text_up(instead, kShownDigits) +
          " at this cost (policy: release." + statistic + ")"};
}

}  // namespace epsilog::engine
