#include "csv_glance.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "csv_header.hpp"
#include "csv_misfit.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/not_text.hpp"
#include "epsilog/engine/utf8.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "text_encoding.hpp"

namespace epsilog::engine {
namespace {

/// Cells that usually mean "missing". Only these may be named in a draft.
constexpr std::string_view kMissing[] = {"NA",   "N/A", "n/a",     "#N/A",    "<NA>", "NULL",
                                         "null", "NaN", "nan",     "None",    "-",    "--",
                                         ".",    "?",   "unknown", "Unknown", "k.A.", "k. A."};

constexpr std::string_view kYesOrNo[] = {"yes", "no",   "Yes", "No",   "YES", "NO", "y",   "n",   "Y", "N",
                                         "ja",  "nein", "Ja",  "Nein", "J",   "j",  "oui", "non", "t", "f"};

/// A leading zero belongs to a code: 007 is not 7.
bool is_a_code(std::string_view cell) {
  const std::size_t digit = cell.starts_with('-') || cell.starts_with('+') ? 1 : 0;
  return cell.size() > digit + 1 && cell[digit] == '0' && is_digit(cell[digit + 1]);
}

bool reads(const CellReader& reader, std::string_view cell) {
  return !reader.read({cell, false}).missing;
}

/// What a cell looks like, in words that say nothing of what it says.
std::string_view kind_of(std::string_view cell) {
  if (cell.starts_with(' ') || cell.ends_with(' ')) return "a cell with blanks around it";
  for (std::size_t format = 0; format < number_formats(); ++format) {
    if (!reads({ColumnType::real, 0, number_format(format)}, cell)) continue;
    return is_a_code(cell) ? kCode : kNumber;
  }
  for (const DateFormat format : kDateFormats) {
    const CellReader reader(ColumnType::date, 0, {'.', "", format});
    constexpr std::size_t kDay = 10;
    if (reads(reader, cell)) return kDate;
    if (cell.size() > kDay && reads(reader, cell.substr(0, kDay))) return "a date with something behind it";
  }
  if (std::find(std::begin(kYesOrNo), std::end(kYesOrNo), cell) != std::end(kYesOrNo))
    return "a word for yes or no";
  const bool digits = std::any_of(cell.begin(), cell.end(), is_digit);
  return digits && (is_digit(cell.front()) || is_digit(cell.back())) ? "a text with digits" : "a text";
}

void try_to_read(Reading& reading, std::string_view cell, std::uint64_t line) {
  if (reads(reading.reader, cell)) {
    ++reading.reads;
  } else if (reading.miss.line == 0) {
    reading.miss = {line, kind_of(cell)};
  }
}

void see_code(Reading& reading, std::string_view cell, std::uint64_t line) {
  if (reads(reading.reader, cell)) ++reading.codes;
  if (reading.miss.line == 0) reading.miss = {line, kind_of(cell)};
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw SourceError("csv '" + path + "': " + why);
}

std::ifstream opened(const std::string& path) {
  if (ledger::belongs_to_open_ledger(path)) fail(path, "belongs to a ledger that is in use");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "is a directory");
  const bool exists = std::filesystem::exists(path, ignored);
  // A pipe would be empty when it is looked at again.
  if (exists && !std::filesystem::is_regular_file(path, ignored)) fail(path, "not a regular file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, std::strerror(errno));
  return stream;
}

/// The bytes from which the encoding is told.
std::string beginning(const std::string& path) {
  std::ifstream stream = opened(path);
  std::string bytes(CsvRecords::kRecordSizeMax, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

/// Refuses what is not lines of text. Read as if it were, a first line of it could hold every cell of the
/// file.
void require_lines_of_text(const std::string& path, const std::string& bytes) {
  if (const auto why = why_not_text(bytes)) fail(path, *why);
  if (const auto why = why_not_lines(bytes)) fail(path, *why);
}

/// UTF-8 where most lines that are not ASCII are UTF-8; else what Windows writes, which has all letters of
/// latin-1 at the same bytes, unless there are bytes that it lacks.
Encoding encoding_of(const std::string& bytes, std::uint64_t& broken_line) {
  std::uint64_t line = 0, in_utf8 = 0, in_another = 0;
  bool in_windows = true;
  std::string ignored;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view text(bytes.data() + at, end - at);
    const bool cut = end == bytes.size() && bytes.size() == CsvRecords::kRecordSizeMax;
    at = end + 1;
    ++line;
    if (is_ascii(text) || cut) continue;
    if (is_utf8(text)) {
      ++in_utf8;
      continue;
    }
    if (++in_another == 1) broken_line = line;
    ignored.clear();
    in_windows = in_windows && append_utf8(text, Encoding::windows_1252, ignored);
  }
  if (in_another == 0 || in_utf8 > in_another) return Encoding::utf_8;
  broken_line = 0;
  return in_windows ? Encoding::windows_1252 : Encoding::latin_1;
}

/// The records of a file under one dialect; the header is read.
class Records final {
 public:
  Records(const std::string& path, const CsvRecords::Dialect& dialect)
      : stream_(opened(path)), records_(dialect, [this](char* data, std::size_t size) {
          stream_.read(data, static_cast<std::streamsize>(size));
          return static_cast<std::size_t>(stream_.gcount());
        }) {
    if (!records_.next()) fail(path, "is empty: its first line must name the columns");
    if (records_.malformed()) fail(path, "its first line must name the columns, and be correctly quoted");
    header_.assign(records_.fields().begin(), records_.fields().end());
  }
  Records(const Records&) = delete;

  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  /// nullptr at the end; the same object each time.
  const CsvRecords* next() { return records_.next() ? &records_ : nullptr; }

 private:
  std::ifstream stream_;
  CsvRecords records_;
  std::vector<std::string> header_;
};

bool fits(const CsvRecords& records, const std::vector<std::string>& header) {
  return !records.malformed() && records.fields().size() == header.size();
}

constexpr std::size_t kRowsCut = 100;

/// The line that begins at `at`, without its end; moves `at` behind it.
std::string_view line_at(const std::string& bytes, std::size_t& at) {
  const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
  std::string_view line = std::string_view(bytes).substr(at, end - at);
  at = end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// A number under the usual marks, a date as databases write it, or what means missing.
bool is_of_a_type(std::string_view word) {
  return means_missing(word) || reads({ColumnType::real, 0, {}}, word) ||
         reads({ColumnType::real, 0, {',', ""}}, word) || reads({ColumnType::date, 0, {}}, word);
}

BlankCut cut_by_blanks(const std::string& bytes) {
  BlankCut cut;
  std::size_t at = 0;
  const std::size_t words = blank_parted(line_at(bytes, at)).size();
  cut.words = words;
  std::map<std::size_t, std::vector<std::size_t>> typed;  // by number of words; the lines are in front
  for (std::size_t lines = 0; at < bytes.size() && lines < kRowsCut; ++lines) {
    const std::vector<std::string> row = blank_parted(line_at(bytes, at));
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

/// Chooses the delimiter that cuts the first line and most of the first rows into the same, largest number of
/// fields; a comma before the others. Where each leaves the lines whole, says whether one would cut those
/// below.
void choose_delimiter(const std::string& path, CsvGlance& glance) {
  Rank most;
  const Encoding encoding = glance.dialect.encoding;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    CsvRecords::Dialect dialect{delimiter, false, encoding};
    const std::optional<CsvCut> cut = cut_lines_or_records(path, dialect);
    if (!cut) continue;  // the last look says so
    const bool finer = glance.finer.usual == 0 || rank_of(*cut) > rank_of(glance.finer);
    if (cut->differs() && cut->usual > 1 && finer) glance.finer = *cut;
    const Rank found = rank_of(*cut);
    if (found <= most) continue;
    most = found;
    glance.dialect = dialect;
    glance.cut = *cut;
  }
  if (glance.cut.header > 1) glance.finer = {};
}

const std::vector<CellDialect>& formats() {
  static const std::vector<CellDialect> kFormats = [] {
    std::vector<CellDialect> result{{'.', ""}, {',', ""}, {'.', ","}, {',', "."}};
    for (const char* between : {" ", "'", "\u00A0", "\u202F", "\u2019"}) {
      result.push_back({'.', between});
      result.push_back({',', between});
    }
    return result;
  }();
  return kFormats;
}

}  // namespace

bool means_missing(std::string_view cell) {
  return std::find(std::begin(kMissing), std::end(kMissing), cell) != std::end(kMissing);
}

std::size_t number_formats() {
  return formats().size();
}

const CellDialect& number_format(std::size_t format) {
  return formats()[format];
}

std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const char kind = is_digit(c) ? '9' : is_letter(c) ? 'a' : c;
    if (shape.empty() || shape.back() != kind || (kind != '9' && kind != 'a')) shape += kind;
  }
  return shape;
}

std::size_t parts_of(std::string_view text) {
  std::size_t parts = 0;
  bool within = false;
  for (const char c : text) {
    const bool part = is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '+' || c == '_';
    parts += part && !within ? 1 : 0;
    within = part;
  }
  return parts;
}

ColumnGlance::ColumnGlance(std::string_view name) : name_(name), truth_(ColumnType::boolean, {}) {
  if (std::any_of(name.begin(), name.end(), is_digit)) shape_ = shape_of(name);
  for (const CellDialect& format : formats()) {
    whole_.emplace_back(ColumnType::integer, format);
    real_.emplace_back(ColumnType::real, format);
  }
  for (const DateFormat format : kDateFormats)
    dates_.emplace_back(ColumnType::date, CellDialect{'.', "", format});
}

void ColumnGlance::see(std::string_view cell, std::uint64_t line) {
  if (cell.empty() || means_missing(cell)) {
    some_missing_ = true;
    return;
  }
  ++seen_;
  like_name_ += cell == name_ ? 1 : 0;
  shaped_like_name_ += !shape_.empty() && shape_of(cell) == shape_ ? 1 : 0;
  repeats_ = !hashes_.insert(std::hash<std::string_view>{}(cell)).second || repeats_;
  const bool code = is_a_code(cell);
  for (std::vector<Reading>* numbers : {&whole_, &real_}) {
    for (Reading& reading : *numbers) code ? see_code(reading, cell, line) : try_to_read(reading, cell, line);
  }
  for (Reading& reading : dates_) try_to_read(reading, cell, line);
  try_to_read(truth_, cell, line);
}

template <class Visit>
bool ColumnGlance::any_reading(const Visit& visit) const {
  return std::any_of(real_.begin(), real_.end(), visit) || std::any_of(dates_.begin(), dates_.end(), visit) ||
         visit(truth_);
}

bool ColumnGlance::has_a_type() const {
  return any_reading([this](const Reading& reading) { return 2 * (reading.reads + reading.codes) > seen_; });
}

std::uint64_t ColumnGlance::first_unlike() const {
  std::uint64_t line = 0;
  (void)any_reading([&](const Reading& reading) {
    const bool most = 2 * (reading.reads + reading.codes) > seen_;
    if (most) line = reading.miss.line;
    return most;
  });
  return line;
}

bool ColumnGlance::reads_like_its_cells(std::string_view name) const {
  return any_reading([&](const Reading& reading) {
    return 2 * (reading.reads + reading.codes) > seen_ && reads(reading.reader, name);
  });
}

bool ColumnGlance::repeats_its_name() const {
  return like_name_ > 0 || 2 * shaped_like_name_ > seen_;
}

const Reading& ColumnGlance::number(NumberKind kind, std::size_t format) const {
  return (kind == NumberKind::whole ? whole_ : real_)[format];
}

CsvCut cut_by(const std::string& path, const CsvRecords::Dialect& dialect, std::size_t rows) {
  Records records(path, dialect);
  CsvCut cut;
  cut.header = records.header().size();
  const std::size_t parts = cut.header == 1 ? parts_of(records.header().front()) : 0;
  struct Seen {
    std::size_t rows = 0;
    std::uint64_t first = 0;
  };
  std::map<std::size_t, Seen> seen;
  for (const CsvRecords* record = records.next(); record != nullptr && cut.rows < rows;
       record = records.next()) {
    if (++cut.rows == 1) cut.second_line = record->line();
    if (record->malformed()) {
      ++cut.unquoted;
      if (cut.misfit_line == 0) cut.misfit_line = record->line();
      continue;
    }
    const auto& fields = record->fields();
    const bool empty = cut.header > 1 && fields.size() == 1 && fields.front().empty();
    if (empty && ++cut.empty == 1) cut.empty_line = record->line();
    cut.fitting += fits(*record, records.header()) ? 1 : 0;
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
    if (++alike.rows == 1) alike.first = record->line();
    if (alike.rows > cut.of_usual) {
      cut.of_usual = alike.rows;
      cut.usual = fields.size();
      cut.usual_line = alike.first;
    }
  }
  return cut;
}

Encoding encoding_seen(const std::string& path) {
  const std::string bytes = beginning(path);
  require_lines_of_text(path, bytes);
  std::uint64_t ignored = 0;
  return encoding_of(bytes, ignored);
}

CsvGlance look_at_csv(const std::string& path, std::size_t rows) {
  CsvGlance glance;
  const std::string bytes = beginning(path);
  require_lines_of_text(path, bytes);
  glance.dialect.encoding = encoding_of(bytes, glance.broken_line);
  choose_delimiter(path, glance);
  if (glance.cut.header <= 1) glance.blanks = cut_by_blanks(bytes);
  if (glance.cut.header == 0 && glance.blanks.words > 1) fail(path, std::string(kBlanksPart));
  if (glance.cut.header > 0) glance.cut = cut_by(path, glance.dialect, rows);
  Records records(path, glance.dialect);
  glance.header = records.header();
  for (const std::string& name : glance.header) glance.columns.emplace_back(name);
  std::set<std::string_view> missing;
  for (std::size_t row = 0; row < rows; ++row) {
    const CsvRecords* record = records.next();
    if (record == nullptr) break;
    if (!fits(*record, glance.header)) continue;
    for (std::size_t i = 0; i < glance.columns.size(); ++i) {
      const std::string_view cell = record->fields()[i];
      glance.columns[i].see(cell, record->line());
      const auto known = std::find(std::begin(kMissing), std::end(kMissing), cell);
      if (known != std::end(kMissing)) missing.insert(*known);
    }
  }
  for (const std::string_view known : kMissing) {
    if (missing.contains(known)) glance.missing.emplace_back(known);
  }
  return glance;
}

}  // namespace epsilog::engine
