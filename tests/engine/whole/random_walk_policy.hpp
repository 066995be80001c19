// The policies of the random walk through every joint (random_walk_test.cpp), as plain values: their
// text, who may do what, and what is debited where. Nothing here comes from the engine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/engine.hpp"
#include "random_budgets.hpp"

namespace epsilog::test {

using accounting::Integer;
using accounting::Rational;

/// Names of the calendar, of an instant in milliseconds since 1970.
inline std::string period_named(const std::string& kind, std::int64_t ms) {
  using namespace std::chrono;
  const sys_days day = floor<days>(sys_time<milliseconds>(milliseconds(ms)));
  const year_month_day date(day);
  char text[32];
  const int year = static_cast<int>(date.year());
  const unsigned month = static_cast<unsigned>(date.month());
  if (kind == "day") {
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", year, month, static_cast<unsigned>(date.day()));
  } else if (kind == "week") {  // of the year in which its Thursday lies
    const sys_days thursday = day - days(weekday(day).iso_encoding()) + days(4);
    const auto of = year_month_day(thursday).year();
    const int week = static_cast<int>((thursday - sys_days(of / January / 1)).count()) / 7 + 1;
    std::snprintf(text, sizeof text, "%04d-W%02d", static_cast<int>(of), week);
  } else if (kind == "month") {
    std::snprintf(text, sizeof text, "%04d-%02u", year, month);
  } else if (kind == "quarter") {
    std::snprintf(text, sizeof text, "%04d-Q%u", year, (month + 2) / 3);
  } else {
    std::snprintf(text, sizeof text, "%04d", year);
  }
  return text;
}

/// A request, with what the model has to know of it.
struct WalkRequest {
  engine::Request request;
  std::optional<std::set<std::string>> zones;  ///< to which its condition narrows it
  bool may_be_too_long = false;                ///< near a cap of the door

  [[nodiscard]] bool gaussian() const { return request.delta.has_value() || request.rho.has_value(); }
  [[nodiscard]] bool of_value() const {
    return request.question.statistic.kind == engine::StatisticKind::value;
  }
  /// mean and variance may be made of several releases.
  [[nodiscard]] bool of_several() const {
    return request.question.statistic.kind == engine::StatisticKind::mean ||
           request.question.statistic.kind == engine::StatisticKind::variance;
  }
  /// Without the key: equal texts ask the same.
  [[nodiscard]] std::string text() const {
    const auto number = [](const auto& value) { return value ? accounting::text(*value) : std::string("-"); };
    return request.question.statistic.text() + " by " + engine::by_text(request.question.by) + " where " +
           (request.question.where ? request.question.where->text() : "") + " " +
           accounting::text(request.epsilon) + " " + number(request.delta) + " " + number(request.rho) +
           " for '" + request.purpose + "' " + std::to_string(static_cast<int>(request.reservation));
  }
};

struct WalkPolicy {
  std::set<std::string> declared{"alice", "bob", "carol", "dave", "eve"};
  // What the data are.
  bool row_unit = false;
  int max_rows = 3;
  bool replace_one = false;
  int rows_max = 100'000;
  bool rows_exact = false;  ///< with replace_one only
  bool multiline = false;
  bool null_dash = false;
  bool zones_are_texts = false;
  int zone_missing = 0;  ///< 0: skipped
  int age_upper = 110;
  int age_missing = 0;
  std::string age_type = "int";
  // How much may be lost.
  Amounts budget;
  std::string renew;
  bool blocks = false;
  bool areas = false;  ///< the blocks are by area, which is derived from the zone
  std::optional<Amounts> lifetime;
  std::vector<LimitPlan> limits;
  Amounts per_release;
  // Who may ask what, and with whose consent.
  std::size_t required = 0;
  std::set<std::string> approvers{"alice", "dave"};
  bool custodians_approve = true;
  Amounts above;
  std::string expires = "1h";
  bool purposes = false;
  bool forbids_bob = false;
  bool counts_only = false;
  // How it is released.
  std::string mechanism = "discrete_laplace";
  int score_sensitivity = 1;
  int revision = 0;

  static const std::map<std::string, std::string>& roles() {
    static const std::map<std::string, std::string> kRoles = {
        {"alice", "research"}, {"bob", "research"}, {"carol", "custodian"}};
    return kRoles;
  }
  [[nodiscard]] std::set<std::string> named_approvers() const {
    std::set<std::string> named;
    for (const std::string& who : approvers)
      if (declared.contains(who)) named.insert(who);
    return named;
  }
  [[nodiscard]] bool role_approves() const { return custodians_approve && declared.contains("carol"); }
  [[nodiscard]] bool may_approve(const std::string& who, const std::string& asker) const {
    if (wanted_approvals() == 0 || who == asker || !declared.contains(who)) return false;
    return approvers.contains(who) || (role_approves() && who == "carol");
  }
  /// As many as there can be, whoever asks.
  [[nodiscard]] std::size_t wanted_approvals() const {
    std::set<std::string> all = named_approvers();
    if (role_approves()) all.insert("carol");
    return std::min(required, all.empty() ? 0 : all.size() - 1);
  }

