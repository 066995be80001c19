#!/usr/bin/env python3
"""Accuracy, tail and inverse scale of the discrete Laplace and discrete Gaussian laws at 70 digits.

Writes discrete_accuracy.csv beside this file. Needs mpmath. Nothing here shares a formula with the C++ code but
the definition: tails are summed term by term where the scale allows it (up to 1000), and beyond by the midpoint
form of Euler-Maclaurin; the second method is the Abel-Plana integral (scale >= 20) or, below, the sum over
|x| < a subtracted from the whole. A row is written only if both methods agree to 50 digits.

Columns: law, scale, alpha, accuracy (least integer a with P(|X| >= a) <= alpha), tail (P(|X| >= accuracy),
0 where below 10^-390), inverse (the scale at which P(|X| >= accuracy) = alpha exactly).
"""
import os
from mpmath import mp, mpf, exp, log, sqrt, pi, erfc, quad, sin, floor, bernoulli, factorial

mp.dps = 90
DIGITS = mpf(10) ** -50

SCALES = ["0.001", "0.1", "0.3", "0.5", "0.77", "1", "1.7", "3", "8", "20", "40", "99.5", "1000", "1e4", "1e6", "1e9",
          "123456789012.345", "1e15"]
ALPHAS = ["0.999999", "0.9", "0.5", "0.05", "1e-3", "1e-6", "1e-10", "1e-30", "1e-100", "1e-300"]


def direct_sum(a, s):
    """sum_{x >= a} f(x) / f(a), term by term."""
    total, x = mpf(0), a
    while True:
        term = exp((a * a - x * x) / (2 * s * s))
        total += term
        if term < mpf(10) ** -85:
            return total
        x += 1


def he(n, u):
    before, last = mpf(1), u
    if n == 0:
        return before
    for k in range(1, n):
        before, last = last, u * last - k * before
    return last


def midpoint_sum(a, s, terms=16):
    """The same by the midpoint form of Euler-Maclaurin; for s >= 1000 sixteen terms give 90 digits."""
    h = (a - mpf(1) / 2) / s
    total = s * sqrt(pi / 2) * erfc(h / sqrt(mpf(2)))
    first = exp(-h * h / 2)
    for j in range(1, terms + 1):
        weight = -(1 - mpf(2) ** (1 - 2 * j)) * bernoulli(2 * j) / factorial(2 * j)
        total += weight * s ** (1 - 2 * j) * he(2 * j - 1, h) * first
    return total * exp(mpf(a) * a / (2 * s * s))


def abel_plana_sum(a, s):
    """The same by the Abel-Plana integral, cut where its integrand is below 10^-90 of the whole."""
    u = a / s
    head = s * sqrt(pi / 2) * erfc(u / sqrt(mpf(2))) * exp(u * u / 2) + mpf(1) / 2
    step = a / (s * s)
    integrand = lambda y: 2 * sin(step * y) * exp(y * y / (2 * s * s)) / mp.expm1(2 * pi * y)
    return head + quad(integrand, [mpf(10) ** -60, 1, 2, 4, 8, 16, 36])


def poisson_total(s):
    if s < 1:
        return 1 + 2 * exp(-1 / (2 * s * s)) * direct_sum(1, s)
    return s * sqrt(2 * pi) * (1 + 2 * sum(exp(-2 * (pi * s * k) ** 2) for k in range(1, 8)))


def direct_total(s):
    return 1 + 2 * exp(-1 / (2 * s * s)) * direct_sum(1, s)


def gaussian_tail(a, s):
    if s <= 20:
        return 2 * exp(-mpf(a) * a / (2 * s * s)) * direct_sum(a, s) / direct_total(s)
    ratio = midpoint_sum(a, s) if s >= 1000 else direct_sum(a, s)
    return 2 * exp(-mpf(a) * a / (2 * s * s)) * ratio / (poisson_total(s) if s >= 1000 else direct_total(s))


