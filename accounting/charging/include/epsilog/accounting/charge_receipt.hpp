// Move-only proof that an open ledger transaction holds the debit of a loss.
//
// Only the ledger makes one, and a mechanism consumes it: code that releases without a charge does
// not compile. A receipt says nothing of durability; that is what keeps the release sealed
// (sealed_release.hpp) until the ledger's commit has returned.
// Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"

namespace epsilog::ledger {
class Transaction;
}

namespace epsilog::accounting {

class ComposedCharge;

/// Shared with the transaction that issued the receipt; open until it commits or rolls back.
struct TransactionLiveness {
  bool open = true;
};

class ChargeReceipt final {
 public:
  ChargeReceipt(ChargeReceipt&&) noexcept = default;
  ChargeReceipt& operator=(ChargeReceipt&&) noexcept = default;
  ChargeReceipt(const ChargeReceipt&) = delete;
  ChargeReceipt& operator=(const ChargeReceipt&) = delete;
  ~ChargeReceipt() = default;

  /// The loss this receipt still covers: of draws that are charged as one, the sum of those that are left.
  [[nodiscard]] const ApproximateLoss& amount() const noexcept { return amount_; }
  /// Position of the decision in the ledger, >= 1.
  [[nodiscard]] std::int64_t decision() const noexcept { return decision_; }
  /// Whether the transaction that holds the debit is still open and the receipt not consumed.
  [[nodiscard]] bool live() const noexcept { return liveness_ != nullptr && liveness_->open; }

  /// Splits `part` off, for a decision that runs several mechanisms. The two receipts together
  /// cover exactly what this one covered.
  /// Requires  live(), part.within(amount()): epsilon and delta are subtracted each. Of a composed charge
  ///           `part` is the next of its draws: it was certified for those and for no others that lose as
  ///           much by the sum, and each is drawn once.
  /// Throws    InvalidParameter.
  [[nodiscard]] ChargeReceipt split(const ApproximateLoss& part);

  /// Ends the receipt's life and says for which decision it stood. Called by mechanisms.
  /// Requires  live(), amount() == loss, in both parts; of a composed charge none but what was split off.
  /// Throws    InvalidParameter; the receipt then stays as it was.
  [[nodiscard]] std::int64_t consume(const ApproximateLoss& loss);

 private:
  friend class ledger::Transaction;
  ChargeReceipt(std::int64_t decision, const ApproximateLoss& amount,
                std::shared_ptr<const TransactionLiveness> liveness)
      : decision_(decision), amount_(amount), liveness_(std::move(liveness)) {}
  ChargeReceipt(std::int64_t decision, const ComposedCharge& charge,
                std::shared_ptr<const TransactionLiveness> liveness);

  std::int64_t decision_;
  ApproximateLoss amount_;
  std::shared_ptr<const TransactionLiveness> liveness_;
  std::vector<ApproximateLoss> draws_ = {};  // of a composed charge, all it was certified for
  std::size_t next_draw_ = 0;
};

}  // namespace epsilog::accounting
