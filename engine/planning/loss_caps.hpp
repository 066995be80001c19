// What one release may lose, in whichever measures that is said: `per_release`, and `above` of `approvals`.
//
// A release is above a cap if it is in any measure the cap names, whether it is charged in that measure or
// not. What it loses there is derived from what its mechanisms prove: epsilon-DP is epsilon^2/2-zCDP, and its
// divergence at order alpha is at most min(epsilon, alpha epsilon^2/2), of which the exact largest value is
// taken; rho-zCDP is a divergence of alpha rho. Losses of the components add in each of these measures, and
// their sum is rounded up once. Proof: accounting/proofs/composition.md, sections 7, 8 and 10. Thread-safety:
// pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "component_mechanism.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/record.hpp"
#include "measure_limits.hpp"

namespace epsilog::engine {

/// One measure in which a release loses more than a cap allows.
struct CapExceeded {
  AccountMeasure measure;
  std::int64_t limit = 0;  ///< grid units
  std::int64_t asked = 0;  ///< likewise; the largest there are if it is more than that
};

/// In the order epsilon, delta, rho, orders ascending; empty: the release is not above the cap.
[[nodiscard]] std::vector<CapExceeded> exceeded_caps(const LossCap& cap,
                                                     const accounting::ApproximateLoss& charged,
                                                     const std::vector<ComponentMechanism>& mechanisms);

/// Whether a request waits for those who may approve.
[[nodiscard]] bool needs_approval(const Approvals& approvals, const accounting::ApproximateLoss& charged,
                                  const std::vector<ComponentMechanism>& mechanisms);

/// What holds for one release. Where none of the accounts it touches counts delta, an asker could make
/// epsilon as small as she likes by a larger delta: then delta is at most default_delta() unless the policy
/// says how much.
[[nodiscard]] LossCap cap_of_one_release(const Dataset& dataset, bool delta_is_counted);

/// Whether any budget of the dataset keeps accounts of delta.
[[nodiscard]] bool counts_delta(const Dataset& dataset);

/// Whether any budget of the dataset keeps accounts of epsilon without delta.
[[nodiscard]] bool counts_pure(const Dataset& dataset);

/// At which delta a zCDP loss is told as an epsilon: that which one release may have.
[[nodiscard]] accounting::Delta delta_of_rho(const Dataset& dataset);

}  // namespace epsilog::engine
