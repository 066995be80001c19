#include "holds_from.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using accounting::PostProcessing;
using mechanisms::AnswerInterval;

/// What is not shown from holds_from() on has this probability at most.
Rational hidden_most() {
  return Rational(1, 20);
}

Rational width(const AnswerInterval& interval) {
  return interval.high - interval.low;
}
Rational farthest(const AnswerInterval& interval) {
  return std::max<Rational>(abs(interval.low), abs(interval.high));
}

/// The least number whose square is at least that.
Rational root_up(const Rational& square) {
  return Rational(sqrt(accounting::ceil(square)) + 1);
}

/// What every formula below is made of: [component].
struct ComponentReaches {
  /// All releases are this near to their answers, except with hidden_most(); 0 where noise decides nothing
  /// about what is shown.
  std::vector<Rational> errors;
  std::vector<Rational> reaches;  ///< both ends of an interval are this near to the release
  std::vector<AnswerInterval> ranges;
  AnswerInterval range;          ///< of the answer
  std::optional<Rational> step;  ///< sizes are multiples of it
  const PostProcessing& recipe;

  /// Both ends of an interval are this near to the answer.
  [[nodiscard]] Rational spread(std::size_t part) const { return errors[part] + reaches[part]; }
};

/// A quotient in the middle of the range is this far from both ends of it.
Rational half_range(const ComponentReaches& parts) {
  return width(parts.range) / 2;
}

// Each of the following is a size above which an interval is narrower than the range, unless it would miss.

Rational of_ratio(const ComponentReaches& parts) {
  const Rational of_divisor = parts.spread(1);
  const Rational narrow = (parts.spread(0) + farthest(parts.range) * of_divisor) / half_range(parts);
  return std::max(of_divisor, narrow);
}

Rational of_mean(const ComponentReaches& parts, const IntervalReach& reach) {
  const Rational farthest_mean =
      farthest({parts.range.low - parts.recipe.centre, parts.range.high - parts.recipe.centre});
  const Rational error = parts.errors[0] + farthest_mean * parts.errors[1];
  const Rational half = half_range(parts);
  return std::max<Rational>({parts.errors[1] + std::max<Rational>(reach.absent, 1),
                             (reach.largest + error) / half, parts.errors[1] + error / half});
}

Rational of_proportion(const ComponentReaches& parts, const IntervalReach& reach) {
  const Rational& error = parts.errors[0];
  return std::max<Rational>(
      {reach.absent + 2 * error, 2 * (reach.largest + error), 4 * error, 2 * error + 1});
}

Rational of_variance(const ComponentReaches& parts) {
  const Rational most = parts.ranges[2].high;
  const Rational farthest_mean = farthest(parts.ranges[1]) / most,
                 largest_square = parts.ranges[0].high / most;
  const Rational count = parts.spread(2);
  const Rational of_mean = parts.spread(1) + farthest_mean * count;
  const Rational linear = parts.spread(0) + largest_square * count + 2 * farthest_mean * of_mean;
  const Rational half = half_range(parts);
  return count + std::max<Rational>(1, linear / half + root_up(of_mean * of_mean / half));
}

/// Nothing where no size up to `most` is above it.
std::optional<Rational> first_above(const Rational& bound, const ComponentReaches& parts,
                                    const Rational& most) {
  Rational size = bound + abs(bound) / 1024;
  if (parts.step) size = (accounting::floor(bound / *parts.step) + 1) * *parts.step;
  return size > 0 && size <= most ? std::optional(size) : std::nullopt;
}

/// From which true count on a cell is shown; nothing where releases of the largest one may be too small.
std::optional<Rational> shown_from(const Plan& plan, std::size_t component, const Rational& error) {
  if (!plan.suppress_below) return Rational(0);
  const Rational least(accounting::ceil(*plan.suppress_below + error));
  return least <= released_range(plan, component).high ? std::optional(least) : std::nullopt;
}

std::optional<Rational> larger(const std::optional<Rational>& one, const std::optional<Rational>& other) {
  return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
}

/// Of an answer that is drawn as it is shown: its interval is never the whole range if it is too short.
std::optional<Rational> of_drawn(const Plan& plan, const ComponentReaches& parts, std::size_t part) {
  const Rational length = 2 * parts.reaches[part];
  if (length >= width(released_range(plan, part))) return std::nullopt;
  return shown_from(plan, part, parts.errors[part]);
}

