#include "epsilog/accounting/charge_receipt.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {

ChargeReceipt ChargeReceipt::split(const ApproximateLoss& part) {
  if (!live()) throw InvalidParameter("charge receipt: its transaction is over or it was consumed");
  if (!part.within(amount_)) {
    throw InvalidParameter("charge receipt: cannot split " + part.text() + " off " + amount_.text());
  }
  amount_ = {Epsilon::from_units(amount_.epsilon.units() - part.epsilon.units()),
             Delta::from_units(amount_.delta.units() - part.delta.units())};
  return ChargeReceipt(decision_, part, liveness_);
}

std::int64_t ChargeReceipt::consume(const ApproximateLoss& loss) {
  if (!live()) throw InvalidParameter("charge receipt: its transaction is over or it was consumed");
  if (amount_ != loss) {
    throw InvalidParameter("charge receipt: covers a loss of " + amount_.text() + ", the mechanism costs " +
                           loss.text());
  }
  liveness_.reset();
  return decision_;
}

}  // namespace epsilog::accounting
