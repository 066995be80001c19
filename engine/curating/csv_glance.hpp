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

#include "column_cell.hpp"
#include "epsilog/engine/csv_records.hpp"

namespace epsilog::engine {

/// Whether a cell is one of the texts that usually mean "missing".
[[nodiscard]] bool means_missing(std::string_view cell);

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
/// A letter of ASCII, or a byte of another character.
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
/// A text with each run of letters written as one letter and each run of digits as one digit: P0017 and Q9
/// have one shape.
[[nodiscard]] std::string shape_of(std::string_view text);
/// How many words or numbers a text consists of, whatever stands between them.
[[nodiscard]] std::size_t parts_of(std::string_view text);

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
};

enum class NumberKind { whole, real };
/// The ways to write numbers that are tried, plain ones first.
[[nodiscard]] std::size_t number_formats();
[[nodiscard]] const CellDialect& number_format(std::size_t format);

class ColumnGlance final {
 public:
  /// `name`: what the first line says in this place.
  explicit ColumnGlance(std::string_view name);
  void see(std::string_view cell, std::uint64_t line);

  [[nodiscard]] std::uint64_t seen() const { return seen_; }  ///< cells that do not mean missing
  /// Whether there were two or more, none was missing and no two were the same.
  [[nodiscard]] bool all_differ() const { return seen_ > 1 && !repeats_ && !some_missing_; }
  [[nodiscard]] const Reading& number(NumberKind kind, std::size_t format) const;
  [[nodiscard]] const Reading& date(std::size_t format) const { return dates_[format]; }
  [[nodiscard]] const Reading& truth() const { return truth_; }
  /// Whether most of its cells read as numbers, dates, or true and false.
  [[nodiscard]] bool has_a_type() const;
  /// The line of the first cell that is not as most of them are; 0: none, or there is no such type.
  [[nodiscard]] std::uint64_t first_unlike() const;
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
  bool some_missing_ = false;
  bool repeats_ = false;
  std::unordered_set<std::size_t> hashes_;
  std::vector<Reading> whole_;
  std::vector<Reading> real_;
  std::vector<Reading> dates_;
  Reading truth_;
};

/// Into how many fields a delimiter cuts the lines of a file.
struct CsvCut {
  std::size_t header = 0;    ///< fields of the first line
  std::size_t rows = 0;      ///< lines below it that were looked at
  std::size_t fitting = 0;   ///< of them with as many fields
  std::size_t usual = 0;     ///< fields that more of them have than have any other number
  std::size_t of_usual = 0;  ///< so many of them have it
  std::size_t in_parts = 0;  ///< so many of them have as many parts_of() as the first line
  std::size_t unquoted = 0;  ///< so many of them are not correctly quoted, or not in the encoding
  std::size_t empty = 0;     ///< so many of them are empty, where the first line has several fields
  // Of the lines with one field more than the first line:
  std::size_t one_more = 0;
  std::size_t ending_empty = 0;  ///< so many of them have nothing in the last field
  std::size_t numbered = 0;      ///< so many of them have the number of their row in the first field
  // Lines of the file; 0: none.
  std::uint64_t misfit_line = 0;  ///< the first that does not fit and is not empty
  std::uint64_t empty_line = 0;
  std::uint64_t usual_line = 0;   ///< the first with the usual number of fields
  std::uint64_t second_line = 0;  ///< where the first of the rows begins

  /// Whether the first line has as many fields as at least half of the others.
  [[nodiscard]] bool fits() const { return 2 * fitting >= rows; }
  /// Whether at least half of the lines below have one number of fields, and the first line another.
  [[nodiscard]] bool differs() const { return rows > 0 && usual != header && 2 * of_usual >= rows; }
};

/// Cuts the first line and at most `rows` lines below.
/// Throws  SourceError when it cannot be read, or has no readable first line.
[[nodiscard]] CsvCut cut_by(const std::string& path, const CsvRecords::Dialect& dialect, std::size_t rows);

/// How the lines fall into words that blanks part, a quoted text being one.
struct BlankCut {
  std::size_t words = 0;    ///< of the first line; 0: its quotes are wrong
  std::size_t rows = 0;     ///< of the first 100 lines below it, those whose quotes are right
  std::size_t as_many = 0;  ///< of them with as many words, or with one more as R writes it
  std::size_t usual = 0;    ///< words that most of these have
  std::size_t typed = 0;    ///< of these words, how many are numbers or dates in most lines
};

struct CsvGlance {
  CsvRecords::Dialect dialect;
  CsvCut cut;       ///< by that delimiter
  BlankCut blanks;  ///< where that delimiter leaves the first line whole
  CsvCut finer;  ///< by another that cuts the lines below into more fields, where that one leaves them whole
  std::uint64_t broken_line = 0;  ///< the first that is not UTF-8, of a file that is; 0: none
  std::vector<std::string> header;
  std::vector<ColumnGlance> columns;
  std::vector<std::string> missing;  ///< texts that usually mean "missing" and occurred
};

/// Looks at a file: its delimiter, its encoding, and at most `rows` rows.
/// Throws  SourceError when it cannot be read, is no text, or has no readable first line.
[[nodiscard]] CsvGlance look_at_csv(const std::string& path, std::size_t rows);

/// Throws  SourceError when the file cannot be read or is no lines of text, with what to do.
/// Returns the encoding that it seems to have, by its first 16 MiB.
[[nodiscard]] Encoding encoding_seen(const std::string& path);

}  // namespace epsilog::engine
