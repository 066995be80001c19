#include "judgement.hpp"

namespace epsilog::engine {
namespace {

RequestState state_after(ledger::Outcome outcome) {
  switch (outcome) {
    case ledger::Outcome::granted:
      return RequestState::granted;
    case ledger::Outcome::reserved:
      return RequestState::reserved;
    case ledger::Outcome::pending:
      return RequestState::pending;
    default:
      return RequestState::refused;
  }
}

}  // namespace

Judgement judge(const PlannedRequest& planned, const std::vector<Debit>& debits, const ChargedBefore& before,
                const std::optional<KeyConflict>& conflict, std::size_t reasons_kept) {
  const auto& [policy, dataset, request, plan] = planned;
  Judgement result{decide(policy, dataset, request, plan, debits, conflict, reasons_kept)};
  if (result.decision.granted())
    result.approvals = approval_need(dataset, plan, request.principal, planned_charges_of(debits), before);
  result.outcome = outcome_of(result.decision, request, result.approvals.required);
  result.state = state_after(result.outcome);
  return result;
}

}  // namespace epsilog::engine
