#include "amounts.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::command {

AccountTexts texts(const ledger::AccountState& account) {
  const auto text = [&](std::int64_t units) { return engine::amount_text(account.measure, units); };
  const accounting::Balance& balance = account.balance;
  if (!balance.valid())
    throw LedgerCorrupt("the balance of " + account.dataset + " is not possible; run epsilog audit verify");
  return {text(balance.limit), text(balance.spent), text(balance.reserved), text(balance.remaining())};
}

std::string account_subject(const ledger::AccountState& account) {
  return account.measure + " of dataset '" + account.dataset + "'" +
         (account.scope.empty() ? "" : ", " + account.scope) + ", spent " +
         engine::amount_text(account.measure, account.balance.spent);
}

}  // namespace epsilog::command
