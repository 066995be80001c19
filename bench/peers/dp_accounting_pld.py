#!/usr/bin/env python3
"""Times Google's dp_accounting on the questions of bench/pld_bench.cpp, and shows its epsilon.

usage: dp_accounting_pld.py [--grid H] [--beside EPSILOG]
  H: discretisation interval of the losses, default 1e-4
  EPSILOG: the command; instead, epsilons and times of both for schedules of few and many, equal and different laws

Not part of the build, the tests or continuous integration:
  python3 -m venv /tmp/peers && /tmp/peers/bin/pip install dp_accounting
"""

import argparse
import importlib.metadata
import json
import math
import platform
import resource
import subprocess
import time

from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld

# In the words of `epsilog compose --mechanism`.
SCHEDULES = [
    (1e-6, ["laplace scale=10 sensitivity=1 count=30"]),
    (1e-6, ["laplace scale=2 sensitivity=1 count=300"]),
    (1e-6, ["laplace scale=5 sensitivity=1 count=3"]),
    (1e-9, ["laplace scale=10 sensitivity=1 count=30", "laplace scale=7 sensitivity=1 count=10", "pure epsilon=0.1 count=20"]),
    (1e-6, ["discrete-laplace scale=10 sensitivity=3 count=5", "laplace scale=3 sensitivity=1 count=4"]),
    (1e-7, ["discrete-gaussian sigma=10 sensitivity=1 count=300", "gaussian sigma=20 sensitivity=1 count=10"]),
    (1e-6, ["approximate epsilon=0.05 delta=1e-9 count=100", "discrete-laplace scale=30 sensitivity=2 count=500"]),
    (1e-8, ["laplace scale=200 sensitivity=1 count=20000", "pure epsilon=0.0031 count=40000"]),
    (1e-6, ["laplace scale=1000 sensitivity=1 count=500000", "gaussian sigma=1000 sensitivity=1 count=500000"]),
]


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


def peers_law(words, grid):
    value = {key: float(number) for key, number in (word.split("=") for word in words[1:])}
    scale, change = value.get("scale", value.get("sigma")), value.get("sensitivity")
    law = {
        "laplace": lambda: pld.from_laplace_mechanism(scale, sensitivity=change, value_discretization_interval=grid),
        "gaussian": lambda: pld.from_gaussian_mechanism(scale, sensitivity=change, value_discretization_interval=grid),
        "discrete-laplace": lambda: pld.from_discrete_laplace_mechanism(
            1 / scale, sensitivity=int(change), value_discretization_interval=grid),
        "discrete-gaussian": lambda: pld.from_discrete_gaussian_mechanism(
            scale, sensitivity=int(change), value_discretization_interval=grid),
    }.get(words[0], lambda: pld.from_privacy_parameters(
        common.DifferentialPrivacyParameters(value["epsilon"], value.get("delta", 0)), value_discretization_interval=grid))()
    return law.self_compose(int(value["count"]))


def beside(epsilog, grid):
    for delta, mechanisms in SCHEDULES:
        begin = time.perf_counter()
        composed = peers_law(mechanisms[0].split(), grid)
        for mechanism in mechanisms[1:]:
            composed = composed.compose(peers_law(mechanism.split(), grid))
        theirs = composed.get_epsilon_for_delta(delta)
        middle = time.perf_counter()
        arguments = [part for mechanism in mechanisms for part in ("--mechanism", mechanism)]
        answer = subprocess.run([epsilog, "compose", *arguments, "--delta", f"{delta:g}", "--json"],
                                check=True, capture_output=True, text=True).stdout
        end = time.perf_counter()
        print(f"delta {delta:g}  {' + '.join(mechanisms)}\n    dp_accounting {theirs:.6f} in {middle - begin:.2f} s   "
              f"epsilog {float(json.loads(answer)['pld']['epsilon']):.6f} in {end - middle:.2f} s, all accountants", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grid", type=float, default=1e-4)
    parser.add_argument("--beside", metavar="EPSILOG")
    arguments = parser.parse_args()
    grid = arguments.grid
    print(f"dp_accounting {importlib.metadata.version('dp_accounting')}, Python {platform.python_version()}, "
          f"{time.strftime('%Y-%m-%d', time.gmtime())}, grid {grid:g}")
    if arguments.beside:
        return beside(arguments.beside, grid)
    for count in (1_000, 10_000, 100_000, 1_000_000):
        scale = math.sqrt(count)
        question("Laplace", lambda h: pld.from_laplace_mechanism(scale, value_discretization_interval=h), count, grid)
        question("Gaussian", lambda h: pld.from_gaussian_mechanism(scale, value_discretization_interval=h), count, grid)
    for each in (10_000, 500_000):
        mixture(each, grid)


if __name__ == "__main__":
    main()
