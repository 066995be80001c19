// Random policies, and what each of their budgets is debited by a request: arithmetic on integers and names,
// without the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "budget_model.hpp"
#include "support/reference_table.hpp"

namespace epsilog::test {

inline constexpr std::int64_t kEpsilonUnit = 1'000'000'000'000;
inline constexpr std::int64_t kDeltaUnit = 1'000'000'000'000'000'000;
inline constexpr std::int64_t kRhoUnit = 1'000'000'000'000'000;

inline std::int64_t unit_of(const std::string& measure) {
  return measure == "delta" ? kDeltaUnit : measure == "rho" ? kRhoUnit : kEpsilonUnit;
}

/// A number of grid units as a policy and a request write it.
inline std::string decimal(std::int64_t units, std::int64_t unit) {
  std::string digits = std::to_string(units % unit);
  digits.insert(0, std::to_string(unit).size() - 1 - digits.size(), '0');
  return std::to_string(units / unit) + "." + digits;
}

/// Grid units by measure: of a budget its limits, of a release its cost.
using Amounts = std::map<std::string, std::int64_t>;

/// The inside of a `budget: {…}`.
inline std::string budget_yaml(const Amounts& budget) {
  const auto amount = [&budget](const std::string& measure) {
    return measure + ": " + decimal(budget.at(measure), unit_of(measure));
  };
  if (budget.contains("rho")) return "measure: zcdp, " + amount("rho");
  if (budget.contains("delta")) return amount("epsilon") + ", " + amount("delta");
  if (budget.contains("epsilon")) return amount("epsilon");
  std::string orders;
  for (const auto& [measure, units] : budget) {
    orders += (orders.empty() ? "" : ", ") + measure.substr(4, measure.size() - 5) + ": " +
              decimal(units, kEpsilonUnit);
  }
  return "measure: rdp, orders: {" + orders + "}";
}

/// What a release that loses (epsilon, delta) costs in every measure. rho of a pure one is epsilon^2/2, up.
struct ReleaseCost {
  std::int64_t epsilon = 0;
  std::int64_t delta = 0;
  Amounts renyi;  ///< "rdp(8)", of an epsilon of the table

  [[nodiscard]] std::int64_t in(const std::string& measure) const {
    if (measure == "epsilon") return epsilon;
    if (measure == "delta") return delta;
    if (measure != "rho") return renyi.at(measure);
    const accounting::Integer units = epsilon;
    const accounting::Integer twice_the_ratio = 2'000'000'000;  // of 10^24 to 10^15, and the half
    return accounting::Integer((units * units + twice_the_ratio - 1) / twice_the_ratio).get_si();
  }
};

/// Pure epsilons of tests/reference/renyi_units.csv, with what they cost at each order there.
struct RenyiCost {
  std::string text;  ///< "1/8"
  std::int64_t epsilon = 0;
  Amounts renyi;
};
inline const std::vector<RenyiCost>& renyi_costs() {
  static const std::vector<RenyiCost> costs = [] {
    std::vector<RenyiCost> result;
    for (const ReferenceRow& row :
         reference_table(std::string(EPSILOG_SOURCE_DIR) + "/tests/reference/renyi_units.csv")) {
      if (result.empty() || result.back().text != row.at("epsilon")) {
        const std::int64_t divisor = std::stoll(row.at("epsilon").substr(2));
        result.push_back({row.at("epsilon"), kEpsilonUnit / divisor, {}});
      }
      result.back().renyi["rdp(" + row.at("order") + ")"] = std::stoll(row.at("units"));
    }
    return result;
  }();
  return costs;
}

/// Who asks what, as far as it decides which accounts are touched.
struct Asker {
  std::string principal;
  std::string purpose;
  std::optional<std::vector<std::string>> wards;  ///< of the condition; absent: all
  std::string period;                             ///< in which the ledger's calendar stands
};

/// Declared for every generated policy that declares principals.
inline const std::map<std::string, std::vector<std::string>>& declared_roles() {
  static const std::map<std::string, std::vector<std::string>> roles = {
      {"alice", {"research"}}, {"bob", {"research", "audit"}}, {"carol", {}}};
  return roles;
}

struct LimitPlan {
  std::string subject;  ///< "principal", "role", "purpose"
  std::string name;     ///< "" = each
  Amounts budget;
};

/// What a generated policy says of one dataset.
struct DatasetPlan {
  enum class Kind { whole, renewing, blocks };
  std::string name;
  Kind kind = Kind::whole;
  Amounts budget;  ///< of the dataset, of each day, of each ward
  std::optional<Amounts> lifetime;
  std::vector<LimitPlan> limits;
  std::int64_t per_release = 0;  ///< 0: no cap
  bool purposes = false;         ///< planning and quality
  bool allows_values = true;
  bool forbids_bob = false;
  bool has_normal = false;           ///< a query released with Gaussian noise
  bool declares_principals = false;  ///< of the whole policy

