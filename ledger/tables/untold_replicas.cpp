#include "untold_replicas.hpp"

#include "queries.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kNote =
    "INSERT INTO untold_replica(path, synced, known, size) VALUES(?1, ?2, ?3, ?4)"
    " ON CONFLICT(path) DO UPDATE SET synced = ?2, known = ?3, size = ?4";

}  // namespace

std::vector<UntoldReplica> read_untold(Connection& connection) {
  std::vector<UntoldReplica> untold;
  Query rows = connection.query("SELECT path, synced, known, size FROM untold_replica ORDER BY path");
  while (rows.step()) {
    const auto sync = rows.integer(1) != 0 ? Replica::Sync::commit : Replica::Sync::none;
    untold.push_back({.replica = {.path = rows.text(0), .sync = sync},
                      .known = rows.integer(2),
                      .size = rows.integer(3)});
  }
  return untold;
}

void note_untold(Connection& connection, const UntoldReplica& untold) {
  connection.query(kNote)
      .with(untold.replica.path, std::int64_t{untold.replica.sync == Replica::Sync::commit}, untold.known,
            untold.size)
      .run();
}

void forget_untold(Connection& connection, const std::string& path) {
  connection.query("DELETE FROM untold_replica WHERE path = ?1").with(path).run();
}

void copy_untold(Connection& from, Connection& to) {
  for (const UntoldReplica& untold : read_untold(from)) note_untold(to, untold);
}

}  // namespace epsilog::ledger
