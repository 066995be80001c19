// The one way to a value goes through the ledger; each macro is an attempt at another way.
#include <iostream>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/composed_charge.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

using epsilog::accounting::ApproximateLoss;
using epsilog::accounting::ChargeReceipt;
using epsilog::accounting::ComposedCharge;
using epsilog::accounting::Epsilon;
using epsilog::accounting::Rational;
using epsilog::accounting::SealedRelease;
using epsilog::ledger::Charge;
using epsilog::ledger::DecisionDraft;
using epsilog::ledger::Ledger;
using epsilog::ledger::ReleaseRecord;
using epsilog::ledger::StoredDecision;
using epsilog::mechanisms::BitSource;
using epsilog::mechanisms::SnappingMechanism;

std::vector<StoredDecision> the_way(Ledger& ledger, const SnappingMechanism& mechanism, BitSource& bits,
                                    const DecisionDraft& draft, const ReleaseRecord& record,
                                    std::span<const Charge> charges, std::span<const Rational> answers,
                                    Epsilon epsilon) {
  auto transaction = ledger.begin();
  ChargeReceipt receipt = transaction.charge(draft, charges, epsilon);
  std::vector<SealedRelease> components;
  components.push_back(mechanism.release(answers, std::move(receipt), bits));
  transaction.attach(record, std::move(components), {});
  return ledger.commit(std::move(transaction));
}

#ifdef EPSILOG_MAKE_RECEIPT
ChargeReceipt forged(const ApproximateLoss& amount) {
  return ChargeReceipt(1, amount, std::make_shared<epsilog::accounting::TransactionLiveness>());
}
#endif
#ifdef EPSILOG_MAKE_COMPOSED_CHARGE
ComposedCharge uncertified(const ApproximateLoss& charge, const ApproximateLoss& sum) {
  return ComposedCharge(charge, epsilog::accounting::ComposedBy::pld, sum,
                        std::make_shared<const std::vector<ApproximateLoss>>());
}
#endif
#ifdef EPSILOG_DEFAULT_RECEIPT
ChargeReceipt empty() {
  return ChargeReceipt();
}
#endif
#ifdef EPSILOG_COPY_RECEIPT
ChargeReceipt twice(const ChargeReceipt& receipt) {
  return receipt;
}
#endif
#ifdef EPSILOG_KEEP_RECEIPT
SealedRelease keep(const SnappingMechanism& mechanism, std::span<const Rational> answers,
                   ChargeReceipt receipt, BitSource& bits) {
  return mechanism.release(answers, receipt, bits);
}
#endif
#ifdef EPSILOG_NO_RECEIPT
SealedRelease free_of_charge(const SnappingMechanism& mechanism, std::span<const Rational> answers,
                             BitSource& bits) {
  return mechanism.release(answers, bits);
}
#endif
#ifdef EPSILOG_AMOUNT_AS_RECEIPT
SealedRelease on_credit(const SnappingMechanism& mechanism, std::span<const Rational> answers, Epsilon amount,
                        BitSource& bits) {
  return mechanism.release(answers, amount, bits);
}
#endif
#ifdef EPSILOG_MAKE_SEALED
SealedRelease invented(const ApproximateLoss& charged) {
  return SealedRelease(1, charged, std::vector<Rational>{1});
}
#endif
#ifdef EPSILOG_COPY_SEALED
SealedRelease copied(const SealedRelease& sealed) {
  return sealed;
}
#endif
#ifdef EPSILOG_READ_SEALED
Rational opened(const SealedRelease& sealed) {
  return sealed.values_.front();
}
#endif
#ifdef EPSILOG_ASK_SEALED
Rational asked(const SealedRelease& sealed) {
  return sealed.values().front();
}
#endif
#ifdef EPSILOG_PRINT_SEALED
void printed(const SealedRelease& sealed) {
  std::cout << sealed;
}
#endif
