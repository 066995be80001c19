// What becomes of a request that waits when a later policy version is active: it is decided under that one
// (docs/reservations.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/policy.hpp"
#include "plan_cache.hpp"
#include "scopes.hpp"

namespace epsilog::engine {

/// How one policy version answers and charges a request.
struct Terms {
  const AppliedPolicy* applied = nullptr;
  const Dataset* dataset = nullptr;  ///< nullptr: that version declares no dataset of that name
  std::shared_ptr<const Plan> plan;  ///< nullptr: the request cannot be planned under it
  std::vector<PlannedCharge> planned_charges;  ///< at one instant of the calendar; empty without a plan
  /// By name, the columns that are asked about, each once; and its rule of one that is derived, nullptr of
  /// any other.
  std::map<std::string, const LabelRule*> columns = {};
};

/// Requires  `applied` outlives the result.
[[nodiscard]] Terms terms_under(const AppliedPolicy& applied, const Request& request, PlanCache& plans,
                                const std::string& calendar_time);

/// What the one plans otherwise than the other, in words and in a fixed order; empty: nothing that matters to
/// who asked, who approved, or the accounts. Limits and balances are no part of it, nor is which period is
/// the current one.
/// Requires  `asked` has a plan.
[[nodiscard]] std::vector<std::string> plan_differences(const Terms& asked, const Terms& now);

/// The one reason of a request that ends because of that; nothing when nothing is planned otherwise.
[[nodiscard]] std::optional<Reason> policy_changed_reason(const Terms& asked, const Terms& now);

/// Whether the active policy's principals, purposes, `allow` and `forbid` let the request be committed.
[[nodiscard]] bool still_allowed(const Policy& active, const Request& request);

/// The dataset of that name; nullptr when there is none.
[[nodiscard]] const Dataset* find_dataset(const Policy& policy, const std::string& name);

}  // namespace epsilog::engine
