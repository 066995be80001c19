// The calculators' part of the table of verbs.
#pragma once

#include <vector>

#include "verbs.hpp"

namespace epsilog::command {

[[nodiscard]] std::vector<VerbSpec> calculator_verbs();

// One function for each form. They are called only with the options their form requires.
[[nodiscard]] Calculation snapping_accuracy(const Arguments& arguments);

}  // namespace epsilog::command
