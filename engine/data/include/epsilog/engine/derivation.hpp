// What it takes to answer a question privately.
//
// A statistic becomes one or more components, each drawn by one mechanism call: a sensitivity, a
// public range and the number of coordinates one unit can change (the table and its proofs:
// docs/sensitivity.md). Nothing here looks at data.
// Thread-safety: pure functions over immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/statistic.hpp"
#include "epsilog/ledger/cell_keys.hpp"
#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::engine {

/// What one mechanism call releases: a scalar, or one value per cell (of a proportion two) with joint
/// sensitivities.
struct Component {
  enum class Quantity {
    rows,                  ///< number of rows
    units,                 ///< number of distinct units
    sum,                   ///< sum of the column
    sum_about_centre,      ///< sum of (x - centre)
    squares_about_centre,  ///< sum of (x - centre)^2
    mean,                  ///< centre + sum(x - centre)/N, N public
    variance,              ///< variance divided by N, N public
    supplied,              ///< handed in by the caller
    quantile,              ///< of the column, one or several: `quantiles` says the rest
    rows_of_value,         ///< of each cell, rows with the value asked for, then those with another one
    distinct,              ///< of the values declared, those that some row has
    numerator,             ///< of a ratio: the sum of the column over rows that have both
    denominator,           ///< … and of the other column over the same rows
  };
  Quantity quantity = Quantity::rows;
  Rational sensitivity;             ///< L1 over all cells, > 0
  Rational sensitivity_l2_squared;  ///< square of the L2 sensitivity over all cells, > 0
  std::uint64_t coordinates = 1;    ///< m >= 1, cells one unit can change
  Rational lower;                   ///< public range of each cell, lower < upper
  Rational upper;
  Rational share = 1;  ///< of the epsilon (and delta) asked; the shares of a derivation add to 1
  /// What a quantile is selected with, epsilon and mechanism aside; nothing of another quantity. Its cells
  /// are those of `by`, each of which has a value for each quantile; `sensitivity` then is that of a rank, the largest of any
  /// selection, and `lower` and `upper` are the ends of the candidates.
  std::optional<mechanisms::QuantileOptions> quantiles = std::nullopt;
  /// A power of two of which every answer, clamped or not, is known to be a multiple; absent: unknown.
  std::optional<Rational> step = std::nullopt;
  std::vector<std::string> counted = {};  ///< of distinct: which values
};
[[nodiscard]] std::string_view name(Component::Quantity quantity);  ///< "count", "units", "sum", …

/// Most candidates that one release selects among, those of each cell counted for each level of quantiles.
inline constexpr std::uint64_t kCandidatesOfReleaseMax = 8'000'000;

struct Derivation {
  /// In the order PostProcessing expects; with totals one for each of cells.margins().
  std::vector<Component> components;
  accounting::PostProcessing post_processing;
  Rational centre = 0;  ///< (L+U)/2 where a component is about the centre
  /// By the values of the columns of `by`, as they are declared, and then by the quantiles where several are
  /// asked for; else empty.
  ledger::CellKeys cells;
};

/// Derives sensitivity, coordinates and range from the declared bounds.
///
/// Ensures   the sensitivities bound what one unit can change, as the dataset's neighbours say; under
///           `blocks`, also what its rows in any one block can change.
/// Throws  NotFound (unknown column, query: names the nearest), Underivable (says which declaration
///         is missing), InvalidParameter.
[[nodiscard]] Derivation derive(const Dataset& dataset, const Question& question);

}  // namespace epsilog::engine
