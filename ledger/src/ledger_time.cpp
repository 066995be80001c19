#include "ledger_time.hpp"

#include <sodium.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <system_error>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kIdLength = 26;
constexpr std::size_t kTimeLength = 10;  // 48 bits, five each

/// Requires  at most 256 bytes.
void fill_from_system(std::span<unsigned char> bytes) {
  if (getentropy(bytes.data(), bytes.size()) == 0) return;
  throw EntropyUnavailable("the operating system gave no randomness: " +
                           std::generic_category().message(errno));
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string text(size * 2 + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes, size);
  text.pop_back();
  return text;
}

std::string time_digits(std::int64_t ms) {
  std::string digits(kTimeLength, '0');
  for (std::size_t place = kTimeLength; place-- > 0; ms >>= 5) {
    digits[place] = kAlphabet[static_cast<std::size_t>(ms & 31)];
  }
  return digits;
}

std::string successor(std::string id) {
  for (std::size_t place = id.size(); place-- > 0;) {
    const std::size_t digit = kAlphabet.find(id[place]);
    EPSILOG_INVARIANT(digit != std::string_view::npos);
    if (digit + 1 < kAlphabet.size()) {
      id[place] = kAlphabet[digit + 1];
      return id;
    }
    id[place] = kAlphabet[0];
  }
  throw LedgerCorrupt("the ids of this ledger are used up: its last one is the greatest there is");
}

/// Two decimal digits and the like; -1 if not digits only.
int number(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// None unless the text is exactly what time_text writes.
std::optional<std::int64_t> read_time(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != 24) return std::nullopt;
  const year_month_day date{year{number(text.substr(0, 4))},
                            month{static_cast<unsigned>(number(text.substr(5, 2)))},
                            day{static_cast<unsigned>(number(text.substr(8, 2)))}};
  if (!date.ok()) return std::nullopt;
  const auto when = sys_days{date} + hours{number(text.substr(11, 2))} + minutes{number(text.substr(14, 2))} +
                    seconds{number(text.substr(17, 2))} + milliseconds{number(text.substr(20, 3))};
  const std::int64_t ms = duration_cast<milliseconds>(when.time_since_epoch()).count();
  if (ms < 0 || time_text(ms) != text) return std::nullopt;
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
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

std::int64_t parse_time(std::string_view text) {
  if (const auto ms = read_time(text)) return *ms;
  throw LedgerCorrupt("'" + std::string(text) + "' is not a time of a ledger");
}

bool is_time(std::string_view text) {
  return read_time(text).has_value();
}

std::string next_id(const std::string& previous, std::int64_t ms) {
  const std::string now = time_digits(ms);
  if (!previous.empty() && previous.compare(0, kTimeLength, now) >= 0) return successor(previous);
  std::array<unsigned char, kIdLength - kTimeLength> random{};
  fill_from_system(random);
  std::string id = now;
  for (const unsigned char byte : random) id.push_back(kAlphabet[byte & 31]);
  return id;
}

bool may_be_next_id(const std::string& previous, const std::string& id, std::int64_t ms) {
  const std::string now = time_digits(ms);
  if (!previous.empty() && previous.compare(0, kTimeLength, now) >= 0) return id == successor(previous);
  return id.compare(0, kTimeLength, now) == 0;
}

bool is_id(std::string_view text) {
  return text.size() == kIdLength && text.front() <= '7' &&
         text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::string random_hex_128() {
  std::array<unsigned char, 16> random{};
  fill_from_system(random);
  return hex(random.data(), random.size());
}

}  // namespace epsilog::ledger
