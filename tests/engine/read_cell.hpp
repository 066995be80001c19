// What is read of a cell, by the columns of a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "column_cell.hpp"
#include "epsilog/engine/policy.hpp"
#include "support/case_table.hpp"

namespace epsilog::test {

/// Returns the number that a cell is read as, "-" for none. Behind the row's kind stand type, decimal point,
/// thousands, date format, scale and the cell.
inline std::string cell_read(const CaseRow& row) {
  const auto called = [](const auto& all, const std::string& word) {
    return *std::find_if(all.begin(), all.end(), [&](auto one) { return name(one) == word; });
  };
  constexpr std::array kTypes = {engine::ColumnType::integer, engine::ColumnType::decimal,
                                 engine::ColumnType::real, engine::ColumnType::boolean,
                                 engine::ColumnType::date};
  const engine::ColumnType type = called(kTypes, row.at(1));
  const engine::CellDialect dialect{row.at(2).at(0), row.at(3), called(engine::kDateFormats, row.at(4))};
  const auto scale = static_cast<unsigned>(std::stoul(row.at(5)));
  const engine::Cell cell = engine::CellReader(type, scale, dialect).read({row.at(6), false});
  if (cell.missing) return "-";
  if (type != engine::ColumnType::real) return std::to_string(static_cast<long>(cell.fixed));
  char number[32];
  std::snprintf(number, sizeof number, "%.17g", cell.real);
  return number;
}

}  // namespace epsilog::test
