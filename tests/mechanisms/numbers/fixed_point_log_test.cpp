#include "fixed_point_log.hpp"

#include "log_table_from_mpfr.hpp"
#include "snapping_integers.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::power_of_two;
using epsilog::test::SeededBits;

namespace {

/// -ln((1 + fraction 2^-W) 2^-exponent) in units of 2^-F, far more exactly than one unit.
template <class Word>
double minus_log_in_units(Word fraction, unsigned exponent) {
  constexpr unsigned kWord = FixedPointLog<Word>::kWordBits;
  MpfrNumber u(200);
  mpfr_set_ui(u.get(), fraction, MPFR_RNDN);
  mpfr_div_2ui(u.get(), u.get(), kWord, MPFR_RNDN);
  mpfr_add_ui(u.get(), u.get(), 1, MPFR_RNDN);
  mpfr_div_2ui(u.get(), u.get(), exponent, MPFR_RNDN);
  mpfr_log(u.get(), u.get(), MPFR_RNDN);
  mpfr_neg(u.get(), u.get(), MPFR_RNDN);
  mpfr_mul_2ui(u.get(), u.get(), FixedPointLog<Word>::kFractionBits, MPFR_RNDN);
  return mpfr_get_d(u.get(), MPFR_RNDN);
}

/// minus_log less the truth, in units. The difference is taken before rounding to double.
double error_64(std::uint64_t fraction, unsigned exponent) {
  MpfrNumber truth(200);
  mpfr_set_ui(truth.get(), fraction, MPFR_RNDN);
  mpfr_div_2ui(truth.get(), truth.get(), 64, MPFR_RNDN);
  mpfr_add_ui(truth.get(), truth.get(), 1, MPFR_RNDN);
  mpfr_div_2ui(truth.get(), truth.get(), exponent, MPFR_RNDN);
  mpfr_log(truth.get(), truth.get(), MPFR_RNDN);
  mpfr_mul_2ui(truth.get(), truth.get(), FixedPointLog<std::uint64_t>::kFractionBits, MPFR_RNDN);
  mpfr_add_ui(truth.get(), truth.get(), FixedPointLog<std::uint64_t>::shared().minus_log(fraction, exponent),
              MPFR_RNDN);
  return mpfr_get_d(truth.get(), MPFR_RNDN);
}

struct Extremes {
  double lowest = 0;
  double highest = 0;
  void add(double error) {
    lowest = std::min(lowest, error);
    highest = std::max(highest, error);
  }
};

}  // namespace

TEST_CASE("fixed-point log: the tables that were made when this was built are MPFR's",
          "[mechanisms][snapping][integers][exact]") {
  CHECK(kLogTable16 == log_table_from_mpfr<std::uint16_t>());
  CHECK(kLogTable64 == log_table_from_mpfr<std::uint64_t>());
}

TEST_CASE("fixed-point log: on 16 bits every argument is within the proved error",
          "[mechanisms][snapping][integers][exact]") {
  const auto& log = FixedPointLog<std::uint16_t>::shared();
  Extremes errors;
  for (unsigned fraction = 0; fraction <= 0xffff; ++fraction) {
    const auto word = static_cast<std::uint16_t>(fraction);
    const double at_one = minus_log_in_units(word, 1U);
    for (unsigned exponent = 1; exponent <= 16; ++exponent) {
      const double truth = at_one + (exponent - 1) * 0.6931471805599453 * 4096;
      errors.add(log.minus_log(word, exponent) - truth);
    }
  }
  CAPTURE(errors.lowest, errors.highest);
  CHECK(errors.lowest > -2.15);
  CHECK(errors.highest < 0.19);  // of the lower end of U; the bits not drawn add 2^-4
  CHECK(errors.lowest < -0.8);   // the bound is not idle
}

