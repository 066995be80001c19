// Numbers of an answer as a person reads them: grouped, and no finer than the noise leaves them. What a
// script reads is exact and elsewhere (--json, --quiet).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// The digits before the point in groups of three: "1234567.25" is "1,234,567.25". What is no plain decimal
/// stays.
[[nodiscard]] std::string with_digit_groups(std::string decimal);
[[nodiscard]] std::string with_digit_groups(std::int64_t count);

/// In place of the value of a cell that is not to be shown.
inline constexpr std::string_view kSuppressed = "x";

/// The value of cell `i`, to the nearest place that the noise leaves: at most a tenth of its scale and at
/// least a hundredth; of a table with totals, all to the finest of their places. Every digit of a quantile,
/// and if the style is verbose. kSuppressed of one that is.
/// Requires  i < answer.values.size().
[[nodiscard]] std::string released_text(const engine::Answer& answer, std::size_t i, const Style& style);

/// Whether the cells of a table, as released_text() shows them, add up to its totals as it shows these.
/// Requires  it was asked with totals, and there are values.
[[nodiscard]] bool adds_up_as_shown(const engine::Answer& answer, const Style& style);

/// The interval of cell `i` beside its value as released_text() shows it: "± 412" where that is all, else
/// "[0, 36]"; rounded outward to three digits of its width, what released_text() rounded included.
/// Requires  i < the number of intervals.
[[nodiscard]] std::string interval_text(const engine::Answer& answer, std::size_t i,
                                        const mechanisms::AnswerInterval& interval, const Style& style);

/// An interval by both of its ends: "[0, 36]", of dates "[2024-01-01, 2024-12-31]".
[[nodiscard]] std::string range_text(const engine::Answer& answer,
                                     const mechanisms::AnswerInterval& interval);

/// The interval of cell `i` as interval_text() has it, or "[0, 110] whole range" where it says nothing
/// more than the policy.
/// Requires  `of` is one of the answer's, and `interval` that of the cell.
[[nodiscard]] std::string interval_or_whole_range(const engine::Answer& answer, std::size_t i,
                                                  const engine::CellIntervals& of,
                                                  const mechanisms::AnswerInterval& interval,
                                                  const Style& style);

/// A key as a person reads it: "total" where its column is summed over.
[[nodiscard]] std::string key_text(const std::optional<std::string>& key);
/// The keys of cell `i`, a column each: "A" or "A, 2024".
/// Requires  i < the number of cells.
[[nodiscard]] std::string cell_name(const engine::Answer& answer, std::size_t i);

/// "cells", "totals by ward", "the grand total".
/// Requires  as wire::columns_drawn().
[[nodiscard]] std::string margin_name(const engine::Answer& answer, std::size_t component);

/// What one mechanism call draws, in words: "sum about the middle of the bounds".
[[nodiscard]] std::string part_name(const ledger::ComponentRecord& component);

/// An error, rounded up to three digits; every digit if the style is verbose.
[[nodiscard]] std::string error_text(const accounting::Rational& error, const Style& style);

/// 1 - alpha as a percentage, exact: "95 %".
[[nodiscard]] std::string confidence_text(const accounting::Rational& alpha);

}  // namespace epsilog::command
