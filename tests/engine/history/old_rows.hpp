// Rows as the program wrote them before the door had caps: whatever was planned was recorded.
#pragma once

#include <string>

#include "canonical_request.hpp"
#include "clinic.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/ledger/digest.hpp"
#include "plan.hpp"
#include "release_path.hpp"
#include "request_rules.hpp"
#include "scopes.hpp"

namespace epsilog::test {

/// Records one request of a ledger past the door.
class OldProgram {
 public:
  OldProgram(const std::string& path, const ledger::Clock& clock)
      : ledger_(ledger::Ledger::open(path, {.clock = clock})),
        policy_(engine::checked_policy(ledger_.snapshot().active_policy().yaml, "policy")) {}

  /// Records it as granted, drawn of `exact`, or reserved, and returns its id.
  std::string record(const engine::Request& request, ledger::Outcome outcome,
                     const engine::ExactAnswer& exact = {}) {
    const engine::Dataset& dataset = policy_.dataset(request.dataset);
    const engine::Plan plan = engine::make_plan(dataset, request);
    ledger::Transaction transaction = ledger_.begin();
    const auto asked = engine::planned_charges(policy_, dataset, request, plan, transaction.calendar_time());
    auto owed = engine::debits(asked, transaction.accounts(engine::account_names(asked)));
    ledger::DecisionDraft draft;
    draft.principal = request.principal;
    draft.key = request.key;
    draft.request = engine::canonical_request(request);
    draft.request_digest = ledger::sha256_hex(draft.request);
    draft.dataset = request.dataset;
    draft.policy_version = transaction.active_policy_version();
    draft.outcome = outcome;
    draft.shown_account_ids = engine::touched_account_ids(owed);
    draft.reasons = "[]";
    switch (outcome) {
      case ledger::Outcome::reserved:
        draft.deadline = engine::instant_after(transaction.now(), dataset.reservation_seconds);
        transaction.reserve(draft, engine::charges(owed));
        break;
      default: {
        mechanisms::SystemBits bits;
        engine::draw(transaction, plan, {&exact, 1},
                     transaction.charge(draft, engine::charges(owed), plan.charged), bits);
        break;
      }
    }
    return ledger_.commit(std::move(transaction)).back().id;
  }

 private:
  ledger::Ledger ledger_;
  engine::Policy policy_;
};

}  // namespace epsilog::test
