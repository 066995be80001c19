#include "table_output.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kShort = 20;

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string blanks(width - display_width(cell), ' ');
  return align == Table::Align::right ? blanks + cell : cell + blanks;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  EPSILOG_INVARIANT(cells.size() == headings_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(const Style& style) const {
  std::vector<std::size_t> widths;
  for (const Heading& heading : headings_) widths.push_back(display_width(heading.text));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  const auto line = [&](const auto& cell_at) {
    std::string result;
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      result += "  " + padded(cell_at(i), widths[i], headings_[i].align);
    }
    return without_trailing_blanks(std::move(result));
  };
  std::string result = style.faint(line([&](std::size_t i) { return headings_[i].text; })) + "\n";
  for (const auto& row : rows_) result += line([&](std::size_t i) { return row[i]; }) + "\n";
  return result;
}

std::string bar(const accounting::Rational& part, const accounting::Rational& whole, unsigned width,
                const Style& style) {
  EPSILOG_INVARIANT(whole > 0);
  const unsigned steps = style.utf8 ? 8 : 1;
  const accounting::Rational fraction = std::clamp<accounting::Rational>(part / whole, 0, 1);
  const auto filled = accounting::floor(fraction * (width * steps)).get_ui();
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string result;
  for (unsigned long i = 0; i < filled / steps; ++i) result += style.utf8 ? "█" : "#";
  unsigned long used = filled / steps;
  if (filled % steps != 0) {
    result += kEighths[filled % steps];
    ++used;
  }
  for (; used < width; ++used) result += style.utf8 ? "░" : ".";
  return result;
}

std::string with_bars(const std::function<std::string(unsigned, const Style&)>& text, unsigned most,
                      const Style& style) {
  constexpr unsigned kLeast = 8;
  Style plain = style;
  plain.colour = false;
  const std::string without = text(0, plain);
  std::size_t widest = 0;
  for (std::string_view rest = without; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    widest = std::max(widest, display_width(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::size_t taken = widest + 2;
  const std::size_t room = style.width > taken ? style.width - taken : 0;
  return text(room < kLeast ? 0 : static_cast<unsigned>(std::min<std::size_t>(most, room)), style);
}

std::string short_text(const accounting::Rational& value) {
  std::string exact = accounting::text(value);
  const bool decimal = exact.find('/') == std::string::npos;
  return decimal && exact.size() <= kShort ? exact : "~" + accounting::text_up(value, 8);
}

std::string short_text(const std::string& number) {
  try {
    return short_text(accounting::parse_stored_rational(number, "number"));
  } catch (const LedgerCorrupt&) {
    return number.substr(0, kShort) + "...";
  }
}

}  // namespace epsilog::command
