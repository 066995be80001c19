#include "released_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "answer_facts.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

/// By which cell `i` is drawn.
std::size_t component_of(const engine::Answer& answer, std::size_t i) {
  if (!wire::asks_totals(answer)) return 0;
  const auto margins = answer.planned.record.cells.margins();
  std::size_t component = 0;
  while (component + 1 < margins.all().size() && i >= margins.all()[component + 1].first) ++component;
  return component;
}

/// The scale of the noise in one value. Of a quotient, that of its numerator over the noisy count or sum:
/// that adds some, so that no digit is taken that is worth anything.
std::optional<Rational> noise_scale(const engine::Answer& answer, std::size_t i) {
  const auto& components = answer.planned.record.components;
  if (components.empty()) return std::nullopt;
  const ledger::ComponentRecord& drawn_by = components.at(component_of(answer, i));
  Rational scale = drawn_by.scale;
  // Noise beyond the range of the answers is clamped.
  const std::optional<Rational>& bound = drawn_by.bound;
  if (bound && *bound > 0 && *bound < scale) scale = *bound;
  if (wire::asks_proportion(answer)) {
    const auto& drawn = answer.released.component_values;
    if (drawn.size() != 1 || 2 * i + 1 >= drawn.front().size()) return std::nullopt;
    return Rational(scale / std::max(Rational(1), Rational(drawn.front()[2 * i] + drawn.front()[2 * i + 1])));
  }
  if (components.size() == 1 || wire::asks_totals(answer)) return scale;
  const bool by_count = components.back().statistic == "count" &&
                        answer.released.component_values.size() == components.size() &&
                        i < answer.released.component_values.back().size();
  if (wire::asks_ratio(answer) && i < answer.released.component_values.back().size()) {
    const Rational& below = answer.released.component_values.back()[i];
    return below > 0 ? std::optional<Rational>(scale / below) : std::nullopt;
  }
  if (!by_count) return std::nullopt;
  return Rational(scale / std::max(Rational(1), answer.released.component_values.back()[i]));
}

/// The largest k with 10^k <= value.
/// Requires  value > 0.
long order_of(const Rational& value) {
  const auto digits = [](const accounting::Integer& n) {
    return static_cast<long>(mpz_sizeinbase(n.get_mpz_t(), 10));
  };
  long order = digits(value.get_num()) - digits(value.get_den()) + 1;  // at most two too large
  while (accounting::power_of_ten(order) > value) --order;
  return order;
}

bool counts_in_whole_numbers(const engine::Answer& answer) {
  using Kind = accounting::PostProcessing::Kind;
  const Kind kind = answer.planned.post_processing;
  if (kind == Kind::rounded || kind == Kind::whole_totals) return true;
  const auto& components = answer.planned.record.components;
  if (kind == Kind::totals) {
    return std::all_of(components.begin(), components.end(),
                       [](const auto& component) { return component.grid.get_den() == 1; });
  }
  return components.size() == 1 && components.front().grid.get_den() == 1 && !wire::asks_proportion(answer);
}

Rational rounded(const Rational& value, long place) {
  const Rational unit = accounting::power_of_ten(place);
  return accounting::floor(value / unit + Rational(1, 2)) * unit;
}

/// With as many digits behind the point as the place has, so that a column of them is aligned.
std::string rounded_text(const Rational& value, long place) {
  std::string text = accounting::text(rounded(value, place));
  if (place >= 0) return text;
  const std::size_t point = text.find('.');
  const std::size_t behind = point == std::string::npos ? 0 : text.size() - point - 1;
  if (behind == 0) text += '.';
  text.append(static_cast<std::size_t>(-place) - behind, '0');
  return text;
}

/// From the first digit that is not 0 to the last; of what has no decimal, more than any.
std::size_t significant_digits(const Rational& value) {
  std::string digits = accounting::text(value);
  if (digits.find('/') != std::string::npos) return std::string::npos;
  const bool fraction = digits.find('.') != std::string::npos;
  std::erase_if(digits, [](char c) { return c == '-' || c == '.'; });
  digits.erase(0, digits.find_first_not_of('0'));
  if (!fraction) digits.erase(digits.find_last_not_of('0') + 1);
  return digits.size();
}

constexpr long kFinestPlace = -12;

/// The least noise in what is shown together: a table and its totals are rounded alike, as their readers add
/// them up.
std::optional<Rational> rounding_scale(const engine::Answer& answer, std::size_t i) {
  std::optional<Rational> least = noise_scale(answer, i);
  if (!wire::asks_totals(answer)) return least;
  const auto margins = answer.planned.record.cells.margins();
  for (const auto& margin : margins.all()) {
    const std::optional<Rational> scale = noise_scale(answer, margin.first);
    if (scale && (!least || *scale < *least)) least = scale;
  }
  return least;
}

/// To which a value is rounded; nothing where it is shown as it is.
std::optional<long> place_of(const engine::Answer& answer, std::size_t i, const Style& style) {
  const std::optional<Rational> scale = rounding_scale(answer, i);
  if (style.verbose || !scale || *scale <= 0) return std::nullopt;
  long place = order_of(*scale) - 1;
  if (counts_in_whole_numbers(answer)) place = std::max(place, 0L);
  return place < kFinestPlace ? std::nullopt : std::optional(place);
}

/// The number that released_text() shows; nothing where it shows that there are more digits.
std::optional<Rational> shown_number(const engine::Answer& answer, std::size_t i, const Style& style) {
  const Rational& value = answer.released.values.at(i);
  if (const std::optional<long> place = place_of(answer, i, style)) return rounded(value, *place);
  return short_text(value).starts_with('~') ? std::nullopt : std::optional(value);
}

}  // namespace

