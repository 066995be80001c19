// Which decisions `history` and `audit report` list.
#pragma once

#include <optional>
#include <string>

#include "epsilog/engine/decision_filter.hpp"

namespace epsilog::command {

struct FilterArguments {
  std::optional<std::string> by_asker;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> column;
  std::optional<std::string> value;
};

/// Throws  UsageError: --column without --value or the other way round, or a time that is none.
[[nodiscard]] engine::DecisionFilter filter_from_arguments(const FilterArguments& arguments);

}  // namespace epsilog::command
