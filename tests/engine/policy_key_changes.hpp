// For every key that a policy may have, one way in which it can be written otherwise.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "epsilog/engine/checked_policy.hpp"
#include "policy_text.hpp"
#include "support/case_table.hpp"
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

/// By "definition.key".
inline const std::map<std::string, KeyChange>& key_changes() {
  static const std::map<std::string, KeyChange> kChanges = [] {
    std::map<std::string, KeyChange> changes;
    for (CaseRow row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/policy_key_changes.tsv")) {
      row.resize(5);
      changes[row[0]] = {row[1], row[2], row[3], row[4]};
    }
    return changes;
  }();
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
