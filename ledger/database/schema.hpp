// What identifies a ledger file and its shape.
#pragma once

namespace epsilog::ledger {

/// SQLite's application_id of a ledger: "EPS1".
inline constexpr int kApplicationId = 0x45505331;
/// That of the files which programs from before the first release made: "EPSL". Nothing reads them.
inline constexpr int kDevelopmentApplicationId = 0x4550534C;
/// SQLite's user_version. It stays 1: the rows of `feature` say what was added (docs/ledger_format.md,
/// "Growth").
inline constexpr int kSchemaVersion = 1;
/// The text of that file, embedded at build time so that an installed library needs none.
extern const char* const kSchemaSql;

}  // namespace epsilog::ledger
