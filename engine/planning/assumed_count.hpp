// How accurate an answer is that is made of two releases, if so many rows are assumed.
//
// Law      mechanisms/proofs/quotients.md, the second claim; of a proportion "Shares of so many rows".
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "epsilog/engine/cell_intervals.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// Whether a number of rows settles it: of a mean over a private number of rows, and of a proportion.
[[nodiscard]] bool follows_from_count(const Derivation& derivation);
/// Throws  Underivable unless it does; InvalidParameter unless 1 <= rows, and a table may have as many.
void require_assumable(const Derivation& derivation, const Question& question, std::int64_t rows);

/// Throws  InvalidParameter unless 1 <= rows, and a table of the dataset may have as many.
void require_possible_rows(const Dataset& dataset, std::int64_t rows);

/// How far the answer, or that of each cell, is from the clamped exact one of so many rows, except with
/// probability alpha; rounded up. It is no larger than the range.
/// Requires  require_assumable().
[[nodiscard]] Rational accuracy_of_count_up(const Plan& plan, std::int64_t rows, const Rational& alpha);
[[nodiscard]] std::vector<Accuracy> accuracies_of_count(const Plan& plan, std::int64_t rows,
                                                        std::span<const Rational> alphas);

/// Returns [alpha] between which quantiles of so many rows the quantile with that index lies, rounded
/// outward; nothing of an alpha of which no rank accuracy is told. Of more rows it lies between the same
/// ones, or nearer.
/// Requires  a plan of quantiles, and there is one; rows >= 1.
[[nodiscard]] std::vector<QuantileReach> reaches_of_count(const Plan& plan, std::size_t quantile,
                                                          std::int64_t rows,
                                                          std::span<const Rational> alphas);

}  // namespace epsilog::engine
