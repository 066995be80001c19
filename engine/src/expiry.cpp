#include "expiry.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "request_act.hpp"
#include "request_draft.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kExpiriesMax = 64;

LedgerCorrupt listed_wrongly(const std::string& id) {
  return LedgerCorrupt("decision " + id + " is listed as open but waits for nothing");
}

void expire(ledger::Transaction& transaction, const std::string& id) {
  const auto family = family_of(transaction, id);
  if (!family) throw listed_wrongly(id);
  end_uncommitted(transaction, *family, false, family->root.draft.principal);
}

/// What becomes of a reservation that ends uncommitted.
bool forfeits(const RequestFamily& family) {
  return family.reservation && data_may_be_seen(family.request(), family.token.has_value());
}

}  // namespace

void end_uncommitted(ledger::Transaction& transaction, const RequestFamily& family, bool cancelled,
                     const std::string& who) {
  const ledger::StoredDecision& holder = family.holder();
  const bool forfeited = forfeits(family);
  const Act act{cancelled ? Act::Verb::cancel : Act::Verb::expire, holder.id};
  transaction.resolve(draft_about(holder, forfeited ? ledger::Outcome::forfeited : ledger::Outcome::voided,
                                  who, act_json(act)));
}

std::vector<ledger::AccountState> accounts_after_expiries(ledger::Snapshot& view) {
  std::vector<ledger::AccountState> accounts = view.accounts("");
  for (const std::string& id : view.overdue()) {
    const auto family = family_of(view, id);
    if (!family) throw listed_wrongly(id);
    if (!family->reservation) continue;
    for (const ledger::Charge& charge : family->reservation->charges) {
      for (ledger::AccountState& account : accounts) {
        if (account.id != charge.account) continue;
        account.balance.reserved -= charge.amount;
        if (forfeits(*family)) account.balance.spent += charge.amount;
      }
    }
  }
  return accounts;
}

Begun begin_after_expiries(ledger::Ledger& ledger, const std::string& except) {
  for (;;) {
    Begun begun{ledger.begin()};
    std::vector<std::string> overdue = begun.transaction.overdue();
    overdue.erase(std::remove(overdue.begin(), overdue.end(), except), overdue.end());
    begun.ended = std::min(overdue.size(), kExpiriesMax);
    for (std::size_t i = 0; i < begun.ended; ++i) expire(begun.transaction, overdue[i]);
    if (begun.ended == overdue.size()) return begun;
    (void)ledger.commit(std::move(begun.transaction));
  }
}

}  // namespace epsilog::engine
