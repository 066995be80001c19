// What a plan costs in the measures of the accounts that its request touches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "component_mechanism.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy.hpp"
#include "measure_limits.hpp"

namespace epsilog::engine {

/// What a release costs in any measure that an account may count in. A measure that nobody asks for plays no
/// part: it may be that of somebody else's limit.
/// Thread-safety: may be used from several threads; copies share what they found.
class LossAmounts final {
 public:
  /// Of no release: nothing can be asked.
  LossAmounts() = default;
  LossAmounts(const std::vector<ComponentMechanism>& mechanisms, const accounting::ApproximateLoss& charged);

  /// Grid units, rounded up; it may be more than an account can hold.
  /// Requires  a measure of measure_limits().
  [[nodiscard]] accounting::Integer at(const AccountMeasure& measure) const;

 private:
  struct Facts;
  std::shared_ptr<Facts> facts_;
};

/// Whether the budget has a part for everything such a release loses.
[[nodiscard]] bool expresses(const Budget& budget, const accounting::ApproximateLoss& charged);

}  // namespace epsilog::engine
