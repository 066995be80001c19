// Facts about the question of an answer that the code which writes the answer needs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::wire {

/// Whether a proportion was asked for, a quotient of two counts drawn together: of each cell, of rows with
/// the value, then of those with another.
[[nodiscard]] bool asks_proportion(const engine::Answer& answer);

/// Whether a ratio of two sums was asked for.
[[nodiscard]] bool asks_ratio(const engine::Answer& answer);

/// Whether a table was asked for with its totals, each margin of which is drawn by itself.
[[nodiscard]] bool asks_totals(const engine::Answer& answer);
/// The columns of whose combinations the component with that index draws the totals: all of those of the
/// cells, none of the grand total.
/// Requires  asks_totals(answer), and there is one.
[[nodiscard]] std::vector<std::string> columns_drawn(const engine::Answer& answer, std::size_t component);

/// Whether quantiles were asked for: their accuracy counts ranks, and each value is one of those declared.
[[nodiscard]] bool asks_quantiles(const engine::Answer& answer);
/// Whether these are of a column of dates: the values are days, counted from 1970-01-01.
[[nodiscard]] bool asks_days(const engine::Answer& answer);
/// A value of the answer to the last digit; if it asks_days(), the date: "2024-01-31".
[[nodiscard]] std::string exact_text(const engine::Answer& answer, const accounting::Rational& value);
/// The quantile with that index, as asked.
/// Requires  asks_quantiles(answer), and there is one.
[[nodiscard]] std::string quantile_text(const engine::Answer& answer, std::size_t i);

/// The largest number of rows of which the quantile with that index may be any value, at that accuracy.
/// Requires  asks_quantiles(answer), and there is one.
[[nodiscard]] accounting::Integer any_value_to(const engine::Answer& answer, std::size_t i,
                                               const engine::Accuracy& accuracy);

}  // namespace epsilog::wire