  [[nodiscard]] bool gaussian(const WalkRequest& asked) const {
    if (asked.of_value()) return asked.request.question.statistic.subject == "normal";
    return mechanism == "discrete_gaussian";
  }
  [[nodiscard]] bool allows(const WalkRequest& asked) const {
    const engine::Request& request = asked.request;
    if (!declared.contains(request.principal)) return false;
    if (purposes ? request.purpose != "planning" && request.purpose != "quality" : !request.purpose.empty())
      return false;
    if (forbids_bob && request.principal == "bob") return false;
    // Over a private number of rows it is asked only where it is named, and here it never is.
    const bool variance = request.question.statistic.kind == engine::StatisticKind::variance;
    if (variance && !rows_exact) return false;
    return !counts_only || request.question.statistic.kind == engine::StatisticKind::count;
  }

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
  static std::string area_of(const std::string& zone) { return zone == "2" ? "[in)" : "out"; }
  using Scopes = std::vector<std::pair<std::string, const Amounts*>>;
  /// Everything that a request touches, at that instant of the calendar.
  [[nodiscard]] Scopes scopes(const WalkRequest& asked, std::int64_t calendar_ms) const {
    Scopes result;
    const auto add = [&](const std::string& subject, const std::string& who) {
      for (const Amounts* limit : limits_on(subject, who)) result.emplace_back(subject + ":" + who, limit);
    };
    if (blocks) {
      std::set<std::string> covered;
      for (const std::string zone : {"1", "2", "3"}) {
        if (!asked.zones || asked.zones->contains(zone)) covered.insert(areas ? area_of(zone) : zone);
      }
      for (const std::string& block : covered) result.emplace_back("block:" + block, &budget);
    } else {
      result.emplace_back(renew.empty() ? "" : "period:" + period_named(renew, calendar_ms), &budget);
    }
    if (lifetime) result.emplace_back("lifetime", &*lifetime);
    const std::string& who = asked.request.principal;
    add("principal", who);
    if (declared.contains(who) && roles().contains(who)) add("role", roles().at(who));
    if (!asked.request.purpose.empty()) add("purpose", asked.request.purpose);
    return result;
  }
  /// What the policy says of an account; nothing where it declares none.
  [[nodiscard]] std::optional<std::int64_t> limit_of(const std::string& scope, const std::string& measure,
                                                     std::int64_t calendar_ms) const {
    const auto in = [&](const std::vector<const Amounts*>& all) -> std::optional<std::int64_t> {
      for (const Amounts* one : all)
        if (one->contains(measure)) return one->at(measure);
      return std::nullopt;
    };
    if (scope.empty()) return blocks || !renew.empty() ? std::nullopt : in({&budget});
    if (scope == "lifetime") return lifetime ? in({&*lifetime}) : std::nullopt;
    if (scope.starts_with("block:")) {
      const bool of_area = scope == "block:" + area_of("1") || scope == "block:" + area_of("2");
      return blocks && of_area == areas ? in({&budget}) : std::nullopt;
    }
    if (scope.starts_with("period:")) {
      const bool current = !renew.empty() && scope == "period:" + period_named(renew, calendar_ms);
      return current ? in({&budget}) : std::nullopt;
    }
    const std::string subject = scope.substr(0, scope.find(':'));
    const std::string who = scope.substr(subject.size() + 1);
    if (subject == "principal" && !declared.contains(who)) return std::nullopt;
    if (subject == "purpose" && !purposes) return std::nullopt;
    if (subject == "role") {
      const bool held = std::any_of(declared.begin(), declared.end(), [&](const std::string& one) {
        return roles().contains(one) && roles().at(one) == who;
      });
      if (!held) return std::nullopt;
    }
    return in(limits_on(subject, who));
  }
  [[nodiscard]] bool counts_delta() const {
    const auto has = [](const Amounts& amounts) { return amounts.contains("delta"); };
    return has(budget) || (lifetime && has(*lifetime)) ||
           std::any_of(limits.begin(), limits.end(), [&](const LimitPlan& one) { return has(one.budget); });
  }

  /// Whether a charged dataset may not become this one: what was lost would mean something else.
  [[nodiscard]] bool alters(const WalkPolicy& before) const {
    const auto measures = [](const Amounts& amounts) {
      std::set<std::string> names;
      for (const auto& [measure, units] : amounts) names.insert(measure);
      return names;
    };
    const bool unit = row_unit != before.row_unit || (!row_unit && max_rows != before.max_rows) ||
                      replace_one != before.replace_one || multiline != before.multiline ||
                      rows_exact != before.rows_exact;
    const bool measure =
        measures(budget) != measures(before.budget) || renew != before.renew ||
        (lifetime && (!before.lifetime || measures(*lifetime) != measures(*before.lifetime)));
    const bool block =
        blocks != before.blocks || (blocks && areas != before.areas) ||
        (before.blocks && (null_dash != before.null_dash || zone_missing != before.zone_missing ||
                           zones_are_texts != before.zones_are_texts));
    return unit || measure || block;
  }
  /// Whether everything that a plan is made of is the same.
  [[nodiscard]] bool plans_as(const WalkPolicy& other) const {
    return row_unit == other.row_unit && max_rows == other.max_rows && replace_one == other.replace_one &&
           rows_max == other.rows_max && rows_exact == other.rows_exact && multiline == other.multiline &&
           null_dash == other.null_dash && zones_are_texts == other.zones_are_texts &&
           zone_missing == other.zone_missing && age_upper == other.age_upper &&
           age_missing == other.age_missing && age_type == other.age_type && mechanism == other.mechanism &&
           score_sensitivity == other.score_sensitivity && counts_delta() == other.counts_delta() &&
           per_release == other.per_release;  // from which the delta of a request of rho follows
  }

