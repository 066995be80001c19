"""Format 1 is frozen: its files, the members of its records, and a ledger of each kind that every later version reads.

`freeze_test.py --list` names the tests, `freeze_test.py NAME` runs one. `freeze_test.py --digests` prints frozen.sha256
as the tree has it. What stands there is never changed. A named feature adds to it (docs/record_format.md).
"""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
sys.path[:0] = [str(SOURCE / "verifier"), str(HERE.parent / "verifier")]

import epsilog_verify as verifier  # noqa: E402
from sentences import run  # noqa: E402

COMMAND = os.environ.get("EPSILOG_COMMAND", "epsilog")
FIXTURES = HERE / "fixtures" / "format1"
NAMES = sorted(path.name.removesuffix(".lines") for path in FIXTURES.glob("*.lines"))
OF_A_LATER_VERSION = "kind-feature"
RECORDS = SOURCE / "docs" / "record_format.md"
ACCEPT_ALL = [word for kind in verifier.KINDS_NOT_CHECKED for word in ("--accept-unchecked", kind)]
TESTS = {}


def sentence(name):
    def remember(test):
        TESTS["format 1 is frozen: " + name] = test
        return test
    return remember


def members_of_page():
    """The tables of members in docs/record_format.md: heading, members (always there: bold) and form, row by row."""
    heading, inside, rows = "", False, []
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        inside = cells[:2] == ["member", "form"] or inside and bool(cells)
        if inside and re.match(r"\**`", cells[0]):
            rows.append("\t".join([heading, cells[0], cells[1]]))
    return "\n".join(rows) + "\n"


def frozen_files():
    """Everything that is frozen, by its name in frozen.sha256."""
    paths = [*SOURCE.glob("schema/ledger/sqlite/0001_*.sql"), *SOURCE.glob("tests/vectors/*.json"), *FIXTURES.iterdir()]
    files = {str(path.relative_to(SOURCE)): path.read_bytes() for path in paths}
    files["docs/record_format.md#members"] = members_of_page().encode()
    files["verifier/epsilog_verify.py#MEMBERS"] = verifier.MEMBERS.encode()
    return files


def digests():
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n"
                   for name, content in sorted(frozen_files().items()))


@contextlib.contextmanager
def unpacked(name):
    """The ledger of a fixture, in a folder where nothing else is."""
    with tempfile.TemporaryDirectory(prefix="epsilog-freeze-") as folder:
        ledger = pathlib.Path(folder) / "l.epsilog"
        ledger.write_bytes(gzip.decompress((FIXTURES / f"{name}.ledger.gz").read_bytes()))
        ledger.chmod(0o600)
        yield ledger


def command(ledger, *words, expect=0):
    done = subprocess.run([COMMAND, *words, "--ledger", str(ledger)], text=True, capture_output=True, check=False)
    assert done.returncode == expect, f"{' '.join(words)}: {done.returncode}, not {expect}\n{done.stdout}{done.stderr}"
    return done.stdout


