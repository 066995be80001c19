#include "epsilog/accounting/exact.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {

void Exact::set(const Rational& value) {
  if (value.get_den() == 0) throw InvalidParameter("a number is divided by zero");
  // Part by part: copying a rational whose denominator is negative is itself beyond GMP.
  value_.get_num() = value.get_num();
  value_.get_den() = value.get_den();
  value_.canonicalize();
}

}  // namespace epsilog::accounting
