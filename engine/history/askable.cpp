#include "askable.hpp"

#include "batch_plan.hpp"
#include "canonical_request.hpp"
#include "condition.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "whole_answers.hpp"

namespace epsilog::engine {

void require_askable(const Dataset& dataset, const Request& request) {
  each_question(request, [&](const Request& asked) {
    const Statistic& statistic = asked.question.statistic;
    if (!request.rows.empty() && statistic.kind == StatisticKind::value) {
      throw InvalidParameter("'" + statistic.text() +
                             "' is computed elsewhere, and a batch is answered from one state of the source");
    }
    require_not_stated(dataset, asked.question);
  });
}

void require_answerable(const Dataset& dataset, const Request& request, const Plan& plan) {
  each_question(request, [&](const Request& asked) { require_satisfiable(dataset, asked.question); });
  require_recordable_cells(plan);
}

void require_one_question(const Dataset& dataset, const Request& request) {
  if (!request.rows.empty())
    throw InvalidParameter("batch: what is sought or compared is sought for one question; plan the batch");
  require_within_caps(request, canonical_request(request));
  (void)derive(dataset, request.question);
  require_satisfiable(dataset, request.question);
  require_not_stated(dataset, request.question);
}

}  // namespace epsilog::engine
