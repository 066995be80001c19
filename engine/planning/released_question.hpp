// What of a question does not depend on what it may lose: its derivation, as its release settings allow it.
#pragma once

#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/statistic.hpp"

namespace epsilog::engine {

/// Derives a question, and checks that the dataset releases it at some loss.
///
/// Throws  as derive(); Underivable also where the release settings of the statistic cannot serve such a
/// table.
[[nodiscard]] Derivation released_derivation(const Dataset& dataset, const Question& question);

/// Whether sums over the cells are asked for, or are likely: a table by several columns, or one with totals.
[[nodiscard]] bool is_summable(const Question& question);

}  // namespace epsilog::engine
