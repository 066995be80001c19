"""Every member of every kind of record × {dropped, emptied, changed} × both programs, as members.tsv says.

A history with every kind of line is made, one member of one record is dropped, emptied or changed, and lines and tree are
made anew, as somebody could who may write every file. What the published policy implies is handed to the verifier.

`members_test.py --list` names the tests, `members_test.py NAME` runs one: a sample by default, every row with
EPSILOG_LONG set. `members_test.py --write` prints the table as it is found, to be compared with members.tsv.
"""

import contextlib
import copy
import hashlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "verifier")]

import epsilog_verify as verifier  # noqa: E402
import histories  # noqa: E402
from forging import balances_again, find, renumber, rewritten, text_of  # noqa: E402
from sentences import collection, run  # noqa: E402

TABLE = HERE / "members.tsv"
WHOLE = "EPSILOG_LONG" in os.environ
SAMPLE = {"verifier": 60, "command": 12}
TESTS, sentence = collection()
POLICY = histories.policy("members")


def made_by_the_command(folder):
    """One ledger with every kind of line but those that no verb here records; those are put in below."""
    ledger = histories.Ledger(folder, POLICY)
    purpose = ("--purpose", "audit")
    ledger.ask("clinic", "count", "--where", "age > 20", "--epsilon", "0.5", *purpose, "--key", "monday")
    ledger.ask("clinic", "mean:age", "--by", "ward", "--suppress-below", "3", "--epsilon", "1", *purpose)
    ledger.ask("clinic", "units", "--epsilon", "0.5", "--delta", "1e-7", *purpose)
    ledger.ask("clinic", "sum:cost", "--epsilon", "0.5", *purpose)
    ledger.ask("clinic", "count", "--by", "ward,emergency", "--totals", "0.2", "--consistent", "--epsilon", "1", *purpose)
    ledger.ask("clinic", "count", "--epsilon", "900", *purpose, expect=(4,))
    ledger.ask("clinic", "count", "--epsilon", "0.25", *purpose, "--key", "monday", expect=(4,))
    ledger.ask("clinic", "count", "--epsilon", "3", *purpose, expect=(5,))
    pending = ledger.run("pending", "--quiet").split()[-1]
    ledger.run("approve", pending, "--as", "bob")
    ledger.run("commit", pending, "--as", "ann")
    ledger.ask("clinic", "count", "--epsilon", "4", *purpose, expect=(5,))
    ledger.run("reject", ledger.run("pending", "--quiet").split()[-1], "--as", "bob", "--why", "ask for less")
    ledger.run("cancel", ledger.ask("clinic", "count", "--epsilon", "0.125", *purpose, verb="reserve"), "--as", "ann")
    for end in ("commit", "cancel"):
        reserved = ledger.ask("small", "value:share", "--epsilon", "0.25", "--data-token", verb="reserve")
        ledger.run("token", reserved, "--as", "carol")
        ledger.run(end, reserved, "--as", "carol" if end == "commit" else "ann",
                   *(["--value", "0.5"] if end == "commit" else []))
    rows = "statistic,by,epsilon,delta\n" + "count,ward,0.02,\nunits,,0.05,1e-9\n" * 6
    (ledger.folder / "batch.csv").write_text(rows)
    ledger.run("release", "clinic", "--batch", "batch.csv", "--delta", "1e-6", "--as", "ann", *purpose)
    (ledger.folder / "moved.csv").write_text(histories.visits())
    ledger.run("relocate", "clinic", "--source", "moved.csv", "--why", "a new disk", "--as", "curator")
    ledger.run("credentials", "add", "ann", "--uid", "1000", "--until", "2999-01-31", "--why", "joined", "--as", "curator")
    ledger.run("credentials", "add", "bob", "--uid", "1001", "--id", "u2", "--why", "hired", "--as", "curator")
    ledger.run("credentials", "revoke", "u2", "--why", "left", "--as", "curator")
    key = ledger.run("key", "generate", "log.key").strip()
    ledger.run("key", "add", key, "--why", "the first", "--as", "curator")
    ledger.run("key", "retire", key, "--why", "lost", "--as", "curator")
    ledger.ask("clinic", "count", "--epsilon", "0.75", *purpose)
    ledger.apply(POLICY.replace("epsilon: 60", "epsilon: 70").replace(
        "    limits: [{each: principal, epsilon: 50, delta: 1e-2}]\n", ""))
    ledger.ask("clinic", "count", "--epsilon", "0.625", *purpose)
    return [json.loads(line) for line in ledger.export()]


def with_rare_lines(records):
    """The same with a clock that went forwards and was confirmed, a recovery, and a decision by a credential."""
    changed = copy.deepcopy(records)
    changed[find(changed, outcome="granted", plan=changed[-1]["plan"])]["via"] = "unix:1000"
    when = changed[-1]["time"]
    event = max(record.get("event", 0) for record in changed)
    for number, (what, by) in enumerate((("forwards", {}), ("confirmed", {"by": "curator"})), 1):
        changed.append({"after_decision": 0, "event": event + number, "kind": "clock", "seq": number, "time": when,
                        "type": what, "wall_clock": "2099-01-01T00:00:00.000Z", **by})
    changed.append({"by": "curator", "cause": "behind_replica", "dropped_lines": 3, "kind": "recovery", "restored_lines": 2,
                    "seq": 1, "time": when, "why": "put back"})
    changed.append({"by": "curator", "cause": "rolled_back", "kind": "recovery", "seq": 2, "time": when, "why": "both gone"})
    return finished(changed)


