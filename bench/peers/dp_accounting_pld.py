#!/usr/bin/env python3
"""Times Google's dp_accounting on the questions of bench/pld_bench.cpp, and shows its epsilon.

usage: dp_accounting_pld.py [--grid H]      H: discretisation interval of the losses, default 1e-4

Not part of the build, the tests or continuous integration:
  python3 -m venv /tmp/peers && /tmp/peers/bin/pip install dp_accounting
"""

import argparse
import importlib.metadata
import math
import platform
import resource
import time

from dp_accounting.pld import privacy_loss_distribution as pld


def question(name, build, count, grid):
    begin = time.perf_counter()
    composed = build(grid).self_compose(count)
    middle = time.perf_counter()
    answers = [f"{composed.get_epsilon_for_delta(delta):.6f}" for delta in (1e-6, 1e-9, 1e-12, 1e-15)]
    end = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:9} {count:9,} compose {(middle - begin) * 1e3:9.1f} ms   four epsilons {(end - middle) * 1e3:8.1f} ms "
          f"  peak {memory:6.0f} MiB   {' '.join(answers)}", flush=True)


def mixture(each, grid):
    """As many Gaussian as Laplace releases, as gaussian_with_laplace of bench/pld_bench.cpp."""
    scale = math.sqrt(2 * each)
    begin = time.process_time()
    gaussian = pld.from_gaussian_mechanism(scale, value_discretization_interval=grid).self_compose(each)
    laplace = pld.from_laplace_mechanism(scale, value_discretization_interval=grid).self_compose(each)
    composed = gaussian.compose(laplace)
    answers = [f"{composed.get_epsilon_for_delta(delta):.6f}" for delta in (1e-6, 1e-9, 1e-12)]
    print(f"mixture   {each:9,} of each, compose and three epsilons, processor "
          f"{(time.process_time() - begin) * 1e3:9.1f} ms   {' '.join(answers)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grid", type=float, default=1e-4)
    grid = parser.parse_args().grid
    print(f"dp_accounting {importlib.metadata.version('dp_accounting')}, Python {platform.python_version()}, "
          f"{time.strftime('%Y-%m-%d', time.gmtime())}, grid {grid:g}")
    for count in (1_000, 10_000, 100_000, 1_000_000):
        scale = math.sqrt(count)
        question("Laplace", lambda h: pld.from_laplace_mechanism(scale, value_discretization_interval=h), count, grid)
        question("Gaussian", lambda h: pld.from_gaussian_mechanism(scale, value_discretization_interval=h), count, grid)
    for each in (10_000, 500_000):
        mixture(each, grid)


if __name__ == "__main__":
    main()
