// Which program records, and under which rules it decides.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace epsilog::ledger {

/// The rules a decision is made, judged, shown and replayed under. Every change of what is decided, or of how
/// that is recorded, takes the next number; the number never falls along the history.
enum class Rules : std::int64_t {
  first = 1,      ///< what schemas 1 and 2 were written under
  joints = 2,     ///< what waits is decided under the active policy; ends with its period (docs/rules.md)
  first_use = 3,  ///< whole answers on a grid below 1 are released as whole numbers
};
/// What is decided now is decided under these.
inline constexpr Rules kRules = Rules::first_use;

struct Program {
  std::string version;  ///< "0.1.0"; "" in rows from before it was recorded
  std::string commit;   ///< abbreviated, "+" behind it when there were changes beside it; "unknown"; ""

  friend bool operator==(const Program&, const Program&) = default;
};
/// The one that runs.
extern const Program kThisProgram;

}  // namespace epsilog::ledger
