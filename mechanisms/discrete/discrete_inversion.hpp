// The law of a release with discrete noise, inverted. Proof: mechanisms/proofs/intervals.md.
#pragma once

#include <memory>

#include "epsilog/mechanisms/answer_interval.hpp"
#include "epsilog/mechanisms/discrete_parameters.hpp"

namespace epsilog::mechanisms {

/// Requires  0 < alpha < 1; lowest and highest are the ends of the range, rounded, in steps of the grid.
[[nodiscard]] std::shared_ptr<const InvertedLaw> inverted_discrete(const DiscreteParameters& parameters,
                                                                   const AnswerInterval& range,
                                                                   const Integer& lowest,
                                                                   const Integer& highest,
                                                                   const Rational& alpha);

/// P(|X| >= a) of the noise in steps of the grid, rounded up.
[[nodiscard]] Rational discrete_tail_up(const DiscreteParameters& parameters, const Integer& a);
/// The least a with P(|X| >= a) <= alpha.
[[nodiscard]] Integer discrete_accuracy(const DiscreteParameters& parameters, const Rational& alpha);

}  // namespace epsilog::mechanisms
