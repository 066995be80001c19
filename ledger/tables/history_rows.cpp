#include "history_rows.hpp"

#include <sqlite3.h>

#include <string>

#include "epsilog/accounting/errors.hpp"
#include "queries.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::int64_t kStep = 1 << 15;  // rows: a few milliseconds

/// Runs one part of reading where a history ends, unless what is there cannot be read.
template <class Part>
void skip_unreadable(const Part& part) {
  try {
    part();
  } catch (const StorageFailure& failure) {
    const FailureKind kind = kind_of(failure);
    const bool lasts = (kind == FailureKind::storage && (failure.code() & 0xff) != SQLITE_IOERR) ||
                       kind == FailureKind::internal;
    if (!lasts) throw;
  } catch (const LedgerCorrupt&) {
  }
}

std::int64_t highest(Connection& connection, const std::string& number, const std::string& table) {
  SQLite::Statement statement = connection.prepare("SELECT coalesce(max(" + number + "), 0) FROM " + table);
  Query row(statement, connection.handle());
  return row.step() ? row.integer(0) : 0;
}

/// `select` gives at most ?3 numbers from ?1 to ?2, in their order.
std::int64_t count_in_steps(Connection& connection, const std::string& select, std::int64_t last,
                            const std::function<void()>& between_steps) {
  SQLite::Statement statement =
      connection.prepare("SELECT count(*), max(place) FROM (" + select + " LIMIT ?3)");
  std::int64_t counted = 0;
  std::int64_t from = INT64_MIN;
  for (;;) {
    bool more = false;
    {
      Query row(statement, connection.handle());
      row.with(from, last, kStep);
      if (!row.step() || row.integer(0) == 0) return counted;
      counted += row.integer(0);
      const std::int64_t place = row.integer(1);
      more = row.integer(0) == kStep && place < last && place >= from;
      from = more ? place + 1 : place;
    }
    if (!more) return counted;
    between_steps();
  }
}

}  // namespace

std::string stored_leaf(Connection& connection, std::int64_t line) {
  std::string leaf;
  skip_unreadable([&] {
    Query row = connection.query("SELECT hex(leaf) FROM log WHERE line_index = ?1");
    row.with(line);
    if (row.step()) leaf = row.text(0);
  });
  return leaf;
}

std::vector<std::pair<std::int64_t, std::int64_t>> last_nodes(Connection& connection) {
  std::vector<std::pair<std::int64_t, std::int64_t>> last;
  for (std::int64_t level = 0;;) {
    Query row = connection.query(
        "SELECT level, (SELECT max(number) FROM node WHERE level = l.level) FROM node AS l"
        " WHERE level > ?1 ORDER BY level LIMIT 1");
    row.with(level);
    if (!row.step()) return last;
    level = row.integer(0);
    last.emplace_back(level, row.integer(1));
  }
}

HistoryEnd read_history_end(Connection& connection) {
  HistoryEnd end;
  skip_unreadable([&] { end.decision = highest(connection, "seq", "decision"); });
  skip_unreadable([&] { end.line = highest(connection, "line_index", "log"); });
  end.leaf = stored_leaf(connection, end.line);
  skip_unreadable([&] { end.lines = read_meta(connection).log_size; });
  for (const NumberedTable& table : kNumberedTables) {
    end.rows.push_back(INT64_MAX);
    skip_unreadable([&] { end.rows.back() = highest(connection, table.number, table.name); });
  }
  skip_unreadable([&] { end.nodes = last_nodes(connection); });
  return end;
}

std::int64_t rows_up_to(Connection& connection, const NumberedTable& table, std::int64_t last,
                        const std::function<void()>& between_steps) {
  const std::string number = table.number;
  return count_in_steps(connection,
                        "SELECT " + number + " AS place FROM " + table.name + " WHERE " + number +
                            " >= ?1 AND " + number + " <= ?2 ORDER BY " + number,
                        last, between_steps);
}

std::int64_t nodes_up_to(Connection& connection, std::int64_t level, std::int64_t last,
                         const std::function<void()>& between_steps) {
  return count_in_steps(connection,
                        "SELECT number AS place FROM node WHERE level = " + std::to_string(level) +
                            " AND number >= ?1 AND number <= ?2 ORDER BY number",
                        last, between_steps);
}

}  // namespace epsilog::ledger
