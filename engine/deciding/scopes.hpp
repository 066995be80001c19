// Which accounts a request touches, and what it asks of each.
//
// An account is named by (dataset, scope, measure); scope.hpp says what scopes there are. Everything here is
// a function of policy, request and ledger time: charges never depend on data (guarantee G7). Thread-safety:
// pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// One account and what a request would debit from it.
struct PlannedCharge {
  ledger::AccountName account;
  AccountMeasure measure;   ///< of the account
  std::int64_t limit = 0;   ///< as the policy has it; an account that is not there yet is opened with it
  std::int64_t amount = 0;  ///< grid units of the measure; 0: nothing of this measure is lost
  /// The amount where it is more than any account can hold; `amount` is 2^61 then, and it never fits.
  std::optional<accounting::Integer> too_large = std::nullopt;
  /// False: the account's budget has no part for all that the release loses, and `amount` is what there is
  /// a part for.
  bool expressible = true;
  RefusalCode code = RefusalCode::dataset_budget_exceeded;  ///< when it does not fit
};

/// Every account that the request debits, all or none, in the order refusals list them: what holds for the
/// dataset, then its askers.
/// Requires  plan = make_plan(dataset, request); `calendar_time` RFC 3339 UTC, which decides the period of a
///           budget that renews.
[[nodiscard]] std::vector<PlannedCharge> planned_charges(const Policy& policy, const Dataset& dataset,
                                                         const Request& request, const Plan& plan,
                                                         const std::string& calendar_time);

/// Returns the budgets in which whatever that principal asks for that purpose counts: the dataset's, or those
/// of its blocks or periods, once; its lifetime; those that limit the asker.
/// Ensures  they point into the dataset.
[[nodiscard]] std::vector<const Budget*> budgets_of(const Policy& policy, const Dataset& dataset,
                                                    const std::string& principal, const std::string& purpose);

/// The accounts that can be listed without a request, unspent, ordered by (dataset, scope, measure): all but
/// those of periods, and of principals where none are declared.
[[nodiscard]] std::vector<ledger::AccountState> declared_accounts(const Policy& policy);

/// What accounts that are there are limited to when the policy becomes active: nothing, if it declares no
/// limit for one; those of past periods stay as they were.
class LimitsAfter final {
 public:
  /// Requires  the policy outlives this.
  LimitsAfter(const Policy& policy, std::string calendar_time);
  [[nodiscard]] std::optional<std::int64_t> of(const ledger::AccountName& account,
                                               const accounting::Balance& balance) const;
  /// Whether it is one of listed_accounts().
  [[nodiscard]] bool lists(const ledger::AccountName& account) const;
  /// declared_accounts(policy).
  [[nodiscard]] const std::vector<ledger::AccountState>& listed_accounts() const noexcept { return listed_; }

 private:
  [[nodiscard]] const ledger::AccountState* find(const ledger::AccountName& account) const;

  const Policy& policy_;
  std::string calendar_time_;
  std::vector<ledger::AccountState> listed_;
};

/// The name of the period of a renewing budget in which an instant lies.
/// Requires  dataset.renews.
/// Throws    LedgerCorrupt unless `instant` is a ledger time (epsilog/ledger/ledger_time.hpp).
[[nodiscard]] std::string current_period(const Dataset& dataset, const std::string& instant);

/// The renewing budgets of the present whose accounts nobody has opened yet, appended unspent.
/// `dataset` "" = all.
void add_current_periods(const Policy& policy, const std::string& dataset, const std::string& calendar_time,
                         std::vector<ledger::AccountState>& accounts);

}  // namespace epsilog::engine
