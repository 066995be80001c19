"""Scenarios about texts and files: calculators, policies, and tables that a policy is drafted from."""

import json

from ledger_scenarios import CONFIGS, Scenario, begin, command_lines, rows_of

CALCULATORS = command_lines("calculating")
FIGURES = {
    "{e}": ["0.1", "1", "1/3", "0", "-1", "1e-3"],
    "{s}": ["1", "3", "0.5", "5/2", "x"],
    "{b}": ["20", "1000", "0.1"],
    "{a}": ["0.05", "1/100", "1e-6", "1", "0"],
    "{d}": ["1e-6", "1e-10", "0.1", "2"],
    "{f}": ["10", "3", "0"],
}


def calculating(draw, name):
    scenario = Scenario(name)
    for _ in range(40):
        words = []
        for word in draw.choice(CALCULATORS):
            for mark, figures in FIGURES.items():
                # Most figures are good ones, so that most lines calculate.
                word = word.replace(mark, figures[0] if draw.random() < 0.4 else draw.choice(figures))
            words.append(word)
        scenario.run(*words, *draw.choice([[], ["--json"], ["--quiet"], ["--verbose"]]), advance_ms=0)
    return scenario


def policies(draw, name):
    """Policies with a fault each: what `policy check` says of them."""
    scenario = Scenario(name)
    for path in draw.sample(sorted(CONFIGS.glob("*.yaml")), 4):
        scenario.files[path.name] = path.read_text()
        scenario.run("policy", "check", path.name, *draw.choice([[], ["--json"]]), advance_ms=0)
        scenario.run("policy", "implies", path.name, advance_ms=0)
    text = (CONFIGS / "hospital_scopes.yaml").read_text()
    lines = text.split("\n")
    for number in range(28):
        changed = list(lines)
        at = draw.choice([n for n, line in enumerate(lines) if line.strip() and not line.strip().startswith("#")])
        kind = draw.randrange(4)
        if kind == 0:
            del changed[at]
        elif kind == 1:
            changed.insert(at, changed[at])
        elif kind == 2:
            changed[at] = changed[at].replace(":", ": -", 1)
        else:
            cut = draw.randrange(len(changed[at]))
            changed[at] = changed[at][:cut] + changed[at][cut + 1 :]
        scenario.files[f"p{number}.yaml"] = "\n".join(changed)
        scenario.run("policy", "check", f"p{number}.yaml", *draw.choice([[], [], ["--json"]]), advance_ms=0)
    return scenario


TABLES = [json.loads(text) for (text,) in rows_of("tables.tsv")]


def drafting(draw, name):
    scenario = begin(name, "minimal")
    for number, table in enumerate(TABLES):
        scenario.files[f"t{number}.csv"] = table
        scenario.run(
            "policy",
            "init",
            "--from-csv",
            f"t{number}.csv",
            "--dataset",
            "clinic",
            *draw.choice([[], [], ["--header"], ["--json"]]),
            advance_ms=0,
        )
    for number in draw.sample(range(len(TABLES)), 9):
        scenario.run("relocate", "clinic", "--source", f"t{number}.csv", "--why", "try", "--as", "cleo")
        scenario.run("data", "check", *draw.choice([[], ["--json"], ["--format", "csv"], ["--allow-empty"]]))
    return scenario
