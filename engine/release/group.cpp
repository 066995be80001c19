#include "group.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "answer_tick.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "epsilog/ledger/needs_feature.hpp"
#include "epsilog/ledger/seal.hpp"
#include "expiry.hpp"

namespace epsilog::engine {
namespace {

/// How long who looked at nothing yet waits for a group, and who leads it for the turn. Most turns come
/// within that time, and to have read the ledger meanwhile would have been for nothing; after it, a call that
/// repeats an earlier one is told what is known.
constexpr std::chrono::milliseconds kImpatience(250);

std::chrono::milliseconds patience_of(const EngineState& state, Patience patience) {
  const std::chrono::milliseconds wait(state.options.wait_ms);
  return patience == Patience::none ? std::min(wait, kImpatience) : wait;
}

std::size_t movements_of(std::span<const Prepared> requests) {
  std::size_t movements = 0;
  for (const Prepared& request : requests) movements += movements_up(request);
  return movements;
}

/// How long it waits counts from when it is due.
GroupLine::Deadline deadline_of(const GroupLine::Place& place, std::chrono::milliseconds wait) {
  const auto from = std::max(GroupLine::Clock::now(), place.due());
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(GroupLine::Deadline::max() - from);
  return from + std::min(wait, longest);
}

[[noreturn]] void throw_in_use(const EngineState& state) {
  throw LedgerBusy("ledger " + state.ledger_path +
                   " is in use by another thread; retry, or wait longer (--wait)");
}

/// The same fault for each member: an exception that several threads hold is nobody's to let go of.
std::exception_ptr own_copy(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const ledger::ReplicaUnavailable& error) {
    return std::make_exception_ptr(ledger::ReplicaUnavailable(std::string(error.what())));
  } catch (const ledger::LinesMissing& error) {
    return std::make_exception_ptr(
        ledger::LinesMissing(std::string(error.what()), error.remembered(), error.found()));
  } catch (const ledger::FilesReplaced& error) {
    return std::make_exception_ptr(ledger::FilesReplaced(std::string(error.what())));
  } catch (const ledger::LedgerRolledBack& error) {
    return std::make_exception_ptr(ledger::LedgerRolledBack(std::string(error.what())));
  } catch (const LedgerBusy& error) {
    return std::make_exception_ptr(LedgerBusy(std::string(error.what())));
  } catch (const LedgerIo& error) {
    return std::make_exception_ptr(LedgerIo(std::string(error.what())));
  } catch (const LedgerCorrupt& error) {
    return std::make_exception_ptr(LedgerCorrupt(std::string(error.what())));
  } catch (const ledger::NeedsFeature& error) {
    return std::make_exception_ptr(ledger::NeedsFeature(error));
  } catch (const ledger::LedgerSealed& error) {
    return std::make_exception_ptr(ledger::LedgerSealed(std::string(error.what())));
  } catch (const LedgerUnusable& error) {
    return std::make_exception_ptr(LedgerUnusable(std::string(error.what())));
  } catch (const InvalidParameter& error) {
    return std::make_exception_ptr(InvalidParameter(std::string(error.what())));
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(std::bad_alloc());
  } catch (...) {
    return fault;
  }
}

enum class Fault { own, copied };

/// With the group, unless it has a reason of its own why nothing of it was to be recorded.
void fail(Member& member, const std::exception_ptr& fault, Fault whose) noexcept {
  if (member.fate != Member::Fate::recorded && member.fate != Member::Fate::unmet) return;
  member.fate = Member::Fate::failed;
  member.recorded.clear();
  try {
    member.fault = whose == Fault::own ? fault : own_copy(fault);
  } catch (...) {
    member.fault = std::current_exception();
  }
}

/// The world changed since a member was prepared.
struct Outdated {};

void record_requests(ledger::Transaction& transaction, Member& member) {
  for (const Prepared& request : member.requests) {
    if (!request.replay && request.applied->version.version != member.policy_version) throw Outdated();
    const bool read = !request.exact.empty() && reads_source(request);
    if (read && transaction.location(request.request.dataset) != request.location) throw Outdated();
    std::optional<Recorded> recorded = record(transaction, request, &member.bits);
    if (!recorded) throw Outdated();
    const bool replay = recorded->kind == Recorded::Kind::replay;
    if (replay && member.replays == Replays::left) throw Outdated();
    member.recorded.push_back(std::move(*recorded));
  }
}

enum class Shared { no, yes };

/// Throws  only what ends the group.
void record_member(ledger::Transaction& transaction, Member& member, Shared shared) {
  member.bits.rewind();
  try {
    const auto step = [&] { record_requests(transaction, member); };
    if (shared == Shared::yes) {
      transaction.member(step);
    } else {
      step();
    }
    member.fate = Member::Fate::recorded;
    return;
  } catch (const MoreBits&) {
    member.fate = Member::Fate::lacks_bits;
  } catch (const Outdated&) {
    member.fate = Member::Fate::outdated;
  } catch (...) {
    if (shared == Shared::yes && !transaction.open()) throw;
    member.fate = Member::Fate::failed;
    member.fault = std::current_exception();
  }
  member.recorded.clear();
}

/// What COMMIT made visible, for whoever recorded it or found it there.
void hand_out(std::vector<ledger::StoredDecision> committed, std::size_t ended,
              std::span<Member* const> members) {
  const std::int64_t first = committed.empty() ? 0 : committed.front().seq;
  const auto each = [members](Recorded::Kind kind, const auto& visit) {
    for (Member* const member : members) {
      if (member->fate != Member::Fate::recorded) continue;
      for (Recorded& recorded : member->recorded) {
        if (recorded.kind == kind) visit(recorded);
      }
    }
  };
  // A key may have been bound earlier in this very transaction; what find_key saw then was not yet durable,
  // what commit returned is.
  each(Recorded::Kind::replay, [&](Recorded& recorded) {
    if (committed.empty() || recorded.decision->seq < first) return;
    recorded.decision = committed.at(static_cast<std::size_t>(recorded.decision->seq - first));
  });
  std::size_t next = ended;
  each(Recorded::Kind::written,
       [&](Recorded& recorded) { recorded.decision = std::move(committed.at(next++)); });
}

std::optional<Begun> begun_with(EngineState& state, Patience patience) {
  if (patience == Patience::turn) return begin_after_expiries(state);
  try {
    return begin_after_expiries_within(state, patience_of(state, patience));
  } catch (const Error&) {
    return std::nullopt;  // whoever asks again with patience meets the same
  }
}

void record_group(EngineState& state, Begun begun, std::span<Member* const> members) {
  ledger::Transaction& transaction = begun.transaction;
  const std::int64_t active = transaction.active_policy_version();
  const bool calendar_held = transaction.calendar_held();
  const Shared shared = members.size() > 1 ? Shared::yes : Shared::no;
  bool any = false;
  for (Member* const member : members) {
    member->policy_version = active;
    member->calendar_held = calendar_held;
    record_member(transaction, *member, shared);
    any = any || member->fate == Member::Fate::recorded;
  }
  if (!any) return;  // what is overdue ends with whoever writes next
  hand_out(committed(state, std::move(transaction)), begun.ended, members);
}

}  // namespace