def with_new_lines(records):
    """The same with what later programs record: reasons of policies and approvals, both numbers of a rollback, a seal."""
    changed = copy.deepcopy(records)
    when = changed[-1]["time"]
    changed[find(changed, kind="policy", version=2)]["why"] = "the board agreed"
    changed[find(changed, outcome="approved")]["why"] = "needed"
    changed[find(changed, kind="recovery", cause="rolled_back")].update(remembered_lines=90, found_lines=40)
    for number, kind in enumerate(("sealed", "unsealed"), 1):
        changed.append({"by": "curator", "kind": kind, "seq": number, "time": when, "why": "another machine"})
    return finished(changed)


def finished(changed):
    for place, record in enumerate(changed):
        record["index"] = place
        record.setdefault("blind", hashlib.sha256(str(place).encode()).hexdigest()[:32])
    renumber(changed)
    return changed


# What is done to one member. What follows from it must not depend on when the history was made, or on what was drawn.


def members_of(value, path=()):
    """The paths of all members: of several elements of an array that of the first, as `[]`."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, name), member
            yield from members_of(member, (*path, name))
    elif isinstance(value, list):
        for element in value:
            if isinstance(element, (dict, list)):
                yield from members_of(element, (*path, "[]"))


def variant_of(record):
    kind = record["kind"]
    if kind == "credential" and "revoked" in record:
        return "revocation"
    return f"decision {record['outcome']}" if kind == "decision" else kind


def places(records):
    """{(variant, path): (index, steps)} of the first record that has each member."""
    found = {}
    for index, record in enumerate(records):
        for path, _ in members_of(record):
            found.setdefault((variant_of(record), ".".join(path)), (index, path))
    return found


def at(record, path):
    """The object that holds the last name of a path, the first that there is."""
    if not path[:-1]:
        return record if path[-1] in record else None
    step, rest = path[0], path[1:]
    candidates = record if step == "[]" else [record[step]] if step in record else []
    return next((found for found in (at(one, rest) for one in candidates if isinstance(one, (dict, list)))
                 if found is not None), None)


EMPTY = {str: "", bool: False, int: 0, list: [], dict: {}}
OTHER_WORDS = [form for form in (
    ("granted", "refused"), ("approve", "reject"), ("cancel", "expire"), ("issue_token", "read_source"),
    ("forwards", "backwards"), ("uid", "token"), ("plain", "data_token"), ("add-remove", "replace-one"),
    ("sum", "zcdp"), ("poisoned", "rolled_back"), ("snapping", "discrete_laplace"), ("epsilon", "delta"))]
SWAPPED = {word: other for pair in OTHER_WORDS for word, other in (pair, pair[::-1])}


def changed_value(value):
    """Another value of the same form."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return value[:-1] if len(value) > 1 else value * 2
    if isinstance(value, dict):
        return {**value, "zz": "x"}
    if value in SWAPPED:
        return SWAPPED[value]
    if verifier.quantity(value) is not None:
        number = verifier.quantity(value) + 1
        return str(number) if number.denominator > 1 and not verifier.digits_end(number) else text_of(number)
    if verifier.IS["hex32"](value) or verifier.IS["hex64"](value):
        return ("1" if value[0] == "0" else "0") + value[1:]
    if verifier.milliseconds(value) is not None:
        return "1999-01-01T00:00:00.000Z"
    return "0" * 10 + value[10:] if verifier.IS["id"](value) else value + "x"


def replaced(value, act):
    """What stands in the place of a value; None where that act says nothing of it."""
    other = EMPTY[type(value)] if act == "emptied" else changed_value(value)
    return None if other == value else other


def forged(records, index, path, act):
    """The lines with one member dropped, emptied or changed."""
    changed = [*records[:index], copy.deepcopy(records[index]), *records[index + 1:]]
    holder, name = at(changed[index], path), path[-1]
    if act == "dropped":
        del holder[name]
    else:
        holder[name] = replaced(holder[name], act)
    if name == "yaml" and holder.get(name):
        holder["sha256"] = hashlib.sha256(holder[name].encode()).hexdigest()
    if name.endswith("_change") and act == "changed":
        changed = balances_again(copy.deepcopy(changed))
    return [verifier.ENCODE(record) for record in changed]


# Both programs.


def by_verifier(lines, implied):
    reader = verifier.Reader(expected=verifier.Expected(implied))
    fault, _ = reader.read(io.BytesIO("".join(line + "\n" for line in lines).encode()))
    return "found" if fault else "no"


