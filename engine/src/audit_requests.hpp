// The requests of a history that wait for approvals or for their commit, and whether what is said about them
// follows from what was recorded before it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine_state.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::engine {

/// A request that is open at this point of the history.
struct WaitingRequest {
  ledger::StoredDecision root;
  ledger::StoredDecision holder;  ///< the pending or reserved decision that is open; of a root itself
  Request request;                ///< with who asked
  std::uint64_t required = 0;     ///< approvals
  std::set<std::string> approvers = {};
  bool token_issued = false;

  [[nodiscard]] bool reserved() const { return holder.draft.outcome == ledger::Outcome::reserved; }
};

class AuditRequests final {
 public:
  explicit AuditRequests(std::vector<AuditFault>& faults) : faults_(faults) {}

  /// Call for every decision in order: about(), then what checks it, then follow().

  /// What a decision is about; nullptr, and a fault, unless that is open and it may follow it. nullptr for
  /// one about nothing. Names a request whose last approval nothing came of.
  [[nodiscard]] const WaitingRequest* about(const ledger::StoredDecision& stored);
  /// Checks a decision that stores an act.
  void check_act(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                 const AppliedPolicy& applied);
  /// Checks who posts a reservation, when, and that it takes what was reserved.
  void check_post(const ledger::StoredDecision& stored, const WaitingRequest& waiting, const Policy& policy);
  /// Checks that a pending request is decided when its approvals are there, and not before.
  void check_approved(const ledger::StoredDecision& stored, const WaitingRequest& waiting);
  /// A request begins to wait.
  void wait(const ledger::StoredDecision& stored, Request request, std::uint64_t required);
  /// What was open goes on as the decision says.
  void follow(const ledger::StoredDecision& stored);

  /// What the ledger lists as open, then finish().
  void listed_open(const std::string& id) { listed_.insert(id); }
  void finish();

 private:
  void fault(const std::string& record, const char* code, std::string message);
  void check_in_time(const ledger::StoredDecision& stored, const WaitingRequest& waiting);
  void check_approver(const ledger::StoredDecision& stored, const WaitingRequest& waiting,
                      const AppliedPolicy& applied);
  void check_token(const ledger::StoredDecision& stored, const WaitingRequest& waiting, bool read_here,
                   const Policy& policy);
  void check_end(const ledger::StoredDecision& stored, const WaitingRequest& waiting, bool cancelled,
                 const AppliedPolicy& applied);

  std::vector<AuditFault>& faults_;
  std::map<std::string, WaitingRequest> open_;  // by id of the holder
  std::string due_;                             // pending, with all its approvals since the last decision
  std::set<std::string> listed_;
};

/// In whatever order.
[[nodiscard]] bool same_charges(const std::vector<ledger::Charge>& first,
                                const std::vector<ledger::Charge>& second);

}  // namespace epsilog::engine
