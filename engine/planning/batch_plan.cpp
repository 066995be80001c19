#include "batch_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "budget_notes.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/bounded_sum.hpp"
#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/fixed_draws.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "loss_caps.hpp"
#include "plan.hpp"
#include "recorded_loss.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

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

std::vector<std::size_t> first_draws(const Plan& batch) {
  std::vector<std::size_t> first{0};
  for (const auto& row : batch.rows) first.push_back(first.back() + row->mechanisms.size());
  return first;
}

/// What each draw loses is read off what will be recorded of it, as whoever checks the record does.
accounting::FixedDraws fixed_draws(const Plan& batch, accounting::Delta delta) {
  std::vector<accounting::KnownLoss> laws;
  std::vector<accounting::FixedDraw> draws;
  std::unordered_map<std::string, std::size_t> numbers;
  for (const auto& row : batch.rows) {
    for (std::size_t i = 0; i < row->mechanisms.size(); ++i) {
      const std::string& mechanism = row->record.mechanism;
      const ledger::ComponentRecord& component = row->record.components[i];
      const auto [number, fresh] = numbers.emplace(loss_key(mechanism, component), laws.size());
      if (fresh) laws.push_back(recorded_loss(mechanism, component));
      draws.push_back({row->mechanisms[i].charged(), number->second});
    }
  }
  return {std::move(laws), std::move(draws), delta};
}

BatchCharge::BatchCharge(const Plan& batch, accounting::Delta delta)
    : first_(first_draws(batch)), draws_(fixed_draws(batch, delta)) {}

accounting::ComposedCharge BatchCharge::of(const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> numbers;
  for (const std::size_t row : rows) {
    for (std::size_t draw = first_.at(row); draw < first_.at(row + 1); ++draw) numbers.push_back(draw);
  }
  return draws_.charge_of_part(numbers);
}

/// The delta of a batch, on its grid; nothing where it says none, which then costs the sums of its rows.
/// `lost`: that of the rows together.
/// Throws  InvalidParameter unless it lies in (0, 1), is not below `lost` and some budget of the dataset
///         counts epsilon and delta.
std::optional<accounting::Delta> delta_of_batch(const Dataset& dataset, const Request& request,
                                                accounting::Delta lost) {
  if (!request.delta) return std::nullopt;
  if (*request.delta <= 0 || *request.delta >= 1) {
    throw InvalidParameter("delta: must lie strictly between 0 and 1");
  }
  const auto delta = accounting::Delta::from_rational_down(*request.delta);
  if (delta == accounting::Delta()) {
    throw InvalidParameter("delta: " + accounting::text(*request.delta) +
                           " is below the smallest one kept, 0.000000000000000001");
  }
  if (lost > delta) {
    throw InvalidParameter("delta: the rows lose " + lost.text() + " together, more than the " +
                           delta.text() + " of the whole batch");
  }
  if (!counts_delta(dataset)) {
    throw InvalidParameter("delta: no budget of '" + dataset.name +
                           "' counts epsilon and delta, and in every other measure a batch costs the sum of "
                           "its rows; leave the delta of the whole batch out");
  }
  return delta;
}

using accounting::ApproximateLoss;

/// What those of the rows cost together. `as_one`: how they are charged so; nullptr where they are not.
PlanCost cost_of(const Plan& batch, const std::vector<std::size_t>& rows, BatchCharge* as_one) {
  std::vector<ApproximateLoss> losses;
  std::vector<ComponentMechanism> mechanisms;
  for (const std::size_t row : rows) {
    const Plan& plan = *batch.rows[row];
    losses.push_back(plan.charged);
    mechanisms.insert(mechanisms.end(), plan.mechanisms.begin(), plan.mechanisms.end());
  }
  const ApproximateLoss sum = accounting::compose_sequential(losses);
  PlanCost cost{sum, LossAmounts(mechanisms, sum)};
  if (as_one != nullptr) cost.composed = as_one->of(rows);
  return cost;
}

void add_blocks(const Dataset& dataset, Plan& batch, BatchCharge* as_one) {
  std::map<std::string, std::vector<std::size_t>> covering;
  for (std::size_t row = 0; row < batch.rows.size(); ++row) {
    for (const std::string& block : batch.rows[row]->blocks) covering[block].push_back(row);
  }
  std::map<std::vector<std::size_t>, PlanCost> costs;  // most blocks are covered by the same rows
  for (std::string& block : block_names(dataset)) {
    const auto found = covering.find(block);
    if (found == covering.end()) continue;
    auto cost = costs.find(found->second);
    if (cost == costs.end()) cost = costs.emplace(found->second, cost_of(batch, found->second, as_one)).first;
    batch.block_costs.push_back(cost->second);
    batch.blocks.push_back(std::move(block));
  }
}

ledger::ReleaseRow row_record(const Plan& plan) {
  const ledger::ReleaseRecord& record = plan.record;
  return {.mechanism = record.mechanism,
          .arithmetic = record.arithmetic,
          .requested = record.requested,
          .charged = record.charged,
          .adjusted = record.adjusted,
          .published = record.published,
          .components = static_cast<std::int64_t>(record.components.size()),
          .cells = record.cells,
          .post_processing = plan.derivation.post_processing};
}

