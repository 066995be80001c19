#include "plan_intervals.hpp"

#include <algorithm>
#include <numeric>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "table_box.hpp"

namespace epsilog::engine {
namespace {

using accounting::PostProcessing;
using mechanisms::AnswerInterval;
using mechanisms::Shown;

/// Of alphas below 2^-16384 no mechanism says anything.
constexpr long kLeastAlphaExponent = -16384;

bool says_something_at(const Rational& alpha) {
  return alpha >= accounting::power_of_two(kLeastAlphaExponent);
}

/// Of the alpha of a table made consistent, what the box of all draws has; the draw of the cell has the rest.
Rational share_of_box() {
  return Rational(1, 8);
}

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

/// All quotients of a number in `sum` by one in `count`.
/// Requires  count.low > 0.
AnswerInterval quotients(const AnswerInterval& sum, const AnswerInterval& count) {
  return {sum.low / (sum.low < 0 ? count.low : count.high),
          sum.high / (sum.high < 0 ? count.high : count.low)};
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
  const AnswerInterval box = quotients(above, below);
  if (box.low > recipe.upper || box.high < recipe.lower) return everything;
  return {std::max(box.low, recipe.lower), std::min(box.high, recipe.upper)};
}

/// What the recipe can make of parts in these intervals, the last of which is the count, of a ratio what
/// divides.
AnswerInterval made_of(const PostProcessing& recipe, const std::vector<AnswerInterval>& parts) {
  if (recipe.kind == PostProcessing::Kind::ratio) return ratios_of(recipe, parts[0], parts[1]);
  EPSILOG_INVARIANT(recipe.kind == PostProcessing::Kind::variance_about);
  const AnswerInterval& count = parts.back();
  if (count.low < 1) return {recipe.lower, recipe.upper};
  const AnswerInterval of_squares = quotients(parts[0], count);
  const AnswerInterval squared = squares(quotients(parts[1], count));
  const Rational low = of_squares.low - squared.high, high = of_squares.high - squared.low;
  // The parts contradict each other: one of their intervals misses, and nothing says which.
  if (low > recipe.upper || high < recipe.lower) return {recipe.lower, recipe.upper};
  return {std::clamp(low, recipe.lower, recipe.upper), std::clamp(high, recipe.lower, recipe.upper)};
}

}  // namespace

PlanIntervals::PlanIntervals(const Plan& plan, std::span<const Rational> alphas, std::size_t rows)
    : alphas_(alphas.begin(), alphas.end()),
      recipe_(plan.derivation.post_processing),
      drawn_(cells_drawn(plan)),
      suppress_below_(plan.suppress_below) {
  for (const Component& component : plan.derivation.components) {
    steps_.push_back(component.step);
    ranges_.push_back({component.lower, component.upper});
  }
  const std::size_t cells = plan.derivation.cells.size();
  if (accounting::has_totals(recipe_.kind)) {
    margins_ = plan.derivation.cells.margins();
    for (std::size_t part = 0; part < drawn_.size(); ++part)
      groups_.push_back({drawn_[part], on_lattice(ranges_[part], steps_[part])});
  } else {
    const bool quotient = accounting::is_quotient(recipe_.kind);
    groups_.push_back({std::max<std::size_t>(cells, 1), quotient
                                                            ? AnswerInterval{recipe_.lower, recipe_.upper}
                                                            : on_lattice(ranges_[0], steps_[0])});
  }
  for (const Rational& alpha : alphas_) {
    each_.push_back(invert_laws(plan, alpha, Cells::each, rows));
    if (cells > 0) together_.push_back(invert_laws(plan, alpha, Cells::together, rows));
  }
}

std::vector<mechanisms::AnswerIntervals> PlanIntervals::laws(const Plan& plan, const Rational& alpha) const {
  std::vector<mechanisms::AnswerIntervals> result;
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const Shown shown = shows_whole(plan, i) ? Shown::rounded : Shown::as_released;
    std::optional<mechanisms::AnswerIntervals> intervals = plan.mechanisms[i].intervals(alpha, shown);
    if (!intervals) return {};
    result.push_back(std::move(*intervals));
  }
  return result;
}

