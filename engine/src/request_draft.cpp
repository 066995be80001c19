#include "request_draft.hpp"

#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {

ledger::DecisionDraft draft_about(const ledger::StoredDecision& parent, ledger::Outcome outcome,
                                  const std::string& who, const std::string& text) {
  ledger::DecisionDraft draft;
  draft.principal = who;
  draft.request = text;
  draft.request_digest = ledger::sha256_hex(text);
  draft.dataset = parent.draft.dataset;
  draft.policy_version = parent.draft.policy_version;
  draft.outcome = outcome;
  draft.reasons = "[]";
  draft.parent = parent.id;
  const bool moves =
      parent.draft.outcome == ledger::Outcome::reserved && outcome != ledger::Outcome::token_issued;
  if (moves) {
    auto& touched = draft.touched.emplace();
    for (const ledger::AccountState& account : parent.accounts) touched.push_back(account.id);
  }
  return draft;
}

}  // namespace epsilog::engine
