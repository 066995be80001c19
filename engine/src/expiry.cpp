#include "expiry.hpp"

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

Begun begin_after_expiries(Engine::State& state, const std::string& except) {
  ledger::Ledger& ledger = state.writer();
  for (;;) {
    Begun begun{ledger.begin()};
    bool more = false;
    for (const std::string& id : begun.transaction.overdue()) {
      if (id == except) continue;
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
