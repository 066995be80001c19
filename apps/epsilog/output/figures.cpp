#include "figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

constexpr unsigned kDigits = 20;
constexpr long kMagnitudeMax = 16610;  // 2^16609 < 10^5000 < 2^16610

/// Of the leading bit. Sizes are compared, not values: a bound of a tail may have a denominator of
/// megabytes.
long magnitude_of(const Rational& value) {
  const auto bits = [](const mpz_class& part) {
    return static_cast<long>(mpz_sizeinbase(part.get_mpz_t(), 2));
  };
  return value == 0 ? 0 : bits(value.get_num()) - bits(value.get_den());
}

void require_writable(const Rational& bound, const std::string& name) {
  if (is_writable(bound)) return;
  const bool small = magnitude_of(bound) < 0;
  throw InvalidParameter(name + (small ? ": is below 10^-5000, too small to be written out"
                                       : ": is above 10^5000, too large to be written out"));
}

std::string hex_text(double value) {
  return std::isfinite(value) && value > 0 ? accounting::hexfloat_text(Rational(value)) : "";
}

constexpr double kLargest = std::numeric_limits<double>::max();

}  // namespace

std::string text_of(const Figures& figures, std::string_view name) {
  const auto found =
      std::find_if(figures.begin(), figures.end(), [&](const Figure& figure) { return figure.name == name; });
  EPSILOG_INVARIANT(found != figures.end());
  if (std::holds_alternative<std::monostate>(found->value)) return "";
  if (const auto* count = std::get_if<std::uint64_t>(&found->value)) return std::to_string(*count);
  if (const auto* yes = std::get_if<bool>(&found->value)) return *yes ? "true" : "false";
  if (const auto* inner = std::get_if<Figures>(&found->value)) {
    EPSILOG_INVARIANT(inner->size() == 1);
    return text_of(*inner, inner->front().name);
  }
  const auto* text = std::get_if<std::string>(&found->value);
  EPSILOG_INVARIANT(text != nullptr);
  return *text;
}

bool is_writable(const Rational& bound) {
  return std::abs(magnitude_of(bound)) <= kMagnitudeMax;
}

std::string digits_up(const Rational& bound, const std::string& name) {
  require_writable(bound, name);
  return accounting::text_up(bound, kDigits);
}

std::string digits_down(const Rational& bound, const std::string& name) {
  require_writable(bound, name);
  return accounting::text_down(bound, kDigits);
}

std::string binary64_up(const Rational& value) {
  EPSILOG_INVARIANT(value > 0);
  if (value > Rational(kLargest)) return "";
  const double below = value.get_d();  // GMP cuts towards zero
  return hex_text(Rational(below) < value ? std::nextafter(below, kLargest) : below);
}

std::string binary64_down(const Rational& value) {
  EPSILOG_INVARIANT(value > 0);
  return hex_text(value > Rational(kLargest) ? kLargest : value.get_d());
}

Figure bound_figure(const std::string& name, const std::string& measure,
                    const std::optional<Rational>& bound) {
  if (!bound) return {name, {}};
  const bool finite_decimal = accounting::text(*bound).find('/') == std::string::npos;
  const Rational value =
      finite_decimal ? *bound : accounting::MpfrNumber::rounded(*bound, 128, MPFR_RNDU).rational();
  return {name, Figures{{measure, digits_up(value, name)}}};
}

Figure text_or_nothing(std::string name, std::string text) {
  if (text.empty()) return {std::move(name), {}};
  return {std::move(name), std::move(text)};
}

}  // namespace epsilog::command
