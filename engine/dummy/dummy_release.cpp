#include "epsilog/engine/dummy_release.hpp"

#include <memory>
#include <utility>

#include "access.hpp"
#include "batch_plan.hpp"
#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "invented_data.hpp"
#include "invented_rows.hpp"
#include "judgement.hpp"
#include "plan_cache.hpp"
#include "planned_answer.hpp"
#include "question_checks.hpp"

namespace epsilog::engine {
namespace {

void require_dummy(const Request& request) {
  if (!request.key.empty()) {
    throw InvalidParameter("key: a dummy run is recorded nowhere, so that no key can be bound to it");
  }
  if (request.supplied) {
    throw InvalidParameter(
        "value: a dummy run takes none, which could be true and would be released uncharged");
  }
  if (request.reservation != ReservationKind::none) {
    throw InvalidParameter("reserve: a dummy run holds nothing, because it meets no ledger");
  }
  if (request.question.statistic.kind == StatisticKind::value) {
    throw InvalidParameter("'" + request.question.statistic.text() +
                           "' is computed elsewhere, and the rows of a dummy run say nothing of it");
  }
}

/// As on a ledger made of this policy, before anything is spent.
Judgement judge_unspent(const PlannedRequest& planned) {
  const std::vector<Debit> unspent =
      debits_of(planned, ledger::time_text(ledger::wall_clock_ms()),
                [](const auto&) { return std::vector<ledger::AccountState>(); });
  const auto nothing_before = [](const ledger::ChargeWindow&) { return accounting::Integer(0); };
  return judge(planned, unspent, nothing_before, std::nullopt);
}

std::vector<std::vector<Rational>> draw_values(const Dataset& dataset, const Question& question,
                                               const Plan& plan, mechanisms::BitSource& bits) {
  const InventedData::Answers answers = InventedData::answers(dataset, question, plan.derivation);
  std::vector<std::vector<Rational>> components;
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const auto values = i < answers.values.size() ? std::span(answers.values[i])
                                                  : std::span<const mechanisms::InventedAnswer>();
    components.push_back(plan.mechanisms[i].draw_invented(values, answers.counts, bits));
  }
  return components;
}

struct Drawing {
  std::span<const Rational> alphas;
  PlanCache& plans;
  mechanisms::BitSource& bits;
  std::size_t rows = 0;  ///< of the batch that it is of
};

void add_drawn(Answer& answer, const Dataset& dataset, const Question& question,
               const std::shared_ptr<const Plan>& plan, const Drawing& drawing) {
  Answer::Released& released = answer.released;
  released.component_values = draw_values(dataset, question, *plan, drawing.bits);
  released.values =
      ledger::released_values(plan->record, plan->derivation.post_processing, released.component_values);
  released.intervals =
      drawing.plans.intervals(plan, drawing.alphas, released.component_values, released.values, drawing.rows);
}

}  // namespace

DummyAnswer dummy_release(const Policy& policy, const Request& request, mechanisms::BitSource& bits,
                          const Alphas& alphas) {
  require_dummy(request);
  const Dataset& dataset = policy.dataset(request.dataset);
  const Request admitted = admitted_request(policy, dataset, request);
  if (admitted.unread) return {access_refusal_answer(policy, dataset, admitted, 0)};
  require_within_caps(request, canonical_request(request));
  require_askable(dataset, request);
  PlanCache plans;
  const auto plan = std::make_shared<const Plan>(plan_request(dataset, request));
  require_answerable(dataset, request, *plan);
  DummyAnswer result{planned_answer(request, *plan, 0, plans.accuracies(plan, alphas),
                                    plans.accuracies_of_rows(plan, alphas))};
  const Judgement judgement = judge_unspent({policy, dataset, request, *plan});
  add_judgement(result.would_be, judgement, {});
  if (!judgement.decision.granted()) return result;
  result.rows = invented_rows(dataset);
  if (request.rows.empty())
    add_drawn(result.would_be, dataset, request.question, plan, {alphas, plans, bits});
  for (std::size_t row = 0; row < request.rows.size(); ++row) {
    add_drawn(result.would_be.rows[row], dataset, request.rows[row].question, plan->rows[row],
              {alphas, plans, bits, request.rows.size()});
  }
  return result;
}

}  // namespace epsilog::engine
