#include "plan_intervals.hpp"

#include <algorithm>
#include <numeric>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using accounting::PostProcessing;
using mechanisms::AnswerInterval;
using mechanisms::Shown;

/// Of alphas below 2^-16384 no mechanism says anything.
constexpr long kLeastAlphaExponent = -16384;

/// The outermost multiples of the step that it contains. Where it contains none, none is plausible, and it is
/// the nearest one, of two as near both.
AnswerInterval on_lattice(const AnswerInterval& interval, const std::optional<Rational>& step) {
  if (!step) return interval;
  const Rational low = accounting::ceil(interval.low / *step) * *step;
  const Rational high = accounting::floor(interval.high / *step) * *step;
  if (low <= high) return {low, high};
  const Rational to_low = interval.low - high, to_high = low - interval.high;
  return {to_low <= to_high ? high : low, to_high <= to_low ? low : high};
}

/// All quotients of a number in `sum` by a count of 1 and more in `count`.
/// Requires  count.high >= 1.
AnswerInterval quotients(const AnswerInterval& sum, const AnswerInterval& count) {
  const Rational fewest = std::max<Rational>(1, count.low);
  return {sum.low / (sum.low < 0 ? fewest : count.high), sum.high / (sum.high < 0 ? count.high : fewest)};
}

AnswerInterval squares(const AnswerInterval& numbers) {
  const Rational low = numbers.low * numbers.low, high = numbers.high * numbers.high;
  const bool about_zero = numbers.low <= 0 && numbers.high >= 0;
  return {about_zero ? Rational(0) : std::min(low, high), std::max(low, high)};
}

/// All quotients of the two, unless the second may be 0.
AnswerInterval ratios_of(const PostProcessing& recipe, const AnswerInterval& above,
                         const AnswerInterval& below) {
  const AnswerInterval everything{recipe.lower, recipe.upper};
  if (below.low <= 0) return everything;
  const Rational low = above.low / (above.low < 0 ? below.low : below.high);
  const Rational high = above.high / (above.high < 0 ? below.high : below.low);
  if (low > recipe.upper || high < recipe.lower) return everything;
  return {std::max(low, recipe.lower), std::min(high, recipe.upper)};
}

/// What the recipe can make of parts in these intervals, the last of which is the count, of a ratio what
/// divides.
AnswerInterval made_of(const PostProcessing& recipe, const std::vector<AnswerInterval>& parts) {
  if (recipe.kind == PostProcessing::Kind::ratio) return ratios_of(recipe, parts[0], parts[1]);
  EPSILOG_INVARIANT(recipe.kind == PostProcessing::Kind::variance_about);
  const AnswerInterval& count = parts.back();
  if (count.high < 1) return {recipe.lower, recipe.upper};
  const AnswerInterval of_squares = quotients(parts[0], count);
  const AnswerInterval squared = squares(quotients(parts[1], count));
  const Rational low = of_squares.low - squared.high, high = of_squares.high - squared.low;
  // The parts contradict each other: one of their intervals misses, and nothing says which.
  if (low > recipe.upper || high < recipe.lower) return {recipe.lower, recipe.upper};
  return {std::clamp(low, recipe.lower, recipe.upper), std::clamp(high, recipe.lower, recipe.upper)};
}

}  // namespace

PlanIntervals::PlanIntervals(const Plan& plan, std::span<const Rational> alphas)
    : alphas_(alphas.begin(), alphas.end()), recipe_(plan.derivation.post_processing) {
  for (const Component& component : plan.derivation.components) {
    steps_.push_back(component.step);
    ranges_.push_back({component.lower, component.upper});
  }
  const std::size_t cells = plan.derivation.cells.size();
  drawn_ = cells_drawn(plan);
  for (const Rational& alpha : alphas_) {
    each_.push_back(inverted(plan, alpha, 1));
    if (cells > 0) together_.push_back(inverted(plan, alpha, cells));
  }
}

PlanIntervals::Inverted PlanIntervals::inverted(const Plan& plan, const Rational& alpha,
                                                std::size_t cells) const {
  if (recipe_.kind == PostProcessing::Kind::consistent_totals) return {};
  if (recipe_.kind == PostProcessing::Kind::mean_about || recipe_.kind == PostProcessing::Kind::proportion)
    return inverted_quotient(plan, mechanisms::simultaneous_alpha_down(alpha, cells));
  Inverted result;
  // The noise of each part in each cell is drawn by itself.
  const std::size_t parts = accounting::has_totals(recipe_.kind) ? 1 : plan.mechanisms.size();
  const Rational of_each = mechanisms::simultaneous_alpha_down(alpha, parts * cells);
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const Shown shown = shows_whole(plan, i) ? Shown::rounded : Shown::as_released;
    std::optional<mechanisms::AnswerIntervals> intervals = plan.mechanisms[i].intervals(of_each, shown);
    if (!intervals) return {};
    result.parts.push_back(std::move(*intervals));
  }
  return result;
}

PlanIntervals::Inverted PlanIntervals::inverted_quotient(const Plan& plan, const Rational& alpha) const {
  const ComponentMechanism &dividend = plan.mechanisms.front(), &divisor = plan.mechanisms.back();
  const std::optional<mechanisms::AnswerNoise> of_dividend = dividend.noise(), of_divisor = divisor.noise();
  const Rational of_each = mechanisms::simultaneous_alpha_down(alpha, 2);
  Inverted result;
  result.is_quotient = true;
  if (!of_dividend || !of_divisor || of_each < accounting::power_of_two(kLeastAlphaExponent)) return result;
  const bool proportion = recipe_.kind == PostProcessing::Kind::proportion;
  const Rational reach =
      proportion ? Rational(1)
                 : std::max<Rational>(recipe_.upper - recipe_.centre, recipe_.centre - recipe_.lower);
  result.quotient.emplace(mechanisms::QuotientPart{*of_dividend, dividend.accuracy_up(of_each)},
                          mechanisms::QuotientPart{*of_divisor, divisor.accuracy_up(of_each)}, reach, alpha);
  // The rows are the divisor; of a proportion both counts together.
  result.absent = proportion ? result.quotient->largest() : divisor.accuracy_up(alpha);
  return result;
}

