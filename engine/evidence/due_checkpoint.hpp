// Checkpoints that are signed by themselves: when the next one is due, and how it comes into its file.
//
// What is due follows from the ledger and the last note of the file alone, which both are on the disk:
// whoever writes to the ledger next sees it, in whatever process, and no clock but the ledger's is asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "epsilog/engine/requested_checkpoint.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

/// Of lines and seconds one is 0.
struct CheckpointRule {
  std::string key;
  std::string file;
  std::int64_t lines = 0;    ///< due once the ledger has so many more than the last note
  std::int64_t seconds = 0;  ///< due once a line is so much younger than the last one that the note has
};

/// What a ledger has to have for the next one to be due: so many lines, or one of that time.
struct NextDue {
  std::uint64_t size = 0;
  std::int64_t time_ms = 0;  ///< since 1970
};

enum class DueOutcome {
  not_yet,
  appended,
  left,  ///< to another who holds the key: two who find one due at once append one
};
struct DueCheckpoint {
  DueOutcome outcome = DueOutcome::not_yet;
  NextDue next = {};  ///< of not_yet
};

/// Signs a checkpoint of the ledger and appends it, if one is due. The ledger must have every line of the
/// last note of the file, and of what the key signed, as they were. Takes no turn, and waits for others who
/// sign only if twice as much as is due has come, ten seconds at most.
///
/// Ensures  what is appended contradicts no note of the file, nor any that the key signed; where it throws
///          after the key signed, the next one due is appended all the same.
/// Throws   KeyIo: file or state cannot be used, or the key is held by another while twice as much as is due
///          has come; KeyUnusable; NotVerified: the ledger lacks a line that was signed, or has another, or
///          the file does not end with a checkpoint of it; LedgerIo: a line is not known to be durable, or
///          not to be in the replica; as Ledger::snapshot().
[[nodiscard]] DueCheckpoint append_due_checkpoint(ledger::Ledger& ledger, const std::string& ledger_path,
                                                  const CheckpointRule& rule);

/// The same whether one is due or not, unless the last note of the file has every line of the ledger: then it
/// is that one. Waits so long for others who sign.
/// Throws   likewise; KeyBusy: another signs for longer than that.
[[nodiscard]] RequestedCheckpoint append_checkpoint(ledger::Ledger& ledger, const std::string& ledger_path,
                                                    const CheckpointRule& rule,
                                                    std::chrono::milliseconds wait);

/// The last checkpoint of the file; nothing where there is none.
/// Throws  KeyIo: it cannot be read; NotVerified: it does not end with a checkpoint, or the ledger lacks a
///         line of that, or has another.
[[nodiscard]] std::optional<Checkpoint> last_checkpoint(ledger::Ledger& ledger, const CheckpointRule& rule);

}  // namespace epsilog::engine
