#include "mechanism_options.hpp"

#include <utility>

#include "component_mechanism.hpp"

namespace epsilog::engine {
namespace {

/// Of two spellings of one way the arithmetic plays no part in noise on a grid.
bool same_way(const ReleaseSettings& first, const ReleaseSettings& second) {
  return first.mechanism == second.mechanism &&
         (first.mechanism != MechanismChoice::snapping || first.arithmetic == second.arithmetic);
}

/// What another mechanism or arithmetic has of these settings.
ReleaseSettings settings_with(const ReleaseSettings& declared, MechanismChoice mechanism,
                              ArithmeticChoice arithmetic) {
  ReleaseSettings settings;
  settings.mechanism = mechanism;
  settings.mark = declared.mark;
  if (mechanism != MechanismChoice::snapping) {
    settings.grid = declared.grid;
    return settings;
  }
  settings.arithmetic = arithmetic;
  settings.bound = declared.bound;
  settings.binding_probability = declared.binding_probability;
  return settings;
}

std::vector<MechanismOption> selections(const Dataset& dataset) {
  std::vector<MechanismOption> ways;
  for (const SelectionChoice selection : {SelectionChoice::permute_and_flip, SelectionChoice::exponential}) {
    MechanismOption way{.mechanism = std::string(name(selection)),
                        .arithmetic = "exact",
                        .declared = dataset.selection() == selection,
                        .dataset = dataset};
    if (!way.declared) way.dataset.quantile_selection = selection;
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace

std::vector<MechanismOption> mechanism_options(const Dataset& dataset, const Question& question) {
  const Statistic& statistic = question.statistic;
  if (statistic.kind == StatisticKind::quantile) return selections(dataset);
  const std::string key = release_key(statistic);
  const ReleaseSettings& declared = dataset.settings(key);
  constexpr std::pair<MechanismChoice, ArithmeticChoice> kWays[] = {
      {MechanismChoice::snapping, ArithmeticChoice::mpfr},
      {MechanismChoice::snapping, ArithmeticChoice::exact},
      {MechanismChoice::discrete_laplace, ArithmeticChoice::exact},
      {MechanismChoice::discrete_gaussian, ArithmeticChoice::exact},
      {MechanismChoice::gaussian, ArithmeticChoice::exact},
  };
  std::vector<MechanismOption> ways;
  for (const auto& [mechanism, arithmetic] : kWays) {
    const ReleaseSettings settings = settings_with(declared, mechanism, arithmetic);
    MechanismOption way{.mechanism = std::string(name(mechanism)),
                        .arithmetic = arithmetic == ArithmeticChoice::mpfr ? "mpfr" : "exact",
                        .loses_delta = needs_delta(mechanism),
                        .declared = same_way(declared, settings),
                        .dataset = dataset};
    if (!way.declared) way.dataset.release[key] = settings;
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace epsilog::engine
