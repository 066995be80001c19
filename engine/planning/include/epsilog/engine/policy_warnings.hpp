// What a valid policy should make its curator think again, and what its sources are.
// Thread-safety: pure functions, but for looking at what is at the place of a source.
#pragma once

#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// An epsilon from this on, in a budget of a dataset or in one for life, is worth a warning.
inline constexpr std::int64_t kEpsilonOfWarning = 3;

/// What follows from the policy alone, and whether the sources are there, seen from its directory:
///   a budget with an epsilon of kEpsilonOfWarning or more; a `bound` that cuts into the range the policy
///   declares; counts that are snapped although discrete noise would keep them whole; a number such as
///   5.000 of a column of whole numbers, or of a file with a decimal comma.
///
/// Requires  `policy` was read from `path`.
/// Ensures   ordered by line and column; nothing of it stops the policy from being applied.
[[nodiscard]] std::vector<PolicyFault> policy_warnings(const Policy& policy, const std::string& path);

/// Returns a fault for each source at whose place there is something else than a regular file, seen from the
/// policy's directory. Such a policy is not taken into a ledger either.
/// Requires  `policy` was read from `path`.
[[nodiscard]] std::vector<PolicyFault> source_faults(const Policy& policy, const std::string& path);

}  // namespace epsilog::engine
