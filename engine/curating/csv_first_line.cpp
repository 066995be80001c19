#include "csv_first_line.hpp"

#include <algorithm>

#include "csv_header.hpp"
#include "csv_misfit.hpp"

namespace epsilog::engine {
namespace {

std::string_view trim_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The letters of 1e5 and of 2024-01-31T08:15:00Z.
bool belongs_to_figures(std::string_view text, std::size_t at) {
  if (at == 0 || !is_digit(text[at - 1])) return false;
  if (text[at] == 'Z') return at + 1 == text.size() && text.find('T') != std::string_view::npos;
  const bool more =
      at + 1 < text.size() && (is_digit(text[at + 1]) || text[at + 1] == '-' || text[at + 1] == '+');
  return more && (text[at] == 'e' || text[at] == 'E' || text[at] == 'T');
}

/// Whether it says no word: 1017, 12 %, 31.01.2024 08:15, 2024-01-31T08:15:00Z.
bool is_figures(std::string_view text) {
  if (std::none_of(text.begin(), text.end(), is_digit)) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((is_letter(text[at]) || text[at] == '_') && !belongs_to_figures(text, at)) return false;
  }
  return true;
}

/// Under one of the ways to write numbers: some have marks that are not ASCII.
bool is_number(std::string_view text) {
  for (std::size_t format = 0; format < number_formats(); ++format) {
    if (!CellReader(ColumnType::real, 0, number_format(format)).read({text, false}).missing) return true;
  }
  return false;
}

/// Whether it is a day whose month is a word: 31-Jan-2024.
bool is_day_with_month(std::string_view text) {
  const std::string shape = shape_of(text);
  return shape.size() == 5 && shape[0] == '9' && shape[2] == 'a' && shape[4] == '9' && shape[1] == shape[3] &&
         (shape[1] == '-' || shape[1] == '/' || shape[1] == ' ' || shape[1] == '.');
}

bool is_true_or_false(std::string_view text) {
  return !CellReader(ColumnType::boolean, 0, {}).read({text, false}).missing;
}

bool is_number_or_date(std::string_view name) {
  const std::string_view text = trim_blanks(name);
  return is_figures(text) || is_number(text) || is_day_with_month(text);
}

/// How many parts a name has that other delimiters would make, and how many of them are numbers or dates, or
/// true and false.
struct PartCounts {
  std::size_t all = 0;
  std::size_t numbers = 0;
  std::size_t truths = 0;
};
PartCounts parts_between_marks(std::string_view name) {
  PartCounts parts;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_of(" ,;|\t:~^&", at), name.size());
    const std::string_view part = name.substr(at, end - at);
    parts.all += part.empty() ? 0 : 1;
    parts.numbers += is_number_or_date(part) ? 1 : 0;
    parts.truths += is_true_or_false(part) ? 1 : 0;
    at = end + 1;
  }
  return parts;
}

bool is_mostly_numbers(std::string_view name) {
  const PartCounts parts = parts_between_marks(name);
  return 2 * parts.numbers > parts.all;
}

bool is_a_word(std::string_view name) {
  return !trim_blanks(name).empty() && !means_missing(trim_blanks(name)) && !is_number_or_date(name);
}

/// Whether the column's cells are of a type and its name is a word that is not.
bool has_a_name(const CsvProfile& glance, std::size_t column) {
  const ColumnProfile& cells = glance.columns[column];
  const std::string& name = glance.header[column];
  return cells.seen() > 0 && cells.has_a_type() && is_a_word(name) &&
         !cells.reads_like_its_cells(trim_blanks(name));
}

bool any_column(const CsvProfile& glance, const auto& holds) {
  for (std::size_t i = 0; i < glance.columns.size(); ++i) {
    if (holds(i)) return true;
  }
  return false;
}

bool has_a_type(const CsvProfile& glance, std::size_t column) {
  return glance.columns[column].seen() > 0 && glance.columns[column].has_a_type();
}

/// The column of row numbers that R and pandas write, which has no name.
bool is_nameless_numbering(const CsvProfile& glance, std::size_t column) {
  return column == 0 && glance.numbers_rows && glance.header.front().empty();
}

