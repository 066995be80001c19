// From the tree of a YAML document to datasets. Every function adds the faults it finds and goes
// on with what is readable, so that one pass finds all that is independent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "policy_faults.hpp"
#include "policy_fields.hpp"
#include "yaml_tree.hpp"

namespace epsilog::engine {

/// The whole document.
[[nodiscard]] std::vector<Dataset> decode_policy(const yaml::Node& root, Faults& faults);

// One section of a dataset each (policy_source.cpp, policy_columns.cpp, policy_release.cpp).
void decode_source(const yaml::Node& node, const Mark& owner, Dataset& dataset, Faults& faults);
[[nodiscard]] std::vector<Column> decode_columns(const yaml::Node& node, Faults& faults);
[[nodiscard]] std::vector<NamedQuery> decode_queries(const yaml::Node& node, Faults& faults);
/// Requires  dataset.columns and dataset.queries are decoded.
void decode_allow(const yaml::Node& node, const Mark& owner, Dataset& dataset, Faults& faults);
/// `node` may be nullptr. Ensures  dataset.release is complete.
void decode_release(const yaml::Node* node, Dataset& dataset, Faults& faults);

/// Where sections are that the model keeps no mark of.
struct SectionMarks {
  Mark unit;
  Mark rows;
};

/// Rules between sections (policy_rules.cpp).
void check_rules(const Dataset& dataset, const SectionMarks& marks, Faults& faults);

}  // namespace epsilog::engine
