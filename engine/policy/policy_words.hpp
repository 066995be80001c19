// The words that a policy chooses from.
#pragma once

#include "epsilog/engine/budget_policy.hpp"
#include "epsilog/engine/policy.hpp"
#include "words.hpp"

namespace epsilog::engine {

inline constexpr Words<ColumnType::date> kColumnTypeWords({"int", "decimal", "double", "string", "bool",
                                                           "date"});
inline constexpr Words<Neighbours::replace_one> kNeighboursWords({"add-remove", "replace-one"});
inline constexpr Words<Measure::rdp> kMeasureWords({"pure", "approximate", "zcdp", "rdp"});
inline constexpr Words<Duty::operate> kDutyWords({"curate", "audit", "operate"});
inline constexpr Words<Limit::Subject::purpose> kLimitSubjectWords({"principal", "role", "purpose"});
inline constexpr Words<MechanismChoice::gaussian> kMechanismWords({"snapping", "discrete_laplace",
                                                                   "discrete_gaussian", "gaussian"});
inline constexpr Words<SelectionChoice::exponential> kSelectionWords({"auto", "permute_and_flip",
                                                                      "exponential"});
inline constexpr Words<ArithmeticChoice::exact> kArithmeticWords({"mpfr", "exact"});
inline constexpr Words<ReplicaFile::Sync::none> kReplicaSyncWords({"commit", "none"});
inline constexpr Words<StatisticKind::ratio> kStatisticWords({"count", "units", "sum", "mean", "variance",
                                                              "value", "quantile", "count_of", "proportion",
                                                              "distinct", "private_variance", "ratio"});

}  // namespace epsilog::engine
