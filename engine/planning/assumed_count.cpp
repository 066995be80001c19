#include "assumed_count.hpp"

#include <algorithm>
#include <string>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/quotient_interval.hpp"

namespace epsilog::engine {

using accounting::PostProcessing;

bool follows_from_count(const Derivation& derivation) {
  return derivation.post_processing.kind == PostProcessing::Kind::mean_about ||
         derivation.post_processing.kind == PostProcessing::Kind::proportion;
}

void require_assumable(const Derivation& derivation, const Question& question, std::int64_t rows) {
  if (rows < 1) throw InvalidParameter("assume_count: must be at least 1");
  if (!follows_from_count(derivation)) {
    throw Underivable("assume_count: the accuracy of '" + question.statistic.text() +
                      "' does not follow from a number of rows; that of a mean over a private number of rows "
                      "does, and that of a proportion");
  }
  const Rational& most = derivation.components.back().upper;
  if (Rational(rows) > most) {
    throw InvalidParameter("assume_count: " + std::to_string(rows) + " is more than the " +
                           accounting::text(most) + " rows that the policy declares at most");
  }
}

void require_possible_rows(const Dataset& dataset, std::int64_t rows) {
  if (rows < 1) throw InvalidParameter("assume_count: must be at least 1");
  if (static_cast<std::uint64_t>(rows) > dataset.rows.count) {
    throw InvalidParameter("assume_count: " + std::to_string(rows) + " is more than the " +
                           std::to_string(dataset.rows.count) + " rows that the policy declares at most");
  }
}

Rational accuracy_of_count_up(const Plan& plan, std::int64_t rows, const Rational& alpha) {
  const PostProcessing& recipe = plan.derivation.post_processing;
  const Rational range = recipe.upper - recipe.lower;
  const ComponentMechanism &dividend = plan.mechanisms.front(), &divisor = plan.mechanisms.back();
  const Rational of_each = mechanisms::simultaneous_alpha_down(alpha, 2);
  const Rational of_divisor = divisor.accuracy_up(of_each);
  // A share of two counts is between the errors of both.
  if (recipe.kind == PostProcessing::Kind::proportion) return std::min<Rational>(range, of_divisor / rows);
  const std::optional<mechanisms::AnswerNoise> sum = dividend.noise(), count = divisor.noise();
  if (!sum || !count) return range;
  const Rational reach = std::max<Rational>(recipe.upper - recipe.centre, recipe.centre - recipe.lower);
  return std::min<Rational>(
      range, mechanisms::quotient_accuracy_up({*sum, dividend.accuracy_up(of_each)}, {*count, of_divisor},
                                              reach, Rational(rows), alpha));
}

std::vector<Accuracy> accuracies_of_count(const Plan& plan, std::int64_t rows,
                                          std::span<const Rational> alphas) {
  std::vector<Accuracy> result;
  for (const Rational& alpha : alphas) result.push_back({alpha, accuracy_of_count_up(plan, rows, alpha)});
  return result;
}

std::vector<QuantileReach> reaches_of_count(const Plan& plan, std::size_t quantile, std::int64_t rows,
                                            std::span<const Rational> alphas) {
  const mechanisms::QuantileMechanism* selected = plan.mechanisms.front().quantiles();
  EPSILOG_INVARIANT(selected != nullptr && rows >= 1);
  const Rational& asked = plan.derivation.components.front().quantiles->quantiles.at(quantile);
  std::vector<QuantileReach> result;
  for (const Rational& alpha : alphas) {
    if (alpha < mechanisms::least_rank_alpha()) continue;
    const mechanisms::RankAccuracy ranks = selected->rank_accuracy_up(quantile, alpha);
    const Rational share = ranks.error / rows;
    result.push_back(
        {alpha, std::max<Rational>(0, asked - share), std::min<Rational>(1, asked + share), ranks.ties});
  }
  return result;
}

accounting::Integer any_value_to(const Rational& quantile, const Rational& error) {
  EPSILOG_INVARIANT(quantile > 0 && quantile < 1 && error >= 0);
  return accounting::floor(error / std::max<Rational>(quantile, 1 - quantile));
}

}  // namespace epsilog::engine
