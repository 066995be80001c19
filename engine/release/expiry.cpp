#include "expiry.hpp"

#include <algorithm>

#include "checkpoint_signer.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "request_act.hpp"
#include "request_draft.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kExpiriesMax = 64;

ledger::UnreadableRow listed_wrongly(const std::string& id) {
  return ledger::UnreadableRow("decision " + id + " is listed as open but waits for nothing");
}

void expire(ledger::Transaction& transaction, const std::string& id) {
  const auto family = family_of(transaction, id);
  if (!family) throw listed_wrongly(id);
  end_uncommitted(transaction, *family, {Act::Verb::expire, family->holder().id}, actor_of(family->root));
}

/// What is overdue by its deadline, except one decision; then the reservations that hold budget of a period
/// that is not the calendar's current one any more.
std::vector<std::string> overdue_decisions(ledger::Transaction& transaction, const std::string& except) {
  std::vector<std::string> ids = transaction.overdue_ids();
  std::erase(ids, except);
  for (const ledger::AccountState& account : transaction.period_accounts_with_reservations()) {
    if (!period_over(account.scope, transaction.calendar_time())) continue;
    for (std::string& id : transaction.open_reservations_of(account.id)) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
    }
  }
  return ids;
}

}  // namespace

bool forfeits(const RequestFamily& family) {
  return family.reservation && data_may_be_seen(family.request(), family.token.has_value());
}

void end_uncommitted(ledger::Transaction& transaction, const RequestFamily& family, const Act& act,
                     const Actor& who) {
  const ledger::StoredDecision& holder = family.holder();
  const bool forfeited = forfeits(family);
  transaction.resolve(draft_about(holder, forfeited ? ledger::Outcome::forfeited : ledger::Outcome::voided,
                                  who, act_json(act)));
}

bool is_overdue(ledger::Snapshot& view, const RequestFamily& family) {
  if (!family.open()) return false;
  const ledger::StoredDecision& holder = family.holder();
  if (holder.draft.deadline <= view.now()) return true;
  const std::string calendar_time = view.calendar_time();
  return family.reservation &&
         std::any_of(holder.accounts.begin(), holder.accounts.end(),
                     [&](const auto& account) { return period_over(account.scope, calendar_time); });
}

std::vector<ledger::AccountState> accounts_after_expiries(ledger::Snapshot& view,
                                                          std::vector<ledger::AccountState> accounts) {
  const bool held = std::any_of(accounts.begin(), accounts.end(),
                                [](const auto& account) { return account.balance.reserved > 0; });
  if (!held) return accounts;
  const auto end = [&](const ledger::StoredDecision& open) {
    const auto family = family_of(view, open.id);
    if (!family) throw listed_wrongly(open.id);
    if (!family->reservation || !is_overdue(view, *family)) return;
    const bool forfeited = forfeits(*family);  // reads the request, or throws before anything is changed
    for (const ledger::Charge& charge : family->reservation->charges) {
      for (ledger::AccountState& account : accounts) {
        if (account.id != charge.account) continue;
        account.balance.reserved -= charge.amount;
        if (forfeited) account.balance.spent += charge.amount;
      }
    }
  };
  // What cannot be read stays open, here as there.
  view.each_open(
      "",
      [&end](const ledger::StoredDecision& open) {
        try {
          end(open);
        } catch (const ledger::UnreadableRow&) {
        }
      },
      [](const ledger::MalformedRecord&) {});
  return accounts;
}

namespace {

/// False if there is more to end than one transaction does.
bool end_overdue(EngineState& state, BegunTransaction& begun, const std::string& except) {
  for (const std::string& id : overdue_decisions(begun.transaction, except)) {
    // Without its replica nothing of them can be recorded by itself.
    if (begun.ended >= kExpiriesMax && !begun.transaction.is_without_replica()) return false;
    try {
      expire(begun.transaction, id);
      ++begun.ended;
    } catch (const ledger::UnreadableRow& fault) {
      state.report_unreadable(id, fault.what());
    }
  }
  return true;
}

}  // namespace

BegunTransaction begin_after_expiries(EngineState& state, const std::string& except,
                                      const ledger::PolicyVersion* next) {
  ledger::Ledger& ledger = state.writer();
  for (;;) {
    BegunTransaction begun{next != nullptr ? ledger.begin_to_apply(*next) : ledger.begin()};
    if (end_overdue(state, begun, except)) return begun;
    (void)commit_transaction(state, std::move(begun.transaction));
  }
}

std::vector<ledger::StoredDecision> commit_transaction(EngineState& state, ledger::Transaction transaction) {
  const std::int64_t policy_version = transaction.active_policy_version();
  std::vector<ledger::StoredDecision> recorded;
  try {
    recorded = state.writer().commit(std::move(transaction));
  } catch (const ledger::ReplicaBehind& behind) {
    if (state.options.warn) state.options.warn(behind.what());
    return behind.decisions();  // of which nothing is signed yet
  }
  state.checkpoints().note_commit(policy_version, recorded.empty() ? nullptr : &recorded.back());
  return recorded;
}

std::optional<BegunTransaction> begin_after_expiries_within(EngineState& state,
                                                            std::chrono::milliseconds wait) {
  std::optional<ledger::Transaction> transaction = state.writer().begin_within(wait);
  if (!transaction) return std::nullopt;
  BegunTransaction begun{std::move(*transaction)};
  if (!end_overdue(state, begun, "")) return std::nullopt;
  return begun;
}

}  // namespace epsilog::engine
