// How much may be lost: which accounts there are, and what one release may lose.
#include <tuple>

#include "calendar.hpp"
#include "epsilog/accounting/errors.hpp"
#include "implied_parts.hpp"
#include "measure_limits.hpp"
#include "policy_values.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

using Kind = AccountMeasure::Kind;

/// One account; or one of each block, period, principal, role or purpose, those apart that have their own.
struct ImpliedAccount {
  std::string each;   ///< "" of one account
  std::string scope;  ///< of one account, as the ledger names it
  MeasureLimit limit;
  std::optional<accounting::ApproximateLoss> stated;

  [[nodiscard]] auto sort_key() const { return std::tuple(each, scope, limit.measure.text()); }
};

std::string limit_text(const MeasureLimit& limit) {
  return amount_text(limit.measure.text(), limit.units);
}

Scope::Kind scope_of(Limit::Subject subject) {
  switch (subject) {
    case Limit::Subject::principal:
      return Scope::Kind::principal;
    case Limit::Subject::role:
      return Scope::Kind::role;
    case Limit::Subject::purpose:
      return Scope::Kind::purpose;
  }
  EPSILOG_INVARIANT(false);
}

class ImpliedAccounts final {
 public:
  void one(const Scope& scope, const Budget& budget) { add("", scope.text(), budget); }
  void of_each(std::string_view kind, const Budget& budget) { add(std::string(kind), "", budget); }
  void add_limit(const Limit& limit) {
    [[maybe_unused]] const auto& [subject, name_of_one, budget, mark] = limit;
    static_cast<void>(mark);
    if (name_of_one.empty()) return of_each(name(subject), budget);
    one({scope_of(subject), name_of_one}, budget);
  }

  [[nodiscard]] std::vector<ImpliedAccount> take() {
    std::sort(accounts_.begin(), accounts_.end(),
              [](const auto& a, const auto& b) { return a.sort_key() < b.sort_key(); });
    return std::move(accounts_);
  }

 private:
  void add(const std::string& each, const std::string& scope, const Budget& budget) {
    for (MeasureLimit& limit : measure_limits(budget)) {
      accounts_.push_back({each, scope, std::move(limit), budget.target});
    }
  }

  std::vector<ImpliedAccount> accounts_;
};

void write_account(JsonWriter& json, const ImpliedAccount& account) {
  const auto& [each, scope, limit, stated] = account;
  json.raw("{");
  if (!each.empty()) json.field("each", each);
  json.field("limit", limit_text(limit)).field("measure", limit.measure.text());
  if (each.empty()) json.field("scope").bytes(scope);
  if (stated) {
    json.field("stated").raw("{");
    json.field("delta", stated->delta.text()).field("epsilon", stated->epsilon.text()).raw("}");
  }
  json.raw("}");
}

void write_cap_limit(JsonWriter& json, const MeasureLimit& limit, bool if_uncounted) {
  json.raw("{");
  if (if_uncounted) json.field("if_uncounted").raw("true");
  json.field("limit", limit_text(limit)).field("measure", limit.measure.text()).raw("}");
}

}  // namespace

void write_accounts(JsonWriter& json, const Dataset& dataset) {
  ImpliedAccounts accounts;
  if (dataset.blocks) {
    accounts.of_each("block", dataset.budget);
  } else if (dataset.renews) {
    accounts.of_each("period", dataset.budget);
  } else {
    accounts.one({}, dataset.budget);
  }
  if (dataset.lifetime) accounts.one({Scope::Kind::lifetime}, *dataset.lifetime);
  for (const Limit& limit : dataset.limits) accounts.add_limit(limit);
  json.array(accounts.take(), [&](const ImpliedAccount& account) { write_account(json, account); });
}

void write_blocks(JsonWriter& json, const Blocks& blocks) {
  [[maybe_unused]] const auto& [by, per, first_day, last_day, mark] = blocks;
  json.raw("{").field("by", by);
  if (per) {
    json.field("first", period_name(*per, first_day)).field("last", period_name(*per, last_day));
    json.field("per", name(*per));
  }
  json.raw("}");
}

void write_cap(JsonWriter& json, const LossCap& cap) {
  json.array(measure_limits(cap), [&](const MeasureLimit& limit) { write_cap_limit(json, limit, false); });
}

void write_cap_of_one_release(JsonWriter& json, const LossCap& cap) {
  LossCap holds = cap;
  holds.delta = cap.delta.value_or(default_delta());
  json.array(measure_limits(holds), [&](const MeasureLimit& limit) {
    write_cap_limit(json, limit, limit.measure.kind == Kind::delta && !cap.delta);
  });
}

}  // namespace epsilog::engine
