// Says, as long as it lives, that this process has a ledger open (epsilog/ledger/open_ledgers.hpp).
#pragma once

#include <list>

#include "ledger_files.hpp"

namespace epsilog::ledger {

class OpenLedger final {
 public:
  explicit OpenLedger(const LedgerFiles& files);
  OpenLedger(const OpenLedger&) = delete;
  OpenLedger& operator=(const OpenLedger&) = delete;
  ~OpenLedger();

 private:
  std::list<LedgerFiles>::iterator place_;
};

}  // namespace epsilog::ledger
