#include "plan_cache.hpp"

#include "recordable.hpp"

namespace epsilog::engine {
namespace {

/// Most histories ask few different questions; one that does not must not fill the memory.
constexpr std::size_t kPlansMax = 10'000;

}  // namespace

std::shared_ptr<const Plan> PlanCache::plan(const AppliedPolicy& applied, const Request& request,
                                            const std::string& canonical, ledger::Rules rules) {
  const std::string name = std::to_string(applied.version.version) + " " +
                           std::to_string(static_cast<std::int64_t>(rules)) + " " + canonical;
  {
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find(name);
    if (known != plans_.end()) return known->second;
  }
  auto made =
      std::make_shared<const Plan>(make_plan(applied.policy.dataset(request.dataset), request, rules));
  require_recordable(request, canonical);
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= kPlansMax) plans_.clear();
  plans_[name] = made;
  return made;
}

}  // namespace epsilog::engine
