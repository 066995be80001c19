// What L.lock remembers of the ledger's end: its id, how many lines it had and the leaf of the last one.
//
// SQLite takes a write-ahead log that is damaged or gone for a shorter one, and nothing inside the database
// can tell that acknowledged lines are missing. So whoever holds the writer lock writes the end here after
// each COMMIT returned. The mark never says more than is durable, and it counts in every boot. It is not
// synced: what a power failure leaves of it is an earlier mark, or none.
//
// One record of 512 bytes with a digest, behind those of commit_mark.hpp and replica_mark.hpp, written in one
// call (docs/ledger_format.md). Thread-safety: pure functions, apart from the files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "epsilog/ledger/end_mark_state.hpp"
#include "epsilog/ledger/merkle_proof.hpp"
#include "ledger_files.hpp"

namespace epsilog::ledger {

struct EndMark {
  std::string ledger_id;   ///< 32 hexadecimal digits
  std::int64_t lines = 0;  ///< at least 1
  Hash leaf{};             ///< of line number lines - 1
  std::string time;        ///< ledger time at that line
  bool sealed = false;     ///< that line is a seal

  friend bool operator==(const EndMark&, const EndMark&) = default;
};

/// What reading the mark gave.
struct EndMarkReading {
  EndMarkState state = EndMarkState::none;
  std::optional<EndMark> end = {};  ///< exactly where `state` is remembered
};

/// What a message about that end says of its seal, with a blank behind it; "" if it is none.
[[nodiscard]] std::string seal_phrase(const EndMark& end);

[[nodiscard]] std::string end_mark_bytes(const EndMark& end);
/// Zeros and nothing at all are no mark; what fails its digest is unreadable.
[[nodiscard]] EndMarkReading parse_end_mark(std::string_view bytes);

/// Throws  LedgerBusy if the file cannot be read now: nothing was done, and trying again may help.
[[nodiscard]] EndMarkReading read_end_mark(int lock_file);
/// The same without the writer lock. A lock file that is not there, or that this user may not read, holds no
/// mark.
[[nodiscard]] EndMarkReading read_end_mark(const LedgerFiles& files);

/// Requires  the writer lock, of which `lock_file` is the file.
/// Returns   0, or errno.
[[nodiscard]] int write_end_mark(int lock_file, const EndMark& end);

/// The end of the ledger as this connection sees it.
/// Requires  a ledger with at least one line.
/// Throws    StorageFailure, LedgerCorrupt.
[[nodiscard]] EndMark end_mark_of(Connection& connection);

/// Whether the ledger still holds the line that the mark is about, or records that its loss was accepted. A
/// mark of another ledger is not compared.
/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] bool has_marked_line(Connection& connection, const EndMark& end);

/// Throws  LinesMissing unless has_marked_line(); StorageFailure, LedgerCorrupt.
void require_marked_lines(Connection& connection, const EndMarkReading& remembered, const LedgerFiles& files);

}  // namespace epsilog::ledger
