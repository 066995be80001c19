// Which program records, and under which rules it decides.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace epsilog::ledger {

/// The rules by which a decision is made, judged, shown and replayed (docs/rules.md). A change of what is
/// decided, or of how that is recorded, takes the next number.
enum class Rules : std::int64_t { v1 = 1 };
/// What is decided now is decided under these. A reader refuses any other.
inline constexpr Rules kRules = Rules::v1;

struct Build {
  std::string version;  ///< "0.1.0"
  std::string revision;  ///< abbreviated, "+" behind it when there were changes beside it; "unknown"

  friend bool operator==(const Build&, const Build&) = default;
};
/// The one that runs.
extern const Build kThisBuild;

}  // namespace epsilog::ledger
