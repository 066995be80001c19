#include "csv_misfit.hpp"

#include <algorithm>

#include "csv_header.hpp"

namespace epsilog::engine {
namespace {

/// Nearly all: a last line or a line of totals may be otherwise.
bool nearly(std::size_t some, std::size_t all) {
  return some > 0 && 10 * some >= 9 * all;
}

std::string fields_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " field" : " fields");
}

/// Of lines that have one field more than the first one.
std::string why_one_more(const CsvCut& cut) {
  if (nearly(cut.ending_empty, cut.one_more)) {
    return "each of these ends with a delimiter, and the first line does not. Take it away there, or write "
           "one at the end of the first line too";
  }
  if (cut.numbered > 0 && cut.numbered == cut.one_more) {
    return "each of these begins with the number of its row, as R writes it. Name that column in the first "
           "line too, or leave it out, in R with row.names = FALSE";
  }
  return "where each of these begins with the name of its row, as R writes it, name that column too; where a "
         "cell has a delimiter in it, such as a decimal comma, quote it; where the first line is a title, "
         "take "
         "it away";
}

}  // namespace

std::string why_misfit(const CsvCut& cut) {
  if (2 * cut.unquoted > cut.rows) {
    if (2 * cut.spaced > std::min(cut.rows, kRowsCut)) return std::string(kBlanksBesideQuotes);
    return "most lines below the first one are not correctly quoted. A cell with a quote, a delimiter or a "
           "line end in it stands in quotes, and each quote in it is doubled. Where cells have line ends in "
           "them, write them without, or declare `multiline: true`, which docs/rows.md says the risk of";
  }
  const std::string first = "its first line has " + fields_text(cut.header);
  if (!cut.differs()) return first + ", and most lines below have other numbers of them";
  const std::string both = first + ", and most lines below have " + fields_text(cut.usual);
  const bool below = cut.usual_line > cut.second_line;
  if (cut.usual < cut.header && (cut.second_fits || !below)) {
    return both + ", the first of them in line " + std::to_string(cut.usual_line) +
           ": write a delimiter for each cell that a line lacks, at its end too; where a name has a "
           "delimiter in it, quote it; where the first line is a title, take it away";
  }
  if (below) {
    return both + ": the table seems to begin in line " + std::to_string(cut.table_line) +
           ". Take the lines above it away";
  }
  if (cut.usual == cut.header + 1) return both + ": " + why_one_more(cut);
  return both +
         ": where the first line is a title, take it away; where cells have delimiters in them, quote "
         "them";
}

bool may_be_blank_separated(const BlankCut& cut) {
  return cut.words > 1 && nearly(cut.as_many, cut.rows);
}

bool is_blank_separated(const BlankCut& cut) {
  return may_be_blank_separated(cut) && (cut.usual == 2 ? cut.typed == 2 : 2 * cut.typed >= cut.usual);
}

}  // namespace epsilog::engine
