// Values computed elsewhere (tests/reference/*.py), read from their CSV.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::testing {

using ReferenceRow = std::map<std::string, std::string>;

/// Requires  a header line; no quotes in the file.
inline std::vector<ReferenceRow> reference_table(const std::string& path) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> result;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) result.push_back(cell);
    return result;
  };
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error("no reference values in " + path);
  const std::vector<std::string> header = cells(line);
  std::vector<ReferenceRow> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> values = cells(line);
    if (values.size() != header.size()) throw std::runtime_error("torn line in " + path);
    ReferenceRow row;
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = values[i];
    rows.push_back(row);
  }
  return rows;
}

/// The number, whatever its exponent: policies may not say 1e-4189, a probability can.
inline accounting::Rational reference_value(const std::string& text) {
  const std::size_t e = text.find('e');
  const accounting::Rational digits = accounting::parse_rational(text.substr(0, e), "reference value");
  if (e == std::string::npos) return digits;
  return digits * accounting::power_of_ten(std::stol(text.substr(e + 1)));
}

/// Is value in (expected, expected * (1 + relative)] or, for a negative `relative`, on the other side? The
/// expected value itself is allowed an error of 10^-44 of it, half a unit of its last printed digit.
inline bool just_beyond(const accounting::Rational& value, const accounting::Rational& expected,
                        const accounting::Rational& relative) {
  const accounting::Rational slack = expected * accounting::power_of_ten(-44);
  const accounting::Rational end = expected * (1 + relative);
  return relative > 0 ? value >= expected - slack && value <= end + slack
                      : value <= expected + slack && value >= end - slack;
}

}  // namespace epsilog::testing
