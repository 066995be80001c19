"""What docs/record_format.md reserves for planned features has room in format 1: a line of each is written and judged.

Here stands the part of a later version that a feature needs: its tables, the rows of its lines, and how a line is made
of rows again. The ledger is the frozen one whose last line announces a feature.
"""

import json
import pathlib
import re
import sqlite3
import subprocess
import sys
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "verifier")]

import appending  # noqa: E402
from appending import append, copy_row, insert, verifier  # noqa: E402
from forging import text_of  # noqa: E402
from freeze_test import COMMAND, FIXTURES, OF_A_LATER_VERSION, RECORDS, SOURCE, unpacked  # noqa: E402
from sentences import run  # noqa: E402

TIME = "2026-12-31T11:00:00.000Z"
AT = verifier.milliseconds(TIME)
TESTS = {}

# The next numbered file, as ledger_format.md asks: tables of their own, and no column of an old one.
SCHEMA = """
CREATE TABLE attachment(
  seq INTEGER PRIMARY KEY, after_decision INTEGER NOT NULL, dataset TEXT NOT NULL, label TEXT NOT NULL,
  at INTEGER NOT NULL, by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE TABLE measurement_result(
  seq INTEGER PRIMARY KEY, decision INTEGER NOT NULL REFERENCES decision(seq), result TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE TABLE issuer_revocation(
  seq INTEGER PRIMARY KEY, issuer TEXT NOT NULL, before INTEGER NOT NULL,
  at INTEGER NOT NULL, by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE TABLE decision_attachment(
  decision INTEGER PRIMARY KEY REFERENCES decision(seq), attachment INTEGER NOT NULL
) STRICT;
CREATE TABLE relocation_path(
  relocation INTEGER NOT NULL REFERENCES relocation(seq), position INTEGER NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY (relocation, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE oidc_credential(
  seq INTEGER PRIMARY KEY REFERENCES credential_event(seq), issuer TEXT NOT NULL, salt BLOB NOT NULL
) STRICT;
CREATE TABLE credential_replacement(
  seq INTEGER PRIMARY KEY REFERENCES credential_event(seq), replaces TEXT NOT NULL
) STRICT;
"""
# What the second verifier needs to know of them.
KINDS = """attachment: seq! number, after_decision! count, by! bytes, why bytes, dataset! bytes, label! bytes
measurement_result: seq! number, decision! id, result! bytes
issuer_revocation: seq! number, by! bytes, why bytes, issuer! text, before! time
"""
MEMBERS = {"decision": "attachment number", "relocation": "paths keys", "credential": "issuer text, replaces text",
           "a question": "max_rows number", "a release": "order bytes, first_by keys"}


def sentence(name):
    def remember(test):
        TESTS["format 1 is a frame: " + name] = test
        return test
    return remember


