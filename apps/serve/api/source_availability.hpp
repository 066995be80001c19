// Which datasets cannot be asked now because their rows cannot be read.
//
// Thread-safety: functions of the engine and of the file system.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::serve {

/// A dataset whose source cannot be read now.
struct MissingSource {
  std::string dataset;
  std::string why;  ///< "its source is missing"; names no path
};

/// What was found of the sources of a policy.
struct SourceAvailability {
  std::vector<MissingSource> missing;
  bool any_readable = false;  ///< of some dataset, or it has no source
};

/// Looks at the sources of the active policy. None is opened: closing one would take SQLite's locks away.
/// Throws  what reading the ledger throws.
[[nodiscard]] SourceAvailability source_availability(const engine::Engine& engine);

}  // namespace epsilog::serve
