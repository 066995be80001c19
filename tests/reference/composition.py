#!/usr/bin/env python3
"""Reference figures of composition: tests/reference/composition.csv.

Each figure is computed twice at 100 digits by unlike methods, which must agree to 60 digits:
  optimal_delta    the sum over sign classes of max(0, P - e^E Q), and 1 minus the sum of min(P, e^E Q) over all of them;
                   with deltas, 1 - (1 - delta) prod (1 - delta_i)
  optimal_epsilon  bisection of that sum, and the logarithm of (P - delta)/Q on the piece where the solution lies
  zcdp_epsilon     the stationary order by bisection, and a golden-section search of the bound
  laplace_renyi    Mironov's closed form, and the integral of its definition
  renyi_limit      the conversion to epsilon solved for the divergence, and bisection of the conversion to delta; "order:epsilon:1"
Run:  python3 tests/reference/composition.py > tests/reference/composition.csv
"""
from fractions import Fraction
from mpmath import mp, mpf, exp, log, binomial, quad, inf, nstr

mp.dps = 100


def m(x):
    f = Fraction(x)
    return mpf(f.numerator) / f.denominator


def classes(groups):
    """[(loss, P, Q)] of all sign classes."""
    atoms = [(mpf(0), mpf(1), mpf(1))]
    for eps, _, n in groups:
        e = m(eps)
        p = 1 / (1 + exp(-e))
        one = [((2 * j - n) * e, binomial(n, j) * p**j * (1 - p)**(n - j), binomial(n, j) * p**(n - j) * (1 - p)**j)
               for j in range(n + 1)]
        atoms = [(a + x, b * y, c * z) for a, b, c in atoms for x, y, z in one]
    return atoms


def survival(groups):
    s = mpf(1)
    for _, d, n in groups:
        s *= (1 - m(d))**n
    return s


def delta(groups, e, atoms=None):
    atoms = atoms or classes(groups)
    one = sum(max(mpf(0), p - exp(e) * q) for _, p, q in atoms)
    two = 1 - sum(min(p, exp(e) * q) for _, p, q in atoms)
    assert abs(one - two) < mpf(10)**-60, (one, two)
    return one if survival(groups) == 1 else 1 - (1 - one) * survival(groups)


def epsilon(groups, d):
    atoms = classes(groups)
    rest = 1 - (1 - d) / survival(groups)
    low, high = mpf(0), sum(m(e) * n for e, _, n in groups)
    for _ in range(250):
        middle = (low + high) / 2
        if sum(max(mpf(0), p - exp(middle) * q) for _, p, q in atoms) > rest:
            low = middle
        else:
            high = middle
    active = [(p, q) for loss, p, q in atoms if loss > low]
    closed = log((sum(p for p, _ in active) - rest) / sum(q for _, q in active))
    assert abs(closed - high) < mpf(10)**-60, (closed, high)
    return high


def zcdp_epsilon(rho, d):
    def bound(b):
        return (1 + b) * rho - log((1 + b) * d) / b + log(b / (1 + b))
    low, high = mpf(10)**-30, mpf(10)**30
    for _ in range(400):
        middle = (low * high)**mpf('0.5')
        if rho * middle**2 + log((1 + middle) * d) > 0:
            high = middle
        else:
            low = middle
    one = bound(low)
    a, c = low / 4, low * 4
    g = (mpf(5)**mpf('0.5') - 1) / 2
    for _ in range(250):
        x, y = c - g * (c - a), a + g * (c - a)
        if bound(x) < bound(y):
            c = y
        else:
            a = x
    assert abs(one - bound((a + c) / 2)) < mpf(10)**-55
    return one


def laplace_renyi(t, a):
    closed = log(a / (2 * a - 1) * exp((a - 1) * t) + (a - 1) / (2 * a - 1) * exp(-a * t)) / (a - 1)
    density = lambda x: exp(-a * abs(x) - (1 - a) * abs(x - t)) / 2
    integral = quad(density, [-inf, -60, -20, 0, t, t + 20, t + 60, inf], maxdegree=12)
    assert abs(closed - log(integral) / (a - 1)) < mpf(10)**-40, (t, a)
    return closed


def renyi_limit(a, e, d):
    closed = e + log(a * d) / (a - 1) - log(1 - 1 / a)
    if closed <= 0:
        return None
    low, high = mpf(0), 2 * closed
    for _ in range(330):
        r = (low + high) / 2
        if exp((a - 1) * (r - e)) * (1 - 1 / a)**a / (a - 1) > d:
            high = r
        else:
            low = r
    assert abs(closed - low) < mpf(10)**-60 * closed, (closed, low)
    return closed


def row(quantity, groups, given, value):
    text = nstr(value, 65, strip_zeros=False, min_fixed=-5, max_fixed=40)
    margin = abs(value) * mpf(10)**-60
    low, high = (nstr(value + s * margin, 65, strip_zeros=False, min_fixed=-5, max_fixed=40) for s in (-1, 1))
    print(','.join([quantity, ' '.join('%s:%s:%d' % g for g in groups), str(given), low, high]))


print('quantity,groups,given,low,high')
CASES = [
    [('0.1', '0', 100)], [('1', '0', 30)], [('1', '0.001', 30)], [('1/3', '0', 17)], [('0.01', '0', 1000)],
    [('2', '1e-7', 5)], [('0.5', '0', 1), ('1', '0', 1)], [('0.1', '0', 20), ('1/7', '1e-9', 15)],
    [('0.3', '0', 4), ('0.77', '0', 3), ('1.9', '1e-5', 2), ('1/9', '0', 6)], [('7', '0', 3), ('0.001', '0', 9)],
]
for groups in CASES:
    atoms = classes(groups)
    total = sum(Fraction(e) * n for e, _, n in groups)
    for part in ('0', '1/20', '1/5', '1/2', '9/10'):
        e = total * Fraction(part)
        row('optimal_delta', groups, e, delta(groups, m(e), atoms))
    for d in ('0.1', '1e-3', '1e-6', '1e-12'):
        if m(d) > 1 - survival(groups) and m(d) < delta(groups, mpf(0), atoms):
            row('optimal_epsilon', groups, d, epsilon(groups, m(d)))
for rho in ('1/32', '0.1', '0.5', '1', '2.63', '1e-6', '50'):
    for d in ('1e-3', '1e-6', '1e-10', '1e-100'):
        value = zcdp_epsilon(m(rho), m(d))
        if value > 0:
            row('zcdp_epsilon', [(rho, '0', 1)], d, value)
for t in ('1', '1/2', '1/10', '5'):
    for a in ('1.5', '2', '10', '64'):
        row('laplace_renyi', [(t, '0', 1)], a, laplace_renyi(m(t), m(a)))
for a in ('1.0625', '2', '5/2', '8', '64', '15361'):
    for e, d in (('3', '1e-6'), ('0.1', '1e-6'), ('1/3', '1e-3'), ('13', '1e-6'), ('50', '1e-12'), ('1', '1/4')):
        value = renyi_limit(m(a), m(e), m(d))
        if value is not None:
            row('renyi_limit', [(a, e, 1)], d, value)
