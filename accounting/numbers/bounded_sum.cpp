#include "epsilog/accounting/bounded_sum.hpp"

namespace epsilog::accounting {
namespace {

/// The least number with more than kSumDigitsMax digits.
const Integer& first_too_long() {
  static const Integer first = power_of_ten(static_cast<long>(kSumDigitsMax)).get_num();
  return first;
}

bool is_too_long(const Integer& number) {
  return mpz_cmpabs(number.get_mpz_t(), first_too_long().get_mpz_t()) >= 0;
}

Rational rounded_up(const Rational& value) {
  const Rational unit = power_of_two(-kSumRoundingBits);
  return ceil(value / unit) * unit;
}

}  // namespace

Rational sum_up(std::span<const Rational> terms) {
  Rational sum = 0;
  for (const Rational& term : terms) {
    sum += term;
    if (is_too_long(sum.get_num()) || is_too_long(sum.get_den())) sum = rounded_up(sum);
  }
  return sum;
}

}  // namespace epsilog::accounting
