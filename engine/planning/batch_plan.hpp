// batch + policy -> plan: several questions that are decided and charged as one.
// Thread-safety: pure functions.
#pragma once

#include "plan.hpp"

namespace epsilog::engine {

/// make_plan() of a question; nothing of a request that is unread; of a batch that of every row, by itself,
/// and what they are together.
///
/// What is asked is fixed before anything is drawn, so that the losses of the rows compose as those of the
/// components of one release do: they add in every measure, for those rows that lose anything of a block's
/// rows in its account (accounting/proofs/composition.md, sections 1, 7, 8 and 10). A batch with a delta of
/// its own is charged as one mechanism where epsilon and delta are counted (section 11).
/// Throws  as make_plan(); of a batch saying which row.
[[nodiscard]] Plan plan_request(const Dataset& dataset, const Request& request);

/// What the accounts of blocks have to cover that not every row covers; empty of what is no batch.
[[nodiscard]] std::vector<ledger::ScopeLoss> block_losses(const Plan& plan);

/// What a cap on one release sees of epsilon and delta: the most that an account of the dataset is charged.
[[nodiscard]] accounting::ApproximateLoss capped_loss(const Dataset& dataset, const Plan& plan);

/// That all answers together have no more cells than one decision is to record. For the door only.
/// Throws  InvalidParameter.
void require_recordable_cells(const Plan& plan);

}  // namespace epsilog::engine
