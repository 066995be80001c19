// A table of an SQLite database as a row source, opened read-only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "row_source.hpp"

namespace epsilog::engine {

/// Rows come in rowid order, or in that of the primary key of a table without rowid: an order that
/// one unit's rows cannot change for another's. A view has no such order and is refused; so is a VIRTUAL
/// generated column among the wanted ones. What either computes of one row could fail, and the failure would
/// tell. All is read in one transaction, the checks included.
///
/// NULL, BLOB and a TEXT of more than 16 MiB in the database's encoding are missing. An INTEGER is its
/// decimal text; a REAL the shortest decimal text without exponent that denotes it ("3" for 3.0); a TEXT that
/// is not UTF-8 is missing.
///
/// Requires  every wanted column is among the required ones.
/// Throws    SourceError naming the file: absent, not a database, a file of an open ledger, no such table, a
///           required column absent, and with the remedy where SQLite may not read what it could repair.
[[nodiscard]] std::unique_ptr<RowSource> open_sqlite_source(const std::string& path, const std::string& table,
                                                            const std::vector<std::string>& required,
                                                            const std::vector<std::string>& wanted);

}  // namespace epsilog::engine
