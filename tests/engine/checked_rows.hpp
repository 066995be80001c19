// Rows of a table that are checked one by one. Their first cell says which test reads them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/case_table.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// Returns the rows of a table whose first cell is `kind`.
/// Ensures  There is at least one row.
inline std::vector<CaseRow> rows_of(const std::string& path, const std::string& kind) {
  std::vector<CaseRow> rows = case_table(path);
  std::erase_if(rows, [&](const CaseRow& row) { return row.at(0) != kind; });
  INFO(path << " " << kind);
  REQUIRE_FALSE(rows.empty());
  return rows;
}

using RowText = std::function<std::string(const CaseRow&)>;

/// Checks that the text found for each row of `kind` is its last cell.
inline void check_rows(const std::string& path, const std::string& kind, const RowText& found) {
  for (const CaseRow& row : rows_of(path, kind)) {
    CAPTURE(row);
    CHECK(found(row) == row.back());
  }
}

/// Checks that the text found for each row of `kind` has its last cell in it. For a last cell "" the text
/// found must be "".
inline void check_parts(const std::string& path, const std::string& kind, const RowText& found) {
  for (const CaseRow& row : rows_of(path, kind)) {
    CAPTURE(row);
    if (row.back().empty()) {
      CHECK(found(row) == "");
    } else {
      CHECK_THAT(found(row), says(row.back()));
    }
  }
}

/// Returns the texts as a last cell has them: parted by " | ".
inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " | ") + text;
  return all;
}

}  // namespace epsilog::test
