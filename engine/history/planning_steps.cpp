#include "planning_steps.hpp"

#include <algorithm>

namespace epsilog::engine {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;

// In steps, by what was measured.
constexpr std::uint64_t kQuestion = 20;        // derived, calibrated, written down
constexpr std::uint64_t kFigureOfLaw = 10;     // one law inverted at one alpha
constexpr std::uint64_t kFigureOfJoint = 200;  // the law of a quotient of two draws
constexpr std::uint64_t kCellOfJoint = 10;     // its interval in one cell
/// A search on a grid of 2^63 epsilons doubles and halves until it has one: so many plans at most.
constexpr std::uint64_t kPlansOfSearch = 130;
/// A plan of a search tells no cells; it lists them once.
constexpr std::uint64_t kCellsListed = 50;

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > kMost - b ? kMost : a + b;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kMost / a ? kMost : a * b;
}

std::uint64_t cells_of(const Dataset& dataset, const Question& question) {
  std::uint64_t cells = 1;
  for (const std::string& name : question.by) {
    const Column* const column = dataset.column(name);
    if (column != nullptr) cells = product(cells, std::max<std::size_t>(column->values.size(), 1));
  }
  return cells;
}

struct StepCounts {
  std::uint64_t components = 1;
  std::uint64_t figure = kFigureOfLaw;  ///< of each component at one alpha
  std::uint64_t cell = 1;               ///< of each cell at one alpha
};

StepCounts parts_of(const Question& question) {
  StepCounts parts;
  switch (question.statistic.kind) {
    case StatisticKind::quantile:
      parts.components = std::max<std::size_t>(question.statistic.quantiles.size(), 1);
      break;
    case StatisticKind::mean:
    case StatisticKind::proportion:
      parts = {2, kFigureOfJoint / 2, kCellOfJoint};
      break;
    case StatisticKind::ratio:
      parts = {2, kFigureOfLaw, kCellOfJoint};
      break;
    case StatisticKind::variance:
    case StatisticKind::private_variance:
      parts = {3, kFigureOfLaw, kCellOfJoint};
      break;
    default:
      break;
  }
  // A table with totals has a margin for each set of its columns.
  if (question.totals) parts.components = std::uint64_t{1} << std::min<std::size_t>(question.by.size(), 16);
  return parts;
}

std::uint64_t steps_of(const Dataset& dataset, const Question& question, std::uint64_t alphas,
                       PlannedFor what) {
  const StepCounts parts = parts_of(question);
  const std::uint64_t cells = cells_of(dataset, question);
  const std::uint64_t figures =
      product(product(parts.components, parts.figure), std::max<std::uint64_t>(alphas, 1));
  const std::uint64_t in_cells = product(cells, sum(sum(1, parts.components), product(parts.cell, alphas)));
  const std::uint64_t planned = sum(sum(kQuestion, figures), in_cells);
  if (what == PlannedFor::once) return planned;
  const std::uint64_t tried = sum(kQuestion + cells / kCellsListed, product(parts.components, kFigureOfLaw));
  return sum(planned, product(kPlansOfSearch, tried));
}

}  // namespace

std::uint64_t planning_steps_up(const Dataset& dataset, const Request& request, std::size_t alphas,
                                PlannedFor what) {
  if (request.rows.empty()) return steps_of(dataset, request.question, alphas, what);
  std::uint64_t steps = 0;
  for (const RequestRow& row : request.rows)
    steps = sum(steps, steps_of(dataset, row.question, alphas, what));
  return steps;
}

}  // namespace epsilog::engine