bool adds_up_as_shown(const engine::Answer& answer, const Style& style) {
  const auto margins = answer.planned.record.cells.margins();
  std::vector<Rational> shown;
  for (std::uint64_t cell = 0; cell < margins.cells(); ++cell) {
    const std::optional<Rational> number = shown_number(answer, cell, style);
    if (!number) return false;
    shown.push_back(*number);
  }
  for (const auto& margin : margins.all()) {
    std::vector<Rational> sums(margin.cells);
    for (std::uint64_t cell = 0; cell < margins.table().cells; ++cell) {
      sums.at(margins.within(margins.table(), margin, cell)) += shown.at(cell);
    }
    const auto first = shown.begin() + static_cast<std::ptrdiff_t>(margin.first);
    if (!std::equal(sums.begin(), sums.end(), first)) return false;
  }
  return true;
}

std::string with_digit_groups(std::string decimal) {
  const std::size_t begin = decimal.find_first_of("0123456789");
  if (begin == std::string::npos || decimal.find_first_of("/e") != std::string::npos) return decimal;
  const std::size_t end = std::min(decimal.find_first_not_of("0123456789", begin), decimal.size());
  for (std::size_t at = end; at > begin + 3;) {
    at -= 3;
    decimal.insert(at, ",");
  }
  return decimal;
}

std::string with_digit_groups(std::int64_t count) {
  return with_digit_groups(std::to_string(count));
}

std::string key_text(const std::optional<std::string>& key) {
  return key.value_or("total");
}

std::string cell_name(const engine::Answer& answer, std::size_t i) {
  std::string name;
  for (const auto& key : answer.planned.record.cells.keys_of(i))
    name += (name.empty() ? "" : ", ") + key_text(key);
  return name;
}

std::string margin_name(const engine::Answer& answer, std::size_t component) {
  const std::vector<std::string> columns = wire::columns_drawn(answer, component);
  if (columns.empty()) return "the grand total";
  return component == 0 ? "cells" : "totals by " + engine::by_text(columns);
}

std::string part_name(const ledger::ComponentRecord& component) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kWords{
      {{"sum_about_centre", "sum about the middle of the bounds"},
       {"squares_about_centre", "sum of squares about the middle of the bounds"},
       {"rows_of_value", "counts of rows with the value and of other rows"},
       {"quantile_day", "quantile"}}};
  for (const auto& [recorded, words] : kWords) {
    if (component.statistic == recorded) return std::string(words);
  }
  return component.statistic;
}

std::string released_text(const engine::Answer& answer, std::size_t i, const Style& style) {
  const Rational& value = answer.released.values.at(i);
  if (engine::is_suppressed(answer, i)) return std::string(kSuppressed);
  if (wire::asks_days(answer)) return wire::exact_text(answer, value);
  if (wire::asks_quantiles(answer)) return with_digit_groups(short_text(value));
  const std::optional<long> place = place_of(answer, i, style);
  return with_digit_groups(place ? rounded_text(value, *place) : short_text(value));
}

std::string interval_text(const engine::Answer& answer, std::size_t i,
                          const mechanisms::AnswerInterval& interval, const Style& style) {
  const Rational& value = answer.released.values.at(i);
  const std::optional<Rational> shown = shown_number(answer, i, style);
  if (shown && interval.high - value == value - interval.low) {
    const Rational half = std::max<Rational>(interval.high - *shown, *shown - interval.low);
    return std::string(style.utf8 ? "\u00b1 " : "+- ") + error_text(half, style);
  }
  return range_text(answer, interval);
}

std::string range_text(const engine::Answer& answer, const mechanisms::AnswerInterval& interval) {
  if (wire::asks_days(answer))
    return "[" + wire::exact_text(answer, interval.low) + ", " + wire::exact_text(answer, interval.high) +
           "]";
  const Rational width = interval.high - interval.low;
  const Rational unit = accounting::power_of_ten(width > 0 ? order_of(width) - 2 : kFinestPlace);
  // What has three digits is told as it is: mostly an end of the range, as it was declared.
  const auto end = [](const Rational& exact, const Rational& outward) {
    return with_digit_groups(accounting::text(significant_digits(exact) <= 3 ? exact : outward));
  };
  return "[" + end(interval.low, accounting::floor(interval.low / unit) * unit) + ", " +
         end(interval.high, accounting::ceil(interval.high / unit) * unit) + "]";
}

std::string interval_or_whole_range(const engine::Answer& answer, std::size_t i,
                                    const engine::CellIntervals& of,
                                    const mechanisms::AnswerInterval& interval, const Style& style) {
  if (!of.is_whole_range(i, interval)) return interval_text(answer, i, interval, style);
  return range_text(answer, interval) + " whole range";
}

std::string error_text(const Rational& error, const Style& style) {
  constexpr std::size_t kShort = 12;
  const std::string exact = accounting::text(error);
  const bool short_decimal = exact.size() <= kShort && exact.find('/') == std::string::npos;
  if (style.verbose) return with_digit_groups(short_decimal ? exact : accounting::text_up(error, 6));
  if (error <= 0) return with_digit_groups(exact);
  const Rational unit = accounting::power_of_ten(order_of(error) - 2);
  return with_digit_groups(accounting::text(accounting::ceil(error / unit) * unit));
}

std::string confidence_text(const Rational& alpha) {
  return short_text(Rational(100 - 100 * alpha)) + " %";
}

}  // namespace epsilog::command
