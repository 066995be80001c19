#include "calibration_check.hpp"

#include <algorithm>

#include "plan.hpp"

namespace epsilog::engine {
namespace {

/// Every statistic the dataset could be asked for, without `by` and `where`: these widen no range.
std::vector<Statistic> statistics_of(const Dataset& dataset) {
  std::vector<Statistic> statistics;
  for (const NamedQuery& query : dataset.queries) statistics.push_back({StatisticKind::value, query.name});
  if (!dataset.has_source()) return statistics;
  statistics.push_back({StatisticKind::count, ""});
  statistics.push_back({StatisticKind::units, ""});
  for (const Column& column : dataset.columns) {
    if (!column.bounds) continue;
    for (const StatisticKind kind : {StatisticKind::sum, StatisticKind::mean, StatisticKind::variance}) {
      statistics.push_back({kind, column.name});
    }
  }
  return statistics;
}

bool allowed(const Dataset& dataset, StatisticKind kind) {
  const auto& list = dataset.allow.statistics;
  return !list || std::find(list->begin(), list->end(), kind) != list->end();
}

/// What is left to `auto` is chosen so that it fits.
bool is_declared(const ReleaseSettings& settings) {
  return settings.precision.bits != 0 || settings.bound || settings.grid;
}

}  // namespace

std::vector<PolicyFault> calibration_faults(const std::vector<Dataset>& datasets, const std::string& file) {
  std::vector<PolicyFault> faults;
  for (const Dataset& dataset : datasets) {
    const Epsilon most = dataset.per_release.value_or(dataset.budget.epsilon);
    for (const Statistic& statistic : statistics_of(dataset)) {
      const bool named = statistic.kind == StatisticKind::value;
      const ReleaseSettings& settings =
          dataset.settings(named ? std::string_view(statistic.subject) : name(statistic.kind));
      if (!allowed(dataset, statistic.kind) || !is_declared(settings)) continue;
      const bool reported = std::any_of(faults.begin(), faults.end(), [&settings](const PolicyFault& fault) {
        return fault.line == settings.mark.line && fault.column == settings.mark.column;
      });
      if (reported) continue;
      Request request;
      request.dataset = dataset.name;
      request.question.statistic = statistic;
      request.epsilon = std::min(most, dataset.budget.epsilon).rational();
      if (needs_delta(settings.mechanism)) {
        if (dataset.budget.measure == Measure::pure) continue;  // refused whatever the calibration gives
        request.delta = dataset.budget.delta.rational();
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

}  // namespace epsilog::engine
