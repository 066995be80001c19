#include "question_checks.hpp"

#include <bit>
#include <string>

#include "batch_plan.hpp"
#include "canonical_request.hpp"
#include "condition.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "whole_answers.hpp"

namespace epsilog::engine {

std::uint64_t candidates_of(const Plan& plan) {
  std::uint64_t all = 0;
  for (const Plan* const part : parts_of(plan)) {
    for (const Component& component : part->derivation.components) {
      if (!component.quantiles) continue;
      const std::uint64_t levels = std::bit_width(component.quantiles->quantiles.size());
      all += component.quantiles->candidates * component.quantiles->cells * levels;  // few of one release
    }
  }
  return all;
}

void require_selectable(std::uint64_t candidates) {
  if (candidates <= kCandidatesOfCallMax) return;
  throw InvalidParameter("quantiles: those asked for together select among " + std::to_string(candidates) +
                         " values, more than " + std::to_string(kCandidatesOfCallMax) +
                         "; ask for some of them by themselves");
}

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
  require_selectable(candidates_of(plan));
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
