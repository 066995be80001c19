// A charge for draws that were all fixed before the first of them, below the sum of what each loses.
//
// Measure   Approximate DP, (epsilon, delta).
// Validity  As of fixed_draws.hpp, which makes it.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"

namespace epsilog::accounting {

/// Which bound is the least; of equal ones the first.
enum class ComposedBy {
  sum,   ///< of what the draws were calibrated to, exactly
  zcdp,  ///< of rho, converted
  pld,   ///< the distribution of the total loss, and what follows from all epsilons or divergences
};
inline constexpr std::array kComposedBy = {ComposedBy::sum, ComposedBy::zcdp, ComposedBy::pld};
/// "sum", "zcdp", "pld".
[[nodiscard]] std::string_view name(ComposedBy by);

/// A certified charge and the draws that it is for. Only FixedDraws makes one.
/// Thread-safety: immutable; copies share what they hold.
class ComposedCharge final {
 public:
  /// What is charged to an account of epsilon and delta. Its epsilon is positive.
  [[nodiscard]] const ApproximateLoss& charge() const noexcept { return charge_; }
  [[nodiscard]] ComposedBy by() const noexcept { return by_; }
  /// What the draws lose by the sum alone, which is charged everywhere else. Its delta is at most the
  /// charge's, and so is its epsilon not below it.
  [[nodiscard]] const ApproximateLoss& sum() const noexcept { return sum_; }
  /// What each draw costs, in order: those that the charge was certified for, and no others.
  [[nodiscard]] const std::vector<ApproximateLoss>& draws() const noexcept { return *draws_; }

 private:
  friend class FixedDraws;
  ComposedCharge(const ApproximateLoss& charge, ComposedBy by, const ApproximateLoss& sum,
                 std::shared_ptr<const std::vector<ApproximateLoss>> draws)
      : charge_(charge), by_(by), sum_(sum), draws_(std::move(draws)) {}

  ApproximateLoss charge_;
  ComposedBy by_;
  ApproximateLoss sum_;
  std::shared_ptr<const std::vector<ApproximateLoss>> draws_;
};

}  // namespace epsilog::accounting
