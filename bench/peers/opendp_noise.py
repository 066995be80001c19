#!/usr/bin/env python3
"""Times the noise of other libraries: OpenDP and, if it is there, diffprivlib.

usage: opendp_noise.py [--seconds S]      S per measurement, default 1

Not part of the build, the tests or continuous integration. Set up as bench/peers/README.md says.

A call from Python costs far more than a draw. Where a library takes vectors, the cost of one value is
the slope between a short and a long vector; the cost of a call is that of a scalar. Medians of calls; the
calls of a pair of lengths alternate, so that both meet the same load.
"""

import argparse
import importlib.metadata
import os
import platform
import statistics
import time

SHORT, LONG = 100, 2_100


def seconds_of(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def medians(calls, budget):
    """Median seconds of each call, taken in turn until the budget is used, at least five times."""
    taken = [[] for _ in calls]
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(taken[0]) < 5:
        for times, call in zip(taken, calls):
            times.append(seconds_of(call))
    return [statistics.median(times) for times in taken], len(taken[0])


def show(name, nanoseconds, note=""):
    print(f"{name:58} {nanoseconds:14,.0f} ns  {note}", flush=True)


def by_slope(name, call_with, budget):
    (short, long), rounds = medians([lambda: call_with(SHORT), lambda: call_with(LONG)], budget)
    value = (long - short) / (LONG - SHORT)
    show(f"{name}: one value of a vector", value * 1e9, f"{rounds} rounds of {SHORT} and {LONG}")


def by_call(name, call, budget):
    (median,), rounds = medians([call], budget)
    show(name, median * 1e9, f"median of {rounds} calls")


def random_bytes(budget):
    by_slope("limit: os.urandom, 16 bytes a value", lambda n: os.urandom(16 * n), budget)


def opendp(budget):
    import opendp.prelude as dp
    from opendp import accuracy

    dp.enable_features("contrib")
    floats, integers = dp.atom_domain(T=float, nan=False), dp.atom_domain(T="i64")
    absolute_float, absolute_integer = dp.absolute_distance(T=float), dp.absolute_distance(T="i64")
    vectors = {
        "Laplace, float": dp.m.make_laplace(dp.vector_domain(floats), dp.l1_distance(T=float), scale=10.0),
        "Gaussian, float": dp.m.make_gaussian(dp.vector_domain(floats), dp.l2_distance(T=float), scale=10.0),
        "discrete Laplace, integer": dp.m.make_laplace(
            dp.vector_domain(integers), dp.l1_distance(T="i64"), scale=10.0
        ),
        "discrete Gaussian, integer": dp.m.make_gaussian(
            dp.vector_domain(integers), dp.l2_distance(T=float), scale=10.0
        ),
    }
    for name, measurement in vectors.items():
        zero = 0.0 if "float" in name else 0
        inputs = {n: [zero] * n for n in (SHORT, LONG)}
        by_slope(f"OpenDP {name}", lambda n: measurement(inputs[n]), budget)
    scalars = {
        "Laplace, float": (dp.m.make_laplace(floats, absolute_float, scale=10.0), 0.0),
        "Gaussian, float": (dp.m.make_gaussian(floats, absolute_float, scale=10.0), 0.0),
        "discrete Laplace, integer": (dp.m.make_laplace(integers, absolute_integer, scale=10.0), 0),
        "discrete Gaussian, integer": (dp.m.make_gaussian(integers, absolute_float, scale=10.0), 0),
    }
    for name, (measurement, zero) in scalars.items():
        by_call(f"OpenDP {name}: scalar, one call", lambda: measurement(zero), budget)

    for scale in (1.0, 10.0, 1e3, 1e4, 1e5, 1e6, 1e7):
        by_call(
            f"OpenDP discrete_gaussian_scale_to_accuracy({scale:g}, 0.05)",
            lambda: accuracy.discrete_gaussian_scale_to_accuracy(scale, 0.05),
            budget if scale < 1e6 else 0,
        )
    for wanted in (10.0, 1e3, 1e5):
        by_call(
            f"OpenDP accuracy_to_discrete_gaussian_scale({wanted:g}, 0.05)",
            lambda: accuracy.accuracy_to_discrete_gaussian_scale(wanted, 0.05),
            budget if wanted < 1e5 else 0,
        )
    by_call(
        "OpenDP discrete_laplacian_scale_to_accuracy(1e7, 0.05)",
        lambda: accuracy.discrete_laplacian_scale_to_accuracy(1e7, 0.05),
        budget,
    )


def diffprivlib(budget):
    from diffprivlib.mechanisms import Laplace, Snapping

    laplace = Laplace(epsilon=0.1, delta=0, sensitivity=1)
    snapping = Snapping(epsilon=0.1, sensitivity=1, lower=-100, upper=100)
    by_call("diffprivlib Laplace: scalar, one call", lambda: laplace.randomise(0.0), budget)
    by_call("diffprivlib Snapping: scalar, one call", lambda: snapping.randomise(0.0), budget)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0)
    budget = parser.parse_args().seconds
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}, Python {platform.python_version()}, {platform.machine()}, "
          f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    random_bytes(budget)
    for library, measure in (("opendp", opendp), ("diffprivlib", diffprivlib)):
        try:
            print(f"{library} {importlib.metadata.version(library)}")
            measure(budget)
        except ImportError as error:
            print(f"{library}: not measured ({error})")


if __name__ == "__main__":
    main()
