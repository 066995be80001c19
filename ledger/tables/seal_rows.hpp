// The seal that ends a ledger, as a row.
//
// After the line `sealed` only `unsealed` is right, and it is written where the ledger goes on. So whoever
// would write anything else looks for a seal first.
#pragma once

#include <optional>
#include <string>

#include "connection.hpp"
#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/seal.hpp"
#include "queries.hpp"
#include "record_log.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// Returns the seal that is the ledger's last line; none if it is not sealed.
/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] std::optional<Seal> read_seal(Connection& connection);

/// Throws  LedgerSealed: `what` is sealed, by whom, when and why; `then` says what to do.
[[noreturn]] void refuse_sealed(const std::string& what, const Seal& seal, const std::string& then);

/// Writes row and line of the end of a seal, at the ledger time of that reading. `meta` and `log` are as they
/// are before, and afterwards as they will be.
/// Requires  a transaction, read_seal().
/// Throws    StorageFailure, LedgerCorrupt, EntropyUnavailable.
void append_unsealed(Connection& db, Meta& meta, RecordLog& log, const std::string& by,
                     const std::string& why, const ClockReading& reading);

}  // namespace epsilog::ledger
