// What a person reads of the intervals of an answer: beside its value, and what they promise.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// Returns a line of the block below an answer: "  cost       epsilon 0.1"; "" as name goes on with the line
/// before.
[[nodiscard]] std::string field(std::string_view name, const std::string& text);

/// Returns " ± 412 (95 %)", or " [0, 36] (95 %)"; "" without intervals.
/// Requires  an answer without cells.
[[nodiscard]] std::string intervals_text(const engine::Answer& answer, const Style& style);

/// Returns what the intervals are for, and from which size on a narrow one holds; for a batch, what those
/// of its rows are for, each such note once; "" without intervals.
[[nodiscard]] std::string intervals_note(const engine::Answer& answer, const Style& style);

/// Returns what a value below 0 means where the exact one cannot be, or one that is less than its noise in a
/// table without intervals; once for all rows of a batch. "" where there is none.
[[nodiscard]] std::string small_values_note(const engine::Answer& answer, const Style& style);

/// Returns from which size on a narrow interval of what is planned, or of a row of a batch, holds; "" where
/// each one does.
[[nodiscard]] std::string narrow_intervals_note(const engine::Answer& answer, const Style& style);

/// Returns how many rows lie between a value and the exact quantile, and where it may be any value; with an
/// assumed count, between which quantiles it lies.
/// Requires  wire::asks_quantiles(answer).
[[nodiscard]] std::string rank_accuracy_text(const engine::Answer& answer, const Style& style);

}  // namespace epsilog::command
