// A ledger that is sealed: it ends here, and may go on elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/merkle_proof.hpp"

namespace epsilog::ledger {

/// The seal that is the last line of a ledger.
struct Seal {
  std::string at;  ///< ledger time
  std::string by;
  std::string why;
};

/// What Ledger::seal() did.
struct SealResult {
  std::string ledger_id;
  TreeHead tree;         ///< of the sealed ledger
  Seal seal;             ///< of this call, or of an earlier one
  bool changed = false;  ///< false: it was sealed already, and nothing was recorded
};

/// The ledger is sealed: nothing is recorded in it any more. Nothing happened.
class LedgerSealed : public LedgerUnusable {
 public:
  using LedgerUnusable::LedgerUnusable;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_sealed"; }
};

}  // namespace epsilog::ledger
