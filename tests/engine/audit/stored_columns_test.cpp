// Every column of every table of a ledger is edited alone, in a row of every kind, to another value that it
// may have: the audit finds it, or the column stands in the list of those that only an anchor outside the
// file protects.
#include <sqlite3.h>

#include "epsilog/engine/audit_limits.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "file_text.hpp"
#include "full_ledger.hpp"
#include "sql_rows.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Engine;

namespace {

using Row = SqlRow;

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

/// The digit or letter at `at` becomes another of its kind.
std::string with_other(std::string text, std::size_t at) {
  text[at] = text[at] == '1' ? '2' : '1';
  return text;
}

/// Another number that the column could hold as far as its form goes, as SQL.
std::string another_number(const std::string& whole, const std::string& column, const std::string& value) {
  if (whole == "decision.outcome") return value == "8" ? "9" : "8";
  if (whole == "decision.reservation") return value == "1" ? "2" : "1";
  if (value == "0" && (whole == "decision.deadline" || whole == "meta.held_at"))
    return "(SELECT time FROM decision WHERE seq = 1)";
  // Numbers of rows become those of other rows that are there.
  if (whole == "decision.principal" || whole == "decision.dataset")
    return "(SELECT max(number) FROM name WHERE number <> " + value + ")";
  if (whole == "decision.plan") return "(SELECT max(number) FROM plan WHERE number <> " + value + ")";
  return column + " + 1";
}

/// Another value that the column could hold as far as its form goes, as SQL; bytes are given in hexadecimal.
std::string another(const std::string& whole, const std::string& column, const std::string& type, bool in_key,
                    const std::string& value) {
  if (type == "INTEGER") return in_key ? column + " + 100" : another_number(whole, column, value);
  if (type == "BLOB")
    return value.empty() ? "zeroblob(32)" : "x'" + with_other(value, value.size() - 1) + "'";
  if (whole == "credential_event.value") return quoted(with_other(value, value.size() - 1));
  if (whole == "decision.via") return quoted(value.empty() ? "unix:4711" : "");
  if (whole == "clock_event.type") return quoted(value == "forwards" ? "backwards" : "forwards");
  if (whole == "decision.reasons" && value.empty()) return quoted("[1]");
  if (value.starts_with('[') || value.starts_with('{')) {
    const std::size_t digit = value.find_last_of("0123456789");
    if (digit != std::string::npos) return quoted(with_other(value, digit));
    const std::size_t letter = value.find_last_of("abcdefghijklmnopqrstuvwxyz");
    if (letter != std::string::npos) return quoted(with_other(value, letter));
    return quoted("[\"1\"]");
  }
  return quoted(value + "x");
}

/// What tells rows of a table apart in kind.
std::string kind_column(const std::string& table) {
  static const std::map<std::string, std::string> kKinds = {
      {"decision", "outcome || (parent > 0) || (key <> '')"},
      {"plan", "release <> '' OR (SELECT max(outcome) FROM decision WHERE plan = number)"},
      {"movement", "(SELECT outcome FROM decision AS d WHERE d.seq = movement.seq)"},
      {"clock_event", "type"},
      {"log", "kind"},
      {"account", "measure"}};
  const auto found = kKinds.find(table);
  return found == kKinds.end() ? "1" : found->second;
}

}  // namespace

