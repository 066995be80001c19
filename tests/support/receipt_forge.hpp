// Charge receipts and opened releases for tests of mechanisms alone.
//
// The accounting layer befriends ledger::Transaction by name. These tests do not link the ledger, so
// they may bring a class of that name which forges receipts; a test that does link it must not
// include this file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/sealed_release.hpp"

namespace epsilog::ledger {

class Transaction {
 public:
  accounting::ChargeReceipt receipt(const accounting::ApproximateLoss& amount, std::int64_t decision = 1) {
    return accounting::ChargeReceipt(decision, amount, liveness_);
  }
  void end() { liveness_->open = false; }
  static const std::vector<accounting::Rational>& opened(const accounting::SealedRelease& release) {
    return release.values_;
  }

 private:
  std::shared_ptr<accounting::TransactionLiveness> liveness_ =
      std::make_shared<accounting::TransactionLiveness>();
};

}  // namespace epsilog::ledger