/// Whether two columns or more tell names from cells, and no column of a type says otherwise: then a name
/// that stands below itself among texts is a coincidence. Among numbers it is the word of a record for a
/// number that is not there.
bool all_distinguish_names(const CsvProfile& glance) {
  std::size_t telling = 0;
  for (std::size_t i = 0; i < glance.columns.size(); ++i) {
    if (!has_a_type(glance, i)) continue;
    if (!has_a_name(glance, i) && !is_nameless_numbering(glance, i)) return false;
    if (glance.columns[i].repeats_its_name()) return false;
    ++telling;
  }
  return telling > 1 && distinguishes_names(glance);
}

/// Lines that other programs put above a table.
std::optional<std::string> why_no_table_begins(const CsvProfile& glance) {
  if (auto why = why_above_a_table(glance.header.front())) return why;
  const bool nameless = std::all_of(glance.header.begin(), glance.header.end(),
                                    [](const std::string& name) { return trim_blanks(name).empty(); });
  if (nameless) {
    const std::string begin = std::to_string(glance.written_line);
    return std::string(kFirstLineIsEmpty) +
           (glance.written_line == 0
                ? ", and all others are"
                : ": the table seems to begin in line " + begin + ". Take the lines above it away");
  }
  const bool labels = std::any_of(glance.header.begin(), glance.header.end(),
                                  [](const std::string& name) { return trim_blanks(name).ends_with(':'); });
  if (labels)
    return "its first line has a cell that ends with a colon, as in the lines above a table: take those "
           "lines "
           "away";
  return std::nullopt;
}

/// A line that no known delimiter cuts, over lines that have as many parts.
bool is_undivided_record(const CsvProfile& glance) {
  const std::string& line = glance.header.front();
  const PartCounts parts = parts_between_marks(line);
  return glance.header.size() == 1 && !has_a_name(glance, 0) && 2 * glance.cut.in_parts > glance.cut.rows &&
         parts_of(line) > 1 && parts.numbers + parts.truths > 0;
}

}  // namespace

std::optional<std::string> why_other_shape(const CsvProfile& glance) {
  const bool quoted_words =
      2 * glance.cut.unquoted > glance.cut.rows && may_be_blank_separated(glance.blanks);
  const bool whole = glance.header.size() == 1 && !glance.columns.front().has_a_type();
  if (whole && (quoted_words || is_blank_separated(glance.blanks))) return std::string(kBlanksPart);
  if (!glance.cut.fits()) return why_misfit(glance.cut);
  // Decimal commas cut numbers in two as well, but no names above them.
  const CsvCut& finer = glance.finer;
  const bool names_below = finer.table_line < glance.columns.front().first_alike();
  if (finer.differs() && (names_below || !has_a_name(glance, 0))) return why_misfit(finer);
  if (glance.wider.header > 1) return why_misfit(glance.wider);
  return std::nullopt;
}

std::optional<std::string> why_no_names(const CsvProfile& glance) {
  if (auto why = why_no_table_begins(glance)) return why;
  if (auto why = why_other_shape(glance)) return why;
  const auto numbers = std::count_if(glance.header.begin(), glance.header.end(), [](const std::string& name) {
    return is_number_or_date(name) || is_mostly_numbers(name);
  });
  if (numbers > 0 || is_undivided_record(glance)) {
    return "its first line has numbers or dates where names of columns would stand";
  }
  if (all_distinguish_names(glance)) return std::nullopt;
  const bool typed = any_column(
      glance, [&](std::size_t i) { return has_a_type(glance, i) && !is_nameless_numbering(glance, i); });
  if (typed && !distinguishes_names(glance)) {
    return "its first line reads as the lines below do, in every column of numbers, dates, or true and false";
  }
  const bool truth_alone = any_column(glance, [&](std::size_t i) {
    return glance.columns[i].seen() == 0 && is_true_or_false(trim_blanks(glance.header[i]));
  });
  if (truth_alone && !distinguishes_names(glance)) {
    return "its first line says true or false where the name of a column would stand, and nothing is below";
  }
  const bool missing =
      any_column(glance, [&](std::size_t i) { return means_missing(trim_blanks(glance.header[i])); });
  if (missing && !distinguishes_names(glance)) {
    return "its first line has a cell that usually means missing";
  }
  if (any_column(glance, [&](std::size_t i) { return glance.columns[i].repeats_its_name(); })) {
    return "a cell of its first line stands below in the same column, or looks like most cells there";
  }
  return std::nullopt;
}

bool distinguishes_names(const CsvProfile& glance) {
  return any_column(glance, [&](std::size_t i) { return has_a_name(glance, i); });
}

}  // namespace epsilog::engine
