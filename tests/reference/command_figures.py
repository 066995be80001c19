#!/usr/bin/env python3
"""The figures that tests/cli/calculators/calculator_test.cpp expects of the calculators, each by two methods.

Prints NAME VALUE lines with 40 significant digits, and stops where the methods differ before the 50th.
Needs mpmath.
"""

from mpmath import (ceil, cosh, erf, erfc, erfinv, exp, findroot, floor, inf, jtheta, ln, log, mp, mpf, ncdf, nstr,
                    nsum, sqrt)

mp.dps = 80


def agree(name, one, other):
    one, other = mpf(one), mpf(other)
    assert abs(one - other) <= mpf(10) ** -50 * abs(one), (name, one, other)
    print(name, nstr(one, 40, min_fixed=-400, max_fixed=400))


def bisect(increasing, low, high):
    """The zero of an increasing function."""
    low, high = mpf(low), mpf(high)
    for _ in range(400):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < 0 else (low, middle)
    return low


# ---------------------------------------------------------------------------------------- snapping
# Unclamped, grid g: P(|error| > a) = exp(-h k) cosh((1 - psi) k), k = g/(2 lambda), h + psi = 2 a/g.
def snapping_tail(a, lam, g):
    k, h = g / (2 * lam), floor(2 * a / g)
    return exp(-h * k) * cosh((1 - (2 * a / g - h)) * k)


# D = 1, alpha = .05, a = 40: between epsilon 1/16 and 1/8 the grid is 16 and h = 5, psi = 0.
agree("snapping_epsilon", findroot(lambda e: exp(-40 * e) * cosh(8 * e) - mpf(1) / 20, mpf("0.08")),
      bisect(lambda e: mpf(1) / 20 - snapping_tail(mpf(40), 1 / e, mpf(16)), mpf(1) / 16 + mpf(10) ** -9, mpf(1) / 8))


# ------------------------------------------------------------------------------------ discrete laws
def laplace_tail(s, a):
    q = exp(-1 / s)
    return 2 * q**a / (1 + q)


def laplace_tail_summed(s, a):
    n = int(200 * s + a)
    f = [exp(-x / s) for x in range(n)]
    return 2 * sum(reversed(f[a:])) / (2 * sum(reversed(f[1:])) + 1)


def gaussian_tail(s, a):
    theta = jtheta(3, 0, exp(-1 / (2 * s * s)))
    return 1 - sum(exp(-mpf(x) ** 2 / (2 * s * s)) for x in range(1 - a, a)) / theta


def gaussian_tail_summed(s, a):
    n = int(20 * s + a)
    f = [exp(-mpf(x) ** 2 / (2 * s * s)) for x in range(n)]
    return 2 * sum(reversed(f[a:])) / (2 * sum(reversed(f[1:])) + 1)


agree("laplace_alpha", laplace_tail(mpf(10), 30), laplace_tail_summed(mpf(10), 30))
agree("gaussian_alpha", gaussian_tail(mpf(10), 20), gaussian_tail_summed(mpf(10), 20))
agree("laplace_scale", findroot(lambda s: laplace_tail(s, 30) - mpf(1) / 20, 8),
      bisect(lambda s: ln(2) - 30 / s - log(1 + exp(-1 / s)) + ln(20), 1, 100))
agree("gaussian_scale", findroot(lambda s: gaussian_tail(s, 20) - mpf(1) / 20, 10),
      findroot(lambda s: gaussian_tail_summed(s, 20) - mpf(1) / 20, 10))
agree("laplace_scale_1_half", 1 / ln(3), findroot(lambda s: laplace_tail(s, 1) - mpf(1) / 2, 1))
agree("gaussian_scale_1_half", findroot(lambda s: gaussian_tail(s, 1) - mpf(1) / 2, 0.8),
      findroot(lambda s: gaussian_tail_summed(s, 1) - mpf(1) / 2, 0.8))


# -------------------------------------------------------------------------------- continuous Gaussian
def delta_phi(sigma, epsilon, d):
    return ncdf(d / (2 * sigma) - epsilon * sigma / d) - exp(epsilon) * ncdf(-d / (2 * sigma) - epsilon * sigma / d)


def delta_erfc(sigma, epsilon, d):
    a, b = d / (2 * sigma), epsilon * sigma / d
    return (erfc((b - a) / sqrt(mpf(2))) - exp(epsilon) * erfc((a + b) / sqrt(mpf(2)))) / 2


def sigma_of(delta, epsilon, d, method, high):
    return bisect(lambda sigma: delta - method(sigma, epsilon, d), mpf(d) / 100, high)


mp.dps = 300  # the difference below loses 141 digits
agree("delta_500", delta_phi(mpf(500), mpf(1) / 2, mpf(10)), delta_erfc(mpf(500), mpf(1) / 2, mpf(10)))
mp.dps = 80
agree("delta_1", delta_phi(mpf(1), mpf(1), mpf(1)), delta_erfc(mpf(1), mpf(1), mpf(1)))
agree("delta_at_0", delta_phi(mpf(1) / 2, mpf(0), mpf(1)), erf(1 / sqrt(mpf(2))))
sigma = sigma_of(mpf(10) ** -6, mpf(1), mpf(1), delta_phi, 100)
agree("sigma_1e-6", sigma, sigma_of(mpf(10) ** -6, mpf(1), mpf(1), delta_erfc, 100))
agree("sigma_1e-5_tenth", sigma_of(mpf(10) ** -5, mpf(1) / 10, mpf(1), delta_phi, 1000),
      sigma_of(mpf(10) ** -5, mpf(1) / 10, mpf(1), delta_erfc, 1000))

# ------------------------------------------------------------------------------------------ tolerance
agree("tolerance_laplace", 23 * ln(mpf(10)) / 50, bisect(lambda t: mpf(10) ** -23 - exp(-50 * t), 0, 10))
mp.dps = 130
agree("complementary_laplace", -ln(1 - mpf(10) ** -23) / 50,
      sum(mpf(10) ** (-23 * j) / j for j in range(1, 11)) / 50)
pieces = 1 - (1 - mpf(10) ** -15) ** (mpf(1) / 10)
agree("tolerance_laplace_10", -2 * ln(pieces),
      bisect(lambda t: (1 - exp(-t / 2)) ** 10 - (1 - mpf(10) ** -15), 0, 1000))
level = mpf(10) ** -23
agree("tolerance_gaussian", sigma * sqrt(mpf(2)) * erfinv(1 - level),
      sigma * bisect(lambda t: level - erfc(t / sqrt(mpf(2))), 0, 100))
agree("complementary_gaussian", sigma * sqrt(mpf(2)) * erfinv(level),
      sigma * bisect(lambda t: erf(t / sqrt(mpf(2))) - level, 0, 1))
# The mean of 100 values in [0, 10] with sum 500: about the midpoint 5 the sum is 0. Scale of the count 2, of the
# sum 10; worst is the whole tolerance of the sum over the smallest count.
half = 1 - sqrt(1 - mpf(10) ** -10)
t_count = -2 * ln(half)
agree("tolerance_mean", 5 * t_count / (100 - ceil(t_count)),
      max(abs((sign * 5 * t_count) / (100 + end * ceil(t_count))) for sign in (-1, 1) for end in (-1, 1)))
