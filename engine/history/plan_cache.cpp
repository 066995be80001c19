#include "plan_cache.hpp"

#include <algorithm>

#include "recordable.hpp"

namespace epsilog::engine {
namespace {

/// Most histories ask few different questions; one that does not must not fill the memory.
constexpr std::size_t kPlansMax = 10'000;

std::string name_of(std::int64_t policy_version, ledger::Rules rules, const std::string& canonical) {
  return std::to_string(policy_version) + " " + std::to_string(static_cast<std::int64_t>(rules)) + " " +
         canonical;
}

}  // namespace

std::shared_ptr<const Plan> PlanCache::known(std::int64_t policy_version, const std::string& canonical,
                                             ledger::Rules rules) {
  const std::string name = name_of(policy_version, rules, canonical);
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(name);
  return found != plans_.end() ? found->second : nullptr;
}

std::shared_ptr<const Plan> PlanCache::plan(const AppliedPolicy& applied, const Request& request,
                                            const std::string& canonical, ledger::Rules rules) {
  if (auto made_before = known(applied.version.version, canonical, rules)) return made_before;
  auto made =
      std::make_shared<const Plan>(make_plan(applied.policy.dataset(request.dataset), request, rules));
  require_recordable(request, canonical);
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= kPlansMax) plans_.clear();
  plans_[name_of(applied.version.version, rules, canonical)] = made;
  return made;
}

std::vector<std::vector<Accuracy>> PlanCache::accuracies(const std::shared_ptr<const Plan>& plan,
                                                         std::span<const Rational> alphas) {
  if (alphas.empty()) return engine::accuracies(*plan, alphas);
  std::shared_ptr<const Known> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(plan);
    if (found != known_.end()) known = found->second;
  }
  if (known && std::equal(alphas.begin(), alphas.end(), known->alphas.begin(), known->alphas.end())) {
    return known->accuracies;
  }
  auto made =
      std::make_shared<const Known>(Known{{alphas.begin(), alphas.end()}, engine::accuracies(*plan, alphas)});
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kPlansMax) known_.clear();
  known_[plan] = made;
  return made->accuracies;
}

std::vector<CellIntervals> PlanCache::intervals(const std::shared_ptr<const Plan>& plan,
                                                std::span<const Rational> alphas,
                                                const std::vector<std::vector<Rational>>& components,
                                                std::span<const Rational> values) {
  if (alphas.empty() || values.empty()) return {};
  std::shared_ptr<const PlanIntervals> inverted;
  {
    const std::lock_guard lock(mutex_);
    const auto found = inverted_.find(plan);
    if (found != inverted_.end()) inverted = found->second;
  }
  if (!inverted ||
      !std::equal(alphas.begin(), alphas.end(), inverted->alphas().begin(), inverted->alphas().end())) {
    inverted = std::make_shared<const PlanIntervals>(*plan, alphas);
    const std::lock_guard lock(mutex_);
    if (inverted_.size() >= kPlansMax) inverted_.clear();
    inverted_[plan] = inverted;
  }
  return inverted->of(components, values);
}

}  // namespace epsilog::engine
