#include "plan_intervals.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using accounting::PostProcessing;
using mechanisms::AnswerInterval;
using mechanisms::Shown;

/// The outermost multiples of the step that it contains; itself where it contains none.
AnswerInterval on_lattice(const AnswerInterval& interval, const std::optional<Rational>& step) {
  if (!step) return interval;
  const Rational low = accounting::ceil(interval.low / *step) * *step;
  const Rational high = accounting::floor(interval.high / *step) * *step;
  return low <= high ? AnswerInterval{low, high} : interval;
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

/// All shares of a count of `with` in one row and more, the others of which are in `other`.
/// Requires  no count is negative; with.high + other.high >= 1.
AnswerInterval shares_of(const AnswerInterval& with, const AnswerInterval& other) {
  return {other.high > 0 ? Rational(with.low / (with.low + other.high)) : Rational(1),
          with.high > 0 ? Rational(with.high / (with.high + other.low)) : Rational(0)};
}

/// What the recipe can make of parts in these intervals, the last of which is the count.
AnswerInterval made_of(const PostProcessing& recipe, const std::vector<AnswerInterval>& parts) {
  if (recipe.kind == PostProcessing::Kind::proportion) {
    if (parts[0].high + parts[1].high < 1) return {recipe.lower, recipe.upper};
    return shares_of(parts[0], parts[1]);
  }
  const AnswerInterval& count = parts.back();
  if (count.high < 1) return {recipe.lower, recipe.upper};
  const auto inside = [&recipe](const Rational& low, const Rational& high) -> AnswerInterval {
    // The parts contradict each other: one of their intervals misses, and nothing says which.
    if (low > recipe.upper || high < recipe.lower) return {recipe.lower, recipe.upper};
    return {std::clamp(low, recipe.lower, recipe.upper), std::clamp(high, recipe.lower, recipe.upper)};
  };
  if (recipe.kind == PostProcessing::Kind::mean_about) {
    const AnswerInterval mean = quotients(parts[0], count);
    return inside(recipe.centre + mean.low, recipe.centre + mean.high);
  }
  EPSILOG_INVARIANT(recipe.kind == PostProcessing::Kind::variance_about);
  const AnswerInterval of_squares = quotients(parts[0], count);
  const AnswerInterval squared = squares(quotients(parts[1], count));
  return inside(of_squares.low - squared.high, of_squares.high - squared.low);
}

}  // namespace

PlanIntervals::PlanIntervals(const Plan& plan, std::span<const Rational> alphas)
    : alphas_(alphas.begin(), alphas.end()), recipe_(plan.derivation.post_processing) {
  for (const Component& component : plan.derivation.components) steps_.push_back(component.step);
  const std::size_t parts = plan.mechanisms.size() * accounting::values_of_a_cell(recipe_.kind);
  const std::size_t cells = plan.derivation.cells.size();
  for (const Rational& alpha : alphas_) {
    each_.push_back(inverted(plan, alpha, parts));
    if (cells > 0) together_.push_back(inverted(plan, alpha, parts * cells));
  }
}

PlanIntervals::Inverted PlanIntervals::inverted(const Plan& plan, const Rational& alpha,
                                                std::size_t draws) const {
  // The noise of each part in each cell is drawn by itself.
  const Rational of_each = mechanisms::simultaneous_alpha_down(alpha, draws);
  const Shown shown = recipe_.kind == PostProcessing::Kind::rounded ? Shown::rounded : Shown::as_released;
  Inverted result;
  for (const ComponentMechanism& mechanism : plan.mechanisms) {
    std::optional<mechanisms::AnswerIntervals> intervals = mechanism.intervals(of_each, shown);
    if (!intervals) return {};
    result.push_back(std::move(*intervals));
  }
  return result;
}

std::vector<AnswerInterval> PlanIntervals::told(const Inverted& inverted,
                                                const std::vector<std::vector<Rational>>& components,
                                                std::span<const Rational> values) const {
  const auto of_part = [&](std::size_t part, std::span<const Rational> drawn) {
    std::vector<AnswerInterval> intervals = inverted[part].of_each(drawn);
    for (AnswerInterval& interval : intervals) interval = on_lattice(interval, steps_[part]);
    return intervals;
  };
  const std::size_t of_a_cell = accounting::values_of_a_cell(recipe_.kind);
  // What is rounded has the law of what is shown.
  if (inverted.size() * of_a_cell == 1) return of_part(0, values);
  std::vector<std::vector<AnswerInterval>> parts;
  for (std::size_t part = 0; part < inverted.size(); ++part)
    parts.push_back(of_part(part, components.at(part)));
  std::vector<AnswerInterval> made;
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    std::vector<AnswerInterval> of_cell;
    for (const auto& part : parts) {
      for (std::size_t i = 0; i < of_a_cell; ++i) of_cell.push_back(part.at(cell * of_a_cell + i));
    }
    made.push_back(made_of(recipe_, of_cell));
  }
  return made;
}

std::vector<CellIntervals> PlanIntervals::of(const std::vector<std::vector<Rational>>& components,
                                             std::span<const Rational> values) const {
  std::vector<CellIntervals> result;
  const std::size_t of_a_cell = accounting::values_of_a_cell(recipe_.kind);
  const bool whole = components.size() == steps_.size() &&
                     std::all_of(components.begin(), components.end(), [&](const auto& cells) {
                       return cells.size() == of_a_cell * values.size();
                     });
  if (values.empty() || !whole) return result;
  if (std::any_of(each_.begin(), each_.end(), [](const Inverted& one) { return one.empty(); })) return result;
  for (std::size_t i = 0; i < alphas_.size(); ++i) {
    result.push_back(
        {alphas_[i], told(each_[i], components, values),
         together_.empty() ? std::vector<AnswerInterval>{} : told(together_[i], components, values)});
  }
  return result;
}

}  // namespace epsilog::engine
