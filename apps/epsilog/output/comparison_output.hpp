// One question under every mechanism, for people and as JSON (docs/command.md).
#pragma once

#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/comparison.hpp"

namespace epsilog::command {

/// Requires  `alphas` are those it was compared at, one at least.
[[nodiscard]] std::string comparison_text(const engine::Request& request,
                                          const engine::MechanismComparison& comparison,
                                          const std::vector<accounting::Rational>& alphas,
                                          const Style& style);
[[nodiscard]] std::string comparison_json(const engine::Request& request,
                                          const engine::MechanismComparison& comparison,
                                          const std::vector<accounting::Rational>& alphas);

/// The mechanism that is marked, a tab and its arithmetic; nothing where none is.
[[nodiscard]] std::string bare_mechanism(const engine::MechanismComparison& comparison);

}  // namespace epsilog::command
