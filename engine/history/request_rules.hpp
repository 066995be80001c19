// Who may do what to a request that waits, for how long it does, and what becomes of its charge when it is
// not committed. Functions of policy and recorded facts alone, so that an auditor finds the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// One of the approvers that the dataset declares, other than who asked.
[[nodiscard]] bool may_approve(const Policy& policy, const Dataset& dataset, const std::string& asker,
                               const std::string& who);
/// Act as who asked: who asked; everybody where the policy declares no principals.
[[nodiscard]] bool may_commit(const Policy& policy, const std::string& asker, const std::string& who);
/// Who alone hands in the value that the request asks for; nullptr where the policy names nobody.
[[nodiscard]] const std::vector<std::string>* suppliers_of(const Policy& policy, const Request& request);
/// Commit it, or have its token issued, where its value may be for others to hand in: its suppliers, or else
/// whoever may_commit().
[[nodiscard]] bool may_post(const Policy& policy, const Request& request, const std::string& who);
/// Whoever may commit or approve.
[[nodiscard]] bool may_cancel(const Policy& policy, const Dataset& dataset, const std::string& asker,
                              const std::string& who);

/// Whether somebody may have seen the data for a reservation that is not committed. If so it is charged in
/// full when it ends: giving back what depends on the data would tell something about them.
///
/// A statistic computed here reads them only in its commit, which issues a token first; of a value computed
/// elsewhere nothing is known, unless the data are handed out against a token.
[[nodiscard]] bool data_may_be_seen(const Request& request, bool data_accessed);

/// Whether a scope names a period in which an instant of the calendar does not lie: what was reserved of its
/// budget ends then.
/// Throws  LedgerCorrupt unless `calendar_time` is a ledger time (epsilog/ledger/ledger_time.hpp).
[[nodiscard]] bool period_over(const std::string& scope, const std::string& calendar_time);

/// When a reservation of these accounts is overdue: after `seconds`, and no later than the first of its
/// periods ends, as far as that lies ahead; while the calendar is held nobody knows when that is.
/// Throws    LedgerCorrupt unless `now` is a ledger time.
[[nodiscard]] std::string reservation_deadline(const std::string& now, std::int64_t seconds,
                                               const std::vector<ledger::AccountName>& accounts,
                                               bool calendar_held);

/// A ledger time, at most the end of the year 9999.
/// Requires  seconds >= 0.
/// Throws    LedgerCorrupt unless `instant` is likewise.
[[nodiscard]] std::string instant_after(std::string_view instant, std::int64_t seconds);

}  // namespace epsilog::engine
