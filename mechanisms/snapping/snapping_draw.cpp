#include "snapping_draw.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "wiped_bytes.hpp"

namespace epsilog::mechanisms {
namespace {

/// Leading zero bits of the block, continued through fresh blocks while they are all zero, plus one.
long geometric_exponent(std::span<const std::byte, kExponentBytes> first, BitSource& bits) {
  std::uint64_t block = 0;
  for (const std::byte byte : first) block = (block << 8) | std::to_integer<std::uint64_t>(byte);
  long exponent = 1;
  if (block == 0) {
    WipedBytes next(kExponentBytes);
    bits.fill(next.all());
    exponent += 8 * static_cast<long>(kExponentBytes) +
                geometric_exponent(next.all().first<kExponentBytes>(), bits) - 1;
  } else {
    exponent += std::countl_zero(block);
  }
  sodium_memzero(&block, sizeof block);
  return exponent;
}

/// What one attempt of `significand_bytes` says of a uniform real: its exponent, sign and the
/// leading bits of its significand.
struct DrawAttempt {
  WipedInteger significand;  ///< random bits only, without the leading one
  std::size_t random_bits = 0;
  long exponent = 0;
  bool negative = false;
};

void append_bytes(DrawAttempt& attempt, std::span<const std::byte> bytes) {
  WipedInteger tail;
  mpz_import(tail.get(), bytes.size(), 1, 1, 1, 0, bytes.data());
  mpz_mul_2exp(attempt.significand.get(), attempt.significand.get(), 8 * bytes.size());
  mpz_ior(attempt.significand.get(), attempt.significand.get(), tail.get());
  attempt.random_bits += 8 * bytes.size();
}

void draw_attempt(DrawAttempt& attempt, std::size_t significand_bytes, BitSource& bits) {
  WipedBytes bytes(significand_bytes + kExponentBytes + 1);
  bits.fill(bytes.all());
  append_bytes(attempt, bytes.all().first(significand_bytes));
  attempt.exponent = geometric_exponent(bytes.all().subspan(significand_bytes).first<kExponentBytes>(), bits);
  attempt.negative = (bytes.all().back() & std::byte{1}) != std::byte{0};
}

/// (1.f) * 2^-exponent for the leading `kept` of the attempt's random bits, exactly.
MpfrNumber uniform_floor(const DrawAttempt& attempt, std::size_t kept) {
  WipedInteger significand;
  mpz_fdiv_q_2exp(significand.get(), attempt.significand.get(), attempt.random_bits - kept);
  mpz_setbit(significand.get(), kept);
  MpfrNumber result(static_cast<unsigned>(kept + 1));
  mpfr_set_z_2exp(result.get(), significand.get(), -static_cast<mpfr_exp_t>(kept) - attempt.exponent,
                  MPFR_RNDN);
  return result;
}

Rational clamped(const Rational& value, const Rational& bound) {
  if (value > bound) return bound;
  if (value < -bound) return -bound;
  return value;
}

/// Numbers between which a real one lies.
struct Enclosure {
  MpfrNumber below;
  MpfrNumber above;
};

/// Encloses -ln U for U in [u, u * (1 + 2^-(n-1))), n the bits of u.
Enclosure enclosed_minus_log(const MpfrNumber& u, unsigned working) {
  Enclosure result{MpfrNumber(working), MpfrNumber(working)};
  mpfr_log(result.above.get(), u.get(), MPFR_RNDD);
  mpfr_neg(result.above.get(), result.above.get(), MPFR_RNDN);
  // One directed logarithm bounds the other end too: the true value is above the neighbour of the
  // rounded one, and ln(1 + t) <= t accounts for the bits of U still to be drawn.
  MpfrNumber undrawn(MpfrNumber::exactly(accounting::power_of_two(1 - static_cast<long>(u.precision()))));
  mpfr_set(result.below.get(), result.above.get(), MPFR_RNDN);
  mpfr_nextbelow(result.below.get());
  mpfr_sub(result.below.get(), result.below.get(), undrawn.get(), MPFR_RNDD);
  if (mpfr_signbit(result.below.get()) != 0) mpfr_set_zero(result.below.get(), +1);
  return result;
}

/// Encloses y + s * lambda * t for t in `t`.
Enclosure enclosed_sum(const Rational& y, bool negative, const Rational& lambda, Enclosure t) {
  mpfr_mul_q(t.below.get(), t.below.get(), lambda.get_mpq_t(), MPFR_RNDD);
  mpfr_mul_q(t.above.get(), t.above.get(), lambda.get_mpq_t(), MPFR_RNDU);
  if (negative) {
    mpfr_swap(t.below.get(), t.above.get());
    mpfr_neg(t.below.get(), t.below.get(), MPFR_RNDN);
    mpfr_neg(t.above.get(), t.above.get(), MPFR_RNDN);
  }
  mpfr_add_q(t.below.get(), t.below.get(), y.get_mpq_t(), MPFR_RNDD);
  mpfr_add_q(t.above.get(), t.above.get(), y.get_mpq_t(), MPFR_RNDU);
  return t;
}

}  // namespace

MpfrNumber noise_magnitude(const MpfrNumber& u_star, const MpfrNumber& lambda, unsigned p) {
  const ExponentRange range;
  MpfrNumber magnitude(p);
  mpfr_log(magnitude.get(), u_star.get(), MPFR_RNDN);
  mpfr_neg(magnitude.get(), magnitude.get(), MPFR_RNDN);
  mpfr_mul(magnitude.get(), magnitude.get(), lambda.get(), MPFR_RNDN);
  return magnitude;
}

MpfrNumber noise_magnitude(const MpfrNumber& u_star, const Rational& lambda, unsigned p) {
  return noise_magnitude(u_star, MpfrNumber::exactly(lambda), p);
}

MpfrNumber sum_rounded(const Rational& y, const MpfrNumber& z, unsigned p) {
  const ExponentRange range;
  MpfrNumber sum(p);
  mpfr_add_q(sum.get(), z.get(), y.get_mpq_t(), MPFR_RNDN);
  return sum;
}

Rational snapped_and_clamped(const MpfrNumber& sum, const Rational& grid, const Rational& bound) {
  return clamped(round_to_multiple(sum, MpfrNumber::exactly(grid)).rational(), bound);
}

Rational snapped(const Rational& y_clamped, bool negative, const MpfrNumber& u_star, const MpfrNumber& lambda,
                 const Rational& grid, const Rational& bound, unsigned p) {
  MpfrNumber noise = noise_magnitude(u_star, lambda, p);
  if (negative) mpfr_neg(noise.get(), noise.get(), MPFR_RNDN);
  return snapped_and_clamped(sum_rounded(y_clamped, noise, p), grid, bound);
}

Rational snapped(const Rational& y_clamped, bool negative, const MpfrNumber& u_star, const Rational& lambda,
                 const Rational& grid, const Rational& bound, unsigned p) {
  return snapped(y_clamped, negative, u_star, MpfrNumber::exactly(lambda), grid, bound, p);
}

UniformDraw draw_uniform(BitSource& bits, unsigned p) {
  EPSILOG_INVARIANT(p >= 2);
  const ExponentRange range;
  DrawAttempt attempt;
  draw_attempt(attempt, (p + 6) / 8, bits);
  return {uniform_floor(attempt, p - 1), attempt.negative};
}

Rational snapped_exact(const Rational& y_clamped, const Rational& lambda, const Rational& grid,
                       const Rational& bound, BitSource& bits, std::size_t significand_bytes) {
  EPSILOG_INVARIANT(significand_bytes >= 1);
  const ExponentRange range;
  const MpfrNumber step = MpfrNumber::exactly(grid);
  // Bits of B / Lambda, so that the sum resolves fractions of the grid even at the ends.
  const auto integral = mpz_sizeinbase(accounting::ceil(bound / grid).get_mpz_t(), 2);

  DrawAttempt attempt;
  draw_attempt(attempt, significand_bytes, bits);
  for (;;) {
    const MpfrNumber u = uniform_floor(attempt, attempt.random_bits);
    const auto working = static_cast<unsigned>(attempt.random_bits + integral + 32);
    const Enclosure sum = enclosed_sum(y_clamped, attempt.negative, lambda, enclosed_minus_log(u, working));
    // Snapping and clamping are monotone, so equal ends decide everything between them.
    const MpfrNumber low = round_to_multiple(sum.below, step);
    const MpfrNumber high = round_to_multiple(sum.above, step);
    const Rational released = clamped(low.rational(), bound);
    if (low == high || released == clamped(high.rational(), bound)) return released;

    WipedBytes more(significand_bytes);
    bits.fill(more.all());
    append_bytes(attempt, more.all());
  }
}

}  // namespace epsilog::mechanisms