class Frame:
    """The frozen ledger, and lines of planned kinds behind those that it has."""

    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.lines = (FIXTURES / f"{OF_A_LATER_VERSION}.lines").read_text().splitlines()
        self.old = {}  # the first record of a kind, decisions by their outcome
        for record in map(json.loads, self.lines):
            self.old.setdefault(record.get("outcome", record["kind"]), record)
        self.database.executescript(SCHEMA)

    def like(self, old, **changed):
        """A record like an old one; what is None is left out."""
        record = {**self.old[old], "time": TIME, **changed}
        return {name: value for name, value in record.items() if value is not None}

    def take(self, kind, row, record):
        self.lines.append(append(self.database, kind, row, record))

    def write_new_kinds(self):
        insert(self.database, "attachment", seq=1, after_decision=2, dataset="clinic", label="cohort-a", at=AT,
               by="cleo", why="a new cohort")
        insert(self.database, "issuer_revocation", seq=1, issuer="https://id.example", before=AT, at=AT,
               by="cleo", why="lost")
        self.take(15, 1, self.made_again("attachment"))
        self.take(17, 1, self.made_again("issuer_revocation"))

    def write_new_members(self):
        copy_row(self.database, "relocation", "seq = 1", seq=2, event=3, path="", at=AT)
        for position, path in enumerate(("north.csv", "south.csv"), 1):
            insert(self.database, "relocation_path", relocation=2, position=position, path=path)
        self.take(3, 2, self.made_again("relocation"))
        copy_row(self.database, "credential_event", "seq = 2", seq=4, type="oidc", value="ab" * 32, credential="o1",
                 at=AT)
        insert(self.database, "oidc_credential", seq=4, issuer="https://id.example", salt=b"s" * 32)
        insert(self.database, "credential_replacement", seq=4, replaces="u1")
        self.take(10, 4, self.made_again("credential"))

    def write_decisions(self):
        question = {**self.old["plan"]["question"], "max_rows": 1}
        release = {**self.old["plan"]["release"], "order": "rule", "first_by": ["seen"]}
        texts = {"question": verifier.ENCODE(question), "release": verifier.ENCODE(release)}
        copy_row(self.database, "plan", "number = 1", number=3, digest=b"d" * 32, first_at=AT, **texts)
        self.take(7, 3, self.made_again("plan"))
        self.decide(3, "granted", 3, attachment=1, principal="bob", via="oidc:o1")
        self.decide(4, "refused", 2)

    def decide(self, seq, old, plan, **changed):
        """Adds a decision like an old one, with what it charges once more."""
        index = self.row("SELECT log_size FROM meta")[0]
        ident = f"{base32(AT, 10)}{seq:016}"
        record = self.like(old, seq=seq, plan=plan, id=ident, **{"key": None, **changed})
        row = {"seq": seq, "line_index": index, "time": AT, "plan": plan, "key": "", "via": record["via"],
               "id": int(ident.translate(verifier.ID_DIGITS), 32).to_bytes(16, "big")}
        if record["outcome"] == "measured":
            row.update({"outcome": 10, "values": "", "component_values": ""})
        copy_row(self.database, "decision", f"seq = {self.old[old]['seq']}", **row)
        if "attachment" in record:
            insert(self.database, "decision_attachment", decision=seq, attachment=record["attachment"])
        if old == "granted":
            record["movements"] = [{**record["movements"][0], "spent": self.charge(seq)}]
        self.take(8, seq, record)

    def charge(self, seq):
        """Spends as much as the first decision did once more; the quantity that is spent then."""
        account = self.row('SELECT id, dataset, scope, measure, "limit" FROM account')
        spent, more = self.row("SELECT a.spent, m.spent_change FROM account a, movement m WHERE m.seq = 1")
        copy_row(self.database, "movement", "seq = 1", seq=seq, spent=spent + more)
        self.database.execute("UPDATE account SET spent = ?, checksum = ?",
                              (spent + more, appending.checksum(*account, spent + more, 0)))
        return text_of(Fraction(spent + more, 10**12))

    def count_rows(self):
        """Writes into `meta` how many rows the tables of the first schema have; what is new has no count there."""
        self.database.execute(
            "UPDATE meta SET decisions = (SELECT count(*) FROM decision), plans = (SELECT count(*) FROM plan),"
            " relocations = (SELECT count(*) FROM relocation), events = (SELECT max(event) FROM relocation),"
            " credential_events = (SELECT count(*) FROM credential_event)")

    def write_measurement(self):
        """The plan and the decision that charges it, and what was found."""
        question = {**self.old["plan"]["question"], "statistic": "measurement:fit"}
        copy_row(self.database, "plan", "number = 1", number=4, digest=b"e" * 32, first_at=AT, release="",
                 question=verifier.ENCODE(question))
        self.take(7, 4, self.made_again("plan"))
        self.decide(5, "granted", 4, outcome="measured", key=None, values=None, component_values=None)
        insert(self.database, "measurement_result", seq=1, decision=5, result="sha256:" + "cd" * 32, at=AT)
        self.take(16, 1, self.made_again("measurement_result"))

    def row(self, select):
        return self.database.execute(select).fetchone()

    def made_again(self, kind):
        """The record of the last row of a kind, without `blind` and `index`."""
        if kind == "attachment":
            seq, after, dataset, label, by, why = self.row(
                "SELECT seq, after_decision, dataset, label, by, why FROM attachment")
            return {"kind": kind, "time": TIME, "seq": seq, "after_decision": after, "dataset": dataset, "label": label,
                    "by": by, "why": why}
        if kind == "issuer_revocation":
            seq, issuer, by, why = self.row("SELECT seq, issuer, by, why FROM issuer_revocation")
            return {"kind": kind, "time": TIME, "seq": seq, "issuer": issuer, "before": TIME, "by": by, "why": why}
        if kind == "measurement_result":
            seq, decision, result = self.row("SELECT m.seq, hex(id), result FROM measurement_result m JOIN decision d "
                                             "ON d.seq = m.decision")
            return {"kind": kind, "time": TIME, "seq": seq, "decision": base32(int(decision, 16), 26), "result": result}
        if kind == "relocation":
            paths = [path for path, in self.database.execute("SELECT path FROM relocation_path ORDER BY position")]
            seq, event, path = self.row("SELECT seq, event, path FROM relocation ORDER BY seq DESC")
            assert path == ""
            return self.like(kind, seq=seq, event=event, path=None, paths=paths)
        if kind == "credential":
            seq, value, name, issuer, replaces = self.row(
                "SELECT seq, value, credential, issuer, replaces FROM credential_event "
                "JOIN oidc_credential USING (seq) JOIN credential_replacement USING (seq)")
            return self.like(kind, seq=seq, type="oidc", principal="bob", value=value, credential=name, issuer=issuer,
                             replaces=replaces, until=None)
        number, question, release = self.row("SELECT number, question, release FROM plan ORDER BY number DESC")
        return self.like("plan", number=number, question=json.loads(question),
                         release=json.loads(release) if release else None)


