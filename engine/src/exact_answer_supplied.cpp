// Values computed elsewhere. Their text comes from the true answer, so whether it is accepted must
// depend on what kind of text it is and never on how large the number is.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/exact_answer.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;

constexpr long kExponentMax = 100'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

[[noreturn]] void refuse() {
  throw InvalidParameter(
      "value: not a number: write it as 12.5, 1e-6 or 1/3, or nan or inf when it is undefined");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_undefined_word(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  // C's strtod also writes and reads nan(ind), nan(0x8000) and the like.
  const bool nan_with_payload = lower.starts_with("nan(") && lower.ends_with(')');
  return lower == "nan" || lower == "inf" || lower == "infinity" || nan_with_payload;
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto size = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

Integer integer(std::string_view digits) {
  return digits.empty() ? Integer(0) : Integer(std::string(digits), 10);
}

/// The exponent after an 'e', limited to just beyond +-kExponentMax.
long take_exponent(std::string_view& text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) refuse();
  long exponent = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (result.ec != std::errc() || exponent > kExponentMax) exponent = kExponentMax + 1;
  return negative ? -exponent : exponent;
}

/// The number without its sign; empty for one divided by zero or with an exponent beyond the limit.
std::optional<Rational> magnitude_of(std::string_view text) {
  const std::string_view whole = take_digits(text);
  if (!whole.empty() && text.starts_with('/')) {
    text.remove_prefix(1);
    const std::string_view below = take_digits(text);
    if (below.empty() || !text.empty()) refuse();
    const Integer denominator = integer(below);
    if (denominator == 0) return std::nullopt;
    Rational result(integer(whole), denominator);
    result.canonicalize();
    return result;
  }
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (whole.empty() && fraction.empty()) refuse();
  const long exponent = take_exponent(text);
  if (!text.empty()) refuse();
  if (exponent > kExponentMax || exponent < -kExponentMax) return std::nullopt;
  const Rational digits(integer(std::string(whole) + std::string(fraction)));
  return digits * accounting::power_of_ten(exponent - static_cast<long>(fraction.size()));
}

}  // namespace

Rational parse_supplied_value(std::string_view text, const NamedQuery& query) {
  text = trimmed(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (is_undefined_word(text)) return query.undefined;
  const std::optional<Rational> magnitude = magnitude_of(text);
  if (!magnitude) return query.undefined;
  return negative ? Rational(-*magnitude) : *magnitude;
}

}  // namespace epsilog::engine
