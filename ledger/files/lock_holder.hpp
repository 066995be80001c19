// Who holds a lock file, as far as the kernel tells. Only for messages: whoever it was may be gone by then.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "ledger_files.hpp"

#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

/// "process 4711 (epsilog)" of who has the turn to write; "this process, through another object"; "another
/// process" where the kernel does not say which: of another container, or on a file system of several
/// devices.
[[nodiscard]] std::string lock_holder(const LedgerFiles& files);

/// Names the process that keeps the ledger from being written to, as far as the kernel tells: a program that goes
/// through SQLite without taking the turn, or an epsilog that recovers the log of one that was killed.
/// Requires  the caller has the turn.
[[nodiscard]] std::string foreign_writer(const LedgerFiles& files);

/// How long a wait is not worth a word.
inline constexpr std::chrono::milliseconds kReportHolderAfter(1'000);
/// Tells `report_wait`, if there is one, in a sentence.
void report_lock_holder(const LedgerFiles& files,
                        accounting::CallbackRef<void(const std::string&)> report_wait);

/// The process with an flock on that file, as /proc/locks, given, lists it. Nothing of who waits for one.
/// Thread-safety: pure function.
[[nodiscard]] std::optional<pid_t> listed_holder(std::string_view locks, dev_t device, ino_t inode);
/// The process that holds SQLite's writer lock of that index of a log, likewise.
[[nodiscard]] std::optional<pid_t> listed_writer(std::string_view locks, dev_t device, ino_t inode);

}  // namespace epsilog::ledger
