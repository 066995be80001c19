// The decisions that a snapshot shows: the whole history, a part of it, what waits.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "decision_id.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/snapshot.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "leaf_check.hpp"
#include "queries.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

/// The seq from which the last `limit` decisions start; 0 when there are fewer. Steps over so many.
std::int64_t start_of_last(Connection& connection, const std::string& dataset, std::int64_t limit) {
  constexpr const char* kOfAll = "SELECT seq FROM decision ORDER BY seq DESC LIMIT 1 OFFSET ?1";
  constexpr const char* kOfDataset =
      "SELECT seq FROM decision WHERE dataset = (SELECT number FROM name WHERE name = ?2)"
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
    return connection.shared_rows().name(connection, row.integer(DecisionColumn::dataset));
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

/// Visits the decisions of a part, until it has as many as it may have or one of which `visit` returns false.
class PartVisit final {
 public:
  /// Requires  `malformed` outlives this.
  PartVisit(const DecisionRange& range, std::function<bool(StoredDecision&)> visit,
            const std::function<void(const MalformedRecord&)>& malformed)
      : limit_(range.limit),
        visit_(std::move(visit)),
        malformed_(malformed),
        end_{.last = range.after, .more = false} {}

  /// Returns whether the decision that the query stands on is of this part, which then has it.
  bool take(Connection& connection, const Query& rows) {
    end_.more = !goes_on_ || (limit_ > 0 && visited_ == limit_);
    if (end_.more) return false;
    ++visited_;
    end_.last = rows.integer(0);
    visit_decision(
        connection, rows, [&](StoredDecision& decision) { goes_on_ = visit_(decision); }, malformed_);
    return true;
  }
  /// Where it ended, where no other decision followed.
  [[nodiscard]] const RangeEnd& end() const { return end_; }

 private:
  const std::int64_t limit_;
  const std::function<bool(StoredDecision&)> visit_;
  const std::function<void(const MalformedRecord&)>& malformed_;
  RangeEnd end_;
  std::int64_t visited_ = 0;
  bool goes_on_ = true;
};

}  // namespace

void Snapshot::each_decision(const std::string& dataset, std::int64_t limit,
                             const std::function<void(const StoredDecision&)>& visit,
                             const std::function<void(const MalformedRecord&)>& malformed) {
  static_cast<void>(
      each_decision({.dataset = dataset, .after = seq_before_last(dataset, limit)}, visit, malformed));
}

std::int64_t Snapshot::seq_before_last(const std::string& dataset, std::int64_t limit) {
  if (limit <= 0) return -1;
  return state_->run_read([&](Connection& c) { return start_of_last(c, dataset, limit); }) - 1;
}

namespace {

/// Who asked the request that a decision is about. A reservation that was pending before is the deepest
/// that something can be about (Transaction).
#define EPSILOG_ASKER_OF_DECISION                                                                          \
  "CASE WHEN d.parent = 0 THEN d.principal ELSE (SELECT CASE WHEN parent.parent = 0 THEN parent.principal" \
  " ELSE (SELECT earlier.principal FROM decision AS earlier WHERE earlier.seq = parent.parent) END"        \
  " FROM decision AS parent WHERE parent.seq = d.parent) END"

/// The decisions of a range, one by one in its order.
class RangeWalk final {
 public:
  RangeWalk(Connection& db, const DecisionRange& range)
      : db_(db),
        range_(range),
        start_(range.newest_first && range.after == 0 ? INT64_MAX : range.after),
        window_end_(range.asker.empty() ? farthest() : end_of_window()) {}

  /// Those of the window that are of the range.
  [[nodiscard]] SQLite::Statement rows() {
    return db_.prepare(EPSILOG_DECISION_COLUMNS "WHERE " + beyond("?1") +
                       (range_.newest_first ? " AND d.seq >= ?2" : " AND d.seq <= ?2") + of_dataset() +
                       (range_.asker.empty()
                            ? " AND ?4 = ''"
                            : " AND (SELECT number FROM name WHERE name = ?4) = " EPSILOG_ASKER_OF_DECISION) +
                       in_order());
  }
  void bind(Query& rows) const { rows.with(start_, window_end_, range_.dataset, range_.asker); }

  /// Where it ended that came to the end of its window.
  [[nodiscard]] RangeEnd at_end(std::int64_t last_visited) {
    if (any_beyond(window_end_)) return {.last = window_end_, .more = true};
    // Newest first nothing comes before the first one, ever; else all was looked at that is there.
    if (range_.newest_first) return {.last = 1, .more = false};
    const bool all = range_.asker.empty();
    return {.last = all ? last_visited : std::max(last_visited, read_meta(db_).decisions), .more = false};
  }

 private:
  [[nodiscard]] std::string beyond(const std::string& place) const {
    return (range_.newest_first ? "d.seq < " : "d.seq > ") + place;
  }
  [[nodiscard]] std::string of_dataset() const {
    return range_.dataset.empty() ? " AND ?3 = ''"
                                  : " AND d.dataset = (SELECT number FROM name WHERE name = ?3)";
  }
  [[nodiscard]] std::string in_order() const {
    return range_.newest_first ? " ORDER BY d.seq DESC" : " ORDER BY d.seq";
  }

  [[nodiscard]] std::int64_t farthest() const { return range_.newest_first ? INT64_MIN : INT64_MAX; }

