// What a recorded release is known to lose, in the terms of the accountants.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, sections 7 and 8; mechanisms/proofs.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "epsilog/accounting/accountant.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// The fields of the component that recorded_loss reads, as one key: components of equal keys lose alike.
[[nodiscard]] std::string loss_key(const std::string& mechanism, const ledger::ComponentRecord& component);

/// One draw of a component by `mechanism` ("snapping", "discrete_laplace", …), count 1.
///   snapping          Laplace noise and what is proved beyond it
///   discrete Laplace  its lattice law, of vectors too; as pure where the lattice is finer than pld composes
///   discrete Gaussian rho; to pld its lattice law if one unit changes one coordinate, by whole steps, and
///                     the scale is below 10^4 steps; continuous noise on a grid that is fine enough; else
///                     its proved (epsilon, delta)
/// The guarantee is the proved (epsilon, delta), at most what was charged.
/// Throws  LedgerCorrupt for a mechanism or a number that no release of this program has.
[[nodiscard]] accounting::KnownLoss recorded_loss(const std::string& mechanism,
                                                  const ledger::ComponentRecord& component);

/// Of what was charged without a release: any mechanism that keeps the charged (epsilon, delta), or rho.
/// Amounts in grid units by measure. nullopt when there is neither an epsilon nor a rho among them.
[[nodiscard]] std::optional<accounting::KnownLoss> charged_loss(
    const std::map<std::string, std::int64_t>& amounts);

}  // namespace epsilog::engine
