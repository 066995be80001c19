#include "epsilog/accounting/charge_receipt.hpp"

#include "epsilog/accounting/composed_charge.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {

ChargeReceipt::ChargeReceipt(std::int64_t decision, const ComposedCharge& charge,
                             std::shared_ptr<const TransactionLiveness> liveness)
    : decision_(decision), amount_(charge.sum()), liveness_(std::move(liveness)), draws_(charge.draws()) {}

ChargeReceipt ChargeReceipt::split(const ApproximateLoss& part) {
  if (!live()) throw InvalidParameter("charge receipt: its transaction is over or it was consumed");
  if (!part.within(amount_)) {
    throw InvalidParameter("charge receipt: cannot split " + part.text() + " off " + amount_.text());
  }
  if (!draws_.empty()) {
    if (next_draw_ == draws_.size() || draws_[next_draw_] != part) {
      throw InvalidParameter("charge receipt: " + part.text() +
                             " is not the next of the draws that were charged as one");
    }
    ++next_draw_;
  }
  amount_ = {Epsilon::from_units(amount_.epsilon.units() - part.epsilon.units()),
             Delta::from_units(amount_.delta.units() - part.delta.units())};
  return ChargeReceipt(decision_, part, liveness_);
}

std::int64_t ChargeReceipt::consume(const ApproximateLoss& loss) {
  if (!live()) throw InvalidParameter("charge receipt: its transaction is over or it was consumed");
  if (!draws_.empty()) throw InvalidParameter("charge receipt: it is of several draws; split it");
  if (amount_ != loss) {
    throw InvalidParameter("charge receipt: covers a loss of " + amount_.text() + ", the mechanism costs " +
                           loss.text());
  }
  liveness_.reset();
  return decision_;
}

}  // namespace epsilog::accounting
