#include "expiry.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "request_act.hpp"
#include "request_draft.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kExpiriesMax = 64;

void expire(ledger::Transaction& transaction, const std::string& id) {
  const auto family = family_of(transaction, id);
  if (!family) throw LedgerCorrupt("decision " + id + " is listed as open but waits for nothing");
  end_uncommitted(transaction, *family, {Act::Verb::expire, family->holder().id},
                  family->root.draft.principal);
}

/// Reservations that hold budget of a period that is not the calendar's current one any more.
std::vector<std::string> of_past_periods(ledger::Transaction& transaction) {
  std::vector<std::string> ids;
  for (const ledger::AccountState& account : transaction.reserved_in_periods()) {
    if (!period_over(account.scope, transaction.calendar_time())) continue;
    for (std::string& id : transaction.open_reservations_of(account.id)) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
    }
  }
  return ids;
}

}  // namespace

void end_uncommitted(ledger::Transaction& transaction, const RequestFamily& family, const Act& act,
                     const std::string& who) {
  const ledger::StoredDecision& holder = family.holder();
  const bool forfeited = family.reservation && data_may_be_seen(family.request(), family.token.has_value());
  transaction.resolve(draft_about(holder, forfeited ? ledger::Outcome::forfeited : ledger::Outcome::voided,
                                  who, act_json(act)));
}

Begun begin_after_expiries(ledger::Ledger& ledger, const std::string& except) {
  for (;;) {
    Begun begun{ledger.begin()};
    std::vector<std::string> overdue = begun.transaction.overdue();
    overdue.erase(std::remove(overdue.begin(), overdue.end(), except), overdue.end());
    for (std::string& id : of_past_periods(begun.transaction)) {
      if (std::find(overdue.begin(), overdue.end(), id) == overdue.end()) overdue.push_back(std::move(id));
    }
    begun.ended = std::min(overdue.size(), kExpiriesMax);
    for (std::size_t i = 0; i < begun.ended; ++i) expire(begun.transaction, overdue[i]);
    if (begun.ended == overdue.size()) return begun;
    (void)ledger.commit(std::move(begun.transaction));
  }
}

}  // namespace epsilog::engine
