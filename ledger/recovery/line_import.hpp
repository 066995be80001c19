// Lines as the rows they were made from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "connection.hpp"
#include "queries.hpp"
#include "record_log.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// What a line does not say, and what comes after the last one.
struct LineImportOptions {
  bool read_only = true;
  /// The bytes of a data token, of which the line has the hash; "": that is all there is. Bytes that do not
  /// have that hash are left out.
  std::function<std::string(const DecisionRecord& record)> token = {};
  /// Called when all lines are there, before meta is written.
  std::function<void(Connection& db, Meta& meta, RecordLog& log)> at_end = {};
};

/// Fills an empty file. Returns how many lines there were.
/// Requires  a transaction.
/// Throws    LedgerCorrupt naming the line that is none, or cannot follow; StorageFailure; what `next_line`
///           throws.
std::int64_t import_all(Connection& db, const std::function<std::optional<std::string>()>& next_line,
                        const LineImportOptions& rules);

}  // namespace epsilog::ledger
