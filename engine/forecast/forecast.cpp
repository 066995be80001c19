#include "epsilog/engine/forecast.hpp"

#include <algorithm>

#include "access.hpp"
#include "assumed_count.hpp"
#include "budget_notes.hpp"
#include "charged_before.hpp"
#include "decide.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilon_search.hpp"
#include "expiry.hpp"
#include "judgement.hpp"
#include "loss_caps.hpp"
#include "plan_intervals.hpp"
#include "question_checks.hpp"

namespace epsilog::engine {
namespace {

/// Where searches start: one nat.
constexpr std::int64_t kOneNat = 1'000'000'000'000;

/// A request planned at some epsilon, and what it asks of the accounts as they stand.
struct PricedRequest {
  Request request;
  Plan plan;
  std::vector<Debit> debits;
};

/// Plans one request at different epsilons against one view of the ledger.
class Forecaster {
 public:
  Forecaster(EngineState& state, ledger::Snapshot& view, const Request& request)
      : state_(state),
        applied_(state.active_policy(view)),
        dataset_(state.requested_dataset(applied_->policy, request)),
        request_(request),
        view_(view),
        calendar_time_(view.calendar_time()),
        admitted_(admitted_request(applied_->policy, dataset_, request)) {
    if (!admitted_.unread) require_one_question(dataset_, request);
  }

  /// What is forecast for who may not ask: that, and of no epsilon.
  [[nodiscard]] std::optional<Forecast> access_refusal() const {
    if (!admitted_.unread) return std::nullopt;
    Forecast result;
    result.each = state_.access_refusal(*applied_, dataset_, admitted_);
    result.never = true;
    return result;
  }

  /// The accuracy of an answer of so many rows is told, and is what is wanted.
  void assume(std::optional<std::int64_t> rows) {
    if (rows) require_assumable(derive(dataset_, request_.question), request_.question, *rows);
    assumed_ = rows;
  }
  /// Of the request as it stands, and at another epsilon.
  [[nodiscard]] Forecast at_requested_loss(std::span<const Rational> alphas) {
    return of(plan_at(request_), alphas);
  }
  [[nodiscard]] Forecast at(const Rational& epsilon, std::span<const Rational> alphas) {
    return of(plan_at(epsilon), alphas);
  }
  /// The largest epsilon at which `count` releases fit.
  [[nodiscard]] std::optional<Epsilon> largest_for(std::int64_t count);
  /// The least epsilon that is accurate enough.
  [[nodiscard]] std::optional<Epsilon> least_for(const Accuracy& wanted);

 private:
  [[nodiscard]] Forecast of(const PricedRequest& standing, std::span<const Rational> alphas) const;
  [[nodiscard]] PricedRequest plan_at(const Rational& epsilon);
  [[nodiscard]] PricedRequest plan_at(Request request);
  [[nodiscard]] std::int64_t most_for(const PricedRequest& standing, std::int64_t count) const;
  [[nodiscard]] std::int64_t most_of_one_release() const {
    const bool capped = dataset_.per_release && dataset_.per_release->epsilon;
    return capped ? dataset_.per_release->epsilon->units() : accounting::kUnitsMax;
  }
  [[nodiscard]] bool accurate(const Plan& plan, const Accuracy& wanted) const;
  /// An epsilon at which the request cannot be planned does not do, and why is kept.
  template <class Test>
  [[nodiscard]] EpsilonTest planned_and(const Test& test);
  [[nodiscard]] std::optional<Epsilon> epsilon_of_units(std::optional<std::int64_t> units) const;

