// What a curator is told of a source before anything is released from it.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/exact_answer.hpp"

namespace epsilog::engine {

struct SourceCheck {
  DataReport counts;
  /// Why no answer from this source can be right, a sentence each, with the cause where one is seen, and what
  /// to do. They quote nothing of the source. Empty: nothing stands in the way.
  std::vector<std::string> problems;
};

/// Whether a source without a row is a problem.
enum class EmptySource { refused, allowed };

/// Counts as check_data(), and looks for the cause where there is no row or most rows are malformed.
///
/// Requires  as check_data().
/// Throws    as check_data(); of a CSV file that has not the names declared, with the cause where one is
/// seen.
[[nodiscard]] SourceCheck check_source(const Dataset& dataset, const std::string& base_dir, EmptySource empty,
                                       const Progress& progress = {});

}  // namespace epsilog::engine
