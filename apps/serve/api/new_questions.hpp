// Which requests ask something new. A principal who was refused too often waits with those alone.
//
// Thread-safety: functions of their arguments and of the ledger.
#pragma once

#include <span>

#include "call.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/ledger/snapshot.hpp"

namespace epsilog::serve {

/// Returns whether the key of the request is bound to the same question. Such a request is answered from the
/// record, whatever the policy says of its question by now, and cannot be refused anew.
/// Throws  LedgerBusy, LedgerIo, LedgerCorrupt.
[[nodiscard]] bool is_retry(ledger::Snapshot& view, const engine::Request& request);

/// Requires of those requests that are no retries that there are as many refusals left as they would count
/// for, and processor time, and that planning each is within what the daemon takes at once. `alphas`: of
/// each, at how many its intervals are told.
/// Throws  HttpProblem (400, 429); as is_retry().
void require_new_questions(const Call& call, std::span<const engine::Request> requests, std::size_t alphas);

}  // namespace epsilog::serve