def by_command(lines):
    with tempfile.TemporaryDirectory(prefix="epsilog-members-") as folder:
        pathlib.Path(folder, "lines").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        for words in (["import", "lines"], ["verify", "--quiet"]):
            done = subprocess.run([histories.COMMAND, "audit", *words, "--ledger", "l"], cwd=folder, capture_output=True,
                                  text=True, check=False)
            if done.returncode:
                assert done.returncode == 6, f"{words}: {done.returncode} {done.stderr}"
                return "found"
    return "no"


@contextlib.contextmanager
def histories_of_members():
    """{name: records}, and the objects that their policies imply."""
    with tempfile.TemporaryDirectory(prefix="epsilog-members-") as folder:
        today = with_rare_lines(made_by_the_command(folder))
    both = {"today": today, "later": with_new_lines(today)}
    yield both, {record["sha256"]: verifier.ENCODE(record["implies"]) for record in today if record["kind"] == "policy"}


def rows_of_table():
    """[(variant, path, act, verifier, command)]; `=` of the command: as the verifier."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[:5] for line in lines if line and not line.startswith("#")]


def every_row(both):
    """(variant, path, act, history, index, steps) of all that can be done."""
    known = places(both["today"])
    for (variant, path), (index, steps) in places(both["later"]).items():
        history = "today" if (variant, path) in known else "later"
        if history == "today":
            index, steps = known[variant, path]
        for act in ("dropped", "emptied", "changed"):
            if act == "dropped" or replaced(at(both[history][index], steps)[steps[-1]], act) is not None:
                yield variant, path, act, history, index, steps


def chosen(rows, program):
    """All rows, or a sample that is another one in another version of the table."""
    if WHOLE:
        return rows
    seed = hashlib.sha256(TABLE.read_bytes() + program.encode()).hexdigest()
    return random.Random(seed).sample(rows, min(SAMPLE[program], len(rows)))


@sentence("the table of members names every member of every kind, and every act on it")
def table_is_whole():
    with histories_of_members() as (both, implied):
        found = {row[:3] for row in every_row(both)}
        assert by_verifier(rewritten(both["today"]), implied) == by_verifier(rewritten(both["later"]), implied) == "no"
        assert by_command(rewritten(both["today"])) == "no"
    said = {tuple(row[:3]) for row in rows_of_table()}
    assert found == said, f"not in the table: {sorted(found - said)[:9]}; in it alone: {sorted(said - found)[:9]}"
    kinds = {variant.split()[0] for variant, _, _ in said}
    assert kinds == {kind for kind in verifier.TABLES if " " not in kind} - {"feature"}, kinds
    always = {(kind, name) for kind, (_, names) in verifier.TABLES.items() if " " not in kind for name in names}
    no = {(row[0].split()[0], row[1]) for row in rows_of_table() if row[2] == "dropped" and row[3] != "found"}
    assert not always & no, f"always there, and may be dropped: {sorted(always & no)}"
    alone = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if "\tfound\tno" in line]
    assert all(line.count("\t") == 5 and not line.endswith(("\t", "not yet")) for line in alone), alone
    emptied = [row for row in rows_of_table() if row[2] == "emptied" and row[3] != "found"
               and row[1].rpartition(".")[2] not in ("after_decision", "scope")]
    assert all("implies" in row[1] or "reasons" in row[1] or "release" in row[1] for row in emptied), emptied


def compare(program, judge):
    with histories_of_members() as (both, implied):
        made = {row[:3]: row[3:] for row in every_row(both)}
        reads_new = by_command(rewritten(both["later"])) == "no" if program == "command" else True
        wrong = []
        for variant, path, act, by_the_verifier, by_the_command in chosen(rows_of_table(), program):
            history, index, steps = made[variant, path, act]
            expected = by_the_verifier if program == "verifier" or by_the_command == "=" else by_the_command
            if history == "later" and not reads_new:
                continue
            seen = judge(forged(both[history], index, steps, act), implied)
            if seen != expected:
                wrong.append(f"{variant} {path} {act}: {seen}, the table says {expected}")
        assert not wrong, "\n".join(wrong)


@sentence("the verifier finds what the table of members says, whatever is dropped, emptied or changed")
def by_the_verifier_as_the_table_says():
    compare("verifier", by_verifier)


@sentence("audit verify finds what the table of members says, whatever is dropped, emptied or changed")
def by_the_command_as_the_table_says():
    compare("command", lambda lines, _: by_command(lines))


def write(with_command):
    print("# member of a record\tpath\tact\tepsilog_verify.py --implies\taudit verify (=: the same)\tknown difference")
    with histories_of_members() as (both, implied):
        reads_new = by_command(rewritten(both["later"])) == "no"
        for variant, path, act, history, index, steps in sorted(every_row(both), key=lambda row: row[:3]):
            lines = forged(both[history], index, steps, act)
            independent = by_verifier(lines, implied)
            other = by_command(lines) if with_command and (history == "today" or reads_new) else independent
            same = other == independent
            # The command plans and decides again. What the verifier finds alone is to be learnt, or needs a reason.
            why = "by design" if other == "found" else "not yet"
            print("\t".join([variant, path, act, independent, "=" if same else other] + [why] * (not same)))


if __name__ == "__main__":
    run(TESTS, write=lambda more: write("--without-command" not in more))
