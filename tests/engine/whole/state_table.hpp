// The tables of docs/states, the words that docs/states.md explains, and what a test finds in their place.
#pragma once

#include "support/catch.hpp"

namespace epsilog::test {

/// A table of words. Rows and columns are in order, and every row has a word for every column.
struct StateTable {
  std::vector<std::string> columns;
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;

  [[nodiscard]] std::size_t cells() const { return columns.size() * rows.size(); }
  /// As a file of docs/states has it.
  [[nodiscard]] std::string tab_separated(const std::string& corner) const {
    std::string text = corner;
    for (const std::string& column : columns) text += "\t" + column;
    for (const auto& [name, words] : rows) {
      text += "\n" + name;
      for (const std::string& word : words) text += "\t" + word;
    }
    return text + "\n";
  }
};

inline std::vector<std::string> table_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
  return cells;
}

/// The table of the file `name`.tsv in docs/states.
inline StateTable state_table(const std::string& name) {
  std::ifstream in(EPSILOG_SOURCE_DIR "/docs/states/" + name + ".tsv");
  REQUIRE(in.good());
  StateTable table;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells = table_cells(line);
    const std::string row = cells.at(0);
    cells.erase(cells.begin());
    if (table.columns.empty()) {
      table.columns = cells;
      continue;
    }
    CAPTURE(name, row);
    REQUIRE(cells.size() == table.columns.size());
    table.rows.emplace_back(row, cells);
  }
  return table;
}

/// docs/states.md explains the words that the cells have, and no other, and says how many cells there are.
inline void require_explained(const std::vector<std::string>& tables) {
  std::ifstream in(EPSILOG_SOURCE_DIR "/docs/states.md");
  REQUIRE(in.good());
  std::string page;
  std::set<std::string> explained;
  for (std::string line; std::getline(in, line);) {
    page += line + "\n";
    if (line.starts_with("| `")) explained.insert(line.substr(3, line.find('`', 3) - 3));
  }
  std::set<std::string> used;
  std::size_t cells = 0;
  for (const std::string& name : tables) {
    const StateTable table = state_table(name);
    cells += table.cells();
    for (const auto& [row, words] : table.rows) used.insert(words.begin(), words.end());
  }
  CHECK(used == explained);
  const std::string count = "**" + std::to_string(cells) + " cells**";
  CAPTURE(count);
  CHECK(page.find(count) != std::string::npos);
}

/// Cell by cell. Where any differs, the table as it was found is kept in a file.
inline void require_as_found(const std::string& name, const StateTable& found, const std::string& corner) {
  const StateTable page = state_table(name);
  bool same = page.columns == found.columns && page.rows.size() == found.rows.size();
  CHECK(page.columns == found.columns);
  CHECK(page.rows.size() == found.rows.size());
  for (std::size_t i = 0; i < std::min(page.rows.size(), found.rows.size()); ++i) {
    const auto& [row, words] = found.rows[i];
    const auto& [written_row, written] = page.rows[i];
    CHECK(written_row == row);
    same = same && written_row == row && written == words;
    if (page.columns != found.columns) continue;
    for (std::size_t column = 0; column < words.size(); ++column) {
      if (written[column] == words[column]) continue;
      FAIL_CHECK("\"" << row << "\" in \"" << found.columns[column] << "\": the table says "
                      << written[column] << ", and it " << words[column]);
    }
  }
  if (same) return;
  // A report of Catch breaks its lines.
  const std::string kept = std::filesystem::temp_directory_path() / (name + ".tsv");
  std::ofstream(kept) << found.tab_separated(corner);
  FAIL_CHECK("the table as it was found stands in " << kept);
}

}  // namespace epsilog::test
