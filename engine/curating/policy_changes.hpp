// Collecting differences between two policies, and the comparisons that occur in many places.
//
// Texts in these functions are what a policy would say; "" stands for a part that is not there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_change.hpp"
#include "policy_values.hpp"

namespace epsilog::engine {

/// What a change means in one direction, and in the other.
struct Meaning {
  Direction direction;
  std::string_view why;
};
/// What lies in a block that comes or goes debits it, which is more to lose; what covers all blocks debits
/// one account more or less, which may be the one that refuses it.
inline constexpr Meaning kMoreBlocks{
    Direction::incomparable, "one more block has a budget, and requests that cover it debit that as well"};
inline constexpr Meaning kFewerBlocks{
    Direction::incomparable,
    "rows lie in no block any more, and requests that covered theirs do not debit it any more"};

[[nodiscard]] constexpr Direction opposite(Direction direction) {
  if (direction == Direction::looser) return Direction::tighter;
  return direction == Direction::tighter ? Direction::looser : direction;
}

/// Of several changes taken together.
[[nodiscard]] Direction together(const std::vector<PolicyChange>& changes);

/// One place of the policy, into which differences there are reported.
class DiffPath final {
 public:
  DiffPath(std::vector<PolicyChange>& changes, std::vector<std::string> path)
      : changes_(changes), path_(std::move(path)) {}

  /// So many keys lead here.
  [[nodiscard]] std::size_t depth() const { return path_.size(); }
  [[nodiscard]] DiffPath at(std::string_view key) const;
  /// The entry of a list, counting from 0.
  [[nodiscard]] DiffPath at(std::size_t index) const;

  void report(Direction direction, std::string before, std::string after, std::string_view why) const;
  /// Reports when the two texts differ.
  void compare(const std::string& before, const std::string& after, Meaning change) const;
  /// The same, of a part that may be missing on either side.
  void compare(const std::string& before, const std::string& after, Meaning added, Meaning removed,
               Meaning changed) const;

  /// What may be chosen from a list: each element that came or went by itself, then a changed order.
  void compare_lists(const std::vector<std::string>& before, const std::vector<std::string>& after,
                     Meaning added, Meaning removed) const;
  /// The same texts in another order. What differs otherwise is for others to report.
  void compare_order(const std::vector<std::string>& before, const std::vector<std::string>& after) const;
  /// A list that restricts, where an absent one allows everything.
  void compare_allowed(const std::optional<std::vector<std::string>>& before,
                       const std::optional<std::vector<std::string>>& after, std::string_view what) const;

  /// A limit: what is larger allows more. Reports under `key`.
  template <class Quantity>
  void compare_amount(std::string_view key, const Quantity& before, const Quantity& after,
                      std::string_view larger, std::string_view smaller) const {
    if (before == after) return;
    const bool more = before < after;
    at(key).report(more ? Direction::looser : Direction::tighter, before == Quantity{} ? "" : before.text(),
                   after == Quantity{} ? "" : after.text(), more ? larger : smaller);
  }

 private:
  std::vector<PolicyChange>& changes_;
  std::vector<std::string> path_;
};

/// The element of that name; nullptr when there is none.
template <class Named>
[[nodiscard]] const Named* find_by_name(const std::vector<Named>& list, std::string_view wanted) {
  for (const Named& candidate : list) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}
template <class Named>
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> names;
  for (const Named& one : list) names.push_back(one.name);
  return names;
}
[[nodiscard]] bool contains(const std::vector<std::string>& list, std::string_view wanted);

/// Whether amounts of the two are compared number by number: a pure budget is an approximate one whose
/// delta is 0. Between the others a conversion would have to choose a delta.
[[nodiscard]] bool comparable(Measure one, Measure other);
[[nodiscard]] Direction direction_between(const Budget& before, const Budget& after);

/// Whether blocks are derived from numbers that may have digits after the point: the source's `decimal`
/// decides then which cells are missing.
[[nodiscard]] bool reads_fractions_for_blocks(const Dataset& dataset);

// One part of a dataset each (policy_diff_budget.cpp, policy_diff_limits.cpp, policy_diff_access.cpp,
// policy_diff_labels.cpp), and what its keys decide together.
void compare_budgets(const DiffPath& place, const Budget& before, const Budget& after);

/// Why it is looser that an amount is larger, or there no more; tighter that it is smaller, or there.
struct CapMeaning {
  std::string_view larger;
  std::string_view smaller;
  std::string_view removed;
  std::string_view added;
};
void compare_caps(const DiffPath& place, const LossCap& before, const LossCap& after, const CapMeaning& why);
void compare_losses(const DiffPath& dataset, const Dataset& before, const Dataset& after);
void compare_limits(const DiffPath& place, const std::vector<Limit>& before, const std::vector<Limit>& after);
/// Of one column that is derived on one side at least. `blocks`: its labels are blocks.
void compare_label_rules(const DiffPath& place, const std::optional<LabelRule>& was,
                         const std::optional<LabelRule>& is, bool blocks);
void compare_access(const DiffPath& dataset, const Dataset& before, const Dataset& after);

/// One dataset of two policies. Without policies anybody may ask what the dataset allows.
struct PolicyDatasets {
  const Policy* policy_before;
  const Dataset& before;
  const Policy* policy_after;
  const Dataset& after;
};
/// Reports which questions can be asked, and which forms of loss be stated, on one side only, as far as no
/// line of `keys` says so (policy_diff_askable.cpp).
/// Requires  `keys` are the changes below that place.
void compare_askable(const DiffPath& dataset, const PolicyDatasets& sides,
                     std::span<const PolicyChange> keys);
/// Whether some quantile can be asked on both sides.
[[nodiscard]] bool quantiles_are_asked(const PolicyDatasets& sides);

}  // namespace epsilog::engine
