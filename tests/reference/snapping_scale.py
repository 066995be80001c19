#!/usr/bin/env python3
"""Reference values for `calibrate snapping --scale`: the loss of a snapping mechanism of a stated scale.

Writes snapping_scale.csv beside itself. The loss and the precision are computed in exact fractions, from the
bound as mechanisms/proofs/snapping.md states it; the accuracy by the closed form of snapping_accuracy.py at 120
digits, which its enumeration of the law has to confirm on both sides.
"""
import csv
import pathlib
from fractions import Fraction
from math import ceil

import snapping_accuracy as law

LEAST, MOST = 118, 4096


def on_bits(x, p):
    """The least number of p significant bits that is not below x."""
    e = 0
    while x * Fraction(2) ** e < Fraction(2) ** (p - 1):
        e += 1
    while x * Fraction(2) ** e >= Fraction(2) ** p:
        e -= 1
    return Fraction(ceil(x * Fraction(2) ** e)) / Fraction(2) ** e


def power_of_two_at_least(x):
    p = Fraction(1)
    while p < x:
        p *= 2
    while p / 2 >= x:
        p /= 2
    return p


def rounding(scale, bound, m, p, per_bound=18, constant=10):
    return m * (per_bound * bound / scale + constant) / Fraction(2) ** p


def allowed(scale, bound, p):
    return bound <= Fraction(2) ** (p - 7) * scale


def precision(wanted, d, bound, m, asked):
    if asked != "auto":
        assert allowed(on_bits(wanted, int(asked)), bound, int(asked))
        return int(asked)
    for p in range(LEAST, MOST + 1):
        scale = on_bits(wanted, p)
        if allowed(scale, bound, p) and rounding(scale, bound, m, p) <= d / scale / 2**40:
            return p
    raise ValueError("no precision")


def quantile(alpha, *ideal):
    """By the closed form; the law alone must agree that a little less is too near and a little more far enough."""
    a = law.quantile(alpha, *ideal)
    assert law.worst_error(a * (1 + law.AGREE), *ideal) <= alpha < law.worst_error(a * (1 - law.AGREE), *ideal)
    return a


def row(wanted, d, bound, m, asked, alpha):
    given = [wanted, d, bound, m, asked, alpha]
    wanted, d, bound = Fraction(wanted), Fraction(d), Fraction(bound)
    grid = power_of_two_at_least(wanted)
    if asked == "exact":
        p, scale, adjusted, published, share = 0, wanted, d / wanted, "", 1
    else:
        p = precision(wanted, d, bound, m, asked)
        scale = on_bits(wanted, p)
        adjusted = d / scale + rounding(scale, bound, m, p)
        published = d / scale + rounding(scale, bound, m, p, 12, 2)
        share = 1 - rounding(scale, bound, 1, p)
    epsilon = Fraction(ceil(adjusted * 10**12), 10**12)
    a = quantile(law.num(Fraction(alpha) * share), law.num(scale), law.num(grid), law.num(bound))
    return given + [p, scale, adjusted, published, grid, epsilon, law.mp.nstr(a, 60, min_fixed=-400, max_fixed=400)]


ROWS = [
    # lambda, D, B, m, precision, alpha
    ("8", "1", "100", 1, "auto", "0.05"), ("8", "1", "100", 1, "53", "0.05"), ("8", "1", "100", 1, "exact", "0.05"),
    ("10", "1", "50", 1, "118", "0.01"), ("1/3", "1", "4", 1, "53", "0.1"), ("1/3", "1", "4", 1, "118", "0.1"),
    ("2.5", "3", "20", 2, "auto", "0.05"), ("0.0625", "0.25", "1", 6, "200", "0.001"),
    ("1e-9", "1e-9", "3e-8", 1, "auto", "0.3"), ("1e40", "1", "1e41", 1, "auto", "0.05"),
    ("7/5", "1", "2.3", 1, "exact", "0.2"), ("33", "100", "300", 4, "53", "0.02"),
]


def main():
    with open(pathlib.Path(__file__).with_suffix(".csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow("lambda,sensitivity,bound,coordinates,asked,alpha,precision,scale,adjusted,published,grid,"
                        "epsilon,a".split(","))
        writer.writerows(row(*one) for one in ROWS)


if __name__ == "__main__":
    main()
