// One draw of the snapping mechanism, in pieces small enough to enumerate: nothing here knows of
// policies, receipts or calibration. Any precision p >= 2 works, so that a toy mechanism of 8 bits
// runs through the same code as a release.
//
// Source   Mironov 2012, section 5.2; mechanisms/proofs/snapping.md for what is proved of it.
// Rounds   To nearest, ties to even, once per operation; snapping and clamping never round.
// Thread-safety: pure functions, except for the BitSource that is passed in.
#pragma once

#include <cstddef>

#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::Rational;

/// Z = RN_p(lambda * RN_p(|ln u_star|)), the magnitude of the noise.
/// Requires  0 < u_star < 1, lambda > 0 dyadic, p >= 2.
[[nodiscard]] MpfrNumber noise_magnitude(const MpfrNumber& u_star, const MpfrNumber& lambda, unsigned p);
[[nodiscard]] MpfrNumber noise_magnitude(const MpfrNumber& u_star, const Rational& lambda, unsigned p);

/// RN_p(y + z): the exact sum of an exact rational and a signed noise, rounded once.
[[nodiscard]] MpfrNumber sum_rounded(const Rational& y, const MpfrNumber& z, unsigned p);

/// clamp_B(round_Lambda(sum)), exactly; ties toward +infinity, never -0.
/// Requires  grid a power of two, bound > 0.
[[nodiscard]] Rational snapped_and_clamped(const MpfrNumber& sum, const Rational& grid,
                                           const Rational& bound);

/// The whole mechanism for given random choices:
/// clamp_B(round_Lambda(RN_p(y + s * noise_magnitude(u_star, lambda, p)))), s = -1 if `negative`.
/// Requires  |y_clamped| <= bound; otherwise as above.
[[nodiscard]] Rational snapped(const Rational& y_clamped, bool negative, const MpfrNumber& u_star,
                               const Rational& lambda, const Rational& grid, const Rational& bound,
                               unsigned p);
[[nodiscard]] Rational snapped(const Rational& y_clamped, bool negative, const MpfrNumber& u_star,
                               const MpfrNumber& lambda, const Rational& grid, const Rational& bound,
                               unsigned p);

/// The random choices of one release.
struct UniformDraw {
  MpfrNumber u_star;  ///< p bits, in (0, 1), probability of each value proportional to its ulp
  bool negative;      ///< fair, independent
};

/// Bytes of one attempt at precision p, always read in one fill:
/// ceil((p - 1) / 8) of significand, then kExponentBytes, then one whose lowest bit is the sign.
/// The significand's random bits are the leading p - 1 of its bytes, most significant first.
inline constexpr std::size_t kExponentBytes = 8;
[[nodiscard]] constexpr std::size_t attempt_bytes(unsigned p) noexcept {
  return (p + 6) / 8 + kExponentBytes + 1;
}

/// U* = (1.f) * 2^-e, f of p - 1 random bits, e = 1 + the number of leading zero bits of the
/// exponent bytes. If those are all zero, e counts on through another kExponentBytes: the geometric
/// law is not truncated.
/// Requires  p >= 2.
/// Throws    EntropyUnavailable.
[[nodiscard]] UniformDraw draw_uniform(BitSource& bits, unsigned p);

/// The ideal mechanism clamp_B(round_Lambda(y + S * lambda * (-ln U))) of a real uniform U, whose
/// significand is drawn lazily: `significand_bytes` with the first attempt (laid out as above), as
/// many again whenever the enclosing interval still crosses a rounding boundary. Given the bytes of
/// a p-bit draw, its U lies in [U*, U* + ulp).
/// Requires  |y_clamped| <= bound, lambda > 0, significand_bytes >= 1.
/// Ensures   exact: no rounding is left in the law. Ends with probability 1.
/// Throws    EntropyUnavailable.
[[nodiscard]] Rational snapped_exact(const Rational& y_clamped, const Rational& lambda, const Rational& grid,
                                     const Rational& bound, BitSource& bits,
                                     std::size_t significand_bytes = 8);

}  // namespace epsilog::mechanisms
