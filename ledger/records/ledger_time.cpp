#include "epsilog/ledger/ledger_time.hpp"

#include <chrono>
#include <optional>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {
namespace {

/// Of decimal digits.
int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

/// In place of the zeros that stand there.
void write_digits(std::string& text, std::size_t from, std::size_t digits, int value) {
  for (std::size_t i = digits; i-- > 0; value /= 10) text[from + i] = static_cast<char>('0' + value % 10);
}

/// None unless the text is exactly what time_text writes.
std::optional<std::int64_t> read_time(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kForm = "____-__-__T__:__:__.___Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '_' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return std::nullopt;
  }
  const year_month_day date{year{number(text.substr(0, 4))},
                            month{static_cast<unsigned>(number(text.substr(5, 2)))},
                            day{static_cast<unsigned>(number(text.substr(8, 2)))}};
  const hours hour{number(text.substr(11, 2))};
  const minutes minute{number(text.substr(14, 2))};
  const seconds second{number(text.substr(17, 2))};
  if (!date.ok() || hour >= days{1} || minute >= hours{1} || second >= minutes{1}) return std::nullopt;
  const auto when = sys_days{date} + hour + minute + second + milliseconds{number(text.substr(20, 3))};
  const std::int64_t ms = duration_cast<milliseconds>(when.time_since_epoch()).count();
  if (ms < 0) return std::nullopt;
  return ms;
}

}  // namespace

std::int64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string time_text(std::int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> when{milliseconds(ms)};
  const auto day = floor<days>(when);
  const year_month_day date{day};
  const hh_mm_ss clock{when - day};
  std::string text = "0000-00-00T00:00:00.000Z";
  write_digits(text, 5, 2, static_cast<int>(static_cast<unsigned>(date.month())));
  write_digits(text, 8, 2, static_cast<int>(static_cast<unsigned>(date.day())));
  write_digits(text, 11, 2, static_cast<int>(clock.hours().count()));
  write_digits(text, 14, 2, static_cast<int>(clock.minutes().count()));
  write_digits(text, 17, 2, static_cast<int>(clock.seconds().count()));
  write_digits(text, 20, 3, static_cast<int>(clock.subseconds().count()));
  const int year = static_cast<int>(date.year());
  if (year < 0 || year > 9'999) return text.replace(0, 4, std::to_string(year));
  write_digits(text, 0, 4, year);
  return text;
}

std::int64_t parse_time(std::string_view text) {
  if (const auto ms = read_time(text)) return *ms;
  throw LedgerCorrupt("'" + std::string(text) + "' is not a ledger time");
}

bool is_time(std::string_view text) {
  return read_time(text).has_value();
}

}  // namespace epsilog::ledger