def verify(lines):
    """(exit code, what the second verifier says as an object) of a file of lines."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = verifier.main([str(lines), "--json", *ACCEPT_ALL])
    return code, json.loads(printed.getvalue())


def objects_of(text):
    """JSON values, one after the other."""
    decoder, place, found = json.JSONDecoder(), 0, []
    while place < len(text.rstrip()):
        value, place = decoder.raw_decode(text, place)
        found.append(value)
        place += len(text[place:]) - len(text[place:].lstrip())
    return found


def differs(frozen, now, where=""):
    """Where a frozen value is not the one of now; members may have come since. "": nowhere."""
    if isinstance(frozen, dict) and isinstance(now, dict):
        places = (differs(value, now[name], f"{where}.{name}") if name in now else f"{where}.{name} is gone"
                  for name, value in frozen.items())
    elif isinstance(frozen, list) and isinstance(now, list) and len(frozen) == len(now):
        places = (differs(one, other, f"{where}[{n}]") for n, (one, other) in enumerate(zip(frozen, now)))
    else:
        places = iter(() if frozen == now else (f"{where}: {frozen!r}, now {now!r}",))
    return next(filter(None, places), "")


@sentence("no byte of the schema, the member tables, the vectors and the ledgers changes")
def nothing_changes():
    now = dict(reversed(line.split("  ")) for line in digests().splitlines())
    frozen = dict(reversed(line.split("  ")) for line in (HERE / "frozen.sha256").read_text().splitlines())
    changed = sorted(name for name, digest in frozen.items() if now.get(name) != digest)
    assert not changed, f"format 1 is frozen, and these changed: {', '.join(changed)} (docs/record_format.md, Features)"
    unknown = sorted(now.keys() - frozen.keys())
    assert not unknown, f"format 1 is frozen, and frozen.sha256 does not have: {', '.join(unknown)}"


@sentence("there is a ledger of each kind, outcome, cause, verb, mechanism and post-processing")
def every_word():
    seen = {name: set() for name in ("kind", "outcome", "cause", "verb", "type", "reservation")}
    mechanisms, processed = set(), set()
    for name in NAMES:
        for line in (FIXTURES / f"{name}.lines").read_text().splitlines():
            record = json.loads(line)
            for member, words in seen.items():
                words.update({record[member]} if member in record else ())
            release = record.get("release", {})
            for part in (release, *release.get("rows", ())):
                mechanisms.update({part["mechanism"]} if "mechanism" in part else ())
                processed.update({part["post_processing"]["kind"]} if "post_processing" in part else ())
    assert seen["kind"] == verifier.KINDS
    members_of_decision = verifier.MEMBERS.partition("decision:")[2].partition("rules!")[0]
    words = dict(re.findall(r"(\w+)!? ([a-z_]+(?:\|[a-z_]+)+)", members_of_decision))
    for member in ("outcome", "verb", "reservation"):
        assert seen[member] == set(words[member].split("|")), member
    assert seen["cause"] == {"poisoned", "behind_replica", "rebuilt", "restored", "rolled_back"}
    assert seen["type"] == {"backwards", "forwards", "confirmed", "uid", "token"}
    assert mechanisms == {"snapping", "discrete_laplace", "discrete_gaussian", "gaussian", "permute_and_flip",
                          "exponential", "batch"}
    assert processed == {"mean_about", "variance_about", "rounded", "proportion", "ratio", "totals", "whole_totals",
                         "consistent_totals"}


@sentence("the program verifies every ledger of it, and shows and exports what it did")
def program_reads():
    for name in NAMES:
        with unpacked(name) as ledger:
            if name == OF_A_LATER_VERSION:
                for words in (("audit", "verify"), ("audit", "export"), ("history",)):
                    command(ledger, *words, expect=3)
                continue
            command(ledger, "audit", "verify")
            assert command(ledger, "audit", "export") == (FIXTURES / f"{name}.lines").read_text(), name
            shown = command(ledger, "history", "--json") + command(ledger, "budget", "--json")
            where = differs(objects_of((FIXTURES / f"{name}.shown").read_text()), objects_of(shown))
            assert not where, f"{name}{where}"


@sentence("the program goes on with every ledger of it")
def program_writes():
    for name in NAMES:
        with unpacked(name) as ledger:
            if name == OF_A_LATER_VERSION:
                command(ledger, "key", "generate", str(ledger.parent / "log.key"), expect=3)
                continue
            key = command(ledger, "key", "generate", str(ledger.parent / "log.key")).split()[-1]
            refused = 3 if name == "kind-sealed" else 0
            command(ledger, "key", "add", key, "--why", "signs from now on", "--as", "cleo", expect=refused)
            lines, frozen = command(ledger, "audit", "export"), (FIXTURES / f"{name}.lines").read_text()
            assert lines.startswith(frozen) and (lines == frozen) == bool(refused), name
            command(ledger, "audit", "verify")


@sentence("a ledger is made again from a replica of it")
def replica_reads():
    with tempfile.TemporaryDirectory(prefix="epsilog-freeze-") as folder:
        ledger, replica, policy = (pathlib.Path(folder) / name for name in ("l.epsilog", "replica", "p.yaml"))
        replica.write_bytes((FIXTURES / "of_a_ledger.replica").read_bytes())
        replica.chmod(0o600)
        told = [line for line in replica.read_text().splitlines() if line.startswith("{")]
        command(ledger, "recover", "--from", str(replica), "--why", "the disk failed", "--as", "cleo")
        # Its own place is of another machine: a policy without one lets the ledger speak.
        policy.write_text(json.loads(told[1])["yaml"].partition("replica:")[0])
        command(ledger, "policy", "apply", str(policy), "--why", "the replica is gone", "--as", "cleo")
        assert command(ledger, "audit", "export").splitlines()[:len(told)] == told
        command(ledger, "audit", "verify")


@sentence("the second verifier finds nothing wrong in any history of it")
def verifier_reads():
    for name in NAMES:
        lines = FIXTURES / f"{name}.lines"
        code, said = verify(lines)
        assert code == (5 if name == OF_A_LATER_VERSION else 0), f"{name}: {said['fault'] or said['needs_feature']}"
        assert said["lines"] == lines.read_text().count("\n") - (code == 5), name
    assert verify(FIXTURES / "of_a_ledger.replica")[0] == 0


if __name__ == "__main__":
    run(TESTS, digests=lambda _: print(digests(), end=""))
