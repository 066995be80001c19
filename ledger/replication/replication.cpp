#include "replication.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "poison.hpp"
#include "record_log.hpp"
#include "replica_mark.hpp"
#include "stored_lines.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 20;
/// Room that is kept, so that a full disk is noticed before anything is charged.
constexpr off_t kAhead = off_t{1} << 20;

void sync_as_wanted(ReplicaFile& file, const Replica& replica) {
  if (replica.sync == Replica::Sync::commit) file.sync();
}

/// The same bytes at the same place: whether the disk has them is not known.
void write_again(ReplicaFile& file, off_t from, off_t to) {
  while (from < to) {
    const std::string bytes = file.read(
        from, static_cast<std::size_t>(std::min<off_t>(to - from, static_cast<off_t>(kWrittenAtOnce))));
    if (bytes.empty()) return;
    file.write(from, bytes);
    from += static_cast<off_t>(bytes.size());
  }
}

/// The lines of the ledger from there on, and their trailer. Where it ends.
ReplicaEnd append_lines(ReplicaFile& file, Connection& connection, ReplicaEnd from, std::int64_t size) {
  StoredLines lines(connection, from.size);
  std::string chunk;
  for (; from.size < size; ++from.size) {
    if (!lines.next() || lines.index() != from.size) {
      throw LedgerCorrupt("log: line " + std::to_string(from.size) + " is not there");
    }
    chunk += lines.text() + "\n";
    if (chunk.size() < kWrittenAtOnce) continue;
    file.write(from.end, chunk);
    from.end += static_cast<off_t>(chunk.size());
    chunk.clear();
  }
  chunk += trailer_text(RecordLog::load(connection, size).head());
  file.write(from.end, chunk);
  from.end += static_cast<off_t>(chunk.size());
  return from;
}

Hash last_leaf(Connection& connection, std::int64_t size) {
  return RecordLog::load(connection, size).last_leaf();
}

}  // namespace

bool Replication::is_still_known(const LedgerTip& tip, const Replica& replica) const {
  return known_ && known_->replica == replica && known_->at.size == tip.log.size() &&
         known_->last_leaf == tip.log.last_leaf() && known_->file.named() &&
         known_->file.size() == known_->at.end;
}

void Replication::bring_up_to_date(Connection& connection, int lock_file, const LedgerTip& tip,
                                   const Replica& replica) {
  if (!is_still_known(tip, replica)) {
    known_.reset();
    const ReplicaMark mark = read_replica_mark(lock_file, ledger_id_);
    const ReplicaEnd said = mark.size > tip.meta.replica_size
                                ? ReplicaEnd{.size = mark.size, .end = static_cast<off_t>(mark.end)}
                                : ReplicaEnd{.size = tip.meta.replica_size, .end = 0};
    adopt(connection, tip.log.size(), said,
          {.replica = replica, .file = ReplicaFile::open(replica.path, files_)});
    publish(lock_file);
  }
  reserve_ahead(0);
}

void Replication::switch_to(Connection& connection, int lock_file, std::int64_t size,
                            const Replica& replica) {
  known_.reset();
  // Said of the one so far. What the new one holds is said once the policy that names it is active.
  write_replica_mark(lock_file, {});
  if (!exists(replica.path)) make_replica(replica, files_, connection, size);
  adopt(connection, size, {}, {.replica = replica, .file = ReplicaFile::open(replica.path, files_)});
}

ReplicaEnd catch_up(ReplicaFile& file, const Replica& replica, Connection& connection, std::int64_t size,
                    const ReplicaEnd& said) {
  const ReplicaExtent there = read_replica(file, replica.path, connection, size, said);
  write_again(file, there.known.end, there.verified.end);
  if (file.size() > there.verified.end) file.cut(there.verified.end);
  ReplicaEnd at = there.verified;
  if (at.size < size) {
    file.reserve(at.end, kAhead);
    at = append_lines(file, connection, at, size);
  }
  if (at.end > there.known.end) sync_as_wanted(file, replica);
  return at;
}

void Replication::adopt(Connection& connection, std::int64_t size, const ReplicaEnd& said, Known found) {
  found.at = catch_up(found.file, found.replica, connection, size, said);
  found.last_leaf = last_leaf(connection, size);
  known_ = std::move(found);
}

void Replication::reserve_ahead(std::size_t bytes) {
  const off_t needed = known_->at.end + static_cast<off_t>(bytes);
  if (needed + kAhead / 2 <= known_->reserved) return;
  known_->file.reserve(known_->at.end, static_cast<off_t>(bytes) + kAhead);
  known_->reserved = needed + kAhead;
}

void Replication::reserve(std::size_t bytes) {
  reserve_ahead(bytes + trailer_text({.size = INT64_MAX}).size());
}

void Replication::write(int lock_file, std::string_view lines, const TreeHead& tree, const Hash& last_leaf) {
  try {
    const std::string trailer = trailer_text(tree);
    if (!known_->file.named() || known_->file.size() != known_->at.end) {
      throw ReplicaUnavailable("replica " + known_->replica.path +
                               ": somebody else wrote to it, or moved it");
    }
    std::string bytes;
    bytes.reserve(lines.size() + trailer.size());
    bytes.append(lines).append(trailer);
    known_->file.write(known_->at.end, bytes);
    sync_as_wanted(known_->file, known_->replica);
    known_->at = {.size = static_cast<std::int64_t>(tree.size),
                  .end = known_->at.end + static_cast<off_t>(bytes.size())};
    known_->last_leaf = last_leaf;
  } catch (...) {
    known_.reset();
    throw;
  }
  publish(lock_file);
}

void Replication::publish(int lock_file) noexcept {
  write_replica_mark(lock_file, {.boot_id = current_boot_id(),
                                 .ledger_id = ledger_id_,
                                 .size = known_->at.size,
                                 .end = static_cast<std::int64_t>(known_->at.end)});
}

void make_replica(const Replica& replica, const LedgerFiles& files, Connection& connection,
                  std::int64_t size) {
  ReplicaFile file = ReplicaFile::create(replica.path, files);
  try {
    static_cast<void>(append_lines(file, connection, {}, size));
    file.sync();
  } catch (...) {
    ::unlink(replica.path.c_str());
    throw;
  }
}

}  // namespace epsilog::ledger
