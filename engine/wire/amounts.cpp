#include "amounts.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::wire {

AccountTexts texts(const ledger::AccountState& account) {
  const auto text = [&](std::int64_t units) { return engine::amount_text(account.measure, units); };
  const accounting::Balance& balance = account.balance;
  if (!balance.valid())
    throw LedgerCorrupt("the balance of " + account.dataset + " is not possible; run epsilog audit verify");
  return {text(balance.limit), text(balance.spent), text(balance.reserved), text(balance.remaining())};
}

std::string amount_or_units(const std::string& measure, std::int64_t units) {
  const bool sound =
      units >= 0 && units <= accounting::kUnitsMax && engine::parse_measure(measure).has_value();
  return sound ? engine::amount_text(measure, units) : std::to_string(units) + " units of " + measure;
}

AccountTexts texts_or_units(const ledger::AccountState& account) {
  if (account.balance.valid() && engine::parse_measure(account.measure)) return texts(account);
  const auto text = [&](std::int64_t units) { return amount_or_units(account.measure, units); };
  return {text(account.balance.limit), text(account.balance.spent), text(account.balance.reserved),
          "not possible"};
}

std::string account_subject(const ledger::AccountState& account) {
  return account.measure + " of dataset '" + account.dataset + "'" +
         (account.scope.empty() ? "" : ", " + account.scope) + ", spent " +
         engine::amount_text(account.measure, account.balance.spent);
}

}  // namespace epsilog::wire
