// What a schedule of mechanisms costs together, from the distribution of its privacy loss: the composition
// that is tight but for a grid.
//
// Measure   Approximate DP, (epsilon, delta).
// Validity  The mechanisms, their parameters and their number are fixed in advance. The figure is no
//           filter and no odometer: it does not cover parameters chosen after seeing releases.
// Proof     accounting/proofs/privacy_loss_distribution.md.
// Source    Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the dots: tighter discrete
//           approximations of privacy loss distributions", PoPETs 2022(4), arXiv 2207.04380, section 4;
//           Zhu, Dong and Wang,
//           "Optimal accounting of differential privacy via characteristic function", AISTATS 2022, arXiv
//           2106.08567, theorem 10; for Gaussian laws Balle and Wang, ICML 2018, arXiv 1805.06530, theorem 8.
// Rounds    As named. One law used once, and any number of continuous Gaussian laws, are answered from their
//           closed forms, to 2^-100. In all other cases the distance from the truth is that of a grid; it is
//           known by asking for both sides.
// Refuses   With InvalidParameter naming `law N` (counted from 1) and the field: no law at all; a count of
//           0; a scale, sensitivity or pure epsilon that is not positive; a negative epsilon; a delta outside
//           [0, 1]; an approximate law of (0, 0); a sensitivity of a discrete law that is no integer;
//           discrete Gaussian noise of a scale above 10^4; discrete Laplace noise whose sensitivity exceeds
//           10^9.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>

#include "epsilog/accounting/composed_law.hpp"

namespace epsilog::accounting {

/// A delta with which the whole schedule is (epsilon, delta)-DP, never below the least one.
/// Requires  epsilon >= 0.
/// Throws    InvalidParameter.
[[nodiscard]] Rational pld_delta_up(std::span<const ComposedLaw> laws, const Rational& epsilon);

/// An epsilon with which the whole schedule is (epsilon, delta)-DP, never below the least one. nullopt if
/// there is none: delta is below what `approximate` laws lose outright, or 0 with Gaussian noise.
/// Requires  0 <= delta <= 1.
/// Throws    InvalidParameter.
[[nodiscard]] std::optional<Rational> pld_epsilon_up(std::span<const ComposedLaw> laws,
                                                     const Rational& delta);

/// The other side: no (epsilon, delta) with a smaller delta holds. Snapping laws are left out: their bound
/// and grid, which this knows nothing of, can only lower what they lose. 0 is always correct and is what
/// remains of the bound where nothing better is known.
/// Requires  epsilon >= 0.
/// Throws    InvalidParameter.
[[nodiscard]] Rational pld_delta_down(std::span<const ComposedLaw> laws, const Rational& epsilon);

/// No smaller epsilon holds with that delta, as far as pld_delta_down knows. nullopt if none holds at all.
/// Requires  0 <= delta <= 1.
/// Throws    as pld_delta_down.
[[nodiscard]] std::optional<Rational> pld_epsilon_down(std::span<const ComposedLaw> laws,
                                                       const Rational& delta);

}  // namespace epsilog::accounting
