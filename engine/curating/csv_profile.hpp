// A first look at a CSV file: how it is written, and as which types its columns could be read.
//
// Only the beginning of a file is looked at. Of a cell nothing is kept but how it reads: which line has the
// first that does not, and of which kind that one is, in words of a fixed list. Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cell_shape.hpp"
#include "column_cell.hpp"
#include "csv_cut.hpp"
#include "epsilog/engine/csv_records.hpp"

namespace epsilog::engine {

/// Kinds of cells that a draft has more to say of.
inline constexpr std::string_view kCode = "a number that begins with 0, as codes do";
inline constexpr std::string_view kNumber = "a number";
inline constexpr std::string_view kDate = "a date";

/// The first cell that a reading of a column cannot read.
struct FirstMiss {
  std::uint64_t line = 0;
  std::string_view kind = {};  ///< "a text"
};

/// One column's cells read in one way.
struct Reading {
  Reading(ColumnType type, CellDialect dialect) : reader(type, 0, std::move(dialect)) {}
  CellReader reader;
  std::uint64_t reads = 0;
  std::uint64_t codes = 0;  ///< that would read, and are taken for codes
  FirstMiss miss;
  std::uint64_t first = 0;  ///< the line of the first that reads, or would; 0: none
};

enum class NumberKind { whole, real };
/// The ways to write numbers that are tried, plain ones first.
[[nodiscard]] std::size_t number_formats();
[[nodiscard]] const CellDialect& number_format(std::size_t format);

class ColumnProfile final {
 public:
  /// `name`: what the first line says in this place.
  explicit ColumnProfile(std::string_view name);
  void see(std::string_view cell, std::uint64_t line);

  [[nodiscard]] std::uint64_t seen() const { return seen_; }  ///< cells that do not mean missing
  /// Whether there were two or more, none was missing and no two were the same.
  [[nodiscard]] bool all_differ() const { return seen_ > 1 && !repeats_ && !some_missing_; }
  /// Whether most of its cells are numbers or dates with blanks around them.
  [[nodiscard]] bool is_padded() const { return 2 * padded_ > seen_; }
  [[nodiscard]] const Reading& number(NumberKind kind, std::size_t format) const;
  [[nodiscard]] const Reading& date(std::size_t format) const { return dates_[format]; }
  [[nodiscard]] const Reading& truth() const { return truth_; }
  /// Whether most of its cells read as numbers, dates, or true and false.
  [[nodiscard]] bool has_a_type() const;
  /// The line of the first cell that is as most of them are; 0: there is no such type.
  [[nodiscard]] std::uint64_t first_alike() const;
  /// Whether the name would read as most of its cells do.
  [[nodiscard]] bool reads_like_its_cells(std::string_view name) const;
  /// Whether the name stands below itself as a cell, or has digits and the shape of most cells.
  [[nodiscard]] bool repeats_its_name() const;

 private:
  template <class Visit>
  [[nodiscard]] bool any_reading(const Visit& visit) const;

  std::string name_;
  std::string shape_;  ///< of a name with digits; "" of others
  std::uint64_t like_name_ = 0;
  std::uint64_t shaped_like_name_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t padded_ = 0;
  bool some_missing_ = false;
  bool repeats_ = false;
  std::unordered_set<std::size_t> hashes_;
  std::vector<Reading> whole_;
  std::vector<Reading> real_;
  std::vector<Reading> dates_;
  Reading truth_;
};

struct CsvProfile {
  CsvRecords::Dialect dialect;
  CsvCut cut;       ///< by that delimiter
  BlankCut blanks;  ///< where that delimiter leaves the first line whole
  CsvCut finer;  ///< by another that cuts the lines below into more fields, where that one leaves them whole
  CsvCut wider;  ///< by another that cuts the first line into more fields, where that one leaves it whole
  std::uint64_t broken_line = 0;  ///< the first that is not UTF-8, of a file that is; 0: none
  std::vector<std::string> header;
  std::vector<ColumnProfile> columns;
  std::uint64_t written_line = 0;    ///< first_written_line()
  bool numbers_rows = false;         ///< the first column numbers the rows from 0 or 1, and there are several
  std::vector<std::string> missing;  ///< texts that usually mean "missing" and occurred
};

/// Looks at a file: its delimiter, its encoding, and at most `rows` rows.
/// Throws  SourceError when it cannot be read, is no text, or has no readable first line.
[[nodiscard]] CsvProfile profile_csv(const std::string& path, std::size_t rows);

/// Throws  SourceError when the file cannot be read or is no lines of text, with what to do.
/// Returns the encoding that it seems to have, by its first 16 MiB.
[[nodiscard]] Encoding detected_encoding(const std::string& path);

}  // namespace epsilog::engine
