#!/usr/bin/env python3
"""Deltas, scales and rhos of Gaussian, discrete Gaussian and zCDP accounting at 45 digits.

Writes gaussian_calibration.csv beside this file. Needs mpmath. Every value is computed by two methods and written
only if they agree to 48 digits:
  gaussian_delta        difference of two normal tails at 1000 digits; integral of phi(m/2 - epsilon/m) dm, 0 < m < mu
  gaussian_sigma        root of the first; checked by the second
  discrete_delta        theorem 7 by summed tails; the definition, sum of max(0, p(x) - e^eps p(x + d)), for scales
                        up to 300, and the Abel-Plana integral beyond
  discrete_scale        root of the first; checked by the second; rows where delta falls steadily in the scale, so
                        that there is one root
  zcdp_delta            infimum over orders by the zero of the derivative; by golden section
  zcdp_rho              root of zcdp_delta; supremum over orders of the rho solved for, by golden section
"""
import os
from mpmath import mp, mpf, exp, log, log1p, sqrt, pi, erfc, quad, floor

from discrete_accuracy import abel_plana_sum, direct_sum, direct_total, midpoint_sum, poisson_total

mp.dps = 110
DIGITS = mpf(10) ** -48


def agree(a, b, what):
    assert abs(a / b - 1) < DIGITS, (what, mp.nstr(a, 60), mp.nstr(b, 60))


def gaussian_delta(mu, eps):
    with mp.workdps(1100):
        root = sqrt(mpf(2))
        return (erfc((eps / mu - mu / 2) / root) - exp(eps) * erfc((eps / mu + mu / 2) / root)) / 2


def gaussian_delta_again(mu, eps):
    """d delta/d mu = phi(mu/2 - eps/mu) and delta(0) = 0; with x = eps/m - m/2 as the variable of integration."""
    start = eps / mu - mu / 2
    shift = max(start, mpf(0)) ** 2  # quad's tolerance is absolute

    def density(x):
        spread = sqrt(x * x + 2 * eps)
        m = 2 * eps / (x + spread) if x > 0 else spread - x
        return exp((shift - x * x) / 2) / sqrt(2 * pi) * m / spread

    points = {start} | {start + mpf(k) / 2 for k in range(1, 90 if eps > 0 else 0)} | {mpf(0)}
    if 0 < eps < 1:
        points |= {sign * sqrt(2 * eps) * mpf(2) ** k for k in range(0, 90) for sign in (-1, 1)}
    # Beyond x = 23 + start or so nothing is left of 10^-60 of the whole.
    inside = sorted(x for x in points if start <= x <= max(start, mpf(0)) + 28 and (eps > 0 or x <= 0))
    return quad(density, inside) * exp(-shift / 2)


def one_sided(a, s, again):
    """P(X >= a) relative to nothing: the probability itself."""
    if a <= 0:
        return 1 - one_sided(1 - a, s, again)
    if s <= 300:
        ratio, total = direct_sum(a, s), direct_total(s)
    else:
        ratio, total = (abel_plana_sum(a, s) if again else midpoint_sum(a, s)), poisson_total(s)
    return exp(-mpf(a) * a / (2 * s * s)) * ratio / total


def discrete_delta(s, eps, d, again=False):
    a = int(floor(eps * s * s / d - mpf(d) / 2)) + 1
    if again and s <= 300:
        weight = lambda x: exp(-mpf(x) * x / (2 * s * s))
        reach = int(22 * s) + abs(a) + 20
        return sum(max(mpf(0), weight(x) - exp(eps) * weight(x + d)) for x in range(-reach, reach)) / direct_total(s)
    return one_sided(a, s, again) - exp(eps) * one_sided(a + d, s, again)


def log_zcdp(rho, eps, alpha):
    return (alpha - 1) * (alpha * rho - eps) + alpha * log1p(-1 / alpha) - log(alpha - 1)


def golden(f, low, high):
    """Where f is least on [low, high], on the logarithmic scale."""
    ratio = (sqrt(mpf(5)) - 1) / 2
    for _ in range(180):
        left = high - ratio * (high - low)
        right = low + ratio * (high - low)
        if f(exp(left)) < f(exp(right)):
            high = right
        else:
            low = left
    return exp((low + high) / 2)


def zcdp_delta(rho, eps):
    slope = lambda t: (2 * exp(t) + 1) * rho - eps - log1p(exp(-t))
    low, high = mpf(-400), mpf(400)
    for _ in range(450):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return exp(log_zcdp(rho, eps, 1 + exp(low)))


def zcdp_delta_again(rho, eps):
    best = golden(lambda b: log_zcdp(rho, eps, 1 + b), mpf(-200), mpf(200))
    return exp(log_zcdp(rho, eps, 1 + best))


def zcdp_rho_again(eps, delta):
    solved = lambda b: (eps + (log(delta * b) - (1 + b) * log1p(-1 / (1 + b))) / b) / (1 + b)
    best = golden(lambda b: -solved(b), log(-log(delta) / eps) - 12, log(-log(delta) / eps) + 12)
    return solved(best)


def root(g, low, high):
    """The zero of a rising g on the logarithmic scale."""
    low, high = log(mpf(low)), log(mpf(high))
    while high - low > mpf(10) ** -4:
        middle = (low + high) / 2
        low, high = (low, middle) if g(exp(middle)) > 0 else (middle, high)
    return exp(mp.findroot(lambda t: g(exp(t)), (low, high), solver="secant", tol=mpf(10) ** -130, maxsteps=80))


