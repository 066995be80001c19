// The theorem each kind of account rests on: why a fixed limit on a sum may stand while the mechanisms and
// their parameters are still being chosen, each after all earlier answers.
//
// Proof         accounting/proofs/composition.md, section 10.
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace epsilog::accounting {

/// By what adds up: epsilon; epsilon and delta; rho; the Renyi divergence of one order fixed beforehand.
enum class FilterKind { pure, approximate, zcdp, renyi };

/// One line without a line break: what the filter bounds, the name of the theorem and its source. Stable: it
/// is stored and shown with every account.
/// Throws  InvalidParameter for a number that is no kind.
[[nodiscard]] std::string_view filter_theorem(FilterKind kind);

}  // namespace epsilog::accounting
