// Features that lines need, and those that this program knows.
//
// A program that does not know a feature cannot judge the lines behind its announcement, nor write after
// them. So each connection looks at the table of features when it is opened, and again whenever another
// connection wrote. The table is empty in all ledgers of today, and no program of today knows a feature.
//
// Thread-safety: yes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connection.hpp"

namespace epsilog::ledger {

[[nodiscard]] bool is_known_feature(const std::string& name);

/// Throws  NeedsFeature naming the first feature of this ledger that the program does not know;
///         StorageFailure, LedgerCorrupt.
void require_known_features(Connection& connection, const std::string& database);

/// Returns the feature that this line, without its line feed, announces; none if it is a line of another
/// kind.
[[nodiscard]] std::optional<std::string> announced_feature(std::string_view line);

/// Throws  NeedsFeature if the line announces a feature that the program does not know. `what` names its
/// file.
void require_known_line(std::string_view line, const std::string& what);

}  // namespace epsilog::ledger
