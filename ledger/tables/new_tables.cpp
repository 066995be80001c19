#include "new_tables.hpp"

#include <string>

#include "schema.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kInsertMeta =
    "INSERT INTO meta(one, ledger_id, created_at, last_time, decisions, policy_versions, limit_changes,"
    " clock_events, accounts, limit_removals, relocations, events, names, builds, plans, credential_events,"
    " key_events, recoveries, log_size, replica_size, read_only, wall_clock, boot_id, boot_offset, held_at,"
    " seal_events, features)"
    " VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,"
    " ?21, ?22, ?23, ?24, ?25, ?26)";

}  // namespace

void make_tables(Connection& connection) {
  connection.execute(kSchemaSql);
  connection.execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
  connection.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
}

void insert_meta(Connection& connection, const Meta& meta) {
  connection.query(kInsertMeta)
      .with(bytes_of_hex<16>(meta.ledger_id, "ledger_id"), stored_time(meta.created_at),
            stored_time(meta.last_time), meta.decisions, meta.policy_versions, meta.limit_changes,
            meta.clock_events, meta.accounts, meta.limit_removals, meta.relocations, meta.events, meta.names,
            meta.builds, meta.plans, meta.credential_events, meta.key_events, meta.recoveries, meta.log_size,
            meta.replica_size, std::int64_t{meta.read_only}, stored_time(meta.clock.wall_clock),
            meta.clock.boot_id, meta.clock.boot_offset, stored_time(meta.clock.held_at),
            meta.seal_events, meta.features)
      .run();
}

}  // namespace epsilog::ledger
