// The words that a policy chooses from.
#pragma once

#include "epsilog/engine/budget_policy.hpp"
#include "epsilog/engine/policy.hpp"
#include "words.hpp"

namespace epsilog::engine {

inline constexpr Words<ColumnType, 6> kColumnTypeWords{
    {"int", "decimal", "double", "string", "bool", "date"}};
inline constexpr Words<Neighbours, 2> kNeighboursWords{{"add-remove", "replace-one"}};
inline constexpr Words<Measure, 4> kMeasureWords{{"pure", "approximate", "zcdp", "rdp"}};
inline constexpr Words<Limit::Subject, 3> kLimitSubjectWords{{"principal", "role", "purpose"}};
inline constexpr Words<MechanismChoice, 4> kMechanismWords{
    {"snapping", "discrete_laplace", "discrete_gaussian", "gaussian"}};
inline constexpr Words<ArithmeticChoice, 2> kArithmeticWords{{"mpfr", "exact"}};
inline constexpr Words<StatisticKind, 6> kStatisticWords{
    {"count", "units", "sum", "mean", "variance", "value"}};

}  // namespace epsilog::engine
