// Figures, and failures, as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "failure.hpp"
#include "figures.hpp"

namespace epsilog::command {

/// In the order of the figures; what does not apply is null.
[[nodiscard]] nlohmann::ordered_json object_json(const Figures& figures);
/// An indented object.
[[nodiscard]] std::string figures_json(const Figures& figures);
/// One line with `line` in front, for the rows of --batch.
[[nodiscard]] std::string row_json(std::size_t line, const Figures& figures);

[[nodiscard]] std::string error_json(const Failure& failure);
/// One line, for the rows of --batch.
[[nodiscard]] std::string row_error_json(std::size_t line, const Failure& failure);

}  // namespace epsilog::command
