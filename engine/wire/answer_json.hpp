// An answer, or what would become of a request, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "epsilog/engine/engine.hpp"

namespace epsilog::wire {

/// "granted", "refused" or "pending". Whoever asked to reserve has what they asked for once it is reserved;
/// whoever asked to release has not.
[[nodiscard]] const char* decision_word(const engine::Answer& answer);

enum class AnswerKind { plan, release, show, history, pending, dummy };

/// plan, release, show, dummy: an indented object. history and pending: one line, without accuracy.
[[nodiscard]] std::string answer_json(const engine::Answer& answer, AnswerKind kind);
/// What answer_json() writes.
[[nodiscard]] nlohmann::ordered_json answer_object(const engine::Answer& answer, AnswerKind kind);
/// `lost_within` of a plan: what the asker lost before, measure by measure.
[[nodiscard]] nlohmann::ordered_json lost_within_json(const engine::Answer& answer);

/// [{quantile, alpha, within, ties}] of an answer that asks_quantiles().
[[nodiscard]] nlohmann::ordered_json rank_accuracy_json(const engine::Answer& answer);

/// [{alpha, interval, simultaneous}] of a plan, a forecast or a row of one: from which size on intervals that
/// are narrower than the whole range hold.
[[nodiscard]] nlohmann::ordered_json planned_sizes_json(const engine::Answer& answer);

/// {count, accuracy} of the count that was assumed.
/// Requires  one was.
[[nodiscard]] nlohmann::ordered_json assumed_json(const engine::Answer& answer);

}  // namespace epsilog::wire
