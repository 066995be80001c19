// What another policy would change, and in which direction for the people in the data.
//
// Each difference is judged by itself, everything else left as it is:
//   looser         more can be lost, or more can be asked, or by more people, or with less consent
//   tighter        the reverse
//   neutral        names, files, and how precisely the same questions are answered
//   incomparable   both policies mean something else by the same word (another unit, other neighbours,
//                  another measure), or it is looser for some and tighter for others
// The rules, field by field, are in docs/policy_lifecycle.md. The compiler holds the comparison to the
// model: a field added to it does not compile until somebody says what changing it means.
// Thread-safety: pure functions of immutable values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

enum class Direction { looser, tighter, neutral, incomparable };
[[nodiscard]] std::string_view name(Direction direction);

struct PolicyChange {
  Direction direction = Direction::neutral;
  /// Keys from the root of the later policy on; "[2]" is the third of a list.
  std::vector<std::string> path;
  std::string before;  ///< as a policy would write it; "" when it was not there
  std::string after;   ///< "" when it is there no more
  std::string why;     ///< what the direction follows from
  /// Once the dataset was charged, `policy apply` refuses this: it would alter what the recorded losses mean.
  bool refused_once_charged = false;
  Mark mark{};  ///< in the later policy, of the innermost part of `path` written there

  /// "datasets.clinic.limits[2].epsilon"
  [[nodiscard]] std::string place() const;
};

/// Every difference between what two policies mean, in the order of the keys of the later one: datasets as
/// they stand in `before`, then new ones. Empty when they mean the same, however they are written.
[[nodiscard]] std::vector<PolicyChange> diff(const Policy& before, const Policy& after);

/// The same of two files, whose sources are found from the folder of each: a path that is written otherwise
/// and leads to the same place is not refused once charged. Throws  PolicyError.
[[nodiscard]] std::vector<PolicyChange> diff_of_files(const std::string& before_path,
                                                      const std::string& after_path);

/// The same for two datasets; every mark is that of the later dataset. Names are not compared.
[[nodiscard]] std::vector<PolicyChange> diff(const Dataset& before, const Dataset& after);

/// Who may ask. What a role is good for depends on the datasets, of either policy, that speak of it.
[[nodiscard]] std::vector<PolicyChange> diff(const std::optional<std::vector<Principal>>& before,
                                             const std::optional<std::vector<Principal>>& after,
                                             const std::vector<const Dataset*>& datasets);

}  // namespace epsilog::engine
