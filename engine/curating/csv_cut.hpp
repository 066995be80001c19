// How the lines of a CSV file fall into fields: by one delimiter, by the best of several, and by blanks.
//
// Files are looked at from their beginning, line by line; no cell is kept. Thread-safety: pure functions, but
// for CsvFileRecords, which has one owner.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/csv_records.hpp"

namespace epsilog::engine {

/// Throws SourceError, with the file's name before the reason.
[[noreturn]] void fail_csv(const std::string& path, const std::string& why);

/// The first 16 MiB of the file.
/// Throws  SourceError when it cannot be read.
[[nodiscard]] std::string beginning_of(const std::string& path);

/// The records of a file under one dialect; the header is read.
class CsvFileRecords final {
 public:
  /// Throws  SourceError when it cannot be read, or has no readable first line.
  CsvFileRecords(const std::string& path, const CsvRecords::Dialect& dialect);
  CsvFileRecords(const CsvFileRecords&) = delete;

  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  /// nullptr at the end; the same object each time.
  const CsvRecords* next() { return records_.next() ? &records_ : nullptr; }
  /// Whether that record has as many fields as the header.
  [[nodiscard]] bool fits() const {
    return !records_.malformed() && records_.fields().size() == header_.size();
  }

 private:
  std::ifstream stream_;
  CsvRecords records_;
  std::vector<std::string> header_;
};

/// How many lines below the first one are looked at for the delimiter.
inline constexpr std::size_t kRowsCut = 100;

/// Into how many fields a delimiter cuts the lines of a file.
struct CsvCut {
  std::size_t header = 0;    ///< fields of the first line
  std::size_t rows = 0;      ///< lines below it that were looked at
  std::size_t fitting = 0;   ///< of them with as many fields
  std::size_t usual = 0;     ///< fields that more of them have than have any other number
  std::size_t of_usual = 0;  ///< so many of them have it
  std::size_t in_parts = 0;  ///< so many of them have as many parts_of() as the first line
  std::size_t unquoted = 0;  ///< so many of them are not correctly quoted, or not in the encoding
  std::size_t spaced = 0;    ///< so many of the first 100 have blanks beside quotes, where some are not
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
  std::uint64_t table_line = 0;  ///< the one with the usual number, or the one above it with a delimiter more
  bool second_fits = false;      ///< whether the first of the rows has as many fields as the first line

  /// Whether the first line has as many fields as at least half of the others.
  [[nodiscard]] bool fits() const { return 2 * fitting >= rows; }
  /// Whether at least half of the lines below have one number of fields, and the first line another.
  [[nodiscard]] bool differs() const { return rows > 0 && usual != header && 2 * of_usual >= rows; }
};

/// Cuts the first line and at most `rows` lines below.
/// Throws  SourceError when it cannot be read, or has no readable first line.
[[nodiscard]] CsvCut cut_by(const std::string& path, const CsvRecords::Dialect& dialect, std::size_t rows);

/// The first line with more than blanks, delimiters and quotes, from 1; 0: none.
[[nodiscard]] std::uint64_t first_written_line(const std::string& bytes);

/// How the lines fall into words that blanks part, a quoted text being one.
struct BlankCut {
  std::size_t words = 0;    ///< of the first line; 0: its quotes are wrong
  std::size_t rows = 0;     ///< of the first 100 lines below it, those whose quotes are right
  std::size_t as_many = 0;  ///< of them with as many words, or with one more as R writes it
  std::size_t usual = 0;    ///< words that most of these have
  std::size_t typed = 0;    ///< of these words, how many are numbers or dates in most lines
};
/// `bytes`: the beginning of the file.
[[nodiscard]] BlankCut cut_by_blanks(const std::string& bytes);

/// A comma before the others.
inline constexpr char kDelimitersTried[] = {',', ';', '\t', '|'};

struct CutChoice {
  CsvRecords::Dialect dialect;  ///< `multiline` where cells have line ends in them
  CsvCut cut;                   ///< by that delimiter; without fields where none reads the first line
  CsvCut finer;  ///< by another that cuts the lines below into more fields, where that one leaves them whole
  CsvCut wider;  ///< by another that cuts the first line into more fields, where that one leaves it whole
};
/// Chooses the delimiter that cuts the first line and most of the first rows into the same, largest number of
/// fields; a comma before the others. Where each leaves the lines whole, says whether one would cut those
/// below.
[[nodiscard]] CutChoice chosen_cut(const std::string& path, Encoding encoding);

}  // namespace epsilog::engine
