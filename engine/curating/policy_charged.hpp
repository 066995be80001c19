// What a dataset that is charged, or whose budget is held back, may still change.
//
// A recorded loss is about neighbouring data: about what a row is, whose it is, in which block it lies, and
// in which measure losses add. One table says of every key of a dataset whether writing it otherwise alters
// any of that. `policy diff` marks the changes that do, and `policy apply` refuses them. It is asked of a new
// policy only: versions that are stored already stay what they are. Thread-safety: pure functions of
// immutable values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_change.hpp"

namespace epsilog::engine {

struct ChargedRule {
  /// Of the key below its dataset, "columns.*.type"; `*` is any name or place in a list.
  std::string_view path;
  /// Whether this change of it is refused once `before` was charged.
  bool (*refuses)(const PolicyChange& change, const Dataset& before);
  std::string_view why;  ///< what would be altered; where nothing is, why not
};

/// One for every key that a dataset may have.
[[nodiscard]] std::span<const ChargedRule> charged_rules();

/// That of the key where the change is reported, or of the nearest one around it; nullptr for a change of the
/// dataset as a whole.
/// Requires  change.path begins with "datasets" and a name.
[[nodiscard]] const ChargedRule* charged_rule_of(const PolicyChange& change);

/// Sets `refused_once_charged` of the changes of one dataset.
void mark_refused_once_charged(std::span<PolicyChange> changes, const Dataset& before);

/// Whether it is of the file, database or table that a source names.
[[nodiscard]] bool names_source(const PolicyChange& change);

/// What apply has to say about the changes of a dataset that is charged. Whether paths name the same file is
/// for the caller to find: `same_source` says so of them, and of an SQLite table.
[[nodiscard]] std::vector<PolicyFault> charged_faults(const std::vector<PolicyChange>& changes,
                                                      const Dataset& before, bool same_source,
                                                      const std::string& file);

}  // namespace epsilog::engine
