// What a release costs beside its epsilon.
#pragma once

#include <string>

namespace epsilog::engine {

/// The delta of a release whose mechanism has one. Canonical texts.
struct DeltaCost {
  std::string requested;
  std::string charged;   ///< on the grid
  std::string adjusted;  ///< accounting::sum_up over the components
};

/// The zCDP loss that was asked in place of epsilon and delta. Canonical texts.
struct RhoCost {
  std::string requested;
  std::string charged;  ///< on the grid
};

}  // namespace epsilog::engine
