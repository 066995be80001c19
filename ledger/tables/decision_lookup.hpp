// Decisions looked for by what names them, inside a transaction and from a snapshot. An index says where one
// is; what it is, its row.
//
// A lookup that finds nothing is sure of it: a damaged index must not make a decision "not found". An id is
// then looked for in the rows themselves, whose ids ascend with seq; a key, a token and what is about a
// decision, in a second index.
//
// All throw  StorageFailure, and LedgerCorrupt naming the record that does not make sense, or that an index
// has otherwise.
#pragma once

#include <cstdint>
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

/// Returns the seq of the first decision whose id is not below `id`, from the rows alone; the seq that comes
/// next if there is none.
[[nodiscard]] std::int64_t first_decision_from(Connection& connection, const std::string& id);

}  // namespace epsilog::ledger
