// Reference values kept as CSV in tests/reference, one script beside each table that computes it.
#pragma once

#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::test {

/// One line of a table, by column name.
class ReferenceRow final {
 public:
  explicit ReferenceRow(std::map<std::string, std::string> cells) : cells_(std::move(cells)) {}

  [[nodiscard]] const std::string& text(const std::string& column) const { return cells_.at(column); }
  [[nodiscard]] accounting::Rational number(const std::string& column) const {
    return accounting::parse_rational(text(column), column);
  }

 private:
  std::map<std::string, std::string> cells_;
};

/// Reads tests/reference/<name>. No cell of these tables is quoted.
/// Throws  std::runtime_error if it is missing, empty or ragged: a test without rows would test nothing.
inline std::vector<ReferenceRow> reference_table(const std::string& name) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> result;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) result.push_back(cell);
    return result;
  };
  std::ifstream file(std::string(EPSILOG_SOURCE_DIR) + "/tests/reference/" + name);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = cells(line);
  std::vector<ReferenceRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = cells(line);
    if (values.size() != header.size()) throw std::runtime_error(name + ": ragged line: " + line);
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = values[i];
    rows.emplace_back(std::move(row));
  }
  if (rows.empty()) throw std::runtime_error(name + ": no rows");
  return rows;
}

}  // namespace epsilog::test
