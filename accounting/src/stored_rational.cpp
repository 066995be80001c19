#include "epsilog/accounting/stored_rational.hpp"

#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

constexpr std::size_t kShown = 60;

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
  throw LedgerCorrupt(std::string(what) + ": '" + std::string(text.substr(0, kShown)) +
                      (text.size() > kShown ? "…" : "") + "' is not an exact number");
}

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// GMP's conversion, which is faster than quadratic. A null character would end it early: only digits here.
Integer integer(std::string_view digits) {
  return Integer(std::string(digits), 10);
}

}  // namespace

Rational parse_stored_rational(std::string_view text, std::string_view what) {
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = negative ? text.substr(1) : text;
  Rational value;
  if (const auto slash = magnitude.find('/'); slash != std::string_view::npos) {
    const std::string_view above = magnitude.substr(0, slash);
    const std::string_view below = magnitude.substr(slash + 1);
    if (!digits_only(above) || !digits_only(below)) refuse(text, what);
    const Integer denominator = integer(below);
    if (denominator == 0) refuse(text, what);
    value = Rational(integer(above), denominator);
    value.canonicalize();
  } else if (const auto point = magnitude.find('.'); point != std::string_view::npos) {
    const std::string_view whole = magnitude.substr(0, point);
    const std::string_view decimals = magnitude.substr(point + 1);
    if (!digits_only(whole) || !digits_only(decimals)) refuse(text, what);
    value = Rational(integer(std::string(whole).append(decimals)));
    value /= power_of_ten(static_cast<long>(decimals.size()));
  } else {
    if (!digits_only(magnitude)) refuse(text, what);
    value = Rational(integer(magnitude));
  }
  return negative ? Rational(-value) : value;
}

}  // namespace epsilog::accounting
