// What the releases on record cost together, for people and as figures.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "figures.hpp"

namespace epsilog::command {

/// The least that an accountant proves; nothing where none does.
[[nodiscard]] std::optional<accounting::Rational> least_of(const engine::Reaccount& answer);
/// "clinic: 6 releases, 8 draws by 2 different laws, at delta 0.000001", and why there are no figures, if so.
[[nodiscard]] std::string reaccount_heading(const engine::Reaccount& answer);
/// What was charged, then each accountant: its name, its figure in the measure, how much less than charged,
/// and of which parameters it holds.
using ReaccountRow = std::array<std::string, 4>;
[[nodiscard]] std::vector<ReaccountRow> reaccount_rows(const engine::Reaccount& answer);
/// "epsilon" or "delta": in which the figures are.
[[nodiscard]] const char* reaccount_measure(const engine::Reaccount& answer);
[[nodiscard]] Figures reaccount_figures(const engine::Reaccount& answer);
[[nodiscard]] std::string reaccount_text(const engine::Reaccount& answer, const Style& style);

}  // namespace epsilog::command
