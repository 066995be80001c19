#include "epsilog/mechanisms/snapping.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::DefaultFloatingPoint;
using accounting::Integer;

constexpr int kDoubleDigits = std::numeric_limits<double>::digits;

[[noreturn]] void refuse_grid(const std::string& found) {
  throw InvalidParameter("grid: " + found + " is not a power of two");
}

/// value = significand * 2^exponent with |significand| < 2^53.
struct DyadicParts {
  std::int64_t significand;
  int exponent;
};

/// From the bits, which no setting of floating point changes.
DyadicParts dyadic_parts(double value) {
  constexpr int kStored = kDoubleDigits - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>(bits >> kStored & 0x7ff);
  auto significand = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << kStored) - 1));
  if (biased != 0) significand |= std::int64_t{1} << kStored;
  return {std::signbit(value) ? -significand : significand, std::max(biased, 1) - 1023 - kStored};
}

/// k for value = 2^k; nullopt otherwise.
/// Requires  a finite value.
std::optional<int> log2_of_power(double value) {
  const DyadicParts parts = dyadic_parts(value);
  if (parts.significand <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(parts.significand))) {
    return std::nullopt;
  }
  return parts.exponent + std::countr_zero(static_cast<std::uint64_t>(parts.significand));
}

/// significand * 2^exponent.
/// Requires  that it is a double, or beyond the largest.
double double_of(std::int64_t significand, int exponent) {
  const DefaultFloatingPoint floating_point;
  return std::ldexp(static_cast<double>(significand), exponent);
}

/// k for value = 2^k, in MPFR's terms.
mpfr_exp_t mpfr_exponent_of_power_of_two(mpfr_srcptr value) {
  if (mpfr_regular_p(value) == 0 || mpfr_signbit(value) != 0 || mpfr_min_prec(value) != 1) {
    refuse_grid("the given MPFR number");
  }
  return mpfr_get_exp(value) - 1;
}

MpfrNumber round_to_multiple_of_power(mpfr_srcptr x, mpfr_exp_t exponent) {
  if (mpfr_number_p(x) == 0) throw InvalidParameter("round_to_multiple: x is not a finite number");
  const ExponentRange range;
  MpfrNumber result(static_cast<unsigned>(mpfr_get_prec(x)));
  if (mpfr_zero_p(x) != 0) return result;

  // The last bit of x stands at 2^(exp - prec); if that is a multiple of the grid, so is x.
  if (mpfr_get_exp(x) - mpfr_get_prec(x) >= exponent) {
    mpfr_set(result.get(), x, MPFR_RNDN);
    return result;
  }
  // |x| < grid/2. Also keeps the shift below from being larger than x needs.
  if (mpfr_get_exp(x) < exponent) return result;

  // floor(x/grid + 1/2) = floor((floor(2x/grid) + 1) / 2), all of it in integers.
  MpfrNumber scaled(result.precision());
  mpfr_mul_2si(scaled.get(), x, 1 - exponent, MPFR_RNDN);
  Integer multiple;
  mpfr_get_z(multiple.get_mpz_t(), scaled.get(), MPFR_RNDD);
  multiple += 1;
  mpz_fdiv_q_2exp(multiple.get_mpz_t(), multiple.get_mpz_t(), 1);
  const int ternary = mpfr_set_z_2exp(result.get(), multiple.get_mpz_t(), exponent, MPFR_RNDN);
  EPSILOG_INVARIANT(ternary == 0);
  return result;
}

}  // namespace

double round_to_multiple(double x, double grid) {
  if (!std::isfinite(x)) throw InvalidParameter("round_to_multiple: x is not a finite number");
  if (!std::isfinite(grid) || dyadic_parts(grid).significand <= 0) {
    refuse_grid("a value that is not finite and positive");
  }
  const std::optional<int> step = log2_of_power(grid);
  if (!step) refuse_grid(accounting::text(MpfrNumber::exactly(grid).rational()));

  const DyadicParts parts = dyadic_parts(x);
  const int shift = *step - parts.exponent;
  if (shift <= 0) return parts.significand == 0 ? 0.0 : x;
  if (shift > kDoubleDigits) return 0.0;  // |x| < 2^(53 + e) <= grid / 2

  const std::int64_t half = std::int64_t{1} << (shift - 1);
  const std::int64_t multiple = (parts.significand + half) >> shift;  // floor: C++20 shifts arithmetically
  if (multiple == 0) return 0.0;
  const double result = double_of(multiple, *step);
  if (!std::isfinite(result))
    throw InvalidParameter("round_to_multiple: the multiple 2^1024 is not a double");
  return result;
}

