#include "cli/csv_table.hpp"

#include <stdexcept>

namespace epsilog::test {
namespace {

std::vector<std::vector<std::string>> records(std::string_view text) {
  std::vector<std::vector<std::string>> result;
  std::size_t at = 0;
  while (at < text.size()) {
    std::vector<std::string> cells(1);
    bool at_start = true;
    for (;; ++at) {
      if (at == text.size()) throw std::runtime_error("the last line has no end");
      const char c = text[at];
      if (c == '\n') break;
      if (c == ',') {
        cells.emplace_back();
        at_start = true;
        continue;
      }
      if (c != '"') {
        if (c == '\r') throw std::runtime_error("a bare carriage return");
        cells.back() += c;
        at_start = false;
        continue;
      }
      if (!at_start) throw std::runtime_error("a quote inside of a cell");
      for (++at;; ++at) {
        if (at == text.size()) throw std::runtime_error("a quote without end");
        if (text[at] != '"') {
          cells.back() += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          cells.back() += text[at++];
        } else {
          break;
        }
      }
      if (at + 1 == text.size() || (text[at + 1] != ',' && text[at + 1] != '\n')) {
        throw std::runtime_error("text after a closing quote");
      }
    }
    ++at;
    result.push_back(std::move(cells));
  }
  return result;
}

}  // namespace

CsvTable CsvTable::read(std::string_view text) {
  CsvTable table;
  for (const auto& cells : records(text)) {
    if (table.header.empty()) {
      table.header = cells;
      continue;
    }
    if (cells.size() != table.header.size()) throw std::runtime_error("a row of another length");
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < cells.size(); ++i) row[table.header[i]] = cells[i];
    if (row.size() != cells.size()) throw std::runtime_error("a column twice");
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace epsilog::test
