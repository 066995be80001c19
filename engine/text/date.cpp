#include "epsilog/engine/date.hpp"

#include <chrono>

namespace epsilog::engine {

bool parse_date(std::string_view text, std::int64_t& days) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i != 4 && i != 7 && (text[i] < '0' || text[i] > '9')) return false;
  }
  const auto digit = [&](std::size_t i) { return static_cast<unsigned>(text[i] - '0'); };
  const std::chrono::year_month_day date(
      std::chrono::year(static_cast<int>(digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3))),
      std::chrono::month(digit(5) * 10 + digit(6)), std::chrono::day(digit(8) * 10 + digit(9)));
  if (!date.ok()) return false;
  days = std::chrono::sys_days(date).time_since_epoch().count();
  return true;
}

std::string date_text(std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  const auto padded = [](unsigned value, std::size_t width) {
    const std::string digits = std::to_string(value);
    return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
  };
  return padded(static_cast<unsigned>(static_cast<int>(date.year())), 4) + "-" +
         padded(static_cast<unsigned>(date.month()), 2) + "-" + padded(static_cast<unsigned>(date.day()), 2);
}

}  // namespace epsilog::engine
