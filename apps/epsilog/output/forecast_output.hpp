// Forecasts and planned tables of requests, for people and as JSON (docs/command.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/forecast.hpp"

namespace epsilog::command {

/// What was sought: so many releases, an accuracy, or with neither what an epsilon is good for.
struct ForecastGoal {
  std::optional<std::int64_t> count;
  std::optional<engine::Accuracy> accuracy;
};

/// `forecast` is nothing where no epsilon does.
[[nodiscard]] std::string forecast_text(const engine::Request& request, const ForecastGoal& goal,
                                        const std::optional<engine::Forecast>& forecast, const Style& style);
[[nodiscard]] std::string forecast_json(const std::string& ledger_id, const engine::Request& request,
                                        const ForecastGoal& goal,
                                        const std::optional<engine::Forecast>& forecast);

/// A plan with what it forecasts of exactly this request and, for --count, of the best that fits so often.
struct ForecastPlan {
  engine::Answer plan;
  engine::Forecast same;
  std::int64_t count = 0;
  std::optional<engine::Forecast> best;
};
[[nodiscard]] std::string forecast_plan_text(const engine::Request& request, const ForecastPlan& plan,
                                             const Style& style);
[[nodiscard]] std::string forecast_plan_json(const ForecastPlan& plan);

/// One line for a planned row of a table.
[[nodiscard]] std::string planned_row_json(std::size_t line, const engine::Answer& answer);

struct BatchSummary {
  std::size_t rows = 0;
  std::size_t granted = 0;
  std::size_t refused = 0;
  std::size_t bad = 0;
};
/// One line, the last.
[[nodiscard]] std::string batch_summary_json(const std::string& ledger_id, const BatchSummary& summary,
                                             const std::vector<ledger::AccountState>& accounts);

}  // namespace epsilog::command
