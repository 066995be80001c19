// Figures of tests/reference/composition.csv, and what "an upper bound within the tolerance" means.
#pragma once

#include "epsilog/accounting/optimal_composition.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

using accounting::Rational;

inline Rational number(const std::string& text) {
  return accounting::parse_rational(text, "number");
}

/// At least the published number but for the rounding of its last digit, and at most `tolerance` above it.
inline bool is_just_above(const Rational& bound, const std::string& published, const char* tolerance) {
  const Rational value = number(published);
  return bound >= value * (1 - Rational(1, 1'000'000'000'000'000)) && bound <= value + number(tolerance);
}

/// quantity,groups,given,low,high: groups are "epsilon:delta:count" joined by blanks, and the true value lies
/// between low and high.
struct CompositionRow {
  std::string line;
  std::vector<accounting::LossGroup> groups;
  Rational given;
  Rational low;
  Rational high;
};

inline std::vector<CompositionRow> composition_rows(const std::string& quantity) {
  std::ifstream file(std::string(EPSILOG_SOURCE_DIR) + "/tests/reference/composition.csv");
  REQUIRE(file.good());
  std::vector<CompositionRow> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::vector<std::string> fields;
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    if (fields.size() != 5 || fields[0] != quantity) continue;
    CompositionRow row{line, {}, number(fields[2]), number(fields[3]), number(fields[4])};
    std::istringstream groups(fields[1]);
    for (std::string group; groups >> group;) {
      const auto first = group.find(':');
      const auto second = group.find(':', first + 1);
      row.groups.push_back({number(group.substr(0, first)),
                            number(group.substr(first + 1, second - first - 1)),
                            std::stoull(group.substr(second + 1))});
    }
    rows.push_back(std::move(row));
  }
  REQUIRE_FALSE(rows.empty());
  return rows;
}

}  // namespace epsilog::test
