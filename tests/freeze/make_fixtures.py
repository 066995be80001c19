"""Ledgers of format 1, one for each kind of record, outcome and mechanism: how those in fixtures/format1 were made.

    make_fixtures.py [NAME…]    makes ledgers that are not there; a frozen one is never made again

EPSILOG_COMMAND is the command, EPSILOG_FIXED_WORLD the module of tests/replay that fixes its clock and its bits.
Policies stand in /tmp/epsilog-format1/NAME, since a ledger records that folder.
"""

import gzip
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "verifier")]

import appending  # noqa: E402
import histories  # noqa: E402

FROZEN = HERE / "fixtures" / "format1"
FOLDER = pathlib.Path("/tmp/epsilog-format1")
START = 1798711200000  # 2026-12-31T10:00:00Z
HOUR = 3600 * 1000

TABLE = histories.DATASET.replace("[0, 111]}", "[0, 111], step: 5}")
ONE = "version: 1\ndatasets:\n  clinic:\n" + TABLE + "    budget: {epsilon: 9}\n"
RULED = """version: 1
principals: {ann: {roles: [research]}, bob: {}, carol: {duties: [curate]}}
datasets:
  clinic:
""" + TABLE + """    budget: {epsilon: 9}
    approvals: {required: 1, by: {principals: [carol]}, above: {epsilon: 1}, expires: 2h}
    reservations: {expires: 1h}
"""


class Ledger(histories.Ledger):
    """A ledger in a world whose clock moves only when it is told to."""

    def __init__(self, name, policy=ONE):
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.clock, self.now = folder / "clock", START
        self.seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
        os.environ.update(EPSILOG_REPLAY_CLOCK=str(self.clock), LD_PRELOAD=os.environ["EPSILOG_FIXED_WORLD"])
        super().__init__(folder, policy)

    def step(self, milliseconds):
        self.now += milliseconds
        self.clock.write_text(str(self.now))

    def run(self, *words, **options):
        self.step(1000)
        self.seed += 1
        os.environ["EPSILOG_REPLAY_SEED"] = str(self.seed)
        return super().run(*words, **options)

    def count(self, *words, **options):
        return self.ask("clinic", "count", "--epsilon", "0.5", *words, **options)

    def waiting(self):
        self.ask("clinic", "count", "--epsilon", "2", expect=(5,))
        return self.run("pending", "--quiet").split()[-1]

    def reserved(self, *words):
        return self.ask("clinic", "value:score", "--epsilon", "0.5", *words, verb="reserve")

    def act(self, verb, request, by="ann", *words, value=None):
        self.run(verb, request, "--as", by, *words, value=value)

    def lose(self):
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def go_back_to(self, earlier):
        self.lose()
        self.path.write_bytes(earlier)
        self.path.chmod(0o600)


def after(*steps, policy=ONE):
    """How a ledger is made: under a policy, by these steps."""
    def story(name):
        ledger = Ledger(name, policy)
        for step in steps:
            step(ledger)
        return ledger
    return story


def released(*asked, budget="budget: {epsilon: 9}", more=""):
    """One release under a policy with these lines."""
    policy = "version: 1\ndatasets:\n  clinic:\n" + TABLE + f"    {budget}\n" + more
    return after(lambda ledger: ledger.ask("clinic", *asked), policy=policy)


def two_versions(changed, first=ONE):
    return after(lambda ledger: ledger.count(), lambda ledger: ledger.apply(changed), policy=first)


def relocated(ledger):
    (ledger.folder / "moved.csv").write_text(histories.visits())
    ledger.run("relocate", "clinic", "--source", "moved.csv", "--why", "a new disk", "--as", "curator")


def clock_events(ledger):
    for ahead in (0, -2 * HOUR, 24 * HOUR):
        os.environ["EPSILOG_REPLAY_AHEAD"] = str(ahead)
        ledger.count()
    ledger.run("clock", "confirm", "--as", "curator")
    del os.environ["EPSILOG_REPLAY_AHEAD"]


def credentials(ledger):
    def changed(*words):
        return json.loads(ledger.run("credentials", *words, "--why", "joined", "--as", "curator", "--json"))
    token = changed("new", "ann", "--until", "2999-01-31")["id"]
    changed("add", "bob", "--uid", "1000", "--id", "u1")
    changed("revoke", token)


def keys(ledger):
    key = ledger.run("key", "generate", "log.key").split()[-1]
    ledger.run("key", "add", key, "--why", "the first key", "--as", "curator")
    ledger.run("key", "retire", key, "--why", "its machine was given away", "--as", "curator")


def poisoned(ledger):
    ledger.count()
    pathlib.Path(f"{ledger.path}.poisoned").write_text('{"reason": "fsync failed", "boot_id": "an earlier boot"}')
    ledger.run("recover", "--as", "cleo")


