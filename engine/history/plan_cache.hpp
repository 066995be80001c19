// Plans, remembered: calibrating a mechanism costs more than drawing from it, and a plan is a function
// of the policy version and the request alone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "plan.hpp"
#include "plan_intervals.hpp"

namespace epsilog::engine {

/// A policy as applied, and parsed. Versions never change, so they are parsed once.
struct AppliedPolicy {
  ledger::PolicyVersion version;
  Policy policy;
};

/// Thread-safety: may be used from several threads.
class PlanCache final {
 public:
  /// make_plan for the request under that policy, which can be recorded (recordable.hpp): that is checked
  /// once for each text.
  /// Requires  canonical = canonical_request(request).
  /// Throws    as make_plan, and NotFound for an unknown dataset.
  [[nodiscard]] std::shared_ptr<const Plan> plan(const AppliedPolicy& applied, const Request& request,
                                                 const std::string& canonical);

  /// The same if it was made before, else none.
  [[nodiscard]] std::shared_ptr<const Plan> find(std::int64_t policy_version, const std::string& canonical);

  /// accuracies() of the plan: those that were asked for last of it are remembered too.
  [[nodiscard]] std::vector<std::vector<Accuracy>> accuracies(const std::shared_ptr<const Plan>& plan,
                                                              std::span<const Rational> alphas);

  /// Of a batch, those of its rows; else none.
  [[nodiscard]] std::vector<std::vector<std::vector<Accuracy>>> accuracies_of_rows(
      const std::shared_ptr<const Plan>& plan, std::span<const Rational> alphas);

  /// Likewise PlanIntervals::of what was released; none without alphas. Of a row of a batch of `rows` those
  /// intervals are together that hold together with those of the other rows, also of a single answer: each
  /// row has the same part of alpha, and (1 - alpha/rows)^rows >= 1 - alpha (Bernoulli), the draws of the
  /// rows being independent. None are, where that part is below Alphas::least().
  [[nodiscard]] std::vector<CellIntervals> intervals(const std::shared_ptr<const Plan>& plan,
                                                     std::span<const Rational> alphas,
                                                     const std::vector<std::vector<Rational>>& components,
                                                     std::span<const Rational> values, std::size_t rows = 0);
  /// Likewise PlanIntervals::sizes(); none without alphas. Of a row of a batch of `rows` the sizes of all
  /// together are those of the intervals that intervals() has together.
  /// Requires  no batch.
  [[nodiscard]] std::vector<PlannedSizes> sizes(const std::shared_ptr<const Plan>& plan,
                                                std::span<const Rational> alphas, std::size_t rows = 0);

 private:
  struct CachedAccuracies {
    std::vector<Rational> alphas;
    std::vector<std::vector<Accuracy>> accuracies;
  };
  /// PlanIntervals at these probabilities; `rows`: as intervals().
  [[nodiscard]] std::shared_ptr<const PlanIntervals> cached_intervals(const std::shared_ptr<const Plan>& plan,
                                                                      std::span<const Rational> alphas,
                                                                      std::size_t rows);

  std::mutex mutex_;
  std::size_t planned_ = 0;  ///< rows of batches counted
  std::unordered_map<std::string, std::shared_ptr<const Plan>> plans_;
  std::unordered_map<std::shared_ptr<const Plan>, std::shared_ptr<const CachedAccuracies>> accuracies_;
  std::map<std::pair<std::shared_ptr<const Plan>, std::size_t>, std::shared_ptr<const PlanIntervals>>
      intervals_;
};

}  // namespace epsilog::engine
