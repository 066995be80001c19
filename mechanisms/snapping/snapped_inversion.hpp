// The law of a snapped release, inverted. Proof: mechanisms/proofs/intervals.md.
#pragma once

#include <memory>

#include "epsilog/mechanisms/answer_interval.hpp"
#include "epsilog/mechanisms/snapping_parameters.hpp"

namespace epsilog::mechanisms {

/// Requires  alpha > 0 is what the ideal law may use; `shown` is rounded only where the grid is below 1.
[[nodiscard]] std::shared_ptr<const InvertedLaw> inverted_snapping(const SnappingParameters& parameters,
                                                                   const AnswerInterval& range,
                                                                   const Rational& alpha, Shown shown);

/// Of an alpha that nothing is said about: every released value leaves the whole range.
[[nodiscard]] std::shared_ptr<const InvertedLaw> whole_range_law(const AnswerInterval& range);

}  // namespace epsilog::mechanisms
