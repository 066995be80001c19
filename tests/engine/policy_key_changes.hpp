// For every key that a policy may have, one way in which it can be written otherwise.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "epsilog/engine/checked_policy.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

inline const std::string kEveryKey =
    "version: 1\n"
    "principals:\n"
    "  alice: {roles: [research], purposes: [planning]}\n"
    "  carol: {roles: [custodian]}\n"
    "  dave: {roles: [custodian]}\n"
    "  erin: {duties: [operate]}\n"
    "replica: {file: /mnt/second/clinic.replica, sync: none}\n"
    "checkpoint: {key: /mnt/second/clinic.key, file: /mnt/second/clinic.checkpoints, every: 1h}\n"
    "datasets:\n"
    "  clinic:\n"
    "    source: {csv: visits.csv, delimiter: ';', decimal: '.', null: [NA], multiline: false}\n"
    "    unit: {id: patient_id, max_rows: 3}\n"
    "    rows: {max: 1000}\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 3, delta: 1e-6}\n"
    "    lifetime: {epsilon: 9, delta: 1e-6}\n"
    "    blocks: {by: visit_date, per: month, from: 2024-01, to: 2024-03}\n"
    "    limits: [{each: principal, epsilon: 1}, {role: research, epsilon: 2}, {purpose: planning, epsilon: "
    "1}]\n"
    "    per_release: {epsilon: 0.5}\n"
    "    columns:\n"
    "      visit_date: {type: date}\n"
    "      other_date: {type: date}\n"
    "      age: {type: int, bounds: [0, 110], missing: 0}\n"
    "      cost: {type: decimal, scale: 2, bounds: [0, 5000], missing: 0}\n"
    "      ward: {type: string, values: [A, B]}\n"
    "      age_band: {from: age, bins: [0, 18, 111]}\n"
    "      month: {from: visit_date, per: month, first: 2024-01, last: 2024-12}\n"
    "      site: {from: ward, map: {A: east, B: west}, other: none}\n"
    "    queries: {auc: {bounds: [0, 1], sensitivity: 0.01, undefined: 0.5, supplied_by: [alice, carol]}}\n"
    "    purposes: [planning, quality]\n"
    "    allow: {statistics: [count, sum, value, quantile], columns: [age], by: [ward], where: [age], "
    "principals: "
    "[alice], "
    "roles: [research]}\n"
    "    forbid: [{principals: [carol], roles: [custodian], purposes: [planning], statistics: [sum], "
    "columns: "
    "[cost], by: [ward], where: [age]}]\n"
    "    approvals: {required: 1, by: {principals: [carol], roles: [custodian]}, above: {epsilon: 0.1}, "
    "expires: 3d}\n"
    "    reservations: {expires: 2h}\n"
    "    release: {default: {precision: 256, bound: 1000}, sum: {mechanism: discrete_laplace, grid: 1}, "
    "quantile: {mechanism: exponential}}\n"
    "    mean_split: 1/3\n";

/// The only occurrence of `from` replaced.
inline std::string only_replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  const std::size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(from, at + 1) == std::string::npos);
  return text.replace(at, from.size(), to);
}

/// How a key is written otherwise in kEveryKey.
struct KeyChange {
  std::string from;
  std::string to;
  /// What is written otherwise in both policies, for keys that exclude others.
  std::string base_from = {};
  std::string base_to = {};
};

inline const std::string kBudget = "    budget: {epsilon: 3, delta: 1e-6}";
inline const std::string kLifetime = "lifetime: {epsilon: 9, delta: 1e-6}";
inline const std::string kLimit = "{role: research, epsilon: 2}";
inline const std::string kBlocks = "    blocks: {by: visit_date, per: month, from: 2024-01, to: 2024-03}\n";
inline const std::string kSource =
    "{csv: visits.csv, delimiter: ';', decimal: '.', null: [NA], multiline: false}";
inline const std::string kDiscrete = "{mechanism: discrete_laplace, grid: 1}";

