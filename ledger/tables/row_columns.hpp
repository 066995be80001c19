// The columns of the tables whose rows are one record each: one list a table drives writing and reading.
//
// Thread-safety: as Connection.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "connection.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/credential_event.hpp"
#include "records.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {

/// One column: a number, a text, or a bool as 0 or 1.
template <class Row, class Value>
struct RowColumn {
  const char* name;
  Value Row::*member;
};

/// A column that stores the text of a time as milliseconds.
template <class Row>
struct TimeColumn {
  const char* name;
  std::string Row::*member;
};

template <class Row, class Value>
constexpr RowColumn<Row, Value> column(const char* name, Value Row::*member) {
  return {name, member};
}

template <class Row>
constexpr TimeColumn<Row> time_column(const char* name, std::string Row::*member) {
  return {name, member};
}

/// A table and its columns. The first column is the number of the row.
template <class Row>
struct RowTable;

template <>
struct RowTable<Relocation> {
  static constexpr const char* name = "relocation";
  static constexpr auto columns = std::tuple(
      column("seq", &Relocation::seq), column("event", &Relocation::event),
      column("after_decision", &Relocation::after_decision), column("dataset", &Relocation::dataset),
      column("path", &Relocation::path), time_column("at", &Relocation::at), column("by", &Relocation::by),
      column("why", &Relocation::why));
};

template <>
struct RowTable<LimitChange> {
  static constexpr const char* name = "limit_change";
  static constexpr auto columns =
      std::tuple(column("seq", &LimitChange::seq), column("after_decision", &LimitChange::after_decision),
                 column("policy_version", &LimitChange::policy_version),
                 column("account", &LimitChange::account), column("old_limit", &LimitChange::old_limit),
                 column("new_limit", &LimitChange::new_limit), time_column("at", &LimitChange::changed_at),
                 column("by", &LimitChange::by), column("why", &LimitChange::why));
};

template <>
struct RowTable<LimitRemoval> {
  static constexpr const char* name = "limit_removal";
  static constexpr auto columns =
      std::tuple(column("seq", &LimitRemoval::seq), column("after_decision", &LimitRemoval::after_decision),
                 column("policy_version", &LimitRemoval::policy_version),
                 column("account", &LimitRemoval::account), time_column("at", &LimitRemoval::removed_at),
                 column("by", &LimitRemoval::by), column("why", &LimitRemoval::why));
};

template <>
struct RowTable<CredentialEvent> {
  static constexpr const char* name = "credential_event";
  static constexpr auto columns =
      std::tuple(column("seq", &CredentialEvent::seq), column("revoked", &CredentialEvent::revoked),
                 column("credential", &CredentialEvent::credential), column("type", &CredentialEvent::type),
                 column("principal", &CredentialEvent::principal), column("value", &CredentialEvent::value),
                 time_column("until", &CredentialEvent::until), time_column("at", &CredentialEvent::at),
                 column("by", &CredentialEvent::by), column("why", &CredentialEvent::why));
};

template <>
struct RowTable<KeyEvent> {
  static constexpr const char* name = "key_event";
  static constexpr auto columns =
      std::tuple(column("seq", &KeyEvent::seq), column("retired", &KeyEvent::retired),
                 column("verifier_key", &KeyEvent::verifier_key), time_column("at", &KeyEvent::at),
                 column("by", &KeyEvent::by), column("why", &KeyEvent::why));
};

template <>
struct RowTable<RecoveryEvent> {
  static constexpr const char* name = "recovery";
  static constexpr auto columns = std::tuple(
      column("seq", &RecoveryEvent::seq), column("cause", &RecoveryEvent::cause),
      column("restored_lines", &RecoveryEvent::restored), column("dropped_lines", &RecoveryEvent::dropped),
      time_column("at", &RecoveryEvent::at), column("by", &RecoveryEvent::by),
      column("why", &RecoveryEvent::why), column("remembered_lines", &RecoveryEvent::remembered),
      column("found_lines", &RecoveryEvent::found));
};

template <>
struct RowTable<SealEvent> {
  static constexpr const char* name = "seal_event";
  static constexpr auto columns = std::tuple(
      column("seq", &SealEvent::seq), column("unsealed", &SealEvent::unsealed),
      time_column("at", &SealEvent::at), column("by", &SealEvent::by), column("why", &SealEvent::why));
};

