#include "leaf_check.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "record_log.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLine = "SELECT kind, row, blind, leaf FROM log WHERE line_index = ?1";
constexpr const char* kLineOfRow =
    "SELECT line_index FROM log INDEXED BY log_fact WHERE kind = ?1 AND row = ?2 AND kind IN (1, 7)";

[[noreturn]] void throw_line_differs(const std::string& what) {
  throw LedgerCorrupt(what + " is not what was recorded: its row was changed, or the log; it is not told");
}

void require_leaf(Connection& connection, std::int64_t index, RecordKind kind, std::int64_t number,
                  Record record, const std::string& what) {
  Query row = connection.query(kLine);
  row.with(index);
  if (!row.step() || row.integer(0) != static_cast<std::int64_t>(kind) || row.integer(1) != number) {
    throw LedgerCorrupt("line " + std::to_string(index) + " is not of " + what);
  }
  const Line line{.index = static_cast<std::uint64_t>(index),
                  .blind = sized_bytes<16>(row.bytes(2), "column blind"),
                  .record = std::move(record)};
  const Hash leaf = sized_bytes<32>(row.bytes(3), "column leaf");
  try {
    if (leaf_hash(line_text(connection, line)) == leaf) return;
  } catch (const InvalidParameter&) {  // no line could say what stands in the row now
  }
  throw_line_differs(what);
}

/// A plan or a policy version: what many decisions refer to by number.
void require_fact(Connection& connection, RecordKind kind, std::int64_t number, const std::string& what) {
  if (connection.shared_rows().is_verified(kind, number)) return;
  Query row = connection.query(kLineOfRow);
  row.with(static_cast<std::int64_t>(kind), number);
  if (!row.step()) throw LedgerCorrupt(what + " has no line");
  require_leaf(connection, row.integer(0), kind, number,
               record_at(connection, static_cast<std::int64_t>(kind), number), what);
  connection.shared_rows().mark_verified(kind, number);
}

void require_decision_leaf(Connection& connection, const DecisionRow& decision) {
  const DecisionRecord& record = decision.record;
  require_leaf(connection, decision.line, RecordKind::decision, record.seq, record, "it");
  require_fact(connection, RecordKind::policy, record.policy_version,
               "policy version " + std::to_string(record.policy_version));
  if (record.plan != 0) {
    require_fact(connection, RecordKind::plan, record.plan, "plan " + std::to_string(record.plan));
  }
}

}  // namespace

StoredDecision read_decision(Connection& connection, const Query& row) {
  DecisionRow recorded = record_of_row(connection, row);
  try {
    require_decision_leaf(connection, recorded);
  } catch (const LedgerCorrupt& fault) {
    throw UnreadableRow(decision_label(recorded.record) + fault.what());
  }
  return decision_of(connection, std::move(recorded));
}

}  // namespace epsilog::ledger
