// Random policies, changes of them and requests for the walk through every joint (random_walk_test.cpp).
#pragma once

#include <random>

#include "random_walk_policy.hpp"

namespace epsilog::test {

class WalkRandom {
 public:
  explicit WalkRandom(std::uint64_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    // Not a standard distribution: the same numbers with every library.
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int one_in) { return between(1, one_in) == 1; }
  template <class T>
  const T& any(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  std::string anybody() {
    return any(std::vector<std::string>{"alice", "alice", "alice", "alice", "bob", "bob", "carol", "carol",
                                        "dave", "eve", "mallory"});
  }

  // ---- policies

  WalkPolicy policy() {
    WalkPolicy policy;
    policy.row_unit = chance(3);
    policy.replace_one = chance(3);
    policy.rows_exact = policy.replace_one && chance(2);
    policy.budget = budget(4);
    if (chance(3)) {
      policy.renew = period();
    } else if (chance(3)) {
      policy.blocks = true;
      policy.areas = chance(2);
    }
    if (policy.blocks || chance(3)) policy.lifetime = budget(12);
    if (chance(2)) change_limits(policy);
    policy.required = chance(2) ? static_cast<std::size_t>(between(1, 3)) : 0;
    policy.above = cap(chance(2) ? 2 : 10);
    if (chance(4)) policy.per_release = cap(2);
    policy.purposes = chance(4);
    policy.expires = any(std::vector<std::string>{"1h", "1h", "2d", "365d"});
    policy.mechanism = any(mechanisms());
    return policy;
  }

  /// A version after this one, by one or more of all changes that a diff knows.
  WalkPolicy changed(WalkPolicy policy, bool charged) {
    ++policy.revision;
    const std::int64_t count = chance(3) ? between(2, 4) : 1;
    for (std::int64_t i = 0; i < count; ++i) change(policy, charged);
    if (!policy.replace_one) policy.rows_exact = false;
    if (policy.blocks) {
      policy.renew.clear();
      if (!policy.lifetime) policy.lifetime = budget(12);
    }
    return policy;
  }

  // ---- requests

  WalkRequest request(const WalkPolicy& policy) {
    WalkRequest asked;
    asked.request.dataset = "clinic";
    asked.request.principal = anybody();
    if (policy.purposes ? !chance(20) : chance(40))
      asked.request.purpose = chance(3) ? "quality" : "planning";
    const std::string statistic =
        any(std::vector<std::string>{"count", "count", "count", "value:score", "value:score", "value:score",
                                     "value:normal", "units", "sum:age", "mean:age", "variance:age"});
    const bool value = statistic.starts_with("value");
    std::optional<std::string> by;
    if (statistic == "count" && chance(10)) by = "ward";
    asked.request.question = engine::parse_question(statistic, by, value ? std::nullopt : condition(asked));
    amounts(asked, policy);
    if (chance(2)) {
      asked.request.reservation = value && chance(2) ? engine::ReservationKind::reserved_against_token
                                                     : engine::ReservationKind::reserved;
    } else if (value) {
      asked.request.supplied = any(std::vector<std::string>{"3", "nan", "-1e400", "1e-400", "0.1", ""});
    }
    return asked;
  }

 private:
  static const std::vector<std::string>& mechanisms() {
    static const std::vector<std::string> kMechanisms{"discrete_laplace", "discrete_laplace", "snapping",
                                                      "discrete_gaussian"};
    return kMechanisms;
  }
  std::string period() {
    return any(std::vector<std::string>{"day", "day", "week", "month", "quarter", "year"});
  }

  /// About as much as `scale` units of epsilon; now and then the least or the most there is.
  std::int64_t amount(std::int64_t scale) {
    if (chance(25)) return 1;
    if (chance(25)) return (std::int64_t{1} << 61) - between(0, 2);
    return scale / 4 + between(1, scale);
  }
  Amounts budget(std::int64_t scale) {
    const std::int64_t epsilon = amount(scale * kEpsilonUnit);
    switch (between(0, 5)) {
      case 0:
        return {{"epsilon", epsilon}, {"delta", between(1, kDeltaUnit / 100'000)}};
      case 1:
        return {{"rho", amount(scale * kRhoUnit / 2)}};
      case 2:
        return {{"rdp(2)", epsilon}, {"rdp(2.5)", amount(scale * kEpsilonUnit)}};
      default:
        return {{"epsilon", epsilon}};
    }
  }
  Amounts cap(std::int64_t scale) {
    Amounts result;
    if (chance(2)) result["epsilon"] = between(1, scale * kEpsilonUnit / 4);
    if (chance(4)) result["delta"] = between(1, kDeltaUnit / 100'000);
    if (chance(3)) result["rho"] = between(1, scale * kRhoUnit / 40);
    if (chance(4)) result["rdp(2)"] = between(1, scale * kEpsilonUnit / 20);
    return result;
  }
  /// The same measures, other amounts.
  void change_amounts(Amounts& amounts) {
    for (auto& [measure, units] : amounts) {
      const std::int64_t more = std::min<std::int64_t>(units, (std::int64_t{1} << 61) - units);
      units = !chance(3) ? units + between(0, more) : std::max<std::int64_t>(1, units / between(1, 8));
    }
  }
  void change_limits(WalkPolicy& policy) {
    if (!policy.limits.empty() && chance(2)) {
      const auto which =
          policy.limits.begin() + between(0, static_cast<std::int64_t>(policy.limits.size()) - 1);
      if (chance(2)) {
        removed_.push_back(*which);
        policy.limits.erase(which);
      } else {
        change_amounts(which->budget);
      }
      return;
    }
    LimitPlan limit;
    if (!removed_.empty() && chance(2)) {
      limit = any(removed_);  // added again
    } else {
      limit.subject = any(std::vector<std::string>{"principal", "principal", "role", "purpose"});
      if (chance(2)) {
        limit.name = limit.subject == "principal" ? (chance(2) ? "alice" : "bob")
                     : limit.subject == "role"    ? "research"
                                                  : "planning";
      }
      limit.budget = budget(2);
    }
    // One declaration of each.
    std::erase_if(policy.limits, [&](const LimitPlan& other) {
      return other.subject == limit.subject && other.name == limit.name;
    });
    policy.limits.push_back(limit);
  }
  void change_lifetime(WalkPolicy& policy) {
    if (policy.lifetime && chance(2)) {
      change_amounts(*policy.lifetime);
    } else if (policy.lifetime) {
      policy.lifetime.reset();
    } else {
      policy.lifetime = budget(12);
    }
  }
  /// A renewing budget or blocks or neither; another measure, another order.
  void change_measure(WalkPolicy& policy) {
    switch (between(0, 4)) {
      case 0:
        policy.renew = policy.renew.empty() || chance(2) ? period() : "";
        return;
      case 1:
        if (chance(3)) {
          policy.areas = !policy.areas;
        } else {
          policy.blocks = !policy.blocks;
        }
        return;
      case 2:
        policy.budget = budget(4);
        return;
      case 3:
        if (policy.budget.contains("rdp(2)")) policy.budget["rdp(8)"] = amount(4 * kEpsilonUnit);
        return;
      default:
        return change_lifetime(policy);
    }
  }
  void change_data(WalkPolicy& policy) {
    switch (between(0, 7)) {
      case 0:
        policy.row_unit = !policy.row_unit;
        return;
      case 1:
        policy.max_rows = static_cast<int>(between(1, 4));
        return;
      case 2:
        policy.replace_one = !policy.replace_one;
        return;
      case 3:
        policy.rows_exact = policy.replace_one && !policy.rows_exact;
        return;
      case 4:
        policy.multiline = !policy.multiline;
        return;
      case 5:
        policy.null_dash = !policy.null_dash;
        return;
      case 6:
        policy.zone_missing = policy.zones_are_texts ? 0 : static_cast<int>(between(0, 2));
        return;
      default:
        policy.zones_are_texts = !policy.zones_are_texts;
        policy.zone_missing = 0;
    }
  }
  void change_rules(WalkPolicy& policy) {
    switch (between(0, 9)) {
      case 0: {
        const std::string who = any(std::vector<std::string>{"alice", "bob", "carol", "dave", "eve"});
        if (!policy.declared.erase(who)) policy.declared.insert(who);
        return;
      }
      case 1: {
        const std::string who = any(std::vector<std::string>{"alice", "dave", "eve"});
        if (!policy.approvers.erase(who)) policy.approvers.insert(who);
        return;
      }
      case 2:
        policy.custodians_approve = !policy.custodians_approve;
        return;
      case 3:
        policy.required = static_cast<std::size_t>(between(0, 3));
        return;
      case 4:
        policy.above = cap(chance(2) ? 2 : 10);
        return;
      case 5:
        policy.per_release = chance(2) ? Amounts() : cap(8);
        return;
      case 6:
        policy.purposes = chance(4);
        return;
      case 7:
        policy.forbids_bob = !policy.forbids_bob;
        return;
      case 8:
        policy.counts_only = chance(4);
        return;
      default:
        policy.expires = any(std::vector<std::string>{"1h", "2d", "365d"});
    }
  }
  void change(WalkPolicy& policy, bool charged) {
    switch (between(0, 9)) {
      case 0:
      case 1:
        return change_amounts(policy.budget);
      case 2:
      case 3:
        return change_limits(policy);
      case 4:
        policy.mechanism = any(mechanisms());
        return;
      case 5:
        switch (between(0, 4)) {
          case 0:
            policy.age_upper = static_cast<int>(between(100, 120));
            return;
          case 1:
            policy.age_missing = static_cast<int>(between(0, 1)) * 40;
            return;
          case 2:
            policy.age_type = any(std::vector<std::string>{"int", "decimal", "double"});
            return;
          case 3:
            policy.rows_max = chance(2) ? 100'000 : 1'000;
            return;
          default:
            policy.score_sensitivity = static_cast<int>(between(1, 3));
            return;
        }
      case 6:
        return chance(charged ? 3 : 1) ? change_measure(policy) : change_rules(policy);
      case 7:
        return chance(charged ? 2 : 1) ? change_data(policy) : change_rules(policy);
      default:
        return change_rules(policy);
    }
  }

  // ---- requests

  /// Nothing, some zones, numbers of every length, or a list near the 64 KiB of the door.
  std::optional<std::string> condition(WalkRequest& asked) {
    switch (between(0, 9)) {
      case 0:
      case 1: {
        asked.zones = any(std::vector<std::set<std::string>>{{"1"}, {"2", "3"}, {"1", "3"}});
        std::string list;
        for (const std::string& zone : *asked.zones) list += (list.empty() ? "" : ", ") + zone;
        return "zone in (" + list + ")";
      }
      case 2:
        return any(std::vector<std::string>{"age > 1e-400", "age < 1e400",
                                            "age in (40, -1e400, 1e400, -1e-400)", "age >= 123456789e-400",
                                            "ward = 'A' and age > -1e-400"});
      case 3: {
        if (!chance(6)) return "ward != 'B'";
        const std::int64_t constants = between(150, 230);  // of 302 digits each: the cap lies at about 216
        asked.may_be_too_long = constants > 200;
        std::string list = "40";  // some cell is read so
        for (std::int64_t i = 1; i < constants; ++i) list += ", " + std::to_string(i % 9 + 1) + "e-300";
        return "age in (" + list + ")";
      }
      default:
        return std::nullopt;
    }
  }
  accounting::Rational small() {
    std::string text =
        chance(3) ? "0." : "0.0";  // one draw a statement: compilers order operands differently
    text += std::to_string(between(1, 9));
    text += std::to_string(between(0, 9));
    return accounting::parse_rational(text, "epsilon");
  }
  accounting::Rational epsilon() {
    using accounting::parse_rational;
    switch (between(0, 23)) {
      case 0:
        return parse_rational("1e-12", "epsilon");
      case 1:
        return parse_rational(chance(2) ? "9e-13" : "1e-400", "epsilon");
      case 2:
        return parse_rational(chance(2) ? "2305843.009213693951" : "2305844", "epsilon");
      case 3:
        return parse_rational(std::to_string(between(60, 200'000)), "epsilon");
      case 4:  // N/2^k: a tenth with 650 decimals
        return accounting::floor(accounting::power_of_two(650) / 10) / accounting::power_of_two(650);
      case 5:
        return parse_rational(std::string(394, '3') + "e-394", "epsilon");
      case 6:
        return parse_rational("0." + std::string(393, '1'), "epsilon");
      case 7:
        return Rational(between(1, 1'000'000), 1'000'000);
      default:
        return small();
    }
  }
  void amounts(WalkRequest& asked, const WalkPolicy& policy) {
    using accounting::parse_rational;
    const bool gaussian = chance(30) ? !policy.gaussian(asked) : policy.gaussian(asked);
    if (gaussian && !policy.counts_delta() && chance(3)) {
      asked.request.rho = parse_rational(
          any(std::vector<std::string>{"0.01", "0.02", "1e-6", "1/3", "2305", "1e-15", "1e-400", "1e6"}),
          "rho");
      return;
    }
    // Few different ones: calibrating Gaussian noise takes a thousand times a draw.
    asked.request.epsilon =
        gaussian ? parse_rational(any(std::vector<std::string>{"0.1", "0.25", "0.5", "1", "70"}), "epsilon")
                 : epsilon();
    if (gaussian)
      asked.request.delta = parse_rational(
          any(std::vector<std::string>{"1e-7", "1e-7", "1e-9", "0.9", "1e-6", "1e-18", "2e-5"}), "delta");
  }

  std::mt19937_64 random_;
  std::vector<LimitPlan> removed_;
};

}  // namespace epsilog::test
