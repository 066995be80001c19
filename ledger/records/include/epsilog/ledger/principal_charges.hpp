// What one principal was charged, and holds reserved, of a dataset lately.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::ledger {

/// Which charges are summed: those that requests of one principal made on accounts that every request of the
/// dataset is charged to.
struct ChargeWindow {
  std::string dataset;
  std::string principal;
  std::string scope;  ///< "", "lifetime"; or "period" of all accounts of periods, of which a request has one
  std::string measure;
  std::int64_t seconds = 0;  ///< back from now; what is exactly as old is left out
};

struct PrincipalCharges {
  /// What was charged within the window, by requests that are answered or forfeited, whoever committed or
  /// ended them. Grid units.
  accounting::Integer charged;
  /// What open reservations hold, whenever they were made.
  struct OpenReservation {
    std::string id;  ///< of the reservation
    std::int64_t amount = 0;
  };
  std::vector<OpenReservation> open_reservations = {};
};

}  // namespace epsilog::ledger
