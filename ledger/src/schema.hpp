// What identifies a ledger file and its shape.
#pragma once

#include <array>

namespace epsilog::ledger {

/// SQLite's application_id of a ledger: "EPSL".
inline constexpr int kApplicationId = 0x4550534C;
/// SQLite's user_version: the number of the last file of schema/ledger/sqlite that was applied.
inline constexpr int kSchemaVersion = 4;
/// The last of those whose files are altered by the next number.
inline constexpr int kLastAlteredVersion = 3;
/// The text of file n + 1 at n, embedded at build time so that an installed library needs no file. A ledger
/// of schema 1 to 3 is what the first ones make of an empty file, in order; a new one is what the last makes.
extern const std::array<const char*, kSchemaVersion> kSchemaSql;

}  // namespace epsilog::ledger
