// Every column of every table, changed by hand: whatever the value says is said somewhere else too.
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/full_history.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// Whether an inspection finds something, which does not look at the pages or the constraints of the file.
bool something_is_found(const std::string& path) {
  bool found = false;
  const auto fault = [&](const ledger::StoredFault&) { found = true; };
  try {
    auto snapshot = ledger::Ledger::open_read_only(path).snapshot();
    ledger::Inspection inspection(snapshot);
    found = !inspection.order_faults().empty() || !inspection.completeness_faults().empty() ||
            !inspection.lifecycle_faults().empty() || !inspection.clock_faults().empty() ||
            !inspection.record_faults().empty() || !balances_fold(snapshot);
    const ledger::LedgerFacts facts = inspection.facts();
    for (const ledger::Counts& counts :
         {facts.decisions, facts.policy_versions, facts.limit_changes, facts.clock_events, facts.accounts,
          facts.limit_removals, facts.relocations}) {
      found = found || counts.claimed != counts.rows || counts.last != counts.rows;
    }
    inspection.each_account([](const ledger::AccountState&) {}, fault);
    inspection.each_decision([](const ledger::StoredDecision&) {},
                             [&](const ledger::MalformedRecord&) { found = true; }, fault);
  } catch (const Error&) {
    return true;
  }
  return found;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Another value of the same type.
constexpr const char* kChanged =
    "CASE typeof(C) WHEN 'integer' THEN C + N WHEN 'text' THEN C || 'x' ELSE CASE length(C) WHEN 0 THEN"
    " zeroblob(32) ELSE CAST((CASE hex(substr(C, 1, 1)) WHEN '78' THEN x'79' ELSE x'78' END) || substr(C, 2)"
    " AS BLOB) END END";

std::string changed(const std::string& column, const std::string& by) {
  std::string sql = kChanged;
  sql.replace(sql.find(" N ") + 1, 1, by);
  for (auto at = sql.find('C'); at != std::string::npos; at = sql.find('C', at + 1)) {
    const bool alone = (at == 0 || std::isalpha(static_cast<unsigned char>(sql[at - 1])) == 0) &&
                       std::isalpha(static_cast<unsigned char>(sql[at + 1])) == 0;
    if (!alone) continue;
    sql.replace(at, 1, column);
    at += column.size() - 1;
  }
  return sql;
}

}  // namespace

TEST_CASE(
    "inspection: a column of any table that is changed is found, but the clock's, a replica's and a mark",
    "[ledger][inspection][integrity]") {
  const FullHistory with_nodes;
  const FullHistory small(2);
  REQUIRE_FALSE(something_is_found(with_nodes.path));
  REQUIRE_FALSE(something_is_found(small.path));
  const std::string copy = small.sibling(".changed");
  std::set<std::string> unnoticed;
  int columns = 0;
  for (const std::string& table :
       parts_of(query_sql(small.path,
                          "SELECT group_concat(name, char(10)) FROM sqlite_master WHERE type = 'table'"
                          " AND name NOT LIKE 'sqlite_%'"))) {
    const FullHistory& full = table == "node" ? with_nodes : small;
    REQUIRE(query_sql(full.path, "SELECT count(*) > 0 FROM " + table) == "1");
    for (const std::string& name : parts_of(query_sql(
             full.path, "SELECT group_concat(name, char(10)) FROM pragma_table_info('" + table + "')"))) {
      const std::string column = '"' + name + '"';
      for (const std::string order : {"ASC", "DESC"}) {  // the first row and the last
        ++columns;
        fs::remove(copy);
        fs::copy_file(full.path, copy);
        const std::string key = table == "movement" ? "(seq, account)"
                                : table == "node"   ? "(level, number)"
                                                    : "rowid";
        const std::string columns_of_key = key.front() == '(' ? key.substr(1, key.size() - 2) : key;
        const std::string ordered =
            key.front() == '(' ? columns_of_key.substr(0, columns_of_key.find(',')) : key;
        const auto change = [&](const std::string& by) {
          tamper_with(copy, "UPDATE " + table + " SET " + column + " = " + changed(column, by) + " WHERE " +
                                key + " = (SELECT " + columns_of_key + " FROM " + table + " ORDER BY " +
                                ordered + " " + order + " LIMIT 1)");
        };
        try {
          change("1");
        } catch (const std::runtime_error&) {  // another row has that number
          fs::remove(copy);
          fs::copy_file(full.path, copy);
          change("100000");
        }
        if (!something_is_found(copy)) unnoticed.insert(table + "." + name);
      }
    }
  }
  CHECK(columns > 250);
  CHECK(unnoticed == std::set<std::string>{"meta.boot_id", "meta.boot_offset", "meta.read_only",
                                           "meta.replica_size", "meta.wall_clock", "stale_replica.known_size",
                                           "stale_replica.path", "stale_replica.size",
                                           "stale_replica.synced"});
}
