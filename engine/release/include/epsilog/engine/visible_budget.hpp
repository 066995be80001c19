// What one person sees of the budgets: for whatever shows them in the name of a viewer.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request_visibility.hpp"

namespace epsilog::engine {

struct VisibleBudget {
  std::vector<BudgetAccount> accounts;
  std::vector<std::string> notes;  ///< about datasets of which there is an account
};

/// Returns the accounts that lists_account() shows the viewer, of one dataset or, "", of all.
/// Throws  ConcealedDataset (concealed_dataset.hpp) for a dataset that is not there for the viewer; as
///         Engine::budget().
[[nodiscard]] VisibleBudget visible_budget(const Engine& engine, const Policy& active, const Viewer& viewer,
                                           const std::string& dataset);

}  // namespace epsilog::engine
