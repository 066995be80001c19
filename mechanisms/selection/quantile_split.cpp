#include "quantile_split.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

void check(const CandidateValues& values, std::uint64_t candidates) {
  if (values.step <= 0) throw InvalidParameter("values: the step must be positive");
  if (values.list.empty()) return;
  const bool ascend =
      std::adjacent_find(values.list.begin(), values.list.end(), std::greater_equal<>()) == values.list.end();
  if (values.list.size() != candidates || !ascend)
    throw InvalidParameter("values: there must be one for each candidate, ascending");
}

void check(const QuantileOptions& options) {
  if (options.epsilon == accounting::Epsilon()) throw InvalidParameter("epsilon: must be positive");
  if (options.quantiles.empty() || options.quantiles.size() > kQuantilesMax)
    throw InvalidParameter("quantiles: there must be 1 to " + std::to_string(kQuantilesMax));
  for (std::size_t i = 0; i < options.quantiles.size(); ++i) {
    accounting::require_probability(options.quantiles[i], "quantiles");
    if (i > 0 && options.quantiles[i] <= options.quantiles[i - 1])
      throw InvalidParameter("quantiles: must ascend");
  }
  if (options.candidates < 1 || options.candidates > kCandidatesMax)
    throw InvalidParameter("candidates: there must be 1 to " + std::to_string(kCandidatesMax));
  check(options.values, options.candidates);
  if (options.rows_per_unit < 1) throw InvalidParameter("rows_per_unit: must be at least 1");
  if (options.cells < 1) throw InvalidParameter("cells: must be at least 1");
}

/// Which quantiles are still to be selected, between which that were.
struct QuantileSpan {
  std::size_t first = 0;
  std::size_t end = 0;
  std::optional<std::size_t> lower;
  std::optional<std::size_t> upper;
  unsigned level = 0;
};

void add_nodes(std::vector<QuantileNode>& nodes, const QuantileOptions& options,
               const QuantileSpan& stretch) {
  if (stretch.first == stretch.end) return;
  const std::size_t middle = stretch.first + (stretch.end - stretch.first) / 2;
  const Rational below = stretch.lower ? options.quantiles[*stretch.lower] : Rational(0);
  const Rational above = stretch.upper ? options.quantiles[*stretch.upper] : Rational(1);
  const Rational share = (options.quantiles[middle] - below) / (above - below);
  nodes.push_back({.quantile = middle,
                   .lower = stretch.lower,
                   .upper = stretch.upper,
                   .level = stretch.level,
                   .share = share,
                   .sensitivity = quantile_sensitivity(share, options.change, options.rows_per_unit,
                                                       options.cells == 1 && stretch.level == 0)});
  add_nodes(nodes, options, {stretch.first, middle, stretch.lower, middle, stretch.level + 1});
  add_nodes(nodes, options, {middle + 1, stretch.end, middle, stretch.upper, stretch.level + 1});
}

}  // namespace

Rational quantile_sensitivity(const Rational& quantile, RowsChange change, std::uint64_t rows_per_unit,
                              bool one_cell) {
  accounting::require_probability(quantile, "quantile");
  if (rows_per_unit < 1) throw InvalidParameter("rows_per_unit: must be at least 1");
  const Rational k(static_cast<unsigned long>(rows_per_unit));
  if (change == RowsChange::replaced && one_cell) return k;
  const Rational farther = std::max(quantile, Rational(1 - quantile));
  return change == RowsChange::replaced ? Rational(2 * k * farther) : Rational(k * farther);
}

Rational CandidateValues::at(std::uint64_t candidate) const {
  if (!list.empty()) return list.at(candidate);
  return first + step * Rational(static_cast<unsigned long>(candidate));
}

std::optional<std::uint64_t> CandidateValues::find(const Rational& value, std::uint64_t candidates) const {
  const std::uint64_t candidate = nearest(value, candidates);
  return at(candidate) == value ? std::optional(candidate) : std::nullopt;
}

std::uint64_t CandidateValues::nearest(const Rational& value, std::uint64_t candidates) const {
  if (value >= at(candidates - 1)) return candidates - 1;
  if (value <= at(0)) return 0;
  if (list.empty()) return accounting::floor((value - first) / step + Rational(1, 2)).get_ui();
  const auto above =
      static_cast<std::uint64_t>(std::upper_bound(list.begin(), list.end(), value) - list.begin());
  return 2 * value >= list[above - 1] + list[above] ? above : above - 1;
}

QuantileParameters split_quantiles(const QuantileOptions& options) {
  check(options);
  QuantileParameters p;
  p.selection = options.selection;
  p.candidates = options.candidates;
  p.values = options.values;
  p.cells = options.cells;
  add_nodes(p.nodes, options, {0, options.quantiles.size(), std::nullopt, std::nullopt, 0});
  // The middle leaves at most half on either side.
  p.levels = static_cast<unsigned>(std::bit_width(options.quantiles.size()));
  p.charged = options.epsilon;
  p.adjusted = options.epsilon.rational();
  p.level_epsilon = p.adjusted / p.levels;
  p.rho = p.adjusted * p.adjusted;
  p.rho /= p.selection == Selection::exponential ? 8 * p.levels : 2;
  return p;
}

Rational largest_sensitivity(const QuantileOptions& options) {
  std::vector<QuantileNode> nodes;
  add_nodes(nodes, options, {0, options.quantiles.size(), std::nullopt, std::nullopt, 0});
  const auto less = [](const QuantileNode& a, const QuantileNode& b) {
    return a.sensitivity < b.sensitivity;
  };
  return std::max_element(nodes.begin(), nodes.end(), less)->sensitivity;
}

}  // namespace epsilog::mechanisms
