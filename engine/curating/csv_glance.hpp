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
  ColumnGlance();
  void see(std::string_view cell, std::uint64_t line);

  [[nodiscard]] std::uint64_t seen() const { return seen_; }  ///< cells that do not mean missing
  /// Whether there were two or more, none was missing and no two were the same.
  [[nodiscard]] bool all_differ() const { return seen_ > 1 && !repeats_ && !some_missing_; }
  [[nodiscard]] const Reading& number(NumberKind kind, std::size_t format) const;
  [[nodiscard]] const Reading& date(std::size_t format) const { return dates_[format]; }
  [[nodiscard]] const Reading& truth() const { return truth_; }

 private:
  std::uint64_t seen_ = 0;
  bool some_missing_ = false;
  bool repeats_ = false;
  std::unordered_set<std::size_t> hashes_;
  std::vector<Reading> whole_;
  std::vector<Reading> real_;
  std::vector<Reading> dates_;
  Reading truth_;
};

struct CsvGlance {
  CsvRecords::Dialect dialect;
  std::uint64_t broken_line = 0;  ///< the first that is not UTF-8, of a file that is; 0: none
  std::vector<std::string> header;
  std::vector<ColumnGlance> columns;
  std::vector<std::string> missing;  ///< texts that usually mean "missing" and occurred
};

/// Looks at a file: its delimiter, its encoding, and at most `rows` rows.
/// Throws  SourceError when it cannot be read or has no readable header.
[[nodiscard]] CsvGlance look_at_csv(const std::string& path, std::size_t rows);

}  // namespace epsilog::engine
