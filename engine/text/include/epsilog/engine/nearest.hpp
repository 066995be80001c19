// Which of the names that there are was meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epsilog::engine {

/// The candidate nearest to `wanted`, for "did you mean"; "" when none is near.
[[nodiscard]] std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates);

}  // namespace epsilog::engine
