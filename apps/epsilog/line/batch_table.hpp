// The table of --batch FILE|-: a CSV whose first line names its columns, read as a stream.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/csv_records.hpp"

namespace epsilog::command {

/// The bytes of --batch FILE|-.
class BatchInput final {
 public:
  /// "-" is standard input.
  /// Throws  SourceError when it cannot be opened or is a directory.
  explicit BatchInput(std::string name);
  BatchInput(const BatchInput&) = delete;
  BatchInput& operator=(const BatchInput&) = delete;
  ~BatchInput();

  /// Up to `size` bytes, as many as are there; 0 at the end.
  /// Throws  SourceError.
  [[nodiscard]] std::size_t read(char* data, std::size_t size);

  /// Whether the end is known beforehand, so that there is a fraction to show.
  [[nodiscard]] bool has_size() const noexcept { return size_ > 0; }
  [[nodiscard]] double fraction_read() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  int descriptor_ = -1;
  double size_ = 0;
  double read_ = 0;
};

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
