// The marker L.poisoned: an I/O error left unknown what is on disk.
//
// Its mere existence poisons; its content only explains. See docs/recovery.md for why a restart of
// the process is not enough: the kernel's page cache may show commits that never reached the disk.
#pragma once

#include <optional>
#include <string>

#include "ledger_files.hpp"

namespace epsilog::ledger {

struct PoisonMarker {
  std::string reason;
  std::string boot_id;
  std::string time;
};

/// The kernel's id of this boot, or "unknown".
[[nodiscard]] std::string current_boot_id();

/// None when the ledger is not poisoned. A marker that cannot be read still poisons.
[[nodiscard]] std::optional<PoisonMarker> read_poison(const LedgerFiles& files);

/// Ensures  the marker and its name are durable. The first marker stays: it names the first cause.
/// Returns  false if the file system did not even take that.
[[nodiscard]] bool write_poison(const LedgerFiles& files, const std::string& reason) noexcept;

/// Throws  LedgerIo.
void remove_poison(const LedgerFiles& files);

}  // namespace epsilog::ledger