def rows():
    for sigma, eps, sensitivity in [
            ("1", "1", "1"), ("1", "2", "1"), ("1", "1", "3"), ("10", "0.1", "1"), ("10", "1.0986122886681098", "5"),
            ("0.5", "0", "1"), ("500", "0.5", "10"), ("1e6", "0", "1"), ("3", "1e-9", "0.001"), ("0.02", "1000", "1"),
            ("0.008", "10000", "1"), ("0.0072", "10000", "1"), ("37", "1", "1"), ("1", "0.5", "12"), ("0.1", "3", "2"),
            ("7.25", "0.001", "0.3"), ("1e9", "1e-8", "1"), ("25", "1", "1")]:
        mu, e = mpf(sensitivity) / mpf(sigma), mpf(eps)
        value = gaussian_delta(mu, e)
        agree(value, gaussian_delta_again(mu, e), ("gaussian_delta", sigma, eps, sensitivity))
        yield ["gaussian_delta", sigma, eps, sensitivity, mp.nstr(value, 45)]
    for eps, delta, sensitivity in [
            ("1.0986122886681098", "1e-5", "1"), ("1", "1e-6", "1"), ("0.1", "1e-5", "1"), ("8", "1e-6", "1"),
            ("1", "6.486452831e-47", "1"), ("1000", "1e-5", "1"), ("10000", "1e-300", "1"), ("1e-12", "1e-20", "1"),
            ("1e-12", "1e-50", "3"), ("1e-6", "1e-300", "1"), ("0.5", "0.9", "7"), ("1e-15", "1e-15", "1"),
            ("3", "0.5", "0.125"), ("2", "1e-100", "1000000"), ("1", "0.999999999", "1")]:
        e, p = mpf(eps), mpf(delta)
        g = (lambda mu: log(gaussian_delta(mu, e) / p)) if p < 0.5 else \
            (lambda mu: log((1 - p) / (1 - gaussian_delta(mu, e))))
        mu = root(g, "1e-30", "200")
        agree(gaussian_delta_again(mu, e), p, ("gaussian_sigma", eps, delta))
        yield ["gaussian_sigma", eps, delta, sensitivity, mp.nstr(mpf(sensitivity) / mu, 45)]
    for scale, eps, distance in [
            ("1", "1", 1), ("2", "0.5", 1), ("4", "0.25", 1), ("10", "0.1", 1), ("5", "1", 1), ("0.5", "1", 1),
            ("0.3", "5", 1), ("0.75", "0.1", 4), ("3", "0", 1), ("3", "0", 2), ("3.7", "2.5", 7), ("20", "0.01", 3),
            ("100", "1", 30), ("100", "30", 100), ("299.5", "1e-6", 1), ("0.0072", "10000", 1), ("1000", "0.5", 250),
            ("12345.678", "1", 4321), ("1e6", "0.001", 1), ("1e9", "1", 200000000), ("1e9", "1e-9", 1),
            ("1e12", "1", 1000000000000), ("1e12", "10", 400000000000), ("1e12", "0", 1), ("1e12", "1e-11", 1),
            ("1e11", "0.25", 1000000000000)]:
        s, e = mpf(scale), mpf(eps)
        value = discrete_delta(s, e, distance)
        agree(value, discrete_delta(s, e, distance, again=True), ("discrete_delta", scale, eps, distance))
        yield ["discrete_delta", scale, eps, str(distance), mp.nstr(value, 45)]
    for eps, delta, distance in [
            ("1", "1e-6", 1), ("0.1", "1e-5", 1), ("8", "1e-6", 5), ("10", "1e-30", 3), ("1", "1e-6", 1000000),
            ("0.5", "1e-9", 1000000000), ("1", "1e-6", 1000000000000), ("2", "0.25", 5)]:
        e, p = mpf(eps), mpf(delta)
        guess = distance / root(lambda mu: log(gaussian_delta(mu, e) / p), "1e-30", "200")
        s = root(lambda x: -log(discrete_delta(x, e, distance) / p), guess * mpf("0.8"), guess * mpf("1.3"))
        agree(discrete_delta(s, e, distance, again=True), p, ("discrete_scale", eps, delta, distance))
        yield ["discrete_scale", eps, delta, str(distance), mp.nstr(s, 45)]
    for rho, eps in [("0.03125", "0"), ("0.5", "0"), ("0.05", "0.25"), ("5e-30", "1e-13"), ("0.1", "3"), ("0.04", "3"),
                     ("0.3", "0.5"), ("1", "7.0771966958063398"), ("2.63", "12.691562216993866"), ("1e-12", "0.001"),
                     ("10", "5"), ("100", "1000"), ("1000", "10000"), ("1e-6", "0")]:
        value = zcdp_delta(mpf(rho), mpf(eps))
        agree(value, zcdp_delta_again(mpf(rho), mpf(eps)), ("zcdp_delta", rho, eps))
        yield ["zcdp_delta", rho, eps, "", mp.nstr(value, 45)]
    for eps, delta in [("1", "1e-6"), ("1", "1e-5"), ("3", "1e-6"), ("0.5", "1e-8"), ("10", "1e-10"), ("10000", "1e-300"),
                       ("1e-9", "1e-300"), ("0.001", "1e-12")]:
        e, p = mpf(eps), mpf(delta)
        simple = (e / (sqrt(e - log(p)) + sqrt(-log(p)))) ** 2
        value = root(lambda r: log(zcdp_delta(r, e) / p), simple * mpf("0.9"), simple * 2)
        agree(value, zcdp_rho_again(e, p), ("zcdp_rho", eps, delta))
        yield ["zcdp_rho", eps, delta, "", mp.nstr(value, 45)]


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gaussian_calibration.csv")
    with open(path, "w") as file:
        file.write("quantity,first,second,third,value\n")
        for row in rows():
            file.write(",".join(row) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
