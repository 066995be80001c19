// The calculators' part of the table of verbs.
#pragma once

#include <vector>

#include "verbs.hpp"

namespace epsilog::command {

[[nodiscard]] std::vector<VerbSpec> calculator_verbs();

// One function for each form, called with at least the options that the form requires.
// Throw  UsageError, InvalidParameter.
[[nodiscard]] Calculation snapping_accuracy(const Arguments& arguments);
[[nodiscard]] Calculation snapping_alpha(const Arguments& arguments);
[[nodiscard]] Calculation snapping_epsilon(const Arguments& arguments);
[[nodiscard]] Calculation snapping_loss(const Arguments& arguments);

[[nodiscard]] Calculation discrete_gaussian_accuracy(const Arguments& arguments);
[[nodiscard]] Calculation discrete_gaussian_scale(const Arguments& arguments);
[[nodiscard]] Calculation discrete_gaussian_alpha(const Arguments& arguments);
[[nodiscard]] Calculation discrete_laplace_accuracy(const Arguments& arguments);
[[nodiscard]] Calculation discrete_laplace_scale(const Arguments& arguments);
[[nodiscard]] Calculation discrete_laplace_alpha(const Arguments& arguments);

[[nodiscard]] Calculation gaussian_sigma(const Arguments& arguments);
[[nodiscard]] Calculation gaussian_delta(const Arguments& arguments);

[[nodiscard]] Calculation laplace_tolerance(const Arguments& arguments);
[[nodiscard]] Calculation gaussian_tolerance(const Arguments& arguments);
[[nodiscard]] Calculation mean_tolerance(const Arguments& arguments);

[[nodiscard]] Calculation composed_epsilon(const Arguments& arguments);
[[nodiscard]] Calculation composed_delta(const Arguments& arguments);

}  // namespace epsilog::command
