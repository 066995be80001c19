#!/usr/bin/env python3
"""Compares what Epsilog makes of the files of download.py with expected.tsv, with DuckDB's sniffer and with pandas.

    python3 compare.py FOLDER EPSILOG

Every file whose shape or names differ has a row in differences.tsv, with a verdict. Ends with 1 where a row is
missing or says otherwise than this run, and where a file is not as expected.tsv has it. `--write` writes
differences.tsv anew and keeps its verdicts.
"""
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pandas
import yaml

HERE = pathlib.Path(__file__).resolve().parent
PLACES = re.compile(r"columns: the (?:columns?|name) in places? ([\d, and]+) (?:has no name|of the header|have one)")


class Yaml12(yaml.SafeLoader):
    """As YAML 1.2 has it: `N` and `yes` are texts."""


Yaml12.yaml_implicit_resolvers = {
    letter: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:bool"]
    for letter, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def run(*command):
    return subprocess.run([str(one) for one in command], capture_output=True, text=True, errors="replace")


def shape_of_draft(draft, errors):
    """(delimiter, names by place, "" where the draft has no column for it)."""
    (dataset,) = yaml.load(draft, Yaml12)["datasets"].values()
    declared = [(column or {}).get("column", str(name)) for name, column in dataset["columns"].items()]
    unnamed = {int(n) for found in PLACES.findall(errors) for n in re.findall(r"\d+", found)}
    named = iter(declared)
    names = ["" if place + 1 in unnamed else next(named) for place in range(len(declared) + len(unnamed))]
    return dataset["source"].get("delimiter", ","), names


def rows_checked(epsilog, draft, more):
    """How many rows data check counts in a file under its own draft."""
    policy = yaml.load(draft, Yaml12)
    (dataset,) = policy["datasets"].values()
    dataset |= {"unit": "row", "rows": {"max": 10**9}, "budget": {"epsilon": 1}}
    dataset["source"] |= more
    dataset["columns"] = dict(list(dataset["columns"].items())[:100])  # a policy is at most 256 KiB
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "policy.yaml")
        path.write_text(yaml.safe_dump(policy, sort_keys=False, allow_unicode=True))
        said = json.loads(run(epsilog, "data", "check", "--policy", path, "--json").stdout)
    return said["datasets"][0]["rows"] if "datasets" in said else said["error"]["message"]


def epsilog_says(epsilog, path):
    """Of `policy init` without and with --header: what it asks or why it refuses, the shape, and the rows."""
    said = {}
    for way in ("draft", "draft with --header"):
        done = run(epsilog, "policy", "init", "--from-csv", path, *way.split()[2:])
        said[way] = {"words": done.stderr.strip()}
        if done.returncode == 0:
            more = {"multiline": True} if "source.multiline:" in done.stderr else {}
            said[way] |= {"shape": shape_of_draft(done.stdout, done.stderr),
                          "rows": rows_checked(epsilog, done.stdout, more)}
            break
    return said


def duckdb_says(path):
    try:
        row = duckdb.connect().execute(
            "select Delimiter, HasHeader, SkipRows, list_transform(Columns, lambda c: c.name) from sniff_csv(?)",
            [str(path)]).fetchone()
        return {"delimiter": row[0], "header": row[1], "skip": row[2], "names": row[3]}
    except duckdb.Error as error:
        return {"error": str(error).splitlines()[0]}


def pandas_says(path, **options):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pandas.read_csv(path, nrows=1000, **options)
        return {"names": [str(name) for name in frame.columns], "index": not isinstance(frame.index, pandas.RangeIndex)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def look(epsilog, path):
    return {"epsilog": epsilog_says(epsilog, path), "DuckDB": duckdb_says(path), "pandas": pandas_says(path),
            "pandas sniffs": pandas_says(path, sep=None, engine="python")}


ASKED = {"source: make sure": "first line", "is not quoted correctly or": "misfits", "is empty, and": "empty lines",
         "source.multiline:": "line ends in cells", "with blanks around them, which": "blanks around numbers"}


def outcome(said):
    """A draft and what it asks of the shape, or the words of the refusal."""
    words = said["draft"]["words"]
    if "shape" in said["draft"]:
        return ", ".join(["draft", *(name for key, name in ASKED.items() if key in words)])
    why = re.split(r"\. (?=[A-Z])|: (?=take|save|convert|where|write|name|each)|, (?=for inst)", words.split("': ")[1])[0]
    return why + (" (--header: draft)" if "shape" in said["draft with --header"] else "")


def differs(reader, found, shape):
    """How another reader differs from a draft, or what it makes of a file that has none; "" where they agree."""
    if "error" in found:
        return f"{reader} fails"
    names = found["names"]
    cut = f"{len(names)} columns" + ("" if found.get("header", True) else " without names")
    cut += f" from line {found['skip'] + 1}" if found.get("skip") else ""
    cut += " and an index" if found.get("index") else ""
    if shape is None or len(names) != len(shape[1]) or found.get("index") or not found.get("header", True):
        return f"{reader} {cut}"
    other = sum(mine not in ("", name) for mine, name in zip(shape[1], names))
    return f"{reader} {other} other names" if other else ""


def differences(looks):
    for name, found in looks.items():
        shape = found["epsilog"]["draft"].get("shape")
        readers = [differs(one, found[one], shape) for one in ("DuckDB", "pandas", "pandas sniffs")]
        if any(readers):
            yield [name, outcome(found["epsilog"]), "; ".join(filter(None, readers))]


def unexpected(expected, said):
    """Why a file is not as it was written down; nothing where it is."""
    if not expected[1].startswith("draft"):
        return None if re.search(expected[1], said["draft"]["words"]) else said["draft"]
    way = said.get(expected[1], {})
    if "shape" not in way:
        return said["draft"]["words"]
    delimiter, names = way["shape"]
    found = [delimiter, str(way["rows"]), str(len(names)), names[0] or expected[5], names[-1]]
    return None if found == expected[2:] else found


def table(path):
    with open(path, newline="") as stream:
        return [row for row in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE) if row[0][0] != "#"]


def main():
    folder, epsilog = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    files = [row[0] for row in table(HERE / "files.tsv")]
    with ThreadPoolExecutor() as threads:
        looks = dict(zip(files, threads.map(lambda one: look(epsilog, folder / one), files)))
    faults = [f"{row[0]}: {why}" for row in table(HERE / "expected.tsv")
              if (why := unexpected(row, looks[row[0]]["epsilog"]))]
    judged = {row[0]: row for row in table(HERE / "differences.tsv")}
    rows = [row + judged.get(row[0], [""] * 5)[3:] for row in differences(looks)]
    faults += [f"{row[0]}: differs, and differences.tsv does not say so" for row in rows
               if row[:4] != judged.get(row[0], [])[:4] or not row[3]]
    if "--write" in sys.argv:
        comment = [line for line in open(HERE / "differences.tsv") if line.startswith("#")]
        (HERE / "differences.tsv").write_text("".join(comment + ["\t".join(row) + "\n" for row in rows]))
    drafts = sum("shape" in found["epsilog"]["draft"] for found in looks.values())
    print(f"{len(files)} files, {drafts} drafts, {len(rows)} differ:", dict(collections.Counter(row[3] for row in rows)))
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
