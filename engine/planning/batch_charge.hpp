// What a batch is charged where it says which delta goes with it: all rows as one mechanism.
#pragma once

#include <optional>
#include <vector>

#include "epsilog/accounting/fixed_draws.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// The draws of the rows of a batch, which are fixed in advance: what may be chosen within a row, as the
/// splits of several quantiles are, is in what is proved of that one draw. Proof
/// accounting/proofs/composition.md, section 11. Thread-safety: one owner.
class BatchCharge final {
 public:
  /// Requires  the plans of the rows are there, and lose no more delta together.
  BatchCharge(const Plan& batch, accounting::Delta delta);

  [[nodiscard]] const accounting::ComposedCharge& all() const { return draws_.all(); }
  /// Of the rows with such numbers, ascending.
  [[nodiscard]] accounting::ComposedCharge of(const std::vector<std::size_t>& rows);

 private:
  std::vector<std::size_t> first_;  // [row] of its draws; and after the last row how many there are
  accounting::FixedDraws draws_;
};

/// The delta of a batch, on its grid; nothing where it says none, which then costs the sums of its rows.
/// `lost`: that of the rows together.
/// Throws  InvalidParameter unless it lies in (0, 1), is not below `lost` and some budget of the dataset
///         counts epsilon and delta.
[[nodiscard]] std::optional<accounting::Delta> delta_of_batch(const Dataset& dataset, const Request& request,
                                                              accounting::Delta lost);

}  // namespace epsilog::engine
