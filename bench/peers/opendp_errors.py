#!/usr/bin/env python3
"""Compares how far off answers are with OpenDP, at the same epsilon.

usage: opendp_errors.py --command EPSILOG [--draws N]      N draws of each, default 100000

Not part of the build, the tests or continuous integration. Set up as bench/peers/README.md says.

Both answer the same two questions about the same public table, docs/tutorial/insurance.csv: a count and a sum for
each of 10,000 declared numbers of visits to a doctor, most of which nobody made. The same epsilon, unit (a person),
five rows a person at most, neighbours that add or remove a person, and bounds. Epsilog answers through the
command, charged and recorded, by the mechanism that `plan --compare` marks, and by snapping beside it. OpenDP
calibrates its own noise by its own stability and privacy maps. Errors are against a release at an epsilon so large
that noise on a grid of 1 is never seen, which public data may have.
"""

import argparse
import csv
import importlib.metadata
import io
import json
import math
import os
import subprocess
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CELLS, MAX_ROWS, UPPER, EPSILON = 10_000, 5, 65, "0.5"
QUESTIONS = {"count": ["count", "--by", "visits"], "sum": ["sum:age", "--by", "visits"]}


def policy(release):
    return f"""version: 1
datasets:
  insurance:
    source:
      csv: {ROOT}/docs/tutorial/insurance.csv
      delimiter: ";"
      decimal: ","
      thousands: "."
      encoding: windows-1252
      null: ["", n/a, "--", "."]
    unit: {{id: person, max_rows: {MAX_ROWS}}}
    rows: {{max: 3000}}
    neighbours: add-remove
    budget: {{epsilon: 1000000}}
    release: {release}
    columns:
      person: {{column: "Person Nr.", type: int}}
      age: {{column: "Alter (Jahre)", type: int, bounds: [-{UPPER}, {UPPER}]}}
      visits: {{column: Arztbesuche, type: int, values: [{", ".join(map(str, range(CELLS)))}]}}
"""


class Ledger:
    def __init__(self, command, folder, name, release):
        self.command, self.folder, self.name = os.path.abspath(command), folder, name
        with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(policy(release))
        self.run("init", "--policy", name + ".yaml")

    def run(self, *words):
        return subprocess.run([self.command, *words, "--ledger", self.name], cwd=self.folder, check=True,
                              encoding="utf-8", stdout=subprocess.PIPE).stdout

    def marked(self, question):
        rows = json.loads(self.run("plan", "insurance", *question, "--epsilon", EPSILON, "--compare", "--json"))
        return next(row for row in rows["mechanisms"] if row["least"])

    def cells(self, question, epsilon=EPSILON):
        table = csv.DictReader(io.StringIO(self.run("release", "insurance", *question, "--epsilon", epsilon,
                                                    "--format", "csv", "--quiet")))
        return [float(row["value_decimal"]) for row in table]


def opendp_measurement(question):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    if question == "count":
        counts = dp.t.make_count_by_categories(
            dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance(), categories=list(range(CELLS)),
            MO=dp.L1Distance["i64"], null_category=False, TOA="i64")
        chain = lambda scale: counts >> dp.m.make_laplace(counts.output_domain, counts.output_metric, scale=scale)
        return dp.binary_search_chain(chain, d_in=MAX_ROWS, d_out=float(EPSILON), bounds=(0.01, 1e6), T=float)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    chain = lambda scale: dp.m.make_laplace(*space, scale=scale)
    return dp.binary_search_chain(chain, d_in=MAX_ROWS * UPPER, d_out=float(EPSILON), bounds=(0.01, 1e9), T=float)


def mean_and_error(errors):
    """Mean and its standard error."""
    mean = sum(errors) / len(errors)
    variance = sum((error - mean) ** 2 for error in errors) / (len(errors) - 1)
    return mean, math.sqrt(variance / len(errors))


def errors_of(draw, truth, draws):
    errors = []
    while len(errors) < draws:
        errors += [abs(value - exact) for value, exact in zip(draw(), truth)]
    return mean_and_error(errors[:draws])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True)
    parser.add_argument("--draws", type=int, default=100_000)
    options = parser.parse_args()
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}, OpenDP {importlib.metadata.version('opendp')}, "
          f"{options.draws:,} draws of each, epsilon {EPSILON}, {MAX_ROWS} rows a person, add-remove")
    with tempfile.TemporaryDirectory() as folder:
        default = Ledger(options.command, folder, "snapping", "{default: {mechanism: snapping}}")
        exact = Ledger(options.command, folder, "exact", "{default: {mechanism: discrete_laplace, grid: 1}}")
        for name, question in QUESTIONS.items():
            marked = default.marked(question)
            best = Ledger(options.command, folder, name + "_best",
                          f"{{{name}: {{mechanism: {marked['mechanism']}}}}}")
            truth = exact.cells(question, "100000")
            measurement = opendp_measurement(name)
            data = [value for value, count in enumerate(truth) for _ in range(int(count))] if name == "count" \
                else [int(value) for value in truth]
            peer, peer_error = errors_of(lambda: measurement(data), truth, options.draws)
            print(f"{name}: OpenDP discrete Laplace: mean |error| {peer:.4g} ± {peer_error:.2g}")
            for ledger, what in ((best, marked["mechanism"] + ", marked"), (default, "snapping")):
                ours, our_error = errors_of(lambda: ledger.cells(question), truth, options.draws)
                spread = ours / peer * math.hypot(our_error / ours, peer_error / peer)
                print(f"{name}: {what}: mean |error| {ours:.4g} ± {our_error:.2g}, "
                      f"{ours / peer:.4f} ± {spread:.4f} of OpenDP's", flush=True)


if __name__ == "__main__":
    main()