  [[nodiscard]] std::vector<const Amounts*> budgets() const {
    std::vector<const Amounts*> all = {&budget};
    if (lifetime) all.push_back(&*lifetime);
    for (const LimitPlan& limit : limits) all.push_back(&limit.budget);
    return all;
  }
  [[nodiscard]] bool counts_in(const std::string& start_of_measure) const {
    for (const Amounts* amounts : budgets()) {
      for (const auto& [measure, units] : *amounts)
        if (measure.starts_with(start_of_measure)) return true;
    }
    return false;
  }

  [[nodiscard]] std::string yaml() const {
    std::string text = "  " + name + ":\n    neighbours: add-remove\n    unit: row\n    budget: {" +
                       budget_yaml(budget) + (kind == Kind::renewing ? ", renew: day" : "") +
                       (kind == Kind::renewing && !lifetime ? ", accept_unbounded_lifetime: true" : "") +
                       "}\n";
    if (lifetime) text += "    lifetime: {" + budget_yaml(*lifetime) + "}\n";
    if (kind == Kind::blocks) {
      text +=
          "    source: {csv: wards.csv}\n    rows: {max: 1000}\n    blocks: {by: ward}\n"
          "    columns: {ward: {type: string, values: [A, B, C]}}\n";
    }
    if (!limits.empty()) text += "    limits:\n";
    for (const LimitPlan& limit : limits) {
      text += "      - {" +
              (limit.name.empty() ? "each: " + limit.subject : limit.subject + ": " + limit.name) + ", " +
              budget_yaml(limit.budget) + "}\n";
    }
    if (per_release > 0) text += "    per_release: {epsilon: " + decimal(per_release, kEpsilonUnit) + "}\n";
    if (purposes) text += "    purposes: [planning, quality]\n";
    if (!allows_values) text += "    allow: {statistics: [count]}\n";
    if (forbids_bob) text += "    forbid: [{principals: [bob]}]\n";
    const std::string normal = has_normal ? ", normal: {bounds: [0, 8], sensitivity: 1}" : "";
    const std::string gaussian = has_normal ? ", normal: {mechanism: discrete_gaussian, grid: 1}" : "";
    return text + "    queries: {plain: {bounds: [0, 8], sensitivity: 1}" + normal +
           "}\n    release: {default: {mechanism: discrete_laplace, grid: 1}" + gaussian + "}\n";
  }

  /// The limits on one of a kind: those that name it, else those of each.
  [[nodiscard]] std::vector<const Amounts*> limits_on(const std::string& subject,
                                                      const std::string& who) const {
    std::vector<const Amounts*> own;
    std::vector<const Amounts*> of_each;
    for (const LimitPlan& limit : limits) {
      if (limit.subject != subject) continue;
      if (limit.name == who) own.push_back(&limit.budget);
      if (limit.name.empty()) of_each.push_back(&limit.budget);
    }
    return own.empty() ? of_each : own;
  }