namespace {

/// One edit of one column of one row.
struct Edit {
  std::string column;  ///< "decision.time"
  std::string sql;
};

/// Of every column, in the first row of each kind and in the last, so that what neighbours show is not all
/// that shows it.
std::vector<Edit> edits_of(const std::string& path, std::set<std::string>& empty_tables) {
  std::vector<Edit> edits;
  const auto tables = sql_rows(
      path, "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*'");
  for (const Row& table : tables) {
    const std::string& name = table[0];
    const auto columns =
        sql_rows(path, "SELECT '\"' || name || '\"', type, pk, name FROM pragma_table_info('" + name +
                           "') ORDER BY cid");
    std::string key;
    std::string names;
    for (const Row& column : columns) {
      if (column[2] != "0") key += (key.empty() ? "" : ", ") + column[0];
      names += column[1] == "BLOB" ? ", hex(" + column[0] + ")" : ", " + column[0];
    }
    const std::string place = table[1] == "1" ? "row_number() OVER (ORDER BY " + key + ")" : "rowid";
    const std::string kinds =
        "SELECT " + kind_column(name) + " AS kind, " + place + " AS place" + names + " FROM " + name;
    const auto rows =
        sql_rows(path, "SELECT * FROM (" + kinds + ") GROUP BY kind HAVING place = min(place)" +
                           " UNION SELECT * FROM (" + kinds + ") GROUP BY kind HAVING place = max(place)");
    if (rows.empty()) empty_tables.insert(name);
    for (const Row& row : rows) {
      std::string where;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i][2] != "0")
          where += (where.empty() ? "" : " AND ") + columns[i][0] + " = " + quoted(row[i + 2]);
      }
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string whole = name + "." + columns[i][3];
        edits.push_back(
            {whole, "UPDATE " + name + " SET " + columns[i][0] + " = " +
                        another(whole, columns[i][0], columns[i][1], columns[i][2] != "0", row[i + 2]) +
                        " WHERE " + where});
      }
    }
  }
  // What a release says is one column.
  for (const Row& row : sql_rows(path,
                                 "SELECT DISTINCT p.number, m.fullkey, m.atom, m.type FROM plan AS p,"
                                 " json_tree(p.release) AS m WHERE p.release <> '' AND m.atom NOT NULL")) {
    const std::string other = row[3] == "integer" ? row[2] + " + 1"
                              : row[2].empty()    ? "'x'"
                                                  : quoted(with_other(row[2], row[2].size() - 1));
    edits.push_back({"plan.release", "UPDATE plan SET release = json_set(release, '" + row[1] + "', " +
                                         other + ") WHERE number = " + row[0]});
  }
  return edits;
}

/// What makes the log anew writes these.
bool made_with_log(const std::string& column) {
  return column.starts_with("log.") || column.starts_with("node.") || column == "decision.line_index" ||
         column == "plan.digest" || column == "meta.log_size";
}

/// The columns of which some edit passed.
std::set<std::string> found_nowhere(const FullLedger& full, const std::vector<Edit>& edits,
                                    bool log_made_anew) {
  std::set<std::string> columns;
  for (const Edit& edit : edits) {
    if (log_made_anew && made_with_log(edit.column)) continue;
    full.restore();
    const int status = tampering(full.path(), edit.sql);
    if ((status & 0xff) == SQLITE_CONSTRAINT) continue;  // it cannot be done alone
    CAPTURE(edit.sql);
    REQUIRE(status == SQLITE_OK);
    if (log_made_anew) make_log_anew(full.path());
    if (engine::audit_verify(full.path()).ok) columns.insert(edit.column);
  }
  return columns;
}

/// Whether an edit of these passes depends on what stands around the row.
const std::vector<std::string> kPassSomewhere = words_of(
    "clock_event.after_decision clock_event.ledger_time clock_event.type decision.component_values "
    "decision.data_token_sha256 decision.id decision.plan decision.principal decision.reservation "
    "meta.ledger_id policy_version.applied_at relocation.after_decision relocation.at "
    "relocation.dataset");

/// Whatever passed is listed; of all edits, what is listed also passed.
void check_listed(const std::set<std::string>& passed, const std::set<std::string>& listed, bool all) {
  for (const std::string& column : passed) {
    CAPTURE(column);
    CHECK(listed.contains(column));
  }
  if (!all) return;
  for (const std::string& column : listed) {
    CAPTURE(column);
    CHECK((passed.contains(column) ||
           std::find(kPassSomewhere.begin(), kPassSomewhere.end(), column) != kPassSomewhere.end()));
  }
}

