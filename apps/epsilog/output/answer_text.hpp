// Plans, releases and refusals as a person reads them; what explains them only where the style is verbose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// What a plan says: cost, mechanism, accuracy, limits. Nothing was released.
[[nodiscard]] std::string plan_text(const engine::Answer& answer, const Style& style);

/// "mean:cost of clinic by ward where age > 65".
[[nodiscard]] std::string question_text(const engine::Answer& answer);
/// The lines of a plan that say what one release costs and how accurate it is.
[[nodiscard]] std::string cost_and_accuracy_text(const engine::Answer& answer, const Style& style);

/// What the asker lost before, where that counts for approvals; else "".
[[nodiscard]] std::string lost_within_text(const engine::Answer& answer);

/// A granted decision with its value or cells, accuracy, cost and what remains.
[[nodiscard]] std::string release_text(const engine::Answer& answer, const Style& style);

/// What a dummy run drew from so many invented rows, and says so first and beside the values.
[[nodiscard]] std::string dummy_text(const engine::Answer& would_be, std::int64_t rows, const Style& style);

/// Nothing but the value, or a line GROUP<tab>VALUE for each cell; exact.
[[nodiscard]] std::string bare_values(const engine::Answer& answer);

/// The message of a reason, which is on record as it is, without figures that say nothing.
[[nodiscard]] std::string reason_message(const engine::Reason& reason);

/// A refusal: each limit that failed with limit, spent, asked, over by and the largest that fits.
[[nodiscard]] std::string refusal_text(const engine::Answer& answer, const Style& style);

/// A request that waits, or ended without an answer: its state, cost, approvals, deadline and what to do
/// next.
[[nodiscard]] std::string waiting_text(const engine::Answer& answer, const Style& style);

/// Whichever of release_text, refusal_text and waiting_text says it.
[[nodiscard]] std::string decision_text(const engine::Answer& answer, const Style& style);

}  // namespace epsilog::command
