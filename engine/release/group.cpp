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
#include "epsilog/ledger/wait_stopped.hpp"
#include "expiry.hpp"

namespace epsilog::engine {
namespace {

/// How long who looked at nothing yet waits for a group, and who leads it for the turn. Most turns come
/// within that time, and to have read the ledger meanwhile would have been for nothing; after it, a call that
/// repeats an earlier one is told what is known.
constexpr std::chrono::milliseconds kBriefLockWait(250);

std::chrono::milliseconds lock_wait_limit(const EngineState& state, LockWait patience) {
  const std::chrono::milliseconds wait(state.options.wait_ms);
  return patience == LockWait::brief ? std::min(wait, kBriefLockWait) : wait;
}

std::size_t movements_of(std::span<const PreparedRequest> requests) {
  std::size_t movements = 0;
  for (const PreparedRequest& request : requests) movements += movements_up(request);
  return movements;
}

/// How long it waits counts from when it is due.
CommitQueue::Deadline deadline_of(const CommitQueue::QueueEntry& place, std::chrono::milliseconds wait) {
  const auto from = std::max(CommitQueue::Clock::now(), place.due());
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(CommitQueue::Deadline::max() - from);
  return from + std::min(wait, longest);
}

[[noreturn]] void throw_in_use(const EngineState& state) {
  if (state.options.stop.stop_requested()) throw ledger::WaitStopped::of_ledger(state.ledger_path);
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
  } catch (const ledger::WaitStopped& error) {
    return std::make_exception_ptr(ledger::WaitStopped(std::string(error.what())));
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
void fail(GroupMember& member, const std::exception_ptr& fault, Fault whose) noexcept {
  if (member.fate != GroupMember::Fate::recorded && member.fate != GroupMember::Fate::unmet) return;
  member.fate = GroupMember::Fate::failed;
  member.recorded.clear();
  try {
    member.fault = whose == Fault::own ? fault : own_copy(fault);
  } catch (...) {
    member.fault = std::current_exception();
  }
}

/// The world changed since a member was prepared.
struct Outdated {};

void record_requests(ledger::Transaction& transaction, GroupMember& member) {
  for (const PreparedRequest& request : member.requests) {
    if (!request.replay && request.applied->version.version != member.policy_version) throw Outdated();
    const bool read = !request.exact.empty() && reads_source(request);
    if (read && transaction.location(request.request.dataset) != request.location) throw Outdated();
    std::optional<RecordedRequest> recorded = record_request(transaction, request, &member.bits);
    if (!recorded) throw Outdated();
    const bool replay = recorded->kind == RecordedRequest::Kind::replay;
    if (replay && member.replays == ReplayHandling::deferred) throw Outdated();
    member.recorded.push_back(std::move(*recorded));
  }
}

enum class Shared { no, yes };

/// Throws  only what ends the group.
void record_member(ledger::Transaction& transaction, GroupMember& member, Shared shared) {
  member.bits.rewind();
  try {
    const auto step = [&] { record_requests(transaction, member); };
    if (shared == Shared::yes) {
      transaction.run_in_savepoint(step);
    } else {
      step();
    }
    member.fate = GroupMember::Fate::recorded;
    return;
  } catch (const OutOfBits&) {
    member.fate = GroupMember::Fate::lacks_bits;
  } catch (const Outdated&) {
    member.fate = GroupMember::Fate::outdated;
  } catch (...) {
    if (shared == Shared::yes && !transaction.is_open()) throw;
    member.fate = GroupMember::Fate::failed;
    member.fault = std::current_exception();
  }
  member.recorded.clear();
}

/// What COMMIT made visible, for whoever recorded it or found it there.
void assign_decisions(std::vector<ledger::StoredDecision> committed, std::size_t ended,
                      std::span<GroupMember* const> members) {
  const std::int64_t first = committed.empty() ? 0 : committed.front().seq;
  const auto each = [members](RecordedRequest::Kind kind, const auto& visit) {
    for (GroupMember* const member : members) {
      if (member->fate != GroupMember::Fate::recorded) continue;
      for (RecordedRequest& recorded : member->recorded) {
        if (recorded.kind == kind) visit(recorded);
      }
    }
  };
  // A key may have been bound earlier in this very transaction; what find_by_key saw then was not yet durable,
  // what commit returned is.
  each(RecordedRequest::Kind::replay, [&](RecordedRequest& recorded) {
    if (committed.empty() || recorded.decision->seq < first) return;
    recorded.decision = committed.at(static_cast<std::size_t>(recorded.decision->seq - first));
  });
  std::size_t next = ended;
  each(RecordedRequest::Kind::written,
       [&](RecordedRequest& recorded) { recorded.decision = std::move(committed.at(next++)); });
}

std::optional<BegunTransaction> begin_group_transaction(EngineState& state, LockWait patience) {
  if (patience == LockWait::full) return begin_after_expiries(state);
  try {
    return begin_after_expiries_within(state, lock_wait_limit(state, patience));
  } catch (const Error&) {
    return std::nullopt;  // whoever asks again with patience meets the same
  }
}

void record_group(EngineState& state, BegunTransaction begun, std::span<GroupMember* const> members) {
  ledger::Transaction& transaction = begun.transaction;
  const std::int64_t active = transaction.active_policy_version();
  const bool calendar_held = transaction.calendar_held();
  const Shared shared = members.size() > 1 ? Shared::yes : Shared::no;
  bool any = false;
  for (GroupMember* const member : members) {
    member->policy_version = active;
    member->calendar_held = calendar_held;
    record_member(transaction, *member, shared);
    any = any || member->fate == GroupMember::Fate::recorded;
  }
  if (!any) return;  // what is overdue ends with whoever writes next
  assign_decisions(commit_transaction(state, std::move(transaction)), begun.ended, members);
}

}  // namespace

GroupMember::GroupMember(std::span<const PreparedRequest> of, SuppliedBits& from, ReplayHandling what)
    : QueueEntry(of.front().request.principal, movements_of(of)), requests(of), bits(from), replays(what) {}

void commit_group(EngineState& state, GroupMember& own, LockWait patience) noexcept {
  std::vector<CommitQueue::QueueEntry*> taken;
  try {
    taken.push_back(&own);
    std::optional<BegunTransaction> begun = begin_group_transaction(state, patience);
    if (begun) {
      // Whoever came while the turn was waited for is among them.
      taken = state.commit_queue().take_group(own);
      std::vector<GroupMember*> members;
      members.reserve(taken.size());
      for (CommitQueue::QueueEntry* const place : taken) members.push_back(static_cast<GroupMember*>(place));
      record_group(state, std::move(*begun), members);
    }
  } catch (...) {
    // Nobody is acknowledged.
    const auto fault = std::current_exception();
    for (CommitQueue::QueueEntry* const place : taken) {
      if (place != &own) fail(*static_cast<GroupMember*>(place), fault, Fault::copied);
    }
    fail(own, fault, Fault::own);
  }
  state.commit_queue().end(std::move(taken));
}

void record_in_group(EngineState& state, GroupMember& member, LockWait patience) {
  switch (state.commit_queue().await(member, deadline_of(member, lock_wait_limit(state, patience)),
                                     state.options.stop)) {
    case CommitQueue::WaitOutcome::leads:
      commit_group(state, member, patience);
      return;
    case CommitQueue::WaitOutcome::served:
      return;
    case CommitQueue::WaitOutcome::late:
      if (patience == LockWait::brief) return;  // unmet
      throw_in_use(state);
  }
}

SoloTickGroup::SoloTickGroup(EngineState& state, const std::string& principal, CommitQueue::Deadline arrived)
    : commit_queue_(state.commit_queue()) {
  if (state.ticks() == nullptr) return;
  entry_.emplace(principal, CommitQueue::kMovementsMax + 1);  // of no group
  taken_.push_back(&*entry_);
  entry_->set_due(state.ticks()->due(arrived), arrived);
  const auto deadline = deadline_of(*entry_, lock_wait_limit(state, LockWait::full));
  if (commit_queue_.await(*entry_, deadline, state.options.stop) == CommitQueue::WaitOutcome::late)
    throw_in_use(state);
}

SoloTickGroup::~SoloTickGroup() {
  if (entry_) commit_queue_.end(std::move(taken_));
}

}  // namespace epsilog::engine
