// A CSV table as the command prints it, read back by rules of its own: RFC 4180, strictly.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::test {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string>> rows;  ///< by column

  /// Throws  std::runtime_error unless every record has as many cells as the header, every quote is in its
  ///         place and the last line ends.
  static CsvTable read(std::string_view text);
  [[nodiscard]] const std::string& at(std::size_t row, const std::string& column) const {
    return rows.at(row).at(column);
  }
};

}  // namespace epsilog::test
