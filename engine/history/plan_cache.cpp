#include "plan_cache.hpp"

#include <algorithm>

#include "batch_plan.hpp"
#include "recordable.hpp"

namespace epsilog::engine {
namespace {

/// Most histories ask few different questions; one that does not must not fill the memory.
constexpr std::size_t kPlansMax = 10'000;

std::string name_of(std::int64_t policy_version, const std::string& canonical) {
  return std::to_string(policy_version) + " " + canonical;
}

}  // namespace

std::shared_ptr<const Plan> PlanCache::find(std::int64_t policy_version, const std::string& canonical) {
  const std::string name = name_of(policy_version, canonical);
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(name);
  return found != plans_.end() ? found->second : nullptr;
}

std::shared_ptr<const Plan> PlanCache::plan(const AppliedPolicy& applied, const Request& request,
                                            const std::string& canonical) {
  if (auto made_before = find(applied.version.version, canonical)) return made_before;
  auto made = std::make_shared<const Plan>(plan_request(applied.policy.dataset(request.dataset), request));
  require_recordable(request, canonical);
  const std::lock_guard lock(mutex_);
  if (planned_ >= kPlansMax) {
    plans_.clear();
    planned_ = 0;
  }
  planned_ += 1 + made->rows.size();
  plans_[name_of(applied.version.version, canonical)] = made;
  return made;
}

std::vector<std::vector<Accuracy>> PlanCache::accuracies(const std::shared_ptr<const Plan>& plan,
                                                         std::span<const Rational> alphas) {
  if (alphas.empty()) return engine::accuracies(*plan, alphas);
  std::shared_ptr<const CachedAccuracies> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = accuracies_.find(plan);
    if (found != accuracies_.end()) known = found->second;
  }
  if (known && std::equal(alphas.begin(), alphas.end(), known->alphas.begin(), known->alphas.end())) {
    return known->accuracies;
  }
  auto made = std::make_shared<const CachedAccuracies>(
      CachedAccuracies{{alphas.begin(), alphas.end()}, engine::accuracies(*plan, alphas)});
  const std::lock_guard lock(mutex_);
  if (accuracies_.size() >= kPlansMax) accuracies_.clear();
  accuracies_[plan] = made;
  return made->accuracies;
}

std::vector<std::vector<std::vector<Accuracy>>> PlanCache::accuracies_of_rows(
    const std::shared_ptr<const Plan>& plan, std::span<const Rational> alphas) {
  std::vector<std::vector<std::vector<Accuracy>>> of_rows;
  of_rows.reserve(plan->rows.size());
  for (const auto& row : plan->rows) of_rows.push_back(accuracies(row, alphas));
  return of_rows;
}

std::shared_ptr<const PlanIntervals> PlanCache::cached_intervals(const std::shared_ptr<const Plan>& plan,
                                                                 std::span<const Rational> alphas,
                                                                 std::size_t rows) {
  const std::pair key(plan, rows);
  {
    const std::lock_guard lock(mutex_);
    const auto found = intervals_.find(key);
    if (found != intervals_.end() && std::equal(alphas.begin(), alphas.end(), found->second->alphas().begin(),
                                                found->second->alphas().end())) {
      return found->second;
    }
  }
  auto made = std::make_shared<const PlanIntervals>(*plan, alphas, std::max<std::size_t>(rows, 1));
  const std::lock_guard lock(mutex_);
  if (intervals_.size() >= kPlansMax) intervals_.clear();
  intervals_[key] = made;
  return made;
}

namespace {

/// The part of each alpha that a row of a batch has. Nothing where one is too small to be computed with.
std::optional<std::vector<Rational>> parts_of_rows(std::span<const Rational> alphas, std::size_t rows) {
  std::vector<Rational> parts;
  for (const Rational& alpha : alphas) parts.push_back(alpha / Rational(static_cast<unsigned long>(rows)));
  const bool too_small =
      std::any_of(parts.begin(), parts.end(), [](const Rational& part) { return part < Alphas::least(); });
  return too_small ? std::nullopt : std::optional(std::move(parts));
}

}  // namespace

std::vector<CellIntervals> PlanCache::intervals(const std::shared_ptr<const Plan>& plan,
                                                std::span<const Rational> alphas,
                                                const std::vector<std::vector<Rational>>& components,
                                                std::span<const Rational> values, std::size_t rows) {
  if (alphas.empty() || values.empty()) return {};
  std::vector<CellIntervals> intervals = cached_intervals(plan, alphas, 0)->of(components, values);
  if (rows == 0 || intervals.empty()) return intervals;
  for (CellIntervals& one : intervals) one.together.clear();
  const auto parts = parts_of_rows(alphas, rows);
  if (!parts) return intervals;
  std::vector<CellIntervals> of_part = cached_intervals(plan, *parts, rows)->of(components, values);
  for (std::size_t i = 0; i < std::min(intervals.size(), of_part.size()); ++i) {
    const bool single = of_part[i].together.empty();
    intervals[i].together = std::move(single ? of_part[i].each : of_part[i].together);
    for (std::size_t group = 0; group < intervals[i].groups.size(); ++group) {
      const CellGroup& of_rows = of_part[i].groups[group];
      intervals[i].groups[group].together_holds_from =
          single ? of_rows.each_holds_from : of_rows.together_holds_from;
    }
  }
  return intervals;
}

std::vector<PlannedSizes> PlanCache::sizes(const std::shared_ptr<const Plan>& plan,
                                           std::span<const Rational> alphas, std::size_t rows) {
  if (alphas.empty()) return {};
  std::vector<PlannedSizes> sizes = cached_intervals(plan, alphas, 0)->sizes();
  if (rows == 0) return sizes;
  for (PlannedSizes& one : sizes) one.together_holds_from.reset();
  const auto parts = parts_of_rows(alphas, rows);
  if (!parts) return sizes;
  const std::vector<PlannedSizes> of_part = cached_intervals(plan, *parts, rows)->sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i].together_holds_from = of_part[i].together_holds_from;
  return sizes;
}

}  // namespace epsilog::engine
