#!/usr/bin/env python3
"""Reference values for the accuracy of the snapping mechanism.

Writes snapping_accuracy.csv beside itself. Every value is computed twice at 120 digits and has to agree to
65: by the closed forms of mechanisms/proofs/snapping_accuracy.md, and from the law alone, summing the
probability of every output that is too far from the answer, at every answer at which that sum can be
largest, and bisecting.

  quantile  smallest a with sup_y P(|M - y| > a) <= alpha      (argument: alpha)
  tail      sup_y P(|M - y| > a)                               (argument: a)
  at        smallest a with P(|M - y| > a) <= alpha at this y  (argument: alpha)
  epsilon   least multiple of 1e-12 from which on the exact mechanism has an a of at most `argument` at
            `alpha` for sensitivity `lambda` (columns are reused: y holds alpha, bound may be empty)
"""
import csv
import pathlib
from fractions import Fraction

from mpmath import acosh, ceil, cosh, exp, floor, log, mp, mpf

mp.dps = 120
SHIFT = mpf(10) ** -100  # a step to one side of a jump
AGREE = mpf(10) ** -65


def num(text):
    f = Fraction(text)
    return mpf(f.numerator) / f.denominator


def passes(d, lam):
    return exp(-d / lam) / 2 if d >= 0 else 1 - exp(d / lam) / 2


# ------------------------------------------------------------------------------ from the law alone
def outputs(grid, bound):
    last = int(ceil(bound / grid))
    return [(k, max(-bound, min(bound, k * grid))) for k in range(-last, last + 1)], last


def error_at(y, a, lam, grid, bound):
    total = mpf(0)
    outs, last = outputs(grid, bound)
    for k, o in outs:
        if abs(o - y) > a:
            low = mpf(1) if k == -last else passes((k - mpf(1) / 2) * grid - y, lam)
            high = mpf(0) if k == last else passes((k + mpf(1) / 2) * grid - y, lam)
            total += low - high
    return total


def worst_error(a, lam, grid, bound):
    outs, _ = outputs(grid, bound)
    answers = {-bound, bound}
    for k, o in outs:
        for y in (o - a, o + a, (k - mpf(1) / 2) * grid):
            answers.update((y - SHIFT, y + SHIFT))
    # By symmetry the answers from 0 on suffice.
    return max(error_at(y, a, lam, grid, bound) for y in answers if 0 <= y <= bound)


def bisected(holds, low, high):
    """holds(high), not holds(low)."""
    while high - low > mpf(10) ** -75 * high:
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def quantile_by_law(alpha, lam, grid, bound):
    return bisected(lambda a: worst_error(a, lam, grid, bound) <= alpha, mpf(0), 2 * bound)


def at_by_law(y, alpha, lam, grid, bound):
    outs, _ = outputs(grid, bound)
    return min(d for d in (abs(o - y) for _, o in outs) if error_at(y, d, lam, grid, bound) <= alpha)


# ---------------------------------------------------------------------------------- closed forms
def unclamped_tail(a, lam, grid):
    if a < grid / 2:
        return mpf(1)
    kappa = grid / (2 * lam)
    h = floor(2 * a / grid)
    return exp(-h * kappa) * cosh((1 - (2 * a / grid - h)) * kappa)


def tail(a, lam, grid, bound):
    whole, last = floor(bound / grid) * grid, ceil(bound / grid)
    edge = (last - mpf(1) / 2) * grid
    if a >= 2 * bound:
        return mpf(0)
    if 2 * a < bound + whole:
        return unclamped_tail(a, lam, grid)
    if a < bound:
        return max(passes(a - grid / 2, lam), exp(-edge / lam) * cosh((bound - a) / lam))
    if a < bound + (last - 1) * grid:
        return passes(a - grid / 2, lam)
    return passes(a - bound + edge, lam)


def unclamped_quantile(alpha, lam, grid):
    kappa = grid / (2 * lam)
    h = max(mpf(1), floor(log(1 / alpha) / kappa) + 1)
    x = alpha * exp(h * kappa)
    return grid / 2 * (h + (0 if x >= cosh(kappa) else 1 - acosh(x) / kappa))


def quantile(alpha, lam, grid, bound):
    whole, last = floor(bound / grid) * grid, ceil(bound / grid)
    edge = (last - mpf(1) / 2) * grid
    a = unclamped_quantile(alpha, lam, grid)
    if 2 * a < bound + whole:
        return a
    one = -lam * log(2 * alpha) if alpha <= mpf(1) / 2 else lam * log(2 * (1 - alpha))
    x = alpha * exp(edge / lam)
    if whole < bound and x >= 1:
        a = max((bound + whole) / 2, grid / 2 + one, bound - lam * acosh(x))
        if a < bound:
            return a
    a = max(bound, grid / 2 + one)
    if a < bound + (last - 1) * grid:
        return a
    return min(2 * bound, max(bound + (last - 1) * grid, bound - edge + one))


# -------------------------------------------------------------------------------------- epsilon
def power_of_two_at_least(x):
    p = mpf(1)
    while p < x:
        p *= 2
    while p / 2 >= x:
        p /= 2
    return p


def met(epsilon, a, alpha, sensitivity, bound, law):
    lam = sensitivity / epsilon
    grid = power_of_two_at_least(lam)
    if bound is None:
        return unclamped_tail(a, lam, grid) <= alpha
    return law(a, lam, grid, bound) <= alpha


