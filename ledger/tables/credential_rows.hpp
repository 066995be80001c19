// The rows of credential_event, read in one way.
#pragma once

#include "connection.hpp"
#include "epsilog/ledger/credential_event.hpp"

namespace epsilog::ledger {

#define EPSILOG_CREDENTIAL_COLUMNS \
  "SELECT seq, revoked, credential, type, principal, value, until, at, by, why FROM credential_event"

/// Requires  the query has those columns and stands on a row.
/// Throws    LedgerCorrupt.
[[nodiscard]] CredentialEvent credential_of_row(const Query& row);

}  // namespace epsilog::ledger
