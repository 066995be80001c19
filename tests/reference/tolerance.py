#!/usr/bin/env python3
"""Reference values of the tolerance calculator, computed twice.

usage: tolerance.py [DIRECTORY]      writes three tables there (default: beside it)

Needs mpmath. Every value comes from the plain formula of docs/tolerance.md at so many digits that
1 - 10^-k is harmless, and from the rearranged one at 90 digits (expm1, log1p, a root of ln erfc found by
bisection). The two must agree to 65 digits, or nothing is written. 60 digits are written.
"""

import csv
import math
import os
import sys
from fractions import Fraction

from mpmath import erf, erfc, exp, expm1, ln, log1p, mp, mpf, nstr, sqrt

AGREE = 65


def number(text):
    value = Fraction(text)
    return mpf(value.numerator) / value.denominator


def plain_digits(k):
    return 120 + 3 * math.ceil(Fraction(k))


# ------------------------------------------------------------------------------------ plain formulas


def plain(law, k, n):
    """(tolerance, complementary) for scale 1."""
    alpha = mpf(10) ** -number(k)
    each = 1 - (1 - alpha) ** (mpf(1) / n)
    if law == "laplace":
        return -ln(each), -ln(1 - each)
    return sqrt(2) * inverse_erf(1 - each), sqrt(2) * inverse_erf(each)


