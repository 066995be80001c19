// Whether the schema of a file is the shipped one, part by part or at a glance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"

namespace epsilog::ledger {

using Schema = std::map<std::string, std::string>;  ///< "table charge" -> its SQL, blanks and comments aside

/// Of the file a connection has open; SQLite's own statistics, which it may make at any time, aside.
/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] Schema read_schema(Connection& connection);
/// What SQLite makes of the shipped text, so that both sides passed through the same parser.
/// Made once a process. Thread-safety: yes.
[[nodiscard]] const Schema& shipped_schema();
/// "trigger charge_no_update is missing", …; empty: the same.
[[nodiscard]] std::vector<std::string> schema_differences(const Schema& shipped, const Schema& stored);

/// A digest of the same parts to the byte, blanks and comments with them, in the order in which they were
/// made.
/// Throws  as read_schema.
[[nodiscard]] std::string schema_digest(Connection& connection);
/// That of a new ledger, as the SQLite that this was written with makes it: who finds it need not compare.
/// With another SQLite, or where a part was made again, it may differ, and then the parts are compared.
extern const std::string_view kShippedSchemaDigest;

/// Throws  LedgerCorrupt naming what differs.
void require_shipped_schema(Connection& connection, const std::string& database);

/// Looks at the schema once, and again whenever somebody changed it.
/// Thread-safety: none; used under the turn.
class SchemaWatch final {
 public:
  /// Requires  a transaction, so that what is seen is what is written to.
  /// Throws    as require_shipped_schema; NeedsFeature.
  void require_shipped(Connection& connection, const std::string& database);

 private:
  std::optional<std::int64_t> seen_;  // SQLite's schema_version of the last comparison
};

}  // namespace epsilog::ledger
