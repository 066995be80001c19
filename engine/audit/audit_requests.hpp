// The requests of a history that wait for approvals or for their commit, and whether what is said about them
// follows from what was recorded before it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "later_policy.hpp"
#include "plan_cache.hpp"
#include "request_act.hpp"

namespace epsilog::engine {

/// A request that is open at this point of the history.
struct WaitingRequest {
  ledger::StoredDecision root;
  ledger::StoredDecision holder;  ///< the pending or reserved decision that is open; of a root itself
  Request request;                ///< with who asked
  std::uint64_t required = 0;     ///< approvals
  std::set<std::string> approvers = {};
  bool data_accessed = false;

  [[nodiscard]] bool reserved() const { return holder.draft.outcome == ledger::Outcome::reserved; }
};

/// Where a decision about a request that waits stands in the history.
struct Standpoint {
  const AppliedPolicy& active;
  const std::string& calendar_time;  ///< at its own time
};

class AuditRequests final {
 public:
  explicit AuditRequests(std::vector<AuditFault>& faults) : faults_(faults) {}

  /// Call for every decision in order: about(), then what checks it, then follow().

  /// What a decision is about; nullptr, and a fault, unless that is open and it may follow it. nullptr for
  /// one about nothing. Names a request whose last approval nothing came of.
  [[nodiscard]] const WaitingRequest* about(const ledger::StoredDecision& stored);
  /// Checks a decision that stores an act. Returns whether somebody did that: nobody does it when time is
  /// over.
  bool check_act(const ledger::StoredDecision& stored, const WaitingRequest& waiting, const Standpoint& at);
  /// Checks who posts a reservation, when, and that it takes what was reserved.
  void check_post(const ledger::StoredDecision& stored, const WaitingRequest& waiting, const Standpoint& at);
  /// Checks that a pending request is decided when its approvals are there, and not before.
  void check_approved(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                      const AppliedPolicy& active, std::uint64_t required);
  /// A request begins to wait.
  void wait(const ledger::StoredDecision& stored, Request request, std::uint64_t required);
  /// What was open goes on as the decision says. `last` says of an approval that no other one is needed.
  void follow(const ledger::StoredDecision& stored, bool last);

  /// What the ledger lists as open, then finish().
  void listed_open(const std::string& id) { listed_.insert(id); }
  void finish();

 private:
  void fault(const std::string& record, const char* code, std::string message);
  void check_in_time(const ledger::StoredDecision& stored, const WaitingRequest& waiting);
  void check_period(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                    const Standpoint& at);
  void check_allowed(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                     const Standpoint& at);
  void check_approver(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                      const Standpoint& at);
  void check_poster(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                    const Standpoint& at);
  void check_token(const ledger::StoredDecision& stored, const WaitingRequest& waiting, bool read_here,
                   const Standpoint& at);
  void check_cancelled(const ledger::StoredDecision& stored, const WaitingRequest& waiting, const Act& act,
                       const Standpoint& at);
  void check_expired(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                     const Standpoint& at);
  void check_end(const ledger::StoredDecision& stored, const WaitingRequest& waiting);
  void check_follows(const ledger::StoredDecision& stored, const WaitingRequest& waiting);

  std::vector<AuditFault>& faults_;
  std::map<std::string, WaitingRequest> open_;  // by id of the holder
  std::string due_;                             // pending, with all its approvals since the last decision
  std::set<std::string> listed_;
};

/// How many of the approvals are by who may approve under a policy.
[[nodiscard]] std::uint64_t entitled_approvals(const Policy& policy, const WaitingRequest& waiting);
/// Whether it holds budget of a period that is not the current one.
[[nodiscard]] bool holds_past_period(const WaitingRequest& waiting, const std::string& calendar_time);

/// In whatever order.
[[nodiscard]] bool same_charges(const std::vector<ledger::Charge>& first,
                                const std::vector<ledger::Charge>& second);

}  // namespace epsilog::engine
