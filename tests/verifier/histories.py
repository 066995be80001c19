"""Ledgers that the command makes, for the tests of the verifier: their exports, line by line."""

import json
import os
import pathlib
import random
import subprocess
import tempfile

COMMAND = os.environ.get("EPSILOG_COMMAND", "epsilog")
SOURCE = pathlib.Path(os.environ.get("EPSILOG_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


class Ledger:
    """A ledger in a directory of its own, under a policy."""

    def __init__(self, folder, policy):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "l.epsilog"
        self.write(policy)
        if not (self.folder / "visits.csv").exists():
            (self.folder / "visits.csv").write_text(visits())
        self.run("init", "--policy", "p.yaml", "--ledger", str(self.path), "--as", "curator")

    def write(self, policy):
        (self.folder / "p.yaml").write_text(policy)

    def run(self, *words, expect=(0,), value=None, ledger=True):
        given = [COMMAND, *words]
        if words[0] != "init" and ledger:
            given += ["--ledger", str(self.path)]
        done = subprocess.run(given, cwd=self.folder, input=value, text=True, capture_output=True, check=False)
        if done.returncode not in expect:
            raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, dataset, statistic, *words, verb="release", expect=(0,), value=None, by="ann"):
        """Asks; the id of a request that waits."""
        return self.run(verb, dataset, statistic, *words, "--as", by, "--quiet", expect=expect, value=value).strip()

    def apply(self, policy, why="the board agreed"):
        self.write(policy)
        self.run("policy", "apply", "p.yaml", "--why", why, "--as", "curator")

    def export(self):
        return self.run("audit", "export").splitlines()


def visits():
    draw = random.Random(20260105)
    rows = ["patient,seen,ward,age,cost,emergency"]
    for n in range(300):
        day = f"2024-{draw.randrange(1, 7):02}-{draw.randrange(1, 29):02}"
        rows.append(f"p{draw.randrange(120)},{day},{draw.choice('ABC')},{draw.randrange(100)},"
                    f"{draw.randrange(400000) / 100},{draw.choice(['true', 'false'])}")
    return "\n".join(rows) + "\n"


POLICIES = pathlib.Path(__file__).resolve().parent / "policies"
DATASET = (POLICIES / "dataset.yaml").read_text(encoding="utf-8")
SWAPPED = DATASET.replace("add-remove", "replace-one")
# What stands in the policies for the members of a dataset.
MEMBERS = {"dataset": DATASET, "swapped": SWAPPED,
           "exact": SWAPPED.replace("{max: 1000}", "{exact: 300}").replace("[0, 111]}", "[0, 111], missing: 50}"),
           "counted": DATASET.replace("    queries:", """      band: {from: age, bins: [0, 18, 65, 111]}
    queries:""")}


def policy(name):
    text = (POLICIES / f"{name}.yaml").read_text(encoding="utf-8")
    for mark, members in MEMBERS.items():
        text = text.replace(f"    <{mark}>\n", members)
    return text


EVERYTHING = policy("everything")


def snapping(folder):
    """Snapped answers of every statistic, under each arithmetic and precision."""
    ledger = Ledger(folder, EVERYTHING + "    budget: {epsilon: 1000}\n")
    for version, release in enumerate(("{}", "{precision: binary64}", "{precision: 200, bound: 700}",
                                       "{arithmetic: exact}", "{binding_probability: 1e-3}", "{precision: 4096}")):
        if version:
            ledger.apply(EVERYTHING + f"    budget: {{epsilon: 1000}}\n    release: {{default: {release}}}\n")
        for statistic in ("count", "units", "sum:age", "sum:cost", "mean:cost", "variance:age"):
            if statistic != "variance:age":
                ledger.ask("clinic", statistic, "--epsilon", "7/3", "--key", f"{statistic} {version}")
            ledger.ask("clinic", statistic, "--by", "ward", "--where", "age > 20 and emergency = true",
                       "--epsilon", "9")
        ledger.ask("clinic", "value:score", "--epsilon", "0.5", "--value", "-", value="3.25\n")
    ledger.ask("small", "value:share", "--epsilon", "0.25", "--value", "-", value="0.5\n")
    ledger.ask("small", "value:share", "--epsilon", "2", "--value", "-", value="0.5\n", expect=(4,))
    ledger.ask("clinic", "count", "--epsilon", "1", "--key", "count 1", expect=(4,))
    return ledger


def discrete(folder):
    """Discrete noise under budgets of epsilon and delta, blocks of a column's values, both relations."""
    ledger = Ledger(folder, EVERYTHING + "    budget: {epsilon: 1000, delta: 0.5}\n"
                    "    release: {default: {mechanism: discrete_laplace}}\n")
    statistics = ("count", "units", "sum:age", "sum:cost", "mean:age", "mean:cost", "variance:cost")
    for mechanism in ("discrete_laplace", "discrete_gaussian", "gaussian, grid: 1/64"):
        text = EVERYTHING + "    budget: {epsilon: 1000, delta: 0.5}\n" + (
            f"    release: {{default: {{mechanism: {mechanism}}}}}\n    mean_split: 2/3\n")
        ledger.apply(text)
        delta = () if "laplace" in mechanism else ("--delta", "1e-6")
        for statistic in statistics:
            if "variance" not in statistic:
                ledger.ask("clinic", statistic, "--epsilon", "0.7", *delta)
            ledger.ask("clinic", statistic, "--by", "ward", "--epsilon", "1/3", *delta)
        ledger.ask("clinic", "value:score", "--epsilon", "0.5", *delta, "--value", "-", value="nan\n")
    for epsilon, delta in (("0.001", "1e-17"), ("30", "0.01"), ("200", "1e-9")):
        for statistic in ("count", "sum:cost"):
            ledger.ask("clinic", statistic, "--epsilon", epsilon, "--delta", delta)
    return ledger


def blocks(folder):
    """Blocks of months and of values, limits of principals, roles and purposes; accounts in every measure."""
    ledger = Ledger(folder, policy("blocks"))
    conditions = ("seen >= 2024-02-01 and seen < 2024-03-01", "seen in (2024-01-31, 2024-06-01)",
                  "seen > 2024-05-03 and age < 70", "seen != 2024-02-03 and ward = 'A'")
    for number, condition in enumerate(conditions):
        for statistic, *delta in (("count",), ("units", "--delta", "1e-7"), ("mean:cost",), ("sum:age",)):
            ledger.ask("clinic", statistic, "--where", condition, "--epsilon", "0.1", *delta, "--purpose", "report")
            ledger.ask("clinic", statistic, "--by", "ward", "--epsilon", "0.2", *delta, "--purpose", "audit", by="bob")
        ledger.ask("wards", "count", "--by", "ward", "--epsilon", "0.3", "--purpose", "audit",
                   *(("--where", "ward in ('A', 'C')") if number % 2 else ()))
        ledger.ask("wards", "sum:cost", "--where", "ward != 'B'", "--epsilon", "0.3", "--purpose", "report")
    for condition in ("seen < 2024-02-01 or seen between 2024-04-30 and 2024-05-01 and ward is missing",
                      "not (seen > 2024-03-05 or age not in (30, 31) and seen != 2024-01-01)", "seen is not missing",
                      "seen is missing and ward = 'A'", "(ward = 'A' or age >= 60) and (seen = 2024-02-02 or age < 9)"):
        ledger.ask("clinic", "count", "--where", condition, "--epsilon", "0.1", "--purpose", "report", "--key", condition)
    for condition in ("ward = 'A' and age > 20 or ward = 'C'", "not (ward in ('A', 'B') or ward is missing)"):
        ledger.ask("wards", "units", "--where", condition, "--epsilon", "0.3", "--purpose", "audit")
    ledger.ask("clinic", "count", "--epsilon", "10", "--purpose", "audit", by="bob", expect=(4,))
    ledger.ask("clinic", "count", "--epsilon", "0.1", "--purpose", "report", by="eve", expect=(4,))
    for condition in ("age > 3", "ward = 'A' or age is missing"):
        ledger.ask("clinic", "count", "--by", "emergency", "--where", condition, "--epsilon", "0.1", "--purpose", "audit",
                   expect=(4,))
    return ledger


def concentrated(folder):
    """Budgets of rho and of Renyi divergences, asked in epsilon and in rho."""
    ledger = Ledger(folder, policy("concentrated") % "zcdp, epsilon: 30, delta: 1e-6" + """  cohort:
""" + DATASET + """
    budget: {measure: rdp, orders: {2: 50, 5/2: 60, 64: 400}}
    release: {default: {mechanism: discrete_laplace}, sum: {mechanism: gaussian}, units: {mechanism: discrete_gaussian}}
""")
    for dataset in ("clinic", "cohort"):
        for by in ((), ("--by", "ward")):
            for statistic, *asked in (("count", "--epsilon", "0.1"), ("mean:age", "--epsilon", "0.3"),
                                      ("sum:cost", "--epsilon", "0.2", "--delta", "1e-7"),
                                      ("sum:cost", "--rho", "1/100"), ("units", "--rho", "1/300"),
                                      ("units", "--epsilon", "0.5", "--delta", "1e-6")):
                ledger.ask(dataset, statistic, *by, *asked)
    ledger.ask("cohort", "units", "--epsilon", "0.5", "--delta", "0.5", expect=(4,))
    return ledger


WAITING = policy("waiting")


def waiting(folder):
    """Requests that wait, and everything that becomes of them but for deadlines."""
    ledger = Ledger(folder, WAITING)

    def pending(epsilon, statistic="count", verb="release", *words):
        ledger.ask("clinic", statistic, "--epsilon", epsilon, *words, verb=verb, expect=(5,), by="ann",
                   value="1\n" if "--value" in words else None)
        return ledger.run("pending", "--quiet").split()[-1]

    def act(verb, name, by, *words, expect=(0,), value=None):
        return ledger.run(verb, name, "--as", by, *words, "--quiet", expect=expect, value=value)

    name = pending("0.75")
    act("approve", name, "carol")
    act("approve", name, "bob")
    act("commit", name, "ann")
    name = pending("0.6")
    act("approve", name, "dave")
    act("reject", name, "carol", "--why", "ask for fewer wards")
    name = pending("0.7", "value:score", "release", "--value", "-")
    act("approve", name, "dave")
    act("approve", name, "carol")
    act("commit", name, "ann", "--value", "-", value="3\n")
    act("cancel", pending("0.8"), "ann")
    act("cancel", pending("0.8"), "carol")
    reserved = ledger.ask("clinic", "mean:cost", "--epsilon", "0.25", "--key", "monthly", verb="reserve")
    act("commit", reserved, "ann")
    act("cancel", ledger.ask("clinic", "count", "--epsilon", "0.1", verb="reserve"), "ann")
    for holding in ((), ("--data-token",)):
        reserved = ledger.ask("clinic", "value:score", "--epsilon", "0.2", *holding, verb="reserve")
        act("cancel", reserved, "bob", expect=(0, 4))
        reserved = ledger.ask("clinic", "value:score", "--epsilon", "0.2", *holding, verb="reserve")
        if holding:
            act("token", reserved, "ann")
        act("commit", reserved, "ann", "--value", "-", value="3\n")
    reserved = ledger.ask("clinic", "value:score", "--epsilon", "0.2", "--data-token", verb="reserve")
    act("token", reserved, "ann")
    act("cancel", reserved, "ann")
    later = [pending("0.9"), pending("0.95", "sum:cost"), pending("0.97")]
    act("approve", later[0], "carol")
    act("approve", later[1], "carol")
    kept = [ledger.ask("clinic", "count", "--epsilon", "0.3", verb="reserve", by=by) for by in ("ann", "bob")]
    # One approval is enough from here on, bob may not ask, and sums are released otherwise.
    ledger.apply(WAITING.replace("required: 2", "required: 1").replace("bob: {roles: [research, custodian]}",
                 "bobby: {roles: [custodian]}") + "    release: {sum: {mechanism: discrete_laplace}}\n")
    act("commit", later[0], "ann")
    act("commit", later[1], "ann", expect=(4,))
    act("approve", later[2], "bobby")
    act("commit", later[2], "ann")
    act("commit", kept[0], "ann")
    act("commit", kept[1], "bob", expect=(3, 4))
    act("cancel", kept[1], "carol", expect=(0, 4))
    # Carol hands in the scores, and finds that a version forbids them.
    supplied = WAITING.replace("sensitivity: 1/3}", "sensitivity: 1/3, supplied_by: [carol, dave]}")
    ledger.apply(supplied)
    for holding in ((), ("--data-token",)):
        reserved = ledger.ask("clinic", "value:score", "--epsilon", "0.2", *holding, verb="reserve")
        act("commit", reserved, "ann", "--value", "-", value="3\n", expect=(3,))
        if holding:
            act("token", reserved, "dave")
        act("commit", reserved, "carol", "--value", "-", value="3\n")
    ledger.ask("clinic", "value:score", "--epsilon", "0.2", "--value", "-", value="3\n", expect=(3,))
    ledger.ask("clinic", "value:score", "--epsilon", "0.2", "--value", "-", value="3\n", by="carol")
    reserved = ledger.ask("clinic", "value:score", "--epsilon", "0.2", verb="reserve")
    ledger.apply(supplied + "    forbid: [{statistics: [value]}]\n")
    act("commit", reserved, "carol", "--value", "-", value="3\n", expect=(4,))
    return ledger


WINDOWED = WAITING.replace("required: 2", "required: 1").replace("{epsilon: 0.5}", "{epsilon: 0.5, within: 30d}")


def windowed(folder):
    """What an asker lost before decides what waits: charges, reservations, approvals, under two versions."""
    ledger = Ledger(folder, WINDOWED)
    ledger.ask("clinic", "count", "--epsilon", "0.3")
    ledger.ask("clinic", "sum:cost", "--epsilon", "0.3", expect=(5,))
    waiting = ledger.run("pending", "--quiet").split()[-1]
    ledger.run("approve", waiting, "--as", "carol")
    ledger.run("commit", waiting, "--as", "ann")
    ledger.run("cancel", ledger.ask("clinic", "units", "--epsilon", "0.4", verb="reserve", by="bob"), "--as", "bob")
    ledger.ask("clinic", "count", "--epsilon", "0.3", by="bob", verb="release")
    ledger.ask("clinic", "value:score", "--epsilon", "0.2", verb="reserve", by="bob")
    ledger.ask("clinic", "count", "--epsilon", "0.1", by="bob", expect=(5,))
    waiting = ledger.run("pending", "--quiet").split()[-1]
    ledger.apply(WINDOWED.replace("{epsilon: 0.5,", "{epsilon: 2,"))
    ledger.run("commit", waiting, "--as", "bob")
    ledger.ask("clinic", "count", "--epsilon", "1.4")
    ledger.ask("clinic", "count", "--epsilon", "1/1000000000000", expect=(5,))
    return ledger


def versions(folder):
    """Limits raised, lowered, removed and declared again; datasets, blocks and periods that come; a source that moves."""
    text = """version: 1
datasets:
  clinic:
""" + DATASET
    limits = "    limits: [{each: principal, epsilon: %s}]\n"
    ledger = Ledger(folder, text + "    budget: {epsilon: 9}\n" + limits % 3)
    ledger.ask("clinic", "count", "--epsilon", "1")
    ledger.ask("clinic", "count", "--epsilon", "1", by="eve")
    ledger.apply(text + "    budget: {epsilon: 7}\n" + limits % 4)
    ledger.ask("clinic", "count", "--epsilon", "1")
    ledger.apply(text + "    budget: {epsilon: 7}\n")
    ledger.ask("clinic", "count", "--epsilon", "1")
    ledger.ask("clinic", "count", "--epsilon", "0.5", by="eve")
    (ledger.folder / "moved.csv").write_text(visits())
    ledger.run("relocate", "clinic", "--source", "moved.csv", "--why", "a new disk", "--as", "curator")
    renewed = """  daily:
""" + DATASET + "    budget: {epsilon: %s, renew: day}\n    lifetime: {epsilon: 6}\n"
    ledger.apply(text + "    budget: {epsilon: 7}\n" + limits % 2 + renewed % 1)
    ledger.ask("clinic", "count", "--epsilon", "0.5", by="eve")
    ledger.ask("clinic", "count", "--epsilon", "0.5", expect=(4,))
    ledger.ask("daily", "count", "--epsilon", "0.5")
    ledger.apply(text + "    budget: {epsilon: 7}\n" + limits % 2 + renewed % 2)
    ledger.ask("daily", "count", "--epsilon", "1.25")
    ledger.apply(text + "    budget: {epsilon: 7}\n" + renewed % 3)
    return ledger


EXACT = policy("exact")


def exact(folder):
    """A public number of rows, with and without conditions and groups."""
    ledger = Ledger(folder, EXACT % "snapping")
    for mechanism, *delta in (("snapping",), ("discrete_laplace",), ("gaussian", "--delta", "1e-5")):
        ledger.apply(EXACT % mechanism)
        for statistic in ("sum:age", "mean:age", "variance:age", "mean:cost", "variance:cost"):
            ledger.ask("clinic", statistic, "--epsilon", "0.5", *delta)
            ledger.ask("clinic", statistic, "--where", "ward = 'B'", "--epsilon", "0.5", *delta)
        ledger.ask("clinic", "mean:age", "--by", "ward", "--epsilon", "0.5", *delta)
        ledger.ask("clinic", "units", "--by", "emergency", "--epsilon", "0.5", *delta)
    return ledger


def recovered(folder):
    """Every way in which a ledger is put right: after poison, from a replica, whole or not, from backups, and moved."""
    text = "version: 1\ndatasets:\n  clinic:\n" + DATASET + "    budget: {epsilon: 9}\n"
    replica = pathlib.Path(folder) / "replica"
    ledger = Ledger(folder, text + f"replica: {{file: {replica}}}\n")
    asked = iter(range(100))

    def ask():
        return ledger.ask("clinic", "count", "--epsilon", "0.1", "--key", str(next(asked)))

    def lose():
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(f"{ledger.path}{suffix}").unlink(missing_ok=True)

    def recover(*words):
        ledger.run("recover", "--from", str(replica), "--why", "the disk failed", "--as", "cleo", *words)

    ask()
    pathlib.Path(f"{ledger.path}.poisoned").write_text('{"reason": "fsync failed", "boot_id": "an earlier boot"}')
    ledger.run("recover", "--as", "cleo")
    ask()
    earlier = ledger.path.read_bytes()
    ask()
    lose()
    ledger.path.write_bytes(earlier)
    ledger.path.chmod(0o600)
    recover()
    ask()
    lose()
    recover()
    ask()
    kept = replica.stat().st_size
    ask()
    ask()
    lose()
    torn = bytearray(replica.read_bytes())
    torn[kept + 20] ^= 1
    replica.write_bytes(torn)
    recover("--accept-truncated", "--accept-rollback")
    ask()
    ledger.run("backup", "monday")
    ask()
    lose()
    ledger.run("restore", "monday", "--as", "cleo")
    ask()
    ledger.run("backup", "tuesday")
    ask()
    lose()
    replica.unlink()
    ledger.run("restore", "tuesday", "--accept-rollback", "--why", "both disks failed", "--as", "cleo")
    ledger.apply(text, "the replica is gone")
    ask()
    ledger.run("seal", "--why", "another machine", "--as", "cleo")
    ledger.run("backup", "moved")
    lose()
    ledger.run("restore", "moved", "--sealed", "--as", "dora")
    ask()
    return ledger


def identified(folder):
    """Tokens and uids that come, end and are revoked; duties, and requests in between."""
    ledger = Ledger(folder, WAITING.replace("dave: {}", "dave: {duties: [curate, audit]}"))

    def credentials(*words):
        said = ledger.run("credentials", *words, "--why", "the board agreed", "--as", "curator", "--json")
        return json.loads(said)["id"]

    token = credentials("new", "ann", "--until", "2999-01-31")
    ledger.ask("clinic", "count", "--epsilon", "0.1")
    credentials("add", "dave", "--uid", "1000", "--id", "u1")
    credentials("add", "carol", "--uid", "4294967294")
    credentials("revoke", token)
    credentials("revoke", "u1")
    ledger.ask("clinic", "count", "--epsilon", "0.1")
    credentials("add", "ann", "--uid", "1000")
    credentials("new", "ann", "--id", "t-2")
    return ledger


def derived(folder):
    """Columns that are functions of others, by bins, periods and maps: grouped by, compared, allowed and forbidden."""
    columns = DATASET.replace("    queries:", """      band: {from: age, bins: [0, 18, 65, 111]}
      month: {from: seen, per: month, first: 2024-01, last: 2024-06}
      wing: {from: ward, map: {A: east, B: east}, other: west}
    queries:""")
    text = "version: 1\ndatasets:\n  clinic:\n" + columns + """    budget: {epsilon: 100}
    lifetime: {epsilon: 500}
    blocks: {by: seen, per: quarter, from: 2024-Q1, to: 2024-Q3}
    release: {default: {mechanism: discrete_laplace}}
    allow: {by: [age, wing], where: [band, ward, seen]}
    forbid: [{by: [age], where: [ward]}]
"""
    ledger = Ledger(folder, text)
    for by in ("band", "wing"):
        ledger.ask("clinic", "mean:cost", "--by", by, "--epsilon", "0.5")
        ledger.ask("clinic", "count", "--by", by, "--where", "seen < 2024-02-01 and not month = '2024-03'",
                   "--epsilon", "0.3")
    ledger.ask("clinic", "units", "--where", "month in ('2024-01', '2024-05') or band is missing", "--epsilon", "1")
    ledger.ask("clinic", "count", "--by", "wing", "--where", "wing != 'west'", "--epsilon", "1")
    for asked in (("--by", "ward"), ("--by", "month"), ("--where", "age > 3"),
                  ("--by", "band", "--where", "wing = 'east'")):
        ledger.ask("clinic", "count", *asked, "--epsilon", "0.1", expect=(4,))
    ledger.run("audit", "verify")
    return ledger


def labelled(folder):
    """Blocks of the labels of derived columns, by bins, periods and maps, asked about by their columns and by others."""
    columns = DATASET.replace("    queries:", """      band: {from: age, bins: [0, 18, 65, 111]}
      price: {from: cost, bins: [-10, 0, 99.5, 5000]}
      month: {from: seen, per: month, first: 2024-01, last: 2024-06}
      wing: {from: ward, map: {A: east, B: east}, other: west}
    queries:""")
    datasets = {"bands": ("band", ("age >= 65", "age between 17 and 18", "age < 0 or age > 110", "age = 3 or ward = 'A'",
                                   "band != '[0,18)' and age < 65", "band = '[0,18)' or age is missing",
                                   "(age < 18 or age > 64.5) and cost > 3", "wing = 'east'", "")),
                "prices": ("price", ("cost < 0", "cost >= 99.49", "cost > 99.49", "cost in (-5, 99.505)", "price != '[-10,0)'",
                                     "cost is not missing and age > 7")),
                "months": ("month", ("seen between 2024-02-01 and 2024-03-01", "seen < 2024-02-01 or seen >= 2024-06-30",
                                     "month in ('2024-01', '2024-05') and seen > 2024-04-30", "seen is missing")),
                "wings": ("wing", ("ward = 'A'", "ward != 'A'", "ward in ('A', 'B')", "ward not in ('A', 'B')",
                                   "wing = 'west' or ward = 'B'", "ward = 'B' and age > 3"))}
    text = "version: 1\ndatasets:\n" + "".join(f"  {name}:\n" + columns + f"""    budget: {{epsilon: 100}}
    lifetime: {{measure: zcdp, rho: 500}}
    blocks: {{by: {by}}}
    release: {{default: {{mechanism: discrete_laplace}}}}
""" for name, (by, _) in datasets.items())
    ledger = Ledger(folder, text)
    for name, (_, wheres) in datasets.items():
        for where in wheres:
            for statistic in ("sum:cost", "units"):
                ledger.ask(name, statistic, *(("--where", where) if where else ()), "--epsilon", "0.3")
    ledger.ask("bands", "mean:age", "--by", "ward", "--epsilon", "200", expect=(4,))
    ledger.apply(text.replace("last: 2024-06", "last: 2024-12"))
    ledger.ask("months", "count", "--where", "seen > 2024-06-15", "--epsilon", "0.3")
    ledger.run("audit", "verify")
    return ledger


QUANTILES = DATASET.replace("[0, 111]}", "[0, 111], step: 5}") + """    allow: {statistics: [count, quantile]}
"""


def quantiles(folder):
    """Quantiles of steps and of single units, of cells and several at once, under budgets of every measure."""
    blocked = QUANTILES.replace("ward: {type: string, values: [A, B, C]}",
                                "ward: {type: string, values: [A, B, C]}\n      seven: {type: int, column: age, "
                                "values: [60, 7, 19]}")
    blocked = blocked.replace("seen: {type: date}", "seen: {type: date, bounds: [1969-12-30, 2024-06-02]}\n      "
                              "holiday: {type: date, column: seen, values: [2024-06-07, 0001-01-01, 2024-01-06]}")
    text = "version: 1\ndatasets:\n  clinic:\n" + QUANTILES + "    budget: {epsilon: 1000}\n  swapped:\n" + (
        blocked.replace("add-remove", "replace-one") + "    budget: {epsilon: 100, delta: 1e-3}\n"
        "    release: {quantile: {mechanism: exponential}}\n  cohort:\n" + blocked +
        "    budget: {measure: zcdp, rho: 50}\n    lifetime: {measure: rdp, orders: {2: 70, 5/2: 80, 64: 900}}\n"
        "    blocks: {by: seen, per: month, from: 2024-01, to: 2024-06}\n")
    ledger = Ledger(folder, text)
    for dataset in ("clinic", "swapped", "cohort"):
        for statistic in ("median:age", "quantile:cost:0.9", "quantiles:age:0.1,1/3,0.5,0.9", "quantiles:cost:0.2,0.4"):
            ledger.ask(dataset, statistic, "--epsilon", "0.7")
            ledger.ask(dataset, statistic, "--where", "age < 60", "--epsilon", "1/3")
        ledger.ask(dataset, "quantile:age:0.8", "--by", "ward", "--epsilon", "9")
        ledger.ask(dataset, "quantiles:age:0.5,0.9", "--by", "ward", "--epsilon", "3")
        ledger.ask(dataset, "quantiles:age:0.1,0.3,0.8,0.9", "--by", "emergency,ward", "--epsilon", "3")
        ledger.ask(dataset, "sum:age", "--epsilon", "1", expect=(4,))
    for dataset in ("swapped", "cohort"):
        ledger.ask(dataset, "quantiles:seven:0.2,0.7", "--epsilon", "1")
        ledger.ask(dataset, "median:seven", "--by", "emergency", "--epsilon", "1")
    ledger.ask("cohort", "median:age", "--where", "seen between 2024-02-01 and 2024-02-20", "--epsilon", "1")
    for asked in (("median:seen",), ("quantiles:seen:0.1,0.5,0.9",), ("quantile:seen:0.9", "--by", "ward"),
                  ("quantile:seen:1/3", "--where", "seen >= 2024-06-01"), ("median:holiday",)):
        ledger.ask("cohort", *asked, "--epsilon", "2")
    ledger.ask("clinic", "median:seen", "--epsilon", "1", expect=(3,))  # it has no bounds there
    ledger.apply(text.replace("    allow: {statistics: [count, quantile]}\n", "", 1))
    ledger.ask("clinic", "median:age", "--epsilon", "1", expect=(4,))
    return ledger


def tables(folder):
    """Answers by two and three columns, derived ones among them, under budgets of two measures."""
    columns = DATASET.replace("    queries:", """      band: {from: age, bins: [0, 18, 65, 111]}
    queries:""")
    text = "version: 1\ndatasets:\n  clinic:\n" + columns + """    budget: {epsilon: 100}
    allow: {statistics: [count, units, sum, mean, variance, quantile], by: [age, ward, emergency]}
    forbid: [{by: [emergency], where: [seen]}]
  swapped:
""" + columns.replace("add-remove", "replace-one") + """    budget: {epsilon: 100, delta: 1e-3}
    release: {default: {mechanism: discrete_gaussian}}
"""
    ledger = Ledger(folder, text)
    for dataset, cost in (("clinic", ("--epsilon", "0.5")), ("swapped", ("--epsilon", "0.5", "--delta", "1e-6"))):
        for statistic in ("count", "units", "sum:cost", "mean:cost", "variance:age"):
            ledger.ask(dataset, statistic, "--by", "ward,emergency", *cost)
        ledger.ask(dataset, "count", "--by", "band,ward,emergency", "--where", "age < 90", *cost)
    ledger.ask("clinic", "quantile:age:0.3", "--by", "emergency,band", "--epsilon", "1")
    for statistic in ("count", "mean:cost"):
        ledger.ask("clinic", statistic, "--by", "ward", "--suppress-below", "45", "--epsilon", "1")
    ledger.run("audit", "verify")
    return ledger


COUNTED = MEMBERS["counted"]
COUNTING = "    allow: {statistics: [count, count_of, proportion, distinct]}\n"


def counted(folder):
    """Counts of cells, proportions and distinct values, of declared and derived columns, by every mechanism."""
    text = "version: 1\ndatasets:\n  clinic:\n" + COUNTED + COUNTING + """    budget: {epsilon: 1000, delta: 1e-2}
    forbid: [{columns: [age], statistics: [distinct]}]
  swapped:
""" + COUNTED.replace("add-remove", "replace-one") + COUNTING + """    budget: {measure: zcdp, rho: 90}
    release: {default: {mechanism: discrete_gaussian}, proportion: {mechanism: discrete_laplace}}
  cohort:
""" + COUNTED + COUNTING + """    budget: {epsilon: 100}
    lifetime: {epsilon: 500}
    blocks: {by: seen, per: month, from: 2024-01, to: 2024-06}
    release: {default: {mechanism: discrete_laplace}, count_of: {mechanism: snapping, arithmetic: exact}}
"""
    ledger = Ledger(folder, text)
    for dataset in ("clinic", "swapped", "cohort"):
        for statistic in ("count:age", "count:band", "proportion:ward:A", "proportion:band:[18,65)", "distinct:ward",
                          "distinct:emergency"):
            delta = ("--delta", "1e-7") if dataset == "swapped" and "proportion" not in statistic else ()
            ledger.ask(dataset, statistic, "--epsilon", "0.7", *delta)
            ledger.ask(dataset, statistic, "--by", "ward", "--epsilon", "1/3", *delta)
            ledger.ask(dataset, statistic, "--where", "seen < 2024-02-01 and age > 3", "--epsilon", "0.4", *delta)
            ledger.ask(dataset, statistic, "--by", "band,emergency", "--epsilon", "0.6", *delta)
    ledger.ask("clinic", "count:cost", "--epsilon", "1", expect=(2,))
    ledger.ask("clinic", "distinct:band", "--epsilon", "1", expect=(4,))
    ledger.ask("clinic", "sum:age", "--epsilon", "1", expect=(4,))
    ledger.run("audit", "verify")
    ledger.apply(text.replace("count_of, ", "", 1))
    ledger.ask("clinic", "count:age", "--epsilon", "1", expect=(4,))
    ledger.ask("clinic", "distinct:ward", "--epsilon", "1")
    ledger.apply(text.replace(COUNTING, "", 1))
    ledger.ask("clinic", "distinct:ward", "--epsilon", "1", expect=(4,))
    return ledger


DOSED = DATASET.replace("    queries:", """      dose: {type: double, column: cost, bounds: [0.5, 4000]}
    queries:""")
DIVIDING = "    allow: {statistics: [sum, mean, variance, private_variance, ratio]}\n"
KNOWN = DOSED.replace("add-remove", "replace-one").replace("max: 1000", "exact: 300").replace(
    "[0, 111]", "[0, 111], missing: 40").replace("[0.5, 4000]", "[0.5, 4000], missing: 1") + DIVIDING.replace(
        "private_variance, ", "")


def ratios(folder):
    """Ratios, and variances over a private number of rows, of every type of column and by every mechanism."""
    text = "version: 1\ndatasets:\n  clinic:\n" + DOSED + DIVIDING + """    budget: {epsilon: 1000, delta: 1e-2}
    mean_split: 1/4
    forbid: [{columns: [dose], statistics: [ratio], by: [ward]}, {statistics: [variance], by: [emergency]}]
  swapped:
""" + DOSED.replace("add-remove", "replace-one") + DIVIDING + """    budget: {measure: zcdp, rho: 90}
    release: {default: {mechanism: discrete_gaussian}, ratio: {mechanism: discrete_laplace}}
  cohort:
""" + DOSED + DIVIDING + """    budget: {epsilon: 100}
    lifetime: {epsilon: 500}
    blocks: {by: seen, per: month, from: 2024-01, to: 2024-06}
    release: {ratio: {arithmetic: exact}, variance: {mechanism: discrete_laplace}}
  known:
""" + KNOWN + """    budget: {epsilon: 50}
"""
    ledger = Ledger(folder, text)
    for dataset in ("clinic", "swapped", "cohort", "known"):
        for statistic in ("ratio:cost,age", "ratio:age,dose", "ratio:dose,age", "variance:age", "variance:dose"):
            delta = ("--delta", "1e-7") if dataset == "swapped" and "ratio" not in statistic else ()
            refused = (4,) if dataset == "clinic" and "dose" in statistic and "ratio" in statistic else (0,)
            if (dataset, statistic) != ("known", "variance:dose"):
                ledger.ask(dataset, statistic, "--epsilon", "0.7", *delta)
            ledger.ask(dataset, statistic, "--by", "ward", "--epsilon", "1/3", *delta, expect=refused)
            ledger.ask(dataset, statistic, "--where", "seen < 2024-02-01 and age > 3", "--epsilon", "0.4", *delta)
    for statistic in ("sum:dose", "mean:dose"):
        ledger.ask("clinic", statistic, "--epsilon", "0.5")
    ledger.ask("clinic", "ratio:age,cost", "--epsilon", "1", expect=(3,))
    ledger.ask("clinic", "ratio:cost,age", "--by", "emergency,ward", "--epsilon", "1")
    ledger.ask("clinic", "variance:age", "--by", "emergency", "--epsilon", "1", expect=(4,))
    ledger.run("audit", "verify")
    ledger.apply(text.replace("private_variance, ", "", 1))
    ledger.ask("clinic", "variance:age", "--epsilon", "1", expect=(4,))
    ledger.ask("clinic", "variance:age", "--by", "ward", "--epsilon", "1")
    ledger.apply(text.replace(DIVIDING, "", 1))
    ledger.ask("clinic", "ratio:cost,age", "--epsilon", "1", expect=(4,))
    return ledger


def batches(folder):
    """Batches of every kind of row, under budgets of several measures and by blocks; refused, held and approved ones."""
    text = "version: 1\ndatasets:\n  clinic:\n" + COUNTED.replace("[0, 111]}", "[0, 111], step: 5}") + """    allow:
      statistics: [count, units, sum, mean, variance, quantile, count_of, proportion, distinct, ratio]
    budget: {epsilon: 100, delta: 1e-3}
    per_release: {epsilon: 20}
    approvals: {required: 1, by: {principals: [bob]}, above: {epsilon: 5}}
    release: {units: {mechanism: discrete_gaussian}}
  swapped:
""" + COUNTED.replace("add-remove", "replace-one") + """    budget: {measure: zcdp, rho: 90}
    release: {default: {mechanism: discrete_gaussian}}
  cohort:
""" + COUNTED + """    budget: {measure: rdp, orders: {2: 70, 5/2: 80, 64: 900}}
    lifetime: {epsilon: 500}
    blocks: {by: seen, per: month, from: 2024-01, to: 2024-06}
principals: {ann: {}, bob: {}}
"""
    ledger = Ledger(folder, text)

    def ask(dataset, rows, *words, verb="release", expect=(0,)):
        (ledger.folder / "batch.csv").write_text("statistic,by,where,suppress_below,epsilon,delta,rho\n" + rows)
        return ledger.run(verb, dataset, "--batch", "batch.csv", "--as", "ann", "--quiet", *words, expect=expect).strip()

    every = ("count,,,,0.5,,\nmean:cost,ward,,,1/3,,\nvariance:age,\"ward,emergency\",,45,0.25,,\nunits,,,,0.5,1e-7,\n"
             "quantile:age:0.2,,,,0.5,,\n"
             "\"quantiles:age:0.2,0.7\",,,,0.25,,\n\"quantiles:age:0.2,0.7\",ward,,,0.25,,\n"
             "proportion:ward:A,emergency,,,0.5,,\ndistinct:ward,,age < 90,,0.5,,\n"
             "count:band,ward,,,0.5,,\n\"ratio:cost,age\",ward,,,0.5,,\n")
    ask("clinic", every, "--key", "k")
    ask("clinic", every, "--key", "k")
    ask("clinic", "count,,,,0.5,,\nvalue:score,,,,0.5,,\n", expect=(2,))
    ask("clinic", "count,,,,25,,\ncount,,,,0.5,,\n", expect=(4,))
    waiting = ask("clinic", "count,,,,3,,\nsum:cost,,,,3,,\n", expect=(5,))
    ledger.run("approve", waiting, "--as", "bob")
    ledger.run("commit", waiting, "--as", "ann")
    held = ask("clinic", "count,,,,1,,\ncount,ward,,,1,,\n", verb="reserve")
    ledger.run("cancel", held, "--as", "ann")
    ask("swapped", "count,,,,,,0.1\nsum:age,ward,,,,,0.2\n")
    ask("cohort", "count,,seen < 2024-02-01,,0.5,,\nsum:cost,,seen between 2024-01-10 and 2024-03-05,,0.25,,\n"
        "count,ward,,,0.125,,\n")
    ask("cohort", "count,,seen < 2024-02-01,,0.5,,\ncount,,seen > 2024-05-01,,0.5,,\n")
    ledger.run("audit", "verify")
    return ledger


def composed(folder):
    """Batches that are charged as one: by a distribution of losses, by zCDP and by the sum; in blocks, beside accounts of
    other measures; held, refused and approved."""
    text = "version: 1\ndatasets:\n  clinic:\n" + COUNTED.replace("[0, 111]}", "[0, 111], step: 5}") + """    allow:
      statistics: [count, units, sum, mean, quantile, proportion]
    budget: {epsilon: 100, delta: 1e-3}
    per_release: {epsilon: 3, delta: 1e-5}
    approvals: {required: 1, by: {principals: [bob]}, above: {epsilon: 1}}
    release: {default: {mechanism: discrete_laplace}, units: {mechanism: discrete_gaussian}}
  mixed:
""" + COUNTED + """    budget: {epsilon: 50, delta: 1e-3}
    per_release: {epsilon: 3}
    limits: [{principal: ann, measure: pure, epsilon: 40}, {role: asking, measure: zcdp, rho: 2}]
  cohort:
""" + COUNTED + """    budget: {epsilon: 70, delta: 1e-3}
    lifetime: {epsilon: 500, delta: 1e-2}
    blocks: {by: seen, per: month, from: 2024-01, to: 2024-06}
principals: {ann: {roles: [asking]}, bob: {}}
"""
    ledger = Ledger(folder, text)

    def ask(dataset, rows, delta, *words, verb="release", expect=(0,)):
        (ledger.folder / "batch.csv").write_text("statistic,by,where,epsilon,delta\n" + rows)
        return ledger.run(verb, dataset, "--batch", "batch.csv", "--delta", delta, "--as", "ann", "--quiet", *words,
                          expect=expect).strip()

    few = "count,,,0.02,\nmean:age,ward,,0.03,\nquantile:age:0.5,,,0.02,\nunits,,,0.05,1e-9\n"
    ask("clinic", few * 10, "1e-6", "--key", "k")
    ask("clinic", few * 10, "1e-6", "--key", "k")
    ask("clinic", few * 10, "2e-6", "--key", "k", expect=(4,))
    ask("clinic", few * 10, "2e-5", expect=(4,))
    # Of so large a scale on so coarse a grid no distribution is looked for.
    ask("clinic", "units,,,0.0006,1e-8\n" * 30, "1e-6")
    ask("clinic", "count,,,0.5,\n", "1e-15")
    ask("clinic", "units,,,0.5,1e-6\n" * 2, "1e-6", expect=(2, 3))
    waiting = ask("clinic", "count,,,0.1,\n" * 40, "1e-6", expect=(5,))
    ledger.run("approve", waiting, "--as", "bob")
    ledger.run("commit", waiting, "--as", "ann")
    held = ask("clinic", few * 5, "1e-6", verb="reserve")
    ledger.run("cancel", held, "--as", "ann")
    ask("mixed", "count,,,0.02,\nsum:cost,ward,,0.01,\n" * 20, "1e-6")
    ask("mixed", "count,,,0.1,\n" * 40, "1e-6", expect=(4,))
    ask("cohort", ("count,,seen < 2024-02-01,0.02,\nsum:cost,,seen between 2024-01-10 and 2024-03-05,0.01,\n"
                   "count,ward,,0.015,\n") * 15, "1e-6")
    ask("cohort", "count,,seen < 2024-02-01,0.5,\ncount,,seen > 2024-05-01,0.25,\n", "1e-15")
    ledger.run("audit", "verify")
    return ledger


def totals(folder):
    """Tables of one to three columns with their totals, consistent ones too, singly and as rows of batches."""
    columns = DATASET.replace("    queries:", """      band: {from: age, bins: [0, 18, 65, 111]}
    queries:""")
    text = "version: 1\ndatasets:\n  clinic:\n" + columns + """    budget: {epsilon: 300}
    allow: {statistics: [count, count_of, units, sum, mean]}
    release: {sum: {mechanism: discrete_laplace}}
  swapped:
""" + columns.replace("add-remove", "replace-one") + """    budget: {epsilon: 100, delta: 1e-3}
    release: {default: {mechanism: discrete_gaussian}}
  concentrated:
""" + columns + """    budget: {measure: zcdp, rho: 50}
    release: {default: {mechanism: discrete_gaussian}}
"""
    ledger = Ledger(folder, text)
    costs = {"clinic": ("--epsilon", "0.7"), "swapped": ("--epsilon", "0.7", "--delta", "1e-6"),
             "concentrated": ("--rho", "1/3")}
    for dataset, cost in costs.items():
        for statistic, by in (("count", "ward,emergency"), ("units", "ward"), ("sum:age", "band,ward,emergency")):
            ledger.ask(dataset, statistic, "--by", by, "--totals", "0.2", *cost)
        ledger.ask(dataset, "sum:age", "--by", "ward,emergency", "--totals", "1/3", "--consistent", *cost)
    # Snapped to less than 1, or not: each margin by itself.
    ledger.ask("clinic", "count", "--by", "ward,emergency", "--totals", "0.01", "--epsilon", "60")
    ledger.ask("clinic", "count:age", "--by", "ward", "--totals", "0.5", "--suppress-below", "30", "--epsilon", "1")
    (ledger.folder / "totals.csv").write_text("statistic,by,totals,consistent,epsilon\ncount,\"ward,emergency\",0.2,,1\n"
                                              "count,ward,0.5,true,1\nmean:cost,ward,,,1\n")
    ledger.run("release", "clinic", "--batch", "totals.csv")
    ledger.run("audit", "verify")
    return ledger


HISTORIES = (snapping, discrete, blocks, concentrated, waiting, windowed, versions, exact, recovered, identified, derived,
             labelled, quantiles, tables, counted, ratios, batches, composed, totals)


def export_of(make):
    with tempfile.TemporaryDirectory(prefix="epsilog-verifier-") as folder:
        return make(folder).export()


if __name__ == "__main__":
    import sys
    for make in HISTORIES:
        pathlib.Path(sys.argv[1], make.__name__ + ".lines").write_text("\n".join(export_of(make)) + "\n")
