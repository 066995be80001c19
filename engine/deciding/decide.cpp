#include "decide.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "access.hpp"
#include "batch_plan.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"
#include "loss_caps.hpp"

namespace epsilog::engine {
namespace {

/// The first reasons, and how many there are: a request may have one for each of 65,536 accounts.
class Reasons final {
 public:
  explicit Reasons(std::size_t reasons_kept) : reasons_kept_(reasons_kept) {}

  template <class Make>
  void add(const Make& make) {
    if (list_.size() < reasons_kept_) list_.push_back(make());
    ++count_;
  }
  [[nodiscard]] Decision take() { return {std::move(list_), count_}; }

 private:
  std::size_t reasons_kept_;
  std::vector<Reason> list_;
  std::size_t count_ = 0;
};

/// `passes`: whether any amount would.
Reason limit_reason(RefusalCode code, const std::string& what, const std::string& scope,
                    const std::string& measure, const accounting::Balance& balance,
                    const accounting::Integer& asked, bool passes) {
  const std::int64_t fits = balance.remaining();
  const accounting::Integer over_by = asked - fits;
  const auto text = [&measure](const accounting::Integer& units) { return amount_text(measure, units); };
  const std::string reserved = balance.reserved == 0 ? "" : text(balance.reserved);
  return {
      .code = code,
      .scope = scope,
      .measure = measure,
      .limit = text(balance.limit),
      .spent = text(balance.spent),
      .reserved = reserved,
      .asked = text(asked),
      .over_by = text(over_by),
      .fits = passes ? text(fits) : "",
      .message = what + ": limit " + text(balance.limit) + ", spent " + text(balance.spent) +
                 (reserved.empty() ? "" : ", reserved " + reserved) + ", asked " + text(asked) +
                 ", over by " + text(over_by) + (passes ? "; at most " + text(fits) + " fits" : ""),
  };
}

/// "epsilon budget of dataset 'clinic'", of the scope if it has one.
std::string subject_of(const ledger::AccountName& account) {
  return account.measure + " budget of dataset '" + account.dataset + "'" +
         (account.scope.empty() ? "" : ", " + account.scope);
}

/// Whether some amount would pass: none does where a budget cannot express the release.
bool some_passes(const std::vector<Debit>& debits) {
  return std::all_of(debits.begin(), debits.end(),
                     [](const Debit& debit) { return debit.charge.expressible; });
}

/// One reason for each scope whose budget has no part for all that is lost, however many accounts it has.
void check_expressible(const Dataset& dataset, const Plan& plan, const std::vector<Debit>& debits,
                       Reasons& reasons) {
  for (const Debit& debit : debits) {
    if (debit.charge.expressible) continue;
    reasons.add([&] {
      const std::string& scope = debit.charge.account.scope;
      Reason reason;
      reason.code = RefusalCode::measure_not_expressible;
      reason.scope = scope;
      reason.message = plan.record.mechanism + " loses (epsilon, delta), which the budget of dataset '" +
                       dataset.name + "'" + (scope.empty() ? "" : ", " + scope + ",") +
                       " cannot express: its measure is " + std::string(name(Measure::pure));
      return reason;
    });
  }
}

void check_one_release(const Dataset& dataset, const Plan& plan, const std::vector<Debit>& debits,
                       Reasons& reasons) {
  // What a budget cannot express at all is refused for that.
  const bool bounded = std::any_of(debits.begin(), debits.end(), [](const Debit& debit) {
    return debit.charge.measure.kind == AccountMeasure::Kind::delta || !debit.charge.expressible;
  });
  const LossCap cap = cap_of_one_release(dataset, bounded);
  const auto check = [&](const Plan& part, const std::string& where, std::size_t row) {
    for (const CapExceeded& one : exceeded_caps(cap, capped_loss(dataset, part), part.mechanisms)) {
      reasons.add([&] {
        Reason reason = limit_reason(RefusalCode::per_release_limit_exceeded,
                                     where + one.measure.text() + " of one release of '" + dataset.name + "'",
                                     "per_release", one.measure.text(), {.limit = one.limit}, one.asked,
                                     some_passes(debits));
        reason.row = row;
        return reason;
      });
    }
  };
  for (std::size_t row = 0; row < plan.rows.size(); ++row) check(*plan.rows[row], row_text(row), row + 1);
  check(plan, plan.rows.empty() ? "" : "all rows: ", 0);
}

void check_limits(const std::vector<Debit>& debits, Reasons& reasons) {
  const bool passes = some_passes(debits);
  for (const Debit& debit : debits) {
    const accounting::Balance& balance = debit.account.balance;
    const PlannedCharge& charge = debit.charge;
    if (!charge.too_large && accounting::filter(balance, charge.amount).granted) continue;
    reasons.add([&] {
      return limit_reason(charge.code, subject_of(charge.account), charge.account.scope,
                          charge.account.measure, balance,
                          charge.too_large.value_or(accounting::Integer(charge.amount)), passes);
    });
  }
}

/// What an account takes at most in the stored list of balances.
std::size_t recorded_bytes(const ledger::AccountName& account) {
  constexpr std::size_t kFigures = 160;
  return 2 * account.scope.size() + account.measure.size() + kFigures;
}

bool is_named(const Debit& debit, const std::vector<Reason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(), [&](const Reason& reason) {
    const bool of_scope = reason.code == RefusalCode::measure_not_expressible;
    return reason.scope == debit.charge.account.scope &&
           (of_scope || reason.measure == debit.charge.account.measure);
  });
}

std::vector<Debit> first_recordable(std::vector<Debit> debits) {
  std::vector<ledger::AccountName> names;
  for (const Debit& debit : debits) names.push_back(debit.charge.account);
  debits.resize(recordable_count(names), Debit{});
  return debits;
}

}  // namespace

