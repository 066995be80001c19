#include "plan_advice.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "batch_plan.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "mechanism_options.hpp"
#include "whole_answers.hpp"

namespace epsilog::engine {
namespace {

constexpr unsigned kShownDigits = 3;
/// Planning a batch again for advice costs as much as planning it did.
constexpr std::size_t kReplannedRowsMax = 128;

std::string rounded_text(const Rational& number) {
  return accounting::text_up(number, kShownDigits);
}

Rational first_alpha(std::span<const Rational> alphas) {
  return alphas.empty() ? Rational(1, 20) : alphas.front();
}

/// Whether its cells add up to their totals: a unit with rows in several cells is in each of them.
bool adds_up(const Question& question) {
  const StatisticKind kind = question.statistic.kind;
  return kind == StatisticKind::count || kind == StatisticKind::count_of || kind == StatisticKind::sum;
}

/// Whether the cells of its answer, by several columns, add up to totals that it does not ask for.
bool lacks_totals(const Question& question) {
  return adds_up(question) && question.by.size() > 1 && !question.totals;
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
  const Rational alpha = first_alpha(alphas);
  const accounting::Integer cells(static_cast<unsigned long>(plan.derivation.cells.size()));
  const Rational times = Rational(accounting::Integer(sqrt(cells)));
  const Rational cell = accuracy_up(plan, 0, alpha);
  for (const Rational& share : {Rational(1, 10), Rational(1, 5), Rational(1, 2)}) {
    const std::optional<Plan> with = planned_with_totals(dataset, request, share);
    if (!with) return {};
    const Rational total = accuracy_up(*with, with->mechanisms.size() - 1, alpha);
    if (2 * total > times * cell) continue;
    return {"a total summed from its " + cells.get_str() + " cells deviates about " +
            accounting::text(times) + " times what a cell does, " + rounded_text(times * cell) +
            "; with --totals " + accounting::text(share) + " the grand total is within " +
            rounded_text(total) + ", and each cell within " + rounded_text(accuracy_up(*with, 0, alpha)) +
            " in place of " + rounded_text(cell)};
  }
  return {};
}

/// "by ward", of the columns that a margin keeps.
std::string margin_text(const Question& question, const accounting::TableMargins::Margin& margin) {
  std::vector<std::string> columns;
  for (const std::size_t column : margin.kept) columns.push_back(question.by.at(column));
  return columns.empty() ? "in all" : "by " + by_text(columns);
}

/// About how far a sum of so many cells errs, to three digits or more: the square root of their number times
/// what one does.
Rational added_error(const Rational& cell, std::uint64_t cells) {
  const Rational squared = cell * cell * Rational(accounting::Integer(static_cast<unsigned long>(cells)));
  constexpr long kFinest = 1'000'000'000'000;
  long fine = 1;
  while (fine < kFinest && squared * fine * fine < 10'000) fine *= 10;
  return Rational(accounting::Integer(sqrt(accounting::floor(squared * fine * fine)))) / fine;
}

/// Of totals that are asked for: those whose own draw has more noise than the cells that add up to one of
/// them. Totals that are made consistent with the cells have less than either.
std::vector<std::string> drawn_totals_advice(const Dataset& dataset, const Request& request, const Plan& plan,
                                             std::span<const Rational> alphas) {
  const Question& question = request.question;
  if (!question.totals || question.consistent || !adds_up(question)) return {};
  const Rational alpha = first_alpha(alphas);
  const Rational cell = accuracy_up(plan, 0, alpha);
  const accounting::TableMargins margins = plan.derivation.cells.margins();
  const Rational cell_variance = plan.record.components.front().scale * plan.record.components.front().scale;
  std::string worse;
  bool all = true;
  for (std::size_t i = 1; i < margins.all().size(); ++i) {
    const auto& margin = margins.all()[i];
    const std::uint64_t added = margins.table().cells / margin.cells;
    const Rational& scale = plan.record.components.at(i).scale;
    const Rational of_sum = cell_variance * Rational(accounting::Integer(static_cast<unsigned long>(added)));
    if (scale * scale <= of_sum) {
      all = false;
      continue;
    }
    worse += (worse.empty() ? "" : "; ") + margin_text(question, margin) + " within " +
             rounded_text(accuracy_up(plan, i, alpha)) + ", " + std::to_string(added) +
             " cells added about " + rounded_text(added_error(cell, added));
  }
  if (worse.empty()) return {};
  std::string advice = "with --totals " + accounting::text(*question.totals) +
                       " totals err more than their cells added: " + worse;
  if (!all) return {advice};
  Request without = request;
  without.question.totals.reset();
  return {advice + "; without --totals each cell is within " +
          rounded_text(accuracy_up(make_plan(dataset, without), 0, alpha))};
}

std::vector<std::string> advice_of_question(const Dataset& dataset, const Request& request, const Plan& plan,
                                            std::span<const Rational> alphas) {
  std::vector<std::string> advice = mechanism_advice(dataset, request, plan, alphas);
  for (std::string& one : totals_advice(dataset, request, plan, alphas)) advice.push_back(std::move(one));
  for (std::string& one : drawn_totals_advice(dataset, request, plan, alphas))
    advice.push_back(std::move(one));
  return advice;
}

/// Whether what the draw loses beside others is certified by its proved loss alone, since no law of its
/// whole-number noise over several cells is composed (recorded_loss.hpp).
bool is_composed_coarsely(const ledger::ComponentRecord& component) {
  return component.coordinates > 1;
}

/// The dataset with every statistic of the batch that discrete_gaussian releases, and a sum of whose losses
/// is coarse, released by gaussian. Nothing where there is none. `entries`: their keys under `release`.
std::optional<Dataset> by_gaussian(const Dataset& dataset, const Request& batch, const Plan& plan,
                                   std::set<std::string>& entries) {
  std::optional<Dataset> changed;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const ledger::ReleaseRecord& record = plan.rows[row]->record;
    const Question question = request_of_row(batch, row).question;
    const std::string entry = release_key(question.statistic);
    if (record.mechanism != "discrete_gaussian" || entries.contains(entry)) continue;
    if (!std::any_of(record.components.begin(), record.components.end(), &is_composed_coarsely)) continue;
    for (const MechanismOption& way : mechanism_options(changed ? *changed : dataset, question)) {
      if (way.mechanism != "gaussian") continue;
      changed = way.dataset;
      entries.insert(entry);
      break;
    }
  }
  return changed;
}

/// The largest factor by which a row is less accurate than in the other plan; at least 1.
Rational loss_of_accuracy(const Plan& plan, const Plan& than, const Rational& alpha) {
  Rational most = 1;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const Plan &one = *plan.rows[row], &other = *than.rows[row];
    if (one.mechanisms.front().quantiles() != nullptr) continue;
    for (std::size_t i = 0; i < one.mechanisms.size(); ++i)
      most = std::max<Rational>(most, accuracy_up(one, i, alpha) / accuracy_up(other, i, alpha));
  }
  return most;
}

/// Nothing where gaussian cannot release some row.
std::optional<Plan> plan_under(const Dataset& changed, const Request& batch) {
  try {
    return plan_request(changed, batch);
  } catch (const InvalidParameter&) {
    return std::nullopt;
  } catch (const Underivable&) {
    return std::nullopt;
  }
}

/// Of a batch that is charged as one.
std::vector<std::string> gaussian_advice(const Dataset& dataset, const Request& batch, const Plan& plan,
                                         std::span<const Rational> alphas) {
  if (!plan.composed || plan.rows.size() > kReplannedRowsMax) return {};
  std::set<std::string> entries;
  const std::optional<Dataset> changed = by_gaussian(dataset, batch, plan, entries);
  if (!changed) return {};
  const std::optional<Plan> instead = plan_under(*changed, batch);
  if (!instead || instead->charged.epsilon >= plan.charged.epsilon) return {};
  std::string policy;
  for (const std::string& entry : entries) policy += (policy.empty() ? "release." : ", release.") + entry;
  const Rational factor = loss_of_accuracy(*instead, plan, first_alpha(alphas));
  return {"gaussian in place of discrete_gaussian would charge epsilon " + instead->charged.epsilon.text() +
          " in place of " + plan.charged.epsilon.text() + " for all rows, and " +
          (factor == 1 ? "no row would err more"
                       : "no row would err more than " + accounting::text_up(factor, kShownDigits + 1) +
                             " times as much") +
          " (policy: " + policy + ")"};
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
  for (std::string& one : gaussian_advice(dataset, request, plan, alphas)) of_rows.push_back(std::move(one));
  return of_rows;
}

}  // namespace epsilog::engine
