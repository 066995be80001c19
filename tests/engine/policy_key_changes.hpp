// For every key that a policy may have, one way in which it can be written otherwise.
#pragma once

#include "epsilog/engine/checked_policy.hpp"
#include "file_text.hpp"
#include "policy_text.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

inline const std::string kEveryKey = file_text(EPSILOG_SOURCE_DIR "/tests/engine/every_key.yaml");

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
