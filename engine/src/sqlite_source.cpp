#include "sqlite_source.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <type_traits>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"

namespace epsilog::engine {
namespace {

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

struct TableColumn {
  std::string name;
  int key_position = 0;  ///< from 1 within the primary key, 0 outside it
};

class SqliteRowSource final : public RowSource {
 public:
  SqliteRowSource(const std::string& path, const std::string& table, const std::vector<std::string>& required,
                  const std::vector<std::string>& wanted)
      : path_(path), wanted_(wanted.size()), texts_(wanted.size()) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) fail("no such file");
    translated([&] {
      database_ = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READONLY, 10'000);
      const bool has_rowid = find_table(table);
      const std::vector<TableColumn> columns = find_columns(table, required);
      rows_ = std::make_unique<SQLite::Statement>(*database_, query_text(table, wanted, columns, has_rowid));
    });
  }

  Record next(std::span<RawCell> cells) override {
    Record record = Record::none;
    translated([&] {
      if (!rows_->executeStep()) return;
      record = Record::readable;
      for (std::size_t i = 0; i < wanted_; ++i) cells[i] = cell(i);
    });
    return record;
  }

  [[nodiscard]] double fraction_read() const override { return 0; }

 private:
  /// Whether the table has a rowid.
  bool find_table(const std::string& table) {
    SQLite::Statement query(*database_,
                            "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?");
    query.bind(1, table);
    if (!query.executeStep()) fail("has no table '" + table + "'");
    const std::string type = query.getColumn(0).getString();
    if (type != "table") fail("'" + table + "' is a " + type + ", not a table: its rows have no fixed order");
    return query.getColumn(1).getInt() == 0;
  }

  std::vector<TableColumn> find_columns(const std::string& table, const std::vector<std::string>& required) {
    SQLite::Statement query(*database_, "SELECT name, pk FROM pragma_table_xinfo(?)");
    query.bind(1, table);
    std::vector<TableColumn> columns;
    while (query.executeStep())
      columns.push_back({query.getColumn(0).getString(), query.getColumn(1).getInt()});
    for (const std::string& wanted : required) {
      const bool found = std::any_of(columns.begin(), columns.end(),
                                     [&](const TableColumn& column) { return column.name == wanted; });
      if (!found) fail("table '" + table + "' has no column '" + wanted + "'");
    }
    return columns;
  }

  std::string query_text(const std::string& table, const std::vector<std::string>& wanted,
                         std::vector<TableColumn> columns, bool has_rowid) const {
    std::string list;
    for (const std::string& column : wanted) list += (list.empty() ? "" : ", ") + quoted_identifier(column);
    return "SELECT " + (list.empty() ? "1" : list) + " FROM main." + quoted_identifier(table) + " ORDER BY " +
           (has_rowid ? rowid_name(columns) : key_text(std::move(columns)));
  }

  /// A column may take over one of the three names a rowid has, or all: it is then out of reach.
  std::string rowid_name(const std::vector<TableColumn>& columns) const {
    for (const char* name : {"rowid", "_rowid_", "oid"}) {
      const bool taken = std::any_of(columns.begin(), columns.end(), [&](const TableColumn& column) {
        return lower_case(column.name) == name;
      });
      if (!taken) return name;
    }
    fail("columns named rowid, _rowid_ and oid leave the table without an order");
  }

  static std::string key_text(std::vector<TableColumn> columns) {
    std::sort(columns.begin(), columns.end(),
              [](const TableColumn& a, const TableColumn& b) { return a.key_position < b.key_position; });
    std::string result;
    for (const TableColumn& column : columns) {
      if (column.key_position > 0) result += (result.empty() ? "" : ", ") + quoted_identifier(column.name);
    }
    return result;
  }

  RawCell cell(std::size_t index) {
    const SQLite::Column column = rows_->getColumn(static_cast<int>(index));
    switch (column.getType()) {
      case SQLITE_INTEGER:
        return written(index, column.getInt64());
      case SQLITE_FLOAT:
        return std::isfinite(column.getDouble()) ? written(index, column.getDouble()) : RawCell{};
      case SQLITE_TEXT: {
        const char* begin = column.getText();
        const std::string_view text(begin, static_cast<std::size_t>(column.getBytes()));
        return {text, text.empty() || !is_utf8(text)};
      }
      default:
        return {};
    }
  }

  RawCell written(std::size_t index, auto number) {
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

  void translated(const std::function<void()>& action) const {
    try {
      action();
    } catch (const SQLite::Exception& error) {
      std::throw_with_nested(SourceError("sqlite '" + path_ + "': " + error.what()));
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw SourceError("sqlite '" + path_ + "': " + why);
  }

  std::string path_;
  std::size_t wanted_;
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
