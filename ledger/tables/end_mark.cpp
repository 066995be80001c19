#include "end_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "commit_mark.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "mark_fields.hpp"
#include "queries.hpp"
#include "records.hpp"
#include "seal_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kEndKind = "epsilog-length-1";
constexpr off_t kEndOffset = 2 * kCommitMarkBytes;

/// A digest in its 64 hexadecimal digits.
std::optional<Hash> hash_of(std::string_view digits) {
  Hash hash{};
  if (digits.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const first = digits.data() + 2 * i;
    if (std::from_chars(first, first + 2, hash[i], 16).ptr != first + 2) return std::nullopt;
  }
  return hash;
}

EndMarkReading unreadable_end_mark() {
  return {.state = EndMarkState::unreadable};
}

[[noreturn]] void throw_lines_missing(const EndMark& end, std::int64_t found, const LedgerFiles& files) {
  const std::string said =
      files.lock() + " remembers " + std::to_string(end.lines) + " lines since " + end.time;
  throw LinesMissing(
      "ledger " + files.database + ": lines are missing: " + said + ", " +
          (found < end.lines ? std::to_string(found) + " are there"
                             : "and line " + std::to_string(end.lines - 1) + " is another one now") +
          ". Nothing was done. " + seal_phrase(end) +
          "If you have a replica: `epsilog recover --from REPLICA`. If you have a backup: "
          "move the ledger away, then `epsilog restore`. If what is missing is lost: `epsilog recover "
          "--accept-rollback --why REASON`",
      end.lines, found);
}

/// Whether a recovery on record accepted the loss of that end. Killed before it wrote L.lock, it is not asked for
/// again. An end of the recovery's time or later came after it, though it may have as many lines.
bool accepted_on_record(Connection& connection, const EndMark& end) {
  Query row = connection.query("SELECT 1 FROM recovery WHERE remembered_lines = ?1 AND at > ?2 LIMIT 1");
  row.with(end.lines, stored_time(end.time));
  return row.step();
}

std::int64_t lines_of(Connection& connection) {
  Query row = connection.query("SELECT log_size FROM meta");
  if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
  return row.integer(0);
}

std::optional<Hash> leaf_at(Connection& connection, std::int64_t index) {
  Query row = connection.query("SELECT leaf FROM log WHERE line_index = ?1");
  row.with(index);
  if (!row.step()) return std::nullopt;
  return sized_bytes<32>(row.bytes(0), "a hash of the tree");
}

}  // namespace

std::string seal_phrase(const EndMark& end) {
  if (!end.sealed) return "";
  return "It was sealed then, to go on elsewhere: if it does, this copy is an older one and must not be "
         "used. ";
}

std::string end_mark_bytes(const EndMark& end) {
  std::string bytes(kEndKind);
  bytes += " " + end.ledger_id + " " + std::to_string(end.lines) + " " + hex_text(end.leaf) + " " + end.time +
           (end.sealed ? " sealed\n" : "\n");
  return mark_with_digest(std::move(bytes), kCommitMarkBytes);
}

EndMarkReading parse_end_mark(std::string_view bytes) {
  if (bytes.find_first_not_of('\0') == std::string_view::npos) return {};
  std::optional<std::string_view> line = line_of_mark(bytes, kCommitMarkBytes);
  if (!line || next_field(*line) != kEndKind) return unreadable_end_mark();
  EndMark end;
  end.ledger_id = next_field(*line);
  const auto lines = count_field(next_field(*line));
  const auto leaf = hash_of(next_field(*line));
  end.time = next_field(*line);
  end.sealed = *line == "sealed";
  if (!line->empty() && !end.sealed) return unreadable_end_mark();
  if (!lines || *lines < 1 || !leaf || !is_time(end.time)) return unreadable_end_mark();
  end.lines = *lines;
  end.leaf = *leaf;
  return {.state = EndMarkState::remembered, .end = std::move(end)};
}

EndMarkReading read_end_mark(int lock_file) {
  constexpr int kAttempts = 4;  // what was read while it was written fails its digest, and is whole next time
  EndMarkReading reading;
  for (int i = 0; i < kAttempts; ++i) {
    std::string bytes(kCommitMarkBytes, '\0');
    ssize_t count = -1;
    do {
      count = ::pread(lock_file, bytes.data(), bytes.size(), kEndOffset);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      throw LedgerBusy(system_message("cannot read what L.lock remembers of the ledger's end", errno) +
                       "; nothing was done, retry");
    }
    reading = parse_end_mark(std::string_view(bytes).substr(0, static_cast<std::size_t>(count)));
    if (reading.state != EndMarkState::unreadable) break;
  }
  return reading;
}

EndMarkReading read_end_mark(const LedgerFiles& files) {
  // An flock belongs to an open file description: closing this one gives up no lock of ours.
  const Descriptor file(::open(files.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.valid()) return read_end_mark(file.get());
  const int error = errno;
  if (error == ENOENT || error == EACCES || error == EPERM) return {};
  if (error == ELOOP || error == ENXIO) return unreadable_end_mark();
  throw LedgerBusy(system_message("cannot open " + files.lock(), error) + "; nothing was done, retry");
}

int write_end_mark(int lock_file, const EndMark& end) {
  const std::string bytes = end_mark_bytes(end);
  for (;;) {
    const ssize_t count = ::pwrite(lock_file, bytes.data(), bytes.size(), kEndOffset);
    if (count == static_cast<ssize_t>(bytes.size())) return 0;
    if (count < 0 && errno == EINTR) continue;
    return count < 0 ? errno : ENOSPC;
  }
}

EndMark end_mark_of(Connection& connection) {
  const Meta meta = read_meta(connection);
  const auto leaf = leaf_at(connection, meta.log_size - 1);
  if (!leaf) throw LedgerCorrupt("ledger: its last line has no leaf");
  return {.ledger_id = meta.ledger_id,
          .lines = meta.log_size,
          .leaf = *leaf,
          .time = meta.last_time,
          .sealed = read_seal(connection).has_value()};
}

bool has_marked_line(Connection& connection, const EndMark& end) {
  if (read_ledger_id(connection) != end.ledger_id) return true;
  if (leaf_at(connection, end.lines - 1) == end.leaf && lines_of(connection) >= end.lines) return true;
  return accepted_on_record(connection, end);
}

void require_marked_lines(Connection& connection, const EndMarkReading& remembered,
                          const LedgerFiles& files) {
  if (!remembered.end || has_marked_line(connection, *remembered.end)) return;
  throw_lines_missing(*remembered.end, lines_of(connection), files);
}

}  // namespace epsilog::ledger
