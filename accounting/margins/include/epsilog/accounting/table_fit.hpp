// The table that fits noisy cells and noisy totals best, and adds up.
//
// Source: the least squares of Hay, Rastogi, Miklau and Suciu (arXiv 0904.0942) for margins of a table in
// place of a tree; closed form and proof in accounting/proofs/consistent_totals.md.
// Thread-safety: pure function.
#pragma once

#include <span>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/table_margins.hpp"

namespace epsilog::accounting {

/// Of all tables the one that minimises the sum over margins of ((its margin - drawn) / scale)^2, with its
/// margins, in the order of `margins`. It looks at nothing but what is drawn, and so costs nothing.
///
/// Requires  drawn[i] are the cells of margins.all()[i], the table's own first, and scales[i] > 0 is that of
///           their noise.
/// Ensures   exact; every margin is the sum of the cells, whatever was drawn.
/// Throws    InvalidParameter where there are not as many values or scales as that, or a scale is not
/// positive.
[[nodiscard]] std::vector<Rational> fitted_table(const TableMargins& margins,
                                                 std::span<const Rational> scales,
                                                 const std::vector<std::vector<Rational>>& drawn);

}  // namespace epsilog::accounting
