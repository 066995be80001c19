// What an asker was charged and has reserved, as a ledger that is read or written says it.
#pragma once

#include "epsilog/accounting/rational.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "epsilog/ledger/transaction.hpp"

namespace epsilog::engine {

/// In grid units. What is overdue counts as ended, because it would be before anything is written.
/// Throws  as Snapshot::charges().
[[nodiscard]] accounting::Integer charged_before(ledger::Snapshot& view, const ledger::ChargeWindow& window);
/// Requires  what is overdue has ended.
[[nodiscard]] accounting::Integer charged_before(ledger::Transaction& transaction,
                                                 const ledger::ChargeWindow& window);

}  // namespace epsilog::engine