PlanIntervals::InvertedLaws PlanIntervals::invert_laws(const Plan& plan, const Rational& alpha, Cells which,
                                                       std::size_t rows) const {
  accounting::stop_if_requested();
  InvertedLaws result;
  result.holds_from.resize(groups_.size());
  if (plan.mechanisms.front().quantiles() != nullptr) return result;
  const std::size_t cells = which == Cells::each ? 1 : std::max<std::size_t>(plan.derivation.cells.size(), 1);
  const Rational shown = shown_alpha(plan, alpha);
  const bool consistent = recipe_.kind == PostProcessing::Kind::consistent_totals;
  IntervalReach reach;
  if (recipe_.kind == PostProcessing::Kind::mean_about || recipe_.kind == PostProcessing::Kind::proportion) {
    result = invert_quotient(plan, mechanisms::simultaneous_alpha_down(shown, cells));
    if (!result.quotient) return result;
    reach.largest = result.quotient->largest();
    reach.absent = result.absent;
  } else {
    // The noise of each part in each cell is drawn by itself.
    const std::size_t parts = accounting::is_quotient(recipe_.kind) ? plan.mechanisms.size() : 1;
    Rational of_each = mechanisms::simultaneous_alpha_down(shown, parts * cells);
    if (consistent) {
      const bool own = which == Cells::each;
      const Rational of_box = own ? Rational(shown * share_of_box()) : shown;
      const std::size_t draws = std::accumulate(drawn_.begin(), drawn_.end(), std::size_t{0});
      result.box = laws(plan, mechanisms::simultaneous_alpha_down(of_box, draws));
      of_each = own ? Rational(shown - of_box) : mechanisms::simultaneous_alpha_down(of_box, draws);
    }
    result.parts = laws(plan, of_each);
    if (!says_something_at(of_each)) return result;
    for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
      const std::optional<Rational> known =
          i < result.parts.size() ? result.parts[i].accuracy_up() : std::nullopt;
      reach.of_components.push_back(known ? *known : plan.mechanisms[i].accuracy_up(of_each));
    }
  }
  result.holds_from = holds_from(plan, reach, cells, rows);
  return result;
}

