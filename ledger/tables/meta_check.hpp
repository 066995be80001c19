// What a writer holds meta against before it writes: a bit of it that flipped must not renew a budget.
#pragma once

#include <cstdint>
#include <string>

#include "queries.hpp"

namespace epsilog::ledger {

/// Requires  a transaction; `last_version` is the last policy version that is there.
/// Throws    LedgerCorrupt unless meta counts as many policy versions, ledger time is that of what was
///           recorded last, and the calendar is held where the clock events say.
void require_consistent_meta(Connection& connection, const Meta& meta, std::int64_t last_version);

/// What the rows say of two columns of meta.
struct RecordedTimes {
  std::string time;     ///< of what was recorded last
  std::string held_at;  ///< since when the calendar is held; "" if it is not
};
/// The same of these two, for whoever knows what the rows say.
void require_consistent_meta(const Meta& meta, const RecordedTimes& recorded);

}  // namespace epsilog::ledger