  /// (scope, budget) of everything that a request touches.
  [[nodiscard]] std::vector<std::pair<std::string, const Amounts*>> scopes(const Asker& asker) const {
    std::vector<std::pair<std::string, const Amounts*>> result;
    const auto add_all = [&](const std::string& subject, const std::string& who) {
      for (const Amounts* limit : limits_on(subject, who)) result.emplace_back(subject + ":" + who, limit);
    };
    if (kind == Kind::whole) result.emplace_back("", &budget);
    if (kind == Kind::renewing) result.emplace_back("period:" + asker.period, &budget);
    if (kind == Kind::blocks) {
      for (const char* ward : {"A", "B", "C"}) {
        const bool covered =
            !asker.wards || std::find(asker.wards->begin(), asker.wards->end(), ward) != asker.wards->end();
        if (covered) result.emplace_back(std::string("block:") + ward, &budget);
      }
    }
    if (lifetime) result.emplace_back("lifetime", &*lifetime);
    add_all("principal", asker.principal);
    if (declares_principals && declared_roles().contains(asker.principal)) {
      for (const std::string& role : declared_roles().at(asker.principal)) add_all("role", role);
    }
    if (!asker.purpose.empty()) add_all("purpose", asker.purpose);
    return result;
  }
  [[nodiscard]] std::vector<Debit> debits(const Asker& asker, const ReleaseCost& cost) const {
    std::vector<Debit> result;
    for (const auto& [scope, amounts] : scopes(asker)) {
      for (const auto& [measure, limit] : *amounts)
        result.push_back({{name, scope, measure}, cost.in(measure), limit});
    }
    return result;
  }

  /// The rules that refuse a request whatever is left, and whether they shut its asker out.
  [[nodiscard]] std::pair<std::vector<std::string>, bool> broken_rules(const Asker& asker, bool of_value,
                                                                       bool gaussian) const {
    if (declares_principals && !declared_roles().contains(asker.principal))
      return {{"principal_not_allowed"}, true};
    const bool known = asker.purpose == "planning" || asker.purpose == "quality";
    if (purposes ? !known : !asker.purpose.empty()) return {{"purpose_not_allowed"}, true};
    std::vector<std::string> rules;
    if (forbids_bob && asker.principal == "bob") rules.emplace_back("forbidden");
    if (!allows_values && of_value) rules.emplace_back("statistic_not_allowed");
    if (gaussian) {
      for (const auto& [scope, amounts] : scopes(asker)) {
        if (amounts->size() == 1 && amounts->contains("epsilon"))
          rules.emplace_back("measure_not_expressible");
      }
    }
    return {rules, false};
  }

  /// The accounts that are there before anything was asked.
  [[nodiscard]] std::vector<Debit> listed() const {
    std::vector<Asker> askers;
    if (declares_principals) {
      for (const auto& [who, roles] : declared_roles()) askers.push_back({who, "", std::nullopt, ""});
    } else {
      askers.push_back({"", "", std::nullopt, ""});
      for (const LimitPlan& limit : limits) {
        if (limit.subject == "principal" && !limit.name.empty())
          askers.push_back({limit.name, "", std::nullopt, ""});
      }
    }
    if (purposes) {
      askers.push_back({"", "planning", std::nullopt, ""});
      askers.push_back({"", "quality", std::nullopt, ""});
    }
    std::map<AccountKey, Debit> found;
    for (const Asker& asker : askers) {
      for (const Debit& debit : debits(asker, {.renyi = free_of_charge()})) {
        const std::string& scope = std::get<1>(debit.account);
        if (scope == "principal:" || scope.starts_with("period:")) continue;
        found.emplace(debit.account, debit);
      }
    }
    std::vector<Debit> result;
    for (const auto& [account, debit] : found) result.push_back(debit);
    return result;
  }
  /// The limit of an account of this dataset; nothing where the policy has none.
  [[nodiscard]] std::optional<std::int64_t> limit_of(const std::string& scope, const std::string& measure,
                                                     const std::string& period) const {
    Asker asker{"", "", std::nullopt, period};
    if (scope.starts_with("principal:")) asker.principal = scope.substr(10);
    if (scope.starts_with("purpose:")) asker.purpose = scope.substr(8);
    if (scope.starts_with("role:")) asker.principal = scope == "role:audit" ? "bob" : "alice";
    for (const Debit& debit : debits(asker, {.renyi = free_of_charge()})) {
      if (std::get<1>(debit.account) == scope && std::get<2>(debit.account) == measure) return debit.limit;
    }
    return std::nullopt;
  }

 private:
  static Amounts free_of_charge() {
    Amounts none;
    for (const auto& [measure, units] : renyi_costs().front().renyi) none[measure] = 0;
    return none;
  }
};

}  // namespace epsilog::test
