#include "access.hpp"
#include "assumed_count.hpp"
#include "each_question.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/bounded_sum.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/forecast.hpp"

namespace epsilog::engine {
namespace {

using accounting::Exact;
using Counts = std::vector<std::optional<std::int64_t>>;

constexpr std::int64_t kStepsOfFactor = 1'000;
constexpr std::int64_t kFactorStepsMax = kStepsOfFactor * 1'000'000;

Request with_epsilons(Request batch, const std::vector<Rational>& epsilons) {
  for (std::size_t row = 0; row < epsilons.size(); ++row) batch.rows[row].epsilon = epsilons[row];
  return batch;
}

/// [row] of the numbers of rows that are assumed, where the accuracy follows from one.
Counts counts_that_matter(const Dataset& dataset, const Request& batch,
                          std::span<const std::optional<std::int64_t>> assumed) {
  Counts counts;
  each_question(batch, [&](const Request& asked) {
    const std::optional<std::int64_t>& count = assumed[counts.size()];
    const bool matters = count && follows_from_count(derive(dataset, asked.question));
    counts.push_back(matters ? count : std::nullopt);
  });
  return counts;
}

/// Finds epsilons of one batch, under one policy.
class LeastEpsilons {
 public:
  LeastEpsilons(const Asking& engine, const Request& batch, std::span<const Exact> wanted, const Exact& alpha,
                Counts assumed)
      : engine_(engine), batch_(batch), wanted_(wanted), alpha_(alpha), assumed_(std::move(assumed)) {}

  /// [row]; nothing if no epsilon of some row is large enough.
  [[nodiscard]] std::optional<std::vector<Rational>> at(const Rational& factor) {
    std::vector<Rational> epsilons;
    bool all = true;
    each_question(batch_, [&](const Request& asked) {
      const std::size_t row = epsilons.size();
      const Accuracy wanted{alpha_, Rational(wanted_[row].rational() * factor)};
      const auto forecast =
          all ? engine_.forecast_of_accuracy(asked, wanted, {}, assumed_[row]) : std::nullopt;
      if (!forecast) all = false;
      if (forecast) require_same_policy(forecast->each.planned.policy_version);
      epsilons.push_back(forecast ? forecast->epsilon : Rational(0));
    });
    if (!all) return std::nullopt;
    return epsilons;
  }

  /// What all rows lose together at those: the sum, or what is charged for a batch with a delta of its own.
  [[nodiscard]] Rational together(const std::vector<Rational>& epsilons) {
    if (!batch_.delta) return accounting::sum_up(epsilons);
    const Answer plan = engine_.plan(with_epsilons(batch_, epsilons), {});
    require_same_policy(plan.planned.policy_version);
    return plan.planned.record.charged.rational();
  }

 private:
  void require_same_policy(std::int64_t version) {
    if (policy_version_ == 0) policy_version_ = version;
    if (policy_version_ != version) throw LedgerBusy("the policy changed meanwhile; nothing was done, retry");
  }

  const Asking& engine_;
  const Request& batch_;
  std::span<const Exact> wanted_;
  const Exact& alpha_;
  Counts assumed_;
  std::int64_t policy_version_ = 0;
};

Rational factor_of(std::int64_t steps) {
  return {accounting::Integer(static_cast<long>(steps)),
          accounting::Integer(static_cast<long>(kStepsOfFactor))};
}

/// The least number of steps whose epsilons fit, while those of one less do not.
std::int64_t fitting_steps(LeastEpsilons& least, const Rational& total) {
  const auto fits = [&](std::int64_t steps) {
    Rational factor = factor_of(steps);
    factor.canonicalize();
    const auto epsilons = least.at(factor);
    return epsilons && least.together(*epsilons) <= total;
  };
  // Of 0 steps nothing fits; what does is sought from 1 on, either way.
  std::int64_t below = 0;
  std::int64_t above = kStepsOfFactor;
  while (!fits(above)) {
    below = above;
    if (above >= kFactorStepsMax) {
      throw Underivable(
          "accuracy: the rows would be a million times less accurate than wanted, and more than " +
          accounting::text(total) + " of epsilon together");
    }
    above *= 2;
  }
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (fits(middle) ? above : below) = middle;
  }
  return above;
}

}  // namespace

AccurateBatch Asking::accurate_batch(Request batch, std::span<const Exact> wanted, const Exact& alpha,
                                     const std::optional<Exact>& total,
                                     std::span<const std::optional<std::int64_t>> assumed_counts) const {
  const std::size_t rows = batch.rows.size();
  if (rows == 0 || wanted.size() != rows || (!assumed_counts.empty() && assumed_counts.size() != rows)) {
    throw InvalidParameter("accuracy: is wanted of each row of a batch, and so is what is assumed");
  }
  if (total && *total <= 0) throw InvalidParameter("epsilon: must be positive");
  for (RequestRow& row : batch.rows) row.rho.reset();
  Counts counts(rows);
  AccurateBatch result;
  {
    ledger::Snapshot view = state_->snapshot();
    const auto active = state_->active_policy(view);
    const Dataset& dataset = state_->requested_dataset(active->policy, batch);
    if (admitted_request(active->policy, dataset, batch).unread) {
      // Who may not ask learns nothing from what would be found; release() refuses the batch.
      result.batch = with_epsilons(std::move(batch), std::vector<Rational>(rows, Rational(1)));
      return result;
    }
    if (!assumed_counts.empty()) counts = counts_that_matter(dataset, batch, assumed_counts);
  }
  LeastEpsilons least(*this, batch, wanted, alpha, std::move(counts));
  if (total) {
    result.factor = factor_of(fitting_steps(least, total->rational()));
    result.factor.canonicalize();
  }
  const auto epsilons = least.at(result.factor);
  if (!epsilons) throw Underivable("accuracy: no epsilon makes every row so accurate");
  result.batch = with_epsilons(batch, *epsilons);
  return result;
}

}  // namespace epsilog::engine
