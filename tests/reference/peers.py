#!/usr/bin/env python3
"""Truths beside which other accountants' published figures fell short: tests/reference/peers.csv.

Each figure is computed twice at 100 digits by unlike methods, which must agree to 60 digits (quadratures: 40):
  homogeneous_delta  300 mechanisms of (0.1, 0.001) at the epsilon of the closed form with slack 0.0005: the sum over sign
                     classes of max(0, P - e^E Q), and 1 minus the sum of min(P, e^E Q)
  homogeneous_lost   1 - 0.999^300: what they lose outright, as a power and as an alternating sum
  gaussian_delta     of noise of the textbook scale sqrt(2 ln(1.25/delta))/epsilon, which is textbook_sigma: the normal law's
                     distribution function, and the integral of the positive part of p - e^E q
  gaussians_epsilon  of Gaussian noise of scale 1 and of scale 100 together at delta 1e-6: bisection with the distribution
                     function, and with the integral
  response_delta     three times randomised response of epsilon 1 at epsilon 0: sign classes, and all eight outcomes one by one
  pure_epsilon       a hundred times 0.1 at a tiny delta: bisection over sign classes, and the closed form on the piece
`bound` is a figure that somebody else's rule gives there, to show on which side of the truth it lies.
Run:  python3 tests/reference/peers.py > tests/reference/peers.csv
"""
from itertools import product
from mpmath import mp, mpf, exp, log, sqrt, binomial, erfc, quad, npdf, nstr, inf

mp.dps = 100


def classes(e, n):
    p = 1 / (1 + exp(-e))
    return [((2 * j - n) * e, binomial(n, j) * p**j * (1 - p)**(n - j), binomial(n, j) * p**(n - j) * (1 - p)**j)
            for j in range(n + 1)]


def pure_delta(atoms, e):
    one = sum(max(mpf(0), p - exp(e) * q) for _, p, q in atoms)
    assert abs(one - (1 - sum(min(p, exp(e) * q) for _, p, q in atoms))) < mpf(10)**-60
    return one


def pure_epsilon(atoms, d):
    low, high = mpf(0), atoms[-1][0]
    for _ in range(330):
        middle = (low + high) / 2
        low, high = (middle, high) if pure_delta(atoms, middle) > d else (low, middle)
    active = [(p, q) for loss, p, q in atoms if loss > low]
    closed = log((sum(p for p, _ in active) - d) / sum(q for _, q in active))
    assert abs(closed - high) < mpf(10)**-60 * high, (closed, high)
    return high


def normal(x):
    return erfc(-x / sqrt(mpf(2))) / 2


def gaussian_delta(sigma, e):
    return normal(1 / (2 * sigma) - e * sigma) - exp(e) * normal(-1 / (2 * sigma) - e * sigma)


def gaussian_delta_by_integral(sigma, e):
    start = e * sigma**2 + mpf(1) / 2  # where p = e^E q, p about 1 and q about 0
    f = lambda x: npdf(x, 1, sigma) - exp(e) * npdf(x, 0, sigma)
    return quad(f, [start + k * sigma for k in (0, 1, 2, 3, 5, 8, 12, 18, 26, 40)])


def row(quantity, value, bound):
    margin = abs(value) * mpf(10)**-38
    texts = [nstr(x, 60, strip_zeros=False, min_fixed=-5, max_fixed=40) for x in (value - margin, value + margin)]
    print(','.join([quantity] + texts + [nstr(bound, 20, min_fixed=-5, max_fixed=40)]))


print('quantity,low,high,bound')

# Kairouz, Oh and Viswanath, theorem 3.4, third form; the others are larger here.
e, d, k, t = mpf(1) / 10, mpf(1) / 1000, 300, mpf(5) / 10000
total = k * e * (exp(e) - 1) / (exp(e) + 1) + e * sqrt(2 * k * log(1 / t))
lost = 1 - (1 - d)**k
assert abs(lost - sum((-1)**(j + 1) * binomial(k, j) * d**j for j in range(1, k + 1))) < mpf(10)**-60
row('homogeneous_epsilon', total, total)
row('homogeneous_lost', lost, lost * (1 - lost) + t)
row('homogeneous_theorem', 1 - (1 - lost) * (1 - t), lost * (1 - lost) + t)
row('homogeneous_delta', 1 - (1 - lost) * (1 - pure_delta(classes(e, k), total)), lost * (1 - lost) + t)

# The same theorem, second form, with Euler's number in the logarithm and with epsilon in its place.
e, k, t = mpf(1) / 1000, 100, mpf(1) / 100
first = k * e * (exp(e) - 1) / (exp(e) + 1)
row('small_epsilon', first + e * sqrt(2 * k * log(exp(1) + e * sqrt(k) / t)), first + e * sqrt(2 * k * log(e + e * sqrt(k) / t)))

for e, d in (('3', '1e-5'), ('8', '0.16'), ('10', '0.01'), ('15', '1e-4'), ('20', '1e-7')):
    sigma = sqrt(2 * log(mpf('1.25') / mpf(d))) / mpf(e)
    one = gaussian_delta(sigma, mpf(e))
    assert abs(one - gaussian_delta_by_integral(sigma, mpf(e))) < mpf(10)**-40 * one, (e, d)
    row('textbook_sigma %s %s' % (e, d), sigma, sigma)
    row('gaussian_delta %s %s' % (e, d), one, mpf(d))

sigma = 1 / sqrt(1 + mpf(10)**-4)
ends = []
for delta in (gaussian_delta, gaussian_delta_by_integral):
    low, high = mpf(1), mpf(20)
    for _ in range(140 if delta is gaussian_delta_by_integral else 330):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(sigma, middle) > mpf(10)**-6 else (low, middle)
    ends.append(high)
assert abs(ends[0] - ends[1]) < mpf(10)**-39, ends
# Scale 1 known at order 17/16, scale 100 at order 513: their divergences added, the larger order taken.
order = mpf(513)
divergence = mpf(17) / 32 + order / 20000
row('gaussians_epsilon', ends[0], divergence - log(order * mpf(10)**-6) / (order - 1) + log(1 - 1 / order))

one = pure_delta(classes(mpf(1), 3), mpf(0))
p = 1 / (1 + exp(mpf(-1)))
mass = lambda bits, q: q**sum(bits) * (1 - q)**(3 - sum(bits))
two = sum(abs(mass(b, p) - mass(b, 1 - p)) for b in product((0, 1), repeat=3)) / 2
assert abs(one - two) < mpf(10)**-60
# The central limit: a Gaussian of the same mean of the loss, mu^2/2 = 3 tanh(1/2).
mu = sqrt(6 * (exp(1) - 1) / (exp(1) + 1))
row('response_delta', one, 2 * normal(mu / 2) - 1)  # mu-GDP: its delta at epsilon 0

for d in ('1e-10', '1e-30', '1e-50'):
    row('pure_epsilon ' + d, pure_epsilon(classes(mpf(1) / 10, 100), mpf(d)), mpf(10))
