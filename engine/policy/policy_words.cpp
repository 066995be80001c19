#include "policy_words.hpp"

#include <algorithm>

#include "policy_values.hpp"

namespace epsilog::engine {

std::string_view name(ColumnType type) {
  return kColumnTypeWords.of(type);
}

std::string_view name(Neighbours neighbours) {
  return kNeighboursWords.of(neighbours);
}

std::string_view name(Measure measure) {
  return kMeasureWords.of(measure);
}

std::string_view name(Duty duty) {
  return kDutyWords.of(duty);
}

std::string_view name(Limit::Subject subject) {
  return kLimitSubjectWords.of(subject);
}

std::string_view name(MechanismChoice mechanism) {
  return kMechanismWords.of(mechanism);
}

std::string_view name(SelectionChoice selection) {
  return kSelectionWords.of(selection);
}

std::string_view name(StatisticKind kind) {
  return kStatisticWords.of(kind);
}

bool is_later_statistic(StatisticKind kind) {
  return !permits(default_statistics(), kind);
}

bool is_later_statistic(std::string_view name) {
  const auto kind = kStatisticWords.find(name);
  return kind && is_later_statistic(*kind);
}

const std::vector<StatisticKind>& default_statistics() {
  static const std::vector<StatisticKind> kinds{StatisticKind::count,    StatisticKind::units,
                                                StatisticKind::sum,      StatisticKind::mean,
                                                StatisticKind::variance, StatisticKind::value};
  return kinds;
}

bool permits(const std::vector<StatisticKind>& allowed, StatisticKind kind) {
  return std::find(allowed.begin(), allowed.end(), kind) != allowed.end();
}

}  // namespace epsilog::engine
