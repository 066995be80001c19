// How an audit is spread over threads. What it says is the same for any number of them.
#pragma once

#include <chrono>
#include <string>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/ledger/ledger_options.hpp"

namespace epsilog::engine {

enum class Threads {
  one,
  where_it_pays,  ///< several for a long history, on a machine that runs more than one at once
  several,        ///< if the system gives them
};

/// Whether it is a fault that the ledger is poisoned.
enum class Poison { is_no_fault, is_fault };

/// How long a history is read at a time, so that a writer's log can begin anew in between. Beginning a slice
/// takes some ten microseconds, and those who wait for it to end wait for 20 ms at most.
inline constexpr std::chrono::milliseconds kSlice{5};

/// audit_replay() by as many threads, in such slices. `visit` and `progress` are called on the one that
/// calls. `opening`: how the ledger is opened.
AuditReport audit_replay_by(Threads threads, const std::string& ledger_path,
                            accounting::CallbackRef<void(const ReplayedDecision&)> visit,
                            const Progress& progress, StorageCheck storage,
                            Poison poison = Poison::is_no_fault, std::chrono::milliseconds slice = kSlice,
                            const ledger::Options& opening = {});

}  // namespace epsilog::engine
