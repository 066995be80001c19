// What is odd in the data, for their curator.
#pragma once

#include <string>

#include "console.hpp"
#include "data_json.hpp"

namespace epsilog::command {

/// Counts of rows and cells, and what makes answers other than expected.
[[nodiscard]] std::string data_check_text(const DatasetReport& report, const engine::Dataset& dataset,
                                          const Style& style);

}  // namespace epsilog::command
