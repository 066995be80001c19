// From the tree of a YAML document to datasets. Every function adds the faults it finds and goes
// on with what is readable, so that one pass finds all that is independent.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "calendar.hpp"
#include "epsilog/engine/policy.hpp"
#include "policy_faults.hpp"
#include "policy_fields.hpp"
#include "yaml_tree.hpp"

namespace epsilog::engine {

struct DecodedPolicy {
  std::vector<Dataset> datasets;
  std::optional<std::vector<Principal>> principals;
  Mark principals_mark{};  ///< of the key; 1:1 without it
  std::optional<ReplicaFile> replica;
  std::optional<AutomaticCheckpoint> checkpoint;
};

/// The whole document.
[[nodiscard]] DecodedPolicy decode_policy(const yaml::Node& root, Faults& faults);

/// Declared names, quick to look up.
class DistinctNames final {
 public:
  void insert(const std::string& name) {
    if (known_.insert(name).second) list_.push_back(name);
  }
  [[nodiscard]] bool contains(const std::string& name) const { return known_.contains(name); }
  /// In the order of their first insertion.
  [[nodiscard]] const std::vector<std::string>& list() const noexcept { return list_; }

 private:
  std::unordered_set<std::string> known_;
  std::vector<std::string> list_;
};

/// Who the policy declares; what names a principal or a role elsewhere is held against it.
struct Askers {
  std::optional<std::vector<Principal>> principals;
  DistinctNames names;   ///< of the principals
  DistinctNames roles;   ///< that one of them has
  bool readable = true;  ///< otherwise nothing can be said to be undeclared
};

/// Where sections are that the model keeps no mark of.
struct SectionMarks {
  Mark unit;
  Mark rows;
  Mark renew;
  std::optional<Mark> accepts_unbounded_lifetime;  ///< absent: not written
};

// Principals and what names them (policy_principals.cpp). Each `expect_` reports and returns false, silently
// where the principals could not be read.
[[nodiscard]] Askers decode_principals(const yaml::Node& node, const Mark& owner, Faults& faults);
/// Requires  principals and datasets are decoded without a fault.
void check_principal_purposes(const yaml::Node& principals, const std::vector<Dataset>& datasets,
                              Faults& faults);
/// Whether it can be the name of whoever asks. `what` begins the message, "" or "forbid.principals: ".
[[nodiscard]] bool expect_principal_name(const std::string& name, const Mark& mark, const std::string& what,
                                         Faults& faults);
[[nodiscard]] bool expect_principal(const std::string& name, const Mark& mark, const std::string& what,
                                    const Askers& askers, Faults& faults);
[[nodiscard]] bool expect_role(const std::string& name, const Mark& mark, const std::string& what,
                               const Askers& askers, Faults& faults);
/// Whether anybody can have a role.
[[nodiscard]] bool expect_roles_possible(const Mark& mark, const std::string& what, const Askers& askers,
                                         Faults& faults);
/// Lists of declared principals and of roles that one of them has.
[[nodiscard]] std::vector<std::string> principals_of(const yaml::Node& node, const std::string& what,
                                                     const Askers& askers, Faults& faults);
[[nodiscard]] std::vector<std::string> roles_of(const yaml::Node& node, const std::string& what,
                                                const Askers& askers, Faults& faults);

// Amounts (policy_budget.cpp).
/// Whichever of the keys of an amount its measure needs; their table is that of `fields`.
[[nodiscard]] Budget decode_amount(const Fields& fields, Faults& faults);
/// One or more of the amounts of a single release.
[[nodiscard]] std::optional<LossCap> decode_cap(const Fields& fields, Faults& faults);
void decode_budget(const yaml::Node& node, const Mark& owner, Dataset& dataset, SectionMarks& marks,
                   Faults& faults);
[[nodiscard]] Budget decode_lifetime(const yaml::Node& node, const Mark& owner, Faults& faults);
[[nodiscard]] std::optional<CalendarPeriod> period_kind_of(const yaml::Node& node, const std::string& what,
                                                           Faults& faults);

// One section of a dataset each (policy_source.cpp, policy_columns.cpp, policy_release.cpp,
// policy_blocks.cpp, policy_limits.cpp, policy_access.cpp, policy_approvals.cpp).
void decode_source(const yaml::Node& node, const Mark& owner, Dataset& dataset, Faults& faults);
/// Whether a column can be declared under that name.
[[nodiscard]] bool is_column_name(std::string_view name);
[[nodiscard]] std::vector<Column> decode_columns(const yaml::Node& node, Faults& faults);
// What a cell of a column can be (policy_columns.cpp).
/// Reports and returns false unless the number can be written in a cell of the numeric column.
[[nodiscard]] bool expect_on_grid(const Rational& value, const yaml::Node& written, const Column& column,
                                  const std::string& what, Faults& faults);
/// The canonical text of a declared value; nothing, and a fault, if it is none of the type or out of bounds.
/// Requires  a column of string, int, bool or date.
[[nodiscard]] std::optional<std::string> decode_value(const yaml::Node& item, const Column& column,
                                                      const std::string& what, Faults& faults);

// Columns that are functions of others (policy_derived.cpp).
/// Whether a column is written as one.
[[nodiscard]] bool is_derived(const yaml::Node& node);
/// The column's `values` and `derived`. `broken` are columns in which faults were found.
/// Requires  is_derived(entry.value); of `columns` those that are not derived are decoded, and all others
///           have `derived`.
void decode_derived(const yaml::Entry& entry, const std::vector<Column>& columns, const DistinctNames& broken,
                    Column& column, Faults& faults);
[[nodiscard]] std::vector<NamedQuery> decode_queries(const yaml::Node& node, const Askers& askers,
                                                     Faults& faults);
/// Requires  dataset.columns are decoded.
[[nodiscard]] std::optional<Blocks> decode_blocks(const yaml::Node& node, const Mark& owner,
                                                  const Dataset& dataset, Faults& faults);
/// The days of a period named under `key`.
[[nodiscard]] std::optional<DayRange> decode_period(const Fields& fields, std::string_view key,
                                                    CalendarPeriod per, Faults& faults);
/// As many blocks, or labels by periods, as there may be.
inline constexpr std::size_t kPeriodsMax = 4096;
[[nodiscard]] bool too_many_periods(CalendarPeriod per, std::int64_t first_day, std::int64_t last_day);
[[nodiscard]] std::optional<std::vector<std::string>> decode_purposes(const yaml::Node& node, Faults& faults);
/// Requires  dataset.purposes are decoded.
[[nodiscard]] bool expect_purposes_declared(const Mark& mark, const std::string& what, const Dataset& dataset,
                                            Faults& faults);
[[nodiscard]] bool expect_purpose(const std::string& name, const Mark& mark, const std::string& what,
                                  const Dataset& dataset, Faults& faults);
/// Requires  dataset.columns and dataset.purposes are decoded.
void decode_allow(const yaml::Node& node, const Mark& owner, const Askers& askers, Dataset& dataset,
                  Faults& faults);
void decode_forbid(const yaml::Node& node, const Askers& askers, Dataset& dataset, Faults& faults);
void decode_limits(const yaml::Node& node, const Askers& askers, Dataset& dataset, Faults& faults);
[[nodiscard]] std::optional<Approvals> decode_approvals(const yaml::Node& node, const Mark& owner,
                                                        const Askers& askers, Faults& faults);
void decode_reservations(const yaml::Node& node, const Mark& owner, Dataset& dataset, Faults& faults);
/// `node` may be nullptr.
/// Ensures  dataset.release is complete.
void decode_release(const yaml::Node* node, Dataset& dataset, Faults& faults);

/// Rules between sections (policy_rules.cpp).
void check_rules(const Dataset& dataset, const SectionMarks& marks, Faults& faults);

}  // namespace epsilog::engine
