// The calculators, in the order in which the help shows them.
#pragma once

#include <vector>

#include "verb_spec.hpp"

namespace epsilog::command {

[[nodiscard]] std::vector<VerbSpec> calculator_verbs();

[[nodiscard]] VerbSpec accuracy_snapping_verb();
[[nodiscard]] VerbSpec accuracy_discrete_gaussian_verb();
[[nodiscard]] VerbSpec accuracy_discrete_laplace_verb();
[[nodiscard]] VerbSpec calibrate_snapping_verb();
[[nodiscard]] VerbSpec calibrate_gaussian_verb();
[[nodiscard]] VerbSpec tolerance_laplace_verb();
[[nodiscard]] VerbSpec tolerance_gaussian_verb();
[[nodiscard]] VerbSpec tolerance_mean_verb();
[[nodiscard]] VerbSpec compose_verb();

}  // namespace epsilog::command
