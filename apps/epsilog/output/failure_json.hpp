// A failure as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "failure.hpp"

namespace epsilog::command {

[[nodiscard]] std::string error_json(const Failure& failure);
/// One line, for the rows of --batch.
[[nodiscard]] std::string row_error_json(std::size_t line, const Failure& failure);

}  // namespace epsilog::command
