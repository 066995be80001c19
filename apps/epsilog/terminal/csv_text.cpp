#include "csv_text.hpp"

#include <algorithm>

namespace epsilog::command {
namespace {

constexpr std::string_view kDecimals = "0123456789";
constexpr std::string_view kHexadecimal = "0123456789abcdef";

std::string quoted_if_needed(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

/// Takes one or more of these characters away from the front; whether there was one.
bool skip_any(std::string_view& text, std::string_view any_of) {
  const std::size_t end = std::min(text.find_first_not_of(any_of), text.size());
  text.remove_prefix(end);
  return end > 0;
}

bool skip_one(std::string_view& text, std::string_view any_of) {
  const bool there = !text.empty() && any_of.find(text.front()) != std::string_view::npos;
  if (there) text.remove_prefix(1);
  return there;
}

/// What follows 0x in "0x1.8p-3".
bool is_rest_of_hexadecimal(std::string_view text) {
  if (!skip_any(text, kHexadecimal)) return false;
  if (skip_one(text, ".") && !skip_any(text, kHexadecimal)) return false;
  if (!skip_one(text, "p")) return false;
  skip_one(text, "+-");
  return skip_any(text, kDecimals) && text.empty();
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + quoted_if_needed(cells[i]);
  return line + "\n";
}

std::string no_formula(const std::string& text) {
  const bool guarded =
      !text.empty() && std::string_view("=+-@'").find(text.front()) != std::string_view::npos;
  return guarded ? "'" + text : text;
}

bool is_quantity(std::string_view text) {
  skip_one(text, "-");
  if (text.starts_with("0x")) return is_rest_of_hexadecimal(text.substr(2));
  if (!skip_any(text, kDecimals)) return false;
  if (skip_one(text, "./") && !skip_any(text, kDecimals)) return false;
  return text.empty();
}

}  // namespace epsilog::command
