#include "amounts.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"

namespace epsilog::command {

std::string amount_text(std::string_view measure, std::int64_t units) {
  if (measure == accounting::EpsilonMeasure::name) return accounting::Epsilon::from_units(units).text();
  if (measure == accounting::DeltaMeasure::name) return accounting::Delta::from_units(units).text();
  if (measure == accounting::RhoMeasure::name) return accounting::Rho::from_units(units).text();
  throw LedgerCorrupt("the ledger has an account of the unknown measure '" + std::string(measure) + "'");
}

AccountTexts texts(const ledger::AccountState& account) {
  const auto text = [&](std::int64_t units) { return amount_text(account.measure, units); };
  const accounting::Balance& balance = account.balance;
  if (!balance.valid())
    throw LedgerCorrupt("the balance of " + account.dataset + " is not possible; run epsilog audit verify");
  return {text(balance.limit), text(balance.spent), text(balance.reserved), text(balance.remaining())};
}

}  // namespace epsilog::command
