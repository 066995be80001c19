#include "gaussian_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "bernoulli_numbers.hpp"

namespace epsilog::mechanisms {
namespace {

/// M(x) = 1/(x + 1/(x + 2/(x + 3/(x + ...)))), with the part after level n in [x, x + (n+1)/x].
Enclosure mills_continued_fraction(const Enclosure& x, unsigned long levels) {
  Enclosure t(x.low(), (x + Enclosure(x).invert(levels + 1)).high());
  for (unsigned long k = levels; k >= 1; --k) t.invert(k) += x;
  return t.invert(1);
}

/// M(x) = sqrt(pi/2) exp(x^2/2) - sum_{k>=0} x^(2k+1)/(2k+1)!!.
Enclosure mills_series(const Rational& x_squared, unsigned bits) {
  const Enclosure square(x_squared, bits);
  Enclosure term = sqrt(square);
  Enclosure sum = term;
  MpfrNumber negligible(2U);
  mpfr_set_ui_2exp(negligible.get(), 1, -static_cast<mpfr_exp_t>(bits), MPFR_RNDN);
  for (unsigned long odd = 3;; odd += 2) {
    term *= square;
    term /= odd;
    sum += term;
    // Only where every later term is at most half of the one before does a small term end the sum.
    if (mpfr_less_p(term.high().get(), negligible.get()) != 0 &&
        square.certainly_at_most(Rational(odd) / 2)) {
      break;
    }
  }
  sum += Enclosure(MpfrNumber(bits), term.high());
  return sqrt(pi(bits) / 2) * exp(Enclosure(x_squared / 2, bits)) - sum;
}

/// Levels of the continued fraction for `bits` bits, or nullopt if they are more than the series would take.
/// The error is about n!/(h_n h_{n+1}) with h_{n+1} = x h_n + n h_{n-1}: the denominators of the convergents.
std::optional<unsigned long> continued_fraction_levels(double x, unsigned bits) {
  const unsigned long most = bits - bits / 5;
  double log2_error = 0;
  double growth = x;  // h_{n+1} / h_n
  for (unsigned long n = 1; n <= most; ++n) {
    const double next = x + static_cast<double>(n) / growth;
    log2_error += std::log2(static_cast<double>(n) / (growth * next));
    growth = next;
    if (log2_error < -static_cast<double>(bits)) return n;
  }
  return std::nullopt;
}

/// 1 + sum_{k>=1} r^k w^(k(k-1)/2) with r and w in [0, 1): terms until they no longer matter, then the
/// geometric bound of the rest.
Enclosure falling_sum(Enclosure ratio, const Enclosure& quotient, unsigned bits) {
  Enclosure sum(1, bits);
  Enclosure term(1, bits);
  MpfrNumber negligible(2U);
  mpfr_set_ui_2exp(negligible.get(), 1, -static_cast<mpfr_exp_t>(bits), MPFR_RNDN);
  while (true) {
    term *= ratio;
    if (mpfr_less_p(term.high().get(), negligible.get()) != 0) break;
    sum += term;
    ratio *= quotient;
  }
  const Enclosure rest = term / (Enclosure(1UL, bits) - ratio);
  return sum + Enclosure(MpfrNumber(bits), rest.high());
}

double log2_factorial(double n) {
  return std::lgamma(n + 1) * std::numbers::log2e;
}

/// log2 of the remainder bound after m terms (proofs/discrete_accuracy.md, (6) and (7)), as a forecast.
double log2_remainder(double log2_s, double u, double m) {
  const double n = 2 * m;
  const double two_pi = 2 * std::numbers::pi;
  const double common = 1.8 - n * std::log2(two_pi) + (1 - n) * log2_s + log2_factorial(n);
  if (u * u < 4 * n) return common - m * std::log2(n) + (m + u * u / 4) * std::numbers::log2e + 0.83;
  const double r = std::min((u - std::sqrt(u * u - 4 * n)) / 2, u / 2);
  return common - n * std::log2(r) + (u * r - r * r / 2) * std::numbers::log2e - std::log2(u - r);
}

/// What the Euler-Maclaurin formula can reach.
struct Forecast {
  unsigned terms = 1;
  bool reaches = false;
};

Forecast euler_maclaurin_forecast(double log2_s, double u, unsigned bits) {
  const double wanted = log2_s - std::log2(1 + u) - 1 - bits;
  Forecast best;
  double best_remainder = std::numeric_limits<double>::infinity();
  for (unsigned m = 1; m <= kEulerMaclaurinTermsMax; ++m) {
    const double remainder = log2_remainder(log2_s, u, m);
    if (remainder < best_remainder) best = {m, remainder <= wanted};
    if (best.reaches) return best;
    if (remainder > best_remainder + 64) return best;
    best_remainder = std::min(best_remainder, remainder);
  }
  return best;
}

/// Upper bound of the Euler-Maclaurin remainder after m terms, relative to the first term of the sum.
MpfrNumber remainder_up(const Rational& s, const Enclosure& u, unsigned m) {
  constexpr unsigned kBits = 64;
  const unsigned long n = 2UL * m;
  const auto number = [](const Rational& value) { return Enclosure(value, kBits); };
  Integer factorial;
  mpz_fac_ui(factorial.get_mpz_t(), n);
  Enclosure bound = number(abs(euler_maclaurin_coefficient(m))) * number(factorial) * number(s);
  const auto divide_by_power = [&](const Enclosure& base, unsigned long exponent) {
    MpfrNumber power(kBits);
    mpfr_pow_ui(power.get(), base.low().get(), exponent, MPFR_RNDD);
    bound /= Enclosure(power, power);
  };
  divide_by_power(number(s), n);
  const Enclosure u_short = {MpfrNumber::rounded(u.low().rational(), kBits, MPFR_RNDD),
                             MpfrNumber::rounded(u.high().rational(), kBits, MPFR_RNDU)};
  const Enclosure u_squared = u_short * u_short;
  if (!u_squared.certainly_above(4 * n)) {
    divide_by_power(number(n), m);
    bound *= exp(number(m) + u_squared / number(4)) * sqrt(pi(kBits));
    return bound.high();
  }
  // Any r <= u/2 serves; a double near the best one is exact in what follows.
  const double u_double = u_short.low().nearest_double();
  const double best =
      2.0 * static_cast<double>(n) /
      (u_double + std::sqrt(std::max(u_double * u_double - 4.0 * static_cast<double>(n), 0.0)));
  const Enclosure r = number(std::min(Rational(best), Rational(u_short.low().rational() / 2)));
  divide_by_power(r, n);
  bound *= exp(r * u_short - r * r / number(2)) / (u_short - r);
  return bound.high();
}

}  // namespace

Enclosure mills_ratio(const Rational& x_squared, unsigned bits) {
  if (x_squared > 0) {
    const double x = std::exp2(log2_estimate(x_squared) / 2);
    if (const auto levels = continued_fraction_levels(x, bits)) {
      return mills_continued_fraction(sqrt(Enclosure(x_squared, bits)), *levels);
    }
  }
  // The series is a difference of numbers near exp(x^2/2).
  const double cancelled = x_squared.get_d() / 2 * std::numbers::log2e;
  return mills_series(x_squared, bits + static_cast<unsigned>(cancelled) + 16);
}

Enclosure normal_upper_tail(const Rational& x_squared, int sign, unsigned bits) {
  const Enclosure density = exp(Enclosure(-x_squared / 2, bits)) / sqrt(pi(bits) * 2);
  const Enclosure tail = density * mills_ratio(x_squared, bits);
  return sign > 0 ? tail : Enclosure(1UL, bits) - tail;
}

Enclosure gaussian_total(const Rational& s, unsigned bits) {
  const Rational s_squared = s * s;
  if (s < 1) {
    const Enclosure first = exp(Enclosure(-1 / (2 * s_squared), bits));
    return Enclosure(1UL, bits) + first * gaussian_tail_ratio_direct(s, 1, bits) * 2;
  }
  // Poisson summation: s sqrt(2 pi) (1 + 2 sum_{k>=1} q^(k^2)), q = exp(-2 pi^2 s^2).
  const Enclosure pi_ = pi(bits);
  const Enclosure q = exp(-(pi_ * pi_ * Enclosure(2 * s_squared, bits)));
  const Enclosure q_squared = q * q;
  const Enclosure series = q * falling_sum(q * q_squared, q_squared, bits);
  return sqrt(pi_ * Enclosure(2 * s_squared, bits)) * (Enclosure(1UL, bits) + series * 2);
}

Enclosure gaussian_tail_ratio_direct(const Rational& s, const Integer& a, unsigned bits) {
  const Rational half_rate = 1 / (2 * s * s);
  return falling_sum(exp(Enclosure(-(2 * a + 1) * half_rate, bits)), exp(Enclosure(-2 * half_rate, bits)),
                     bits);
}

Enclosure gaussian_tail_ratio_euler_maclaurin(const Rational& s, const Integer& a, unsigned terms,
                                              unsigned bits) {
  const Rational s_squared = s * s;
  const Rational u_squared = a * a / s_squared;
  Enclosure sum = Enclosure(s, bits) * mills_ratio(u_squared, bits) + Enclosure(Rational(1, 2), bits);
  // scaled = He_n(u)/s^n by He_{n+1}(u) = u He_n(u) - n He_{n-1}(u).
  const Enclosure step(a / s_squared, bits);
  const Enclosure variance_inverse(1 / s_squared, bits);
  Enclosure before(1, bits);
  Enclosure scaled = step;
  const auto advance = [&](unsigned long n) {
    before *= variance_inverse;
    before *= n;
    Enclosure next = step * scaled - before;
    before = std::exchange(scaled, std::move(next));
  };
  for (unsigned j = 1; j <= terms; ++j) {
    if (j > 1) {
      advance(2UL * j - 3);
      advance(2UL * j - 2);
    }
    sum += Enclosure(euler_maclaurin_coefficient(j), bits) * scaled;
  }
  return sum.widen(remainder_up(s, sqrt(Enclosure(u_squared, bits)), terms));
}

Enclosure gaussian_tail_ratio(const Rational& s, const Integer& a, unsigned bits) {
  const double log2_s = log2_estimate(s);
  const double u = std::exp2(log2_estimate(a) - log2_s);
  const double width = 2 * bits * std::numbers::ln2;
  const double direct_terms =
      std::exp2(log2_s + std::log2(width) - std::log2(u + std::sqrt(u * u + width))) + 2;
  // A term of the direct sum costs about a tenth of what one Euler-Maclaurin term does.
  if (direct_terms <= 48) return gaussian_tail_ratio_direct(s, a, bits);
  const Forecast forecast = euler_maclaurin_forecast(log2_s, u, bits);
  const bool direct = forecast.reaches ? direct_terms <= 10.0 * forecast.terms : direct_terms <= 65536;
  return direct ? gaussian_tail_ratio_direct(s, a, bits)
                : gaussian_tail_ratio_euler_maclaurin(s, a, forecast.terms, bits);
}

}  // namespace epsilog::mechanisms