PlanIntervals::InvertedLaws PlanIntervals::invert_quotient(const Plan& plan, const Rational& alpha) const {
  const ComponentMechanism &dividend = plan.mechanisms.front(), &divisor = plan.mechanisms.back();
  const std::optional<mechanisms::AnswerNoise> of_dividend = dividend.noise(), of_divisor = divisor.noise();
  const Rational of_each = mechanisms::simultaneous_alpha_down(alpha, 2);
  InvertedLaws result;
  result.holds_from.resize(groups_.size());
  if (!of_dividend || !of_divisor || !says_something_at(of_each)) return result;
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

AnswerInterval PlanIntervals::quotient(const InvertedLaws& inverted, const Rational& dividend,
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

std::vector<AnswerInterval> PlanIntervals::of_drawn(const std::vector<mechanisms::AnswerIntervals>& laws,
                                                    std::size_t part, std::span<const Rational> drawn) const {
  std::vector<AnswerInterval> intervals = laws[part].of_each(drawn);
  for (AnswerInterval& interval : intervals) interval = on_lattice(interval, steps_[part]);
  return intervals;
}

std::vector<AnswerInterval> PlanIntervals::of_quotients(const InvertedLaws& inverted,
                                                        const std::vector<std::vector<Rational>>& components,
                                                        std::span<const Rational> values) const {
  const bool proportion = recipe_.kind == PostProcessing::Kind::proportion;
  std::vector<AnswerInterval> made;
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

std::vector<AnswerInterval> PlanIntervals::of_boxes(const InvertedLaws& inverted,
                                                    const std::vector<std::vector<Rational>>& components,
                                                    std::size_t cells) const {
  std::vector<std::vector<AnswerInterval>> parts;
  for (std::size_t part = 0; part < inverted.parts.size(); ++part)
    parts.push_back(of_drawn(inverted.parts, part, components.at(part)));
  std::vector<AnswerInterval> made;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    std::vector<AnswerInterval> of_cell;
    for (const auto& part : parts) of_cell.push_back(part.at(cell));
    made.push_back(made_of(recipe_, of_cell));
  }
  return made;
}

std::vector<AnswerInterval> PlanIntervals::of_consistent(const InvertedLaws& inverted,
                                                         const std::vector<std::vector<Rational>>& components,
                                                         std::span<const Rational> values) const {
  std::vector<AnswerInterval> box, made;
  for (std::size_t part = 0; part < drawn_.size(); ++part) {
    for (AnswerInterval& one : of_drawn(inverted.box, part, components[part])) box.push_back(std::move(one));
    for (AnswerInterval& one : of_drawn(inverted.parts, part, components[part]))
      made.push_back(std::move(one));
  }
  narrow_by_sums(*margins_, box);
  for (std::size_t cell = 0, group = 0, in_group = 0; cell < made.size(); ++cell, ++in_group) {
    if (in_group == groups_[group].cells) in_group = 0, ++group;
    AnswerInterval& one = made[cell];
    narrow(one, box[cell]);
    // What is told was made of all draws, and may lie beyond what they leave.
    const AnswerInterval& range = groups_[group].range;
    const Rational value = std::clamp(values[cell], range.low, range.high);
    one = {std::min(one.low, value), std::max(one.high, value)};
  }
  return made;
}

std::vector<AnswerInterval> PlanIntervals::answer_intervals(
    const InvertedLaws& inverted, const std::vector<std::vector<Rational>>& components,
    std::span<const Rational> values) const {
  switch (recipe_.kind) {
    case PostProcessing::Kind::mean_about:
    case PostProcessing::Kind::proportion:
      return of_quotients(inverted, components, values);
    case PostProcessing::Kind::variance_about:
    case PostProcessing::Kind::ratio:
      return of_boxes(inverted, components, values.size());
    case PostProcessing::Kind::consistent_totals:
      return of_consistent(inverted, components, values);
    default:
      break;
  }
  if (inverted.parts.empty()) return std::vector<AnswerInterval>(values.size(), groups_.front().range);
  // What is rounded has the law of what is shown.
  if (!margins_) return of_drawn(inverted.parts, 0, values);
  std::vector<AnswerInterval> made;
  for (std::size_t part = 0; part < drawn_.size(); ++part) {
    for (AnswerInterval& one : of_drawn(inverted.parts, part, values.subspan(made.size(), drawn_[part])))
      made.push_back(std::move(one));
  }
  return made;
}

bool PlanIntervals::are_whole(const std::vector<std::vector<Rational>>& components,
                              std::span<const Rational> values) const {
  const std::size_t of_a_cell = accounting::values_of_a_cell(recipe_.kind);
  const auto as_many = [&](const auto& cells, std::size_t drawn) {
    return cells.size() == (margins_ ? drawn : of_a_cell * values.size());
  };
  return !values.empty() && (!margins_ || values.size() == margins_->cells()) &&
         std::equal(components.begin(), components.end(), drawn_.begin(), drawn_.end(), as_many);
}

std::vector<PlannedSizes> PlanIntervals::sizes() const {
  const auto largest = [](const InvertedLaws& inverted) {
    std::optional<Rational> most = Rational(0);
    for (const std::optional<Rational>& one : inverted.holds_from)
      most = one && most ? std::optional(std::max(*one, *most)) : std::nullopt;
    return most;
  };
  std::vector<PlannedSizes> result;
  for (std::size_t i = 0; i < alphas_.size(); ++i)
    result.push_back({alphas_[i], largest(each_[i]), largest(together_.empty() ? each_[i] : together_[i])});
  return result;
}

std::vector<CellIntervals> PlanIntervals::of(const std::vector<std::vector<Rational>>& components,
                                             std::span<const Rational> values) const {
  std::vector<CellIntervals> result;
  if (!are_whole(components, values)) return result;
  for (std::size_t i = 0; i < alphas_.size(); ++i) {
    CellIntervals& one = result.emplace_back(CellIntervals{
        .alpha = alphas_[i], .each = answer_intervals(each_[i], components, values), .groups = groups_});
    if (!margins_) one.groups.front().cells = values.size();
    if (!together_.empty()) one.together = answer_intervals(together_[i], components, values);
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      one.groups[group].each_holds_from = each_[i].holds_from[group];
      if (!together_.empty()) one.groups[group].together_holds_from = together_[i].holds_from[group];
    }
    if (!suppress_below_) continue;
    const std::span<const Rational> counts = released_counts(recipe_.kind, components, values);
    for (std::size_t cell = 0; cell < values.size(); ++cell) {
      if (counts[cell] >= *suppress_below_) continue;
      one.each[cell] = one.group_of(cell).range;
      if (!one.together.empty()) one.together[cell] = one.each[cell];
    }
  }
  return result;
}

}  // namespace epsilog::engine
