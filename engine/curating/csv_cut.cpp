#include "csv_cut.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "cell_shape.hpp"
#include "column_cell.hpp"
#include "csv_header.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/open_ledgers.hpp"

namespace epsilog::engine {
namespace {

std::ifstream open_text(const std::string& path) {
  if (ledger::is_file_of_open_ledger(path)) fail_csv(path, "belongs to a ledger that is in use");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_csv(path, "is a directory");
  const bool exists = std::filesystem::exists(path, ignored);
  // A pipe would be empty when it is looked at again.
  if (exists && !std::filesystem::is_regular_file(path, ignored)) fail_csv(path, "not a regular file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail_csv(path, std::strerror(errno));
  return stream;
}

/// The line that begins at `at`, without its end; moves `at` behind it.
std::string_view line_at(const std::string& bytes, std::size_t& at) {
  const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
  std::string_view line = std::string_view(bytes).substr(at, end - at);
  at = end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Of the first lines below the first one.
std::size_t lines_with_spaced_quotes(const std::string& bytes, char delimiter) {
  std::size_t at = 0, spaced = 0;
  (void)line_at(bytes, at);
  for (std::size_t lines = 0; at < bytes.size() && lines < kRowsCut; ++lines)
    spaced += has_blanks_beside_quotes(line_at(bytes, at), delimiter) ? 1 : 0;
  return spaced;
}

/// A number under the usual marks, a date as databases write it, or what means missing.
bool is_of_a_type(std::string_view word) {
  const auto is = [&](const CellReader& reader) { return !reader.read({word, false}).missing; };
  return means_missing(word) || is({ColumnType::real, 0, {}}) || is({ColumnType::real, 0, {',', ""}}) ||
         is({ColumnType::date, 0, {}});
}

std::optional<CsvCut> cut_if_named(const std::string& path, const CsvRecords::Dialect& dialect) {
  try {
    return cut_by(path, dialect, kRowsCut);
  } catch (const SourceError&) {
    return std::nullopt;  // a header that is correctly quoted for one may not be for another
  }
}

/// Cuts lines; where quotes do not close on theirs, and nearly all records are whole with line ends in them,
/// cuts records. Says in the dialect which it were.
std::optional<CsvCut> cut_lines_or_records(const std::string& path, CsvRecords::Dialect& dialect) {
  const std::optional<CsvCut> lines = cut_if_named(path, dialect);
  if (lines && lines->unquoted == 0) return lines;
  CsvRecords::Dialect spanning = dialect;
  spanning.multiline = true;
  const std::optional<CsvCut> records = cut_if_named(path, spanning);
  if (!records) return lines;
  const bool nearly_all_fit = records->rows == 0 || 10 * records->fitting >= 9 * records->rows;
  if (lines && !nearly_all_fit && 10 * records->unquoted > lines->unquoted) return lines;
  dialect.multiline = true;
  return records;
}

/// What makes one delimiter better than another: that the first line fits, by how many fields; else that most
/// lines are quoted correctly, that they have fields of one number, and that these end with it.
using Rank = std::tuple<bool, std::size_t, bool, bool, std::size_t, std::size_t>;
Rank rank_of(const CsvCut& cut) {
  const bool fits = cut.fits();
  return {fits,
          fits ? cut.header : 0,
          2 * cut.unquoted <= cut.rows,
          cut.ending_empty > 0 && cut.ending_empty == cut.one_more,
          cut.differs() ? cut.usual : 0,
          cut.header};
}

}  // namespace

void fail_csv(const std::string& path, const std::string& why) {
  throw SourceError("csv '" + path + "': " + why);
}

std::string beginning_of(const std::string& path) {
  std::ifstream stream = open_text(path);
  std::string bytes(CsvRecords::kRecordSizeMax, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

CsvFileRecords::CsvFileRecords(const std::string& path, const CsvRecords::Dialect& dialect)
    : stream_(open_text(path)), records_(dialect, [this](char* data, std::size_t size) {
        stream_.read(data, static_cast<std::streamsize>(size));
        return static_cast<std::size_t>(stream_.gcount());
      }) {
  if (!records_.next()) fail_csv(path, "is empty: its first line must name the columns");
  if (records_.malformed()) fail_csv(path, "its first line must name the columns, and be correctly quoted");
  header_.assign(records_.fields().begin(), records_.fields().end());
}

std::uint64_t first_written_line(const std::string& bytes) {
  std::uint64_t line = 1;
  for (std::size_t at = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < bytes.size(); ++line) {
    if (!is_blank_line(line_at(bytes, at))) return line;
  }
  return 0;
}

BlankCut cut_by_blanks(const std::string& bytes) {
  BlankCut cut;
  std::size_t at = 0;
  const std::size_t words = blank_separated_words(line_at(bytes, at)).size();
  cut.words = words;
  std::map<std::size_t, std::vector<std::size_t>> typed;  // by number of words; the lines are in front
  for (std::size_t lines = 0; at < bytes.size() && lines < kRowsCut; ++lines) {
    const std::vector<std::string> row = blank_separated_words(line_at(bytes, at));
    if (row.empty()) continue;
    ++cut.rows;
    if (row.size() != words && row.size() != words + 1) continue;
    std::vector<std::size_t>& counts = typed[row.size()];
    counts.resize(1 + row.size());
    ++counts.front();
    for (std::size_t i = 0; i < row.size(); ++i) counts[1 + i] += is_of_a_type(row[i]) ? 1 : 0;
  }
  for (const auto& [count, counts] : typed) {
    if (counts.front() <= cut.as_many) continue;
    cut.as_many = counts.front();
    cut.usual = count;
    cut.typed =
        static_cast<std::size_t>(std::count_if(counts.begin() + 1, counts.end(), [&](std::size_t of_a_type) {
          return 2 * of_a_type > cut.as_many;
        }));
  }
  return cut;
}

CsvCut cut_by(const std::string& path, const CsvRecords::Dialect& dialect, std::size_t rows) {
  CsvFileRecords records(path, dialect);
  CsvCut cut;
  cut.header = records.header().size();
  const std::size_t parts = cut.header == 1 ? parts_of(records.header().front()) : 0;
  struct Seen {
    std::size_t rows = 0;
    std::uint64_t first = 0;
    std::uint64_t table = 0;
  };
  std::map<std::size_t, Seen> seen;
  std::size_t fields_above = 0;  // of a line that ends with a delimiter
  std::uint64_t line_above = 0;
  for (const CsvRecords* record = records.next(); record != nullptr && cut.rows < rows;
       record = records.next()) {
    if (++cut.rows == 1) cut.second_line = record->line();
    if (record->malformed()) {
      ++cut.unquoted;
      fields_above = 0;
      if (cut.misfit_line == 0) cut.misfit_line = record->line();
      continue;
    }
    const auto& fields = record->fields();
    const bool empty = cut.header > 1 && fields.size() == 1 && fields.front().empty();
    if (empty && ++cut.empty == 1) cut.empty_line = record->line();
    cut.fitting += records.fits() ? 1 : 0;
    if (cut.rows == 1) cut.second_fits = records.fits();
    if (!empty && fields.size() != cut.header && cut.misfit_line == 0) cut.misfit_line = record->line();
    cut.in_parts += parts > 0 && parts_of(fields.front()) == parts ? 1 : 0;
    if (fields.size() == cut.header + 1) {
      ++cut.one_more;
      cut.ending_empty += fields.back().empty() ? 1 : 0;
      cut.numbered +=
          fields.front() == std::to_string(cut.rows) || fields.front() == std::to_string(cut.rows - 1) ? 1
                                                                                                       : 0;
    }
    Seen& alike = seen[fields.size()];
    if (++alike.rows == 1) {
      alike.first = record->line();
      alike.table = fields_above == fields.size() + 1 ? line_above : alike.first;
    }
    fields_above = fields.back().empty() ? fields.size() : 0;
    line_above = record->line();
    if (alike.rows > cut.of_usual) {
      cut.of_usual = alike.rows;
      cut.usual = fields.size();
      cut.usual_line = alike.first;
      cut.table_line = alike.table;
    }
  }
  if (cut.unquoted > 0) cut.spaced = lines_with_spaced_quotes(beginning_of(path), dialect.delimiter);
  return cut;
}

CutChoice chosen_cut(const std::string& path, Encoding encoding) {
  CutChoice choice;
  choice.dialect.encoding = encoding;
  Rank most;
  for (const char delimiter : kDelimitersTried) {
    CsvRecords::Dialect dialect{delimiter, false, encoding};
    const std::optional<CsvCut> cut = cut_lines_or_records(path, dialect);
    if (!cut) continue;  // the last look says so
    const bool finer = choice.finer.usual == 0 || rank_of(*cut) > rank_of(choice.finer);
    if (cut->differs() && cut->usual > 1 && finer) choice.finer = *cut;
    const bool wider = choice.wider.header == 0 || rank_of(*cut) > rank_of(choice.wider);
    if (cut->header > 1 && wider) choice.wider = *cut;
    const Rank found = rank_of(*cut);
    if (found <= most) continue;
    most = found;
    choice.dialect = dialect;
    choice.cut = *cut;
  }
  if (choice.cut.header > 1) choice.finer = choice.wider = {};
  return choice;
}

}  // namespace epsilog::engine
