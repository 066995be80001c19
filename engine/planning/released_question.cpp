#include "released_question.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

bool is_summable(const Question& question) {
  return question.by.size() >= 2 || question.totals;
}

Derivation released_derivation(const Dataset& dataset, const Question& question) {
  Derivation derivation = derive(dataset, question);
  if (question.statistic.kind == StatisticKind::quantile || !is_summable(question)) return derivation;
  const ReleaseSettings& settings = dataset.settings(release_key(question.statistic));
  const bool in_units_of_the_answer = !accounting::is_quotient(derivation.post_processing.kind);
  if (settings.mechanism == MechanismChoice::snapping && settings.bound && in_units_of_the_answer) {
    throw Underivable(
        "by: '" + question.statistic.text() +
        "' is released between the ends that its declared `bound` sets, which is refused of a table "
        "by several columns or with totals: sums of its cells would go astray; declare "
        "`binding_probability` in place of `bound`, or ask by one column without totals");
  }
  return derivation;
}

}  // namespace epsilog::engine
