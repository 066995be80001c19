#include "expiry.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "request_act.hpp"
#include "request_draft.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kExpiriesMax = 64;

void expire(ledger::Transaction& transaction, const std::string& id) {
  const auto family = family_of(transaction, id);
  if (!family) throw ledger::UnreadableRow("decision " + id + " is listed as open but waits for nothing");
  end_uncommitted(transaction, *family, {Act::Verb::expire, family->holder().id},
                  family->root.draft.principal);
}

/// What is overdue by its deadline, except one decision; then the reservations that hold budget of a period
/// that is not the calendar's current one any more.
std::vector<std::string> overdue(ledger::Transaction& transaction, const std::string& except) {
  std::vector<std::string> ids = transaction.overdue();
  std::erase(ids, except);
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

Begun begin_after_expiries(Engine::State& state, const std::string& except) {
  ledger::Ledger& ledger = state.writer();
  for (;;) {
    Begun begun{ledger.begin()};
    bool more = false;
    for (const std::string& id : overdue(begun.transaction, except)) {
      more = begun.ended == kExpiriesMax;
      if (more) break;
      try {
        expire(begun.transaction, id);
        ++begun.ended;
      } catch (const ledger::UnreadableRow& fault) {
        state.unreadable(id, fault.what());
      }
    }
    if (!more) return begun;
    (void)ledger.commit(std::move(begun.transaction));
  }
}

}  // namespace epsilog::engine
