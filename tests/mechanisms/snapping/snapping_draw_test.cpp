#include "snapping_draw.hpp"

#include "epsilog/mechanisms/snapping.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::power_of_two;
using namespace epsilog::test;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// RN_p of an exact rational, ties to even, written without MPFR.
Rational nearest(const Rational& value, unsigned p) {
  if (value == 0) return 0;
  Rational grid = power_of_two_at_least(Rational(abs(value))) * power_of_two(-static_cast<long>(p));
  if (power_of_two_at_least(Rational(abs(value))) == abs(value)) grid *= 2;
  const Rational scaled = value / grid;
  epsilog::accounting::Integer low = epsilog::accounting::floor(scaled);
  const Rational rest = scaled - low;
  if (rest > Rational(1, 2) || (rest == Rational(1, 2) && mpz_odd_p(low.get_mpz_t()) != 0)) low += 1;
  return low * grid;
}

}  // namespace

TEST_CASE("draw: the uniform's bits are where they are documented", "[mechanisms][snapping][exact]") {
  // p = 8: seven random bits 1010101, exponent bytes 00010000… (three leading zeros), odd sign byte.
  ReplayBits bits(bytes_of({0b10101010, 0b00010000, 0, 0, 0, 0, 0, 0, 0, 1}));
  const UniformDraw draw = draw_uniform(bits, 8);
  CHECK(draw.negative);
  CHECK(draw.u_star.precision() == 8);
  CHECK(draw.u_star.rational() == Rational(0b11010101, 128) / 16);
  CHECK(bits.fills() == std::vector<std::size_t>{10});
}

TEST_CASE("draw: every attempt reads the same number of bytes at once", "[mechanisms][snapping]") {
  for (const unsigned p : {2U, 8U, 9U, 10U, 53U, 118U, 256U}) {
    SeededBits bits(p);
    for (int i = 0; i < 1000; ++i) static_cast<void>(draw_uniform(bits, p));
    CHECK(bits.fills() == 1000);
    CHECK(bits.bytes() == 1000 * attempt_bytes(p));
  }
}

TEST_CASE("draw: an all-zero exponent block is continued, not truncated", "[mechanisms][snapping][exact]") {
  ReplayBits bits(bytes_of({0,          0, 0, 0, 0, 0, 0, 0, 0, 0,  // first attempt, exponent all zero
                            0,          0, 0, 0, 0, 0, 0, 0,        // and again
                            0b01000000, 0, 0, 0, 0, 0, 0, 0}));
  const UniformDraw draw = draw_uniform(bits, 8);
  CHECK(draw.u_star.rational() == power_of_two(-(64 + 64 + 1 + 1)));
  CHECK_FALSE(draw.negative);
  CHECK(bits.exhausted());
  CHECK(bits.fills() == std::vector<std::size_t>{10, 8, 8});
}

TEST_CASE("draw: the sum is the exact sum rounded once", "[mechanisms][snapping][exact]") {
  SeededBits bits(3);
  for (const unsigned p : {2U, 8U, 53U, 118U}) {
    for (int i = 0; i < 2000; ++i) {
      MpfrNumber z = draw_uniform(bits, p).u_star;
      if (i % 2 == 1) mpfr_neg(z.get(), z.get(), MPFR_RNDN);
      const Rational y = Rational(i * 37 - 30000) / (1 + i % 97) * power_of_two(i % 40 - 30);
      const Rational expected = nearest(y + z.rational(), p);
      const Rational found = sum_rounded(y, z, p).rational();
      if (found != expected)
        FAIL("p = " << p << ", y = " << y << ", z = " << z.rational() << ": " << found << ", " << expected);
    }
  }
}

TEST_CASE("draw: the mechanism agrees with its plain definition", "[mechanisms][snapping][exact]") {
  SeededBits bits(4);
  const Rational lambda(13, 8);
  for (const unsigned p : {8U, 20U, 53U, 118U}) {
    for (int i = 0; i < 1000; ++i) {
      const UniformDraw draw = draw_uniform(bits, p);
      Rational y(i * 7 - 3500, 350);
      y.canonicalize();
      const Rational log = log_rounded(draw.u_star, p).rational();
      const Rational noise = nearest(lambda * -log, p);
      const Rational sum = nearest(y + (draw.negative ? Rational(-noise) : noise), p);
      Rational expected = epsilog::accounting::floor(sum / 2 + Rational(1, 2)) * 2;
      if (expected > 10) expected = 10;
      if (expected < -10) expected = -10;
      if (snapped(y, draw.negative, draw.u_star, lambda, 2, 10, p) != expected)
        FAIL("p = " << p << ", i = " << i);
    }
  }
}

TEST_CASE("draw: both arithmetics give the same release for the same bits", "[mechanisms][snapping][exact]") {
  // At 65 bits both read eight bytes of significand first. They could differ only if the noise came
  // within 2^-60 of a rounding boundary; the seed is fixed, and it does not.
  SeededBits first(5);
  SeededBits second(5);
  for (int i = 0; i < 5000; ++i) {
    const Rational y = Rational(i - 2500) / 3;
    const UniformDraw draw = draw_uniform(first, 65);
    const Rational rounded = snapped(y, draw.negative, draw.u_star, Rational(13, 8), 2, 900, 65);
    if (rounded != snapped_exact(y, Rational(13, 8), 2, 900, second)) FAIL("i = " << i);
  }
}

TEST_CASE("draw: the exact arithmetic draws more bits only when it must", "[mechanisms][snapping][exact]") {
  // U in [1/2, 1) with all significand bits one: the noise is below 2^-63, and y = 1/2 is a tie for it.
  std::vector<std::byte> ones(8, std::byte{0xff});
  std::vector<std::byte> attempt = ones;
  for (const std::byte byte : bytes_of({0x80, 0, 0, 0, 0, 0, 0, 0, 1})) attempt.push_back(byte);
  attempt.insert(attempt.end(), 8, std::byte{0});
  ReplayBits below(attempt);  // negative noise: strictly below the tie once the next bits are known
  CHECK(snapped_exact(Rational(1, 2), 1, 1, 10, below) == 0);
  CHECK(below.fills() == std::vector<std::size_t>{17, 8});

  attempt.resize(17);
  attempt.back() = std::byte{0};
  ReplayBits above(attempt);  // positive noise: at the tie or above it, both round up
  CHECK(snapped_exact(Rational(1, 2), 1, 1, 10, above) == 1);
  CHECK(above.fills() == std::vector<std::size_t>{17});
}

TEST_CASE("draw: the exact arithmetic's answer does not depend on how finely bits are read",
          "[mechanisms][snapping][exact]") {
  // One byte of significand refines often; its stream is rearranged so that U is the same real number.
  SeededBits bits(6);
  std::size_t refined = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> wide(17);
    bits.fill(wide);
    std::vector<std::byte> narrow{wide[0]};
    narrow.insert(narrow.end(), wide.begin() + 8, wide.end());
    narrow.insert(narrow.end(), wide.begin() + 1, wide.begin() + 8);
    ReplayBits once(wide);
    ReplayBits often(narrow);
    const Rational y = Rational(i) / 7;
    if (snapped_exact(y, 1, 1, 500, once) != snapped_exact(y, 1, 1, 500, often, 1)) FAIL("i = " << i);
    refined += often.fills().size() - 1;
  }
  CHECK(refined > 10);
}
