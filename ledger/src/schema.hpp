// What identifies a ledger file and its shape.
#pragma once

#include <array>

namespace epsilog::ledger {

/// SQLite's application_id of a ledger: "EPSL".
inline constexpr int kApplicationId = 0x4550534C;
/// SQLite's user_version: the number of the last file of schema/ledger/sqlite that was applied.
inline constexpr int kSchemaVersion = 3;
/// The text of file n + 1 at n, embedded at build time so that an installed library needs no file. A new
/// ledger is what all of them make of an empty file, in order; an older one lacks the later ones.
extern const std::array<const char*, kSchemaVersion> kSchemaSql;

}  // namespace epsilog::ledger
