// Parts of the model as one line of YAML, for messages about them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

[[nodiscard]] std::string value_text(const Bounds& bounds);  ///< "[0, 110]"
[[nodiscard]] std::string value_text(const Budget& budget);  ///< "{epsilon: 3}"
[[nodiscard]] std::string value_text(const LossCap& cap);    ///< "{epsilon: 1, rho: 0.1}"
/// One of the column's bounds, of a date column the day: "2024-01-31".
[[nodiscard]] std::string bound_text(const Column& column, const Rational& bound);
[[nodiscard]] std::string value_text(const Blocks& blocks);  ///< "{by: ward}"
[[nodiscard]] std::string value_text(const Limit& limit);    ///< "{each: role, epsilon: 1}"
[[nodiscard]] std::string value_text(const Forbid& rule);    ///< "{principals: [bob]}"
[[nodiscard]] std::string value_text(const Approvals& approvals);
/// Of the amounts under `above`, and `within`.
/// Requires  approvals.above.
[[nodiscard]] std::string above_text(const Approvals& approvals);  ///< "{required: 2, by: …}"
[[nodiscard]] std::string value_text(const UnitOfPrivacy& unit);   ///< "{id: …, max_rows: 3}"
[[nodiscard]] std::string value_text(const Rows& rows);            ///< "{max: 1000}"
[[nodiscard]] std::string value_text(const Column& column);        ///< "{type: int, bounds: …}"
[[nodiscard]] std::string value_text(const NamedQuery& query);     ///< "{bounds: …}"
[[nodiscard]] std::string value_text(const Principal& principal);  ///< "{roles: [research]}"
[[nodiscard]] std::string value_text(const std::vector<StatisticKind>& kinds);  ///< "[count, sum]"
/// "{from: age, bins: [0, 18, 65]}"
[[nodiscard]] std::string value_text(const LabelRule& rule);
/// "[0, 18, 65]"
[[nodiscard]] std::string value_text(const std::vector<Rational>& numbers);
/// "{A: surgical, B: medical}"
[[nodiscard]] std::string value_text(const std::vector<std::pair<std::string, std::string>>& labels);
/// Of the source as a whole; "" for none.
[[nodiscard]] std::string source_text(const Dataset& dataset);
/// The largest unit that leaves a whole number: "72h" is "3d".
[[nodiscard]] std::string duration_text(std::int64_t seconds);
[[nodiscard]] std::vector<std::string> names(const std::vector<StatisticKind>& kinds);
[[nodiscard]] std::vector<std::string> names(const std::vector<Duty>& duties);
[[nodiscard]] std::string_view name(Limit::Subject subject);

}  // namespace epsilog::engine
