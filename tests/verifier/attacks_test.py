"""Which means finds which attack: every cell of the table in docs/threat_model.md, with both verifiers.

`attacks_test.py --list` names the tests, `attacks_test.py NAME` runs one: an attack each, with all means.
"""

import hashlib
import io
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "verifier"), str(SOURCE / "tests" / "verifier")]

import epsilog_verify as verifier  # noqa: E402
import histories  # noqa: E402
from forging import balances_again, find, forge, put_off, rewritten, text_of  # noqa: E402
from sentences import run  # noqa: E402

WITHOUT = "nothing, not even `--implies`"  # of the independent verifier alone: the other has no such option
MEANS = (WITHOUT, "nothing", "a replica", "a checkpoint elsewhere", "a witness")
FOUND, NOT, BY_COMMAND, BY_VERIFIER = "found", "no", "by `audit verify`", "by the verifier"  # cells
POLICY = histories.policy("attacked")


class World:
    """A machine with a ledger, its replica and the key that signs it; and what others keep elsewhere.

    Two checkpoints were sent away, and cosigned: one when `early` was copied, one after another release. What came
    after that is in no checkpoint: a release before `late` was copied, and one after.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.machine, self.elsewhere = self.folder / "machine", self.folder / "elsewhere"
        self.machine.mkdir()
        self.elsewhere.mkdir()
        self.ledger = histories.Ledger(self.machine, POLICY % (self.machine / "replica"))
        self.key = self.run("key", "generate", "log.key").strip()
        self.witness = self.run("key", "generate", str(self.elsewhere / "w.key"), "--name", "w.example/board",
                                ledger=False).strip()
        policy = self.records()[1]
        self.implied = self.elsewhere / "implied"
        self.implied.write_text(verifier.ENCODE({name: policy[name] for name in ("implies", "sha256")}), encoding="utf-8")
        self.run("credentials", "add", "ann", "--uid", "1000", "--why", "joined", "--as", "curator")
        self.ask("first")
        self.run("release", "clinic", "count", "--epsilon", "0.75", "--as", "ann", expect=(5,))
        pending = self.run("pending", "--quiet").split()[-1]
        self.run("approve", pending, "--as", "carol")
        self.run("commit", pending, "--as", "ann")
        self.early = self.copied("early")
        self.send_away()
        self.ask("covered")
        self.send_away()
        self.ledger.ask("clinic", "count", "--by", "ward", "--totals", "0.2", "--consistent", "--epsilon", "0.25")
        self.ask("newest")
        self.late = self.copied("late")
        self.ask("newer still")

    def run(self, *words, **how):
        return self.ledger.run(*words, **how)

    def ask(self, key, epsilon="0.25"):
        self.ledger.ask("clinic", "count", "--epsilon", epsilon, "--key", key)

    def send_away(self):
        """A checkpoint, cosigned, to those who keep them."""
        note, proof, kept = (self.elsewhere / name for name in ("new", "proof", "kept"))
        note.write_text(self.run("audit", "checkpoint", "--key", "log.key"), encoding="utf-8")
        older = [str(self.elsewhere / "last")] if kept.exists() else []
        proof.write_text(self.run("audit", "consistency", *older, "--checkpoint", str(note)), encoding="utf-8")
        cosigned = self.run("audit", "cosign", str(note), "--proof", str(proof), "--key", str(self.elsewhere / "w.key"),
                            "--vkey", self.key, ledger=False)
        (self.elsewhere / "last").write_text(cosigned, encoding="utf-8")
        earlier = kept.read_text(encoding="utf-8") + "\n" if kept.exists() else ""
        kept.write_text(earlier + cosigned, encoding="utf-8")

    def copied(self, name):
        return shutil.copytree(self.machine, self.folder / name)

    def put_back(self, copy, *names):
        """Files of an earlier copy, in place of what is there; nothing beside the ledger is kept."""
        for name in names or [file.name for file in self.machine.iterdir()]:
            if name == self.ledger.path.name:
                for beside in self.machine.glob(name + "*"):
                    beside.unlink()
            if (copy / name).exists():
                shutil.copy2(copy / name, self.machine / name)

    def records(self):
        return [json.loads(line) for line in self.ledger.export()]

    def replace_by(self, lines):
        """A ledger made of lines, in place of the one that is there, and as one that grants."""
        (self.machine / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
        made = self.machine / "made"
        self.run("audit", "import", "lines", "--ledger", str(made), ledger=False)
        edit(made, "meta", "UPDATE meta SET read_only = 0")
        for beside in self.machine.glob(self.ledger.path.name + "*"):
            beside.unlink()
        made.rename(self.ledger.path)


def edit(path, table, statement):
    """Changes rows of a table whose triggers forbid it, and leaves the schema as it was."""
    with sqlite3.connect(path) as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
                                    (table,)).fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        assert database.execute(statement).rowcount == 1, statement
        for _, sql in triggers:
            database.execute(sql)
    database.close()


# What finds it.


def by_command(world, *held):
    done = subprocess.run([histories.COMMAND, "audit", "verify", "--ledger", str(world.ledger.path), "--quiet", *held],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 6), done.stderr
    return done.returncode == 6


def exported(world):
    """The lines that can be had, None if the export says that something is wrong.

    What may be in the ledger alone is withheld (7): after a copy was put back nobody knows whether the replica has it.
    """
    done = subprocess.run([histories.COMMAND, "audit", "export", "--ledger", str(world.ledger.path)],
                          capture_output=True, check=False)
    assert done.returncode in (0, 6, 7), done.stderr
    return None if done.returncode == 6 else done.stdout


def by_verifier(world, *held, implies=True):
    """By the verifier, to which the object that the published policy implies is handed over, or is not."""
    lines = exported(world)
    if lines is None:
        return True
    given = ("--implies", str(world.implied)) if implies else ()
    with tempfile.NamedTemporaryFile("wb") as file, redirect_stdout(io.StringIO()):
        file.write(lines)
        file.flush()
        code = verifier.main([file.name, "--quiet", *given, *held])
    assert code in (0, 4, 6)
    assert implies or code != 0, "what was not handed over was not checked"
    return code == 6


def verdict(world, *held):
    """A cell: which of the two programs find it."""
    return {(True, True): FOUND, (False, False): NOT, (True, False): BY_COMMAND,
            (False, True): BY_VERIFIER}[by_command(world, *held), by_verifier(world, *held)]


def found_without_implies(world):
    return FOUND if by_verifier(world, implies=False) else NOT


def found_with_nothing(world):
    return verdict(world)


def found_by_replica(world):
    """Who holds a replica compares its acknowledged lines with the export; who writes is refused."""
    if verdict(world) == FOUND:
        return FOUND
    acknowledged, lines = [], []
    for line in (world.machine / "replica").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            acknowledged += lines
            lines = []
        else:
            lines.append(line)
    differs = acknowledged != exported(world).decode().splitlines()[: len(acknowledged)]
    with tempfile.TemporaryDirectory() as kept:
        before = shutil.copytree(world.machine, pathlib.Path(kept, "machine"))
        asked = subprocess.run([histories.COMMAND, "release", "clinic", "count", "--epsilon", "0.01", "--as", "ann",
                                "--json", "--ledger", str(world.ledger.path)],
                               cwd=world.machine, capture_output=True, text=True, check=False)
        world.put_back(before)
        said = asked.stdout + asked.stderr
        refused = asked.returncode == 6 and "ledger_rolled_back" in said or "it is not of this ledger" in said
        assert refused or asked.returncode == 0, asked.stderr
    assert refused == differs, f"the writer was refused: {refused}; the lines differ: {differs}"
    return FOUND if differs else NOT


def found_by_checkpoint(world, note="kept", *witness):
    return verdict(world, "--checkpoint", str(world.elsewhere / note), "--vkey", world.key, *witness)


def found_by_witness(world, note="kept"):
    return found_by_checkpoint(world, note, "--witness", world.witness)


FINDS = dict(zip(MEANS, (found_without_implies, found_with_nothing, found_by_replica, found_by_checkpoint, found_by_witness)))

# Attacks. Each is made twice: on what a checkpoint covers, and on what none does, if that can be told apart.


def edited_row(world, covered):
    seq = find_release(world, covered)["seq"]
    edit(world.ledger.path, "decision", f"UPDATE decision SET \"values\" = '7', component_values = '7' WHERE seq = {seq}")


def find_release(world, covered):
    changed = world.records()
    return changed[find(changed, key="first" if covered else "newest")]


def rewritten_history(world, covered):
    changed = world.records()
    release = changed[find(changed, key="first" if covered else "newest")]
    release["values"] = ["7"]
    release["component_values"] = [["7"]]
    world.replace_by(rewritten(changed))


def removed_tail(world, covered):
    changed = world.records()
    world.replace_by(rewritten(changed[: find(changed, key="covered" if covered else "newest")]))


def restored_ledger(world, covered):
    world.put_back(world.early if covered else world.late, "l.epsilog")


def restored_ledger_and_replica(world, covered):
    world.put_back(world.early if covered else world.late, "l.epsilog", "replica")
    world.ask("gone on")


def restored_machine(world, covered):
    world.put_back(world.early if covered else world.late)
    for number in range(3):  # more lines than there were
        world.ask(f"gone on {number}")
    # The key would sign: what it remembers was put back with it. A witness remembers more.
    (world.elsewhere / "new").write_text(world.run("audit", "checkpoint", "--key", "log.key"), encoding="utf-8")
    last = world.elsewhere / "last"
    if covered:
        world.run("audit", "consistency", str(last), "--checkpoint", str(world.elsewhere / "new"), expect=(6,))


def fork(world, _):
    """Somebody is shown a copy that went on by itself, and checkpoints of that alone."""
    world.put_back(world.early)
    for number in range(3):
        world.ask(f"other {number}")
    (world.elsewhere / "other").write_text(world.run("audit", "checkpoint", "--key", "log.key"), encoding="utf-8")


def raised_limit(world, _):
    changed = world.records()
    raise_limits(changed)
    world.replace_by(rewritten(changed))


def raise_limits(changed):
    for record in changed:
        for said in [record, *record.get("movements", ())]:
            if said.get("limit") == "9":
                said["limit"] = "90"


def forged_object(edit_object):
    """Another object beside the same text, and limits that follow from it."""
    def forge(world, _):
        changed = world.records()
        raise_limits(changed)
        edit_object(changed[find(changed, kind="policy")])
        world.replace_by(rewritten(changed))
    return forge


def raised_in_object(policy):
    for account in policy["implies"]["datasets"][0]["accounts"]:
        account["limit"] = "90"


def forged_policy(world, _):
    changed = world.records()
    raise_limits(changed)
    policy = changed[find(changed, kind="policy")]
    policy["yaml"] = policy["yaml"].replace("budget: {epsilon: 9}", "budget: {epsilon: 90}")
    policy["sha256"] = hashlib.sha256(policy["yaml"].encode()).hexdigest()
    for account in policy["implies"]["datasets"][0]["accounts"]:
        account["limit"] = "90"
    world.replace_by(rewritten(changed))


def in_lines(forge):
    """An attack that changes records, and makes lines and tree anew."""
    def attack(world, _):
        changed = world.records()
        forge(changed)
        world.replace_by(rewritten(changed))
    return attack


def one_record(words, change):
    """What a row of forgeries.tsv does."""
    return in_lines(lambda changed: forge(changed, words, change))


def forged_sensitivity(changed):
    """One row may be told by a third of the noise that three rows of a person need."""
    first = changed[find(changed, kind="plan")]["release"]["components"][0]
    for member in ("sensitivity", "grid_sensitivity", "scale"):
        first[member] = text_of(verifier.quantity(first[member]) / 3)


# Cells are not shown, and given back by subtraction: what no program asks, and none records.
HIDDEN = one_record("plan question.consistent", 'question.suppress_below="5"')


def grant_as_refusal(changed):
    """The last release is called refused, and costs nothing."""
    last = changed[find(changed, key="newer still")]
    for member in ("values", "component_values", "movements"):
        del last[member]
    last["outcome"] = "refused"
    last["reasons"] = [{"code": "forbidden", "message": "rule 1 under forbid of 'clinic' applies to this request"}]
    balances_again(changed)


def earlier_by_a_day(changed):
    put_off(changed, 0, -86400000)


ATTACKS = {
    "a row is edited": edited_row,
    "history is rewritten, with its tree": rewritten_history,
    "the tail is removed, with its tree": removed_tail,
    "an older copy of the ledger is put back": restored_ledger,
    "older copies of ledger and replica are": restored_ledger_and_replica,
    "the whole machine is": restored_machine,
    "a fork is shown to somebody else": fork,
    "a limit is forged": raised_limit,
    "what a policy implies is forged": forged_object(raised_in_object),
    "what a policy implies is left out": forged_object(lambda policy: policy.pop("implies")),
    "a policy is forged, and what follows from it": forged_policy,
    "an approval is forged, of somebody who may not": one_record("approved", 'principal="ann"'),
    "an approval is forged, of somebody who may": one_record("approved", 'principal="bob"'),
    "an approval is taken out": one_record("approved", "removed"),
    "an approval names a credential that nobody has": one_record("approved", 'via="token:board"'),
    "a charge is forged": one_record('decision key="newest"',
                                       'movements.0.spent_change="0.2"; movements.0.spent="1.2"'),
    "a scale of noise is forged": one_record("plan", 'release.components.0.scale="1"'),
    "a sensitivity is forged, and the noise by it": in_lines(forged_sensitivity),
    "what a plan answers is left out": one_record("plan", 'question={"dataset":"clinic"}'),
    "cells of a consistent table are hidden": HIDDEN,
    "a release is called a refusal": in_lines(grant_as_refusal),
    "who applied a policy is forged": one_record("policy", 'by="the board"'),
    "all times are moved": in_lines(earlier_by_a_day),
}
# What leaves no trace in any record, so that there is nothing to hold against anything.
NO_TRACE = ("noise is drawn again until it pleases, then recorded", "answers are given outside")


def table():
    """Of docs/threat_model.md: by attack the cells in the order of MEANS."""
    text = (SOURCE / "docs" / "threat_model.md").read_text(encoding="utf-8")
    lines = text.partition("\n| attack |")[2].partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in ["attack |" + lines[0], *lines[1:]]]
    assert tuple(rows[0][1:]) == MEANS, rows[0]
    return {row[0]: row[1:] for row in rows[2:]}


def attacked(attack, covered):
    """What each means finds of it."""
    with tempfile.TemporaryDirectory(prefix="epsilog-attack-") as folder:
        world = World(folder)
        ATTACKS[attack](world, covered)
        found = {means: finds(world) for means, finds in FINDS.items()}
        if attack == "a fork is shown to somebody else":
            # Held to what was kept of the other side it is found; who holds its own checkpoint alone sees nothing,
            # unless a witness, who knows the other side, had to sign that.
            assert found["a checkpoint elsewhere"] == FOUND and found_by_checkpoint(world, "other") == NOT
            assert found_by_witness(world, "other") == FOUND
            note = (world.elsewhere / "kept").read_text(encoding="utf-8")
            (world.elsewhere / "before").write_text("\n".join(re.split(r"\n(?=epsilog/)", note)[:1]), encoding="utf-8")
            assert found_by_checkpoint(world, "before") == NOT  # both sides have what came before
        return found


def require_as_the_table_says(attack):
    cells = dict(zip(MEANS, table()[attack]))
    outcomes = {"if covered": (FOUND, NOT), "if compared": (FOUND, FOUND)}
    both = [attacked(attack, covered) for covered in (True, False)]
    for means, cell in cells.items():
        seen = both[0][means], both[1][means]
        expected = outcomes.get(cell, (cell, cell))
        assert seen == expected, f"{attack}, with {means}: the table says '{cell}', found was {seen}"


def pair_is_what_is_found():
    """That the hidden cells are what both programs name, and nothing that follows from them."""
    with tempfile.TemporaryDirectory(prefix="epsilog-attack-") as folder:
        world = World(folder)
        assert verdict(world) == NOT
        HIDDEN(world, False)
        done = subprocess.run([histories.COMMAND, "audit", "verify", "--ledger", str(world.ledger.path)],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 6 and "consistent" in done.stdout + done.stderr, done.stdout + done.stderr
        reader = verifier.Reader(expected=verifier.Expected({}))
        fault, _ = reader.read(io.BytesIO(exported(world)))
        assert fault and "hides cells" in str(fault), fault


def every_attack_stands_in_the_table():
    rows = table()
    assert set(rows) == {*ATTACKS, *NO_TRACE}, set(rows) ^ {*ATTACKS, *NO_TRACE}
    for attack in NO_TRACE:
        assert rows[attack] == [NOT] * len(MEANS), attack


TESTS = {"every attack of the table is made": every_attack_stands_in_the_table,
         "a plan that hides cells of a consistent table is named for that by both programs": pair_is_what_is_found}
TESTS.update({f"as the table says, {attack}": (lambda attack=attack: require_as_the_table_says(attack))
              for attack in ATTACKS})


if __name__ == "__main__":
    run(TESTS)
