#!/usr/bin/env python3
"""Compares how far off answers are with OpenDP, at the same epsilon.

usage: opendp_errors.py --command EPSILOG [--draws N] [QUESTION…]      N draws of each, default 100000

Not part of the build, the tests or continuous integration. Set up as bench/peers/README.md says.

Both answer the same two questions about the same public table, docs/tutorial/insurance.csv: a count and a sum for
each of 10,000 declared numbers of visits to a doctor, most of which nobody made; and for quantiles of all costs and of
all ages, among the same candidates, of which a cost near its median has one row or two, and an age some 35. The same epsilon, unit (a person), five rows a person at most, neighbours that add or remove a
person, and bounds. Epsilog answers through the command, charged and recorded, by the mechanism that `plan --compare`
marks, and by snapping beside it, or of quantiles by the other selection. OpenDP calibrates its own noise by its own
stability and privacy maps. Errors are against a release at an epsilon so large that noise on a grid of 1 is never
seen, which public data may have; of quantiles they are of ranks, counted among the rows of such a release.
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
BATCH = 1_000  # most rows of one


class Candidates:
    """The numbers 0, 1/parts, … up to last, of a column; `by` counts the rows of each, of all that are `among` them."""

    def __init__(self, column, last, parts, by, among=None):
        self.column, self.parts, self.count, self.by, self.among = column, parts, last * parts + 1, by, among

    def place(self, value):
        return round(value * self.parts)

    def bins(self):
        """Of each candidate the half step on either side of it; of the first and the last all that lies beyond."""
        edges = (f"{(2 * i - 1) / (2 * self.parts):g}" for i in range(1, self.count))
        return ", ".join(["-1000000", *edges, "1000000"])


AGES = Candidates("years", UPPER, 1, "years", f"years between 0 and {UPPER}")
LOW_COSTS = Candidates("low_cost", 250, 4, "low_costs")
COSTS = Candidates("cost", 1_000, 1, "costs")
QUANTILES = {"quantile 0.25 of costs": (LOW_COSTS, "0.25"), "median of costs": (LOW_COSTS, "0.5"),
             "quantile 0.9 of costs": (COSTS, "0.9"), "median of ages": (AGES, "0.5"),
             "quantile 0.9 of ages": (AGES, "0.9")}


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
      years: {{column: "Alter (Jahre)", type: int, values: [{", ".join(map(str, range(UPPER + 1)))}]}}
      low_cost: {{column: "Kosten gesamt ($)", type: decimal, scale: 3, bounds: [0, 250], step: 0.25}}
      low_costs: {{from: low_cost, bins: [{LOW_COSTS.bins()}]}}
      cost: {{column: "Kosten gesamt ($)", type: decimal, scale: 2, bounds: [0, 1000], step: 1}}
      costs: {{from: cost, bins: [{COSTS.bins()}]}}
      visits: {{column: Arztbesuche, type: int, values: [{", ".join(map(str, range(CELLS)))}]}}
    allow: {{statistics: [count, sum, quantile]}}
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

    def repeated(self, statistic, among):
        """As many answers to one question as a batch has rows, each drawn by itself."""
        with open(os.path.join(self.folder, "batch.csv"), "w", encoding="utf-8") as file:
            file.write("statistic,where,epsilon\n" + f"{statistic},{among or ''},{EPSILON}\n" * BATCH)
        told = self.run("release", "insurance", "--batch", "batch.csv", "--quiet")
        return [float(line.split("\t")[1]) for line in told.splitlines()]


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


def opendp_quantile(candidates, wanted):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    chain = lambda scale: dp.m.make_private_quantile(*space, dp.max_divergence(), candidates=list(range(candidates)),
                                                     alpha=float(wanted), scale=scale)
    return dp.binary_search_chain(chain, d_in=MAX_ROWS, d_out=float(EPSILON), bounds=(0.01, 1e6), T=float)


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


def rank_errors(counts, wanted):
    """Of each candidate how far the rank wanted lies from those of its rows."""
    below, rank, errors = 0, float(wanted) * sum(counts), []
    for count in counts:
        errors.append(max(0.0, below - rank, rank - below - count))
        below += count
    return errors


def rank_errors_of(draw, errors_by_place, draws):
    errors = []
    while len(errors) < draws:
        errors += [errors_by_place[place] for place in draw()]
    return mean_and_error(errors[:draws])


def told(name, what, ours, our_error, peer, peer_error):
    spread = ours / peer * math.hypot(our_error / ours, peer_error / peer)
    print(f"{name}: {what}: mean |error| {ours:.4g} ± {our_error:.2g}, "
          f"{ours / peer:.4f} ± {spread:.4f} of OpenDP's", flush=True)


def compare_quantile(command, folder, name, draws):
    among, wanted = QUANTILES[name]
    statistic = f"quantile:{among.column}:{wanted}"
    ledgers = {way: Ledger(command, folder, f"{name} {way}", f"{{quantile: {{mechanism: {way}}}, "
                           "count: {mechanism: discrete_laplace, grid: 1}}")
               for way in ("permute_and_flip", "exponential")}
    marked = ledgers["permute_and_flip"].marked([statistic])["mechanism"]
    condition = ["--where", among.among] if among.among else []
    counts = [int(value) for value in ledgers[marked].cells(["count", "--by", among.by, *condition], "100000")]
    data = [place for place, count in enumerate(counts) for _ in range(count)]
    errors = rank_errors(counts, wanted)
    measurement = opendp_quantile(among.count, wanted)
    peer, peer_error = rank_errors_of(lambda: [measurement(data)], errors, draws)
    print(f"{name}: OpenDP permute-and-flip: mean |error| {peer:.4g} ± {peer_error:.2g} ranks of {len(data)}")
    for way, ledger in sorted(ledgers.items(), key=lambda one: one[0] != marked):
        ours, our_error = rank_errors_of(lambda: map(among.place, ledger.repeated(statistic, among.among)), errors, draws)
        told(name, way + (", marked" if way == marked else ""), ours, our_error, peer, peer_error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True)
    parser.add_argument("--draws", type=int, default=100_000)
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=", ".join([*QUESTIONS, *QUANTILES]))
    options = parser.parse_args()
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}, OpenDP {importlib.metadata.version('opendp')}, "
          f"{options.draws:,} draws of each, epsilon {EPSILON}, {MAX_ROWS} rows a person, add-remove")
    with tempfile.TemporaryDirectory() as folder:
        default = Ledger(options.command, folder, "snapping", "{default: {mechanism: snapping}}")
        exact = Ledger(options.command, folder, "exact", "{default: {mechanism: discrete_laplace, grid: 1}}")
        for name, question in QUESTIONS.items():
            if options.questions and name not in options.questions:
                continue
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
                told(name, what, ours, our_error, peer, peer_error)
        for name in QUANTILES:
            if not options.questions or name in options.questions:
                compare_quantile(options.command, folder, name, options.draws)


if __name__ == "__main__":
    main()
