// Small policies for the tests of the policy layer.
#pragma once

#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::test {

/// The parts of a dataset that each test varies; "" leaves the key out.
struct PolicyText {
  std::string source = "{csv: visits.csv}";
  std::string unit = "{id: patient_id, max_rows: 3}";
  std::string rows = "{max: 1000}";
  std::string neighbours = "add-remove";
  std::string budget = "{epsilon: 3}";
  std::string columns = "{age: {type: int, bounds: [0, 110]}, ward: {type: string, values: [A, B]}}";
  std::string more = {};        ///< further keys of the dataset, "mean_split: 1/3"
  std::string principals = {};  ///< at the top, "{alice: {}}"

  [[nodiscard]] std::string yaml() const {
    std::string text = "version: 1\n";
    if (!principals.empty()) text += "principals: " + principals + "\n";
    text += "datasets:\n  clinic:\n";
    const auto add = [&](const std::string& key, const std::string& value) {
      if (!value.empty()) text += "    " + key + ": " + value + "\n";
    };
    add("source", source);
    add("unit", unit);
    add("rows", rows);
    add("neighbours", neighbours);
    add("budget", budget);
    add("columns", columns);
    if (!more.empty()) text += "    " + more + "\n";
    return text;
  }

  /// Throws  PolicyError.
  [[nodiscard]] engine::Dataset dataset() const {
    return engine::checked_policy(yaml(), "p.yaml").dataset("clinic");
  }
};

/// "LINE:COLUMN: message" of every fault; empty when the policy is accepted.
[[nodiscard]] inline std::vector<std::string> faults_of(const std::string& yaml) {
  std::vector<std::string> texts;
  try {
    static_cast<void>(engine::checked_policy(yaml, "p.yaml"));
  } catch (const PolicyError& error) {
    for (const PolicyFault& fault : error.faults())
      texts.push_back(fault.text().substr(std::string("p.yaml:").size()));
  }
  return texts;
}
[[nodiscard]] inline std::vector<std::string> faults_of(const PolicyText& text) {
  return faults_of(text.yaml());
}

}  // namespace epsilog::test
