// How far each candidate's rows are from holding a quantile, as runs of candidates that are equally far.
// Proof    mechanisms/proofs/quantiles.md, section 3.
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "epsilog/mechanisms/quantile_parameters.hpp"
#include "selection_sampler.hpp"

namespace epsilog::mechanisms {

/// Candidates first..last, and the rows that were rounded to rows_first..last: those of earlier candidates
/// belong to somebody else.
struct CandidateRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t rows_first = 0;
};

/// What a selection chooses among, once those before it have chosen.
/// Requires  `selected` holds the candidates of the node's lower and upper quantile.
[[nodiscard]] CandidateRange range_of(const QuantileNode& node, std::span<const std::uint64_t> selected,
                                      std::uint64_t candidates);

/// Rows in ascending order of their candidates, none beyond `last`, none without rows.
[[nodiscard]] std::vector<CandidateRows> in_order(std::vector<CandidateRows> rows, std::uint64_t last);

/// dist(Q n, [#<c, #<=c]) for each candidate of the range in turn, in units of 1/q where Q = p/q in lowest
/// terms, counting the range's rows alone. Some candidate has 0. Exact for any numbers of rows.
/// Requires  `rows` as in_order makes them; first <= last, first <= rows_first.
[[nodiscard]] std::vector<DistanceRun> distance_runs(std::span<const CandidateRows> rows,
                                                     const CandidateRange& range, const Rational& quantile);

}  // namespace epsilog::mechanisms
