#!/usr/bin/env python3
"""Reference values for the complementary tolerance of a mean.

Writes mean_complementary.csv beside itself: t by the formula of mechanisms/proofs/tolerance.md, with the
quantile found by bisection, and the probability that the noisy mean is within t of the exact one, by numerical
integration over both noises. It stops where that exceeds 10^-k.
"""
import csv
import pathlib
from fractions import Fraction

from mpmath import erf, exp, inf, mp, mpf, pi, quad, sqrt

mp.dps = 40


def num(text):
    f = Fraction(text)
    return mpf(f.numerator) / f.denominator


class Laplace:
    def __init__(self, scale):
        self.scale, self.excess = scale, scale / 2

    def density(self, x):
        return exp(-abs(x) / self.scale) / (2 * self.scale)

    def below(self, x):
        return exp(x / self.scale) / 2 if x < 0 else 1 - exp(-x / self.scale) / 2


class Normal:
    def __init__(self, sigma):
        self.scale, self.excess = sigma, sigma * 2 / 5

    def density(self, x):
        return exp(-(x / self.scale) ** 2 / 2) / (self.scale * sqrt(2 * pi))

    def below(self, x):
        return (1 + erf(x / (self.scale * sqrt(mpf(2))))) / 2


def analytic_sigma(epsilon, delta, l2):
    """Least sigma with Phi(D/2s - eps s/D) - e^eps Phi(-D/2s - eps s/D) <= delta."""
    phi = lambda x: mp.erfc(-x / sqrt(mpf(2))) / 2
    loss = lambda s: phi(l2 / (2 * s) - epsilon * s / l2) - exp(epsilon) * phi(-l2 / (2 * s) - epsilon * s / l2)
    low, high = mpf(10) ** -6, mpf(10) ** 9
    for _ in range(200):
        middle = sqrt(low * high)
        low, high = (middle, high) if loss(middle) > delta else (low, middle)
    return high


def half_width(law, p):
    """w with P(|X| <= w) = p."""
    low, high = mpf(0), law.scale
    while law.below(high) - law.below(-high) < p:
        high *= 2
    for _ in range(400):
        middle = (low + high) / 2
        low, high = (middle, high) if law.below(middle) - law.below(-middle) < p else (low, middle)
    return low


def near(law, h, n, mu, t, whole):
    """P(|(S + N_s)/max(1, n + N_c) - mu| <= t), N_s = h times another N_c; `whole`: N_c rounded."""
    def given(count):
        c, shift = max(mpf(1), count), (max(mpf(1), count) - n) * mu
        return law.below((shift + t * c) / h) - law.below((shift - t * c) / h)

    if whole:
        reach = int(120 * law.scale) + 2
        if isinstance(law, Normal):
            reach = int(15 * law.scale) + 2
        return sum((law.below(j + mpf(1) / 2) - law.below(j - mpf(1) / 2)) * given(n + j)
                   for j in range(-reach, reach + 1))
    spread = [law.scale * x for x in (-60, -20, -8, -3, -1, 0, 1, 3, 8, 20, 60)]
    kinks = [1 - n] + ([-t * c0 / (mu + t * s) for s in (1, -1) for c0 in (n,) if mu + t * s != 0] if mu != 0 else [])
    points = sorted({mpf(x) for x in spread + kinks})
    inner = quad(lambda y: law.density(y) * given(n + y), points)
    return inner + law.below(points[0]) + 1 - law.below(points[-1])  # the tails at most


ROWS = [
    # epsilon, delta, lower, upper, sum, count, max_rows, partitions, k
    ("1", "0", "0", "10", "500", "100", 1, 1, "3"), ("1", "0", "0", "10", "900", "100", 1, 1, "2"),
    ("1", "0", "0", "10", "0.5", "1", 1, 1, "2"), ("1", "0", "-3", "3", "0", "0", 1, 1, "1"),
    ("0.1", "0", "0", "10", "15", "3", 2, 3, "4"), ("8", "0", "2", "2.75", "1200", "500", 1, 1, "10"),
    ("50", "0", "-3", "3", "-7", "7", 1, 1, "3"), ("4", "0", "0", "1", "12", "20", 1, 1, "1/2"),
    ("1", "1e-6", "0", "10", "500", "100", 1, 1, "3"), ("1", "1e-6", "0", "10", "30", "10", 2, 4, "2"),
    ("2", "1e-8", "-1", "1", "0.5", "2", 1, 1, "1"), ("20", "1e-3", "0", "1", "9", "10", 1, 1, "6"),
]


def row(epsilon, delta, lower, upper, total, count, rows, partitions, k):
    low, high, n = num(lower), num(upper), num(count)
    h, mid = (high - low) / 2, (high + low) / 2
    mean = num(total) / n if n else mid
    if delta == "0":
        law = Laplace(2 * rows * partitions / num(epsilon))
    else:
        law = Normal(analytic_sigma(num(epsilon) / 2, num(delta) / 2, rows * sqrt(mpf(partitions))))
    level = mpf(10) ** -num(k)
    t = h * half_width(law, level) / (max(mpf(1), n) + mpf(1) / 2 + law.excess)
    t = min(t, mean - low, high - mean)
    mp.dps = 20
    likely = [near(law, h, n, mean - mid, t, whole) for whole in (False, True)]
    mp.dps = 40
    assert max(likely) <= level, (epsilon, count, k, likely)
    return [epsilon, delta, lower, upper, total, count, rows, partitions, k, mp.nstr(t, 30)] + \
        [mp.nstr(p / level, 6) for p in likely]


def main():
    with open(pathlib.Path(__file__).with_suffix(".csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow("epsilon,delta,lower,upper,sum,count,max_rows,partitions,k,complementary,share,share_rounded"
                        .split(","))
        for one in ROWS:
            writer.writerow(row(*one))


if __name__ == "__main__":
    main()
