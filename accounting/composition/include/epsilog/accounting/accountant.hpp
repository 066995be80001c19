// The accountants, side by side: what known losses cost together, as each of them bounds it.
//
// Measure   Approximate DP, (epsilon, delta).
// Validity  pure, approximate and zcdp add what a filter adds; advanced, optimal, rdp (the best of several
//           orders) and pld hold only for mechanisms, parameters and a number of them fixed in advance.
// Proof     accounting/proofs/composition.md and privacy_loss_distribution.md.
// Rounds    Up.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "epsilog/accounting/composed_law.hpp"

namespace epsilog::accounting {

enum class Accountant { pure, approximate, advanced, optimal, zcdp, rdp, pld };
inline constexpr std::array kAccountants = {
    Accountant::pure, Accountant::approximate, Accountant::advanced, Accountant::optimal,
    Accountant::zcdp, Accountant::rdp,         Accountant::pld};

/// "pure", "approximate", ...
[[nodiscard]] std::string_view name(Accountant accountant);
/// Whether its figures hold only for parameters fixed in advance.
[[nodiscard]] bool fixed_in_advance(Accountant accountant);

/// `count` equal releases, as far as it is known what one of them loses.
struct KnownLoss {
  std::uint64_t count = 1;  ///< >= 1
  /// What pld goes by, and rdp where there is no rho; its own count is not read. nullopt: pld has nothing to
  /// say, nor rdp without a rho.
  std::optional<ComposedLaw> law;
  /// An (epsilon, delta) that one release keeps, both >= 0, delta <= 1: what pure, approximate, advanced and
  /// optimal go by. nullopt: no single one was chosen.
  struct Guarantee {
    Rational epsilon;
    Rational delta;
  };
  std::optional<Guarantee> guarantee = {};
  /// The divergence of one release at every order a > 1 is at most a rho, rho >= 0: what zcdp and rdp go by,
  /// rdp also by the law of a pure release. nullopt: epsilon^2/2 of the guarantee, whose delta they add.
  std::optional<Rational> rho = {};
};

/// What follows from a law and its count alone. Gaussian laws have a rho and no guarantee, all others a
/// guarantee.
[[nodiscard]] KnownLoss known_loss(const ComposedLaw& law);

/// The epsilon that all losses together keep with `delta`. 0 of no losses. nullopt: the accountant cannot
/// express a loss, has nothing to say at this delta, or one of its numbers is out of its domain.
/// Requires  0 <= delta < 1; every loss has a guarantee or a rho.
/// Throws    InvalidParameter naming delta or the loss.
[[nodiscard]] std::optional<Rational> composed_epsilon_up(Accountant accountant,
                                                          std::span<const KnownLoss> losses,
                                                          const Rational& delta);

/// The delta that all losses together keep with `epsilon`; as composed_epsilon_up.
/// Requires  epsilon >= 0.
[[nodiscard]] std::optional<Rational> composed_delta_up(Accountant accountant,
                                                        std::span<const KnownLoss> losses,
                                                        const Rational& epsilon);

}  // namespace epsilog::accounting
