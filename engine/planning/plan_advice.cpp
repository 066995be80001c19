#include "plan_advice.hpp"

#include <optional>

#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "whole_answers.hpp"

namespace epsilog::engine {
namespace {

constexpr unsigned kShownDigits = 3;

/// Whether the cells of its answer, by several columns, add up to totals that it does not ask for.
bool lacks_totals(const Question& question) {
  const StatisticKind kind = question.statistic.kind;
  const bool adds_up =
      kind == StatisticKind::count || kind == StatisticKind::count_of || kind == StatisticKind::sum;
  return adds_up && question.by.size() > 1 && !question.totals;
}

/// The plan with totals at that share; nothing where the loss cannot be split so.
std::optional<Plan> planned_with_totals(const Dataset& dataset, Request request, const Rational& share) {
  try {
    with_totals(request.question, share, false);
    return make_plan(dataset, request);
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

/// What independent noise adds up to grows as the square root of how often it was added.
std::vector<std::string> totals_advice(const Dataset& dataset, const Request& request, const Plan& plan,
                                       std::span<const Rational> alphas) {
  if (!lacks_totals(request.question)) return {};
  const Rational alpha = alphas.empty() ? Rational(1, 20) : alphas.front();
  const accounting::Integer cells(static_cast<unsigned long>(plan.derivation.cells.size()));
  const Rational times = Rational(accounting::Integer(sqrt(cells)));
  const Rational cell = accuracy_up(plan, 0, alpha);
  for (const Rational& share : {Rational(1, 10), Rational(1, 5), Rational(1, 2)}) {
    const std::optional<Plan> with = planned_with_totals(dataset, request, share);
    if (!with) return {};
    const Rational total = accuracy_up(*with, with->mechanisms.size() - 1, alpha);
    if (2 * total > times * cell) continue;
    const auto shown = [](const Rational& number) { return accounting::text_up(number, kShownDigits); };
    return {"a total summed from its " + cells.get_str() + " cells deviates about " +
            accounting::text(times) + " times what a cell does, " + shown(times * cell) + "; with --totals " +
            accounting::text(share) + " the grand total is within " + shown(total) +
            ", and each cell within " + shown(accuracy_up(*with, 0, alpha)) + " in place of " + shown(cell)};
  }
  return {};
}

std::vector<std::string> advice_of_question(const Dataset& dataset, const Request& request, const Plan& plan,
                                            std::span<const Rational> alphas) {
  std::vector<std::string> advice = mechanism_advice(dataset, request, plan, alphas);
  for (std::string& one : totals_advice(dataset, request, plan, alphas)) advice.push_back(std::move(one));
  return advice;
}

}  // namespace

std::vector<std::string> plan_advice(const Dataset& dataset, const Request& request, const Plan& plan,
                                     std::span<const Rational> alphas) {
  if (plan.rows.empty()) return advice_of_question(dataset, request, plan, alphas);
  std::vector<std::string> of_rows;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    for (const std::string& advice :
         advice_of_question(dataset, request_of_row(request, row), *plan.rows[row], alphas)) {
      of_rows.push_back(row_text(row) + advice);
    }
  }
  return of_rows;
}

}  // namespace epsilog::engine
