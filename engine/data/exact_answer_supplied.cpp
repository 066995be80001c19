// Values computed elsewhere. Their text comes from the true answer, so every text is taken: an error for
// one that is no number would show, for nothing, that the statistic was undefined.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "epsilog/engine/exact_answer.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;

/// Digits before the point, or zeros behind it, of the numbers that are taken exactly. No policy declares
/// bounds as large; both ends are the same whatever was supplied beyond them.
constexpr long kPlacesMax = 100'000;
/// No text has as many digits to make up for such an exponent.
constexpr long kExponentMax = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool take(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto size = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

/// What stands behind an 'e', limited to +-kExponentMax; empty if that is no number.
std::optional<long> take_exponent(std::string_view& text) {
  const bool negative = text.starts_with('-');
  take(text, "+-");
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  long exponent = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (result.ec != std::errc() || exponent > kExponentMax) exponent = kExponentMax;
  return negative ? -exponent : exponent;
}

std::optional<Rational> quotient(std::string_view above, std::string_view below) {
  if (below.empty() || !std::all_of(below.begin(), below.end(), is_digit)) return std::nullopt;
  const Integer denominator(std::string(below), 10);
  if (denominator == 0) return std::nullopt;
  Rational result(Integer(std::string(above), 10), denominator);
  result.canonicalize();
  return result;
}

/// digits * 10^exponent, for as many digits and as large an exponent as were written.
Rational decimal(const std::string& digits, long exponent) {
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  if (zeros == digits.size()) return 0;
  const long places = static_cast<long>(digits.size() - zeros) + exponent;
  if (places > kPlacesMax) return accounting::power_of_ten(kPlacesMax);
  if (places < -kPlacesMax) return 0;
  return Rational(Integer(digits.substr(zeros), 10)) * accounting::power_of_ten(exponent);
}

/// The number without its sign; empty for what is none.
std::optional<Rational> magnitude_of(std::string_view text) {
  const std::string_view whole = take_digits(text);
  if (!whole.empty() && take(text, "/")) return quotient(whole, text);
  std::string_view fraction;
  if (take(text, ".")) fraction = take_digits(text);
  if (whole.empty() && fraction.empty()) return std::nullopt;
  long exponent = 0;
  if (take(text, "eE")) {
    const auto taken = take_exponent(text);
    if (!taken) return std::nullopt;
    exponent = *taken;
  }
  if (!text.empty()) return std::nullopt;
  return decimal(std::string(whole) + std::string(fraction), exponent - static_cast<long>(fraction.size()));
}

}  // namespace

Rational parse_supplied_value(std::string_view text, const NamedQuery& query) {
  if (text.size() > kSuppliedSizeMax) return query.undefined;
  text = trim_blanks(text);
  const bool negative = text.starts_with('-');
  take(text, "+-");
  const std::optional<Rational> magnitude = magnitude_of(text);
  if (!magnitude) return query.undefined;
  return negative ? Rational(-*magnitude) : *magnitude;
}

}  // namespace epsilog::engine