/// Of a table made consistent: no cell is farther from its answer than its scale times the length of all
/// errors, each in units of its own scale.
std::optional<Rational> of_consistent(const Plan& plan, const ComponentReaches& parts, std::size_t part) {
  const std::vector<std::size_t> drawn = cells_drawn(plan);
  Rational squares = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Rational share = parts.errors[i] / plan.record.components[i].scale;
    squares += share * share * Rational(static_cast<unsigned long>(drawn[i]));
  }
  const Rational& scale = plan.record.components[part].scale;
  const Rational range = width(parts.ranges[part]);
  const bool narrow = 2 * parts.spread(part) < range && 4 * scale * scale * squares < range * range;
  return narrow ? std::optional(Rational(0)) : std::nullopt;
}

std::optional<Rational> of_cell(const Plan& plan, const ComponentReaches& parts, const IntervalReach& reach) {
  const std::size_t last = parts.ranges.size() - 1;
  const Rational& most = parts.ranges[last].high;
  const auto from = [&](const Rational& bound) {
    const std::optional<Rational> shown = shown_from(plan, last, parts.errors[last]);
    return larger(first_above(bound, parts, most), shown);
  };
  if (parts.range.low >= parts.range.high) return std::nullopt;
  switch (parts.recipe.kind) {
    case PostProcessing::Kind::ratio:
      return from(of_ratio(parts));
    case PostProcessing::Kind::mean_about:
      return from(of_mean(parts, reach));
    case PostProcessing::Kind::proportion:
      return from(of_proportion(parts, reach));
    case PostProcessing::Kind::variance_about:
      return from(of_variance(parts));
    default:
      EPSILOG_INVARIANT(false);
  }
}

}  // namespace

bool shows_by_noise(const Plan& plan) {
  const PostProcessing::Kind kind = plan.derivation.post_processing.kind;
  return plan.suppress_below || accounting::is_quotient(kind) ||
         kind == PostProcessing::Kind::consistent_totals;
}

Rational shown_alpha(const Plan& plan, const Rational& alpha) {
  return shows_by_noise(plan) ? Rational(alpha * (1 - hidden_most())) : alpha;
}

std::span<const Rational> released_counts(PostProcessing::Kind kind,
                                          const std::vector<std::vector<Rational>>& components,
                                          std::span<const Rational> values) {
  const bool quotient = components.size() > 1 && !accounting::has_totals(kind);
  return quotient ? std::span<const Rational>(components.back()) : values;
}

AnswerInterval released_range(const Plan& plan, std::size_t component) {
  const Component& part = plan.derivation.components.at(component);
  const ledger::ComponentRecord& record = plan.record.components.at(component);
  if (!record.bound) return {part.lower, part.upper};
  const Rational centre = record.centre.value_or(0);
  const AnswerInterval range{std::clamp<Rational>(centre - *record.bound, part.lower, part.upper),
                             std::clamp<Rational>(centre + *record.bound, part.lower, part.upper)};
  if (!shows_whole(plan, component)) return range;
  return {accounting::ceil(range.low), accounting::floor(range.high)};
}

std::vector<std::optional<Rational>> holds_from(const Plan& plan, const IntervalReach& reach,
                                                std::size_t cells, std::size_t rows) {
  const PostProcessing& recipe = plan.derivation.post_processing;
  const std::vector<Component>& components = plan.derivation.components;
  const bool margins = accounting::has_totals(recipe.kind);
  const bool quotient = accounting::is_quotient(recipe.kind);
  // Draws whose errors have to be small together.
  std::size_t draws = cells;
  if (quotient) draws *= std::max<std::size_t>(components.size(), accounting::values_of_a_cell(recipe.kind));
  if (recipe.kind == PostProcessing::Kind::consistent_totals) {
    draws = 0;
    for (const std::size_t drawn : cells_drawn(plan)) draws += drawn;
  }
  const bool by_noise = shows_by_noise(plan);
  const Rational hidden = by_noise ? mechanisms::simultaneous_alpha_down(
                                         hidden_most() / Rational(static_cast<unsigned long>(rows)), draws)
                                   : Rational(0);
  ComponentReaches parts{.errors = {},
                         .reaches = {},
                         .ranges = {},
                         .range = {recipe.lower, recipe.upper},
                         .step = components.back().step,
                         .recipe = recipe};
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Rational step = components[i].step.value_or(0);
    parts.errors.push_back(by_noise ? accuracy_up(plan, i, hidden) : Rational(0));
    parts.reaches.push_back(reach.of_components.empty() ? Rational(0) : reach.of_components[i] + step);
    parts.ranges.push_back({components[i].lower, components[i].upper});
  }
  if (quotient) return {of_cell(plan, parts, reach)};
  std::vector<std::optional<Rational>> result;
  for (std::size_t part = 0; part < (margins ? components.size() : 1); ++part) {
    result.push_back(recipe.kind == PostProcessing::Kind::consistent_totals ? of_consistent(plan, parts, part)
                                                                            : of_drawn(plan, parts, part));
  }
  return result;
}

}  // namespace epsilog::engine
