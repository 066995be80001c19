// The one place that writes values into a sealed release.
#pragma once

#include <utility>
#include <vector>

#include "epsilog/accounting/sealed_release.hpp"

namespace epsilog::mechanisms {

class ReleaseSealer final {
 public:
  [[nodiscard]] static accounting::SealedRelease seal(std::int64_t decision,
                                                      const accounting::ApproximateLoss& charged,
                                                      std::vector<accounting::Rational> values) {
    return accounting::SealedRelease(decision, charged, std::move(values));
  }
};

}  // namespace epsilog::mechanisms
