// Tables of test cases, kept in files beside the tests that read them.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::test {

/// Returns the words of a text, which blanks part.
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Returns the text of a cell: \n, \r, \t and \\ are written as in C++, other bytes as \xHH, and "" is no
/// text.
inline std::string cell_text(std::string_view cell) {
  if (cell == "\"\"") return {};
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\') {
      text += cell[i];
      continue;
    }
    const char escape = ++i < cell.size() ? cell[i] : '\0';
    const std::size_t named = std::string_view("nrt\\").find(escape);
    if (named != std::string_view::npos) {
      text += "\n\r\t\\"[named];
    } else if (escape == 'x' && i + 2 < cell.size()) {
      text += static_cast<char>(std::stoi(std::string(cell.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      throw std::runtime_error("no escape: " + std::string(cell));
    }
  }
  return text;
}

/// Returns the bytes of a file, "" where there is none.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using CaseRow = std::vector<std::string>;

/// Reads the rows of a table whose cells tabs part. A line that begins with "# " is a comment.
/// Ensures   There is at least one row.
/// Throws    std::runtime_error without the file, without a row, or for an escape that is none.
inline std::vector<CaseRow> case_table(const std::string& path) {
  std::ifstream in(path);
  std::vector<CaseRow> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) continue;
    CaseRow& row = rows.emplace_back();
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = line.find('\t', begin);
      row.push_back(cell_text(std::string_view(line).substr(begin, end - begin)));
    }
  }
  if (rows.empty()) throw std::runtime_error("no rows in " + path);
  return rows;
}

}  // namespace epsilog::test
