// What another policy would change, and in which direction for the people in the data.
//
// The rules, field by field, are in docs/policy_lifecycle.md. The compiler holds the comparison to the
// model: a field added to it does not compile until somebody says what changing it means.
// Thread-safety: pure functions of immutable values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_change.hpp"

namespace epsilog::engine {

/// Every difference between what two policies mean, in the order of the keys of the later one: datasets as
/// they stand in `before`, then new ones. Empty when they mean the same, however they are written.
[[nodiscard]] std::vector<PolicyChange> diff(const Policy& before, const Policy& after);

/// The same of two files, whose sources are found from the folder of each: a path that is written otherwise
/// and leads to the same place is not refused once charged.
/// Throws  PolicyError.
[[nodiscard]] std::vector<PolicyChange> diff_of_files(const std::string& before_path,
                                                      const std::string& after_path);

/// The same for two datasets; every mark is that of the later dataset. Names are not compared, and of what keys
/// decide together only which questions can be asked, by whomever.
[[nodiscard]] std::vector<PolicyChange> diff(const Dataset& before, const Dataset& after);

/// Who may ask. What a role is good for depends on the datasets, of either policy, that speak of it.
[[nodiscard]] std::vector<PolicyChange> diff(const std::optional<std::vector<Principal>>& before,
                                             const std::optional<std::vector<Principal>>& after,
                                             const std::vector<const Dataset*>& datasets);

}  // namespace epsilog::engine
