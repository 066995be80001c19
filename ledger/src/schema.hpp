// What identifies a ledger file and its shape.
#pragma once

namespace epsilog::ledger {

/// SQLite's application_id of a ledger: "EPSL".
inline constexpr int kApplicationId = 0x4550534C;
/// SQLite's user_version: the number of the last file of schema/ledger/sqlite that was applied.
inline constexpr int kSchemaVersion = 1;
/// The text of those files, embedded at build time so that an installed library needs no file.
extern const char* const kSchemaSql;

}  // namespace epsilog::ledger
