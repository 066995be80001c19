#include "sqlite_source.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <type_traits>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/source_io.hpp"
#include "epsilog/engine/utf8.hpp"
#include "epsilog/ledger/open_ledgers.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kCellSizeMax = CsvRecords::kRecordSizeMax;
/// What the table is called in the query. A qualified name is always a column: alone, `"c"` turns into a
/// text once there is no column of that name.
constexpr const char* kTable = "\"t\"";

std::string quoted_identifier(const std::string& name) {
  std::string result = "\"";
  for (const char c : name) {
    result += c;
    if (c == '"') result += c;
  }
  return result + "\"";
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string qualified_name(const std::string& column) {
  return kTable + ("." + quoted_identifier(column));
}

/// The column's cell, an empty BLOB for a BLOB and for a TEXT that is too long. Neither is read to be left
/// out, with an SQLite that has octet_length (3.43).
std::string cell_text(const std::string& name) {
  const std::string column = qualified_name(name);
  const std::string size = sqlite3_libversion_number() >= 3'043'000 ? "octet_length(" + column + ")"
                                                                    : "length(CAST(" + column + " AS BLOB))";
  return "CASE typeof(" + column + ") WHEN 'blob' THEN x'' WHEN 'text' THEN CASE WHEN " + size +
         " <= " + std::to_string(kCellSizeMax) + " THEN " + column + " ELSE x'' END ELSE " + column + " END";
}

struct TableColumn {
  std::string name;
  bool is_virtual = false;  ///< computed when it is read
};

class SqliteRowSource final : public RowSource {
 public:
  SqliteRowSource(const std::string& path, const std::string& table, const std::vector<std::string>& required,
                  const std::vector<std::string>& wanted)
      : path_(path), wanted_(wanted.size()), texts_(wanted.size()) {
    require_no_ledger_file();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) fail("no such file");
    try {
      database_ = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READONLY, 10'000);
      // Whatever SQLite puts aside stays in memory; a file mapped and cut short would be a signal.
      database_->exec("PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0");
      // Of what the checks find the rows are read.
      database_->exec("BEGIN");
      const bool has_rowid = find_table(table);
      const std::vector<TableColumn> columns = find_columns(table, required, wanted);
      rows_ = std::make_unique<SQLite::Statement>(
          *database_, query_text(table, wanted, has_rowid ? rowid_name(columns) : key_text(table)));
    } catch (const SQLite::Exception& error) {
      std::throw_with_nested(
          SourceError("sqlite '" + path_ + "': " + error.what() + remedy(error.getExtendedErrorCode())));
    }
  }

  Record next(std::span<RawCell> cells) override {
    try {
      if (!rows_->executeStep()) return Record::none;
      for (std::size_t i = 0; i < wanted_; ++i) cells[i] = cell(i);
      ++position_;
      return Record::readable;
    } catch (const SQLite::Exception&) {
      // Its message may quote what was read.
      throw SourceIo(SourceIo::Cause::unreadable);
    }
  }

  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] double fraction_read() const override { return 0; }

 private:
  /// SQLite opens what lies beside the database, wherever links to it lead, without asking.
  void require_no_ledger_file() const {
    std::error_code ignored;
    const std::string database = std::filesystem::canonical(path_, ignored).string();
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      if (ledger::is_file_of_open_ledger(database + suffix)) fail(kBelongsToLedger);
    }
  }

  /// Whether the table has a rowid.
  bool find_table(const std::string& table) {
    SQLite::Statement query(*database_, "PRAGMA main.table_list(" + quoted_identifier(table) + ")");
    while (query.executeStep()) {
      if (query.getColumn("name").getString() != table) continue;
      const std::string type = query.getColumn("type").getString();
      if (type != "table")
        fail("'" + table + "' is a " + type +
             ", not a table: its rows have no fixed order. Make a table of it, "
             "CREATE TABLE … AS SELECT …");
      return query.getColumn("wr").getInt() == 0;
    }
    fail("has no table '" + table + "'");
  }

  std::vector<TableColumn> find_columns(const std::string& table, const std::vector<std::string>& required,
                                        const std::vector<std::string>& wanted) {
    constexpr int kVirtual = 2;
    SQLite::Statement query(*database_, "PRAGMA main.table_xinfo(" + quoted_identifier(table) + ")");
    std::vector<TableColumn> columns;
    while (query.executeStep())
      columns.push_back(
          {query.getColumn("name").getString(), query.getColumn("hidden").getInt() == kVirtual});
    for (const std::string& name : required) {
      const auto found = std::find_if(columns.begin(), columns.end(),
                                      [&](const TableColumn& column) { return column.name == name; });
      if (found == columns.end()) fail("table '" + table + "' has no column '" + name + "'");
      if (found->is_virtual && std::find(wanted.begin(), wanted.end(), name) != wanted.end()) {
        fail("column '" + name + "' of table '" + table +
             "' is a VIRTUAL generated column: what it computes of one row could fail. Make it STORED");
      }
    }
    return columns;
  }

  /// Through no index: its expressions, or damage to it, are no part of the table.
  static std::string query_text(const std::string& table, const std::vector<std::string>& wanted,
                                const std::string& order) {
    std::string list;
    for (const std::string& column : wanted) list += (list.empty() ? "" : ", ") + cell_text(column);
    return "SELECT " + (list.empty() ? "1" : list) + " FROM main." + quoted_identifier(table) + " AS " +
           kTable + " NOT INDEXED ORDER BY " + order;
  }

  /// A column may take over one of the three names a rowid has, or all: it is then out of reach.
  std::string rowid_name(const std::vector<TableColumn>& columns) const {
    for (const char* name : {"rowid", "_rowid_", "oid"}) {
      const bool taken = std::any_of(columns.begin(), columns.end(), [&](const TableColumn& column) {
        return lower_case(column.name) == name;
      });
      if (!taken) return qualified_name(name);
    }
    fail("columns named rowid, _rowid_ and oid leave the table without an order");
  }

  /// The order in which a table without rowid lies in the file, which takes no sorting.
  std::string key_text(const std::string& table) {
    std::string key;
    SQLite::Statement indexes(*database_, "PRAGMA main.index_list(" + quoted_identifier(table) + ")");
    while (indexes.executeStep()) {
      if (indexes.getColumn("origin").getString() == "pk") key = indexes.getColumn("name").getString();
    }
    std::string result;
    SQLite::Statement places(*database_, "PRAGMA main.index_xinfo(" + quoted_identifier(key) + ")");
    while (places.executeStep()) {
      if (places.getColumn("key").getInt() == 0) continue;
      result += (result.empty() ? "" : ", ") + qualified_name(places.getColumn("name").getString()) +
                " COLLATE " + quoted_identifier(places.getColumn("coll").getString()) +
                (places.getColumn("desc").getInt() != 0 ? " DESC" : "");
    }
    return result;
  }

  RawCell cell(std::size_t index) {
    const SQLite::Column column = rows_->getColumn(static_cast<int>(index));
    switch (column.getType()) {
      case SQLITE_INTEGER:
        return write_number(index, column.getInt64());
      case SQLITE_FLOAT:
        return std::isfinite(column.getDouble()) ? write_number(index, column.getDouble()) : kNoText;
      case SQLITE_TEXT: {
        const char* begin = column.getText(nullptr);
        // Of another encoding it is translated here, for which memory may lack.
        if (begin == nullptr) throw SourceIo(SourceIo::Cause::unreadable);
        const std::string_view text(begin, static_cast<std::size_t>(column.getBytes()));
        return is_utf8(text) ? RawCell{text, text.empty()} : kNoText;
      }
      case SQLITE_BLOB:
        return kNoText;
      default:
        return {};
    }
  }

  RawCell write_number(std::size_t index, auto number) {
    auto& room = texts_[index];
    std::to_chars_result end{};
    if constexpr (std::is_floating_point_v<decltype(number)>) {
      // -0.0 is zero, and one number has one text.
      end = std::to_chars(room.data(), room.data() + room.size(), number == 0 ? 0.0 : number,
                          std::chars_format::fixed);
    } else {
      end = std::to_chars(room.data(), room.data() + room.size(), number);
    }
    EPSILOG_INVARIANT(end.ec == std::errc());
    return {{room.data(), static_cast<std::size_t>(end.ptr - room.data())}, false};
  }

  /// What helps against the errors of a database that a reader may not repair; "" where nothing more can be
  /// said than SQLite does.
  [[nodiscard]] std::string remedy(int code) const {
    switch (code) {
      case SQLITE_READONLY_ROLLBACK:
        return ". Another program left a transaction unfinished (a hot journal), and a source is never "
               "written to: open it once with a program that may write, as sqlite3 '" +
               path_ + "' 'PRAGMA quick_check', which rolls it back";
      case SQLITE_CANTOPEN:
      case SQLITE_READONLY_CANTINIT:
      case SQLITE_READONLY_DIRECTORY:
      case SQLITE_READONLY_RECOVERY:
        if (!database_) return "";
        return ". A database in WAL mode is read through '" + path_ +
               "-shm', which cannot be made or used here: give its directory to whoever reads it, or end the "
               "mode with sqlite3 '" +
               path_ + "' 'PRAGMA journal_mode = DELETE'";
      default:
        break;
    }
    return (code & 0xff) == SQLITE_BUSY ? ": another program is writing to it. Try again" : "";
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw SourceError("sqlite '" + path_ + "': " + why);
  }

  static constexpr RawCell kNoText{{}, true, true};

  std::string path_;
  std::size_t wanted_;
  std::uint64_t position_ = 0;
  /// Room for the longest fixed text of a binary64: "-", 1 or 309 digits, ".", 1074 decimals.
  std::vector<std::array<char, 1400>> texts_;
  std::unique_ptr<SQLite::Database> database_;
  std::unique_ptr<SQLite::Statement> rows_;
};

}  // namespace

std::unique_ptr<RowSource> open_sqlite_source(const std::string& path, const std::string& table,
                                              const std::vector<std::string>& required,
                                              const std::vector<std::string>& wanted) {
  return std::make_unique<SqliteRowSource>(path, table, required, wanted);
}

}  // namespace epsilog::engine