def gaussian_tail_again(a, s):
    if s >= 20:
        return 2 * exp(-mpf(a) * a / (2 * s * s)) * abel_plana_sum(a, s) / poisson_total(s)
    if (2 * a + 1) / (2 * s * s) > 220:  # the first term is the tail to 90 digits
        return 2 * exp(-mpf(a) * a / (2 * s * s)) / sum(exp(-mpf(x) * x / (2 * s * s)) for x in range(-9, 10))
    with mp.workdps(mp.dps + 400):  # 1 - (nearly everything)
        head = 1 + 2 * sum(exp(-mpf(x) * x / (2 * s * s)) for x in range(1, a))
        total = mpf(1) + 2 * sum(exp(-mpf(x) * x / (2 * s * s)) for x in range(1, a + int(48 * s) + 60))
        return 1 - head / total


def laplace_tail(a, s):
    q = exp(-1 / s)
    return 2 * q ** a / (1 + q)


def laplace_tail_again(a, s):
    """1 - P(|X| < a) with P(X = x) = tanh(1/2s) e^(-|x|/s)."""
    with mp.workdps(mp.dps + 1000):
        q = exp(-1 / s)
        inner = (1 + q - 2 * q ** a) / (1 - q)
        return 1 - mp.tanh(1 / (2 * s)) * inner


def normal_quantile(alpha):
    """x with P(|Z| > x) = alpha, to 25 digits: only the place to start from."""
    with mp.workdps(30):
        x = sqrt(-2 * log(alpha))
        for _ in range(60):
            x += log(erfc(x / sqrt(mpf(2))) / alpha) * erfc(x / sqrt(mpf(2))) / (2 * mp.npdf(x))
        return x


def least(tail, alpha, start):
    a = max(1, int(start))
    while tail(a) > alpha:
        a += 1
    while a > 1 and tail(a - 1) <= alpha:
        a -= 1
    return a


def inverse(tail, a, alpha, guess):
    g = (lambda s: log(tail(a, s) / alpha)) if alpha <= 0.5 else (lambda s: log((1 - alpha) / (1 - tail(a, s))))
    low, high = guess, guess
    while g(low) > 0:
        low /= 2
    while g(high) < 0:
        high *= 2
    while high / low > 1.0001:
        middle = sqrt(low * high)
        low, high = (middle, high) if g(middle) < 0 else (low, middle)
    return mp.findroot(g, (low, high), solver="secant", tol=mpf(10) ** -120, maxsteps=60)


def rows(law, tail, tail_again, quantile):
    for scale in SCALES:
        for alpha in ALPHAS:
            s, p = mpf(scale), mpf(alpha)
            a = least(lambda k: tail(k, s), p, floor(quantile(p, s)))
            value, again = tail(a, s), tail_again(a, s)
            assert abs(value / again - 1) < DIGITS, (law, scale, alpha)
            if a > 1:
                assert tail_again(a - 1, s) > p >= again
            back = inverse(tail, a, p, max(s, mpf(1) / 50))
            assert abs(tail_again(a, back) / p - 1) < DIGITS, (law, scale, alpha, "inverse")
            tail_text = mp.nstr(value, 45) if value > mpf(10) ** -390 else "0"
            yield [law, scale, alpha, str(a), tail_text, mp.nstr(back, 45)]


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "discrete_accuracy.csv")
    with open(path, "w") as file:
        file.write("law,scale,alpha,accuracy,tail,inverse\n")
        for row in rows("gaussian", gaussian_tail, gaussian_tail_again, lambda p, s: s * normal_quantile(p)):
            file.write(",".join(row) + "\n")
        for row in rows("laplace", laplace_tail, laplace_tail_again,
                        lambda p, s: s * (log(2 / p) - mp.log1p(exp(-1 / s)))):
            file.write(",".join(row) + "\n")


if __name__ == "__main__":
    main()
