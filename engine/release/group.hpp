// Many calls, one COMMIT.
//
//   record_in_group   waits in the line until a group has recorded the call's requests, or leads one
//   commit_group      one transaction: what is overdue ends, then members are recorded, each whole or not at all
//
// What a member meets, and what becomes of it
//   granted, refused, reserved, pending; a key that is bound -> recorded
//   another policy is active, the source was moved, a refusal would now be granted, a replay that was left to
//     who prepares it                                        -> outdated     nothing of it is left
//   a draw that needs more bits than were supplied           -> lacks_bits   nothing of it is left
//   anything else that is thrown                             -> failed       nothing of it is left
//   a failure of the storage but a constraint, of COMMIT     -> failed       as all that were recorded
//
// A value leaves a group only after COMMIT returned.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commit_queue.hpp"
#include "engine_state.hpp"
#include "release_path.hpp"
#include "supplied_bits.hpp"

namespace epsilog::engine {

/// What becomes of requests that turn out to be decided already: told, or left to who prepares them first, so
/// that a replay writes nothing, not even that something else has expired.
enum class ReplayHandling { allowed, deferred };

/// One call's requests on their way through a group, all or none of them.
struct GroupMember final : CommitQueue::QueueEntry {
  /// Requires  `requests` is not empty; it and `bits` outlive this. Bits were supplied.
  GroupMember(std::span<const PreparedRequest> requests, SuppliedBits& bits, ReplayHandling replays);

  std::span<const PreparedRequest> requests;
  SuppliedBits& bits;
  ReplayHandling replays;

  enum class Fate { unmet, outdated, lacks_bits, failed, recorded };
  Fate fate = Fate::unmet;
  std::exception_ptr fault;        ///< of failed
  std::vector<RecordedRequest> recorded;  ///< of recorded, one a request
  std::int64_t policy_version = 0;
  bool calendar_held = false;
};

/// How long a member waits to be taken, and who leads with it for the ledger's turn: a moment at most, or as
/// long as EngineOptions::wait_ms says.
enum class LockWait { brief, full };

/// Ensures  the member's fate. Without patience it stays unmet if the turn could not be had in a moment, or
///          the ledger not be written to: whoever cannot write may still be told what was decided earlier.
/// Throws   LedgerBusy if it was not taken in time: nothing of it happened.
void record_in_group(EngineState& state, GroupMember& member, LockWait patience);

/// Requires  the caller leads in state.commit_queue() with that member.
/// Ensures   its fate, and those of the others it took; the lead is given up.
void commit_group(EngineState& state, GroupMember& own, LockWait patience) noexcept;

/// What data were read for, and is recorded in a transaction of its own: leads at its tick, with nobody
/// beside it, until it is destroyed. Without ticks it is nothing.
class SoloTickGroup final {
 public:
  /// Throws  LedgerBusy if its turn did not come in time; WaitStopped.
  SoloTickGroup(EngineState& state, const std::string& principal, CommitQueue::Deadline arrived);
  SoloTickGroup(const SoloTickGroup&) = delete;
  SoloTickGroup& operator=(const SoloTickGroup&) = delete;
  ~SoloTickGroup();

 private:
  CommitQueue& commit_queue_;
  std::optional<CommitQueue::QueueEntry> entry_;
  std::vector<CommitQueue::QueueEntry*> taken_;
};

}  // namespace epsilog::engine
