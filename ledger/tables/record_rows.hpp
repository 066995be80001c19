// Records as rows: one way into the tables, whoever writes history: a transaction or an import.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "connection.hpp"
#include "decision_rows.hpp"
#include "queries.hpp"
#include "record_log.hpp"
#include "records.hpp"
#include "request_text.hpp"

namespace epsilog::ledger {

/// Writes the row of a record other than a decision or the ledger's beginning; a policy's place has none of
/// its own, for it stands in the version's. An account is opened with nothing spent or reserved.
void insert_row(Connection& connection, const Record& record);
/// The number of its row, as `log` has it.
[[nodiscard]] std::int64_t row_number(const Record& record);

/// What the rows say that `log` has under these numbers.
/// Throws  StorageFailure, LedgerCorrupt if there is no such row, or it cannot be read.
[[nodiscard]] Record record_at(Connection& connection, std::int64_t kind, std::int64_t row);

/// What is being written: the rows, their lines, and what meta will say of both.
/// Thread-safety: one owner.
class Recorder final {
 public:
  /// Requires  all outlive this; a transaction of the connection.
  Recorder(Connection& connection, Meta& meta, RecordLog& log)
      : connection_(&connection), meta_(&meta), log_(&log) {}

  /// Row and line of a record other than a decision.
  void write(const Record& record);
  /// The two lines of a policy version, whose row has both.
  void write_policy(const PolicyVersion& version);
  /// The rows and the line of a decision, that of its plan before it if that is new.
  /// Ensures  decision.line and decision.log say which line it is; in which tree, is known to who commits.
  /// Throws   InvalidParameter if the request is no canonical JSON object, or would not come out again.
  void write_decision(StoredDecision& decision, std::vector<Movement> movements);

 private:
  [[nodiscard]] std::int64_t plan_of(const StoredDecision& decision, const RequestParts& parts);
  void log_row(const Record& record);

  Connection* connection_;
  Meta* meta_;
  RecordLog* log_;
};

}  // namespace epsilog::ledger
