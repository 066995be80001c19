#include "epsilog/accounting/rational.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"

namespace epsilog::accounting {
namespace {

constexpr std::size_t kTextMax = 400;
constexpr long kExponentMax = 400;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

[[noreturn]] void refuse(std::string_view text, std::string_view what, const std::string& why) {
  const std::string shown(text.substr(0, 60));
  throw InvalidParameter(std::string(what) + ": '" + shown + (text.size() > 60 ? "…" : "") + "' " + why);
}

/// Reads the digits at `at`, advancing it; empty when there are none.
std::string take_digits(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return std::string(text.substr(begin, at - begin));
}

constexpr const char* kGrammar = "is not a number: write it as 0.25, 1e-6 or 1/3";

}  // namespace

Rational parse_rational(std::string_view text, std::string_view what) {
  if (text.size() > kTextMax) refuse(text, what, "is too long: at most 400 characters");
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  const std::string whole = take_digits(text, at);
  if (whole.empty()) refuse(text, what, kGrammar);

  Rational value;
  if (at < text.size() && text[at] == '/') {
    ++at;
    const std::string below = take_digits(text, at);
    if (below.empty() || at != text.size()) refuse(text, what, kGrammar);
    const Integer denominator(below, 10);
    if (denominator == 0) refuse(text, what, "divides by zero");
    value = Rational(Integer(whole, 10), denominator);
    value.canonicalize();
  } else {
    std::string digits = whole;
    long exponent = 0;
    if (at < text.size() && text[at] == '.') {
      ++at;
      const std::string fraction = take_digits(text, at);
      if (fraction.empty()) refuse(text, what, kGrammar);
      digits += fraction;
      exponent -= static_cast<long>(fraction.size());
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
      ++at;
      bool below_one = false;
      if (at < text.size() && (text[at] == '+' || text[at] == '-')) below_one = text[at++] == '-';
      const std::string power = take_digits(text, at);
      if (power.empty()) refuse(text, what, kGrammar);
      if (power.size() > 6 || std::stol(power) > kExponentMax) {
        refuse(text, what, "has an exponent beyond 400");
      }
      exponent += below_one ? -std::stol(power) : std::stol(power);
    }
    if (at != text.size()) refuse(text, what, kGrammar);
    value = Rational(Integer(digits, 10)) * power_of_ten(exponent);
  }
  if (negative) {
    if (value == 0) refuse(text, what, "is a negative zero: write 0");
    value = -value;
  }
  return value;
}

Integer floor(const Rational& value) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

Integer ceil(const Rational& value) {
  Integer result;
  mpz_cdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

Rational power_of_two(long exponent) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 2, static_cast<unsigned long>(exponent < 0 ? -exponent : exponent));
  return exponent < 0 ? Rational(Integer(1), power) : Rational(power);
}

Rational power_of_ten(long exponent) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(exponent < 0 ? -exponent : exponent));
  return exponent < 0 ? Rational(Integer(1), power) : Rational(power);
}

namespace {

/// The text of scaled * 10^-decimals, without trailing zeros.
std::string decimal_text(const Integer& scaled, std::size_t decimals) {
  std::string digits = scaled.get_str();
  const bool negative = digits.front() == '-';
  if (negative) digits.erase(0, 1);
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  std::string result = digits.substr(0, digits.size() - decimals);
  std::string fraction = digits.substr(digits.size() - decimals);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  if (!fraction.empty()) result += "." + fraction;
  return negative ? "-" + result : result;
}

enum class Direction { up, down };

std::string directed_text(const Rational& value, unsigned digits, Direction direction) {
  EPSILOG_INVARIANT(digits >= 1);
  if (value == 0) return "0";
  // The leading digit of |value| stands at 10^lead for some lead within one of this estimate;
  // one digit too many is allowed by the contract, one too few is not.
  const long lead = static_cast<long>(mpz_sizeinbase(value.get_num_mpz_t(), 10)) -
                    static_cast<long>(mpz_sizeinbase(value.get_den_mpz_t(), 10)) - 2;
  const long decimals = static_cast<long>(digits) - 1 - lead;
  const std::size_t places = decimals > 0 ? static_cast<std::size_t>(decimals) : 0;
  const Rational scaled = value * power_of_ten(static_cast<long>(places));
  return decimal_text(direction == Direction::up ? ceil(scaled) : floor(scaled), places);
}

}  // namespace

std::string text(const Rational& value) {
  if (value.get_den() == 1) return value.get_num().get_str();
  const mp_bitcnt_t twos = mpz_scan1(value.get_den_mpz_t(), 0);
  Integer rest = value.get_den() >> twos;
  const mp_bitcnt_t fives =
      rest == 1 ? 0 : mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), Integer(5).get_mpz_t());
  if (rest != 1) return value.get_str();
  // The denominator is 2^twos 5^fives: times what is missing of a power of ten.
  const mp_bitcnt_t places = std::max(twos, fives);
  Integer scaled;
  mpz_ui_pow_ui(scaled.get_mpz_t(), 5, places - fives);
  scaled = (scaled * value.get_num()) << (places - twos);
  return decimal_text(scaled, places);
}

std::string text_up(const Rational& value, unsigned digits) {
  return directed_text(value, digits, Direction::up);
}

std::string text_down(const Rational& value, unsigned digits) {
  return directed_text(value, digits, Direction::down);
}

std::string hexfloat_text(const Rational& value) {
  if (value == 0) return "0x0p+0";
  const DefaultFloatingPoint floating_point;
  const double nearest = value.get_d();  // truncated towards zero, so exact iff it converts back
  if (!std::isfinite(nearest) || Rational(nearest) != value) return "";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%a", nearest);
  return buffer;
}

}  // namespace epsilog::accounting