AnswerInterval PlanIntervals::quotient(const Inverted& inverted, const Rational& dividend,
                                       const Rational& divisor) const {
  const AnswerInterval all{recipe_.lower, recipe_.upper};
  if (!inverted.quotient) return all;
  const mechanisms::QuotientIntervals& by_law = *inverted.quotient;
  // Brought into its range, a release is no farther from any answer.
  const auto clamped = [](const Rational& released, const AnswerInterval& range) {
    return std::clamp(released, range.low, range.high);
  };
  const Rational s = clamped(dividend, ranges_.front()), n = clamped(divisor, ranges_.back());
  if (recipe_.kind == PostProcessing::Kind::mean_about) {
    if (n <= inverted.absent) return all;
    const std::optional<AnswerInterval> about = by_law.of(
        s, std::max<Rational>(1, n), {recipe_.lower - recipe_.centre, recipe_.upper - recipe_.centre});
    return about ? AnswerInterval{recipe_.centre + about->low, recipe_.centre + about->high} : all;
  }
  if (s + n <= inverted.absent) return all;
  // Shares up to a half by the ratio of the counts, and from there on by its inverse.
  const std::optional<AnswerInterval> fewer = by_law.of(s, n, {0, 1});
  const std::optional<AnswerInterval> more = by_law.of(n, s, {0, 1});
  EPSILOG_INVARIANT(fewer || more);  // the share of what is released
  return {fewer ? Rational(fewer->low / (1 + fewer->low)) : Rational(1 / (1 + more->high)),
          more ? Rational(1 / (1 + more->low)) : Rational(fewer->high / (1 + fewer->high))};
}

std::vector<AnswerInterval> PlanIntervals::told(const Inverted& inverted,
                                                const std::vector<std::vector<Rational>>& components,
                                                std::span<const Rational> values) const {
  const auto of_part = [&](std::size_t part, std::span<const Rational> drawn) {
    std::vector<AnswerInterval> intervals = inverted.parts[part].of_each(drawn);
    for (AnswerInterval& interval : intervals) interval = on_lattice(interval, steps_[part]);
    return intervals;
  };
  std::vector<AnswerInterval> made;
  if (inverted.is_quotient) {
    const bool proportion = recipe_.kind == PostProcessing::Kind::proportion;
    for (std::size_t cell = 0; cell < values.size(); ++cell) {
      const AnswerInterval one =
          proportion ? quotient(inverted, components[0].at(2 * cell), components[0].at(2 * cell + 1))
                     : quotient(inverted, components[0].at(cell), components[1].at(cell));
      // It is made of parts that were brought into their ranges, the value of those that were released.
      const Rational value = std::clamp(values[cell], recipe_.lower, recipe_.upper);
      made.push_back({std::min(one.low, value), std::max(one.high, value)});
    }
    return made;
  }
  // What is rounded has the law of what is shown.
  if (inverted.parts.size() == 1) return of_part(0, values);
  if (accounting::has_totals(recipe_.kind)) {
    for (std::size_t part = 0, first = 0; part < inverted.parts.size(); first += drawn_[part++]) {
      for (AnswerInterval& one : of_part(part, values.subspan(first, drawn_[part])))
        made.push_back(std::move(one));
    }
    return made;
  }
  std::vector<std::vector<AnswerInterval>> parts;
  for (std::size_t part = 0; part < inverted.parts.size(); ++part)
    parts.push_back(of_part(part, components.at(part)));
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    std::vector<AnswerInterval> of_cell;
    for (const auto& part : parts) of_cell.push_back(part.at(cell));
    made.push_back(made_of(recipe_, of_cell));
  }
  return made;
}

std::vector<CellIntervals> PlanIntervals::of(const std::vector<std::vector<Rational>>& components,
                                             std::span<const Rational> values) const {
  std::vector<CellIntervals> result;
  const std::size_t of_a_cell = accounting::values_of_a_cell(recipe_.kind);
  const bool totals = accounting::has_totals(recipe_.kind);
  const auto as_many = [&](const auto& cells, std::size_t drawn) {
    return cells.size() == (totals ? drawn : of_a_cell * values.size());
  };
  const bool whole =
      std::equal(components.begin(), components.end(), drawn_.begin(), drawn_.end(), as_many) &&
      (!totals || values.size() == std::accumulate(drawn_.begin(), drawn_.end(), std::size_t{0}));
  if (values.empty() || !whole) return result;
  if (std::any_of(each_.begin(), each_.end(), [](const Inverted& one) { return one.empty(); })) return result;
  for (std::size_t i = 0; i < alphas_.size(); ++i) {
    result.push_back(
        {alphas_[i], told(each_[i], components, values),
         together_.empty() ? std::vector<AnswerInterval>{} : told(together_[i], components, values)});
    if (recipe_.kind == PostProcessing::Kind::ratio)
      result.back().everything = AnswerInterval{recipe_.lower, recipe_.upper};
  }
  return result;
}

}  // namespace epsilog::engine
