// One row that cannot be read, among others that can.
#pragma once

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

/// What a decision holds is not what the program writes. The storage is sound: the other rows can be read,
/// and a transaction that met it goes on.
class UnreadableRow : public LedgerCorrupt {
 public:
  using LedgerCorrupt::LedgerCorrupt;
};

}  // namespace epsilog::ledger
