// policy + request -> plan: which mechanisms would run, what they cost, what is recorded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "component_mechanism.hpp"
#include "epsilog/accounting/composed_charge.hpp"
#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/release_cost.hpp"
#include "epsilog/engine/request.hpp"
#include "loss_amounts.hpp"

namespace epsilog::engine {

/// What some of the rows of a batch lose together.
struct PlanCost {
  accounting::ApproximateLoss sum;
  LossAmounts amounts;  ///< of the sums
  /// Where the batch says which delta goes with it: what is charged instead where epsilon and delta are
  /// counted.
  std::optional<accounting::ComposedCharge> composed = {};
};

/// Everything about a release that is known before a bit is drawn. A function of the policy and the request
/// alone, which is what lets an auditor recompute it.
struct Plan {
  Derivation derivation;
  std::vector<ComponentMechanism> mechanisms;  ///< one a component
  accounting::ApproximateLoss charged;         ///< sum over the mechanisms; or of `composed`
  ledger::ReleaseRecord record;
  std::optional<DeltaCost> delta;   ///< nothing for a pure mechanism
  std::optional<RhoCost> rho;       ///< where it was asked
  std::vector<std::string> blocks;  ///< that the request covers, in order; empty where none are declared
  std::optional<Rational> suppress_below;  ///< cells counted below it are not shown
  std::uint64_t approvals_required = 0;    ///< 0: as far as it goes by itself it is decided at once
  std::vector<std::string> notes;          ///< what reports say about the dataset's budgets
  std::string left_out = {};               ///< rows_left_out() of its question
  LossAmounts amounts;  ///< what it costs, by measure of the accounts it touches: sums over the mechanisms
  /// Of a batch the plans of its rows: what is said above is of all of them, `mechanisms` and the components
  /// of the record one after the other, and `derivation` says nothing.
  std::vector<std::shared_ptr<const Plan>> rows = {};
  /// Of a batch, for each of `blocks`: what the rows that cover it cost.
  std::vector<PlanCost> block_costs = {};
  /// Of a batch that says which delta goes with it: what all rows are charged as one where epsilon and delta
  /// are counted.
  std::optional<accounting::ComposedCharge> composed = {};
};

/// Its rows; of what is no batch, itself.
[[nodiscard]] std::vector<const Plan*> parts_of(const Plan& plan);

/// [component]: so many values are drawn of each.
/// Requires  no batch.
[[nodiscard]] std::vector<std::size_t> cells_drawn(const Plan& plan);
/// Whether what the component with that index draws is shown as the nearest whole number.
/// Requires  no batch.
[[nodiscard]] bool shows_whole(const Plan& plan, std::size_t component);

/// Of one question; of whatever is asked, plan_request() (batch_plan.hpp).
/// `sharing`: of a row, so many rows of its batch are asked of rho, which have equal parts of
/// delta_of_rho(dataset): together they are told at what one release may have.
/// Requires  no batch; sharing >= 1.
/// Ensures   the mechanisms' charges add to `charged` exactly, in both parts; these are the largest grid
///           values not above request.epsilon and request.delta. Of request.rho that holds of rho, and
///           `charged` is what the parts of it imply at delta_of_rho(dataset), or the part of that.
/// Throws    NotFound, Underivable, InvalidParameter.
[[nodiscard]] Plan make_plan(const Dataset& dataset, const Request& request, std::uint64_t sharing = 1);

/// How far the answer is from the clamped exact one, except with probability alpha, as far as the component
/// with that index goes; rounded up. Of a rounded answer: of the exact one clamped to the whole numbers of
/// the range (mechanisms/proofs/snapping.md, "Whole answers").
/// Requires  no quantiles and no batch.
[[nodiscard]] Rational accuracy_up(const Plan& plan, std::size_t component, const Rational& alpha);
/// [component][alpha]; of quantiles [quantile][alpha], in ranks, but nothing of an alpha below
/// mechanisms::least_rank_alpha(). None of a batch, whose rows have theirs,
/// and of a plan of nothing.
[[nodiscard]] std::vector<std::vector<Accuracy>> accuracies(const Plan& plan,
                                                            std::span<const Rational> alphas);

}  // namespace epsilog::engine
