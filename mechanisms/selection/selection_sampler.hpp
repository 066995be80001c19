// Exact selection among candidates by how far each is from the best: no floating point and no rounding is
// left in the law.
//
//   permute and flip   every candidate throws a coin that shows heads with probability e^-x, the best has
//                      x = 0; one of those that show heads is taken, each with the same probability
//   exponential        P(candidate) is proportional to e^-x
//
// with x = rate (distance - least distance), rational. Candidates come in runs of equal distance.
//
// Source   McKenna, Sheldon, "Permute-and-Flip: A new mechanism for differentially private selection",
//          NeurIPS 2020, arXiv 2010.12603, algorithm 1; McSherry, Talwar, "Mechanism Design via
//          Differential Privacy", FOCS 2007.
// Proof    mechanisms/proofs/quantiles.md, sections 1 and 2.
// Timing   Permute and flip reads one word a candidate and one more; the exponential mechanism as many
//          as hold 2^bits times the number of candidates, two of 64 bits. Further words are read with a
//          probability that depends on the distances and is below 2^-37, for 10^6 candidates and words of 64
//          bits. Time grows with the number of runs, that is with the data.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "epsilog/mechanisms/quantile_parameters.hpp"
#include "random_words.hpp"

namespace epsilog::mechanisms {

/// Candidates that follow each other and are equally far from the best.
struct DistanceRun {
  std::uint64_t count = 0;
  Integer distance;
};

/// How an e^-x is compared with a uniform. Either decides alike and reads the same words; only tests ask
/// for `exact`.
enum class SelectionTrials {
  approximate,  ///< from 64 bits where they suffice
  exact,        ///< always by exact integers
};

/// The place of the candidate taken, counted from 0 through all runs.
/// Requires  rate > 0; at least one candidate and at most kCandidatesMax.
/// Ensures   exactly the law above. Ends with probability 1.
/// Throws    EntropyUnavailable.
[[nodiscard]] std::uint64_t permute_and_flip(std::span<const DistanceRun> runs, const Rational& rate,
                                             RandomWords& words,
                                             SelectionTrials trials = SelectionTrials::approximate);
[[nodiscard]] std::uint64_t exponential_selection(std::span<const DistanceRun> runs, const Rational& rate,
                                                  RandomWords& words,
                                                  SelectionTrials trials = SelectionTrials::approximate);

}  // namespace epsilog::mechanisms
