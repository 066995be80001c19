#include "epsilog/engine/comparison.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "access.hpp"
#include "charged_before.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "expiry.hpp"
#include "judgement.hpp"
#include "mechanism_options.hpp"
#include "question_checks.hpp"

namespace epsilog::engine {
namespace {

using Kind = AccountMeasure::Kind;

ComparedLoss loss_of(const Plan& plan, const std::vector<Debit>& debits) {
  const auto charged = [&plan](const AccountMeasure& measure) {
    return amount_text(measure.text(), plan.amounts.at(measure));
  };
  ComparedLoss loss{charged({Kind::epsilon}), charged({Kind::delta}), charged({Kind::rho}), {}};
  std::set<AccountMeasure> orders;
  for (const Debit& debit : debits) {
    if (debit.charge.measure.kind == Kind::renyi) orders.insert(debit.charge.measure);
  }
  for (const AccountMeasure& order : orders) {
    loss.renyi.emplace_back(accounting::text(order.order), charged(order));
  }
  return loss;
}

/// A way that can be taken, by what it is chosen.
struct Candidate {
  ComparedPlan* compared;
  std::vector<Rational> accuracy;  ///< at the first alpha; of quantiles with ties
  std::tuple<Epsilon, Delta, accounting::Integer, Rational> loss;

  [[nodiscard]] bool no_less_accurate(const Candidate& other) const {
    return std::equal(accuracy.begin(), accuracy.end(), other.accuracy.begin(), other.accuracy.end(),
                      [](const Rational& mine, const Rational& its) { return mine <= its; });
  }
};

/// Empty where nothing is said at the first alpha.
std::vector<Rational> at_first_alpha(const std::vector<std::vector<Accuracy>>& accuracy,
                                     std::span<const Rational> alphas) {
  std::vector<Rational> figures;
  for (const std::vector<Accuracy>& of_component : accuracy) {
    if (of_component.empty() || of_component.front().alpha.rational() != alphas.front()) return {};
    figures.push_back(of_component.front().a.rational());
    figures.push_back(of_component.front().ties.rational());
  }
  return figures;
}

void mark_least(const std::vector<Candidate>& candidates) {
  const Candidate* least = nullptr;
  for (const Candidate& one : candidates) {
    const bool accurate = std::all_of(candidates.begin(), candidates.end(),
                                      [&one](const Candidate& other) { return one.no_less_accurate(other); });
    if (accurate && (least == nullptr || one.loss < least->loss)) least = &one;
  }
  if (least != nullptr) least->compared->least = true;
}

/// Plans one request in each way against one view of the ledger.
class Comparer {
 public:
  Comparer(EngineState& state, ledger::Snapshot& view, const Request& request)
      : state_(state),
        applied_(state.active_policy(view)),
        dataset_(state.requested_dataset(applied_->policy, request)),
        request_(request),
        view_(view),
        calendar_time_(view.calendar_time()) {
    const Request admitted = admitted_request(applied_->policy, dataset_, request);
    if (admitted.unread) {
      throw NotPermitted(
          state.access_refusal(*applied_, dataset_, admitted).recorded.reasons.front().message);
    }
    require_one_question(dataset_, request);
  }

  [[nodiscard]] MechanismComparison compare_mechanisms(std::span<const Rational> alphas) {
    MechanismComparison result{state_.ledger_id, applied_->version.version, {}};
    std::vector<MechanismOption> ways = mechanism_options(dataset_, request_.question);
    result.mechanisms.reserve(ways.size());  // candidates point into it
    std::vector<Candidate> candidates;
    for (const MechanismOption& way : ways) {
      ComparedPlan& one = result.mechanisms.emplace_back();
      one.mechanism = way.mechanism;
      one.arithmetic = way.arithmetic;
      one.declared = way.declared;
      try {
        plan(way, alphas, one, candidates);
      } catch (const InvalidParameter& error) {
        one.why_not = error.what();
      } catch (const Underivable& error) {
        one.why_not = error.what();
      }
    }
    mark_least(candidates);
    return result;
  }

 private:
  void plan(const MechanismOption& way, std::span<const Rational> alphas, ComparedPlan& one,
            std::vector<Candidate>& candidates) {
    Request request = request_;
    if (!way.loses_delta) request.delta.reset();
    const Plan plan = make_plan(way.dataset, request);
    const PlannedRequest planned{applied_->policy, way.dataset, request, plan};
    const std::vector<Debit> debits = debits_of(planned, calendar_time_, [this](const auto& names) {
      return accounts_after_expiries(view_, view_.accounts(names));
    });
    Answer answer =
        state_.answer_from_plan(request, plan, applied_->version.version, accuracies(plan, alphas));
    const auto before = [this](const ledger::ChargeWindow& window) { return charged_before(view_, window); };
    add_judgement(answer, judge(planned, debits, before, std::nullopt), debits);
    note_held_calendar(answer, view_.calendar_held_at().has_value());
    one.loss = loss_of(plan, debits);
    if (answer.recorded.state == RequestState::refused) {
      one.why_not = answer.recorded.reasons.front().message;
    } else if (!alphas.empty()) {
      std::vector<Rational> accuracy = at_first_alpha(answer.planned.accuracy, alphas);
      if (!accuracy.empty()) {
        candidates.push_back({&one,
                              std::move(accuracy),
                              {plan.charged.epsilon, plan.charged.delta, plan.amounts.at({Kind::rho}),
                               answer.planned.record.adjusted}});
      }
    }
    one.plan = std::move(answer);
  }

  EngineState& state_;
  std::shared_ptr<const AppliedPolicy> applied_;
  const Dataset& dataset_;
  const Request& request_;
  ledger::Snapshot& view_;
  std::string calendar_time_;
};

}  // namespace

MechanismComparison Asking::compare(const Request& request, const Alphas& alphas) const {
  ledger::Snapshot view = state_->snapshot();
  return Comparer(*state_, view, request).compare_mechanisms(alphas);
}

}  // namespace epsilog::engine