TEST_CASE(
    "fixed-point log: on 64 bits random arguments and the edges of every cell are within the proved error",
    "[mechanisms][snapping][integers][exact]") {
  std::vector<std::uint64_t> fractions{0, 1, 2, ~std::uint64_t{0}, ~std::uint64_t{0} - 1};
  for (std::uint64_t cell = 0; cell < 256; ++cell) {
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 56) - 1})
      fractions.push_back((cell << 56) + offset);
  }
  // The series is worst near the end of a cell.
  for (std::uint64_t cell = 0; cell < 256; ++cell) {
    for (std::uint64_t back = 1; back <= 64; ++back)
      fractions.push_back((cell << 56) + (std::uint64_t{1} << 56) - back * 0x1357'9bdf'0123);
  }
  SeededBits bits(11);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t fraction = 0;
    bits.fill(std::as_writable_bytes(std::span(&fraction, 1)));
    fractions.push_back(fraction);
  }
  Extremes errors;
  for (std::size_t i = 0; i < fractions.size(); ++i) {
    for (const unsigned exponent : {1U, 64U, static_cast<unsigned>(i % 64 + 1)})
      errors.add(error_64(fractions[i], exponent));
  }
  CAPTURE(errors.lowest, errors.highest);
  CHECK(errors.lowest > -2.01);
  CHECK(errors.highest < 0.05);  // of the lower end of U; the bits not drawn add 2^-6
  CHECK(errors.lowest < -1.5);
}

TEST_CASE("fixed-point log: below one it is never negative, and it falls as the argument rises",
          "[mechanisms][snapping][integers][exact]") {
  const auto& log = FixedPointLog<std::uint64_t>::shared();
  CHECK(log.minus_log(~std::uint64_t{0}, 1) <= 1);
  const auto& narrow = FixedPointLog<std::uint16_t>::shared();
  CHECK(narrow.minus_log(0xffff, 1) <= 1);
  CHECK(narrow.minus_log(0, 16) > narrow.minus_log(0xffff, 16));
  CHECK(narrow.minus_log(0xffff, 16) >= narrow.minus_log(0, 15) - 2);
}

namespace {

/// Where S * ratio * (-ln U) lies for every U of a cell, in units of 2^-kUnitBits.
struct TrueNoise {
  double low;
  double high;
};

/// `minus_log` of the cell's lower end, in the logarithm's units; the cell is 2^-16 wide in ln.
TrueNoise true_noise(double ratio, double minus_log, bool negative) {
  constexpr double kSlack = 1e-8;  // of doubles, against units of 1
  const double most = minus_log * ratio / 2 + kSlack;
  const double least = most - ratio / 32 - 2 * kSlack;
  if (negative) return {-most, -least};
  return {least, most};
}

}  // namespace

TEST_CASE(
    "integers tier: on 16 bits no decision is wrong, whatever the bits not drawn and the answer's fraction",
    "[mechanisms][snapping][integers][exact]") {
  using Integers = SnappingIntegers<std::uint16_t>;
  constexpr int kUnit = 1 << Integers::kUnitBits;
  std::size_t decided = 0;
  std::size_t asked = 0;
  for (const Rational& ratio : {Rational(1, 2), Rational(33, 32), Rational(51, 67)}) {
    const Integers integers(ratio, 0);
    for (unsigned fraction = 0; fraction <= 0xffff; fraction += 2 + fraction % 3) {
      const double at_one = minus_log_in_units(static_cast<std::uint16_t>(fraction), 1U);
      for (unsigned exponent = 1; exponent <= 16; ++exponent) {
        const bool negative = ((fraction >> 4) + exponent) % 2 == 1;
        const double minus_log = at_one + (exponent - 1) * 0.6931471805599453 * 4096;
        const TrueNoise noise = true_noise(ratio.get_d(), minus_log, negative);
        // The answers for which the sum comes near a boundary, and one that does not.
        const double lands = std::floor(kUnit * 1.5 - noise.low);
        const int critical = ((static_cast<int>(lands) % kUnit) + kUnit) % kUnit;
        for (const int offset : {-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, kUnit / 2}) {
          const int position = (critical + offset + kUnit) % kUnit;
          const IntegerVerdict verdict = integers.decide(
              {.whole = 7, .fraction = static_cast<std::uint16_t>(position)},
              {.fraction = static_cast<std::uint16_t>(fraction), .exponent = exponent, .negative = negative});
          ++asked;
          if (!verdict.decided) continue;
          ++decided;
          const double low = (position + noise.low) / kUnit + 7.5;
          const double high = (position + 1 + noise.high) / kUnit + 7.5;  // not reached
          if (std::floor(low) != static_cast<double>(verdict.multiple) ||
              high > static_cast<double>(verdict.multiple + 1))
            FAIL("ratio " << ratio << ", fraction " << fraction << ", exponent " << exponent << ", at "
                          << position);
        }
      }
    }
  }
  CHECK(decided > asked / 4);
  CHECK(decided < asked);
}
