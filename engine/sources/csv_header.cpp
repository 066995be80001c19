#include "csv_header.hpp"

#include <algorithm>

namespace epsilog::engine {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t";

std::string_view first_line_of(std::string_view beginning) {
  if (beginning.starts_with(kUtf8Mark)) beginning.remove_prefix(kUtf8Mark.size());
  std::string_view line = beginning.substr(0, beginning.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_quotes(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) return field;
  return field.substr(1, field.size() - 2);
}

std::vector<std::string> split_fields(std::string_view line, char delimiter) {
  std::vector<std::string> fields;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(line.find(delimiter, at), line.size());
    fields.emplace_back(without_quotes(line.substr(at, end - at)));
    if (end == line.size()) return fields;
    at = end + 1;
  }
}

bool has_all(const std::vector<std::string>& fields, const std::vector<std::string>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return std::find(fields.begin(), fields.end(), column) != fields.end();
  });
}

/// Without blanks around it, in small letters: what differs by no more is the same to a reader.
std::string as_read(std::string_view name) {
  const std::size_t begin = name.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  std::string text(name.substr(begin, name.find_last_not_of(kBlanks) - begin + 1));
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string delimiter_text(char delimiter) {
  return delimiter == '\t' ? "\"\\t\"" : "'" + std::string(1, delimiter) + "'";
}

}  // namespace

std::optional<std::string> why_above_a_table(std::string_view first) {
  const std::size_t begin = first.starts_with('"') ? 1 : 0;
  constexpr std::string_view kSeparator = "sep=";
  if (as_read(first.substr(begin, kSeparator.size())) == kSeparator && first.size() <= begin + 6)
    return "its first line is the `sep=` that spreadsheets write above a table: take that line away";
  if (first.starts_with('#'))
    return "its first line begins with #, as comments above a table do: take those lines away";
  return std::nullopt;
}

std::vector<std::string> blank_separated_words(std::string_view line) {
  if (line.starts_with(kUtf8Mark)) line.remove_prefix(kUtf8Mark.size());
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    std::string& word = words.emplace_back();
    if (line[at] == '"') {
      for (++at; at < line.size() && (line[at] != '"' || line.substr(at + 1).starts_with('"')); ++at) {
        at += line[at] == '"' ? 1 : 0;
        word += line[at];
      }
      if (at == line.size()) return {};
      ++at;
      if (at < line.size() && line[at] != ' ') return {};
    }
    for (; at < line.size() && line[at] != ' '; ++at) {
      if (line[at] == '"' || line[at] == '\t') return {};
      word += line[at];
    }
  }
  return words;
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r,;|\"") == std::string_view::npos;
}

bool has_blanks_beside_quotes(std::string_view line, char delimiter) {
  for (std::size_t at = line.find(' '); at < line.size(); at = line.find(' ', at)) {
    const std::size_t end = std::min(line.find_first_not_of(' ', at), line.size());
    const bool begins = at == 0 || line[at - 1] == delimiter;
    const bool ends = end == line.size() || line[end] == delimiter;
    if (begins && line.substr(end).starts_with('"')) return true;
    if (ends && line.substr(0, at).ends_with('"')) return true;
    at = end;
  }
  return false;
}

std::optional<std::string> why_absent(const std::string& column, const std::vector<std::string>& columns,
                                      std::string_view beginning, char delimiter) {
  const std::string_view line = first_line_of(beginning);
  const std::vector<std::string> fields = split_fields(line, delimiter);
  if (is_blank_line(line))
    return std::string(kFirstLineIsEmpty) + ": take the lines above the names of columns away";
  const bool names_some = std::any_of(columns.begin(), columns.end(),
                                      [&](const std::string& one) { return has_all(fields, {one}); });
  if (auto why = why_above_a_table(line); why && !names_some) return why;
  for (const std::string& field : fields) {
    if (field != column && as_read(field) == as_read(column))
      return "one of its names differs in capitals or in the blanks around it";
  }
  for (const char other : {',', ';', '\t', '|', ':'}) {
    if (other != delimiter && has_all(split_fields(line, other), columns)) {
      return "it has under `delimiter: " + delimiter_text(other) + "`, and the policy says " +
             delimiter_text(delimiter);
    }
  }
  if (has_all(blank_separated_words(line), columns))
    return "its names are parted by blanks, which are no delimiter: save it with a comma, semicolon or tab "
           "between them";
  if (has_blanks_beside_quotes(line, delimiter)) return std::string(kBlanksBesideQuotes);
  if (line.find('\r') != std::string_view::npos)
    return "its lines end in carriage returns: convert them, for instance with tr '\\r' '\\n'";
  return std::nullopt;
}

}  // namespace epsilog::engine
