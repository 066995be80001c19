#include "bernoulli_numbers.hpp"

#include <vector>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::Integer;
using accounting::Rational;

/// T_1, ..., T_terms at indices 1, ..., terms.
std::vector<Integer> tangent_numbers(unsigned terms) {
  std::vector<Integer> t(terms + 1);
  t[1] = 1;
  for (unsigned k = 2; k <= terms; ++k) t[k] = (k - 1) * t[k - 1];
  for (unsigned k = 2; k <= terms; ++k) {
    for (unsigned j = k; j <= terms; ++j) t[j] = (j - k) * t[j - 1] + (j - k + 2) * t[j];
  }
  return t;
}

std::vector<Rational> coefficients(unsigned terms) {
  const std::vector<Integer> t = tangent_numbers(terms);
  std::vector<Rational> result(terms + 1);
  Integer factorial = 1;  // (2j-1)!
  for (unsigned j = 1; j <= terms; ++j) {
    if (j > 1) factorial *= (2UL * j - 2) * (2UL * j - 1);
    const Integer four_to_j = Integer(1) << (2UL * j);
    result[j] = Rational(j % 2 == 1 ? t[j] : Integer(-t[j]), four_to_j * (four_to_j - 1) * factorial);
    result[j].canonicalize();
  }
  return result;
}

/// Enough for every ordinary question; the full table takes a hundred times as long to make.
constexpr unsigned kShortTable = 48;

}  // namespace

const Rational& euler_maclaurin_coefficient(unsigned j) {
  EPSILOG_INVARIANT(j >= 1 && j <= kEulerMaclaurinTermsMax);
  static const std::vector<Rational> brief = coefficients(kShortTable);
  if (j <= kShortTable) return brief[j];
  static const std::vector<Rational> full = coefficients(kEulerMaclaurinTermsMax);
  return full[j];
}

}  // namespace epsilog::mechanisms
