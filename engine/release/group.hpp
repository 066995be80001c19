// Many calls, one COMMIT.
//
//   grouped     waits in the line until a group has recorded the call's requests, or leads one
//   lead        one transaction: what is overdue ends, then members are recorded, each whole or not at all
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

#include "engine_state.hpp"
#include "group_line.hpp"
#include "release_path.hpp"
#include "supplied_bits.hpp"

namespace epsilog::engine {

/// What becomes of requests that turn out to be decided already: told, or left to who prepares them first, so
/// that a replay writes nothing, not even that something else has expired.
enum class Replays { told, left };

/// One call's requests on their way through a group, all or none of them.
struct Member final : GroupLine::Place {
  /// Requires  `requests` is not empty; it and `bits` outlive this. Bits were supplied.
  Member(std::span<const Prepared> requests, SuppliedBits& bits, Replays replays);

  std::span<const Prepared> requests;
  SuppliedBits& bits;
  Replays replays;

  enum class Fate { unmet, outdated, lacks_bits, failed, recorded };
  Fate fate = Fate::unmet;
  std::exception_ptr fault;        ///< of failed
  std::vector<Recorded> recorded;  ///< of recorded, one a request
  std::int64_t policy_version = 0;
  bool calendar_held = false;
};

/// How long a member waits to be taken, and who leads with it for the ledger's turn: a moment at most, or as
/// long as EngineOptions::wait_ms says.
enum class Patience { none, turn };

/// Ensures  the member's fate. Without patience it stays unmet if the turn could not be had in a moment, or
///          the ledger not be written to: whoever cannot write may still be told what was decided earlier.
/// Throws   LedgerBusy if it was not taken in time: nothing of it happened.
void grouped(EngineState& state, Member& member, Patience patience);

/// Requires  the caller leads in state.line() with that member. Ensures  its fate, and those of the others it
/// took; the lead is given up.
void lead(EngineState& state, Member& own, Patience patience) noexcept;

/// What data were read for, and is recorded in a transaction of its own: leads at its tick, with nobody
/// beside it, until it is destroyed. Without ticks it is nothing.
class TickTurn final {
 public:
  /// Throws  LedgerBusy if its turn did not come in time.
  TickTurn(EngineState& state, const std::string& principal, GroupLine::Deadline arrived);
  TickTurn(const TickTurn&) = delete;
  TickTurn& operator=(const TickTurn&) = delete;
  ~TickTurn();

 private:
  GroupLine& line_;
  std::optional<GroupLine::Place> place_;
  std::vector<GroupLine::Place*> taken_;
};

}  // namespace epsilog::engine
