// Good CSV files of all kinds that people have, and what programs and people do to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::test {

/// A table, and how it is written down.
struct GoodFile {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  char delimiter = ',';
  std::string line_end = "\n";
  bool marked = false;     ///< with a byte order mark
  bool ended = true;       ///< the last line has its end
  bool quoted = false;     ///< every field, not only those that need it
  bool spanning = false;   ///< some cells have line ends in them
  std::string above = {};  ///< lines before the names

  [[nodiscard]] std::string field(const std::string& text) const {
    const bool needed =
        text.find(delimiter) != std::string::npos || text.find_first_of("\"\r\n") != std::string::npos;
    if (!quoted && !needed) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
  }
  [[nodiscard]] std::string line(const std::vector<std::string>& fields) const {
    std::string text;
    for (const std::string& one : fields)
      text += (text.empty() && &one == &fields.front() ? "" : std::string(1, delimiter)) + field(one);
    return text;
  }
  [[nodiscard]] std::string text() const {
    std::string text = (marked ? "\xEF\xBB\xBF" : "") + above + line(names);
    for (const auto& row : rows) text += line_end + line(row);
    return ended ? text + line_end : text;
  }
};

/// The good file of that number: the same at each call.
inline GoodFile good_file(std::uint64_t number) {
  std::mt19937_64 random(number * 7919 + 1);
  const auto any = [&random](std::uint64_t from, std::uint64_t to) {
    return from + random() % (to - from + 1);
  };
  const auto text = [&any](std::uint64_t from, std::uint64_t to) { return std::to_string(any(from, to)); };
  const auto two = [&text](std::uint64_t most) { return text(10, most); };
  GoodFile file;
  file.delimiter = ",;\t|"[number % 4];
  file.line_end = number % 3 == 1 ? "\r\n" : "\n";
  file.marked = number % 5 == 2;
  file.ended = number % 7 != 3;
  file.quoted = number % 6 == 4;
  file.spanning = number % 11 == 5;
  const char point = file.delimiter == ';' ? ',' : '.';
  using Cell = std::function<std::string(std::size_t row)>;
  struct Column {
    std::string name;
    Cell cell;
  };
  const std::vector<Column> several = {
      {"id", [](std::size_t row) { return std::to_string(101 + row); }},
      {"age", [&](std::size_t) { return text(18, 97); }},
      {"Cost in EUR", [&](std::size_t) { return text(1, 5000) + point + two(99); }},
      {"seen", [&](std::size_t) { return "20" + two(24) + "-" + two(12) + "-" + two(28); }},
      {"gesehen am", [&](std::size_t) { return two(28) + "." + two(12) + ".20" + two(24); }},
      {"ward", [&](std::size_t) { return std::string(1, "ABC"[any(0, 2)]); }},
      {"note",
       [&](std::size_t row) {
         const char* notes[] = {"fine", "", "fell, at home", "said \"ouch\"", " ", "see p. 3", "x;y"};
         if (file.spanning && row % 2 == 0) return std::string("fell\nat home");
         return std::string(notes[any(0, 6)]);
       }},
      {"smoker",
       [&](std::size_t) {
         return std::string(any(0, 3) == 0 ? "NA" : any(0, 1) == 0 ? "yes" : "no");
       }},
      {"Größe", [&](std::size_t) { return text(140, 199); }},
      {"code", [&](std::size_t) { return "00" + text(1, 9) + two(99); }},
      {"flag", [&](std::size_t) { return std::string(any(0, 1) == 0 ? "true" : "false"); }},
      {"", [](std::size_t row) { return std::to_string(row); }},
      {"at", [&](std::size_t) { return "2024-01-" + two(28) + " 08:" + two(59) + ":00"; }},
      {"remark", [](std::size_t) { return std::string(); }},
      {"Weight at 6 months", [&](std::size_t) { return any(0, 2) == 0 ? "" : text(5, 9) + point + two(99); }},
  };
  const std::vector<Column> alone = {
      {"age", [&](std::size_t) { return text(18, 97); }},
      {"Patient name",
       [&](std::size_t) { return std::string("Zoe Q") + static_cast<char>('a' + any(0, 25)); }},
      {"seen at", [&](std::size_t) { return "2024-01-" + two(28) + " 08:" + two(59); }},
      {"Amount paid", [&](std::size_t) { return text(1, 9) + " " + text(100, 999); }},
      {"Betrag", [&](std::size_t) { return text(1, 900) + "," + two(99); }},
      {"Length of stay", [&](std::size_t) { return text(2, 9) + " days"; }},
  };
  std::vector<Column> columns;
  if (number % 10 == 9) {
    columns.push_back(alone[number / 10 % alone.size()]);
    file.delimiter = columns.front().name == "Betrag" ? ';' : file.delimiter;
  } else {
    columns = several;
    std::shuffle(columns.begin(), columns.end(), random);
    columns.resize(2 + any(0, 6));
    const auto found = std::find_if(columns.begin(), columns.end(), [](const Column& one) {
      return one.name == "age" || one.name == "id" || one.name == "Cost in EUR";
    });
    if (found == columns.end()) columns.push_back(several[1]);
    if (file.spanning &&
        std::none_of(columns.begin(), columns.end(), [](const Column& one) { return one.name == "note"; }))
      columns.push_back(several[6]);
  }
  for (const Column& column : columns) file.names.push_back(column.name);
  for (std::size_t row = 0, rows = number % 13 == 6 ? 2 : any(3, 40); row < rows; ++row) {
    std::vector<std::string>& cells = file.rows.emplace_back();
    for (const Column& column : columns) cells.push_back(column.cell(row));
  }
  return file;
}