/// One edit in so many of each column, its first among them.
std::vector<Edit> sampled(const std::vector<Edit>& edits, int part) {
  std::map<std::string, int> seen;
  std::vector<Edit> some;
  for (const Edit& edit : edits) {
    if (seen[edit.column]++ % part == 0) some.push_back(edit);
  }
  return some;
}

/// Tries one edit in so many of each column; 1: all of them.
void check_columns(int part) {
  const FullLedger full;
  for (const auto& fault : engine::audit_verify(full.path()).faults) {
    FAIL_CHECK(fault.record << " " << fault.code << ": " << fault.message);
  }
  full.restore();
  std::set<std::string> empty_tables;
  const std::vector<Edit> all = edits_of(full.path(), empty_tables);
  CHECK(empty_tables ==
        std::set<std::string>{"feature", "limit_removal", "node", "recovery", "seal_event", "stale_replica"});
  CHECK(all.size() > 400);
  const std::vector<Edit> edits = sampled(all, part);
  std::set<std::string> unlogged;
  std::set<std::string> listed;
  for (const auto& anchored : engine::anchored_columns()) {
    listed.insert(std::string(anchored.column));
    if (!anchored.logged) unlogged.insert(std::string(anchored.column));
  }
  SECTION("the row alone was edited") {
    const std::set<std::string> passed = found_nowhere(full, edits, false);
    CHECK(std::includes(unlogged.begin(), unlogged.end(), passed.begin(), passed.end()));
    if (part == 1) CHECK(passed == unlogged);
  }
  SECTION("and the log was made anew") {
    check_listed(found_nowhere(full, edits, true), listed, part == 1);
  }
}

}  // namespace

TEST_CASE("audit: every column is compared, or listed as open to its owner, in one row of six",
          "[engine][audit][negative][columns]") {
  check_columns(6);
}

TEST_CASE("audit: every column of every table is compared, or listed as open to its owner",
          "[engine][audit][negative][columns][.long]") {
  check_columns(1);
}

namespace {

/// A number of a release: the first decision that has it, its text, and SQL that puts '%' in its place.
struct StoredNumber {
  std::string seq;
  std::vector<std::string> ids;  ///< of the decisions with this plan
  std::string member;
  std::string text;
  std::string sql;

  [[nodiscard]] std::string edited(const std::string& other) const {
    std::string statement = sql;
    return statement.replace(statement.find('%'), 1, other);
  }
};

/// By the name under which it is read.
std::map<std::string, StoredNumber> numbers_of_releases(const std::string& path) {
  std::map<std::string, std::vector<std::string>> ids_of_plan;
  std::map<std::string, std::string> plans;  // by seq
  for (const Row& row : sql_rows(path, "SELECT seq, plan FROM decision")) plans[row[0]] = row[1];
  Engine::open(path).history("", 0, [&](const engine::Answer& answer) {
    ids_of_plan[plans[std::to_string(answer.recorded.seq)]].push_back(answer.recorded.decision_id);
  });
  std::map<std::string, StoredNumber> numbers;
  for (const Row& row :
       sql_rows(path,
                "SELECT d.seq, m.atom, m.key, m.fullkey, p.number FROM decision AS d JOIN plan AS p ON "
                "p.number = d.plan,"
                " json_tree(p.release) AS m WHERE d.outcome = 1 AND m.type = 'text' AND (m.fullkey GLOB"
                " '$.components?0?.*' OR m.key IN ('requested', 'charged', 'adjusted', 'published'))"
                " AND m.key NOT IN ('statistic', 'published_note') ORDER BY d.seq")) {
    const bool inner = row[3].starts_with("$.components");
    if (!inner && row[3] != "$." + row[2]) continue;
    const std::string set =
        "UPDATE plan SET release = json_set(release, '" + row[3] + "', '%') WHERE number = ";
    numbers.try_emplace((inner ? "component " : "") + row[2],
                        StoredNumber{row[0], ids_of_plan[row[4]], row[2], row[1], set + row[4]});
  }
  return numbers;
}

/// Decisions that a history shows, and those that it says cannot be read.
std::pair<std::size_t, std::vector<std::string>> shown_and_unreadable(const std::string& path) {
  std::pair<std::size_t, std::vector<std::string>> result;
  engine::EngineOptions options;
  options.unreadable = [&](const engine::UnreadableDecision& one) {
    result.second.push_back(one.decision_id);
  };
  Engine::open(path, options).history("", 0, [&](const engine::Answer&) { ++result.first; });
  return result;
}

}  // namespace

