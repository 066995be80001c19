#include "stale_replicas.hpp"

#include "queries.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kNote =
    "INSERT INTO stale_replica(path, synced, known_size, size) VALUES(?1, ?2, ?3, ?4)"
    " ON CONFLICT(path) DO UPDATE SET synced = ?2, known_size = ?3, size = ?4";

}  // namespace

std::vector<StaleReplica> read_stale_replicas(Connection& connection) {
  std::vector<StaleReplica> stale;
  Query rows = connection.query("SELECT path, synced, known_size, size FROM stale_replica ORDER BY path");
  while (rows.step()) {
    const auto sync = rows.integer(1) != 0 ? Replica::Sync::commit : Replica::Sync::none;
    stale.push_back(
        {.replica = {.path = rows.text(0), .sync = sync}, .known = rows.integer(2), .size = rows.integer(3)});
  }
  return stale;
}

void insert_stale_replica(Connection& connection, const StaleReplica& stale) {
  connection.query(kNote)
      .with(stale.replica.path, std::int64_t{stale.replica.sync == Replica::Sync::commit}, stale.known,
            stale.size)
      .run();
}

void delete_stale_replica(Connection& connection, const std::string& path) {
  connection.query("DELETE FROM stale_replica WHERE path = ?1").with(path).run();
}

void copy_stale_replicas(Connection& from, Connection& to) {
  for (const StaleReplica& stale : read_stale_replicas(from)) insert_stale_replica(to, stale);
}

}  // namespace epsilog::ledger