template <>
struct RowTable<FeatureRecord> {
  static constexpr const char* name = "feature";
  static constexpr auto columns =
      std::tuple(column("number", &FeatureRecord::number), column("name", &FeatureRecord::name),
                 time_column("at", &FeatureRecord::at));
};

/// Whether the rows of a record are written and read by its list of columns.
template <class Row>
concept HasRowTable = requires {
  RowTable<Row>::columns;
};

template <class Row, class Value>
[[nodiscard]] decltype(auto) column_value(const RowColumn<Row, Value>& column, const Row& record) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return (record.*column.member);
  } else {
    return static_cast<std::int64_t>(record.*column.member);
  }
}

template <class Row>
[[nodiscard]] std::int64_t column_value(const TimeColumn<Row>& column, const Row& record) {
  return stored_time(record.*column.member);
}

template <class Row, class Value>
void read_column(const RowColumn<Row, Value>& column, const Query& row, int place, Row& record) {
  if constexpr (std::is_same_v<Value, std::string>) {
    record.*column.member = row.text(place);
  } else if constexpr (std::is_same_v<Value, bool>) {
    record.*column.member = stored_truth(row.integer(place), (std::string("column ") + column.name).c_str());
  } else {
    const std::int64_t number = row.integer(place);
    if (std::is_unsigned_v<Value> && number < 0) throw LedgerCorrupt("a number of lines is negative");
    record.*column.member = static_cast<Value>(number);
  }
}

template <class Row>
void read_column(const TimeColumn<Row>& column, const Query& row, int place, Row& record) {
  record.*column.member = row.time(place);
}

/// "SELECT … FROM …" of all columns in their order.
template <class Row>
[[nodiscard]] std::string select_columns() {
  std::string names;
  std::apply(
      [&](const auto&... column) { ((names.append(names.empty() ? "" : ", ").append(column.name)), ...); },
      RowTable<Row>::columns);
  return "SELECT " + names + " FROM " + RowTable<Row>::name;
}

/// Requires  the query has the columns of select_columns() and stands on a row.
/// Throws    LedgerCorrupt.
template <class Row>
[[nodiscard]] Row record_of_columns(const Query& row) {
  Row record;
  int place = 0;
  std::apply([&](const auto&... column) { (read_column(column, row, place++, record), ...); },
             RowTable<Row>::columns);
  return record;
}

/// Visits every row as a record, in the order of their numbers.
/// Throws  StorageFailure, LedgerCorrupt, and what `visit` throws.
template <class Row, class Visit>
void each_row(Connection& connection, const Visit& visit) {
  SQLite::Statement statement =
      connection.prepare(select_columns<Row>() + " ORDER BY " + std::get<0>(RowTable<Row>::columns).name);
  Query rows(statement, connection.handle());
  while (rows.step()) visit(record_of_columns<Row>(rows));
}

/// Returns the text that selects the row of a number. The text lives as long as the program.
template <class Row>
[[nodiscard]] const char* select_by_number() {
  static const std::string sql =
      select_columns<Row>() + " WHERE " + std::get<0>(RowTable<Row>::columns).name + " = ?1";
  return sql.c_str();
}

/// Returns the text that inserts a row. The text lives as long as the program.
template <class Row>
[[nodiscard]] const char* insert_columns() {
  static const std::string sql = [] {
    std::string names;
    std::string values;
    int place = 0;
    const auto add = [&](const char* name) {
      names.append(names.empty() ? "" : ", ").append(name);
      values.append(values.empty() ? "?" : ", ?").append(std::to_string(++place));
    };
    std::apply([&](const auto&... column) { (add(column.name), ...); }, RowTable<Row>::columns);
    return std::string("INSERT INTO ") + RowTable<Row>::name + "(" + names + ") VALUES(" + values + ")";
  }();
  return sql.c_str();
}

/// Writes the row of a record.
/// Throws  StorageFailure, LedgerCorrupt of what is no time.
template <HasRowTable Row>
void insert_record(Connection& connection, const Row& record) {
  std::apply(
      [&](const auto&... column) {
        connection.query(insert_columns<Row>()).with(column_value(column, record)...).run();
      },
      RowTable<Row>::columns);
}

}  // namespace epsilog::ledger
