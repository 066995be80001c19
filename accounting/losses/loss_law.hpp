// The law of a total privacy loss on finitely many values, and what it says about (epsilon, delta).
//
// With P and Q the probabilities of an atom under one input and under its neighbour, loss = ln(P/Q),
//   delta(e) = sum over losses > e of (P - e^e Q)   (proof: accounting/proofs/composition.md, section 2).
// Thread-safety: values. The caller holds an ExponentRange.
#pragma once

#include <optional>
#include <vector>

#include "epsilog/accounting/enclosure.hpp"

namespace epsilog::accounting {

class LossLaw final {
 public:
  struct Atom {
    Rational loss;
    Enclosure p;  ///< probability
    Enclosure q;  ///< probability under the neighbour, p e^-loss
  };

  /// `rest` is a bound of the probability that no atom accounts for: it is added to every delta.
  /// Requires  losses descending.
  LossLaw(std::vector<Atom> atoms, MpfrNumber rest, unsigned bits);

  /// Encloses delta(epsilon), the rest as if it were anything from nothing to all lost.
  [[nodiscard]] Enclosure delta(const Rational& epsilon) const;
  /// An epsilon >= 0 with delta(epsilon) certainly at most `target`: the least but for rounding. nullopt if
  /// the rest alone is more.
  /// Requires  target > 0.
  [[nodiscard]] std::optional<Rational> epsilon_up(const Rational& target) const;

 private:
  /// How many losses are above it.
  [[nodiscard]] std::size_t above(const Rational& epsilon) const;
  /// delta at the k-th loss is certainly at most `target`.
  [[nodiscard]] bool is_enough_at(std::size_t k, const Rational& target) const;

  std::vector<Rational> losses_;
  std::vector<Enclosure> p_;  ///< sums of the first so many atoms
  std::vector<Enclosure> q_;
  MpfrNumber rest_;
  unsigned bits_;
};

}  // namespace epsilog::accounting
