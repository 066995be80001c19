// Conditions that no row can satisfy, and counts of cells that every row has, whatever the data: who asks one
// has slipped, and would pay for it.
//
// Asked of new requests only. What is on record, or waits, was asked under the rules of its time.
// Thread-safety: pure function.
#pragma once

#include <string>

#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

/// Decided for each column by itself, exactly of an `and` of comparisons: whether some value that a cell of
/// its type can be read as, a missing cell, or the constant that stands in for one satisfies all comparisons
/// with it. An `or` can be satisfied if one of its parts can, and leaves of a column what those parts leave
/// of it together. So none is refused that a row can satisfy, and each that none can if no `or` stands within
/// an `and`. `bounds` play no part, because cells are compared as they are read. A text that is not among the
/// declared `values` of its column is refused as well, though a cell could hold it: it is misspelt.
///
/// `count:C` is refused likewise where no row that is kept can lack the cell: a constant stands in for a
/// missing one, every cell has a label, or rows without it are dropped before. It would be `count`.
///
/// Requires  derive() accepted the question.
/// Throws    InvalidParameter naming the comparisons, the value meant, or what to ask.
void require_satisfiable(const Dataset& dataset, const Question& question);

/// Returns why no row that is kept lacks a cell of the column; "" if one can.
[[nodiscard]] std::string why_never_missing(const Dataset& dataset, const Column& column);

}  // namespace epsilog::engine
