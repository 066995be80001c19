// The lines of a ledger, made again from its rows, one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "connection.hpp"

namespace epsilog::ledger {

/// Thread-safety: one owner.
class StoredLines final {
 public:
  /// From that number on, those before `end`.
  /// Requires  the connection outlives this.
  StoredLines(Connection& connection, std::int64_t from, std::int64_t end = INT64_MAX);

  /// Goes to the next one: false after the last.
  /// Throws  StorageFailure.
  [[nodiscard]] bool next();
  [[nodiscard]] std::int64_t index() const { return rows_.integer(0); }
  [[nodiscard]] std::int64_t kind() const { return rows_.integer(1); }
  [[nodiscard]] std::int64_t row() const { return rows_.integer(2); }
  /// Without a line feed.
  /// Throws  StorageFailure; LedgerCorrupt, naming the line, if its row cannot be read or does not have the
  ///         leaf that was written with it.
  [[nodiscard]] std::string text();

 private:
  Connection* connection_;
  SQLite::Statement statement_;
  Query rows_;
};

}  // namespace epsilog::ledger
