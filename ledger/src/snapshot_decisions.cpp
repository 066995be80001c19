// The decisions that a snapshot shows: the whole history, a part of it, what waits.
#include "decision_id.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "queries.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

/// The seq from which the last `limit` decisions start; 0 when there are fewer. Steps over so many.
std::int64_t start_of_last(Connection& connection, const std::string& dataset, std::int64_t limit) {
  constexpr const char* kOfAll = "SELECT seq FROM decision ORDER BY seq DESC LIMIT 1 OFFSET ?1";
  constexpr const char* kOfDataset =
      "SELECT seq FROM decision WHERE dataset = (SELECT no FROM name WHERE name = ?2)"
      " ORDER BY seq DESC LIMIT 1 OFFSET ?1";
  SQLite::Statement statement = connection.prepare(dataset.empty() ? kOfAll : kOfDataset);
  Query row(statement, connection.handle());
  if (dataset.empty()) {
    row.with(limit - 1);
  } else {
    row.with(limit - 1, dataset);
  }
  return row.step() ? row.integer(0) : 0;
}

/// Of a column that may be what cannot be read; then "".
std::string id_if_any(const Query& row) {
  try {
    return id_text(sized_bytes<16>(row.bytes(DecisionColumn::id), "column id"));
  } catch (const LedgerCorrupt&) {
    return "";
  }
}
std::string dataset_if_any(Connection& connection, const Query& row) {
  try {
    return connection.shared().name(connection, row.integer(DecisionColumn::dataset));
  } catch (const LedgerCorrupt&) {
    return "";
  }
}

/// Visits the decision that the query stands on; one that cannot be read hides no other, if there is anybody
/// to tell.
void visit_decision(Connection& connection, const Query& row,
                    const std::function<void(StoredDecision&)>& visit,
                    const std::function<void(const MalformedRecord&)>& malformed) {
  std::optional<StoredDecision> decision;
  try {
    decision = read_decision(connection, row);
  } catch (const UnreadableRow& fault) {
    if (!malformed) throw;
    malformed({.seq = row.integer(0),
               .id = id_if_any(row),
               .dataset = dataset_if_any(connection, row),
               .message = fault.what()});
  }
  if (decision) visit(*decision);
}

}  // namespace

void Snapshot::each_decision(const std::string& dataset, std::int64_t limit,
                             const std::function<void(const StoredDecision&)>& visit,
                             const std::function<void(const MalformedRecord&)>& malformed) {
  static_cast<void>(
      each_decision({.dataset = dataset, .after = before_last(dataset, limit)}, visit, malformed));
}

std::int64_t Snapshot::before_last(const std::string& dataset, std::int64_t limit) {
  if (limit <= 0) return -1;
  return state_->reading([&](Connection& c) { return start_of_last(c, dataset, limit); }) - 1;
}

RangeEnd Snapshot::each_decision(const DecisionRange& range,
                                 const std::function<void(const StoredDecision&)>& visit,
                                 const std::function<void(const MalformedRecord&)>& malformed) {
  return state_->reading([&](Connection& db) {
    SQLite::Statement statement =
        db.prepare(range.dataset.empty() ? EPSILOG_DECISION_COLUMNS "WHERE d.seq > ?1 ORDER BY d.seq"
                                         : EPSILOG_DECISION_COLUMNS
                       "WHERE d.seq > ?1 AND d.dataset = (SELECT no FROM name WHERE name = ?2)"
                       " ORDER BY d.seq");
    Query rows(statement, db.handle());
    if (range.dataset.empty()) {
      rows.with(range.after);
    } else {
      rows.with(range.after, range.dataset);
    }
    RangeEnd end{.last = range.after};
    for (std::int64_t visited = 0; rows.step(); ++visited) {
      end.more = range.limit > 0 && visited == range.limit;
      if (end.more) break;
      end.last = rows.integer(0);
      visit_decision(
          db, rows,
          [&](StoredDecision& decision) {
            state_->withhold(decision);
            visit(decision);
          },
          malformed);
    }
    return end;
  });
}

void Snapshot::each_open(const std::string& dataset, const std::function<void(const StoredDecision&)>& visit,
                         const std::function<void(const MalformedRecord&)>& malformed) {
  state_->reading([&](Connection& connection) {
    SQLite::Statement statement = connection.prepare(
        EPSILOG_DECISION_COLUMNS
        "WHERE d.seq IN (SELECT seq FROM open_decision)"
        " AND (?1 = '' OR d.dataset = (SELECT no FROM name WHERE name = ?1)) ORDER BY d.seq");
    Query rows(statement, connection.handle());
    rows.with(dataset);
    while (rows.step()) {
      visit_decision(
          connection, rows,
          [&](StoredDecision& open) {
            state_->withhold(open);
            visit(open);
          },
          malformed);
    }
  });
}

}  // namespace epsilog::ledger
