// Parts of the object that a policy implies (implied_object.hpp), one file a concern.
//
// Each appends one value. The caller sees to the order of names; the lists of names are sets, and stand in
// byte order. Thread-safety: pure functions of distinct writers.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::engine {

using ledger::JsonWriter;

// implied_losses.cpp

/// The accounts of a dataset, or of each of which there is one, with their limits.
void write_accounts(JsonWriter& json, const Dataset& dataset);
void write_blocks(JsonWriter& json, const Blocks& blocks);
/// Limits by measure, in byte order of the measure.
void write_cap(JsonWriter& json, const LossCap& cap);
/// The same of one release, which has the default delta where nothing counts it and none is declared.
void write_cap_of_one_release(JsonWriter& json, const LossCap& cap);

// implied_data.cpp

void write_source(JsonWriter& json, const Dataset& dataset);
void write_unit(JsonWriter& json, const Dataset& dataset);
void write_rows(JsonWriter& json, const Rows& rows);
void write_columns(JsonWriter& json, const std::vector<Column>& columns);
void write_queries(JsonWriter& json, const std::vector<NamedQuery>& queries);
/// Of every statistic, and of every query by its name, with nothing left to inherit.
void write_release(JsonWriter& json, const Dataset& dataset);

// implied_askers.cpp

void write_principals(JsonWriter& json, const std::vector<Principal>& principals);
void write_allow(JsonWriter& json, const Allow& allow);
void write_forbid(JsonWriter& json, const std::vector<Forbid>& rules);
void write_approvals(JsonWriter& json, const Approvals& approvals);

/// A set, in byte order.
void write_names(JsonWriter& json, std::vector<std::string> names);
/// The same under a name, if it is there.
void field_if(JsonWriter& json, std::string_view name, const std::optional<std::vector<std::string>>& names);

/// What a map of the policy has by free names, in byte order of these.
template <class Named>
[[nodiscard]] std::vector<const Named*> by_name(const std::vector<Named>& items) {
  std::vector<const Named*> sorted;
  for (const Named& item : items) sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return sorted;
}

}  // namespace epsilog::engine