TEST_CASE("audit: a number of a release that is not as it is recorded is named, and hides no other decision",
          "[engine][audit][negative][columns]") {
  const FullLedger full;
  const auto numbers = numbers_of_releases(full.path());
  CHECK(numbers.size() == 18);
  const std::size_t decisions = shown_and_unreadable(full.path()).first;
  full.restore();
  for (const auto& [name, number] : numbers) {
    for (const std::string& other : {"0" + number.text, std::string("x"), "-" + number.text}) {
      CAPTURE(name, number.seq, other);
      tamper_with_log(full.path(), number.edited(other));
      const engine::AuditReport report = engine::audit_verify(full.path());
      const auto [shown, unreadable] = shown_and_unreadable(full.path());
      full.restore();
      CHECK(report.records == static_cast<std::int64_t>(decisions));
      // A negative number is one, where the type has them: it is not that of the plan.
      const bool is_read = unreadable.empty();
      if (is_read) CHECK(other[0] == '-');
      CHECK(shown == decisions - unreadable.size());
      CHECK(std::all_of(unreadable.begin(), unreadable.end(), [&](const std::string& id) {
        return std::find(number.ids.begin(), number.ids.end(), id) != number.ids.end();
      }));
      CHECK(std::any_of(report.faults.begin(), report.faults.end(), [&](const engine::AuditFault& fault) {
        if (is_read) return fault.record == number.ids.front() && fault.code == "release_changed";
        return fault.record == "decision number " + number.seq && fault.code == "record_unreadable" &&
               fault.message.find(number.member) != std::string::npos;
      }));
    }
  }
}

TEST_CASE("audit: the columns that only an anchor outside protects are documented",
          "[engine][audit][columns]") {
  const std::string page = file_text(EPSILOG_SOURCE_DIR "/docs/known_limitations.md");
  for (const auto& anchored : engine::anchored_columns()) {
    CAPTURE(anchored.column);
    CHECK(page.find("| `" + std::string(anchored.column) + "` | " + std::string(anchored.what) + " |") !=
          std::string::npos);
  }
}

TEST_CASE("audit: no name of a trigger hides it, and no writer works under it", "[engine][audit][schema]") {
  for (const char* trigger : {"sqliteXstat_x", "sqlite0stat1", "renew"}) {
    CAPTURE(trigger);
    const Clinic clinic;
    {
      Engine before = clinic.open();
      CHECK(release(before, request("count", "1")).recorded.granted);
    }
    Engine engine = clinic.open();
    CHECK(release(engine, request("count", "1")).recorded.granted);
    sql_rows(clinic.ledger(), "CREATE TRIGGER " + std::string(trigger) +
                                  " AFTER INSERT ON movement BEGIN UPDATE meta SET boot_offset = 0; END");
    // Both who was at work and who comes.
    CHECK_THROWS_AS(release(engine, request("count", "0.5")), LedgerCorrupt);
    Engine later = clinic.open();
    CHECK_THROWS_AS(release(later, request("count", "0.5")), LedgerCorrupt);
    const auto report = engine::audit_verify(clinic.ledger());
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "schema_changed");
    CHECK(report.faults[0].message ==
          "trigger " + std::string(trigger) + " is not part of the shipped schema");
  }
}

TEST_CASE("audit: SQLite's own statistics are no change of the schema", "[engine][audit][schema]") {
  const Clinic clinic;
  sql_rows(clinic.ledger(), "ANALYZE");
  Engine engine = clinic.open();
  CHECK(release(engine, request("count", "1")).recorded.granted);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}
