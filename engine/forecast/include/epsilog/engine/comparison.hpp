// One question under every mechanism and arithmetic that could release it, at the same epsilon and delta.
//
// From public facts, the policy and the balances; nothing is spent or recorded. docs/planning.md says how the
// one that is marked is found.
// Thread-safety: values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// What a release would lose: as it would be charged in each measure, canonical texts, rounded up.
struct ComparedLoss {
  std::string epsilon;
  std::string delta;  ///< "0" of what loses epsilon only
  std::string rho;
  /// {order, divergence}: of the orders in which an account that is touched counts, ascending.
  std::vector<std::pair<std::string, std::string>> renyi;
};

/// A question as it would be released, if the policy named this mechanism for it.
struct ComparedPlan {
  std::string mechanism;   ///< as a policy and a record spell it
  std::string arithmetic;  ///< "mpfr" or "exact"
  bool declared = false;   ///< the policy does name it
  bool least = false;      ///< the one to take: see MechanismComparison
  /// What plan() would say then; nothing where it cannot be planned so.
  std::optional<Answer> plan;
  ComparedLoss loss;  ///< of the plan
  /// Why it cannot be taken: that it cannot be planned, else the first reason of the refusal. "" where it
  /// would be granted, or wait for approvals.
  std::string why_not;
};

struct MechanismComparison {
  std::string ledger_id;
  std::int64_t policy_version = 0;
  /// Snapping in either arithmetic and the discrete mechanisms; of quantiles the two selections. One is
  /// declared. Among those that can be taken one is `least`, if its accuracy at the first alpha is at most
  /// that of every other, component by component (quantile by quantile); of equally accurate ones that with
  /// the smaller epsilon, then delta, then rho charged, then the smaller loss proved, then the first. None is
  /// where no alpha was given, or where components are divided between mechanisms.
  std::vector<ComparedPlan> mechanisms;
};

}  // namespace epsilog::engine
