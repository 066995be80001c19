// The line that says what was done after something broke.
#pragma once

#include <cstdint>
#include <optional>

#include "connection.hpp"
#include "epsilog/ledger/clock.hpp"
#include "queries.hpp"
#include "record_log.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// Row and line of the recovery that comes next, at the ledger time of that reading: its number and time are
/// those. `meta` and `log` are as they are before, and afterwards as they will be.
/// Requires  a transaction.
/// Throws    StorageFailure, LedgerCorrupt, EntropyUnavailable.
void append_recovery(Connection& db, Meta& meta, RecordLog& log, RecoveryEvent event,
                     const ClockReading& reading);

/// The lines that a recovery puts behind those that it found.
struct ClosingLines {
  std::optional<SealEvent> unsealed = {};      ///< where those end with a seal and the ledger goes on
  std::optional<RecoveryEvent> recovery = {};  ///< after it
};
/// Both of them. Their numbers and times are those that come next.
void append_closing(Connection& db, Meta& meta, RecordLog& log, const ClosingLines& closing,
                    const ClockReading& reading);

/// The same in a ledger that is there, meta included, which goes on to say of a replica at most that it holds
/// `replicated` lines.
void record_closing(Connection& db, const ClosingLines& closing, const ClockReading& reading,
                    std::int64_t replicated);

/// The last line, if it is a recovery.
[[nodiscard]] std::optional<RecoveryEvent> last_recovery(Connection& db, const Meta& meta);

}  // namespace epsilog::ledger
