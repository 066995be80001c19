#include "replica_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <optional>
#include <utility>

#include "commit_mark.hpp"
#include "mark_fields.hpp"
#include "poison.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kReplicaKind = "epsilog-replica-1";
constexpr off_t kMarkPlace = kCommitMarkBytes;

/// Which counts here. Where boots cannot be told apart none does.
ReplicaMark if_of(const std::string& ledger_id, ReplicaMark mark) {
  if (mark.boot_id != current_boot_id() || mark.boot_id == "unknown" || mark.ledger_id != ledger_id)
    return {};
  return mark;
}

}  // namespace

std::string replica_mark_bytes(const ReplicaMark& mark) {
  std::string bytes(kReplicaKind);
  bytes += " " + mark.boot_id + " " + mark.ledger_id + " " + std::to_string(mark.size) + " " +
           std::to_string(mark.end) + "\n";
  return mark_with_digest(std::move(bytes), kCommitMarkBytes);
}

ReplicaMark parse_replica_mark(std::string_view bytes) {
  std::optional<std::string_view> line = line_of_mark(bytes, kCommitMarkBytes);
  if (!line || next_field(*line) != kReplicaKind) return {};
  ReplicaMark mark;
  mark.boot_id = next_field(*line);
  mark.ledger_id = next_field(*line);
  mark.size = count_field(next_field(*line)).value_or(0);
  mark.end = count_field(*line).value_or(0);
  if (mark.end == 0) return {};
  return mark;
}

ReplicaMark read_replica_mark(int lock_file, const std::string& ledger_id) {
  constexpr int kAttempts = 4;  // what was read while it was written fails its digest, and is whole next time
  for (int i = 0; i < kAttempts; ++i) {
    std::string bytes(kCommitMarkBytes, '\0');
    const ssize_t count = ::pread(lock_file, bytes.data(), bytes.size(), kMarkPlace);
    if (count < static_cast<ssize_t>(kCommitMarkBytes)) return {};
    const ReplicaMark mark = parse_replica_mark(bytes);
    if (mark.size > 0) return if_of(ledger_id, mark);
  }
  return {};
}

ReplicaMark read_replica_mark(const LedgerFiles& files, const std::string& ledger_id) {
  // An flock belongs to an open file description: closing this one gives up no lock of ours.
  const Descriptor file(::open(files.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return {};
  return read_replica_mark(file.get(), ledger_id);
}

std::string ledger_of_replica_mark(int lock_file) {
  std::string bytes(kCommitMarkBytes, '\0');
  const ssize_t count = ::pread(lock_file, bytes.data(), bytes.size(), kMarkPlace);
  return count < static_cast<ssize_t>(kCommitMarkBytes) ? "" : parse_replica_mark(bytes).ledger_id;
}

void write_replica_mark(int lock_file, const ReplicaMark& mark) noexcept {
  try {
    const std::string bytes = replica_mark_bytes(mark);
    while (::pwrite(lock_file, bytes.data(), bytes.size(), kMarkPlace) < 0 && errno == EINTR) {
    }
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace epsilog::ledger
