#include "grid_units.hpp"

#include <charconv>
#include <string>

#include "canonical_tokens.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::size_t kDecimalsMax = 18;

constexpr std::array<std::uint64_t, kDecimalsMax + 1> kPowersOfTen = [] {
  std::array<std::uint64_t, kDecimalsMax + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

[[noreturn]] void refuse(std::string_view text, const char* why) {
  constexpr std::size_t kShown = 60;
  throw LedgerCorrupt("'" + std::string(text.substr(0, kShown)) + "' " + why);
}

/// Takes digits, at most 19 behind leading zeros, which 64 bits hold.
std::uint64_t take_digits(std::string_view& text, std::uint64_t value, std::size_t& digits) {
  for (digits = 0; digits < text.size() && is_digit(text[digits]); ++digits) {
    if (value > UINT64_MAX / 10 - 1) refuse(text, "is too large");
    value = value * 10 + static_cast<std::uint64_t>(text[digits] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

}  // namespace

int grid_decimals(std::string_view measure) {
  if (measure == accounting::EpsilonMeasure::name) return accounting::EpsilonMeasure::decimals;
  if (measure == accounting::DeltaMeasure::name) return accounting::DeltaMeasure::decimals;
  if (measure == accounting::RhoMeasure::name) return accounting::RhoMeasure::decimals;
  constexpr std::string_view kRenyi = "rdp(";
  if (measure.starts_with(kRenyi) && measure.ends_with(')') && measure.size() > kRenyi.size() + 1) {
    return accounting::EpsilonMeasure::decimals;
  }
  throw InvalidParameter("ledger: '" + std::string(measure) + "' is no measure of an account");
}

UnitsText::UnitsText(std::int64_t units, int decimals) {
  const std::uint64_t magnitude =
      units < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
  const std::uint64_t one = kPowersOfTen.at(static_cast<std::size_t>(decimals));
  std::uint64_t fraction = magnitude % one;
  char* end = characters_.data();
  if (units < 0) *end++ = '-';
  end = std::to_chars(end, characters_.data() + characters_.size(), magnitude / one).ptr;
  if (fraction != 0) {
    *end++ = '.';
    char* const last = end + decimals;
    for (char* digit = last; digit != end; fraction /= 10)
      *--digit = static_cast<char>('0' + static_cast<char>(fraction % 10));
    end = last;
    while (end[-1] == '0') --end;
  }
  size_ = static_cast<std::size_t>(end - characters_.data());
}

std::int64_t parse_units(std::string_view text, int decimals) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const bool leading_zero = rest.starts_with('0');
  std::size_t digits = 0;
  std::uint64_t units = take_digits(rest, 0, digits);
  if (digits == 0 || (leading_zero && digits > 1)) refuse(text, "is no quantity");
  std::size_t places = 0;
  if (!rest.empty()) {
    if (rest.front() != '.') refuse(text, "is no decimal");
    rest.remove_prefix(1);
    units = take_digits(rest, units, places);
    if (places == 0 || !rest.empty() || text.back() == '0') refuse(text, "is no quantity");
  }
  if (places > static_cast<std::size_t>(decimals)) refuse(text, "is between two units of its measure");
  const std::uint64_t missing = kPowersOfTen.at(static_cast<std::size_t>(decimals) - places);
  constexpr auto kMost = static_cast<std::uint64_t>(accounting::kUnitsMax);
  if (units > kMost / missing) refuse(text, "is too large");
  units *= missing;
  if (negative && units == 0) refuse(text, "is no quantity");
  return negative ? -static_cast<std::int64_t>(units) : static_cast<std::int64_t>(units);
}

}  // namespace epsilog::ledger
