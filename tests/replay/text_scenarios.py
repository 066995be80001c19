"""Scenarios about texts and files: calculators, policies, and tables that a policy is drafted from."""

from ledger_scenarios import CONFIGS, Scenario, begin

CALCULATORS = [
    ["accuracy", "snapping", "--epsilon", "{e}", "--sensitivity", "{s}", "--bound", "{b}", "--alpha", "{a}"],
    ["accuracy", "snapping", "--epsilon", "{e}", "--sensitivity", "{s}", "--bound", "{b}", "--accuracy", "{b}"],
    ["accuracy", "discrete-gaussian", "--scale", "{s}", "--alpha", "{a}"],
    ["accuracy", "discrete-gaussian", "--accuracy", "{b}", "--alpha", "{a}"],
    ["accuracy", "discrete-laplace", "--scale", "{s}", "--accuracy", "{s}"],
    ["calibrate", "snapping", "--accuracy", "{b}", "--alpha", "{a}", "--sensitivity", "{s}"],
    ["calibrate", "gaussian", "--epsilon", "{e}", "--delta", "{d}", "--sensitivity", "{s}"],
    ["calibrate", "gaussian", "--sigma", "{s}", "--epsilon", "{e}", "--sensitivity", "1"],
    ["tolerance", "laplace", "--epsilon", "{e}", "--l1", "{s}", "--flakiness", "{f}"],
    ["tolerance", "gaussian", "--epsilon", "{e}", "--delta", "{d}", "--l2", "1", "--flakiness", "{f}"],
    [
        "tolerance",
        "mean",
        "--epsilon",
        "{e}",
        "--lower",
        "0",
        "--upper",
        "{b}",
        "--sum",
        "500",
        "--count",
        "100",
        "--flakiness",
        "{f}",
    ],
    ["compose", "--mechanism", "laplace scale={s} sensitivity=1 count=20", "--delta", "{d}"],
    [
        "compose",
        "--mechanism",
        "gaussian sigma=20 sensitivity=1 count=9",
        "--mechanism",
        "pure epsilon=0.1",
        "--epsilon",
        "1",
    ],
    ["compose", "--mechanism", "snapping epsilon={e}; approximate epsilon=0.1 delta=1e-9", "--delta", "{d}"],
]
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


TABLES = [
    "id,age,ward\n1,34,A\n2,41,B\n3,,A\n",
    "id;age;cost\n1;34;1.234,50\n2;41;89,90\n",
    "1,2,3\n4,5,6\n",
    "",
    "id\n",
    "sep=;\nid;age\n1;2\n",
    '"name","age"\n"x","1"\n"y","2"\n',
    "a,b\n1\n2\n",
    "a b c\n1 2 3\n4 5 6\n",
    "a,a\n1,2\n3,4\n",
    "id,seen\n1,03.01.2024\n2,17.01.2024\n",
    "id,flag\n1,yes\n2,no\n",
    "Title of the table\n\nid,age\n1,30\n2,40\n",
    "id,age,\n1,30\n2,40\n",
    "\x00\x01\x02",
    "id\tage\n1\t30\n2\t40\n",
    "id,age\r1,30\r2,40\r",
]


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
