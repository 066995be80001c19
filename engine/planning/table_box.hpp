// What intervals for the cells and totals of a table leave, once cells add up to totals.
//
// Law      mechanisms/proofs/intervals.md, "Tables that add up".
// Thread-safety: a pure function.
#pragma once

#include <vector>

#include "epsilog/accounting/table_margins.hpp"
#include "epsilog/mechanisms/answer_interval.hpp"

namespace epsilog::engine {

/// Narrows each interval to what the others leave of it: first totals by the cells they sum, then cells by
/// their totals and the other cells. A table that lies in all intervals, and adds up, lies in all that are
/// returned. Where two contradict each other, no table does, and the first stays as it is.
/// Requires  margins.cells() intervals, one margin after the other.
void narrow_by_sums(const accounting::TableMargins& margins, std::vector<mechanisms::AnswerInterval>& box);

/// Narrows the interval to what the other leaves of it; leaves it as it is if that is nothing.
void narrow(mechanisms::AnswerInterval& interval, const mechanisms::AnswerInterval& other);

}  // namespace epsilog::engine
