#include "epsilog/accounting/quantity.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

template <class Measure>
std::int64_t checked_units(const Integer& units) {
  if (units < 0) throw InvalidParameter(std::string(Measure::name) + ": must not be negative");
  if (units > Integer(static_cast<long>(Measure::units_max))) {
    const Rational limit =
        Rational(Integer(static_cast<long>(Measure::units_max))) * power_of_ten(-Measure::decimals);
    throw InvalidParameter(std::string(Measure::name) + ": is larger than the largest value kept, " +
                           text(limit));
  }
  return units.get_si();
}

}  // namespace

template <class Measure>
Quantity<Measure> Quantity<Measure>::from_units(std::int64_t units) {
  if (units >= 0 && units <= Measure::units_max) return Quantity(units);
  return Quantity(checked_units<Measure>(Integer(static_cast<long>(units))));
}

template <class Measure>
Quantity<Measure> Quantity<Measure>::from_rational_down(const Rational& value) {
  return Quantity(checked_units<Measure>(floor(value * power_of_ten(Measure::decimals))));
}

template <class Measure>
Quantity<Measure> Quantity<Measure>::from_rational_up(const Rational& value) {
  if (value < 0) throw InvalidParameter(std::string(Measure::name) + ": must not be negative");
  return Quantity(checked_units<Measure>(ceil(value * power_of_ten(Measure::decimals))));
}

template <class Measure>
Quantity<Measure> Quantity<Measure>::parse_down(std::string_view text) {
  return from_rational_down(parse_rational(text, Measure::name));
}

template <class Measure>
Quantity<Measure> Quantity<Measure>::parse_up(std::string_view text) {
  return from_rational_up(parse_rational(text, Measure::name));
}

template <class Measure>
Rational Quantity<Measure>::rational() const {
  return Rational(Integer(static_cast<long>(units_))) * power_of_ten(-Measure::decimals);
}

template <class Measure>
std::string Quantity<Measure>::text() const {
  constexpr std::size_t kDecimals = Measure::decimals;
  std::string digits = std::to_string(units_);
  if (digits.size() <= kDecimals) digits.insert(0, kDecimals + 1 - digits.size(), '0');
  digits.insert(digits.size() - kDecimals, 1, '.');
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

template class Quantity<EpsilonMeasure>;
template class Quantity<DeltaMeasure>;
template class Quantity<RhoMeasure>;

}  // namespace epsilog::accounting
