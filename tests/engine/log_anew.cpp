// The log of a ledger made of its rows, as who owns the file can make it.
#include <tuple>

#include "connection.hpp"
#include "epsilog/accounting/errors.hpp"
#include "merkle_tree.hpp"
#include "record_log.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"
#include "tampering.hpp"

namespace epsilog::test {
namespace {

using namespace ledger;

/// By RecordKind: what numbers its rows.
constexpr std::array kRowsOfKind{
    "SELECT 0",
    "SELECT version FROM policy_version ORDER BY 1",
    "SELECT version FROM policy_version ORDER BY 1",
    "SELECT seq FROM relocation ORDER BY 1",
    "SELECT id FROM account ORDER BY 1",
    "SELECT seq FROM limit_change ORDER BY 1",
    "SELECT seq FROM limit_removal ORDER BY 1",
    "SELECT number FROM plan ORDER BY 1",
    "SELECT seq FROM decision NOT INDEXED ORDER BY 1",
    "SELECT seq FROM clock_event ORDER BY 1",
    "SELECT seq FROM credential_event ORDER BY 1",
    "SELECT seq FROM key_event ORDER BY 1",
    "SELECT seq FROM recovery ORDER BY 1",
    "SELECT seq FROM seal_event ORDER BY 1",
    "SELECT number FROM feature ORDER BY 1",
};
constexpr auto kDecision = static_cast<std::int64_t>(RecordKind::decision);

/// A line, and where it stood.
struct OldLine {
  std::int64_t place = INT64_MAX;
  std::int64_t kind = 0;
  std::int64_t row = 0;
  Blind blind = {};
  Hash leaf = {};

  [[nodiscard]] auto order() const { return std::tuple(place, kind, row); }
};

std::vector<OldLine> old_lines(Connection& connection) {
  std::vector<OldLine> lines;
  Query rows = connection.query("SELECT line_index, kind, row, blind, leaf FROM log ORDER BY line_index");
  while (rows.step()) {
    OldLine line{.place = rows.integer(0), .kind = rows.integer(1), .row = rows.integer(2)};
    // What stands there may have been tampered with as well.
    const std::string blind = rows.bytes(3);
    const std::string leaf = rows.bytes(4);
    if (blind.size() == line.blind.size()) line.blind = sized_bytes<16>(blind, "blind");
    if (leaf.size() == line.leaf.size()) line.leaf = sized_bytes<32>(leaf, "leaf");
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::int64_t> numbers(Connection& connection, const char* sql) {
  std::vector<std::int64_t> found;
  Query rows = connection.query(sql);
  while (rows.step()) found.push_back(rows.integer(0));
  return found;
}

/// The lines of one kind on the places that they had, those of decisions in the order of these.
std::vector<OldLine> lines_of_kind(std::int64_t kind, const std::vector<std::int64_t>& rows,
                                   const std::vector<OldLine>& old) {
  std::vector<OldLine> kept;
  std::vector<OldLine> lost;
  std::map<std::int64_t, OldLine> by_row;
  for (const OldLine& line : old) {
    if (line.kind != kind) continue;
    const bool there = std::binary_search(rows.begin(), rows.end(), line.row);
    (there && by_row.emplace(line.row, line).second ? kept : lost).push_back(line);
  }
  for (std::size_t i = 0; kept.size() < rows.size(); ++i) {
    kept.push_back(i < lost.size() ? lost[i] : OldLine{.kind = kind});
  }
  // Accounts have lines in another order than their numbers.
  std::vector<std::int64_t> fresh;
  for (const std::int64_t row : rows) {
    if (!by_row.contains(row)) fresh.push_back(row);
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) kept[by_row.size() + i].row = fresh[i];
  if (kind != kDecision) return kept;
  std::sort(kept.begin(), kept.end(), [](const OldLine& a, const OldLine& b) { return a.place < b.place; });
  for (std::size_t i = 0; i < rows.size(); ++i) kept[i].row = rows[i];
  return kept;
}

/// A decision says where its line is, also after it was given another number.
void follow_decisions(Connection& connection, std::vector<OldLine>& old) {
  std::map<std::int64_t, std::int64_t> numbers;
  Query rows = connection.query("SELECT line_index, seq FROM decision NOT INDEXED");
  while (rows.step()) numbers.emplace(rows.integer(0), rows.integer(1));
  for (OldLine& line : old) {
    if (line.kind != kDecision) continue;
    const auto found = numbers.find(line.place);
    line.row = found == numbers.end() ? -1 : found->second;
  }
}

template <std::size_t Size>
std::string blob(const std::array<std::uint8_t, Size>& bytes) {
  return "x'" + hex_text(bytes) + "'";
}

std::string digests_of_plans(Connection& connection) {
  std::string sql;
  for (const std::int64_t plan : numbers(connection, "SELECT number FROM plan")) {
    try {
      const Sha256 digest = plan_digest(*connection.shared_rows().plan(connection, plan));
      sql += "UPDATE OR IGNORE plan SET digest = " + blob(digest) +
             " WHERE number = " + std::to_string(plan) + ";";
    } catch (const Error&) {  // it cannot be read
    }
  }
  return sql;
}

Hash leaf_of(Connection& connection, std::uint64_t index, const OldLine& old) {
  try {
    const Line line{.index = index, .blind = old.blind, .record = record_at(connection, old.kind, old.row)};
    return leaf_hash(line_text(connection, line));
  } catch (const Error&) {
    return old.leaf;
  }
}

}  // namespace

void make_log_anew(const std::string& path) {
  std::string sql = "DELETE FROM log; DELETE FROM node;";
  {
    Connection connection(locate(path), Connection::Role::reader);
    std::vector<OldLine> old = old_lines(connection);
    follow_decisions(connection, old);
    std::vector<OldLine> lines;
    for (std::size_t kind = 0; kind < kRowsOfKind.size(); ++kind) {
      const std::vector<std::int64_t> rows = numbers(connection, kRowsOfKind.at(kind));
      for (const OldLine& line : lines_of_kind(static_cast<std::int64_t>(kind), rows, old)) {
        lines.push_back(line);
      }
    }
    std::sort(lines.begin(), lines.end(),
              [](const OldLine& a, const OldLine& b) { return a.order() < b.order(); });
    Frontier tree;
    for (const OldLine& line : lines) {
      const std::string index = std::to_string(tree.size());
      const Hash leaf = leaf_of(connection, tree.size(), line);
      const std::string row = std::to_string(line.row);
      sql += "INSERT INTO log VALUES(" + index + "," + std::to_string(line.kind) + "," + row + "," +
             blob(line.blind) + "," + blob(leaf) + ");";
      if (line.kind == kDecision)
        sql += "UPDATE decision SET line_index = " + index + " WHERE seq = " + row + ";";
      tree.append(leaf, [&sql](unsigned level, std::uint64_t number, const Hash& hash) {
        sql += "INSERT INTO node VALUES(" + std::to_string(level) + "," + std::to_string(number) + "," +
               blob(hash) + ");";
      });
    }
    sql += "UPDATE meta SET log_size = " + std::to_string(tree.size()) + ";";
    sql += digests_of_plans(connection);
  }
  tamper(path, "BEGIN;" + sql + "COMMIT");
  forget_end(path);
}

}  // namespace epsilog::test
