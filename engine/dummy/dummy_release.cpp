#include "epsilog/engine/dummy_release.hpp"

#include <utility>

#include "canonical_request.hpp"
#include "condition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "invented_data.hpp"
#include "invented_rows.hpp"
#include "judgement.hpp"
#include "plan_intervals.hpp"
#include "planned_answer.hpp"
#include "whole_answers.hpp"

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
  if (request.holding != Holding::none) {
    throw InvalidParameter("reserve: a dummy run holds nothing, because it meets no ledger");
  }
  if (request.question.statistic.kind == StatisticKind::value) {
    throw InvalidParameter("'" + request.question.statistic.text() +
                           "' is computed elsewhere, and the rows of a dummy run say nothing of it");
  }
}

/// As on a ledger made of this policy, before anything is spent.
Judgement judged_unspent(const PlannedRequest& planned) {
  const std::vector<Debit> unspent =
      debits_of(planned, ledger::time_text(ledger::wall_clock_ms()),
                [](const auto&) { return std::vector<ledger::AccountState>(); });
  return judged(planned, unspent, std::nullopt);
}

std::vector<std::vector<Rational>> drawn(const Dataset& dataset, const Question& question, const Plan& plan,
                                         mechanisms::BitSource& bits) {
  const InventedData::Answers answers = InventedData::answers(dataset, question, plan.derivation);
  std::vector<std::vector<Rational>> components;
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const auto values = i < answers.values.size() ? std::span(answers.values[i])
                                                  : std::span<const mechanisms::InventedAnswer>();
    components.push_back(plan.mechanisms[i].draw_invented(values, answers.counts, bits));
  }
  return components;
}

}  // namespace

DummyAnswer dummy_release(const Policy& policy, const Request& request, mechanisms::BitSource& bits,
                          const Alphas& alphas) {
  require_dummy(request);
  const Dataset& dataset = policy.dataset(request.dataset);
  require_within_caps(request, canonical_request(request));
  require_not_stated(dataset, request.question);
  const Plan plan = make_plan(dataset, request);
  require_satisfiable(dataset, request.question);
  DummyAnswer result{planned_answer(request, plan, 0, accuracies(plan, alphas))};
  const Judgement judgement = judged_unspent({policy, dataset, request, plan});
  add_judgement(result.would_be, judgement, {});
  if (!judgement.decision.granted()) return result;
  result.rows = invented_rows(dataset);
  Answer::Released& released = result.would_be.released;
  released.component_values = drawn(dataset, request.question, plan, bits);
  released.values = accounting::post_process(plan.derivation.post_processing, released.component_values);
  released.intervals = PlanIntervals(plan, alphas).of(released.component_values, released.values);
  return result;
}

}  // namespace epsilog::engine
