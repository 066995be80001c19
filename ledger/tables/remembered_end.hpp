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
#include "epsilog/ledger/end_memory.hpp"
#include "epsilog/ledger/merkle_proof.hpp"
#include "ledger_files.hpp"

namespace epsilog::ledger {

struct RememberedEnd {
  std::string ledger_id;   ///< 32 hexadecimal digits
  std::int64_t lines = 0;  ///< at least 1
  Hash leaf{};             ///< of line number lines - 1
  std::string time;        ///< ledger time at that line
  bool sealed = false;     ///< that line is a seal

  friend bool operator==(const RememberedEnd&, const RememberedEnd&) = default;
};

/// What reading the mark gave.
struct EndReading {
  EndMemory memory = EndMemory::none;
  std::optional<RememberedEnd> end = {};  ///< exactly where `memory` is remembered
};

/// What a message about that end says of its seal, with a blank behind it; "" if it is none.
[[nodiscard]] std::string sealed_words(const RememberedEnd& end);

[[nodiscard]] std::string remembered_end_bytes(const RememberedEnd& end);
/// Zeros and nothing at all are no mark; what fails its digest is unreadable.
[[nodiscard]] EndReading parse_remembered_end(std::string_view bytes);

/// Throws  LedgerBusy if the file cannot be read now: nothing was done, and trying again may help.
[[nodiscard]] EndReading read_remembered_end(int lock_file);
/// The same without the writer lock. A lock file that is not there, or that this user may not read, holds no
/// mark.
[[nodiscard]] EndReading read_remembered_end(const LedgerFiles& files);

/// Requires  the writer lock, of which `lock_file` is the file.
/// Returns   0, or errno.
[[nodiscard]] int write_remembered_end(int lock_file, const RememberedEnd& end);

/// The end of the ledger as this connection sees it. Requires  a ledger with at least one line.
/// Throws    StorageFailure, LedgerCorrupt.
[[nodiscard]] RememberedEnd end_of(Connection& connection);

/// Whether the ledger still holds the line that the mark is about, or records that its loss was accepted. A
/// mark of another ledger is not compared.
/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] bool holds_end(Connection& connection, const RememberedEnd& end);

/// Throws  LinesMissing unless holds_end(); StorageFailure, LedgerCorrupt.
void require_remembered_lines(Connection& connection, const EndReading& remembered, const LedgerFiles& files);

}  // namespace epsilog::ledger
