// Where a history ends, and how many rows there are up to there, counted in slices.
//
// Rows of these tables are added with the number that follows the highest, and neither changed nor taken away
// (ledger.hpp, 7). So the rows up to a number that was the highest at one instant are the same ones ever
// after. They are counted by steps over rows, not over numbers: what somebody put there may have any number.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/history_end.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// A table whose rows have lines, and the column that numbers them.
struct NumberedTable {
  RecordKind kind;
  const char* name;
  const char* number;
};
inline constexpr std::array kNumberedTables{
    NumberedTable{RecordKind::policy, "policy_version", "version"},  // and policy_location
    NumberedTable{RecordKind::relocation, "relocation", "seq"},
    NumberedTable{RecordKind::account, "account", "id"},
    NumberedTable{RecordKind::limit_change, "limit_change", "seq"},
    NumberedTable{RecordKind::limit_removal, "limit_removal", "seq"},
    NumberedTable{RecordKind::plan, "plan", "number"},
    NumberedTable{RecordKind::decision, "decision", "seq"},
    NumberedTable{RecordKind::clock_event, "clock_event", "seq"},
    NumberedTable{RecordKind::credential, "credential_event", "seq"},
    NumberedTable{RecordKind::key, "key_event", "seq"},
    NumberedTable{RecordKind::recovery, "recovery", "seq"},
    NumberedTable{RecordKind::seal, "seal_event", "seq"},
    NumberedTable{RecordKind::feature, "feature", "number"},
};

/// All throw StorageFailure, LedgerCorrupt. `between_steps` is called between two steps, when nothing is in use.

/// Of what is there now.
/// Requires  one transaction.
/// Throws    only what another attempt may not meet: what cannot be read is left open, and met by who reads
///           it.
[[nodiscard]] HistoryEnd read_history_end(Connection& connection);
[[nodiscard]] std::int64_t rows_up_to(Connection& connection, const NumberedTable& table, std::int64_t last,
                                      const std::function<void()>& between_steps);
[[nodiscard]] std::int64_t nodes_up_to(Connection& connection, std::int64_t level, std::int64_t last,
                                       const std::function<void()>& between_steps);
/// The levels of nodes, with the highest number in each.
[[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> last_nodes(Connection& connection);
/// The leaf of a line as it is stored; "" if there is none that can be read.
[[nodiscard]] std::string stored_leaf(Connection& connection, std::int64_t line);

}  // namespace epsilog::ledger
