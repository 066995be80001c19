// What `accuracy snapping` reports.
#pragma once

#include <vector>

#include "epsilog/engine/engine.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

namespace epsilog::command {

struct SnappingReport {
  accounting::Rational requested;  ///< epsilon as asked
  mechanisms::SnappingMechanism::Parameters parameters;
  std::vector<engine::Accuracy> accuracy;  ///< at least one
};

}  // namespace epsilog::command
