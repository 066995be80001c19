// The ends of the range of epsilons that do what is wanted, on epsilon's grid.
//
// Whatever is asked of an epsilon is asked by planning it, so a search is certified by its own questions:
// the result was asked and did, its neighbour was asked and did not.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "epsilog/accounting/filter.hpp"

namespace epsilog::engine {

/// Whether an epsilon of so many grid units does.
using EpsilonTest = std::function<bool(std::int64_t units)>;

/// Searches the upper end, of what fits into balances.
///
/// Requires  1 <= start, 1 <= most.
/// Ensures   the result does, and it is `most` or one unit more does not. Nothing: no power of two times
///           the start, up or down, does. If what fits falls with epsilon, it is the largest that fits, and
///           nothing fits if there is none.
[[nodiscard]] std::optional<std::int64_t> largest_passing(std::int64_t start, std::int64_t most,
                                                          const EpsilonTest& does);

/// Searches the lower end, of what is accurate enough.
///
/// Requires  1 <= start <= most.
/// Ensures   the result does, and it is 1 or one unit less does not. If accuracy improves with epsilon, it
///           is the least that does, and none up to `most` does if there is none.
[[nodiscard]] std::optional<std::int64_t> least_passing(std::int64_t start, std::int64_t most,
                                                        const EpsilonTest& does);

/// How many debits of `asked` units a balance has room for: floor(remaining / asked), exactly.
/// Requires  balance.valid(), asked > 0.
[[nodiscard]] std::int64_t debits_that_fit(const accounting::Balance& balance, std::int64_t asked) noexcept;

}  // namespace epsilog::engine
