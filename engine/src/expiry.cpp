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
  end_uncommitted(transaction, *family, false, family->root.draft.principal);
}

}  // namespace

void end_uncommitted(ledger::Transaction& transaction, const RequestFamily& family, bool cancelled,
                     const std::string& who) {
  const ledger::StoredDecision& holder = family.holder();
  const bool forfeited = family.reservation && data_may_be_seen(family.request(), family.token.has_value());
  const Act act{cancelled ? Act::Verb::cancel : Act::Verb::expire, holder.id};
  transaction.resolve(draft_about(holder, forfeited ? ledger::Outcome::forfeited : ledger::Outcome::voided,
                                  who, act_json(act)));
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