Member::Member(std::span<const Prepared> of, SuppliedBits& from, Replays what)
    : Place(of.front().request.principal, movements_of(of)), requests(of), bits(from), replays(what) {}

void lead(EngineState& state, Member& own, Patience patience) noexcept {
  std::vector<GroupLine::Place*> taken;
  try {
    taken.push_back(&own);
    std::optional<Begun> begun = begun_with(state, patience);
    if (begun) {
      // Whoever came while the turn was waited for is among them.
      taken = state.line().take(own);
      std::vector<Member*> members;
      members.reserve(taken.size());
      for (GroupLine::Place* const place : taken) members.push_back(static_cast<Member*>(place));
      record_group(state, std::move(*begun), members);
    }
  } catch (...) {
    // Nobody is acknowledged.
    const auto fault = std::current_exception();
    for (GroupLine::Place* const place : taken) {
      if (place != &own) fail(*static_cast<Member*>(place), fault, Fault::copied);
    }
    fail(own, fault, Fault::own);
  }
  state.line().end(std::move(taken));
}

void grouped(EngineState& state, Member& member, Patience patience) {
  switch (state.line().await(member, deadline_of(member, patience_of(state, patience)))) {
    case GroupLine::Turn::leads:
      lead(state, member, patience);
      return;
    case GroupLine::Turn::served:
      return;
    case GroupLine::Turn::late:
      if (patience == Patience::none) return;  // unmet
      throw_in_use(state);
  }
}

TickTurn::TickTurn(EngineState& state, const std::string& principal, GroupLine::Deadline arrived)
    : line_(state.line()) {
  if (state.ticks() == nullptr) return;
  place_.emplace(principal, GroupLine::kMovementsMax + 1);  // of no group
  taken_.push_back(&*place_);
  place_->hold(state.ticks()->due(arrived), arrived);
  const auto deadline = deadline_of(*place_, patience_of(state, Patience::turn));
  if (line_.await(*place_, deadline) == GroupLine::Turn::late) throw_in_use(state);
}

TickTurn::~TickTurn() {
  if (place_) line_.end(std::move(taken_));
}

}  // namespace epsilog::engine