Rational round_to_multiple(const Rational& x, const Rational& grid) {
  static_cast<void>(exponent_of_power_of_two(grid, "grid"));
  return accounting::floor(x / grid + Rational(1, 2)) * grid;
}

MpfrNumber round_to_multiple(MpfrView x, MpfrView grid) {
  return round_to_multiple_of_power(x.get(), mpfr_exponent_of_power_of_two(grid.get()));
}

MpfrNumber round_to_multiple(MpfrView x, double grid) {
  if (!std::isfinite(grid)) refuse_grid("a value that is not finite and positive");
  return round_to_multiple(x, MpfrNumber::exactly(grid));
}

double power_of_two_at_least(double lambda) {
  const DyadicParts parts = dyadic_parts(lambda);
  if (!std::isfinite(lambda) || parts.significand <= 0) {
    throw InvalidParameter("power_of_two_at_least: lambda is not finite and positive");
  }
  if (log2_of_power(lambda)) return lambda;
  const double result = double_of(
      1, parts.exponent + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(parts.significand))));
  if (!std::isfinite(result)) throw InvalidParameter("power_of_two_at_least: 2^1024 is not a double");
  return result;
}

Rational power_of_two_at_least(const Rational& lambda) {
  if (lambda <= 0) throw InvalidParameter("power_of_two_at_least: lambda is not positive");
  // num < 2^a and den >= 2^(b-1), so lambda < 2^(a-b+1); and lambda > 2^(a-1-b).
  long exponent = static_cast<long>(mpz_sizeinbase(lambda.get_num_mpz_t(), 2)) -
                  static_cast<long>(mpz_sizeinbase(lambda.get_den_mpz_t(), 2)) + 1;
  while (accounting::power_of_two(exponent - 1) >= lambda) --exponent;
  return accounting::power_of_two(exponent);
}

MpfrNumber power_of_two_at_least(MpfrView lambda) {
  if (mpfr_regular_p(lambda.get()) == 0 || mpfr_signbit(lambda.get()) != 0) {
    throw InvalidParameter("power_of_two_at_least: lambda is not finite and positive");
  }
  const ExponentRange range;
  const mpfr_exp_t exponent = mpfr_get_exp(lambda.get()) - (mpfr_min_prec(lambda.get()) == 1 ? 1 : 0);
  MpfrNumber result(static_cast<unsigned>(mpfr_get_prec(lambda.get())));
  mpfr_set_ui_2exp(result.get(), 1, exponent, MPFR_RNDN);
  if (mpfr_number_p(result.get()) == 0) {
    throw InvalidParameter("power_of_two_at_least: lambda is beyond MPFR's exponents");
  }
  return result;
}

MpfrNumber log_rounded(double u, unsigned p) {
  if (!std::isfinite(u)) throw InvalidParameter("log_rounded: u is not finite and positive");
  return log_rounded(MpfrNumber::exactly(u), p);
}

MpfrNumber log_rounded(MpfrView u, unsigned p) {
  if (mpfr_regular_p(u.get()) == 0 || mpfr_signbit(u.get()) != 0) {
    throw InvalidParameter("log_rounded: u is not finite and positive");
  }
  const ExponentRange range;
  MpfrNumber result(p);
  mpfr_log(result.get(), u.get(), MPFR_RNDN);
  return result;
}

long exponent_of_power_of_two(const Rational& value, const char* what) {
  if (value > 0 && mpz_popcount(value.get_num_mpz_t()) == 1 && mpz_popcount(value.get_den_mpz_t()) == 1) {
    return static_cast<long>(mpz_sizeinbase(value.get_num_mpz_t(), 2)) -
           static_cast<long>(mpz_sizeinbase(value.get_den_mpz_t(), 2));
  }
  throw InvalidParameter(std::string(what) + ": " + accounting::text(value) + " is not a power of two");
}

}  // namespace epsilog::mechanisms
