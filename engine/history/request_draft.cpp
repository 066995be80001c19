#include "request_draft.hpp"

#include "decide.hpp"
#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {

ledger::DecisionDraft draft_about(const ledger::StoredDecision& parent, ledger::Outcome outcome,
                                  const Actor& who, const std::string& text) {
  ledger::DecisionDraft draft;
  draft.principal = who.name;
  draft.via = who.via;
  draft.request = text;
  draft.request_digest = ledger::sha256_hex(text);
  draft.dataset = parent.draft.dataset;
  draft.policy_version = parent.draft.policy_version;
  draft.outcome = outcome;
  draft.reasons = "[]";
  draft.parent = parent.id;
  const bool moves =
      parent.draft.outcome == ledger::Outcome::reserved && outcome != ledger::Outcome::data_accessed;
  if (moves) {
    std::vector<ledger::AccountName> names;
    for (const ledger::AccountState& account : parent.accounts) names.push_back(account.name());
    // What is given back is charged nothing, and says no more of balances than a refusal.
    const std::size_t recorded = outcome == ledger::Outcome::voided ? recordable_count(names) : names.size();
    auto& touched = draft.shown_account_ids.emplace();
    for (std::size_t i = 0; i < recorded; ++i) touched.push_back(parent.accounts[i].id);
  }
  return draft;
}

Actor actor_of(const ledger::StoredDecision& root) {
  return {root.draft.principal, root.via};
}

}  // namespace epsilog::engine
