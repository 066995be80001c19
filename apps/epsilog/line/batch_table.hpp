// The table of --batch FILE|-: a CSV whose first line names its columns, read as a stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batch_input.hpp"
#include "console.hpp"
#include "epsilog/engine/csv_records.hpp"

namespace epsilog::command {

class BatchTable final {
 public:
  /// Opens the file and reads its first line. Whatever was written to the console is handed on before more
  /// of the file is waited for.
  /// Throws  SourceError, as BatchInput; UsageError for an empty table, a first line that is no record of
  ///         CSV, and a column that is there twice.
  BatchTable(const std::string& file, Console& console);
  BatchTable(const BatchTable&) = delete;
  BatchTable& operator=(const BatchTable&) = delete;

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// ", " and how a column has to be written that is none of `known`, where that can be told; else "".
  [[nodiscard]] std::string advice_on(std::string_view name, const std::vector<std::string>& known) const;

  /// The next row that is not an empty line; false at the end.
  [[nodiscard]] bool next();
  /// The line of the row, from 2.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// As many cells as there are columns; those that the row lacks are empty.
  [[nodiscard]] std::vector<std::string> cells() const;
  /// Throws  UsageError for a row that is no record of CSV or has another number of cells than the header.
  void check_row() const;

  /// Of a file, unless the rows go to the terminal; else empty.
  [[nodiscard]] accounting::Callback<void(double)> progress(const std::string& label);
  [[nodiscard]] double fraction_read() const noexcept { return input_.fraction_read(); }

 private:
  Console& console_;
  BatchInput input_;
  engine::CsvRecords records_;
  std::string begins_;  ///< the first bytes
  std::vector<std::string> names_;
  std::size_t line_ = 1;
};

/// Cells of the table that was read, so that they cannot steer the terminal the written one is shown on.
void make_printable(std::vector<std::string>& cells);

}  // namespace epsilog::command
