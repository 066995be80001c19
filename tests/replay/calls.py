"""Makes the HTTP calls that are recorded, and runs them against a daemon: scenarios with a ledger and a daemon each."""

import http.client
import json
import random
import socket
import subprocess
import time
from dataclasses import dataclass, field

from ledger_scenarios import HERE, NOBODY, VISITS, rows_of

POLICY = (HERE / "served.yaml").read_text(encoding="utf-8")
LIMITS = "{per_second: 1000000, burst: 1000000, in_flight: 1000, refusals_per_hour: 1000000000}"
PEOPLE = ["alice", "adam", "bob", "carol", "dora", "otto"]
(_, *STATISTICS), (_, *READS) = rows_of("served_words.tsv")


@dataclass
class Served:
    """Calls to one daemon. A step is who calls, the method, the target, and the body as text."""

    name: str
    steps: list = field(default_factory=list)


def body(draw):
    asked = {
        "dataset": "clinic" if draw.random() < 0.95 else "clinik",
        "statistic": draw.choice(STATISTICS),
        "epsilon": draw.choice(
            ["0.1", "0.1", "0.25", "0.6", "0.6", "1/3", "1", "3", 0.1] if draw.random() < 0.95 else ["-1", "x"]
        ),
    }
    if draw.random() < 0.2:
        asked["by"] = draw.choice(["ward", "ward", ["ward"], "age"])
    if draw.random() < 0.25:
        asked["where"] = draw.choice(["age > 65", "ward = 'A'", "age < 30", "ward = A", "cost <"])
    if draw.random() < 0.1:
        asked[draw.choice(["purpose", "delta", "frob", "totals"])] = draw.choice(["x", "1e-6", None, 0.2])
    return asked


def call(draw, number, made):
    """Who, method, target and body of one call; `{id N}` is the decision that the N-th call told of.

    Made are the numbers of earlier calls that asked for something, and who asked: most later calls are about those."""
    who = draw.choice(["alice"] * 8 + PEOPLE + ["nobody"])
    kind = draw.random()
    if kind < 0.3 or number < 4:
        asked = body(draw)
        verb = draw.choice(["releases"] * 3 + ["reservations"] * 3 + ["plans"])
        if verb != "plans" or draw.random() < 0.5:
            asked["key"] = f"k{draw.randrange(30)}"
        if draw.random() < 0.1:
            asked = {
                "dataset": "clinic",
                "key": f"b{number}",
                "rows": [
                    {"statistic": "count", "epsilon": "0.1"},
                    {"statistic": draw.choice(STATISTICS), "epsilon": "0.2"},
                ],
            }
        if verb != "plans":
            made.append((number, who))
        text = json.dumps(asked) if draw.random() < 0.95 else draw.choice(["", "{", "[]", '{"a":1,"a":2}', "nul"])
        return who, "POST", f"/v1/{verb}", text
    about, asker = draw.choice(made) if made else (0, who)
    some = f"{{id {about}}}" if draw.random() < 0.95 else NOBODY
    who = asker if draw.random() < 0.7 else who
    if kind < 0.55:
        verb = draw.choice(["commit", "commit", "cancel", "approve", "approve", "reject", "token"])
        who = "bob" if verb in ("approve", "reject") and draw.random() < 0.8 else who
        text = (
            draw.choice(["{}", '{"why":"looked at it"}'])
            if verb in ("approve", "reject")
            else draw.choice(["{}", "{}", '{"value":"3"}', ""])
        )
        return who, "POST", f"/v1/requests/{some}/{verb}", text
    if kind < 0.7:
        return who, "GET", f"/v1/{draw.choice(['requests', 'decisions', 'proofs'])}/{some}", None
    if kind < 0.78:
        return (
            who,
            "POST",
            "/v1/forecasts",
            json.dumps(
                {
                    "dataset": "clinic",
                    "statistic": draw.choice(STATISTICS),
                    **draw.choice([{"count": 3}, {"accuracy": "20"}, {"epsilon": "0.1"}, {}]),
                }
            ),
        )
    if kind < 0.83:
        changed = POLICY.replace("epsilon: 6", "epsilon: 7") if draw.random() < 0.7 else "version: 2"
        return (
            draw.choice(["carol", "carol", "dora", "alice"]),
            "POST",
            "/v1/policy/diff",
            json.dumps({"yaml": changed}),
        )
    if kind < 0.87:
        return (
            draw.choice(["dora", "dora", "alice"]),
            "POST",
            "/v1/reaccounts",
            json.dumps({"accountant": draw.choice(["pure", "zcdp", "x"])}),
        )
    return who, draw.choice(["GET"] * 8 + ["HEAD", "PUT", "DELETE"]), draw.choice(READS), None


def served_scenarios():
    made = []
    for number in range(11):
        draw = random.Random(f"served {number}")
        asked = []
        made.append(Served(f"served-{number:02d}", [call(draw, step, asked) for step in range(46)]))
    return made


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Daemon:
    """A ledger and a daemon on it, in a folder; ended with the block that it is used in."""

    def __init__(self, programs, folder, environment):
        self.programs, self.folder, self.environment = programs, folder, environment
        self.commands = 0

    def __enter__(self):
        (self.folder / "policy.yaml").write_text(POLICY)
        (self.folder / "visits.csv").write_text("\n".join(VISITS) + "\n")
        self.command("init", "--policy", "policy.yaml", "--as", "carol")
        self.tokens = {
            who: json.loads(self.command("credentials", "new", who, "--why", "a test", "--json", "--as", "carol"))[
                "token"
            ]
            for who in PEOPLE
        }
        (self.folder / "serve.yaml").write_text(
            f"ledger: {self.folder}/ledger\nsocket: {self.folder}/ask\n"
            f"curator_socket: {self.folder}/curator\nsources: [{self.folder}]\nlimits: {LIMITS}\n"
        )
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [self.programs / "apps/libexec/epsilog/epsilog-serve", "--config", self.folder / "serve.yaml"],
            env=self.environment(99),
            stderr=self.log,
            cwd=self.folder,
        )
        until = time.monotonic() + 60
        while not ((self.folder / "ask").exists() and (self.folder / "curator").exists()):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the daemon does not serve: " + (self.folder / "log").read_text())
            time.sleep(0.01)
        self.connection = UnixConnection(self.folder / "ask")
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait(60)
        self.log.close()

    def command(self, *words):
        self.commands += 1
        return subprocess.run(
            [self.programs / "apps/epsilog/epsilog", *words],
            cwd=self.folder,
            env=self.environment(self.commands),
            text=True,
            capture_output=True,
            check=True,
        ).stdout

    def call(self, who, method, target, text):
        """Returns the status, and the answer as text: what was said of it, then its body."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who in self.tokens else {}
        if text is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, target, body=text, headers=headers)
        reply = self.connection.getresponse()
        said = reply.read().decode("utf-8", "backslashreplace")
        lines = [
            f"{name.lower()}: {value}"
            for name, value in sorted(reply.getheaders())
            if name.lower() not in ("content-length", "date", "etag")
        ]
        try:
            said = json.dumps(json.loads(said), indent=1, ensure_ascii=False)
        except ValueError:
            pass
        return reply.status, f"{reply.status} {reply.reason}\n" + "\n".join(lines) + "\n\n" + said
