// Says, as long as it lives, that this process has a ledger open (epsilog/ledger/open_ledgers.hpp).
#pragma once

#include <list>

#include "ledger_files.hpp"

namespace epsilog::ledger {

class LedgerRegistration final {
 public:
  explicit LedgerRegistration(const LedgerFiles& files);
  LedgerRegistration(const LedgerRegistration&) = delete;
  LedgerRegistration& operator=(const LedgerRegistration&) = delete;
  ~LedgerRegistration();

 private:
  std::list<LedgerFiles>::iterator entry_;
};

}  // namespace epsilog::ledger
