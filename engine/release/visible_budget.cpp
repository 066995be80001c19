#include "epsilog/engine/visible_budget.hpp"

#include <algorithm>

#include "epsilog/engine/concealed_dataset.hpp"

namespace epsilog::engine {

VisibleBudget visible_budget(const Engine& engine, const Policy& active, const Viewer& viewer,
                             const std::string& dataset) {
  if (!dataset.empty() && !sees_dataset(active, viewer, dataset)) throw ConcealedDataset(dataset);
  VisibleBudget seen;
  seen.accounts = engine.budget(dataset);
  std::erase_if(seen.accounts, [&](const BudgetAccount& account) {
    return !lists_account(active, viewer, account.name(), account.active);
  });
  for (const Dataset& one : active.datasets()) {
    const bool shown = std::any_of(seen.accounts.begin(), seen.accounts.end(),
                                   [&one](const auto& account) { return account.dataset == one.name; });
    if (!shown) continue;
    for (std::string& note : engine.notes(one.name)) seen.notes.push_back(std::move(note));
  }
  return seen;
}

}  // namespace epsilog::engine
