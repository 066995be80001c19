// What the releases on record cost together, for people and as figures.
#pragma once

#include <optional>
#include <string>

#include "console.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "figures.hpp"

namespace epsilog::command {

/// The least that an accountant proves; nothing where none does.
[[nodiscard]] std::optional<accounting::Rational> least_of(const engine::Reaccount& answer);
[[nodiscard]] Figures reaccount_figures(const engine::Reaccount& answer);
[[nodiscard]] std::string reaccount_text(const engine::Reaccount& answer, const Style& style);

}  // namespace epsilog::command
