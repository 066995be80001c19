#include "policy_words.hpp"

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

std::string_view name(StatisticKind kind) {
  return kStatisticWords.of(kind);
}

}  // namespace epsilog::engine
