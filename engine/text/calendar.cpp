#include "calendar.hpp"

#include <algorithm>
#include <chrono>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"

namespace epsilog::engine {
namespace {

using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;
using std::chrono::year_month_day_last;

constexpr unsigned kMonthsOfAQuarter = 3;

std::int64_t count(sys_days day) {
  return day.time_since_epoch().count();
}

year_month_day date_of(std::int64_t day) {
  return year_month_day(sys_days(days(day)));
}

/// `length` months from the first day of `from` on.
DayRange months(year of, unsigned from, unsigned length) {
  return {count(sys_days(of / month(from) / 1)),
          count(sys_days(year_month_day_last(of, std::chrono::month_day_last(month(from + length - 1)))))};
}

unsigned first_month_of_quarter(month of) {
  return (static_cast<unsigned>(of) - 1) / kMonthsOfAQuarter * kMonthsOfAQuarter + 1;
}

DayRange week_of(std::int64_t day) {
  const auto after_monday = (std::chrono::weekday(sys_days(days(day))) - std::chrono::Monday).count();
  return {day - after_monday, day - after_monday + 6};
}

std::string digits(int value, std::size_t width) {
  std::string text = std::to_string(value);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

/// A week belongs to the year in which its Thursday lies.
std::string week_name(std::int64_t day) {
  const std::int64_t thursday = week_of(day).first + 3;
  const year of = date_of(thursday).year();
  const std::int64_t number = (thursday - count(sys_days(of / 1 / 1))) / 7 + 1;
  return digits(static_cast<int>(of), 4) + "-W" + digits(static_cast<int>(number), 2);
}

bool all_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The first day on which a period of such a name could begin; its own name decides whether it does.
std::optional<std::int64_t> first_day(CalendarPeriod period, std::string_view name) {
  std::int64_t day = 0;
  if (period == CalendarPeriod::day) {
    if (!parse_date(name, day)) return std::nullopt;
    return day;
  }
  if (name.size() < 4 || !all_digits(name.substr(0, 4))) return std::nullopt;
  const year of(std::stoi(std::string(name.substr(0, 4))));
  const std::string_view rest = name.substr(4);
  switch (period) {
    case CalendarPeriod::year:
      return count(sys_days(of / 1 / 1));
    case CalendarPeriod::month:
      if (!parse_date(std::string(name) + "-01", day)) return std::nullopt;
      return day;
    case CalendarPeriod::quarter:
      if (rest.size() != 3 || rest[2] < '1' || rest[2] > '4') return std::nullopt;
      return count(sys_days(of / month(static_cast<unsigned>(rest[2] - '1') * kMonthsOfAQuarter + 1) / 1));
    case CalendarPeriod::week: {
      if (rest.size() != 4 || !all_digits(rest.substr(2))) return std::nullopt;
      const int number = std::stoi(std::string(rest.substr(2)));
      return week_of(count(sys_days(of / 1 / 4))).first + 7 * (number - 1);
    }
    case CalendarPeriod::day:
      break;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

DayRange period_of(CalendarPeriod period, std::int64_t day) {
  const year_month_day date = date_of(day);
  switch (period) {
    case CalendarPeriod::day:
      return {day, day};
    case CalendarPeriod::week:
      return week_of(day);
    case CalendarPeriod::month:
      return months(date.year(), static_cast<unsigned>(date.month()), 1);
    case CalendarPeriod::quarter:
      return months(date.year(), first_month_of_quarter(date.month()), kMonthsOfAQuarter);
    case CalendarPeriod::year:
      return months(date.year(), 1, 12);
  }
  EPSILOG_INVARIANT(false);
}

std::string period_name(CalendarPeriod period, std::int64_t day) {
  const year_month_day date = date_of(day);
  const std::string of_year = digits(static_cast<int>(date.year()), 4);
  switch (period) {
    case CalendarPeriod::day:
      return date_text(day);
    case CalendarPeriod::week:
      return week_name(day);
    case CalendarPeriod::month:
      return of_year + "-" + digits(static_cast<int>(static_cast<unsigned>(date.month())), 2);
    case CalendarPeriod::quarter:
      return of_year + "-Q" +
             std::to_string((first_month_of_quarter(date.month()) - 1) / kMonthsOfAQuarter + 1);
    case CalendarPeriod::year:
      return of_year;
  }
  EPSILOG_INVARIANT(false);
}

std::optional<DayRange> parse_period(CalendarPeriod period, std::string_view name) {
  const auto day = first_day(period, name);
  if (!day || period_name(period, *day) != name) return std::nullopt;
  return period_of(period, *day);
}

std::string_view example(CalendarPeriod period) {
  switch (period) {
    case CalendarPeriod::day:
      return "2024-01-31";
    case CalendarPeriod::week:
      return "2024-W05";
    case CalendarPeriod::month:
      return "2024-01";
    case CalendarPeriod::quarter:
      return "2024-Q1";
    case CalendarPeriod::year:
      return "2024";
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace epsilog::engine