/// A text of ASCII and umlauts in UTF-16, low bytes first unless `big`.
inline std::string in_utf16(const std::string& text, bool big) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned point = static_cast<unsigned char>(text[at]);
    if (point >= 0xE0) {
      point = 0xFEFF;
      at += 2;
    } else if (point >= 0x80) {
      point = (point & 0x1FU) << 6U | (static_cast<unsigned char>(text[++at]) & 0x3FU);
    }
    const char low = static_cast<char>(point & 0xFFU), high = static_cast<char>(point >> 8U);
    result += big ? high : low;
    result += big ? low : high;
  }
  return result;
}

/// Which damages there are, by name; each makes the bytes of the damaged file.
using Damage = std::function<std::string(GoodFile)>;
inline const std::map<std::string, Damage>& damages() {
  const auto noise = [](std::size_t size) {
    std::mt19937_64 random(4711);
    std::string bytes;
    while (bytes.size() < size) bytes += static_cast<char>(random() % 256);
    return bytes;
  };
  const auto with_row_names = [](GoodFile file, bool numbered) {
    for (std::size_t row = 0; row < file.rows.size(); ++row) {
      file.rows[row].insert(file.rows[row].begin(),
                            numbered ? std::to_string(row + 1)
                                     : "Zcar" + std::string(1, static_cast<char>('a' + row % 26)) + "x");
    }
    file.quoted = true;  // and empty cells are NA
    for (auto& row : file.rows) std::replace(row.begin(), row.end(), std::string(), std::string("NA"));
    return file;
  };
  const auto blank_parted_text = [](GoodFile file) {
    for (auto& row : file.rows) {
      for (std::string& cell : row) cell = cell.empty() ? "NA" : cell;
    }
    file.delimiter = ' ';
    return file.text();
  };
  static const std::map<std::string, Damage> kDamages = {
      {"none", [](const GoodFile& file) { return file.text(); }},
      {"R row numbers", [=](const GoodFile& file) { return with_row_names(file, true).text(); }},
      {"R row names", [=](const GoodFile& file) { return with_row_names(file, false).text(); }},
      {"carriage returns",
       [](GoodFile file) {
         file.line_end = "\r";
         return file.text();
       }},
      {"doubled returns",
       [](GoodFile file) {
         file.line_end = "\r\r\n";
         return file.text();
       }},
      {"sep line",
       [](GoodFile file) {
         file.above = std::string("sep=") + file.delimiter + file.line_end;
         return file.text();
       }},
      {"title",
       [](GoodFile file) {
         file.above = "Zvisits by ward" + file.line_end;
         return file.text();
       }},
      {"title block",
       [](GoodFile file) {
         file.above = "Zvisits by ward" + file.line_end + "Made by Zclerk" + file.line_end + file.line_end;
         return file.text();
       }},
      {"comment lines",
       [](GoodFile file) {
         file.above = "# exported by Zclerk" + file.line_end;
         return file.text();
       }},
      {"empty line above",
       [](GoodFile file) {
         file.above = file.line_end;
         return file.text();
       }},
      {"blanks beside quotes",
       [](GoodFile file) {
         file.quoted = true;
         std::string text = file.text();
         const std::string between = std::string("\"") + file.delimiter + '"';
         for (std::size_t at = text.find(between); at < text.size(); at = text.find(between, at + 2))
           text.insert(at + 2, " ");
         return text;
       }},
      {"last cells left out",
       [](GoodFile file) {
         for (auto& row : file.rows) row.pop_back();
         return file.text();
       }},
      {"blanks", [=](const GoodFile& file) { return blank_parted_text(file); }},
      {"blanks and row numbers",
       [=](const GoodFile& file) { return blank_parted_text(with_row_names(file, true)); }},
      {"trailing delimiter",
       [](GoodFile file) {
         for (auto& row : file.rows) row.emplace_back();
         file.quoted = false;
         return file.text();
       }},
      {"UTF-16", [](const GoodFile& file) { return "\xFF\xFE" + in_utf16(file.text(), false); }},
      {"UTF-16 big", [](const GoodFile& file) { return "\xFE\xFF" + in_utf16(file.text(), true); }},
      {"UTF-16 unmarked",
       [](GoodFile file) {
         file.marked = false;
         return in_utf16(file.text(), false);
       }},
      {"workbook", [=](const GoodFile& file) { return "PK\x03\x04" + noise(40) + file.text(); }},
      {"old workbook", [=](const GoodFile&) { return "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + noise(3000); }},
      {"gzip", [=](const GoodFile&) { return "\x1F\x8B\x08" + noise(300); }},
      {"random bytes", [=](const GoodFile&) { return noise(3000); }},
      {"macOS companion", [=](const GoodFile&) { return std::string("\0\x05\x16\x07", 4) + noise(100); }},
      {"SQLite", [=](const GoodFile&) { return std::string("SQLite format 3\0", 16) + noise(4000); }},
      {"PDF", [=](const GoodFile&) { return "%PDF-1.7\n" + noise(500); }},
      {"web page",
       [](const GoodFile& file) {
         return "<html><table><tr><td>" + file.text() + "</td></tr></table></html>\n";
       }},
      {"JSON",
       [](const GoodFile&) { return std::string("[{\"id\": 1, \"ward\": \"A\"},\n {\"id\": 2}]\n"); }},
      {"no names",
       [](GoodFile file) {
         file.names = file.rows.front();
         file.rows.erase(file.rows.begin());
         return file.text();
       }},
      {"no rows",
       [](GoodFile file) {
         file.rows.clear();
         return file.text();
       }},
      {"empty", [](const GoodFile&) { return std::string(); }},
  };
  return kDamages;
}

}  // namespace epsilog::test
