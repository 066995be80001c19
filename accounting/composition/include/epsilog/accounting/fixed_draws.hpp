// What draws are charged together that were all fixed before the first of them.
//
// Measure   Approximate DP: (epsilon, delta), delta given, epsilon the least of three certified bounds.
// Validity  How many draws there are, by which mechanisms and of which parameters, depends on no answer of
//           theirs; it may depend on everything before them. All of them together are one mechanism then, and
//           what it loses may be added to an account as that of any other: a filter of sums of epsilon and
//           delta admits mechanisms that are chosen as one goes.
// Proof     accounting/proofs/composition.md, section 11.
// Rounds    Epsilon up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/accounting/accountant.hpp"
#include "epsilog/accounting/composed_charge.hpp"

namespace epsilog::accounting {

/// One draw of those that are fixed.
struct FixedDraw {
  ApproximateLoss charged;  ///< that its mechanism is calibrated to, and for which it consumes a receipt
  std::size_t law = 0;      ///< what it loses: which of the laws
};

/// Draws that are fixed, and what some or all of them are charged.
/// Thread-safety: one owner.
class FixedDraws final {
 public:
  /// The distribution is found of one schedule after the other, all() being the first, as long as they have
  /// no more different laws together, each counted in every schedule that has it; of the others it is left
  /// out. A law of discrete Gaussian noise, which takes so much longer, counts as one more for each 16 steps
  /// of its scale; as continuous noise where the grid is so fine that this costs below a thousandth of its
  /// epsilon. That bounds how long whoever plans waits, and whoever audits, and depends on nothing else.
  static constexpr std::size_t kPldLawsMax = 128;

  /// `laws`: their counts are not read. `delta`: of the charge.
  /// Requires  a draw at least; laws of numbers that there are, whose guarantee, if any, is within what every
  ///           draw of theirs is charged; epsilons above 0; delta in (0, 1), at least the sum of the draws'.
  /// Throws    InvalidParameter.
  FixedDraws(std::vector<KnownLoss> laws, std::vector<FixedDraw> draws, Delta delta);

  /// All of them.
  [[nodiscard]] const ComposedCharge& all() const { return all_.value(); }
  /// Those with such numbers, ascending: not more than is charged for all, of which they are a part.
  /// Requires  one at least.
  /// Throws    InvalidParameter.
  [[nodiscard]] ComposedCharge charge_of_part(std::span<const std::size_t> numbers);

 private:
  struct Least {
    Epsilon epsilon;
    ComposedBy by = ComposedBy::sum;
  };
  using Counts = std::map<std::size_t, std::uint64_t>;  // by law
  [[nodiscard]] ComposedCharge compose(std::vector<ApproximateLoss> draws, const Counts& counts,
                                       const std::optional<Least>& of_all);
  [[nodiscard]] Least least(const Counts& counts, Epsilon sum);
  [[nodiscard]] std::optional<Epsilon> by_pld(const Counts& counts, std::span<const KnownLoss> losses);

  std::vector<KnownLoss> laws_;
  std::vector<FixedDraw> draws_;
  Delta delta_;
  std::map<Counts, std::optional<Epsilon>> pld_;  // found so far
  std::size_t pld_laws_ = 0;                      // of those schedules, as they count
  std::optional<ComposedCharge> all_;
};

}  // namespace epsilog::accounting