def least_units(a, alpha, sensitivity, bound, law):
    """The last missed multiple of 1e-12, plus one, found by refining a descending scan."""
    unit = mpf(10) ** -12
    epsilon = sensitivity * (mpf(1) / 2 + log(1 / alpha)) * 4 / a
    step = mpf(1) + mpf(1) / 64
    while met(epsilon / step, a, alpha, sensitivity, bound, law):
        epsilon /= step
        if epsilon < unit:
            return mpf(1)
    good, bad = ceil(epsilon / unit), floor(epsilon / step / unit)
    while good - bad > 1:
        middle = floor((good + bad) / 2)
        if met(middle * unit, a, alpha, sensitivity, bound, law):
            good = middle
        else:
            bad = middle
    return good


# ---------------------------------------------------------------------------------------- table
QUANTILES = [
    # lambda, Lambda, B, alpha: the clamp without effect, then each piece of the clamped law
    ("1", "1", "12", "0.05"), ("0.75", "1", "12", "0.05"), ("1.25", "2", "20", "0.05"),
    ("1.9", "2", "20", "0.05"), ("1", "1", "12", "0.01"), ("1", "1", "12", "0.5"), ("2", "2", "20", "0.05"),
    ("10/9", "2", "20", "1/3"), ("10", "16", "20", "0.05"), ("10", "16", "20", "0.01"),
    ("10", "16", "20", "0.3"), ("1", "1", "2.3", "0.1"), ("1", "1", "2.3", "0.2"), ("0.6", "1", "2.3", "0.03"),
    ("1", "1", "0.75", "0.72"), ("0.7", "1", "0.75", "0.65"), ("1", "1", "0.75", "0.62"),
    ("1", "1", "0.75", "0.4"), ("1", "1", "3", "0.02"), ("1", "1", "3", "0.001"), ("1.7", "2", "8.25", "0.003"),
    ("1.7", "2", "8.25", "0.0001"), ("33/32", "1", "5", "0.01"), ("1", "1", "3.5", "0.04"),
]
TAILS = [
    ("1", "1", "12", "3.407546757"), ("1", "1", "12", "0.5"), ("1", "1", "12", "3"), ("10", "16", "20", "31"),
    ("10", "16", "20", "19"), ("10", "16", "20", "36"), ("1", "1", "2.3", "2.2"), ("1", "1", "2.3", "2.3"),
    ("1", "1", "2.3", "4.4"), ("1", "1", "0.75", "0.4"), ("1", "1", "0.75", "0.7"), ("1", "1", "0.75", "1"),
    ("0.6", "1", "5", "7.25"), ("1", "1", "0.75", "0.3"), ("1", "1", "3", "6"),
]
ATS = [
    ("1", "1", "8", "8", "0.05"), ("1", "1", "2", "2", "0.02"), ("1", "1", "64", "0", "0.05"),
    ("1", "1", "8", "-3", "0.001"), ("10", "16", "20", "7.3", "0.05"), ("10", "16", "20", "-19.5", "0.05"),
    ("1", "1", "8.3", "0.4", "0.7"), ("1", "1", "8.3", "1/3", "0.002"), ("0.6", "1", "5", "0.5", "0.5"),
    ("1", "1", "8.3", "8.2", "0.0001"), ("1", "1", "0.75", "0.4", "0.6"),
]
EPSILONS = [
    # sensitivity, B or "", a, alpha
    ("1", "", "4", "0.05"), ("1", "", "3.407546757", "0.05"), ("1", "", "5", "0.01"), ("3", "", "100", "0.001"),
    ("1", "", "1000", "0.5"), ("0.01", "", "0.3", "0.95"), ("1", "20", "31.1", "0.05"), ("1", "20", "36", "0.01"),
    ("1", "20", "24", "0.25"), ("1", "1", "1.2", "0.25"), ("1", "0.75", "0.6", "0.7"), ("1", "20", "39", "0.001"),
]


def agree(first, second):
    assert abs(first - second) <= AGREE * max(abs(first), AGREE), (first, second)
    return first


def shown(value):
    return mp.nstr(value, 62, strip_zeros=True, min_fixed=-400, max_fixed=400)


def main():
    rows = []
    for lam, grid, bound, alpha in QUANTILES:
        args = [num(t) for t in (alpha, lam, grid, bound)]
        rows.append(["quantile", lam, grid, bound, "", alpha, shown(agree(quantile(*args), quantile_by_law(*args)))])
    for lam, grid, bound, a in TAILS:
        args = [num(t) for t in (a, lam, grid, bound)]
        rows.append(["tail", lam, grid, bound, "", a, shown(agree(tail(*args), worst_error(*args)))])
    for lam, grid, bound, y, alpha in ATS:
        args = [num(t) for t in (y, alpha, lam, grid, bound)]
        rows.append(["at", lam, grid, bound, y, alpha, shown(at_by_law(*args))])
    for sensitivity, bound, a, alpha in EPSILONS:
        b = num(bound) if bound else None
        args = [num(a), num(alpha), num(sensitivity), b]
        units = least_units(*args, tail)
        if b is not None:  # by the law alone: met here, missed one unit below
            assert met(units * mpf(10) ** -12, *args, worst_error)
            assert units == 1 or not met((units - 1) * mpf(10) ** -12, *args, worst_error)
        rows.append(["epsilon", sensitivity, "", bound, alpha, a, str(int(units))])
    with open(pathlib.Path(__file__).with_suffix(".csv"), "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["kind", "lambda", "grid", "bound", "y", "argument", "value"])
        table.writerows(rows)


if __name__ == "__main__":
    main()
