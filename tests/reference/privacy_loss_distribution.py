#!/usr/bin/env python3
"""What many mechanisms cost together, to 30 digits, each row by two methods that must agree.

usage: privacy_loss_distribution.py > privacy_loss_distribution.csv

Laplace, k times the same: (a) the closed form, a sum over signs of series with positive terms; (b) numerical
integration of a profile composed k - 1 times (k <= 3), or the recursion in k. Randomised response: (a) the sum
over the number of flips (Kairouz, Oh and Viswanath, arXiv 1311.0776, theorem 3.3); (b) the convolution of the
losses one by one. Discrete Laplace and discrete Gaussian noise: (a) the losses convolved on their lattice;
(b) the same from the other answer, delta(eps) = 1 - e^eps + e^eps delta'(-eps). Gaussian: Balle and Wang's
theorem 8 at mu sqrt(k), as (a) normal distribution functions and (b) an integral of the density.
"""

from mpmath import binomial, erfc, exp, factorial, inf, mp, mpf, nstr, quad, sqrt, pi

mp.dps = 80


def laplace_closed(k, loss, eps):
    """Inclusion and exclusion: v = (sum of signs * loss - eps)/2, series S_m(v) = sum v^(m+2n)/(m+2n)!."""

    def series(m, v):
        term, total, n = v**m / factorial(m), mpf(0), m
        while term > mpf(10) ** -90 * (total + mpf(10) ** -200):
            total += term
            term *= v * v / ((n + 1) * (n + 2))
            n += 2
        return total

    total = mpf(0)
    for plus in range(k + 1):
        v = ((2 * plus - k) * loss - eps) / 2
        if v <= 0:
            continue
        polynomial = [mpf(0)] * (k + 1)
        for i in range(plus + 1):
            for j in range(k - plus + 1):
                polynomial[i + j] += binomial(plus, i) * binomial(k - plus, j) * (-1) ** j
        total += binomial(k, plus) * sum(c * series(j + 1, v) for j, c in enumerate(polynomial))
    return 2 * exp(eps / 2) * (exp(-loss / 2) / 2) ** k * total


def laplace_integrated(k, loss, eps):
    """delta_k(eps) = E delta_(k-1)(eps - L): atoms 1/2 at loss, e^-loss/2 at -loss, density e^((x-loss)/2)/4."""
    if eps >= k * loss:
        return mpf(0)
    if eps <= -k * loss:
        return 1 - exp(eps)
    if k == 1:
        return 1 - exp((eps - loss) / 2)
    kinks = sorted({-loss, loss} | {x for x in (eps - (k - 1 - 2 * i) * loss for i in range(k)) if -loss < x < loss})
    smooth = quad(lambda x: exp((x - loss) / 2) / 4 * laplace_integrated(k - 1, loss, eps - x), kinks)
    return smooth + laplace_integrated(k - 1, loss, eps - loss) / 2 + exp(-loss) / 2 * laplace_integrated(k - 1, loss, eps + loss)


def response(k, loss, eps):
    total = sum(binomial(k, i) * max(mpf(0), exp(i * loss) - exp(eps + (k - i) * loss)) for i in range(k + 1))
    return total / (1 + exp(loss)) ** k


def convolved(masses, k):
    result = {0: mpf(1)}
    for _ in range(k):
        grown = {}
        for a, p in result.items():
            for b, q in masses.items():
                grown[a + b] = grown.get(a + b, mpf(0)) + p * q
        result = grown
    return result


def lattice(masses, step, k, eps):
    """masses: index -> probability of the loss index * step."""
    composed = convolved(masses, k)
    direct = sum(p * (1 - exp(eps - i * step)) for i, p in composed.items() if i * step > eps)
    other = 1 - exp(eps) + exp(eps) * sum(
        p * exp(-i * step) * (1 - exp(i * step - eps)) for i, p in composed.items() if i * step < eps)
    return direct, other


