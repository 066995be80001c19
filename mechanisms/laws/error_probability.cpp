#include "error_probability.hpp"

#include <algorithm>

#include "epsilog/accounting/mpfr_number.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::MpfrNumber;
using accounting::Rational;

namespace {

constexpr unsigned kFirstBits = 64;
constexpr unsigned kBitsMax = 1U << 16;

mpfr_rnd_t opposite(mpfr_rnd_t direction) {
  return direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
}

/// 2 P(noise >= distance).
MpfrNumber doubled_tail(const Rational& distance, const Rational& lambda, unsigned bits,
                        mpfr_rnd_t direction) {
  const bool behind = distance < 0;
  const mpfr_rnd_t inner = behind ? opposite(direction) : direction;
  MpfrNumber tail = MpfrNumber::rounded(-abs(distance) / lambda, bits, inner);
  mpfr_exp(tail.get(), tail.get(), inner);
  if (behind) mpfr_ui_sub(tail.get(), 2, tail.get(), direction);
  return tail;
}

MpfrNumber doubled_sum(const TailSum& sum, const Rational& lambda, unsigned bits, mpfr_rnd_t direction) {
  MpfrNumber total = doubled_tail(sum.first, lambda, bits, direction);
  if (sum.second) {
    const MpfrNumber other = doubled_tail(*sum.second, lambda, bits, direction);
    mpfr_add(total.get(), total.get(), other.get(), direction);
  }
  return total;
}

MpfrNumber doubled_largest(const ErrorProbability& probability, const Rational& lambda, unsigned bits,
                           mpfr_rnd_t direction) {
  MpfrNumber largest(bits);
  for (const TailSum& sum : probability.sums) {
    const MpfrNumber total = doubled_sum(sum, lambda, bits, direction);
    mpfr_max(largest.get(), largest.get(), total.get(), direction);
  }
  return largest;
}

}  // namespace

bool at_most(const ErrorProbability& probability, const Rational& lambda, const Rational& alpha) {
  if (probability.certain) return false;
  if (probability.sums.empty()) return true;
  const ExponentRange range;
  const Rational doubled = 2 * alpha;
  for (unsigned bits = kFirstBits; bits <= kBitsMax; bits *= 2) {
    const MpfrNumber high = doubled_largest(probability, lambda, bits, MPFR_RNDU);
    if (mpfr_cmp_q(high.get(), doubled.get_mpq_t()) <= 0) return true;
    const MpfrNumber low = doubled_largest(probability, lambda, bits, MPFR_RNDD);
    if (mpfr_cmp_q(low.get(), doubled.get_mpq_t()) > 0) return false;
  }
  return false;
}

Rational probability_up(const ErrorProbability& probability, const Rational& lambda, const Rational& share) {
  if (probability.certain) return 1;
  if (probability.sums.empty()) return 0;
  const ExponentRange range;
  const Rational factor = 1 / (2 * share);
  MpfrNumber high(kResultBits);
  for (unsigned bits = kResultBits + kFirstBits; bits <= kBitsMax; bits *= 2) {
    MpfrNumber low(kResultBits);
    mpfr_mul_q(high.get(), doubled_largest(probability, lambda, bits, MPFR_RNDU).get(), factor.get_mpq_t(),
               MPFR_RNDU);
    if (mpfr_get_exp(high.get()) <= -kLeastExponent) return accounting::power_of_two(-kLeastExponent);
    mpfr_mul_q(low.get(), doubled_largest(probability, lambda, bits, MPFR_RNDD).get(), factor.get_mpq_t(),
               MPFR_RNDU);
    if (low == high) break;
  }
  return std::min<Rational>(high.rational(), 1);
}

}  // namespace epsilog::mechanisms
