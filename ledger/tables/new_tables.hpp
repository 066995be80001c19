// What a file needs to be a ledger of today's schema, before anything happened in it.
#pragma once

#include "connection.hpp"
#include "queries.hpp"

namespace epsilog::ledger {

/// Tables, indices, triggers and the numbers by which the file is known.
/// Requires  an empty file, a transaction.
void make_tables(Connection& connection);
/// The one row of meta, as it is.
void insert_meta(Connection& connection, const Meta& meta);

}  // namespace epsilog::ledger