def discrete_laplace_losses(scale, distance):
    q, masses = exp(-1 / scale), {}
    for x in range(-distance, 2 * distance + 1):
        inside = (1 - q) / (1 + q) * q ** abs(x)
        if x == -distance or x == 2 * distance:
            inside = q ** abs(x) / (1 + q)
        index = abs(x - distance) - abs(x)
        masses[index] = masses.get(index, mpf(0)) + inside
    return masses, 1 / scale


def discrete_gaussian_losses(scale, distance):
    reach = int(22 * scale) + 5
    weights = {x: exp(-x * x / (2 * scale * scale)) for x in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {distance * distance - 2 * x * distance: w / total for x, w in weights.items()}, 1 / (2 * scale * scale)


def gaussian(mu, eps):
    def tail(x):
        return erfc(x / sqrt(mpf(2))) / 2

    closed = tail(eps / mu - mu / 2) - exp(eps) * tail(eps / mu + mu / 2)
    edge = eps / mu + mu / 2
    density = lambda x: (exp(-(x - mu) ** 2 / 2) - exp(eps - x * x / 2)) / sqrt(2 * pi)
    return closed, quad(density, [edge, edge + 1, edge + 3, edge + 8, edge + 20, inf])


def row(kind, scale, sensitivity, count, eps, a, b, digits=30):
    if abs(a - b) > mpf(10) ** -(digits + 2) * abs(a):
        raise SystemExit(f"{kind} {scale} {sensitivity} {count} {eps}: {nstr(a, 40)} is not {nstr(b, 40)}")
    print(f"{kind},{scale},{sensitivity},{count},{eps},{nstr(a, digits, min_fixed=1, max_fixed=0)}", flush=True)


def main():
    print("kind,scale,sensitivity,count,epsilon,delta")
    for k, eps in ((2, "0.5"), (2, "1.5"), (3, "0.25"), (3, "2.9")):
        mp.dps = 45
        b = laplace_integrated(k, mpf(1), mpf(eps))
        mp.dps = 80
        row("laplace", 1, 1, k, eps, laplace_closed(k, mpf(1), mpf(eps)), b, 20)
    for k, scale, eps in ((10, 3, "1"), (20, "13.6", "1"), (50, 7, "3"), (50, 7, "7.1"), (100, 10, "5"), (100, 10, "9.9")):
        loss = 1 / mpf(scale)
        first = laplace_closed(k, loss, mpf(eps))
        mp.dps = 160  # the signed polynomial loses about k bits
        second = laplace_closed(k, 1 / mpf(scale), mpf(eps))
        mp.dps = 80
        row("laplace", scale, 1, k, eps, first, second)
    for k, loss, eps in ((30, "1", "22"), (30, "1", "20"), (10, "0.1", "0.8"), (10, "0.1", "0.4"), (100, "0.1", "6"),
                         (100, "0.1", "4"), (20, "0.5", "6"), (1000, "0.01", "2")):
        flip = 1 / (1 + exp(mpf(loss)))
        masses = {1: 1 - flip, -1: flip}
        second = lattice(masses, mpf(loss), k, mpf(eps))[0]
        row("pure", loss, 0, k, eps, response(k, mpf(loss), mpf(eps)), second)
    for scale, distance, k, eps in ((2, 4, 5, "1.5"), (10, 3, 20, "2"), (5, 1, 30, "2.5"), (20, 5, 12, "2.75")):
        masses, step = discrete_laplace_losses(mpf(scale), distance)
        row("discrete_laplace", scale, distance, k, eps, *lattice(masses, step, k, mpf(eps)))
    for scale, distance, k, eps in ((3, 1, 10, "2"), (5, 2, 6, "3"), (2, 1, 4, "1.25"), (1, 1, 3, "4")):
        masses, step = discrete_gaussian_losses(mpf(scale), distance)
        row("discrete_gaussian", scale, distance, k, eps, *lattice(masses, step, k, mpf(eps)))
    for sigma, k, eps in ((20, 400, "3"), (100, 10000, "1"), (100, 10000, "10"), (1000, 1000000, "5"), (10, 1, "0.1")):
        row("gaussian", sigma, 1, k, eps, *gaussian(sqrt(mpf(k)) / sigma, mpf(eps)))


if __name__ == "__main__":
    main()
