// policy + request -> plan: which mechanisms would run, what they cost, what is recorded.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

namespace epsilog::engine {

/// Everything about a release that is known before a bit is drawn. A function of the policy and the
/// request alone, which is what lets an auditor recompute it.
struct Plan {
  Derivation derivation;
  std::vector<mechanisms::SnappingMechanism> mechanisms;  ///< one a component
  Epsilon charged;                                        ///< sum over the mechanisms
  ledger::ReleaseRecord record;
};

/// Ensures   the mechanisms' charges add to `charged` exactly; charged is the largest grid value not
///           above request.epsilon.
/// Throws    NotFound, Underivable, InvalidParameter.
[[nodiscard]] Plan make_plan(const Dataset& dataset, const Request& request);

/// [component][alpha]
[[nodiscard]] std::vector<std::vector<Accuracy>> accuracies(const Plan& plan,
                                                            std::span<const Rational> alphas);

}  // namespace epsilog::engine
