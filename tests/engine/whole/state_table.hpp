// The tables of docs/states.md, and what a test finds in their place.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace epsilog::test {

/// A table of words. Rows and columns are in order, and every row has a word for every column.
struct StateTable {
  std::vector<std::string> columns;
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;

  [[nodiscard]] std::size_t cells() const { return columns.size() * rows.size(); }
  [[nodiscard]] std::string markdown(const std::string& corner) const {
    std::string text = "| " + corner + " |";
    for (const std::string& column : columns) text += " " + column + " |";
    text += "\n|---|";
    for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
    text += "\n";
    for (const auto& [name, words] : rows) {
      text += "| " + name + " |";
      for (const std::string& word : words) text += " " + word + " |";
      text += "\n";
    }
    return text;
  }
};

/// The page, with its one table under each heading "## …" that has one.
struct StatePage {
  std::string text;
  std::map<std::string, StateTable> tables;
};

/// The cells of "| a | b |", without the backticks of names.
inline std::vector<std::string> table_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    std::erase(cell, '`');
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? ""
                                               : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

inline StatePage state_page(const std::string& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  StatePage page;
  std::string heading;
  for (std::string line; std::getline(in, line);) {
    page.text += line + "\n";
    if (line.starts_with("## ")) heading = line.substr(3);
    if (!line.starts_with("|") || line.starts_with("|--")) continue;
    std::vector<std::string> cells = table_cells(line);
    StateTable& table = page.tables[heading];
    const std::string name = cells.at(0);
    cells.erase(cells.begin());
    if (table.columns.empty()) {
      table.columns = cells;
    } else {
      CAPTURE(heading, name);
      REQUIRE(cells.size() == table.columns.size());
      table.rows.emplace_back(name, cells);
    }
  }
  return page;
}

/// The words of a page are those its table of words explains, each of them is used, and its cells are
/// counted.
inline void require_whole(const StatePage& page, const std::vector<std::string>& of_cells) {
  std::set<std::string> explained;
  for (const auto& [word, meaning] : page.tables.at("Words").rows) explained.insert(word);
  std::set<std::string> used;
  std::size_t cells = 0;
  for (const std::string& heading : of_cells) {
    const StateTable& table = page.tables.at(heading);
    cells += table.cells();
    for (const auto& [name, words] : table.rows) used.insert(words.begin(), words.end());
  }
  CHECK(used == explained);
  const std::string count = "**" + std::to_string(cells) + " cells**";
  CAPTURE(count);
  CHECK(page.text.find(count) != std::string::npos);
}

/// Cell by cell; where any differs, the table as it was found is told as well.
inline void require_as_found(const StateTable& page, const StateTable& found, const std::string& corner) {
  bool same = page.columns == found.columns && page.rows.size() == found.rows.size();
  CHECK(page.columns == found.columns);
  CHECK(page.rows.size() == found.rows.size());
  for (std::size_t i = 0; i < std::min(page.rows.size(), found.rows.size()); ++i) {
    const auto& [name, words] = found.rows[i];
    const auto& [written_name, written] = page.rows[i];
    CHECK(written_name == name);
    same = same && written_name == name && written == words;
    if (page.columns != found.columns) continue;
    for (std::size_t column = 0; column < words.size(); ++column) {
      if (written[column] == words[column]) continue;
      FAIL_CHECK("\"" << name << "\" in \"" << found.columns[column] << "\": the page says "
                      << written[column] << ", and it " << words[column]);
    }
  }
  if (!same) FAIL_CHECK("the table as it was found:\n" << found.markdown(corner));
}

}  // namespace epsilog::test