  [[nodiscard]] std::int64_t end_of_window() {
    SQLite::Statement statement = db_.prepare("SELECT d.seq FROM decision AS d WHERE " + beyond("?1") +
                                              of_dataset() + in_order() + " LIMIT 1 OFFSET ?2");
    Query row(statement, db_.handle());
    row.with(start_, kAskerWindow - 1, range_.dataset);
    return row.step() ? row.integer(0) : farthest();
  }
  [[nodiscard]] bool any_beyond(std::int64_t place) {
    if (place == farthest()) return false;
    SQLite::Statement statement = db_.prepare("SELECT 1 FROM decision AS d WHERE " + beyond("?1") +
                                              " AND ?2 = 0" + of_dataset() + " LIMIT 1");
    Query row(statement, db_.handle());
    row.with(place, std::int64_t{0}, range_.dataset);
    return row.step();
  }

  Connection& db_;
  const DecisionRange& range_;
  const std::int64_t start_;
  const std::int64_t window_end_;
};

}  // namespace

RangeEnd Snapshot::each_decision(const DecisionRange& range,
                                 const std::function<void(const StoredDecision&)>& visit,
                                 const std::function<void(const MalformedRecord&)>& malformed) {
  const auto each = [&](const StoredDecision& decision) {
    visit(decision);
    return true;
  };
  return each_decision_while(range, each, malformed);
}

RangeEnd Snapshot::each_decision_while(const DecisionRange& range,
                                       const std::function<bool(const StoredDecision&)>& visit,
                                       const std::function<void(const MalformedRecord&)>& malformed) {
  return state_->run_read([&](Connection& db) {
    RangeWalk walk(db, range);
    SQLite::Statement statement = walk.rows();
    Query rows(statement, db.handle());
    walk.bind(rows);
    const auto told = [&](StoredDecision& decision) {
      state_->withhold(decision);
      return visit(decision);
    };
    PartVisit part(range, told, malformed);
    while (rows.step()) {
      if (!part.take(db, rows)) return part.end();
    }
    return walk.at_end(part.end().last);
  });
}

void Snapshot::each_outcome(std::int64_t after, const std::function<void(const DecisionOutcome&)>& visit) {
  state_->run_read([&](Connection& db) {
    enum class Column : int { seq, time, principal, outcome, rows };
    Query rows = db.query(
        "SELECT seq, time, principal, outcome, CASE WHEN outcome = 2 THEN"
        " coalesce((SELECT json_array_length(question, '$.rows') FROM plan"
        " WHERE number = decision.plan AND json_valid(question)), 0) ELSE 0 END"
        " FROM decision WHERE seq > ?1 ORDER BY seq");
    rows.with(after);
    while (rows.step()) {
      std::optional<DecisionOutcome> found;
      try {
        found = DecisionOutcome{.seq = rows.integer(Column::seq),
                                .time = rows.time(Column::time),
                                .principal = db.shared_rows().name(db, rows.integer(Column::principal)),
                                .outcome = outcome_of(rows.integer(Column::outcome)),
                                .rows = std::max<std::int64_t>(rows.integer(Column::rows), 1)};
      } catch (const LedgerCorrupt&) {
        continue;  // the audit names it
      }
      visit(*found);
    }
  });
}

std::int64_t Snapshot::decision_count_before(const std::string& time) {
  if (!is_time(time)) throw InvalidParameter("snapshot: '" + time + "' is no ledger time");
  const std::int64_t sought = parse_time(time);
  return state_->run_read([&](Connection& db) {
    const auto recorded_before = [&](std::int64_t seq) {
      Query row = db.query("SELECT time < ?2 FROM decision WHERE seq = ?1");
      row.with(seq, sought);
      return row.step() && row.integer(0) != 0;
    };
    std::int64_t before = 0;  // recorded before it
    std::int64_t since = state_->meta().decisions + 1;
    while (since - before > 1) {
      const std::int64_t middle = before + (since - before) / 2;
      (recorded_before(middle) ? before : since) = middle;
    }
    return before;
  });
}

void Snapshot::each_open(const std::string& dataset, const std::function<void(const StoredDecision&)>& visit,
                         const std::function<void(const MalformedRecord&)>& malformed) {
  const auto each = [&](const StoredDecision& decision) {
    visit(decision);
    return true;
  };
  static_cast<void>(each_open_while({.dataset = dataset}, each, malformed));
}

RangeEnd Snapshot::each_open_while(const DecisionRange& range,
                                   const std::function<bool(const StoredDecision&)>& visit,
                                   const std::function<void(const MalformedRecord&)>& malformed) {
  return state_->run_read([&](Connection& connection) {
    SQLite::Statement statement = connection.prepare(
        EPSILOG_DECISION_COLUMNS
        "WHERE d.seq IN (SELECT seq FROM open_decision WHERE seq > ?2)"
        " AND (?1 = '' OR d.dataset = (SELECT number FROM name WHERE name = ?1)) ORDER BY d.seq");
    Query rows(statement, connection.handle());
    rows.with(range.dataset, range.after);
    const auto told = [&](StoredDecision& open) {
      state_->withhold(open);
      return visit(open);
    };
    PartVisit part(range, told, malformed);
    while (rows.step()) {
      if (!part.take(connection, rows)) break;
    }
    return part.end();
  });
}

}  // namespace epsilog::ledger
