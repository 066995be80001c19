// What a writer holds meta against before it writes: a bit of it that flipped must not renew a budget.
#pragma once

#include <cstdint>

#include "queries.hpp"

namespace epsilog::ledger {

/// Requires  a transaction; `last_version` is the last policy version that is there.
/// Throws    LedgerCorrupt unless meta counts as many policy versions, ledger time is that of what was
///           recorded last, and the calendar is held where the clock events say.
void require_agreeing_meta(Connection& connection, const Meta& meta, std::int64_t last_version);

}  // namespace epsilog::ledger