def replicated(lose, *put_right):
    def story(name):
        ledger = Ledger(name, ONE + f"replica: {{file: {FOLDER / name / 'replica'}}}\n")
        ledger.count()
        lose(ledger)
        ledger.run(*(put_right or ("recover", "--from", "replica", "--why", "the disk failed")), "--as", "cleo")
        ledger.apply(ONE, "the replica is gone")  # a reader of the frozen ledger has none
        return ledger
    return story


def lose_a_release(ledger):
    earlier = ledger.path.read_bytes()
    ledger.count()
    ledger.go_back_to(earlier)


def lose_after_a_backup(ledger):
    ledger.run("backup", "monday")
    ledger.lose()


def rolled_back(ledger):
    lose_a_release(ledger)
    ledger.run("recover", "--accept-rollback", "--why", "both disks failed", "--as", "cleo")


def sealed(ledger):
    ledger.count()
    ledger.run("seal", "--why", "another machine", "--as", "cleo")


def unsealed(ledger):
    ledger.run("backup", "moved")
    ledger.lose()
    ledger.run("restore", "moved", "--sealed", "--as", "dora")


def overdue(ledger):
    ledger.step(3 * HOUR)
    ledger.count(by="bob")


def data_accessed(ledger):
    ledger.act("token", ledger.reserved("--data-token"))


def batch(rows, *words):
    def ask(ledger):
        (ledger.folder / "batch.csv").write_text("statistic,by,epsilon\n" + rows)
        ledger.run("release", "clinic", "--batch", "batch.csv", "--as", "ann", *words)
    return ask


ROWS = 'count,,0.5\nmean:cost,ward,1/3\nmedian:age,,0.5\n"ratio:cost,age",,0.5\n'
EVERY = ("    allow: {statistics: [default, count_of, private_variance, quantile, proportion, distinct, ratio]}\n")
DRAWN_BY = "    release: {default: {mechanism: %s}}\n"
EPSILON_DELTA = "budget: {epsilon: 9, delta: 1e-3}"
MANY = "budget: {epsilon: 99}"

