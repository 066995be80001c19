// Decisions looked for by what names them, inside a transaction and from a snapshot. An index says where one
// is; what it is, its row.
//
// All throw  StorageFailure, and LedgerCorrupt naming the record that does not make sense, or that an index
// has otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// What a key that no index has is free by: each of two indices says so, in orders of their own.
[[nodiscard]] std::optional<StoredDecision> find_decision_by_key(Connection& connection,
                                                                 const std::string& principal,
                                                                 const std::string& key);
[[nodiscard]] std::optional<StoredDecision> find_decision_by_id(Connection& connection,
                                                                const std::string& id);
/// By the text of the data token that it issued.
[[nodiscard]] std::optional<StoredDecision> find_decision_by_token(Connection& connection,
                                                                   const std::string& token);
/// The decisions about one, by seq.
[[nodiscard]] std::vector<StoredDecision> read_children(Connection& connection, const std::string& id);

}  // namespace epsilog::ledger
