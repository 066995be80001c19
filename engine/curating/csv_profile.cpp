#include "csv_profile.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "csv_cut.hpp"
#include "csv_header.hpp"
#include "csv_misfit.hpp"
#include "epsilog/engine/not_text.hpp"
#include "epsilog/engine/utf8.hpp"
#include "text_encoding.hpp"

namespace epsilog::engine {
namespace {

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

bool is_padded_value(std::string_view cell) {
  const std::size_t begin = cell.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  const std::string_view inner = cell.substr(begin, cell.find_last_not_of(' ') - begin + 1);
  if (inner.size() == cell.size()) return false;
  const std::string_view kind = kind_of(inner);
  return kind == kNumber || kind == kCode || kind == kDate;
}

void try_to_read(Reading& reading, std::string_view cell, std::uint64_t line) {
  if (reads(reading.reader, cell)) {
    ++reading.reads;
    if (reading.first == 0) reading.first = line;
  } else if (reading.miss.line == 0) {
    reading.miss = {line, kind_of(cell)};
  }
}

void see_code(Reading& reading, std::string_view cell, std::uint64_t line) {
  if (reads(reading.reader, cell)) {
    ++reading.codes;
    if (reading.first == 0) reading.first = line;
  }
  if (reading.miss.line == 0) reading.miss = {line, kind_of(cell)};
}

/// Refuses what is not lines of text. Read as if it were, a first line of it could hold every cell of the
/// file.
void require_lines_of_text(const std::string& path, const std::string& bytes) {
  if (const auto why = why_not_text(bytes)) fail_csv(path, *why);
  if (const auto why = why_not_lines(bytes)) fail_csv(path, *why);
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

bool has_blanks_beside_first_quotes(const std::string& bytes) {
  const std::string_view line = std::string_view(bytes).substr(0, bytes.find_first_of("\r\n"));
  return std::any_of(std::begin(kDelimitersTried), std::end(kDelimitersTried),
                     [&](char delimiter) { return has_blanks_beside_quotes(line, delimiter); });
}

}  // namespace

std::size_t number_formats() {
  return formats().size();
}

const CellDialect& number_format(std::size_t format) {
  return formats()[format];
}

ColumnProfile::ColumnProfile(std::string_view name) : name_(name), truth_(ColumnType::boolean, {}) {
  if (std::any_of(name.begin(), name.end(), is_digit)) shape_ = shape_of(name);
  for (const CellDialect& format : formats()) {
    whole_.emplace_back(ColumnType::integer, format);
    real_.emplace_back(ColumnType::real, format);
  }
  for (const DateFormat format : kDateFormats)
    dates_.emplace_back(ColumnType::date, CellDialect{'.', "", format});
}

void ColumnProfile::see(std::string_view cell, std::uint64_t line) {
  if (cell.empty() || means_missing(cell)) {
    some_missing_ = true;
    return;
  }
  ++seen_;
  like_name_ += cell == name_ ? 1 : 0;
  shaped_like_name_ += !shape_.empty() && shape_of(cell) == shape_ ? 1 : 0;
  repeats_ = !hashes_.insert(std::hash<std::string_view>{}(cell)).second || repeats_;
  padded_ += is_padded_value(cell) ? 1 : 0;
  const bool code = is_a_code(cell);
  for (std::vector<Reading>* numbers : {&whole_, &real_}) {
    for (Reading& reading : *numbers) code ? see_code(reading, cell, line) : try_to_read(reading, cell, line);
  }
  for (Reading& reading : dates_) try_to_read(reading, cell, line);
  try_to_read(truth_, cell, line);
}

template <class Visit>
bool ColumnProfile::any_reading(const Visit& visit) const {
  return std::any_of(real_.begin(), real_.end(), visit) || std::any_of(dates_.begin(), dates_.end(), visit) ||
         visit(truth_);
}

bool ColumnProfile::has_a_type() const {
  return any_reading([this](const Reading& reading) { return 2 * (reading.reads + reading.codes) > seen_; });
}

std::uint64_t ColumnProfile::first_alike() const {
  std::uint64_t line = 0;
  (void)any_reading([&](const Reading& reading) {
    const bool most = 2 * (reading.reads + reading.codes) > seen_;
    if (most) line = reading.first;
    return most;
  });
  return line;
}

bool ColumnProfile::reads_like_its_cells(std::string_view name) const {
  return any_reading([&](const Reading& reading) {
    return 2 * (reading.reads + reading.codes) > seen_ && reads(reading.reader, name);
  });
}

bool ColumnProfile::repeats_its_name() const {
  return like_name_ > 0 || 2 * shaped_like_name_ > seen_;
}

const Reading& ColumnProfile::number(NumberKind kind, std::size_t format) const {
  return (kind == NumberKind::whole ? whole_ : real_)[format];
}

Encoding detected_encoding(const std::string& path) {
  const std::string bytes = beginning_of(path);
  require_lines_of_text(path, bytes);
  std::uint64_t ignored = 0;
  return encoding_of(bytes, ignored);
}

CsvProfile profile_csv(const std::string& path, std::size_t rows) {
  CsvProfile glance;
  const std::string bytes = beginning_of(path);
  require_lines_of_text(path, bytes);
  const CutChoice choice = chosen_cut(path, encoding_of(bytes, glance.broken_line));
  glance.dialect = choice.dialect;
  glance.cut = choice.cut;
  glance.written_line = first_written_line(bytes);
  glance.finer = choice.finer;
  glance.wider = choice.wider;
  if (glance.cut.header <= 1) glance.blanks = cut_by_blanks(bytes);
  if (glance.cut.header == 0 && glance.blanks.words > 1) fail_csv(path, std::string(kBlanksPart));
  if (glance.cut.header == 0 && has_blanks_beside_first_quotes(bytes)) {
    fail_csv(path, std::string(kBlanksBesideQuotes));
  }
  if (glance.cut.header > 0) glance.cut = cut_by(path, glance.dialect, rows);
  CsvFileRecords records(path, glance.dialect);
  glance.header = records.header();
  for (const std::string& name : glance.header) glance.columns.emplace_back(name);
  const std::span<const std::string_view> words = words_for_missing();
  std::set<std::string_view> missing;
  std::size_t fitting = 0, from_0 = 0, from_1 = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const CsvRecords* record = records.next();
    if (record == nullptr) break;
    if (!records.fits()) continue;
    from_0 += record->fields().front() == std::to_string(fitting) ? 1 : 0;
    from_1 += record->fields().front() == std::to_string(++fitting) ? 1 : 0;
    for (std::size_t i = 0; i < glance.columns.size(); ++i) {
      const std::string_view cell = record->fields()[i];
      glance.columns[i].see(cell, record->line());
      const auto known = std::find(words.begin(), words.end(), cell);
      if (known != words.end()) missing.insert(*known);
    }
  }
  glance.numbers_rows = fitting > 1 && (from_0 == fitting || from_1 == fitting);
  for (const std::string_view known : words) {
    if (missing.contains(known)) glance.missing.emplace_back(known);
  }
  return glance;
}

}  // namespace epsilog::engine