def inverse_erf(p):
    """Newton's method on erf itself, at the precision in force."""
    x = sqrt(-ln(1 - p)) if p > mpf(1) / 2 else sqrt(mp.pi) / 2 * p
    for _ in range(400):
        step = (erf(x) - p) * sqrt(mp.pi) / 2 * exp(x * x)
        x -= step
        if abs(step) < abs(x) * mpf(10) ** (-mp.dps // 2 - 5):
            break
    return x - (erf(x) - p) * sqrt(mp.pi) / 2 * exp(x * x)


# ------------------------------------------------------------------------------- rearranged formulas


def complement(y):
    return -ln(-expm1(-y)) if y < 0.7 else -log1p(-exp(-y))


def rearranged(law, k, n):
    level = number(k) * ln(10)
    each = complement(complement(level) / n)
    spared = complement(level) / n
    if law == "laplace":
        return each, spared
    return normal_quantile(each), normal_quantile(spared)


def normal_quantile(y):
    """x sqrt 2 with erfc(x) = e^-y, by bisection; below y = 0.7 as erf(x) = 1 - e^-y."""
    common = y < 0.7
    goal = -expm1(-y) if common else -y
    side = (lambda x: erf(x) < goal) if common else (lambda x: ln(erfc(x)) > goal)
    low, high = (mpf(0), goal * sqrt(mp.pi)) if common else (mpf(0), sqrt(y) + 1)
    if common:
        low = goal * sqrt(mp.pi) / 2 * mpf("0.99")
    for _ in range(310):
        middle = (low + high) / 2
        low, high = (middle, high) if side(middle) else (low, middle)
    return low * sqrt(2)


def both(law, k, n):
    with mp.workdps(plain_digits(k)):
        first = plain(law, k, n)
    with mp.workdps(90):
        second = rearranged(law, k, n)
    with mp.workdps(90):
        for a, b in zip(first, second):
            if abs(a - b) > abs(b) * mpf(10) ** -AGREE:
                sys.exit(f"{law}, k = {k}, n = {n}: {nstr(+a, 70)} is not {nstr(b, 70)}")
    return second


# ------------------------------------------------------------------------------------------- sigma


def analytic_sigma(epsilon, delta, sensitivity):
    """Balle and Wang, theorem 8, solved for sigma."""
    with mp.workdps(90):
        e, d, s = number(epsilon), number(delta), number(sensitivity)
        normal = lambda x: erfc(-x / sqrt(2)) / 2
        excess = lambda sigma: (
            normal(s / (2 * sigma) - e * sigma / s) - exp(e) * normal(-s / (2 * sigma) - e * sigma / s) - d
        )
        low, high = s / 1000, s * 1000
        for _ in range(330):
            middle = sqrt(low * high)
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return high


# -------------------------------------------------------------------------------------------- rows


def text(value):
    return nstr(value, 60, min_fixed=-5, max_fixed=20)


def least_integer(t):
    return max(0, int(mp.ceil(t - mpf(1) / 2)))


def tolerance_rows():
    scales = ["1", "1/50", "10/3", "1000000"]
    turn = 0
    for law in ("laplace", "gaussian"):
        for k in ("1/1000000", "0.05", "0.3", "0.30103", "1", "7/3", "3", "12", "15.9", "16", "23", "100", "308.3", "360"):
            for n in (1, 2, 10, 1000):
                scale = scales[turn % len(scales)]
                turn += 1
                tolerance, spared = both(law, k, n)
                with mp.workdps(90):
                    tolerance, spared = number(scale) * tolerance, number(scale) * spared
                    yield [law, scale, k, n, text(tolerance), text(spared), least_integer(tolerance)]


def calibrated_rows():
    for epsilon, delta, l2, k, n in (
        ("1", "1e-5", "1", "3", 1),
        ("0.1", "1e-9", "2.5", "23", 1),
        ("5", "1e-10", "3", "12", 10),
        ("0.5", "0.25", "1/3", "400/3", 2),
    ):
        tolerance, spared = both("gaussian", k, n)
        with mp.workdps(90):
            sigma = analytic_sigma(epsilon, delta, l2)
            yield [epsilon, delta, l2, k, n, text(sigma * tolerance), text(sigma * spared)]


def mean_row(epsilon, delta, lower, upper, total, count, rows, partitions, k):
    """The extreme of the mean over all four corners, and over points in between."""
    t, _ = both("laplace" if Fraction(delta) == 0 else "gaussian", k, 2)
    with mp.workdps(90):
        low, high, s, n = number(lower), number(upper), number(total), number(count)
        middle, half = (low + high) / 2, (high - low) / 2
        if Fraction(delta) == 0:
            scale = 2 * rows * partitions / number(epsilon)
        else:
            scale = analytic_sigma(str(Fraction(epsilon) / 2), str(Fraction(delta) / 2), "1")
            scale *= rows * sqrt(mpf(partitions))
        count_reach, sum_reach = mp.ceil(scale * t), half * scale * t
        mean = s / n if n > 0 else middle
        worst = mpf(0)
        for i in range(21):
            for j in range(21):
                numerator = s - n * middle + sum_reach * (i - 10) / 10
                denominator = max(mpf(1), n + count_reach * (j - 10) / 10)
                got = min(high, max(low, middle + numerator / denominator))
                worst = max(worst, abs(got - mean))
        return [epsilon, delta, lower, upper, total, count, rows, partitions, k, text(worst)]


def mean_rows():
    for epsilon in ("1", "50"):
        for delta in ("0", "1e-6"):
            for lower, upper in (("-3", "3"), ("0", "10"), ("2", "2.75")):
                low, high = Fraction(lower), Fraction(upper)
                for count in (0, 1, 7, 500):
                    for part in (0, Fraction(1, 3), Fraction(1, 2), 1):
                        total = count * (low + part * (high - low))
                        yield mean_row(epsilon, delta, lower, upper, str(total), str(count), 1, 1, "3")
            yield mean_row(epsilon, delta, "0", "1", "600", "1000", 2, 5, "23")
            yield mean_row(epsilon, delta, "-10", "10", "-2500/3", "1000", 3, 2, "1/2")


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    mp.dps = 90
    write(
        os.path.join(directory, "tolerance.csv"),
        ["law", "scale", "k", "partitions", "tolerance", "complementary", "integer"],
        tolerance_rows(),
    )
    write(
        os.path.join(directory, "tolerance_gaussian.csv"),
        ["epsilon", "delta", "l2", "k", "partitions", "tolerance", "complementary"],
        calibrated_rows(),
    )
    write(
        os.path.join(directory, "tolerance_mean.csv"),
        ["epsilon", "delta", "lower", "upper", "sum", "count", "max_rows", "partitions", "k", "tolerance"],
        mean_rows(),
    )


if __name__ == "__main__":
    main()
