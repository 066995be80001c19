// The mechanisms of `epsilog compose`, as words: "laplace scale=1 sensitivity=1 count=100".
#pragma once

#include <string>
#include <vector>

#include "epsilog/accounting/composed_law.hpp"
#include "figures.hpp"

namespace epsilog::command {

struct ComposedMechanism {
  accounting::ComposedLaw law;
  Figures figures;  ///< what was given, in canonical form, `mechanism` first
};

/// One or more mechanisms, separated by semicolons.
/// Throws  UsageError naming --mechanism, the word at fault and what may stand there.
[[nodiscard]] std::vector<ComposedMechanism> parse_mechanisms(const std::string& text);

}  // namespace epsilog::command