/// By "definition.key".
inline const std::map<std::string, KeyChange>& key_changes() {
  static const std::map<std::string, KeyChange> kChanges = {
      {".principals", {"  dave: {roles: [custodian]}\n", ""}},
      {".replica", {"replica: {file: /mnt/second/clinic.replica, sync: none}\n", ""}},
      {"replica.file", {"/mnt/second/clinic.replica", "/mnt/third/clinic.replica"}},
      {"replica.sync", {", sync: none", ""}},
      {".checkpoint",
       {"checkpoint: {key: /mnt/second/clinic.key, file: /mnt/second/clinic.checkpoints, every: 1h}\n", ""}},
      {"checkpoint.key", {"/mnt/second/clinic.key", "/mnt/second/other.key"}},
      {"checkpoint.file", {"/mnt/second/clinic.checkpoints", "/mnt/third/clinic.checkpoints"}},
      {"checkpoint.every", {"every: 1h", "every: 2h"}},
      {".datasets",
       {"    mean_split: 1/3\n",
        "    mean_split: 1/3\n"
        "  second: {unit: row, neighbours: add-remove, budget: {epsilon: 1}}\n"}},
      {"principal.roles", {"  dave: {roles: [custodian]}", "  dave: {}"}},
      {"principal.purposes", {"purposes: [planning]}\n", "purposes: [planning, quality]}\n"}},
      {"principal.duties", {"duties: [operate]", "duties: [operate, curate]"}},
      {"dataset.source", {"    source: " + kSource + "\n", "", kBlocks, ""}},
      {"dataset.unit", {"{id: patient_id, max_rows: 3}", "row"}},
      {"dataset.rows", {"{max: 1000}", "{max: 2000}"}},
      {"dataset.neighbours", {"add-remove", "replace-one"}},
      {"dataset.budget", {"budget: {epsilon: 3,", "budget: {epsilon: 4,"}},
      {"dataset.lifetime", {kLifetime, "lifetime: {epsilon: 10}"}},
      {"dataset.blocks", {kBlocks, ""}},
      {"dataset.limits", {", {purpose: planning, epsilon: 1}]", "]"}},
      {"dataset.per_release", {"    per_release: {epsilon: 0.5}\n", ""}},
      {"dataset.columns", {"      other_date: {type: date}\n", ""}},
      {"dataset.queries",
       {"    queries: {auc: {bounds: [0, 1], sensitivity: 0.01, undefined: 0.5, supplied_by: [alice, "
        "carol]}}\n",
        ""}},
      {"dataset.purposes", {"purposes: [planning, quality]", "purposes: [planning, quality, teaching]"}},
      {"dataset.allow", {"allow: {statistics: [count, sum, value, quantile], ", "allow: {"}},
      {"dataset.forbid",
       {"[{principals: [carol], roles: [custodian], purposes: [planning], statistics: [sum], "
        "columns: [cost], by: [ward], where: [age]}]",
        "[]"}},
      {"dataset.approvals",
       {"    approvals: {required: 1, by: {principals: [carol], roles: [custodian]}, "
        "above: {epsilon: 0.1}, expires: 3d}\n",
        ""}},
      {"dataset.reservations", {"    reservations: {expires: 2h}\n", ""}},
      {"dataset.release", {", sum: " + kDiscrete, ""}},
      {"dataset.mean_split", {"1/3", "1/4"}},
      {"csv_source.csv", {"visits.csv", "other.csv"}},
      {"csv_source.delimiter", {"delimiter: ';'", "delimiter: '|'"}},
      {"csv_source.decimal", {"decimal: '.'", "decimal: ','"}},
      {"csv_source.null", {"null: [NA]", "null: [NA, '-']"}},
      {"csv_source.thousands", {"decimal: '.',", "decimal: '.', thousands: \"'\","}},
      {"csv_source.encoding", {"multiline: false", "multiline: false, encoding: latin-1"}},
      {"csv_source.date_format", {"multiline: false", "multiline: false, date_format: DD.MM.YYYY"}},
      {"csv_source.multiline", {"multiline: false", "multiline: true"}},
      {"sqlite_source.sqlite", {"visits.db", "other.db", kSource, "{sqlite: visits.db, table: visits}"}},
      {"sqlite_source.table",
       {"table: visits", "table: other", kSource, "{sqlite: visits.db, table: visits}"}},
      {"unit.id", {"id: patient_id", "id: visit_id"}},
      {"unit.max_rows", {"max_rows: 3", "max_rows: 4"}},
      {"rows.max", {"{max: 1000}", "{max: 1001}"}},
      {"rows.exact",
       {"{exact: 1000}", "{exact: 1001}",
        "    rows: {max: 1000}\n    neighbours: add-remove\n" + kBudget + "\n    " + kLifetime + "\n" +
            kBlocks,
        "    rows: {exact: 1000}\n    neighbours: replace-one\n" + kBudget + "\n"}},
      {"budget.epsilon", {"budget: {epsilon: 3,", "budget: {epsilon: 2,"}},
      {"budget.delta", {kBudget, "    budget: {epsilon: 3, delta: 1e-7}"}},
      {"budget.measure", {kBudget, "    budget: {measure: zcdp, epsilon: 3, delta: 1e-6}"}},
      {"budget.rho", {"rho: 0.5", "rho: 0.25", kBudget, "    budget: {measure: zcdp, rho: 0.5}"}},
      {"budget.orders", {"8: 1.5", "8: 1.25", kBudget, "    budget: {measure: rdp, orders: {8: 1.5}}"}},
      {"budget.order",
       {"order: 8", "order: 16", kBudget, "    budget: {measure: rdp, order: 8, epsilon: 3, delta: 1e-6}"}},
      {"budget.renew",
       {"renew: month", "renew: day", kBudget + "\n    " + kLifetime + "\n" + kBlocks,
        "    budget: {epsilon: 3, renew: month}\n    lifetime: {epsilon: 9}\n"}},
      {"budget.accept_unbounded_lifetime",
       {", accept_unbounded_lifetime: true}\n", "}\n    lifetime: {epsilon: 9}\n",
        kBudget + "\n    " + kLifetime + "\n" + kBlocks,
        "    budget: {epsilon: 3, renew: month, accept_unbounded_lifetime: true}\n"}},
      {"lifetime.epsilon", {"lifetime: {epsilon: 9,", "lifetime: {epsilon: 8,"}},
      {"lifetime.delta", {kLifetime, "lifetime: {epsilon: 9, delta: 1e-7}"}},
      {"lifetime.measure", {kLifetime, "lifetime: {measure: zcdp, epsilon: 9, delta: 1e-6}"}},
      {"lifetime.rho", {"rho: 0.5", "rho: 0.25", kLifetime, "lifetime: {measure: zcdp, rho: 0.5}"}},
      {"lifetime.orders", {"8: 1.5", "4: 1.5", kLifetime, "lifetime: {measure: rdp, orders: {8: 1.5}}"}},
      {"lifetime.order",
       {"order: 8", "order: 16", kLifetime, "lifetime: {measure: rdp, order: 8, epsilon: 3, delta: 1e-6}"}},
      {"limit.each", {"each: principal", "each: role"}},
      {"limit.principal", {"principal: carol", "principal: dave", kLimit, "{principal: carol, epsilon: 2}"}},
      {"limit.role", {kLimit, "{role: custodian, epsilon: 2}"}},
      {"limit.purpose", {"{purpose: planning,", "{purpose: quality,"}},
      {"limit.epsilon", {kLimit, "{role: research, epsilon: 3}"}},
      {"limit.delta", {kLimit, "{role: research, epsilon: 2, delta: 1e-9}"}},
      {"limit.measure", {kLimit, "{role: research, measure: zcdp, epsilon: 2, delta: 1e-9}"}},
      {"limit.rho", {"rho: 0.5", "rho: 0.25", kLimit, "{role: research, measure: zcdp, rho: 0.5}"}},
      {"limit.orders", {"8: 1.5", "8: 2", kLimit, "{role: research, measure: rdp, orders: {8: 1.5}}"}},
      {"limit.order",
       {"order: 8", "order: 16", kLimit,
        "{role: research, measure: rdp, order: 8, epsilon: 3, delta: 1e-6}"}},
      {"blocks.by", {"by: visit_date", "by: other_date"}},
      {"blocks.per", {kBlocks, "    blocks: {by: visit_date, per: quarter, from: 2024-Q1, to: 2024-Q1}\n"}},
      {"blocks.from", {"from: 2024-01", "from: 2024-02"}},
      {"blocks.to", {"to: 2024-03", "to: 2024-04"}},
      {"per_release.epsilon", {"per_release: {epsilon: 0.5}", "per_release: {epsilon: 0.6}"}},
      {"per_release.delta", {"per_release: {epsilon: 0.5}", "per_release: {epsilon: 0.5, delta: 1e-7}"}},
      {"per_release.rho", {"per_release: {epsilon: 0.5}", "per_release: {epsilon: 0.5, rho: 0.1}"}},
      {"per_release.orders",
       {"per_release: {epsilon: 0.5}", "per_release: {epsilon: 0.5, orders: {8: 0.5}}"}},
      {"column.type", {"cost: {type: decimal, scale: 2,", "cost: {type: double,"}},
      {"column.column", {"ward: {type: string,", "ward: {column: visit_id, type: string,"}},
      {"column.scale", {"scale: 2", "scale: 3"}},
      {"column.bounds", {"bounds: [0, 5000]", "bounds: [0, 6000]"}},
      {"column.values", {"values: [A, B]", "values: [A, B, C]"}},
      {"column.step", {"[0, 110], missing: 0}", "[0, 110], step: 2, missing: 0}"}},
      {"column.missing", {"[0, 110], missing: 0}", "[0, 110]}"}},
      {"derived_column.from", {"month: {from: visit_date", "month: {from: other_date"}},
      {"derived_column.bins", {"bins: [0, 18, 111]", "bins: [0, 40, 111]"}},
      {"derived_column.per",
       {"per: month, first: 2024-01, last: 2024-12}", "per: quarter, first: 2024-Q1, last: 2024-Q4}"}},
      {"derived_column.first", {"first: 2024-01", "first: 2024-02"}},
      {"derived_column.last", {"last: 2024-12", "last: 2025-12"}},
      {"derived_column.map", {"map: {A: east", "map: {A: north"}},
      {"derived_column.other", {", other: none", ""}},
      {"query.bounds", {"auc: {bounds: [0, 1]", "auc: {bounds: [0, 2]"}},
      {"query.sensitivity", {"sensitivity: 0.01", "sensitivity: 0.02"}},
      {"query.undefined", {"undefined: 0.5", "undefined: 0"}},
      {"query.supplied_by", {"supplied_by: [alice, carol]", "supplied_by: [carol]"}},
      {"release_settings.mechanism", {kDiscrete, "{mechanism: discrete_gaussian, grid: 1}"}},
      {"release_settings.arithmetic", {"{precision: 256, bound: 1000}", "{arithmetic: exact, bound: 1000}"}},
      {"release_settings.precision", {"precision: 256", "precision: 512"}},
      {"release_settings.bound", {"bound: 1000", "bound: 2000"}},
      {"release_settings.binding_probability", {", bound: 1000", ", binding_probability: 1e-3"}},
      {"release_settings.grid", {"grid: 1}", "grid: 2}"}},
      {"quantile_settings.mechanism", {"{mechanism: exponential}", "{}"}},
      {"allow.statistics", {"statistics: [count, sum, value, quantile]", "statistics: [count]"}},
      {"allow.columns",
       {"allow: {statistics: [count, sum, value, quantile], columns: [age]",
        "allow: {statistics: [count, sum, value, quantile], columns: [age, cost]"}},
      {"allow.by", {"by: [ward], where: [age], principals", "where: [age], principals"}},
      {"allow.where", {"where: [age], principals", "where: [], principals"}},
      {"allow.principals", {"principals: [alice], roles", "principals: [alice, dave], roles"}},
      {"allow.roles", {"principals: [alice], roles: [research]", "principals: [alice]"}},
      {"forbid.principals", {"[{principals: [carol], ", "[{principals: [carol, dave], "}},
      {"forbid.roles", {"roles: [custodian], purposes", "purposes"}},
      {"forbid.purposes", {"purposes: [planning], ", ""}},
      {"forbid.statistics", {"statistics: [sum], ", ""}},
      {"forbid.columns", {"columns: [cost], ", ""}},
      {"forbid.by", {"by: [ward], where: [age]}]", "where: [age]}]"}},
      {"forbid.where", {", where: [age]}]", "}]"}},
      {"approvals.required", {"required: 1", "required: 2"}},
      {"approvals.by", {"by: {principals: [carol], roles: [custodian]}", "by: {roles: [custodian]}"}},
      {"approvals.above", {"above: {epsilon: 0.1}, ", ""}},
      {"approvals.expires", {"expires: 3d", "expires: 1d"}},
      {"approvers.principals", {"by: {principals: [carol], roles", "by: {principals: [carol, dave], roles"}},
      {"approvers.roles", {"by: {principals: [carol], roles: [custodian]}", "by: {principals: [carol]}"}},
      {"above.epsilon", {"above: {epsilon: 0.1}", "above: {epsilon: 0.2}"}},
      {"above.delta", {"above: {epsilon: 0.1}", "above: {epsilon: 0.1, delta: 1e-7}"}},
      {"above.rho", {"above: {epsilon: 0.1}", "above: {epsilon: 0.1, rho: 0.1}"}},
      {"above.orders", {"above: {epsilon: 0.1}", "above: {epsilon: 0.1, orders: {8: 0.5}}"}},
      {"reservations.expires", {"expires: 2h", "expires: 3h"}},
  };
  return kChanges;
}

/// What no two valid policies write differently.
inline const std::set<std::string> kAlwaysTheSame = {".version"};

/// The policies before and after that change, and nothing else.
struct BeforeAndAfter {
  std::string before;
  std::string after;
};
inline BeforeAndAfter before_and_after(const KeyChange& change) {
  const std::string before = only_replaced(kEveryKey, change.base_from, change.base_to);
  return {before, only_replaced(before, change.from, change.to)};
}

/// Requires  it is valid.
inline engine::Policy parsed(const std::string& yaml) {
  CAPTURE(yaml);
  const std::vector<std::string> faults = faults_of(yaml);
  REQUIRE(faults == std::vector<std::string>{});
  return engine::checked_policy(yaml, "p.yaml");
}

}  // namespace epsilog::test
