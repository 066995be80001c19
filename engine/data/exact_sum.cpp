#include "exact_sum.hpp"

#include <bit>
#include <limits>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;
using accounting::Rational;

static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == 8);

/// |value| = magnitude * 2^exponent, magnitude < 2^53, exponent >= -1074.
struct BinaryParts {
  std::uint64_t magnitude;
  int exponent;
  bool negative;
};

BinaryParts parts_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int biased = static_cast<int>((bits >> 52) & 0x7FFU);
  EPSILOG_INVARIANT(biased != 0x7FF);
  const bool negative = (bits >> 63) != 0;
  if (biased == 0) return {fraction, -1074, negative};
  return {fraction | (std::uint64_t{1} << 52), biased - 1075, negative};
}

}  // namespace

Integer to_integer(Int128 value) {
  const bool negative = value < 0;
  const UInt128 magnitude = negative ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  const std::array<std::uint64_t, 2> limbs = {static_cast<std::uint64_t>(magnitude),
                                              static_cast<std::uint64_t>(magnitude >> 64)};
  Integer result;
  mpz_import(result.get_mpz_t(), limbs.size(), -1, sizeof(std::uint64_t), 0, 0, limbs.data());
  return negative ? Integer(-result) : result;
}

void IntegerSum::add_large(Int128 term) {
  large_ += to_integer(term);
}

void IntegerSum::add_large_square(Int128 root) {
  const Integer exact = to_integer(root);
  large_ += exact * exact;
}

Integer IntegerSum::value() const {
  return large_ + to_integer(small_);
}

template <int kLowest, int kHighest>
void FixedPointSum<kLowest, kHighest>::add(UInt128 magnitude, int exponent, bool negative) {
  const auto position = static_cast<unsigned>(exponent - kLowest);
  std::size_t digit = position / kDigitBits;
  const unsigned shift = position % kDigitBits;
  // The lowest digit takes the low 32 - shift bits; the rest then starts on a digit's boundary.
  auto chunk = static_cast<std::int64_t>(static_cast<std::uint32_t>(magnitude) << shift & 0xFFFF'FFFFU);
  magnitude >>= kDigitBits - static_cast<int>(shift);
  for (;;) {
    digits_[digit] += negative ? -chunk : chunk;
    if (magnitude == 0) break;
    chunk = static_cast<std::int64_t>(static_cast<std::uint32_t>(magnitude));
    magnitude >>= kDigitBits;
    ++digit;
  }
  if (++terms_ == kTermsBetweenCarries) carry();
}

template <int kLowest, int kHighest>
void FixedPointSum<kLowest, kHighest>::carry() {
  for (std::size_t digit = 0; digit + 1 < kDigits; ++digit) {
    // Arithmetic shift: the digit left behind is in [0, 2^32).
    const std::int64_t over = digits_[digit] >> kDigitBits;
    digits_[digit] -= over << kDigitBits;
    digits_[digit + 1] += over;
  }
  terms_ = 1;
}

template <int kLowest, int kHighest>
Rational FixedPointSum<kLowest, kHighest>::value() const {
  Integer sum = 0;
  for (std::size_t digit = kDigits; digit-- > 0;) {
    sum <<= kDigitBits;
    sum += static_cast<long>(digits_[digit]);
  }
  return Rational(sum) * accounting::power_of_two(kLowest);
}

template class FixedPointSum<-1074, 1024>;
template class FixedPointSum<-2148, 2048>;

void BinarySum::add(double term) {
  const BinaryParts parts = parts_of(term);
  sum_.add(parts.magnitude, parts.exponent, parts.negative);
}

void BinarySquareSum::add(double root) {
  const BinaryParts parts = parts_of(root);
  sum_.add(static_cast<UInt128>(parts.magnitude) * parts.magnitude, 2 * parts.exponent, false);
}

}  // namespace epsilog::engine
