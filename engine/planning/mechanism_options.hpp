// Every way in which a question could be released, of which its policy names one.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// A dataset as its policy would have to be for the statistic to be released so.
struct MechanismOption {
  std::string mechanism;   ///< as a policy and a record spell it
  std::string arithmetic;  ///< "mpfr" or "exact"
  bool loses_delta = false;
  bool declared = false;  ///< it is that of the policy, and `dataset` is as it was
  Dataset dataset;
};

/// Of noise: snapping in either arithmetic, then the discrete mechanisms; of quantiles the two selections.
/// What the policy says of the statistic stays wherever the mechanism has such a key, as if the entry under
/// `release` inherited it: `bound`, `binding_probability` and, in its arithmetic, `precision` of snapping;
/// `grid` of the others.
/// Requires  a question that derive() takes.
/// Ensures   exactly one is declared.
[[nodiscard]] std::vector<MechanismOption> mechanism_options(const Dataset& dataset,
                                                             const Question& question);

}  // namespace epsilog::engine
