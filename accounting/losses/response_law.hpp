// Laws of the total loss of randomised responses, which dominate every pure mechanism.
//
// Proof  accounting/proofs/composition.md, sections 2 to 5.
// Thread-safety: pure functions. The caller holds an ExponentRange.
#pragma once

#include <span>

#include "epsilog/accounting/loss_group.hpp"
#include "loss_law.hpp"

namespace epsilog::accounting {

/// Which part of a law is wanted: atoms may be left out once what they add up to is at most `cut`.
struct LawWindow {
  Rational loss_min;             ///< losses at or below it are not needed
  Rational cut;                  ///< a bound of the probability left out at each end; 0: nothing is
  bool cut_is_relative = false;  ///< `cut` is relative to the most probable loss above loss_min
};

/// `count` responses of one epsilon: loss (2 j - count) epsilon with probability C(count, j) e^(j epsilon) /
/// (1 + e^epsilon)^count. Costs about sqrt(count).
[[nodiscard]] LossLaw equal_responses(const LossGroup& group, const LawWindow& window, unsigned bits);
struct EqualResponses {
  std::vector<LossLaw::Atom> atoms;  ///< losses descending
  MpfrNumber rest;
};
[[nodiscard]] EqualResponses equal_response_atoms(const LossGroup& group, const LawWindow& window,
                                                  unsigned bits);

/// Sign classes are formed up to this number.
inline constexpr std::uint64_t kSignClassesMax = 1 << 16;
/// prod (count_i + 1), or kSignClassesMax + 1 if it is more.
[[nodiscard]] std::uint64_t sign_classes(std::span<const LossGroup> groups);
/// All sums of signs, equal groups counted by binomials.
/// Requires  sign_classes(groups) <= kSignClassesMax.
[[nodiscard]] LossLaw sign_class_law(std::span<const LossGroup> groups, unsigned bits);

/// What the grid must serve: delta near this epsilon, or epsilon at this delta.
struct GridPurpose {
  double epsilon = 0;
  double log_of_inverse_delta = 0;
};
/// A law on a grid that dominates that of the groups.
[[nodiscard]] LossLaw grid_law(std::span<const LossGroup> groups, const GridPurpose& purpose, unsigned bits);

}  // namespace epsilog::accounting
