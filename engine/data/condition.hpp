// Conditions that no row can satisfy, whatever the data: who asks one has slipped, and would pay for it.
//
// Asked of new requests only. What is on record, or waits, was asked under the rules of its time.
// Thread-safety: pure function.
#pragma once

#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

/// Decided exactly for each column by itself: whether some value that a cell of its type can be read as, or
/// the constant that stands in for a missing one, satisfies all comparisons with it. `bounds` play no part,
/// because cells are compared as they are read. A text that is not among the declared `values` of its column
/// is refused as well, though a cell could hold it: it is misspelt.
///
/// Requires  derive() accepted the question.
/// Throws    InvalidParameter naming the comparisons, or the value meant.
void require_satisfiable(const Dataset& dataset, const Question& question);

}  // namespace epsilog::engine
