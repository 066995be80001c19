#include "epsilog/engine/checked_policy.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/predicate.hpp"
#include "number_readings.hpp"
#include "plan.hpp"
#include "policy_file.hpp"

namespace epsilog::engine {
namespace {

bool can_divide(const Column& column) {
  if (!column.bounds || !is_numeric(column.type)) return false;
  return column.bounds->lower > 0 || (column.bounds->lower == 0 && column.type != ColumnType::real);
}

/// Ratios in which each column stands that can, above and below: how a part is drawn says nothing of the
/// other part.
void add_ratios(const Dataset& dataset, std::vector<Statistic>& statistics) {
  std::set<std::string_view> above_one, below_one;
  for (const Column& above : dataset.columns) {
    for (const Column& below : dataset.columns) {
      const bool can = &above != &below && above.bounds && is_numeric(above.type) && can_divide(below);
      if (!can || (above_one.contains(above.name) && below_one.contains(below.name))) continue;
      above_one.insert(above.name);
      below_one.insert(below.name);
      statistics.push_back({StatisticKind::ratio, above.name, {}, "", below.name});
    }
  }
}

/// Every statistic the dataset could be asked for, without `by` and `where`: these widen no range.
std::vector<Statistic> statistics_of(const Dataset& dataset) {
  std::vector<Statistic> statistics;
  for (const NamedQuery& query : dataset.queries) statistics.push_back({StatisticKind::value, query.name});
  if (!dataset.has_source()) return statistics;
  statistics.push_back({StatisticKind::count, ""});
  statistics.push_back({StatisticKind::units, ""});
  for (const Column& column : dataset.columns) {
    statistics.push_back({StatisticKind::count_of, column.name});
    if (!column.values.empty()) {
      statistics.push_back({StatisticKind::distinct, column.name});
      statistics.push_back({StatisticKind::proportion, column.name, {}, column.values.front()});
    }
    if (!column.bounds || !is_numeric(column.type)) continue;
    for (const StatisticKind kind : {StatisticKind::sum, StatisticKind::mean, StatisticKind::variance}) {
      statistics.push_back({kind, column.name});
    }
  }
  if (permits(dataset.allow.statistics, StatisticKind::ratio)) add_ratios(dataset, statistics);
  return statistics;
}

/// Without `by`, as they are above.
bool allowed(const Dataset& dataset, const Statistic& statistic) {
  const Question question{statistic, {}, std::nullopt, std::nullopt};
  return permits(dataset.allow.statistics, required_permission(question, dataset.rows.exact));
}

/// What is left to `auto` is chosen so that it fits.
bool is_declared(const ReleaseSettings& settings) {
  return settings.precision.bits != 0 || settings.bound || settings.grid;
}

/// Whether the budget holds one pure release of that epsilon.
bool holds(const Budget& budget, Epsilon epsilon) {
  const accounting::LossFacts loss{accounting::LossFacts::Kind::pure, epsilon.rational(), {}};
  switch (budget.measure) {
    case Measure::pure:
    case Measure::approximate:
      return epsilon <= budget.epsilon;
    case Measure::zcdp:
      return accounting::rho_of_release_up(loss) <= budget.rho.rational();
    case Measure::rdp:
      return std::all_of(budget.orders.begin(), budget.orders.end(), [&loss](const RenyiLimit& limit) {
        return accounting::renyi_of_release_up(loss, limit.order) <= limit.divergence.rational();
      });
  }
  EPSILOG_INVARIANT(false);
}

/// The largest epsilon that the budget holds at once: what a release costs grows with its epsilon.
Epsilon largest_epsilon(const Budget& budget) {
  std::int64_t held = 0;
  std::int64_t too_large = accounting::kUnitsMax;
  if (holds(budget, Epsilon::from_units(too_large))) return Epsilon::from_units(too_large);
  while (too_large - held > 1) {
    const std::int64_t middle = held + (too_large - held) / 2;
    (holds(budget, Epsilon::from_units(middle)) ? held : too_large) = middle;
  }
  return Epsilon::from_units(held);
}

/// The largest epsilon that anybody can ask of one release.
Epsilon largest_epsilon(const Dataset& dataset) {
  Epsilon most = largest_epsilon(dataset.budget);
  if (dataset.lifetime) most = std::min(most, largest_epsilon(*dataset.lifetime));
  return dataset.per_release && dataset.per_release->epsilon ? std::min(most, *dataset.per_release->epsilon)
                                                             : most;
}

std::vector<PolicyFault> calibration_faults(const std::vector<Dataset>& datasets, const std::string& file) {
  std::vector<PolicyFault> faults;
  for (const Dataset& dataset : datasets) {
    std::optional<Epsilon> most;  // few policies declare what needs it
    for (const Statistic& statistic : statistics_of(dataset)) {
      const ReleaseSettings& settings = dataset.settings(release_key(statistic));
      if (!allowed(dataset, statistic) || !is_declared(settings)) continue;
      const bool reported = std::any_of(faults.begin(), faults.end(), [&settings](const PolicyFault& fault) {
        return fault.line == settings.mark.line && fault.column == settings.mark.column;
      });
      if (reported) continue;
      Request request;
      request.dataset = dataset.name;
      request.question.statistic = statistic;
      if (!most) most = largest_epsilon(dataset);
      request.epsilon = most->rational();
      if (needs_delta(settings.mechanism)) {
        // Refused by a pure budget whatever the calibration gives; the others set no largest delta.
        if (dataset.budget.measure != Measure::approximate) continue;
        Delta delta = dataset.budget.delta;
        if (dataset.per_release && dataset.per_release->delta)
          delta = std::min(delta, *dataset.per_release->delta);
        request.delta = delta.rational();
      }
      try {
        (void)make_plan(dataset, request);
      } catch (const Underivable&) {
        continue;  // it cannot be asked, whatever its release settings are
      } catch (const InvalidParameter& error) {
        faults.push_back({file, settings.mark.line, settings.mark.column,
                          "'" + statistic.text() + "' of dataset '" + dataset.name +
                              "' cannot be released at epsilon " + accounting::text(request.epsilon) + ": " +
                              error.what()});
      }
    }
  }
  return faults;
}

/// Columns that could not be written bare in a condition, and queries called like a statistic. Policies of
/// older programs have such.
std::vector<PolicyFault> name_faults(const std::vector<Dataset>& datasets, const std::string& file) {
  std::vector<PolicyFault> faults;
  for (const Dataset& dataset : datasets) {
    for (const Column& column : dataset.columns) {
      if (!is_later_condition_word(column.name)) continue;
      faults.push_back({file, column.mark.line, column.mark.column,
                        "column name '" + column.name + "': this is a word of --where; rename the column"});
    }
    for (const NamedQuery& query : dataset.queries) {
      if (!is_later_statistic(query.name)) continue;
      faults.push_back({file, query.mark.line, query.mark.column,
                        "query name '" + query.name + "': this name is reserved; choose another"});
    }
  }
  return faults;
}

}  // namespace

Policy checked_policy(std::string_view yaml, const std::string& file) {
  Policy policy = Policy::parse_stored(yaml, file);
  if (std::vector<PolicyFault> found = name_faults(policy.datasets(), file); !found.empty()) {
    throw PolicyError(std::move(found));
  }
  if (std::vector<PolicyFault> found = number_reading_faults(policy, yaml, file); !found.empty()) {
    std::stable_sort(found.begin(), found.end(), [](const PolicyFault& one, const PolicyFault& other) {
      return std::tie(one.line, one.column) < std::tie(other.line, other.column);
    });
    throw PolicyError(std::move(found));
  }
  if (std::vector<PolicyFault> found = calibration_faults(policy.datasets(), file); !found.empty()) {
    throw PolicyError(std::move(found));
  }
  return policy;
}

Policy checked_policy_file(const std::string& path) {
  return checked_policy(policy_text(path), path);
}

}  // namespace epsilog::engine
