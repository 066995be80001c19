// Who may ask what: the rules of a policy that no amount of budget can overcome.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// Whether the policy lets that principal ask this dataset anything at all.
[[nodiscard]] bool may_ask(const Policy& policy, const Dataset& dataset, const std::string& who);

/// Returns what is planned and kept of the request: all of it, or, where who asks may not ask this dataset at
/// all, who asks what dataset and how they are known (`unread`).
/// Throws  InvalidParameter  if it says that it is unread: that is not for who asks to say.
[[nodiscard]] Request admitted_request(const Policy& policy, const Dataset& dataset, const Request& request);

/// Every rule that stands against the request. Whoever may not ask at all, or not for this purpose, learns
/// nothing else.
[[nodiscard]] std::vector<Reason> access_reasons(const Policy& policy, const Dataset& dataset,
                                                 const Request& request);

/// Whether the reason is a rule that no amount of budget overcomes, as access_reasons() finds them.
[[nodiscard]] bool is_rule_refusal(RefusalCode code);

/// Whether there is one among the reasons after which a refusal says nothing of limits and balances.
[[nodiscard]] bool hides_balances(const std::vector<Reason>& reasons);

}  // namespace epsilog::engine
