#include "epsilog/engine/not_text.hpp"

#include <algorithm>
#include <cstdint>

namespace epsilog::engine {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

/// How files of other kinds begin, and what to do with them. Longer beginnings stand before shorter ones.
struct Kind {
  std::string_view begins;
  std::string_view remedy;
};
constexpr Kind kKinds[] = {
    {"\xFF\xFE\0\0"sv, "is UTF-32: convert it first, for instance with iconv -f UTF-32 -t UTF-8"},
    {"\0\0\xFE\xFF"sv, "is UTF-32: convert it first, for instance with iconv -f UTF-32 -t UTF-8"},
    {"\xFF\xFE"sv, "is UTF-16: convert it first, for instance with iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF"sv, "is UTF-16: convert it first, for instance with iconv -f UTF-16 -t UTF-8"},
    {"PK\x03\x04"sv, "is a workbook (xlsx, ods) or another zip archive: save its table as CSV"},
    {"PK\x05\x06"sv, "is an empty zip archive: save the table as CSV"},
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "is a workbook (xls) or another document: save its table as CSV"},
    {"\x1F\x8B"sv, "is compressed: decompress it first, for instance with gunzip"},
    {"\xFD\x37zXZ\0"sv, "is compressed: decompress it first, for instance with unxz"},
    {"\x28\xB5\x2F\xFD"sv, "is compressed: decompress it first, for instance with unzstd"},
    {"7z\xBC\xAF\x27\x1C"sv, "is compressed: decompress it first, for instance with 7z x"},
    {"SQLite format 3\0"sv, "is an SQLite database: declare `source: {sqlite: FILE, table: NAME}`"},
    {"\0\x05\x16\x07"sv, "is a `._` file, which macOS writes beside another one: name that one"},
    {"%PDF-"sv, "is a PDF document: save its table as CSV"},
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool begins_in_any_case(std::string_view text, std::string_view lower) {
  const auto same = [](char c, char wanted) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == wanted;
  };
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [&](char w, char c) { return same(c, w); });
}

std::optional<std::string> why_markup(std::string_view text) {
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  const auto skip_blanks = [&text] {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  };
  skip_blanks();
  for (const std::string_view tag : {"<!doctype"sv, "<html"sv, "<table"sv, "<?xml"sv}) {
    if (begins_in_any_case(text, tag))
      return "is HTML or XML, as some programs call a workbook: save its table as CSV";
  }
  if (!text.starts_with('{') && !text.starts_with('[')) return std::nullopt;
  const bool list = text.starts_with('[');
  text.remove_prefix(1);
  skip_blanks();
  if (text.starts_with(list ? '{' : '"')) return "is JSON: save its table as CSV";
  return std::nullopt;
}

/// Whether nearly every second byte is NUL, as in UTF-16 of Latin letters and digits.
bool looks_like_utf16(std::string_view bytes) {
  std::size_t nuls[2] = {};
  for (std::size_t at = 0; at < bytes.size(); ++at) nuls[at % 2] += bytes[at] == '\0' ? 1 : 0;
  const std::size_t most = std::max(nuls[0], nuls[1]);
  return most * 5 > bytes.size() * 2 && std::min(nuls[0], nuls[1]) * 10 < most;
}

/// Control characters that no table has: the file may have one by mistake, and not many.
bool has_many_controls(std::string_view bytes) {
  constexpr std::size_t kFew = 8, kOneIn = 50;
  const auto is_control = [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return byte < 0x20 && (byte < '\t' || byte > '\r') && byte != 0x1A;
  };
  const auto controls = static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), is_control));
  return controls > kFew && controls * kOneIn > bytes.size();
}

}  // namespace

std::optional<std::string> why_not_text(std::string_view beginning) {
  for (const Kind& kind : kKinds) {
    if (beginning.starts_with(kind.begins)) return std::string(kind.remedy);
  }
  if (auto why = why_markup(beginning)) return why;
  constexpr std::size_t kLooked = 4096;
  const std::string_view looked = beginning.substr(0, kLooked);
  if (looks_like_utf16(looked)) {
    return "looks like UTF-16 without its mark: convert it first, for instance with iconv -f UTF-16LE -t "
           "UTF-8";
  }
  if (beginning.find('\0') != std::string_view::npos)
    return "has NUL bytes, so it is no text: save its table as CSV";
  if (has_many_controls(looked))
    return "is full of control characters, so it is no text: save its table as CSV";
  return std::nullopt;
}

std::optional<std::string> why_not_lines(std::string_view bytes) {
  std::uint64_t returns = 0, doubled = 0, feeds = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    feeds += c == '\n' ? 1 : 0;
    const std::string_view after = bytes.substr(at + 1);
    if (c != '\r' || after.starts_with('\n')) continue;
    ++returns;
    doubled += after.starts_with("\r\n") || after == "\r" ? 1 : 0;
  }
  const bool one_line = returns == 1 && feeds == 0 && bytes.ends_with('\r');
  if (returns == 0 || returns < feeds || one_line) return std::nullopt;
  if (2 * doubled > returns)
    return "has two carriage returns before each line feed: take them away, for instance with tr -d '\\r'";
  return "has " + std::to_string(returns) + (returns == 1 ? " carriage return" : " carriage returns") +
         (feeds == 0 ? " and no line feed" : " that no line feed follows") +
         ": convert its line ends, for instance with tr '\\r' '\\n'";
}

}  // namespace epsilog::engine
