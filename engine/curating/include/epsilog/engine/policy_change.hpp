// One difference between two policies.
//
// Each difference is judged by itself, everything else left as it is:
//   looser         more can be lost, or more can be asked, or by more people, or with less consent
//   tighter        the reverse
//   neutral        names, files, and how precisely the same questions are answered
//   incomparable   both policies mean something else by the same word (another unit, other neighbours,
//                  another measure), or it is looser for some and tighter for others
// Thread-safety: immutable values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/mark.hpp"

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
  [[nodiscard]] std::string path_text() const;
};

}  // namespace epsilog::engine
