// What every calculator asks of its arguments, in one wording.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// Throws  InvalidParameter unless value > 0.
inline void require_positive(const Rational& value, std::string_view name) {
  if (value > 0) return;
  throw InvalidParameter(std::string(name) + ": " + text(value) + " is not positive");
}

/// Throws  InvalidParameter unless 0 < value < 1.
inline void require_probability(const Rational& value, std::string_view name) {
  if (value > 0 && value < 1) return;
  throw InvalidParameter(std::string(name) + ": " + text(value) + " is not strictly between 0 and 1");
}

/// Bits it takes to write the number down.
[[nodiscard]] inline unsigned size_in_bits(const Rational& value) {
  return static_cast<unsigned>(mpz_sizeinbase(value.get_num_mpz_t(), 2) +
                               mpz_sizeinbase(value.get_den_mpz_t(), 2));
}

}  // namespace epsilog::accounting