FIXTURES = {
    "kind-ledger": after(),
    "kind-policy": two_versions(ONE + "    purposes: [report]\n"),
    "kind-relocation": after(relocated),
    "kind-account": after(policy=RULED + "    limits: [{each: role, epsilon: 5}, {principal: bob, epsilon: 4}]\n"),
    "kind-limit_change": two_versions(ONE.replace("9}", "7}")),
    "kind-limit_removal": two_versions(ONE, ONE + "    limits: [{each: principal, epsilon: 4}]\n"),
    "kind-clock": after(clock_events),
    "kind-credential": after(credentials, policy=RULED),
    "kind-key": after(keys),
    "kind-feature": after(lambda ledger: ledger.count("--key", "monday"),
                          lambda ledger: ledger.count(by="eve", expect=(4,)), relocated, credentials, policy=RULED),
    "kind-recovery-poisoned": after(poisoned),
    "kind-recovery-behind_replica": replicated(lose_a_release),
    "kind-recovery-rebuilt": replicated(Ledger.lose),
    "kind-recovery-restored": replicated(lose_after_a_backup, "restore", "monday"),
    "kind-recovery-rolled_back": after(rolled_back),
    "kind-sealed": after(sealed),
    "kind-unsealed": after(sealed, unsealed),
    "outcome-granted": released("mean:cost", "--epsilon", "0.5", "--key", "monday", "--by", "ward", "--where",
                                "age > 20"),
    "outcome-refused": after(lambda ledger: ledger.ask("clinic", "count", "--epsilon", "10", expect=(4,)),
                             lambda ledger: ledger.count(by="eve", expect=(4,)),
                             policy=RULED.replace("above: {epsilon: 1}", "above: {epsilon: 50}")),
    "outcome-reserved": after(Ledger.reserved, policy=RULED),
    "outcome-pending": after(Ledger.waiting, policy=RULED),
    "outcome-approved": after(lambda ledger: ledger.act("approve", ledger.waiting(), "carol", "--why", "needed"),
                              policy=RULED),
    "outcome-rejected": after(lambda ledger: ledger.act("reject", ledger.waiting(), "carol", "--why", "too much"),
                              policy=RULED),
    "outcome-data_accessed": after(data_accessed, policy=RULED),
    "outcome-voided": after(lambda ledger: ledger.act("cancel", ledger.count(verb="reserve")), Ledger.waiting, overdue,
                            policy=RULED),
    "outcome-forfeited": after(data_accessed, overdue, policy=RULED),
    "verb-cancel": after(lambda ledger: ledger.act("cancel", ledger.reserved()), policy=RULED),
    "verb-commit": after(lambda ledger: ledger.act("commit", ledger.reserved(), "ann", "--value", "-", value="3\n"),
                         policy=RULED),
    "verb-read_source": after(lambda ledger: ledger.act("commit", ledger.count(verb="reserve")), policy=RULED),
    "mechanism-snapping": released("sum:cost", "--epsilon", "0.5"),
    "mechanism-snapping_exact": released("sum:cost", "--epsilon", "0.5", more=DRAWN_BY % "snapping, arithmetic: exact"),
    "mechanism-snapping_binary64": released("sum:cost", "--epsilon", "0.5",
                                            more=DRAWN_BY % "snapping, precision: binary64"),
    "mechanism-discrete_laplace": released("sum:cost", "--epsilon", "0.5", more=DRAWN_BY % "discrete_laplace"),
    "mechanism-discrete_gaussian": released("sum:cost", "--epsilon", "0.5", "--delta", "1e-6", budget=EPSILON_DELTA,
                                            more=DRAWN_BY % "discrete_gaussian"),
    "mechanism-gaussian": released("sum:cost", "--epsilon", "0.5", "--delta", "1e-6", budget=EPSILON_DELTA,
                                   more=DRAWN_BY % "gaussian"),
    "mechanism-permute_and_flip": released("median:age", "--epsilon", "0.5", more=EVERY),
    "mechanism-exponential": released("quantiles:age:0.2,0.7", "--epsilon", "0.5",
                                      budget="budget: {measure: zcdp, rho: 9}", more=EVERY),
    "mechanism-batch": after(batch(ROWS), policy=ONE + EVERY),
    "mechanism-composed": after(batch("count,,0.02\n" * 12 + "sum:cost,ward,0.03\n" * 4, "--delta", "1e-6"),
                                policy=ONE.replace("{epsilon: 9}", "{epsilon: 9, delta: 1e-3}") +
                                DRAWN_BY % "discrete_laplace"),
    "post_processing-variance": released("variance:age", "--epsilon", "0.5", more=EVERY),
    "post_processing-proportion": released("proportion:ward:A", "--epsilon", "0.5", more=EVERY),
    "post_processing-ratio": released("ratio:cost,age", "--epsilon", "0.5", more=EVERY),
    "post_processing-rounded": released("count", "--epsilon", "60", budget=MANY),
    "post_processing-totals": released("count", "--by", "ward,emergency", "--totals", "0.2", "--epsilon", "0.5",
                                       more=DRAWN_BY % "discrete_laplace"),
    "post_processing-whole_totals": released("count", "--by", "ward", "--totals", "0.01", "--epsilon", "60",
                                             budget=MANY),
    "post_processing-consistent_totals": released("sum:age", "--by", "ward,emergency", "--totals", "1/3",
                                                  "--consistent", "--epsilon", "0.5",
                                                  more=DRAWN_BY % "discrete_laplace"),
    "measure-rho": released("count", "--rho", "1/100", budget="budget: {measure: zcdp, rho: 9}",
                            more=DRAWN_BY % "discrete_gaussian"),
    "measure-renyi": released("count", "--epsilon", "0.5",
                              budget="budget: {measure: rdp, orders: {2: 50, 5/2: 60, 64: 400}}",
                              more=DRAWN_BY % "discrete_laplace"),
    "scope-block": released("count", "--where", "seen < 2024-03-01", "--epsilon", "0.5",
                            more="    blocks: {by: seen, per: month, from: 2024-01, to: 2024-06}\n"
                                 "    lifetime: {epsilon: 20}\n"),
    "scope-period": released("count", "--epsilon", "0.5", budget="budget: {epsilon: 1, renew: day}",
                             more="    lifetime: {epsilon: 6}\n"),
}


def write(name, content):
    with open(FROZEN / name, "xb") as file:  # a frozen file is never written again
        file.write(content)


def make(name):
    if (FROZEN / f"{name}.lines").exists():
        raise SystemExit(f"{name} is frozen: it is never made again")
    ledger = FIXTURES[name](name)
    lines = ledger.run("audit", "export")
    shown = ledger.run("history", "--json") + ledger.run("budget", "--json")
    database = sqlite3.connect(ledger.path)
    if name == "kind-feature":
        last = json.loads(lines.splitlines()[-1])
        lines += appending.announce(database, "of_a_later_version", last["time"]) + "\n"
        database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    write(f"{name}.lines", lines.encode())
    write(f"{name}.shown", shown.encode())
    write(f"{name}.ledger.gz", gzip.compress(ledger.path.read_bytes(), 9, mtime=0))


def make_replica():
    ledger = Ledger("replica", ONE + f"replica: {{file: {FOLDER / 'replica' / 'replica'}}}\n")
    ledger.count()
    write("of_a_ledger.replica", (ledger.folder / "replica").read_bytes())


if __name__ == "__main__":
    if not sys.argv[1:] and not (FROZEN / "of_a_ledger.replica").exists():
        make_replica()
    for fixture in sys.argv[1:] or [name for name in FIXTURES if not (FROZEN / f"{name}.lines").exists()]:
        make(fixture)
