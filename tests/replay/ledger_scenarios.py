"""Makes the command lines that are recorded on a ledger: scenarios, each of which begins with an empty folder.

A scenario is drawn from the seed that is its name, so it is the same in every run. Its steps are command lines in which
`{id N}` stands for the decision that the N-th step printed. A word that begins with `<` is the text of standard input.
"""

import shlex
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONFIGS = HERE.parents[1] / "configs"
VISITS = ["patient_id,age,cost,ward"] + [
    f"p{n % 37},{n * 7 % 100},{n * 13 % 500}.{n % 100:02d},{'ABC'[n % 3]}" for n in range(120)
]


@dataclass
class Scenario:
    """The steps of one recording, and the files that its folder has before the first."""

    name: str
    files: dict = field(default_factory=dict)
    links: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)

    def run(self, *words, advance_ms=1000):
        self.steps.append(([str(word) for word in words], advance_ms))
        return len(self.steps) - 1


@dataclass
class Asked:
    """What may be asked of a dataset: enough to draw questions of which most make sense."""

    policy: str
    dataset: str
    statistics: list
    groups: list
    conditions: list
    people: list
    purposes: list
    deltas: list


def rows_of(name):
    """The rows of a table beside this file."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def command_lines(family):
    return [shlex.split(words) for one, words in rows_of("command_lines.tsv") if one == family]


def listed(cell):
    return [None if word == "-" else word for word in cell.split(" | ")] if cell else []


ASKED = [Asked(policy, dataset, *map(listed, lists)) for policy, dataset, *lists in rows_of("asked.tsv")]
FORMS = [[], [], ["--json"], ["--json"], ["--quiet"], ["--verbose"], ["--format", "csv"]]
NOBODY = "01HV5Y3K9QZ8T7W6R5N4M3J2XA"


def begin(name, policy):
    scenario = Scenario(name)
    scenario.files = {
        f"{policy}.yaml": (CONFIGS / f"{policy}.yaml").read_text(),
        "visits.csv": "\n".join(VISITS) + "\n",
    }
    scenario.links = {"data": CONFIGS / "data"}
    scenario.run("init", "--policy", f"{policy}.yaml", "--as", "cleo")
    return scenario


def question(draw, asked, people=True):
    """The words of a question, without its loss."""
    statistic = draw.choice(asked.statistics)
    words = [asked.dataset, statistic]
    if asked.groups and draw.random() < 0.3 and not statistic.startswith("histogram"):
        words += ["--by", draw.choice(asked.groups)]
    if asked.conditions and draw.random() < 0.4:
        words += ["--where", draw.choice(asked.conditions)]
    delta = draw.choice(asked.deltas)
    if delta:
        words += ["--delta", delta]
    purpose = draw.choice(asked.purposes)
    if purpose:
        words += ["--purpose", purpose]
    return words + (["--as", draw.choice(asked.people)] if people else [])


def loss(draw):
    return ["--epsilon", draw.choice(["0.05", "0.1", "0.2", "1/3", "0.25", "0.5", "1e-3", "2", "7"])]


def asking(draw, name):
    asked = draw.choice(ASKED)
    scenario = begin(name, asked.policy)
    for number in range(22):
        form = draw.choice(FORMS)
        words = question(draw, asked)
        verb = draw.choice(["release"] * 5 + ["plan", "plan", "forecast", "reserve"])
        if verb == "reserve" and form[:1] == ["--format"]:
            form = []
        more = loss(draw)
        if verb == "forecast":
            more = draw.choice([loss(draw), ["--count", draw.choice(["3", "52"])], ["--accuracy", "20"]])
        if verb == "plan" and draw.random() < 0.5:
            more += draw.choice(
                [["--compare"], ["--count", "7"], ["--alpha", "0.01", "--alpha", "1/20"], ["--assume-count", "500"]]
            )
        if verb == "release" and words[1].startswith("value:"):
            more += ["--value", draw.choice(["0.25", "-3.5", "nan", "12"])]
        if verb in ("release", "reserve") and draw.random() < 0.4:
            more += ["--key", f"k{draw.randrange(6)}"]
        if verb == "release" and draw.random() < 0.1 and "--by" in words:
            more += draw.choice([["--suppress-below", "5"], ["--totals", "0.2"], ["--totals", "1/4", "--consistent"]])
        scenario.run(verb, *words, *more, *form)
    read(draw, scenario, asked)
    return scenario


def read(draw, scenario, asked):
    """The verbs that only read, in two forms each."""
    for verb in (
        ["budget"],
        ["history"],
        ["show", "{id %d}" % draw.randrange(1, len(scenario.steps))],
        ["pending"],
        ["audit", "report"],
        ["audit", "verify"],
        ["audit", "replay"],
        ["audit", "reaccount"],
    ):
        words = list(verb)
        if verb[0] in ("budget", "history", "show") and draw.random() < 0.4:
            words += ["--as", draw.choice(asked.people)]
        if verb[0] == "history" and draw.random() < 0.4:
            words += ["--limit", "3"]
        choices = FORMS if verb[0] != "audit" or verb[1] == "replay" else FORMS[:-1]
        scenario.run(*words, *draw.choice(choices))


def requests(draw, name):
    """What becomes of requests: reservations and approvals, by the right people and by others."""
    policy = draw.choice(["hospital_scopes"] * 3 + ["minimal", "external_values"])
    asked = next(one for one in ASKED if one.policy == policy)
    scenario = begin(name, asked.policy)
    made = []
    for _ in range(8):
        form = draw.choice([[], ["--json"], ["--quiet"]])
        words = question(draw, asked) + ["--epsilon", draw.choice(["0.1", "0.3", "0.4", "0.2"])]
        if words[1].startswith("value:") and draw.random() < 0.7:
            words.append("--data-token")
        made.append((scenario.run("reserve", *words, *form), words[1].startswith("value:")))
    for _ in range(22):
        at, value = draw.choice(made)
        verb = draw.choice(["commit"] * 4 + ["cancel", "approve", "approve", "reject", "token", "show", "pending"])
        words = [] if verb == "pending" else [f"{{id {at}}}" if draw.random() < 0.95 else NOBODY]
        if verb in ("approve", "reject"):
            words += ["--as", draw.choice(["carol", "dora", "alice", "eve"])]
            if draw.random() < 0.7:
                words += ["--why", "looked at it"]
        elif verb in ("commit", "cancel", "token"):
            words += ["--as", draw.choice(asked.people)] if draw.random() < 0.85 else []
        if verb == "commit" and value:
            words += ["--value", "0.5"]
        hours = draw.choice([0, 0, 0, 0, 0, 0, 4, 30])
        scenario.run(verb, *words, *draw.choice([[], [], ["--json"], ["--quiet"]]), advance_ms=1000 + hours * 3_600_000)
    read(draw, scenario, asked)
    return scenario


BATCHES = [
    "statistic,by,epsilon\ncount,,0.1\nmean:age,ward,0.2\nsum:cost,,0.05\n",
    "statistic,epsilon\ncount,0.1\nmedian:age\n",
    "statistic,where,epsilon\ncount,age > 65,0.1\ncount,age <= 65,0.1\n",
    "statistic,accuracy\ncount,20\nunits,15\n",
    "statistic;epsilon\ncount;0.1\n",
    "statistic,epsilon\ncount,0\n",
    "",
    "statistic,epsilon,dataset\ncount,0.1,other\n",
]


def batches(draw, name):
    asked = ASKED[0]
    scenario = begin(name, "minimal")
    for number, text in enumerate(BATCHES):
        scenario.files[f"batch{number}.csv"] = text
    for _ in range(24):
        table = draw.randrange(len(BATCHES))
        verb = draw.choice(["release", "plan", "plan", "reserve"])
        words = [verb, asked.dataset] if verb != "plan" or draw.random() < 0.7 else [verb]
        words += ["--batch", f"batch{table}.csv", "--as", "ann"]
        if verb == "plan" and len(words) > 4 and draw.random() < 0.6 and words[1] == asked.dataset:
            words.append("--together")
        if draw.random() < 0.3 and verb != "plan":
            words += ["--key", f"b{draw.randrange(3)}"]
        if draw.random() < 0.2:
            words += ["--epsilon", "0.3"]
        form = draw.choice(FORMS if verb != "reserve" else FORMS[:-1])
        scenario.run(*words, *form)
    read(draw, scenario, asked)
    return scenario


def evidence(draw, name):
    """Keys, checkpoints, proofs, exports, imports and copies."""
    scenario = begin(name, "minimal")
    ids = [scenario.run("release", "clinic", "count", "--epsilon", "0.1", "--as", "ann") for _ in range(4)]
    scenario.run("key", "generate", "log.key", *draw.choice([[], ["--json"]]))
    scenario.run("key", "add", "{vkey}", "--why", "the log", "--as", "cleo")
    scenario.run("audit", "checkpoint", "--key", "log.key", *draw.choice([[], ["--quiet"], ["--json"]]))
    scenario.run("audit", "checkpoint", "--key", "log.key", "> note1")
    scenario.run("release", "clinic", "mean:age", "--epsilon", "0.2", "--as", "ann")
    scenario.run("audit", "checkpoint", "--key", "log.key", "> note2")
    chosen = f"{{id {draw.choice(ids)}}}"
    for words in command_lines("evidence"):
        words = [chosen if word == "{id}" else word for word in words]
        scenario.run(*words, *(draw.choice([[], ["--json"]]) if words[-1][0] != ">" else []))
    read(draw, scenario, ASKED[0])
    return scenario


def upkeep(draw, name):
    """Backup, restore, seal, relocate, clock, recover, and policies that change."""
    scenario = begin(name, "minimal")
    text = scenario.files["minimal.yaml"]
    scenario.files["more.yaml"] = text.replace("epsilon: 3", "epsilon: 5")
    scenario.files["less.yaml"] = text.replace("epsilon: 3", "epsilon: 0.01")
    scenario.files["fewer.yaml"] = text.replace("      ward: {type: string, values: [A, B, C]}\n", "")
    scenario.files["bad.yaml"] = text.replace("max_rows: 3", "max_rows: 0")
    actions = command_lines("upkeep")
    for _ in range(30):
        words = draw.choice(actions)
        if words[0] == "seal" and draw.random() < 0.7:
            continue
        if (
            words[:2] == ["policy", "apply"]
            or words[0] in ("seal", "relocate", "recover", "clock", "restore")
            or (words[0] == "credentials" and words[1] != "list")
        ):
            words = words + ["--as", "cleo"]
        days = draw.choice([0, 0, 0, 0, 40, -3])
        scenario.run(*words, *draw.choice([[], [], ["--json"], ["--quiet"]]), advance_ms=1000 + days * 86_400_000)
    read(draw, scenario, ASKED[0])
    return scenario
