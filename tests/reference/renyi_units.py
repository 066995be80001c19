#!/usr/bin/env python3
"""What a pure release is charged in Renyi divergence, in units of 10^-12: tests/reference/renyi_units.csv.

The divergence of randomised response, which dominates every pure mechanism, at 80 digits by the closed form
ln((e^(a E) + e^((1-a) E))/(1 + e^E))/(a - 1) and by the sum of its definition; rounded up to a whole unit.
Run:  python3 tests/reference/renyi_units.py > tests/reference/renyi_units.csv
"""
from mpmath import mp, mpf, exp, log, ceil, floor

mp.dps = 80
print('epsilon,order,units')
for epsilon in ('1/2', '1/8', '1/50', '1/1000'):
    for order in ('2', '2.5', '8', '64'):
        parts = [mpf(x) for x in epsilon.split('/')]
        e = parts[0] / parts[1]
        a = mpf(order) if '/' not in order else mpf(order.split('/')[0]) / mpf(order.split('/')[1])
        closed = log((exp(a * e) + exp((1 - a) * e)) / (1 + exp(e))) / (a - 1)
        p = exp(e) / (1 + exp(e))
        defined = log(sum(x**a * (1 - x)**(1 - a) for x in (p, 1 - p))) / (a - 1)
        assert abs(closed - defined) < mpf(10)**-60
        units = closed * 10**12
        assert abs(units - floor(units + mpf(1) / 2)) > mpf(10)**-6  # no doubt about the rounding
        print('%s,%s,%d' % (epsilon, order, int(ceil(units))))
