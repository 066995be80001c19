// What is said of a replica that something was cut off from.
#pragma once

#include <cstdint>
#include <string>

namespace epsilog::command {

/// A line; "" if nothing was. `acknowledged`: of those lines somebody knows.
[[nodiscard]] std::string cut_off_text(std::int64_t from, std::int64_t lines, std::int64_t bytes,
                                       bool acknowledged);

}  // namespace epsilog::command
