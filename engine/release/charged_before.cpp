#include "charged_before.hpp"

#include "epsilog/ledger/unreadable_row.hpp"
#include "expiry.hpp"

namespace epsilog::engine {
namespace {

/// Whether it ends before anything is written, and gives back what it holds.
bool would_be_given_back(ledger::Snapshot& view, const std::string& reservation) {
  try {
    const auto family = family_of(view, reservation);
    return family && is_overdue(view, *family) && !forfeits(*family);
  } catch (const ledger::UnreadableRow&) {
    return false;  // what cannot be read stays open
  }
}

}  // namespace

accounting::Integer charged_before(ledger::Snapshot& view, const ledger::ChargeWindow& window) {
  const ledger::PrincipalCharges found = view.charges(window);
  accounting::Integer sum = found.charged;
  for (const ledger::PrincipalCharges::OpenReservation& held : found.open_reservations) {
    if (!would_be_given_back(view, held.id)) sum += held.amount;
  }
  return sum;
}

accounting::Integer charged_before(ledger::Transaction& transaction, const ledger::ChargeWindow& window) {
  const ledger::PrincipalCharges found = transaction.charges(window);
  accounting::Integer sum = found.charged;
  for (const ledger::PrincipalCharges::OpenReservation& held : found.open_reservations) sum += held.amount;
  return sum;
}

}  // namespace epsilog::engine