  [[nodiscard]] std::string yaml() const;
};

inline std::string cap_yaml(const Amounts& cap) {
  std::string text;
  std::string orders;
  for (const auto& [measure, units] : cap) {
    const std::string amount = decimal(units, unit_of(measure));
    if (measure.starts_with("rdp")) {
      orders += (orders.empty() ? "" : ", ") + measure.substr(4, measure.size() - 5) + ": " + amount;
    } else {
      text += (text.empty() ? "" : ", ") + measure + ": " + amount;
    }
  }
  if (!orders.empty()) text += (text.empty() ? "orders: {" : ", orders: {") + orders + "}";
  return "{" + text + "}";
}

inline std::string WalkPolicy::yaml() const {
  const auto list = [](const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return "[" + text + "]";
  };
  std::string text = "# " + std::to_string(revision) + "\nversion: 1\nprincipals:\n";
  for (const std::string& who : declared)
    text += "  " + who + ": {" + (roles().contains(who) ? "roles: [" + roles().at(who) + "]" : "") + "}\n";
  text += "datasets:\n  clinic:\n    source: {csv: visits.csv" +
          std::string(multiline ? ", multiline: true" : "") + (null_dash ? ", 'null': ['-']" : "") + "}\n";
  text += row_unit ? "    unit: row\n"
                   : "    unit: {id: patient_id, max_rows: " + std::to_string(max_rows) + "}\n";
  text += rows_exact ? "    rows: {exact: 6}\n" : "    rows: {max: " + std::to_string(rows_max) + "}\n";
  text += std::string("    neighbours: ") + (replace_one ? "replace-one" : "add-remove") + "\n";
  text += "    budget: {" + budget_yaml(budget) + (renew.empty() ? "" : ", renew: " + renew) +
          (!renew.empty() && !lifetime ? ", accept_unbounded_lifetime: true" : "") + "}\n";
  if (lifetime) text += "    lifetime: {" + budget_yaml(*lifetime) + "}\n";
  if (blocks) text += std::string("    blocks: {by: ") + (areas ? "area" : "zone") + "}\n";
  text += "    columns:\n      age: {type: " + age_type + (age_type == "decimal" ? ", scale: 1" : "") +
          ", bounds: [0, " + std::to_string(age_upper) + "]" +
          (age_missing > 0 ? ", missing: " + std::to_string(age_missing) : "") +
          "}\n      ward: {type: string, values: [A, B, C]}\n      zone: {type: " +
          (zones_are_texts ? "string, values: ['1', '2', '3']" : "int, bounds: [0, 9], values: [1, 2, 3]") +
          (zone_missing > 0 && !zones_are_texts ? ", missing: " + std::to_string(zone_missing) : "") +
          "}\n      area: {from: zone, map: {1: out, 2: '[in)', 3: out}}\n";
  if (!limits.empty()) text += "    limits:\n";
  for (const LimitPlan& limit : limits) {
    text += "      - {" +
            (limit.name.empty() ? "each: " + limit.subject : limit.subject + ": " + limit.name) + ", " +
            budget_yaml(limit.budget) + "}\n";
  }
  if (!per_release.empty()) text += "    per_release: " + cap_yaml(per_release) + "\n";
  if (wanted_approvals() > 0) {
    const std::set<std::string> named = named_approvers();
    text += "    approvals: {required: " + std::to_string(wanted_approvals()) + ", by: {" +
            (named.empty() ? "" : "principals: " + list(named)) +
            (role_approves() ? std::string(named.empty() ? "" : ", ") + "roles: [custodian]" : "") + "}" +
            (above.empty() ? "" : ", above: " + cap_yaml(above)) + ", expires: 2d}\n";
  }
  text += "    reservations: {expires: " + expires + "}\n";
  if (purposes) text += "    purposes: [planning, quality]\n";
  if (counts_only) text += "    allow: {statistics: [count]}\n";
  if (forbids_bob && declared.contains("bob")) text += "    forbid: [{principals: [bob]}]\n";
  return text +
         "    queries:\n      score: {bounds: [0, 8], sensitivity: " + std::to_string(score_sensitivity) +
         "}\n      normal: {bounds: [0, 8], sensitivity: 1}\n    release:\n      default: {mechanism: " +
         mechanism +
         "}\n      score: {mechanism: discrete_laplace, grid: 1}\n"
         "      normal: {mechanism: discrete_gaussian, grid: 1}\n";
}

}  // namespace epsilog::test