std::vector<ledger::AccountName> account_names(const std::vector<PlannedCharge>& planned_charges) {
  std::vector<ledger::AccountName> names;
  names.reserve(planned_charges.size());
  for (const PlannedCharge& charge : planned_charges) names.push_back(charge.account);
  return names;
}

std::vector<Debit> debits(const std::vector<PlannedCharge>& planned_charges,
                          const std::vector<ledger::AccountState>& present) {
  std::map<ledger::AccountName, const ledger::AccountState*> by_name;
  for (const ledger::AccountState& account : present) {
    by_name[{account.dataset, account.scope, account.measure}] = &account;
  }
  std::vector<Debit> result;
  result.reserve(planned_charges.size());
  for (const PlannedCharge& charge : planned_charges) {
    const auto found = by_name.find(charge.account);
    if (found != by_name.end()) {
      result.push_back({charge, *found->second});
      continue;
    }
    ledger::AccountState fresh;
    fresh.dataset = charge.account.dataset;
    fresh.scope = charge.account.scope;
    fresh.measure = charge.account.measure;
    fresh.balance.limit = charge.limit;
    result.push_back({charge, std::move(fresh)});
  }
  return result;
}

std::vector<PlannedCharge> planned_charges_of(const std::vector<Debit>& debits) {
  std::vector<PlannedCharge> planned_charges;
  planned_charges.reserve(debits.size());
  for (const Debit& debit : debits) planned_charges.push_back(debit.charge);
  return planned_charges;
}

std::vector<ledger::AccountState> account_states(const std::vector<Debit>& debits) {
  std::vector<ledger::AccountState> states;
  states.reserve(debits.size());
  for (const Debit& debit : debits) states.push_back(debit.account);
  return states;
}

std::size_t recordable_count(const std::vector<ledger::AccountName>& accounts) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < std::min(accounts.size(), kReasonsStored)) {
    bytes += recorded_bytes(accounts[count]);
    if (bytes > kReasonBytesStored) break;
    ++count;
  }
  return count;
}

std::vector<Debit> recorded_debits(const std::vector<Debit>& debits, const Decision& decision,
                                   ledger::Outcome outcome) {
  const bool debited = outcome == ledger::Outcome::granted || outcome == ledger::Outcome::reserved;
  if (debited) return debits;
  std::vector<Debit> there;
  std::copy_if(debits.begin(), debits.end(), std::back_inserter(there),
               [](const Debit& debit) { return debit.account.id != 0; });
  std::vector<Debit> first = first_recordable(there);
  if (first.size() == there.size()) return first;
  const std::vector<Reason> reasons = stored_reasons(decision);
  std::vector<Debit> named;
  std::copy_if(there.begin(), there.end(), std::back_inserter(named),
               [&](const Debit& debit) { return is_named(debit, reasons); });
  return named.empty() ? first : first_recordable(std::move(named));
}

Decision decide(const Policy& policy, const Dataset& dataset, const Request& request, const Plan& plan,
                const std::vector<Debit>& debits, const std::optional<KeyConflict>& conflict,
                std::size_t reasons_kept) {
  Reasons reasons(reasons_kept);
  const std::vector<Reason> access = access_reasons(policy, dataset, request);
  for (const Reason& reason : access) reasons.add([&] { return reason; });
  // A principal who may not ask at all is told that alone, and nothing of a key.
  if (conflict && !hides_balances(access)) {
    reasons.add([&] {
      Reason reason;
      reason.code = RefusalCode::key_conflict;
      reason.message = "key '" + conflict->key + "' is bound to decision " + conflict->decision_id +
                       ", which asked something else";
      return reason;
    });
  }
  if (hides_balances(access)) return reasons.take();
  check_expressible(dataset, plan, debits, reasons);
  check_one_release(dataset, plan, debits, reasons);
  check_limits(debits, reasons);
  return reasons.take();
}

ledger::Outcome outcome_of(const Decision& decision, const Request& request,
                           std::uint64_t approvals_required) {
  if (!decision.granted()) return ledger::Outcome::refused;
  if (approvals_required > 0) return ledger::Outcome::pending;
  return request.reservation == ReservationKind::none ? ledger::Outcome::granted : ledger::Outcome::reserved;
}

std::vector<ledger::Charge> charges(const std::vector<Debit>& debits) {
  std::vector<ledger::Charge> result;
  for (const Debit& debit : debits) {
    if (debit.charge.amount == 0) continue;
    EPSILOG_INVARIANT(debit.account.id != 0);
    result.push_back({.account = debit.account.id, .amount = debit.charge.amount});
  }
  return result;
}

}  // namespace epsilog::engine