  EngineState& state_;
  std::shared_ptr<const AppliedPolicy> applied_;
  const Dataset& dataset_;
  Request request_;
  std::optional<std::int64_t> assumed_;
  ledger::Snapshot& view_;
  std::string calendar_time_;
  Request admitted_;
  std::optional<std::vector<ledger::AccountState>> present_;  ///< the same at every epsilon
  std::string unplannable_;
};

PricedRequest Forecaster::plan_at(const Rational& epsilon) {
  Request request = request_;
  if (request.rho) {
    // As what it was asked is sought as an epsilon: beside the delta at which its rho is one.
    request.rho.reset();
    request.delta = delta_of_rho(dataset_).rational();
  }
  request.epsilon = epsilon;
  return plan_at(std::move(request));
}

PricedRequest Forecaster::plan_at(Request request) {
  Plan plan = make_plan(dataset_, request);
  std::vector<Debit> debits =
      debits_of({applied_->policy, dataset_, request, plan}, calendar_time_, [this](const auto& names) {
        if (!present_) present_ = accounts_after_expiries(view_, view_.accounts(names));
        return *present_;
      });
  return {std::move(request), std::move(plan), std::move(debits)};
}

AccountForecast forecast_of(const Debit& debit) {
  AccountForecast result;
  result.account = debit.account;
  result.asked = debit.charge.too_large.value_or(accounting::Integer(debit.charge.amount));
  if (debit.charge.too_large || !debit.charge.expressible) {
    result.releases = 0;
  } else if (debit.charge.amount > 0) {
    result.releases = debits_that_fit(debit.account.balance, debit.charge.amount);
  }
  return result;
}

/// The fewest that any account has room for; marks those that have room for no more.
std::int64_t fewest(std::vector<AccountForecast>& accounts) {
  std::optional<std::int64_t> least;
  for (const AccountForecast& account : accounts) {
    if (account.releases && (!least || *account.releases < *least)) least = account.releases;
  }
  EPSILOG_INVARIANT(least.has_value());  // every release loses something that some account counts
  for (AccountForecast& account : accounts) account.binds = account.releases == least;
  return *least;
}

Forecast Forecaster::of(const PricedRequest& standing, std::span<const Rational> alphas) const {
  const auto before = [this](const ledger::ChargeWindow& window) { return charged_before(view_, window); };
  const Judgement judgement = judge({applied_->policy, dataset_, standing.request, standing.plan},
                                    standing.debits, before, std::nullopt);
  const std::vector<Reason>& reasons = judgement.decision.reasons();
  Forecast result;
  result.epsilon =
      standing.request.rho ? standing.plan.charged.epsilon.rational() : standing.request.epsilon.rational();
  result.each = state_.answer_from_plan(standing.request, standing.plan, applied_->version.version,
                                        accuracies(standing.plan, alphas));
  if (!alphas.empty()) result.each.planned.holds_from = PlanIntervals(standing.plan, alphas).sizes();
  if (assumed_)
    result.each.planned.assumed = {*assumed_, accuracies_of_count(standing.plan, *assumed_, alphas)};
  add_judgement(result.each, judgement, standing.debits);
  note_held_calendar(result.each, view_.calendar_held_at().has_value());
  result.never = std::any_of(reasons.begin(), reasons.end(),
                             [](const Reason& reason) { return !is_balance_refusal(reason.code); });
  if (hides_balances(reasons)) return result;
  for (const Debit& debit : standing.debits) result.accounts.push_back(forecast_of(debit));
  const std::int64_t room = fewest(result.accounts);
  if (!result.never) result.releases = room;
  return result;
}

/// A cap on one release's epsilon is where the search ends; those in other measures are asked for here.
bool fits(const Dataset& dataset, const PricedRequest& standing, std::int64_t count) {
  const bool counted = std::any_of(standing.debits.begin(), standing.debits.end(), [](const Debit& debit) {
    return debit.charge.measure.kind == AccountMeasure::Kind::delta;
  });
  const LossCap cap = cap_of_one_release(dataset, counted);
  if (!exceeded_caps(cap, standing.plan.charged, standing.plan.mechanisms).empty()) return false;
  return std::all_of(standing.debits.begin(), standing.debits.end(), [count](const Debit& debit) {
    if (!debit.charge.expressible || debit.charge.too_large) return false;
    return debit.charge.amount == 0 || debits_that_fit(debit.account.balance, debit.charge.amount) >= count;
  });
}

/// An upper end by division: what accounts of epsilon debit is the epsilon itself. 0 if none fits.
std::int64_t Forecaster::most_for(const PricedRequest& standing, std::int64_t count) const {
  std::int64_t most = most_of_one_release();
  for (const Debit& debit : standing.debits) {
    if (debit.charge.measure.kind == AccountMeasure::Kind::epsilon) {
      most = std::min(most, debits_that_fit(debit.account.balance, count));
    }
  }
  return most;
}

template <class Test>
EpsilonTest Forecaster::planned_and(const Test& test) {
  return [this, test](std::int64_t units) {
    try {
      return test(plan_at(Epsilon::from_units(units).rational()));
    } catch (const InvalidParameter& error) {
      unplannable_ = error.what();
      return false;
    }
  };
}

/// Nothing was found because it was never planned: then what stands against planning is the answer.
std::optional<Epsilon> Forecaster::epsilon_of_units(std::optional<std::int64_t> units) const {
  if (units) return Epsilon::from_units(*units);
  if (!present_) throw InvalidParameter(unplannable_);
  return std::nullopt;
}

std::optional<Epsilon> Forecaster::largest_for(std::int64_t count) {
  std::int64_t most = most_of_one_release();
  std::int64_t start = std::min(most, kOneNat);
  const auto bounded_by_division = planned_and([&](const PricedRequest& standing) {
    most = most_for(standing, count);
    return most < accounting::kUnitsMax;
  });
  if (bounded_by_division(start)) start = most;
  if (most == 0) return std::nullopt;
  return epsilon_of_units(largest_passing(start, most, planned_and([&](const PricedRequest& standing) {
                                            return fits(dataset_, standing, count);
                                          })));
}

/// Of quantiles, the accuracy is that of ranks; of several there is none that holds whatever the data.
bool ranks_within(const Plan& plan, const Accuracy& wanted) {
  const mechanisms::QuantileMechanism& selected = *plan.mechanisms.front().quantiles();
  if (selected.parameters().nodes.size() > 1) {
    throw Underivable(
        "accuracy: how accurate the later ones of several quantiles are depends on the data; "
        "ask for them one by one");
  }
  return selected.rank_accuracy_up(0, wanted.alpha).error <= wanted.a;
}

bool Forecaster::accurate(const Plan& plan, const Accuracy& wanted) const {
  if (assumed_) return accuracy_of_count_up(plan, *assumed_, wanted.alpha) <= wanted.a;
  const std::string what = "accuracy: '" + request_.question.statistic.text() + "' is ";
  if (follows_from_count(plan.derivation)) {
    throw Underivable(what +
                      "a quotient of two releases, each with an accuracy of its own; assume a number of rows "
                      "(--assume-count N; `assume_count`), from which that of the whole follows");
  }
  // Of a table with totals that of a cell of the table is wanted.
  if (plan.mechanisms.size() > 1 && !accounting::has_totals(plan.derivation.post_processing.kind)) {
    throw Underivable(what + "made of " + std::to_string(plan.mechanisms.size()) +
                      " releases, each with an accuracy of its own; ask for them one by one");
  }
  if (plan.mechanisms.front().quantiles() != nullptr) return ranks_within(plan, wanted);
  return accuracy_up(plan, 0, wanted.alpha) <= wanted.a;
}

std::optional<Epsilon> Forecaster::least_for(const Accuracy& wanted) {
  return epsilon_of_units(least_passing(
      kOneNat, accounting::kUnitsMax,
      planned_and([&](const PricedRequest& standing) { return accurate(standing.plan, wanted); })));
}

}  // namespace

bool is_balance_refusal(RefusalCode code) {
  switch (code) {
    case RefusalCode::dataset_budget_exceeded:
    case RefusalCode::lifetime_budget_exceeded:
    case RefusalCode::block_budget_exceeded:
    case RefusalCode::principal_limit_exceeded:
    case RefusalCode::role_limit_exceeded:
    case RefusalCode::purpose_limit_exceeded:
      return true;
    default:
      return false;
  }
}

Forecast Asking::forecast(const Request& request, const Alphas& alphas,
                          std::optional<std::int64_t> assumed_count) const {
  ledger::Snapshot view = state_->snapshot();
  Forecaster forecaster(*state_, view, request);
  if (auto refused = forecaster.access_refusal()) return *std::move(refused);
  forecaster.assume(assumed_count);
  return forecaster.at_requested_loss(alphas);
}

std::optional<Forecast> Asking::forecast_of_count(const Request& request, std::int64_t count,
                                                  const Alphas& alphas,
                                                  std::optional<std::int64_t> assumed_count) const {
  if (count < 1) throw InvalidParameter("count: must be at least 1");
  ledger::Snapshot view = state_->snapshot();
  Forecaster forecaster(*state_, view, request);
  if (auto refused = forecaster.access_refusal()) return refused;
  forecaster.assume(assumed_count);
  const auto epsilon = forecaster.largest_for(count);
  if (!epsilon) return std::nullopt;
  return forecaster.at(epsilon->rational(), alphas);
}

std::optional<Forecast> Asking::forecast_of_accuracy(const Request& request, const Accuracy& wanted,
                                                     const Alphas& alphas,
                                                     std::optional<std::int64_t> assumed_count) const {
  if (wanted.a <= 0) throw InvalidParameter("accuracy: must be positive");
  if (wanted.alpha <= 0 || wanted.alpha >= 1) {
    throw InvalidParameter("alpha: must lie strictly between 0 and 1");
  }
  ledger::Snapshot view = state_->snapshot();
  Forecaster forecaster(*state_, view, request);
  if (auto refused = forecaster.access_refusal()) return refused;
  forecaster.assume(assumed_count);
  const auto epsilon = forecaster.least_for(wanted);
  if (!epsilon) return std::nullopt;
  return forecaster.at(epsilon->rational(), alphas);
}

}  // namespace epsilog::engine