def base32(number, digits):
    """A number as ids write it."""
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * place & 31] for place in reversed(range(digits)))


class Later(verifier.History):
    """The second verifier's history in a version that knows the feature."""

    def on_feature(self, record):
        pass

    on_attachment = on_measurement_result = on_issuer_revocation = on_feature

    def decision(self, record, movements, now):
        if record["outcome"] != "measured":
            return super().decision(record, movements, now)
        verifier.require(record["id"] > self.last_id, "is not above the id before", "id")
        self.last_id = record["id"]
        self.fold({**record, "outcome": "granted"}, movements)  # it spends what a release spends

    def on_plan(self, record):
        if record["question"].get("statistic", "").startswith("measurement:"):
            self.fresh_plan = record["number"]
        else:
            super().on_plan(record)

    def on_relocation(self, record):
        super().on_relocation({"path": " ".join(record.get("paths", ())), **record})

    def on_credential(self, record):
        if record["type"] != "oidc":
            super().on_credential(record)
        self.principals_of[f"oidc:{record['credential']}"].add(verifier.hashable(record["principal"]))


def teach():
    """Gives the second verifier the kinds, members and words of the table."""
    text = verifier.MEMBERS + KINDS
    for kind, more in MEMBERS.items():
        text = re.sub(f"(?m)^{kind}: ", f"{kind}: {more}, ", text)
    text = text.replace("path! bytes", "path bytes").replace("type! uid|token", "type! uid|token|oidc")
    text = text.replace("voided|forfeited", "voided|forfeited|measured")
    verifier.IS["via"] = verifier.matching("claimed|(?:unix|token|oidc):.+")
    verifier.TABLES.update(verifier.tables(text))
    verifier.QUESTION, verifier.RELEASE = verifier.TABLES["a question"], verifier.TABLES["a release"]
    verifier.KINDS = frozenset(kind for kind in verifier.TABLES if " " not in kind) - {"revocation"}


@sentence("a line of every reserved name has its rows, its leaf and its place in the tree")
def lines_of_every_name():
    teach()
    with unpacked(OF_A_LATER_VERSION) as path:
        frame = Frame(path)
        frame.write_new_kinds()
        frame.write_new_members()
        frame.write_decisions()
        frame.write_measurement()
        frame.count_rows()
        frame.database.commit()
        written = "\n".join(frame.lines)
        for name in re.findall(r"^\| (?:kind |scheme |word )?`(\w+):?`", RECORDS.read_text().partition(
                "### Reserved names")[2].partition("\n## ")[0], re.MULTILINE):
            assert name in written, f"no line has {name}"
        reader = verifier.Reader()
        reader.history = Later(None, verifier.Expected())
        for line in frame.lines:
            raw = line.encode()
            reader.take(raw, verifier.leaf_hash(raw), verifier.parse_line(raw))
        reader.finish()
        leaves = [leaf for leaf, in frame.database.execute("SELECT leaf FROM log ORDER BY line_index")]
        assert leaves == [verifier.leaf_hash(line.encode()) for line in frame.lines]
        assert frame.row("PRAGMA integrity_check")[0] == "ok" and frame.row("PRAGMA foreign_key_check") is None
        frame.database.close()
        # A version that does not know the feature says so, and changes nothing.
        before = path.read_bytes()
        asking = ("release", "clinic", "count", "--epsilon", "0.1")
        for words in (("audit", "verify"), ("history",), ("budget",), asking):
            done = subprocess.run([COMMAND, *words, "--ledger", str(path)], text=True, capture_output=True, check=False)
            assert done.returncode == 3 and "needs feature of_a_later_version" in done.stderr, f"{words}: {done}"
        assert path.read_bytes() == before


@sentence("the tables of planned features add no column to a table of the first schema")
def tables_of_their_own():
    first = (SOURCE / "schema/ledger/sqlite/0001_records.sql").read_text()
    reserved = RECORDS.read_text().partition("### Reserved names")[2].partition("\n## ")[0]
    for table, columns in re.findall(r"`(\w+)\(([\w, ]+)\)`", reserved):
        assert f"CREATE TABLE {table}(" not in first, table
        written = re.search(rf"CREATE TABLE {table}\((.*?)\) STRICT", SCHEMA, re.DOTALL)
        assert written, f"no table {table}"
        named = re.findall(r"(\w+) (?:INTEGER|TEXT|BLOB)", written[1])
        assert named == columns.split(", "), f"{table}: {named}"


if __name__ == "__main__":
    run(TESTS)
