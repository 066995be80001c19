// Lists of texts that stand in a file, one a line.
#pragma once

#include <string>
#include <vector>

#include "support/case_table.hpp"

namespace epsilog::test {

/// Returns the first cell of each row of a table.
inline std::vector<std::string> first_cells(const std::string& path) {
  std::vector<std::string> cells;
  for (const CaseRow& row : case_table(path)) cells.push_back(row.at(0));
  return cells;
}

}  // namespace epsilog::test