ledger::ReleaseRecord batch_record(const Plan& batch) {
  ledger::ReleaseRecord record;
  record.mechanism = ledger::kBatch;
  record.charged = batch.charged.epsilon;
  if (batch.composed) record.composed = {batch.composed->by(), batch.charged.delta};
  std::vector<Rational> requested;
  std::vector<Rational> adjusted;
  std::vector<Rational> published;
  for (const auto& row : batch.rows) {
    const ledger::ReleaseRecord& of_row = row->record;
    requested.push_back(of_row.requested);
    adjusted.push_back(of_row.adjusted);
    if (of_row.published) published.push_back(*of_row.published);
    record.components.insert(record.components.end(), of_row.components.begin(), of_row.components.end());
    record.rows.push_back(row_record(*row));
  }
  record.requested = accounting::sum_up(requested);
  record.adjusted = accounting::sum_up(adjusted);
  if (published.size() == batch.rows.size()) record.published = accounting::sum_up(published);
  // One policy says whose loss it is, of every row.
  record.unit = batch.rows.front()->record.unit;
  record.neighbours = batch.rows.front()->record.neighbours;
  return record;
}

DeltaCost delta_cost(const Request& request, const Plan& batch) {
  // At the epsilon of the whole that delta is what is proved.
  const std::string charged = batch.charged.delta.text();
  if (batch.composed) return {accounting::text(*request.delta), charged, charged};
  std::vector<Rational> requested;
  std::vector<Rational> adjusted;
  for (std::size_t row = 0; row < batch.rows.size(); ++row) {
    const auto& asked = request.rows[row].delta;
    requested.push_back(asked ? asked->rational() : batch.rows[row]->charged.delta.rational());
    for (const ComponentMechanism& mechanism : batch.rows[row]->mechanisms)
      adjusted.push_back(mechanism.adjusted_delta());
  }
  return {accounting::text(accounting::sum_up(requested)), charged,
          accounting::text(accounting::sum_up(adjusted))};
}

/// A row may lose more than the whole, which is told at a larger delta.
bool needs_approvals(const Dataset& dataset, const Plan& batch) {
  if (!dataset.approvals) return false;
  return needs_approval(*dataset.approvals, capped_loss(dataset, batch), batch.mechanisms) ||
         std::any_of(batch.rows.begin(), batch.rows.end(),
                     [](const auto& row) { return row->approvals_required > 0; });
}

}  // namespace

Plan plan_request(const Dataset& dataset, const Request& request) {
  if (request.unread) return {};
  if (request.rows.empty()) return make_plan(dataset, request);
  Plan batch;
  std::vector<ApproximateLoss> losses;
  const auto sharing = std::count_if(request.rows.begin(), request.rows.end(),
                                     [](const RequestRow& row) { return row.rho.has_value(); });
  each_question(request, [&](const Request& row) {
    Plan plan = make_plan(dataset, row, row.rho ? static_cast<std::uint64_t>(sharing) : 1);
    losses.push_back(plan.charged);
    batch.mechanisms.insert(batch.mechanisms.end(), plan.mechanisms.begin(), plan.mechanisms.end());
    batch.rows.push_back(std::make_shared<const Plan>(std::move(plan)));
  });
  const ApproximateLoss sum = accounting::compose_sequential(losses);
  std::optional<BatchCharge> as_one;
  if (const auto delta = delta_of_batch(dataset, request, sum.delta)) {
    batch.composed = as_one.emplace(batch, *delta).all();
  }
  batch.charged = batch.composed ? batch.composed->charge() : sum;
  batch.record = batch_record(batch);
  if (dataset.blocks) add_blocks(dataset, batch, as_one ? &*as_one : nullptr);
  if (needs_approvals(dataset, batch)) batch.approvals_required = dataset.approvals->required;
  batch.notes = budget_notes(dataset);
  batch.amounts = LossAmounts(batch.mechanisms, sum);
  if (!batch.charged.pure()) batch.delta = delta_cost(request, batch);
  return batch;
}

std::vector<ledger::ScopeLoss> block_losses(const Plan& plan) {
  std::vector<ledger::ScopeLoss> losses;
  for (std::size_t i = 0; i < plan.block_costs.size(); ++i) {
    const PlanCost& cost = plan.block_costs[i];
    const bool whole = plan.composed ? plan.composed->draws().size() == cost.composed->draws().size()
                                     : cost.sum == plan.charged;
    if (!whole) {
      losses.push_back({Scope{Scope::Kind::block, plan.blocks[i]}.text(), cost.sum, cost.composed});
    }
  }
  return losses;
}

accounting::ApproximateLoss capped_loss(const Dataset& dataset, const Plan& plan) {
  if (!plan.composed || !counts_pure(dataset)) return plan.charged;
  return {plan.composed->sum().epsilon, plan.charged.delta};
}

void require_recordable_cells(const Plan& plan) {
  if (plan.rows.empty()) return;
  std::uint64_t cells = 0;
  for (const auto& row : plan.rows) {
    const std::uint64_t of_row = std::max<std::uint64_t>(row->derivation.cells.size(), 1);
    if (__builtin_add_overflow(cells, of_row, &cells)) cells = UINT64_MAX;
  }
  if (cells <= kBatchCellsMax) return;
  throw InvalidParameter("batch: its answers have " + std::to_string(cells) + " cells together, more than " +
                         std::to_string(kBatchCellsMax) + "; ask it as several");
}

}  // namespace epsilog::engine
