#include "epsilog/accounting/stored_rational.hpp"

#include <algorithm>
#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

constexpr std::size_t kShown = 60;

[[noreturn]] void refuse(std::string_view text, std::string_view what,
                         const std::string& why = "is not an exact number") {
  throw LedgerCorrupt(std::string(what) + ": '" + std::string(text.substr(0, kShown)) +
                      (text.size() > kShown ? "…" : "") + "' " + why);
}

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Integer power_of_five(mp_bitcnt_t exponent) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 5, exponent);
  return power;
}

/// GMP's conversion, which is faster than quadratic. A null character would end it early: only digits here.
Integer integer(std::string_view digits) {
  return Integer(std::string(digits), 10);
}

/// digits / 10^places. Only twos and fives can cancel, so that no divisor is searched for.
Rational over_power_of_ten(Integer digits, mp_bitcnt_t places) {
  if (digits == 0) return 0;
  const mp_bitcnt_t twos = std::min(mpz_scan1(digits.get_mpz_t(), 0), places);
  digits >>= twos;
  mp_bitcnt_t fives = 0;
  if (mpz_divisible_ui_p(digits.get_mpz_t(), 5) != 0) {
    const mp_bitcnt_t all = mpz_remove(digits.get_mpz_t(), digits.get_mpz_t(), Integer(5).get_mpz_t());
    fives = std::min(all, places);
    digits *= power_of_five(all - fives);
  }
  return Rational(digits, power_of_five(places - fives) << (places - twos));
}

/// Whether a decimal is written as text() writes it, which its digits tell.
/// Requires  it is one that parse_stored_rational takes.
bool is_canonical_decimal(std::string_view text) {
  const std::string_view magnitude = text.starts_with('-') ? text.substr(1) : text;
  if (magnitude == "0") return magnitude.size() == text.size();
  if (magnitude[0] == '0' && magnitude[1] != '.') return false;
  return magnitude.find('.') == std::string_view::npos || magnitude.back() != '0';
}

bool is_canonical(std::string_view text, const Rational& value) {
  return text.find('/') == std::string_view::npos ? is_canonical_decimal(text)
                                                  : accounting::text(value) == text;
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
    value = over_power_of_ten(integer(std::string(whole).append(decimals)), decimals.size());
  } else {
    if (!digits_only(magnitude)) refuse(text, what);
    value = Rational(integer(magnitude));
  }
  return negative ? Rational(-value) : value;
}

Rational parse_canonical_rational(std::string_view text, std::string_view what) {
  Rational value = parse_stored_rational(text, what);
  if (!is_canonical(text, value)) refuse(text, what, "is not written as that number is recorded");
  return value;
}

template <class Measure>
Quantity<Measure> parse_canonical_quantity(std::string_view text, std::string_view what) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  constexpr std::size_t kDecimals = Measure::decimals;
  constexpr std::size_t kDigitsMax = 19;  // which 64 bits hold, and so many has the largest of any measure
  const bool fits = digits_only(whole) && whole.size() + kDecimals <= kDigitsMax &&
                    decimals.size() <= kDecimals &&
                    (decimals.empty() ? point == text.size() : digits_only(decimals));
  if (fits && is_canonical_decimal(text)) {
    std::uint64_t units = 0;
    for (const char digit : whole) units = units * 10 + static_cast<std::uint64_t>(digit - '0');
    for (std::size_t i = 0; i < kDecimals; ++i) {
      units = units * 10 + static_cast<std::uint64_t>(i < decimals.size() ? decimals[i] - '0' : 0);
    }
    if (units <= static_cast<std::uint64_t>(Measure::units_max)) {
      return Quantity<Measure>::from_units(static_cast<std::int64_t>(units));
    }
  }
  static_cast<void>(parse_canonical_rational(text, what));
  refuse(text, what, std::string("is not on the grid of ") + Measure::name);
}

template Epsilon parse_canonical_quantity<EpsilonMeasure>(std::string_view, std::string_view);
template Delta parse_canonical_quantity<DeltaMeasure>(std::string_view, std::string_view);
template Rho parse_canonical_quantity<RhoMeasure>(std::string_view, std::string_view);

}  // namespace epsilog::accounting
