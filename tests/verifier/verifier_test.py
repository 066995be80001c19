"""Tests of verifier/epsilog_verify.py: `verifier_test.py --list` names them, `verifier_test.py NAME` runs one.

The histories are made once, by `verifier_test.py --make`, into the directory EPSILOG_HISTORIES.
"""

import base64
import copy
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "verifier"), str(SOURCE / "tests" / "verifier")]

import epsilog_verify as verifier  # noqa: E402
import histories  # noqa: E402
from forging import balances_again, find, next_id, put_off, renumber, rewritten, text_of  # noqa: E402
from members_test import by_command  # noqa: E402
from sentences import run  # noqa: E402

MADE = pathlib.Path(os.environ.get("EPSILOG_HISTORIES", "/tmp/epsilog-verifier-histories"))
ACCEPT_ALL = [word for kind in verifier.KINDS_NOT_CHECKED for word in ("--accept-unchecked", kind)]
EVERY_BIT = "EPSILOG_LONG" in os.environ
TESTS = {}


def sentence(name):
    def remember(test):
        TESTS[name] = test
        return test
    return remember


def lines_of(name):
    return (MADE / f"{name}.lines").read_text(encoding="utf-8").splitlines()


def verify(lines, *options):
    """(exit code, what it said as an object)."""
    with tempfile.NamedTemporaryFile("wb", suffix=".lines", delete=False) as file:
        file.write("".join(line + "\n" for line in lines).encode() if isinstance(lines, list) else lines)
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            code = verifier.main([file.name, "--json", *map(str, options)])
    finally:
        os.unlink(file.name)
    return code, json.loads(printed.getvalue())


def expect_fault(lines, why, line=None, *options):
    code, said = verify(lines, *options)
    fault = said.get("fault")
    assert code == 6 and fault, f"accepted, where it should have said: {why}"
    assert why in f"{fault['member']} {fault['why']}", f"{fault} instead of: {why}"
    assert line is None or fault["line"] == line, f"{fault} instead of line {line}"


def expect_good(lines, *options):
    code, said = verify(lines, *ACCEPT_ALL, *options)
    assert code == 0, said["fault"]
    return said


# What an attacker has who can rewrite every line and the tree.


def records(name):
    return [json.loads(line) for line in lines_of(name)]


def forged(name, why, change):
    """A history that is good, but for what `change` does to its records."""
    changed = records(name)
    expect_good(rewritten(changed))
    place = change(changed)
    lines = rewritten(changed)
    expect_fault(lines, why, None if place is None else place + 1)


# Lines, tree and signatures.


@sentence("the lines of tests/vectors/records.json are read or refused as it says")
def vectors_of_records():
    vectors = json.loads((SOURCE / "tests/vectors/records.json").read_text(encoding="utf-8"))
    measures = {int(number): measure for number, measure in vectors["measures"].items()}
    for vector in vectors["accepted"]:
        raw = vector["line"].encode()
        verifier.check_record(verifier.parse_line(raw), measures.get)
        assert verifier.leaf_hash(raw).hex() == vector["leaf"], vector["name"]
    for vector in vectors["refused"]:
        try:
            verifier.check_record(verifier.parse_line(vector["line"].encode()), measures.get)
        except verifier.Fault as fault:
            assert fault.member == vector["member"], f"{vector['name']}: {fault.member}"
        else:
            raise AssertionError(f"accepted: {vector['name']}")
    tree, measures = verifier.Tree(), {}
    roots = vectors["history"]["roots"]
    for line, root in zip(vectors["history"]["lines"], roots[len(roots) - len(vectors["history"]["lines"]):]):
        record = verifier.parse_line(line.encode())
        if record["kind"] == "account":
            measures[record["account"]] = record["measure"]
        verifier.check_record(record, measures.get)
        tree.append(verifier.leaf_hash(line.encode()))
        assert tree.root().hex() == (root["root"] if isinstance(root, dict) else root)
    said = expect_good(vectors["history"]["lines"])
    assert said["kinds"].keys() == verifier.KINDS - {"feature"}


@sentence("the lines that docs/record_format.md shows are read or refused as it says")
def lines_of_the_page():
    page = (SOURCE / "docs/record_format.md").read_text(encoding="utf-8")

    def block(mark):
        return page.partition(f"\n```{mark}\n")[2].partition("\n```")[0].splitlines()

    measures = {1: "epsilon", 2: "epsilon"}
    kinds = {verifier.check_record(verifier.parse_line(line.encode()), measures.get)[0]
             for line in block("records")}
    assert kinds == {kind for kind in verifier.TABLES if " " not in kind} - {"revocation"}, kinds
    refused = block("norecords")
    assert refused
    for line, member in zip(refused[::2], refused[1::2]):
        try:
            verifier.check_record(verifier.parse_line(line.encode()), measures.get)
        except verifier.Fault as fault:
            # Of two members that stand the wrong way round either may be named.
            assert fault.member == member.strip() or "written again" in fault.why, f"{line}: {fault.member}"
        else:
            raise AssertionError(f"accepted: {line}")
    for line in block("refused"):
        try:
            verifier.parse_line(line.encode())
        except verifier.Fault:
            continue
        assert not verifier.is_value(verifier.DECODE(line)), line
    for line in block("accepted"):
        assert verifier.ENCODE(verifier.DECODE(line)) == line


@sentence("the roots and proofs of tests/vectors/merkle_tree.json hold or not as it says")
def vectors_of_the_tree():
    vectors = json.loads((SOURCE / "tests/vectors/merkle_tree.json").read_text(encoding="utf-8"))
    roots = {vector["size"]: vector["root"] for vector in vectors["roots"]}
    tree = verifier.Tree()
    for size in range(max(roots) + 1):
        assert size not in roots or tree.root().hex() == roots[size], size
        tree.append(verifier.leaf_hash(str(size).encode()))
    read = bytes.fromhex
    for vector in vectors["inclusion"]:
        holds = verifier.inclusion_holds(read(vector["leaf"]), vector["index"], vector["tree"]["size"],
                                         read(vector["tree"]["root"]), [read(p) for p in vector["proof"]])
        assert holds == vector["accepted"], vector["name"]
    for vector in vectors["consistency"]:
        holds = verifier.consistency_holds(vector["older"]["size"], read(vector["older"]["root"]),
                                           vector["newer"]["size"], read(vector["newer"]["root"]),
                                           [read(p) for p in vector["proof"]])
        assert holds == vector["accepted"], vector["name"]


MONTHS = {"columns": [{"name": "seen", "type": "date"}, {"name": "age", "type": "int"}, {"name": "or", "type": "int"}],
          "accounts": [], "blocks": {"by": "seen", "per": "month", "first": "2024-01", "last": "2024-04"}}
WARDS = {"columns": [{"name": "ward", "type": "string", "values": ["B", "A"]}, {"name": "age", "type": "int"}],
         "accounts": [], "blocks": {"by": "ward"}}
NUMBERS = {"columns": [{"name": "not", "type": "int", "values": ["2", "-1"], "missing": "2"}],
           "accounts": [], "blocks": {"by": "not"}}


def labels(source, derived, null=("",)):
    """A dataset whose blocks are the labels of one derived column; `other` is any other column."""
    return {"columns": [{"name": "cell", **source}, {"name": "part", "from": "cell", "type": "string", **derived},
                        {"name": "other", "type": "int", "step": "1"}],
            "source": {"null": list(null)}, "accounts": [], "blocks": {"by": "part"}}


NEARLY_ONE = text_of(Fraction(1 - 2**53, 2**53))
BANDS = labels({"type": "int", "step": "1", "bounds": ["0", "110"]},
               {"bins": ["0", "18", "65", "111"], "values": ["[0,18)", "[18,65)", "[65,111)"]})
PRICES = labels({"type": "decimal", "step": "0.1", "bounds": ["0", "5"], "missing": "2.5"},
                {"bins": ["-1.5", "0", "9.9"], "values": ["minus", "plus"]})
SCORES = labels({"type": "double", "bounds": ["0", "1"], "missing": "0.1"},
                {"bins": ["0", "0.1", "1/3", "1"], "values": ["low", "middle", "high"]})
DEBTS = labels({"type": "double"}, {"bins": ["-1", NEARLY_ONE, "0"], "values": ["one", "part"]})
SEEN = labels({"type": "date"}, {"per": "month", "first": "2024-01", "last": "2024-03",
                                 "values": ["2024-01", "2024-02", "2024-03"]})
EVES = labels({"type": "date"}, {"map": [{"label": "eve", "value": "0000-12-31"}, {"label": "eve", "value": "2024-12-31"}],
                                 "other": "rest", "values": ["eve", "rest"]})
CODES = labels({"type": "string"}, {"map": [{"label": "a", "value": "A"}, {"label": "b", "value": "it's"}],
                                    "other": "rest", "values": ["a", "b", "rest"]}, ("", "NA"))
TRUTHS = labels({"type": "bool"}, {"map": [{"label": "no", "value": "false"}, {"label": "yes", "value": "true"}],
                                   "other": "rest", "values": ["no", "yes", "rest"]})
NUMBERED = labels({"type": "int", "step": "1", "bounds": ["0", "9"], "missing": "3"},
                  {"map": [{"label": "low", "value": "1"}, {"label": "low", "value": "2"}, {"label": "high", "value": "5"}],
                   "values": ["high", "low"]})


@sentence("a condition covers the blocks in which a value leaves room, and of an or those of all its parts")
def covers():
    for line in (SOURCE / "tests/verifier/covered_blocks.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            continue
        name, where, covered = (cell.replace('""', "") for cell in line.split("\t"))
        found = verifier.Dataset(globals()[name], None).covered_by(where)
        assert [label.removeprefix("2024-") if name == "MONTHS" else label for label in found] == covered.split(), (
            f"{name}, {where}: {found}")
    nested = "(" * 32 + "age = 1" + ")" * 32
    assert verifier.Condition(nested).comparisons == [("age", "=", ["1"])]
    for where in ("(" + nested + ")", "age", "age =", "age = 1 or", "(age = 1", "age = 1)", "age is", "age is not 1",
                  "age not = 1", "age in (1", "age in (1 2)", "age = 1 xor age = 2", "not age = 1", "()", "'a' = 1",
                  "age between 1 and 2", "age = 1 age = 2", "age = 'a"):
        try:
            verifier.Condition(where)
        except verifier.Fault as fault:
            assert fault.member == "question", where
        else:
            raise AssertionError(f"read: {where}")


RFC_8032 = (  # section 7.1: secret key, public key, message, signature
    ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe246"
     "55141438e7a100b"),
    ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb"
     "00d291612bb0c00"),
    ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc"
     "027beceea1ec40a"),
)


def expanded(secret):
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
    return scalar, digest[32:]


def public_key(secret):
    return verifier.point_write(verifier.point_multiple(expanded(secret)[0], verifier.BASE))


def signature(secret, message):
    """RFC 8032, section 5.1.6."""
    scalar, prefix = expanded(secret)
    key = public_key(secret)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % verifier.ORDER
    point = verifier.point_write(verifier.point_multiple(r, verifier.BASE))
    k = int.from_bytes(hashlib.sha512(point + key + message).digest(), "little")
    return point + ((r + k * scalar) % verifier.ORDER).to_bytes(32, "little")


@sentence("signatures of RFC 8032 hold, and nothing that is like them")
def signatures():
    for secret, key, message, signed in RFC_8032:
        secret, key, message, signed = map(bytes.fromhex, (secret, key, message, signed))
        assert public_key(secret) == key and signature(secret, message) == signed
        assert verifier.signature_holds(key, message, signed)
        assert not verifier.signature_holds(key, message + b"x", signed)
        for bit in range(0, 512, 37):
            changed = bytearray(signed)
            changed[bit // 8] ^= 1 << bit % 8
            assert not verifier.signature_holds(key, message, bytes(changed)), bit
        larger = int.from_bytes(signed[32:], "little") + verifier.ORDER
        assert not verifier.signature_holds(key, message, signed[:32] + larger.to_bytes(32, "little"))
    # Keys of small order, for which S = 0 and R = identity would sign everything; and y that is not reduced.
    identity = (1).to_bytes(32, "little")
    for key in (identity, bytes(32), (verifier.FIELD - 1).to_bytes(32, "little"),
                (verifier.FIELD + 1).to_bytes(32, "little")):
        assert not verifier.signature_holds(key, b"", identity + bytes(32))


SECRET, WITNESS, STRANGER = (hashlib.sha256(name).digest() for name in (b"log", b"witness", b"stranger"))


def vkey(name, secret, kind=1):
    material = bytes([kind]) + public_key(secret)
    key_id = hashlib.sha256(name.encode() + b"\n" + material).digest()[:4]
    return f"{name}+{key_id.hex()}+{base64.b64encode(material).decode()}"


def signed_line(name, secret, text, at=None):
    key_id = bytes.fromhex(vkey(name, secret, 1 if at is None else 4).split("+")[1])
    if at is None:
        data = key_id + signature(secret, text)
    else:
        data = key_id + at.to_bytes(8, "big") + signature(secret, b"cosignature/v1\ntime %d\n" % at + text)
    return f"— {name} {base64.b64encode(data).decode()}\n"


def root_of(lines):
    tree = verifier.Tree()
    for line in lines:
        tree.append(verifier.leaf_hash(line.encode()))
    return tree.root()


def note(lines, origin=None, witnesses=(), secret=SECRET):
    origin = origin or "epsilog/" + json.loads(lines[0])["id"]
    text = f"{origin}\n{len(lines)}\n{base64.b64encode(root_of(lines)).decode()}\n".encode()
    return (text.decode() + "\n" + signed_line(origin, secret, text)
            + "".join(signed_line(name, key, text, 1700000000) for name, key in witnesses))


class NoteFile:
    def __init__(self, *notes):
        self.text = "\n".join(notes)

    def __enter__(self):
        with tempfile.NamedTemporaryFile("wb", suffix=".note", delete=False) as file:
            file.write(self.text.encode() if isinstance(self.text, str) else self.text)
        self.path = file.name
        return self.path

    def __exit__(self, *_):
        os.unlink(self.path)


@sentence("the example of C2SP signed-note is read and its signature holds")
def example_of_the_specification():
    key = verifier.VerifierKey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k", 1)
    text = b"This is an example message.\n"
    signed = verifier.base64_bytes(
        "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=")
    assert signed[:4] == key.id and key.holds(text, signed[4:])


@sentence("a history is held to every checkpoint: its roots, its signatures, its witnesses")
def checkpoints():
    lines = lines_of("versions")
    origin = "epsilog/" + json.loads(lines[0])["id"]
    key, stranger = vkey(origin, SECRET), vkey(origin, STRANGER)
    witness = vkey("w.example", WITNESS, 4)
    early, late = note(lines[:9]), note(lines[:20], witnesses=[("w.example", WITNESS)])
    with NoteFile(early, late) as path:
        said = expect_good(lines, "--checkpoint", path, "--vkey", key)
        assert [(c["size"], c["signed"]) for c in said["checkpoints"]] == [(9, True), (20, True)]
        assert [c["signed"] for c in expect_good(lines, "--checkpoint", path)["checkpoints"]] == [False, False]
        expect_good(lines, "--checkpoint", path, "--vkey", stranger, "--vkey", key)
        expect_fault(lines, "not signed", None, "--checkpoint", path, "--vkey", stranger)
        expect_fault(lines, "0 witnesses signed", None, "--checkpoint", path, "--require", 1, "--witness", witness)
        expect_fault(lines[:15], "15 lines are fewer", None, "--checkpoint", path, "--vkey", key)
        for place, why in ((8, "ends 9 lines that are not those of"), (19, "ends 20 lines that are not those of")):
            changed = [json.loads(line) for line in lines]
            changed[place]["blind"] = "0" * 32
            expect_fault(rewritten(changed), why, place + 1, "--checkpoint", path)
        expect_fault(lines_of("exact"), "is of another ledger", 1, "--checkpoint", path)
    with NoteFile(late) as path:
        said = expect_good(lines, "--checkpoint", path, "--vkey", key, "--require", 1, "--witness", witness)
        assert said["checkpoints"][0]["witnesses"] == 1
    with NoteFile(late.replace("w.example", "v.example")) as path:
        expect_fault(lines, "0 witnesses", None, "--checkpoint", path, "--require", 1, "--witness", witness)
    for broken in (late.replace("\n20\n", "\n19\n"), late.replace("\n20\n", "\n020\n"), late[:-1], late + "\n",
                   late.replace("— w", "- w"), "", late.replace("\n\n", "\n")):
        with NoteFile(broken) as path:
            code, _ = verify(lines, "--checkpoint", path, "--vkey", key)
            assert code == 6, broken


@sentence("one bit that flips in an export with a checkpoint is found, whichever it is")
def flipped_bits():
    data = "".join(line + "\n" for line in lines_of("versions")[:8]).encode()
    lines = data.decode().splitlines()
    expect_good(data)
    with NoteFile(note(lines)) as path:
        text = pathlib.Path(path).read_bytes()
        for place in range(len(data)):
            changed = bytearray(data)
            changed[place] ^= 1 << place % 8
            checkpoint = verifier.read_checkpoints(path)
            reader = verifier.Reader(checkpoint)
            fault, _ = reader.read(io.BytesIO(changed))
            assert fault, f"bit {place % 8} of byte {place}"
    key = vkey("epsilog/" + json.loads(lines[0])["id"], SECRET)
    for place in range(len(text)):
        changed = bytearray(text)
        changed[place] ^= 1 << place % 8
        with NoteFile() as path:
            pathlib.Path(path).write_bytes(changed)
            try:
                notes = verifier.read_checkpoints(path)
                for checkpoint in notes:
                    checkpoint.check([verifier.VerifierKey(key, 1)], [], 0)
            except verifier.Fault:
                continue
        raise AssertionError(f"bit {place % 8} of byte {place} of the checkpoint")


@sentence("checkpoints that the command signs, and witnesses that it cosigns for, are found good")
def checkpoints_of_the_command():
    with tempfile.TemporaryDirectory(prefix="epsilog-verifier-") as folder:
        ledger = histories.Ledger(folder, histories.EVERYTHING + "    budget: {epsilon: 9}\n")
        keys = [ledger.run("key", "generate", "log.key").strip(),
                ledger.run("key", "generate", "w.key", "--name", "w.example/board", ledger=False).strip()]
        notes = []
        for number in range(2):
            ledger.ask("clinic", "count", "--epsilon", "1")
            notes.append(ledger.run("audit", "checkpoint", "--key", "log.key"))
            (ledger.folder / "new.note").write_text(notes[-1], encoding="utf-8")
            (ledger.folder / "new.proof").write_text(ledger.run(
                "audit", "consistency", *["old.note"][:number], "--checkpoint", "new.note"), encoding="utf-8")
            notes[-1] = ledger.run("audit", "cosign", "new.note", "--proof", "new.proof", "--key", "w.key", "--vkey",
                                   keys[0], ledger=False)
            (ledger.folder / "old.note").write_text(notes[-1], encoding="utf-8")
        with NoteFile(*notes) as path:
            said = expect_good(ledger.export(), "--checkpoint", path, "--vkey", keys[0], "--witness", keys[1])
        assert [(found["signed"], found["witnesses"]) for found in said["checkpoints"]] == [(True, 1)] * 2


def trailer(lines):
    return f"= {len(lines)} {base64.b64encode(root_of(lines)).decode()}"


@sentence("a replica ends with its last trailer, and every trailer has to match")
def replicas():
    lines = lines_of("versions")
    replica = lines[:4] + [trailer(lines[:4])] + lines[4:20] + [trailer(lines[:20])]
    whole = "".join(line + "\n" for line in replica).encode()
    more = "".join(line + "\n" for line in lines[20:22]).encode()
    end = trailer(lines[:22]).encode()
    said = expect_good(replica)
    assert said["replica"] == {"trailers": 2, "acknowledged": 20, "unacknowledged": 0}
    # A tail is torn where it lacks its last line feed, or holds bytes that were never written.
    for tail, left in ((b'{"half a li', 1), (more + b'{"half a li', 3), (more[:-1], 2), (more + end[:-4], 3), (more + end, 3),
                       (bytes(20), 1), (more + bytes(512) + b"\n", 3), (bytes(9) + b"\n" + more, 3)):
        assert expect_good(whole + tail)["replica"]["unacknowledged"] == left, tail
    # What ends with a line feed was written whole: its trailer was changed, or taken away.
    for tail in (more, b"\n", b"= 22 garbage\n", more + b"= 22 garbage\n", b'{"half a li\n', more + more,
                 more + end.replace(b" ", b"\t") + b"\n"):
        code, said = verify(whole + tail)
        assert code == 6, tail
    assert "written whole" in verify(whole + more)[1]["fault"]["why"]
    # A trailer that is right by its form acknowledges what stands before it, however wrong it is.
    expect_fault(whole + more + b"= 22" + bytes(1) + b"\n" + end + b"\n", "is no trailer", 25)
    swapped = replica + [lines[21], lines[20]]
    expect_fault(swapped, "is not 20", 23)
    expect_fault(swapped + [trailer(lines[:22])], "is not 20", 23)
    expect_fault(lines[:4] + [trailer(lines[:5])] + lines[4:], "says 5 lines", 5)
    expect_fault(lines[:4] + [trailer(lines[:4]).replace("= 4", "= 04")] + lines[4:], "is no trailer", 5)
    other = trailer(lines[:3]).replace("= 3", "= 4")
    expect_fault(lines[:4] + [other] + lines[4:], "another root", 5)
    expect_fault(lines[:4] + [lines[4]] + replica[4:], "says 4 lines", 6)
    expect_fault(lines[:4] + [trailer(lines[:4]).replace("= 4", f"= {2**53}")] + lines[4:], "is no trailer", 5)
    with NoteFile(note(lines[:22])) as path:
        expect_fault(whole + more[:-1], "20 lines are fewer", None, "--checkpoint", path)


@sentence("one bit that flips in a replica is found, but for its last line feed and flips to NUL in its last group")
def flipped_bits_of_a_replica():
    lines = lines_of("versions")[:7]
    kept = [lines[:4] + [trailer(lines[:4])], lines[4:] + [trailer(lines)]]
    first, data = ("".join(line + "\n" for line in part).encode() for part in (kept[0], kept[0] + kept[1]))
    expect_good(data)
    unseen = 0
    with NoteFile(note(lines)) as path:
        for place in range(len(data)):
            for bit in range(8) if EVERY_BIT or place >= len(data) - 80 else (place % 8,):
                changed = bytearray(data)
                changed[place] ^= 1 << bit
                reader = verifier.Reader()
                fault, _ = reader.read(io.BytesIO(changed))
                if not fault:  # what stands before it is as it was, and said to be all
                    assert reader.acknowledged == 4 and place >= len(first), f"bit {bit} of byte {place}"
                    assert changed[place] == 0 or place == len(data) - 1, f"bit {bit} of byte {place}"
                    unseen += 1
                    fault, _ = verifier.Reader(verifier.read_checkpoints(path)).read(io.BytesIO(changed))
                    assert fault, f"bit {bit} of byte {place}, with a checkpoint"
    assert unseen


@sentence("lines that are deleted, doubled, swapped, inserted or edited are named")
def disordered_lines():
    lines = lines_of("versions")
    other = lines_of("exact")
    for place in (0, 3, 9, 17, len(lines) - 2):
        expect_fault(lines[:place] + lines[place + 1:], "index", place + 1)
        expect_fault(lines[:place + 1] + lines[place:], "index", place + 2)
        swapped = lines[:place] + [lines[place + 1], lines[place]] + lines[place + 2:]
        expect_fault(swapped, "index", place + 1)
        expect_fault(lines[:place + 1] + [other[5]] + lines[place + 1:], "", place + 2)
        expect_fault(lines[:place] + [lines[place].replace('"time":', '"time": ')] + lines[place + 1:],
                     "canonical", place + 1)
        expect_fault(lines[:place] + [lines[place].replace('"index"', '"kind"')] + lines[place + 1:],
                     "", place + 1)
    expect_fault(lines[:6] + [""] + lines[6:], "is no JSON", 7)
    expect_fault("\n".join(lines).encode(), "line feed", len(lines))
    expect_fault([], "there is no line")


@sentence("what the command line says is told from what lines say")
def command_line():
    errors = io.StringIO()
    for given in (["--jobs"], ["x", "--jobs", "0"], [], ["x", "--vkey", "nonsense", "--checkpoint", "c"], ["x", "--require", "1"],
                  ["x", "--vkey", vkey("a", SECRET)], ["x", "--unknown"], ["x", "--policy-sha256", "ab"],
                  ["x", "--max-skew", "-1"], ["x", "--accept-unchecked", "everything"]):
        with redirect_stderr(errors):
            try:
                raise AssertionError(verifier.main(given))
            except SystemExit as ended:
                assert ended.code == 2, given
    with redirect_stderr(errors), redirect_stdout(io.StringIO()):
        assert verifier.main(["/nonexistent/lines"]) == 3
        assert verifier.main(["/nonexistent/lines", "--json"]) == 3
    text = "".join(line + "\n" for line in lines_of("versions"))
    for jobs, given, code in ((1, text, 4), (2, text, 4), (3, text.replace('"granted"', '"forfeited"'), 6)):
        program = subprocess.run([sys.executable, SOURCE / "verifier/epsilog_verify.py", "-", "--jobs", str(jobs)],
                                 input=given, capture_output=True, text=True, check=False)
        assert program.returncode == code and ("Nothing is wrong" in program.stdout) == (code == 4), program.stderr


# Whole histories.


@sentence("a recovery has the lines and the reason that its cause can have")
def recoveries():
    def with_restored(cause, change):
        def changed(history):
            place = find(history, "recovery", cause=cause)
            history[place]["restored_lines"] = change(place)
            return place
        return changed

    for cause in ("behind_replica", "restored"):
        forged("recovered", "restored_lines is not how many lines", with_restored(cause, lambda place: place + 1))
    forged("recovered", "restored_lines is not how many lines", with_restored("rebuilt", lambda place: place - 1))
    for cause in ("poisoned", "rolled_back"):
        forged("recovered", "cause has a reason, and no lines", with_restored(cause, lambda place: 1))

        def without_reason(history, cause=cause):
            place = find(history, "recovery", cause=cause)
            del history[place]["why"]
            return place
        forged("recovered", "cause has a reason", without_reason)


@sentence("every history that the command makes verifies")
def histories_verify():
    for make in histories.HISTORIES:
        code, said = verify(lines_of(make.__name__), *ACCEPT_ALL)
        assert code == 0, f"{make.__name__}: {said['fault']}"
    said = expect_good(lines_of("waiting"))
    assert {name for approval in said["approved_by_claim"] for name in approval["approved_by"]} >= {"carol", "bob"}


# Histories that could not have happened, each in canonical lines with the right numbers.


def granted(changed, **members):
    return find(changed, outcome="granted", **members)


@sentence("a forged value is found: off the grid, out of range, or not what follows from what was drawn")
def forged_values():
    def off_the_grid(changed):
        place = granted(changed)
        changed[place]["component_values"][0][0] = "0.3"
        changed[place]["values"][0] = "0.3"
        return place

    def out_of_range(changed):
        place = granted(changed)
        changed[place]["component_values"][0][0] = changed[place]["values"][0] = "1048576"
        return place

    def not_what_follows(changed):
        place = next(i for i, r in enumerate(changed) if len(r.get("component_values", ())) == 2)
        changed[place]["values"][0] = "17"
        return place

    def another_cell(changed):
        place = granted(changed)
        changed[place]["values"].append("0")
        return place

    forged("snapping", "not on the grid", off_the_grid)
    forged("snapping", "out of the range", out_of_range)
    forged("snapping", "follows from what was drawn", not_what_follows)
    forged("snapping", "another number of cells", another_cell)


@sentence("a forged balance is found: a movement that does not add up, a limit passed or raised without a line")
def forged_balances():
    def does_not_add_up(changed):
        place = granted(changed)
        changed[place]["movements"][0]["spent"] = "0.1"
        return place

    def raised(changed):
        place = granted(changed)
        changed[place]["movements"][0]["limit"] = "1001"
        return place

    def raised_by_a_line(changed):
        place = find(changed, kind="limit_change")
        changed[place]["new"] = "1000000"
        return place

    def passed(changed):
        for record in changed:
            for said in [record, *record.get("movements", ())]:
                if said.get("limit") == "9":
                    said["limit"] = "0.5"
            if record["kind"] == "policy" and record["version"] == 1:
                for account in record["implies"]["datasets"][0]["accounts"]:
                    account["limit"] = "0.5" if account["limit"] == "9" else account["limit"]
        return granted(changed)

    def other_limit_than_the_policy(changed):
        place = find(changed, kind="account")
        changed[place]["limit"] = "100000"

    def limit_line_left_out(changed):
        changed.pop(find(changed, kind="limit_change"))

    def of_nobody(changed):
        place = granted(changed)
        del changed[place]["movements"]
        return place

    forged("snapping", "does not add up", does_not_add_up)
    forged("snapping", "a limit that account", raised)
    forged("versions", "new is not what the policy declares", raised_by_a_line)
    forged("versions", "pass the limit", passed)
    forged("snapping", "is not the limit of the active policy", other_limit_than_the_policy)
    forged("versions", "of its kind", limit_line_left_out)
    forged("snapping", "charge nothing", of_nobody)


@sentence("a forged debit is found: an account left out, or one that the policy does not name")
def forged_debits():
    def left_out(changed):
        place = granted(changed)
        gone = changed[place]["movements"].pop(0)["account"]
        for number, movement in enumerate(changed[place]["movements"], 1):
            movement["position"] = number
        for record in changed[place + 1:]:
            record["movements"] = [m for m in record.get("movements", ()) if m["account"] != gone]
            if not record["movements"]:
                del record["movements"]
        balances_again(changed)
        return place

    def another_block(changed):
        place = granted(changed)
        movements = changed[place]["movements"]
        taken = {movement["account"] for movement in movements}
        block = next(r["account"] for r in changed if r["kind"] == "account" and r["account"] not in taken
                     and r["measure"] == "epsilon" and r["scope"].startswith("block:"))
        extra = {"account": block, "limit": "20", "reserved": "0", "spent": "0.1", "spent_change": "0.1"}
        movements.append(extra)
        movements.sort(key=lambda movement: movement["account"])
        balances_again(changed)
        return place

    forged("blocks", "do not charge the accounts", left_out)
    forged("blocks", "do not charge the accounts", another_block)
    forged("labelled", "do not charge the accounts", left_out)


@sentence("a value of others is found where who asked committed it, or had its token")
def values_of_others():
    def by_who_asked(outcome, supplier):
        def change(changed):
            later = [at for at, record in enumerate(changed) if record["kind"] == "decision" and "parent" in record
                     and record["outcome"] == outcome and record["principal"] == supplier]
            changed[later[-1]]["principal"] = "ann"
            return later[-1]
        return change

    forged("waiting", "may not commit this", by_who_asked("granted", "carol"))
    forged("waiting", "may not commit this", by_who_asked("data_accessed", "dave"))


@sentence("a forged approval is found: by who asked, by who may not, twice by one, or too few")
def forged_approvals():
    def by(principal):
        def change(changed):
            place = find(changed, outcome="approved")
            changed[place]["principal"] = principal
            return place
        return change

    def twice(changed):
        first = find(changed, outcome="approved", principal="carol")
        second = find(changed, outcome="approved", principal="bob")
        changed[second]["principal"] = "carol"
        assert changed[first]["parent"] == changed[second]["parent"]
        return second

    def too_few(changed):
        changed.pop(find(changed, outcome="approved", principal="bob"))
        renumber(changed)

    forged("waiting", "is who asked", by("ann"))
    forged("waiting", "may not approve", by("eve"))
    forged("waiting", "approved before", twice)
    forged("waiting", "has 1 approvals of 2", too_few)


@sentence("a forged course of events is found: resolved twice, without a token, late, refunded, or out of nothing")
def forged_courses():
    def resolved_twice(changed):
        place = next(i for i, r in enumerate(changed) if r.get("outcome") == "granted" and "parent" in r)
        again = copy.deepcopy(changed[place])
        again["id"] = next_id(again["id"])
        changed.insert(place + 1, again)
        renumber(changed)
        return place + 1

    def without_a_token(changed):
        changed.pop(find(changed, outcome="data_accessed"))
        renumber(changed)

    def late(changed):
        place = find(changed, outcome="approved")
        return put_off(changed, place, 72 * 3600 * 1000)

    def refunded(changed):
        place = find(changed, outcome="forfeited")
        changed[place]["outcome"] = "voided"
        for movement in changed[place]["movements"]:
            del movement["spent_change"]
        balances_again(changed)
        return place

    def of_nothing(changed):
        place = next(i for i, r in enumerate(changed) if r.get("outcome") == "granted" and "parent" in r)
        changed[place]["parent"] = "01JNDG9VW84S9988CEQ4DSW1RD"
        return place

    def back_in_time(changed):
        place = granted(changed)
        changed[place + 1]["time"] = "2020-01-01T00:00:00.000Z"
        return place + 1

    def settled_for_less(changed):
        place = next(i for i, r in enumerate(changed) if r.get("outcome") == "granted" and "parent" in r)
        for movement in changed[place]["movements"]:
            movement["spent_change"] = movement["spent_change"].replace("0.75", "0.5")
            movement["reserved_change"] = "-0.5"
        balances_again(changed)
        return place

    forged("waiting", "no request that is open", resolved_twice)
    forged("waiting", "has no token before it", without_a_token)
    forged("waiting", "not before the deadline", late)
    forged("waiting", "gives back what may have been seen", refunded)
    forged("waiting", "no request that is open", of_nothing)
    forged("waiting", "goes back", back_in_time)
    forged("waiting", "settle what was not reserved", settled_for_less)


@sentence("a forged request is found: a key bound twice, a question that is forbidden, another version or principal")
def forged_requests():
    def bound_twice(changed):
        first = next(r["key"] for r in changed if "key" in r)
        place = next(i for i, r in enumerate(changed) if r.get("key", first) != first)
        changed[place]["key"] = first
        return place

    def forbidden(changed):
        policy = changed[find(changed, kind="policy")]
        policy["implies"]["datasets"][0]["forbid"].append({"roles": ["research"], "statistics": ["units"]})
        plans = [r["number"] for r in changed if r.get("question", {}).get("statistic") == "units"]
        return next(i for i, r in enumerate(changed) if r.get("plan") in plans)

    def of_the_source(rule):
        """Rules of a column are about those derived from it: the first plan by band, under another rule."""
        def change(changed):
            said = changed[find(changed, kind="policy")]["implies"]["datasets"][0]
            for name, lists in rule.items():
                said[name] = {**said[name], **lists} if name == "allow" else lists
            plans = [r["number"] for r in changed if r.get("question", {}).get("by") == "band"]
            return next(i for i, r in enumerate(changed) if r.get("plan") in plans and r["outcome"] == "granted")
        return change

    def by_nobody(changed):
        place = granted(changed)
        changed[place]["principal"] = "eve"
        return place

    def another_version(changed):
        place = max(i for i, r in enumerate(changed) if r.get("outcome") == "granted")
        changed[place]["policy_version"] = 1
        return place

    def unknown_rules(changed):
        place = granted(changed)
        changed[place]["rules"] = verifier.RULES + 1
        return place

    def policy_text(changed):
        place = find(changed, kind="policy")
        changed[place]["yaml"] += "# less"
        return place

    def of_unread(decision=None, question=None):
        """Of somebody who may not ask the dataset: what the line of the decision, or the kept question, says more."""
        def change(changed):
            place = next(i for i, r in enumerate(changed) if r.get("question", {}).keys() == {"dataset"})
            changed[place]["question"].update(question or {})
            changed[place + 1].update(decision or {})
            return place + 1
        return change

    def unread_and_answered(changed):
        place = next(i for i, r in enumerate(changed) if r.get("question", {}).keys() == {"dataset"})
        changed[place]["release"] = next(r["release"] for r in changed if "release" in r)
        return place

    forged("blocks", "keeps the question of somebody", of_unread(question={"statistic": "count", "epsilon": "1"}))
    refusal = next(r for r in records("blocks") if r["kind"] == "decision" and r["principal"] == "eve")
    other_reason = [{**refusal["reasons"][0], "code": "purpose_not_allowed"}]
    for more in ({"principal": "ann"}, {"key": "k9"}, {"purpose": "report"}, {"reservation": "plain"},
                 {"reasons": other_reason}, {"reasons": refusal["reasons"] + other_reason}):
        forged("blocks", "keeps no question", of_unread(decision=more))
    forged("blocks", "answers a request of which no question is kept", unread_and_answered)
    forged("snapping", "key is bound already", bound_twice)
    forged("blocks", "rule 2 under forbid applies", forbidden)
    forged("derived", "rule 1 under forbid applies", of_the_source({"forbid": [{"by": ["age"]}]}))
    forged("derived", "rule 1 under forbid applies", of_the_source({"forbid": [{"by": ["band"]}]}))
    forged("derived", "by does not allow band", of_the_source({"allow": {"by": ["ward", "wing"]}}))
    forged("blocks", "eve is not among who may ask", by_nobody)
    forged("versions", "not the active version", another_version)
    forged("versions", "rules has a value that is none of its form", unknown_rules)
    forged("versions", "not the SHA-256", policy_text)


@sentence("a forged quantile is found: another value, mechanism or error, or one that the policy does not name")
def forged_quantiles():
    def plan_of(changed, statistic, dataset="clinic"):
        return next(place for place, record in enumerate(changed) if record["kind"] == "plan" and (
            record["question"]["statistic"], record["question"]["dataset"]) == (statistic, dataset))

    def value(number, statistic="quantile:age:0.5", dataset="clinic"):
        def change(changed):
            plan = changed[plan_of(changed, statistic, dataset)]["number"]
            place = granted(changed, plan=plan)
            changed[place]["component_values"][0][0] = changed[place]["values"][0] = number
            return place
        return change

    def component(member, number, statistic="quantile:age:0.5", dataset="clinic"):
        def change(changed):
            place = plan_of(changed, statistic, dataset)
            said = changed[place]["release"]["components"][0]
            assert said[member] != number
            said[member] = number
            return place
        return change

    def by_another(changed):
        place = plan_of(changed, "quantile:age:0.5")
        changed[place]["release"]["mechanism"] = "exponential"
        return place

    def of_a_count(changed):
        place = plan_of(changed, "quantile:age:0.5")
        changed[place]["question"]["statistic"] = "count"
        return place

    def not_named(changed):
        place = find(changed, kind="policy")
        del changed[place]["implies"]["datasets"][0]["allow"]["statistics"]
        return place

    def asked_as(statistic):
        def change(changed):
            place = plan_of(changed, "quantile:age:0.5")
            changed[place]["question"]["statistic"] = statistic
            return place
        return change

    def of_other_cells(other):
        def change(changed):
            place = plan_of(changed, "quantiles:age:0.5,0.9")
            changed[place]["release"]["cells"] = other(changed[place]["release"]["cells"])
            return place
        return change

    several = "quantiles:age:0.1,1/3,0.5,0.9"
    for statistic in ("quantile:age", "quantile:age:", "quantile:age:half", "quantile:age:0.50", "quantile:age:0",
                      "quantile:age:1", "quantile:age:0.5,0.6", "quantiles:age:0.5", "quantiles:age:0.5,0.5",
                      "quantiles:age:0.6,0.5", "quantiles:age:" + ",".join(
                          verifier_text(verifier.Fraction(n, 1000)) for n in range(1, 101))):
        forged("quantiles", "asks for quantiles that are none", asked_as(statistic))
    forged("quantiles", "no value that a quantile can have", value("7"))
    forged("quantiles", "no value that a quantile can have", value("115"))
    forged("quantiles", "no value that a quantile can have", value("-5"))
    forged("quantiles", "no value that a quantile can have", value("8", "quantiles:seven:0.2,0.7", "swapped"))
    forged("quantiles", "no value that a quantile can have", value("19877", "quantile:seen:0.5", "cohort"))
    forged("quantiles", "no value that a quantile can have", value("-4", "quantile:seen:0.5", "cohort"))
    forged("quantiles", "no value that a quantile can have", value("19729", "quantile:holiday:0.5", "cohort"))
    forged("quantiles", "has not quantile_day", component("statistic", "quantile", "quantile:seen:0.5", "cohort"))
    forged("quantiles", "has not quantile where", component("statistic", "quantile_day"))
    forged("quantiles", "sensitivity below what one unit can change", component("sensitivity", "1.499999"))
    forged("quantiles", "sensitivity below what one unit can change",
           component("sensitivity", "4.79", several, "swapped"))
    by = "quantiles:age:0.5,0.9"
    for dataset in ("swapped", "cohort"):  # 10/3 were of a single cell
        forged("quantiles", "sensitivity below what one unit can change", component("sensitivity", "5.39", by, dataset))
    forged("quantiles", "sensitivity below what one unit can change", component("sensitivity", "2.69", by))
    forged("quantiles", "sensitivity below what one unit can change", component("coordinates", 2, by))
    for other in (lambda cells: cells[0], lambda cells: cells[::-1], lambda cells: [cells[0], ["0.5", "0.8"]]):
        forged("quantiles", "has not the cells that the policy declares", of_other_cells(other))
    forged("quantiles", "which is more", component("scale", "4.28"))
    forged("quantiles", "which is more", component("scale", "10", several))
    forged("quantiles", "says less rho than its scale means", component("rho", "0.06", "quantile:age:0.5", "cohort"))
    forged("quantiles", "is by another mechanism than the policy's", by_another)
    forged("quantiles", "is by another mechanism than the policy's", of_a_count)
    forged("quantiles", "implies `statistics`, which is missing", not_named)


@sentence("a forged count of cells, proportion or count of distinct values is found")
def forged_counts_of_cells():
    def plan_of(changed, statistic, dataset):
        return next(place for place, record in enumerate(changed) if record["kind"] == "plan" and (
            record["question"]["statistic"], record["question"]["dataset"]) == (statistic, dataset))

    def component(member, number, statistic, dataset="clinic"):
        def change(changed):
            place = plan_of(changed, statistic, dataset)
            said = changed[place]["release"]["components"][0]
            assert said[member] != number
            said[member] = number
            return place
        return change

    def asked_as(statistic, other):
        def change(changed):
            place = plan_of(changed, statistic, "clinic")
            changed[place]["question"]["statistic"] = other
            return place
        return change

    def by_recipe(changed):
        place = plan_of(changed, "proportion:ward:A", "clinic")
        changed[place]["release"]["post_processing"]["kind"] = "rounded"
        return place

    def drawn(change_row):
        def change(changed):
            plan = changed[plan_of(changed, "proportion:ward:A", "cohort")]["number"]
            place = granted(changed, plan=plan)
            change_row(changed[place])
            return place
        return change

    def another_share(record):
        record["values"][0] = "0.125"

    def one_count(record):
        del record["component_values"][0][1]

    def allowing(*statistics):
        def change(changed):
            place = find(changed, kind="policy")
            allow = changed[place]["implies"]["datasets"][0]["allow"]
            allow["statistics"] = sorted(statistics)
            return granted(changed)
        return change

    for statistic, dataset, least in (("count:age", "clinic", "2.9"), ("proportion:ward:A", "clinic", "2.9"),
                                      ("proportion:ward:A", "swapped", "5.9"), ("distinct:ward", "clinic", "2.9"),
                                      ("distinct:emergency", "cohort", "1.9")):
        forged("counted", "sensitivity below what one unit can change",
               component("sensitivity", least, statistic, dataset))
    forged("counted", "sensitivity below what one unit can change", component("coordinates", 1, "proportion:ward:A"))
    forged("counted", "sensitivity below what one unit can change",
           component("sensitivity_l2_squared", "3.9", "distinct:emergency", "swapped"))
    forged("counted", "follows otherwise from its components", by_recipe)
    forged("counted", "follows otherwise from its components", asked_as("proportion:ward:A", "count:ward"))
    forged("counted", "asks for a value that the policy does not declare",
           asked_as("proportion:ward:A", "proportion:ward:D"))
    forged("counted", "asks about a column that the policy does not declare", asked_as("count:age", "count:height"))
    forged("counted", "asks a statistic that is not known", asked_as("distinct:ward", "distinct:ward:A"))
    forged("counted", "follows from what was drawn", drawn(another_share))
    forged("counted", "another number of components or cells", drawn(one_count))
    forged("counted", "statistics does not allow count_of", allowing("count", "distinct", "proportion"))


@sentence("a forged ratio is found, and a forged variance over a private number of rows")
def forged_ratios():
    def plan_of(changed, statistic, dataset):
        return next(place for place, record in enumerate(changed) if record["kind"] == "plan" and (
            record["question"]["statistic"], record["question"]["dataset"]) == (statistic, dataset))

    def component(part, member, number, statistic, dataset="clinic"):
        def change(changed):
            place = plan_of(changed, statistic, dataset)
            said = changed[place]["release"]["components"][part]
            assert said[member] != number
            said[member] = number
            return place
        return change

    def recipe(dataset="clinic", **members):
        def change(changed):
            place = plan_of(changed, "ratio:cost,age", dataset)
            post = changed[place]["release"]["post_processing"]
            assert any(post.get(name) != member for name, member in members.items())
            post.update(members)
            return place
        return change

    def asked_as(statistic, other):
        def change(changed):
            place = plan_of(changed, statistic, "clinic")
            changed[place]["question"]["statistic"] = other
            return place
        return change

    def another_quotient(changed):
        plan = changed[plan_of(changed, "ratio:cost,age", "clinic")]["number"]
        place = granted(changed, plan=plan)
        changed[place]["values"][0] = "0.125"
        return place

    def under(statistic, change_implied):
        def change(changed):
            place = find(changed, kind="policy")
            change_implied(next(one for one in changed[place]["implies"]["datasets"] if one["name"] == "clinic"))
            return granted(changed, plan=changed[plan_of(changed, statistic, "clinic")]["number"])
        return change

    def allowing(statistic, *statistics):
        def change(dataset):
            dataset["allow"]["statistics"] = sorted(statistics)
        return under(statistic, change)

    def of_columns(statistic, *columns):
        def change(dataset):
            dataset["allow"]["columns"] = list(columns)
        return under(statistic, change)

    def forbidding(statistic, **rule):
        def change(dataset):
            dataset["forbid"] = [rule]
        return under(statistic, change)

    for part, dataset, least in ((0, "clinic", "14999"), (1, "clinic", "332.9"), (0, "swapped", "15029"),
                                 (1, "known", "332.9"), (0, "cohort", "15029")):
        forged("ratios", "sensitivity below what one unit can change",
               component(part, "sensitivity", least, "ratio:cost,age", dataset))
    for part, least in ((0, "9240"), (1, "166"), (2, "2.9")):
        forged("ratios", "sensitivity below what one unit can change",
               component(part, "sensitivity", least, "variance:age"))
    forged("ratios", "has not denominator where that is needed",
           component(1, "statistic", "count", "ratio:cost,age"))
    for members in ({"lower": "-1"}, {"upper": "5000"}, {"kind": "mean_about", "centre": "0"}):
        forged("ratios", "follows otherwise from its components", recipe(**members))
    forged("ratios", "is there for what is about it", recipe(centre="1"))
    forged("ratios", "asks for a ratio that is none", asked_as("ratio:cost,age", "ratio:cost,cost"))
    forged("ratios", "asks for a ratio that is none", asked_as("ratio:cost,age", "ratio:cost"))
    forged("ratios", "divides by what may be below 0", asked_as("ratio:cost,age", "ratio:age,cost"))
    forged("ratios", "asks about a column that the policy does not declare",
           asked_as("ratio:cost,age", "ratio:cost,height"))
    forged("ratios", "follows from what was drawn", another_quotient)
    forged("ratios", "statistics does not allow ratio", allowing("ratio:cost,age", "mean", "variance"))
    forged("ratios", "statistics does not allow private_variance", allowing("variance:age", "ratio", "variance"))
    forged("ratios", "columns does not allow cost, age", of_columns("ratio:cost,age", "cost", "dose"))
    forged("ratios", "rule 1 under forbid applies", forbidding("ratio:cost,age", columns=["age"], statistics=["ratio"]))
    forged("ratios", "rule 1 under forbid applies", forbidding("variance:age", statistics=["private_variance"]))
    forged("ratios", "rule 1 under forbid applies",
           forbidding("variance:dose", statistics=["variance"], columns=["dose"]))


@sentence("a forged table is found: other columns, other cells, or a sensitivity that is not that of its cells")
def forged_tables():
    def plan_of(changed):
        return find(changed, kind="plan")

    def grouped(by):
        def change(changed):
            place = plan_of(changed)
            changed[place]["question"]["by"] = by
            return place
        return change

    def cells(keys):
        def change(changed):
            place = plan_of(changed)
            changed[place]["release"]["cells"] = keys
            return place
        return change

    def coordinates(changed):
        place = next(place for place, record in enumerate(changed)
                     if record["kind"] == "plan" and record["question"]["dataset"] == "swapped")
        changed[place]["release"]["components"][0]["coordinates"] = 3
        return place

    def not_allowed(changed):
        place = find(changed, kind="policy")
        changed[place]["implies"]["datasets"][0]["allow"]["by"] = ["age", "ward"]
        return granted(changed)

    def suppressed(below, statistic="mean:cost", **without):
        def change(changed):
            place = next(place for place, record in enumerate(changed)
                         if record["kind"] == "plan" and "suppress_below" in record["question"])
            question = changed[place]["question"]
            question["suppress_below"] = below
            question.update(statistic=statistic)
            for name in without:
                del question[name]
            return place
        return change

    for change in map(suppressed, ("0", "-1", "few", "5.0", 5)):
        forged("tables", "suppress_below has a value that is none of its form", change)
    for change in (suppressed("5", "sum:cost"), suppressed("5", "count", by=None)):
        forged("tables", "suppresses what is no counted cell", change)
    wards, truths = ["A", "B", "C"], ["false", "true"]
    for by in ([], ["ward"], ["ward", 1], {"ward": "emergency"}):
        forged("tables", "by has a value that is none of its form", grouped(by))
    for by in (["ward", "ward"], ["ward", "emergency", "band", "age"]):
        forged("tables", "is grouped by what are no columns", grouped(by))
    for by in ("ward", ["emergency", "ward"], ["ward", "band"]):
        forged("tables", "has not the cells that the policy declares", grouped(by))
    for keys in ([truths, wards], [wards, ["false"]], wards * 2, [wards, ["true", "false"]]):
        forged("tables", "has not the cells that the policy declares", cells(keys))
    forged("tables", "sensitivity below what one unit can change", coordinates)
    forged("tables", "by does not allow ward, emergency", not_allowed)


@sentence("a forged table with totals is found: without them, with another share, or a total that was drawn otherwise")
def forged_totals():
    def first(of, **said):
        def place(changed):
            return next(place for place, record in enumerate(changed) if record["kind"] == "plan" and
                        record["question"].get("statistic") == of and said.items() <= record["question"].items())
        return place

    def asked(find_plan, **members):
        def change(changed):
            place = find_plan(changed)
            question = changed[place]["question"]
            question.update(members)
            for name in [name for name in members if members[name] is None]:
                del question[name]
            return place
        return change

    def made(find_plan, edit):
        def change(changed):
            place = find_plan(changed)
            edit(changed[place]["release"])
            return place
        return change

    def answered(find_plan, edit):
        def change(changed):
            number = changed[find_plan(changed)]["number"]
            place = next(place for place, record in enumerate(changed) if record.get("plan") == number)
            edit(changed[place])
            return place
        return change

    def parts(edit):
        return lambda release: edit(release["components"])

    def moved(components):
        for place, units in ((1, 46666666665), (2, 46666666667)):
            components[place]["epsilon"] = f"0.{units:012}"

    count = first("count", totals="0.2")
    fitted = first("sum:age", consistent=True)
    whole = first("count", totals="0.01")
    for why, change in (
            ("asks for totals that are none", asked(count, totals="1")),
            ("asks for totals that are none", asked(count, totals="0")),
            ("totals has a value that is none of its form", asked(count, totals=1)),
            ("asks for totals that are none", asked(count, statistic="mean:cost")),
            ("asks for totals that are none", asked(fitted, totals=None)),
            ("add up what does not", asked(first("units"), consistent=True)),
            ("hides cells that follow from what it shows", asked(count, consistent=True, suppress_below="5")),
            ("follows otherwise from its components than was asked", asked(count, consistent=True)),
            ("follows otherwise from its components than was asked", asked(fitted, consistent=None)),
            ("has not the components of its statistic", asked(count, totals=None)),
            ("shares epsilon out otherwise than was asked", asked(count, totals="0.25")),
            ("shares epsilon out otherwise than was asked", made(count, parts(moved))),
            ("is of a table with a component for each of its margins", made(count, parts(list.pop))),
            ("below what one unit can change", made(count, parts(lambda said: said[1].update(sensitivity="1")))),
            ("is there, unless of totals", made(count, lambda release: release["post_processing"].update(lower="0"))),
            ("of another number of components or cells",
             answered(count, lambda record: record["component_values"][1].pop())),
            ("of another number of components or cells", answered(count, lambda record: record["component_values"].pop())),
            ("where", answered(count, lambda record: record["values"].__setitem__(-1, "12345678"))),
            ("of another number of cells", answered(count, lambda record: record["values"].pop())),
            ("of another number of cells", answered(count, lambda record: record.pop("values"))),
            ("of another number of cells", answered(fitted, lambda record: record.update(values=["1"] * 12)))):
        forged("totals", why, change)

    def not_rounded(changed):
        made(whole, lambda release: release["post_processing"].update(kind="totals"))(changed)

    forged("totals", "follows from what was drawn", not_rounded)


@sentence("what is made to add up is computed from the draws, as the program shows it")
def consistent_values():
    with tempfile.TemporaryDirectory(prefix="epsilog-verifier-") as folder:
        ledger = histories.totals(folder)
        lines = ledger.folder / "totals.lines"
        lines.write_text("\n".join(ledger.export()) + "\n", encoding="utf-8")
        seen = 0
        for line in ledger.export():
            record = json.loads(line)
            if record["kind"] != "decision" or record["outcome"] != "granted":
                continue
            shown = json.loads(ledger.run("show", record["id"], "--json"))
            cells = [cell for answer in shown.get("rows", [shown]) for cell in answer["cells"]]
            values = [Fraction(cell["value"]) for cell in cells if not cell.get("suppressed")]
            if len(values) != len(cells):
                continue
            reader = verifier.Reader(shown=record["id"])
            with open(lines, "rb") as file:
                assert reader.read(file) == (None, None)
            assert [Fraction(value) for value in reader.history.values] == values, record["id"]
            seen += "consistent_totals" in json.dumps([shown["post_processing"], shown.get("rows")])
        assert seen == 4, f"{seen} and not three tables and a batch"


# Losses, recomputed.


@sentence("a forged batch is found: a row left out, moved, cheaper or answered by another, or a block charged too little")
def forged_batches():
    def plan_of(changed, rows=2):
        """The first answered plan of so many rows at least."""
        return next(place for place, record in enumerate(changed)
                    if len(record.get("release", {}).get("rows", ())) >= rows)

    def in_plan(change, rows=2):
        def changed(records_of):
            place = plan_of(records_of, rows)
            change(records_of[place])
            return place
        return changed

    def in_answer(change):
        def changed(records_of):
            place = plan_of(records_of) + 1
            change(records_of[place])
            return place
        return changed

    def set_row(number, name, value, of="release"):
        def change(plan):
            plan[of]["rows"][number][name] = value
        return change

    def swap(name, first, second):
        def change(decision):
            list_of = decision[name]
            list_of[first], list_of[second] = list_of[second], list_of[first]
        return change

    def drop(name):
        return lambda decision: decision[name].pop()

    def without_row(plan):
        plan["question"]["rows"].pop()

    def both(plan):
        plan["question"]["epsilon"] = "1"

    def beside(plan):
        plan["release"]["rows"][0]["components"], plan["release"]["rows"][1]["components"] = 2, 1

    def less(plan):
        row = plan["release"]["rows"][0]
        row["charged"] = row["requested"] = "0.25"

    for why, change in (
            ("has another number of rows than were asked", in_plan(without_row)),
            ("is no batch of rows", in_plan(both)),
            ("has rows that are no questions", in_plan(set_row(0, "statistic", "value:score", "question"))),
            ("charges another epsilon than was asked for", in_plan(set_row(0, "epsilon", "0.25", "question"))),
            ("says charged what", in_plan(less)),
            ("says charged what its rows do not add up to", in_plan(lambda plan: plan["release"].update(charged="3"))),
            ("says adjusted what its rows", in_plan(lambda plan: plan["release"].update(adjusted="3"))),
            ("says requested what its rows", in_plan(lambda plan: plan["release"].update(requested="3"))),
            ("has another number of components", in_plan(beside)),
            ("are those of a batch", in_plan(set_row(0, "components", 2))),
            ("are those of a batch", in_plan(lambda plan: plan["release"].update(mechanism="snapping"))),
            ("are those of a batch", in_plan(set_row(0, "mechanism", "batch"))),
            ("is by another mechanism", in_plan(set_row(0, "arithmetic", "exact"))),
            ("has not the cells", in_plan(set_row(1, "cells", ["A", "B", "X"]))),
            ("another number of components or cells", in_answer(swap("component_values", 0, 1))),
            ("follows from what was drawn", in_answer(swap("values", 0, 1))),
            ("another number", in_answer(drop("values"))),
            ("another number", in_answer(drop("component_values"))),
            ("are of more rows", in_answer(lambda decision: decision["values"].append("1")))):
        forged("batches", why, change)

    def block_charged_less(changed):
        blocks = {r["account"]: r["measure"] for r in changed
                  if r["kind"] == "account" and r.get("scope", "").startswith("block:")}
        place = max(i for i, r in enumerate(changed) if r.get("outcome") == "granted"
                    and blocks.keys() & {m["account"] for m in r["movements"]})
        movement = next(m for m in changed[place]["movements"] if m["account"] in blocks)
        unit = verifier.Fraction(1, 10 ** verifier.grid_digits(blocks[movement["account"]]))
        movement["spent_change"] = text_of(verifier.quantity(movement["spent_change"]) - unit)
        balances_again(changed)
        return place

    forged("batches", "than is proved to be lost", block_charged_less)


@sentence("a forged batch that is charged as one is found: below its bound, above the sum, at another delta or by another")
def forged_composed():
    by = {"pld": None, "zcdp": None, "sum": None}
    changed = records("composed")
    for record in changed:
        said = record.get("release", {}).get("composed")
        if said and by[said["accountant"]] is None:
            by[said["accountant"]] = record["number"]
    assert None not in by.values(), by
    unchecked = {entry["kind"]: entry["count"] for entry in expect_good(rewritten(changed))["unchecked"]}
    assert unchecked == {"implies": 1, "pld": 4, "vouching": 1}, unchecked

    def in_plan(change, of="pld"):
        def changed(records_of):
            place = next(i for i, r in enumerate(records_of) if r["kind"] == "plan" and r["number"] == by[of])
            change(records_of[place])
            return place
        return changed

    def set_release(name, value):
        return lambda plan: plan["release"].update({name: value})

    def set_composed(name, value):
        return lambda plan: plan["release"]["composed"].update({name: value})

    def less(plan):
        """One unit of the grid."""
        plan["release"]["charged"] = text_of(verifier.quantity(plan["release"]["charged"])
                                             - verifier.Fraction(1, 10**6))

    for why, change in (
            ("for more than the sum", in_plan(set_release("charged", "50"))),
            ("for more than the sum", in_plan(set_release("charged", "0"))),
            ("less than follows from its rho", in_plan(less, "zcdp")),
            ("less than follows from its rho", in_plan(set_composed("accountant", "zcdp"))),
            ("is not charged the sum", in_plan(set_composed("accountant", "sum"))),
            ("is not charged the sum", in_plan(less, "sum")),
            ("at another delta than was asked", in_plan(set_composed("delta", "0.000002"))),
            ("at another delta than was asked", in_plan(lambda plan: plan["release"].pop("composed"))),
            ("at another delta than was asked", in_plan(lambda plan: plan["question"].pop("delta"))),
            ("at another delta than was asked", in_plan(lambda plan: plan["question"].update(delta="0.000002"))),
            ("delta below what its rows lose", in_plan(lambda plan: (plan["question"].update(delta="0.000000009"),
                                                                     set_composed("delta", "0.000000009")(plan)))),
            ("is none of", in_plan(set_composed("accountant", "optimal"))),
            ("a delta above 0 and below 1", in_plan(set_composed("delta", "0")))):
        forged("composed", why, change)

    def movement(change, dataset, scope, measure):
        """The first answer that such an account is charged for."""
        def changed(records_of):
            accounts = [r["account"] for r in records_of if r["kind"] == "account" and r["dataset"] == dataset
                        and r.get("scope", "").startswith(scope) and r["measure"] == measure]
            place, found = next((i, m) for i, r in enumerate(records_of) if r.get("outcome") == "granted"
                                for m in r["movements"] if m["account"] in accounts and "spent_change" in m)
            found["spent_change"] = text_of(change(verifier.quantity(found["spent_change"])))
            balances_again(records_of)
            return place
        return changed

    unit = verifier.Fraction(1, 10**12)
    for why, change in (
            ("another amount than was asked for", movement(lambda n: n - unit, "clinic", "", "epsilon")),
            ("another amount than was asked for", movement(lambda n: n + unit, "clinic", "", "epsilon")),
            ("another amount than was asked for", movement(lambda n: n / 2, "clinic", "", "delta")),
            ("another amount than was asked for", movement(lambda n: n - unit, "mixed", "principal:", "epsilon")),
            ("than is proved to be lost", movement(lambda n: n / 2, "mixed", "role:", "rho")),
            ("another amount than was asked for", movement(lambda n: n - unit, "cohort", "lifetime", "epsilon")),
            ("another amount than was asked for", movement(lambda n: n / 2, "cohort", "block:", "delta")),
            ("for more than the sum", movement(lambda n: n + 1, "cohort", "block:2024-06", "epsilon"))):
        forged("composed", why, change)


@sentence("enclosures hold what they enclose: exponentials, logarithms, tails and deltas of discrete Gaussian noise")
def enclosures():
    read = verifier.Fraction
    known = {  # docs of the mechanisms' proofs; e, 1/e^1.5, ln 10 and -ln 3 to twenty digits
        verifier.exp(read(1), 120): "2.7182818284590452354", verifier.exp(read(-3, 2), 120): "0.2231301601484298289",
        verifier.ln(read(10), 120): "2.3025850929940456840", verifier.ln(read(1, 3), 120): "-1.0986122886681096914",
    }
    for real, digits in known.items():
        assert real.high - real.low < 2**16
        unit = read(1, 10**19)
        assert abs(read(real.low, 2**120) - read(digits)) <= unit, digits
    for scale, epsilon, distance, expected in (("5", 1, 1, "1.829e-8"), ("0.58", 6, 2, "0.157"),
                                               ("0.65", 6, 2, "0.187"), ("0.8", 6, 2, "0.072")):
        real = verifier.discrete_gaussian_delta(read(scale), read(epsilon), distance, 192)
        error = abs(read(real.low, 2**192) / read(expected) - 1)
        assert real.high - real.low < 2**16 and error < read(1, 200), scale
    # Where both ways to sum a tail can be taken, they agree.
    for a, scale in ((0, 45), (100, 45), (300, 50), (700, 90)):
        scale = read(scale)
        summed = verifier.tail(a, scale * read(1), 192)
        directly = sum(verifier.exp(-read(2 * a * j + j * j) / (2 * scale * scale), 192).low for j in range(1500))
        assert abs(summed.low - directly) < 2**12 and summed.low <= summed.high <= summed.low + 2**20


@sentence("a forged calibration is found: less noise, less sensitivity, less loss than is proved, in every mechanism")
def forged_calibrations():
    def component(**changes):
        def change(changed):
            for place, record in enumerate(changed):
                if "release" in record and changes["mechanism"] == record["release"]["mechanism"] and (
                        changes["arithmetic"] == record["release"]["arithmetic"]) and (
                        changes.get("cells", 1) == len(record["release"].get("cells", [1]))) and (
                        record["question"]["statistic"] == changes.get("statistic", "count")):
                    said = record["release"]["components"][0]
                    name, factor = changes["change"]
                    number = verifier.quantity(str(said[name]))
                    number = factor(number) if callable(factor) else number * factor
                    said[name] = int(number) if name == "coordinates" else verifier_text(number)
                    if name == "sensitivity" and "grid_sensitivity" in said:
                        said["grid_sensitivity"] = said[name]
                    return place
            raise AssertionError(changes)
        return change

    def one_bit_less(scale):  # of 118
        return scale - verifier.Fraction(2)**(scale.numerator.bit_length() - scale.denominator.bit_length() - 117)

    def other_sensitivity(**of):
        """A number that the mechanism does not have, and that would be checked by nothing."""
        def change(changed):
            place = component(**of, change=("coordinates", 1))(changed)
            said = changed[place]["release"]["components"][0]
            for name in ("grid_sensitivity", "grid_sensitivity_l2_squared"):
                said.setdefault(name, said["sensitivity"])
            return place
        return change

    half, less = verifier.Fraction(1, 2), verifier.Fraction(10**9 - 1, 10**9)
    for arithmetic in ("mpfr", "exact"):
        for cells in (1, 3):
            of = {"mechanism": "snapping", "arithmetic": arithmetic, "cells": cells}
            forged("snapping", "which is more than", component(**of, change=("scale", one_bit_less)))
            forged("snapping", "below what one unit can change", component(**of, change=("sensitivity", half)))
            forged("snapping", "sensitivity on the grid of another mechanism", other_sensitivity(**of))
    forged("snapping", "below what one unit can change",
           component(mechanism="snapping", arithmetic="mpfr", cells=3, change=("coordinates", half)))
    for name in ("discrete_laplace", "discrete_gaussian", "gaussian"):
        for cells in (1, 3):
            of = {"mechanism": name, "arithmetic": "exact", "cells": cells}
            gaussian = "gauss" in name
            for statistic in ("count", "sum:cost"):
                of["statistic"] = statistic
                forged("discrete", "says less rho" if gaussian else "which is more than",
                       component(**of, change=("scale", less)))
                forged("discrete", "below what one unit can change", component(**of, change=("sensitivity", half)))
                on_grid = "grid_sensitivity_l2_squared" if gaussian else "grid_sensitivity"
                forged("discrete", "sensitivity on the grid is too low", component(**of, change=(on_grid, less)))
                forged("discrete", "sensitivity on the grid of another mechanism", other_sensitivity(**of))
                if gaussian:
                    forged("discrete", "below what one unit", component(**of, change=("sensitivity_l2_squared", half)))
                    forged("discrete", "delta than was asked", component(**of, change=("delta", half)))

    def less_noise_said_so(cells):
        def change(changed):
            place = next(i for i, r in enumerate(changed) if r.get("release", {}).get("mechanism") == "gaussian"
                         and len(r["release"].get("cells", [1])) == cells)
            said = changed[place]["release"]["components"][0]
            scale = verifier.quantity(said["scale"]) * less
            said["scale"] = verifier_text(scale)
            said["rho"] = verifier_text(verifier.quantity(said["grid_sensitivity_l2_squared"]) / (2 * scale**2))
            return place
        return change

    # Only a certified sum, or the certified conversion of rho, tells this delta from the one that is charged.
    forged("discrete", "loses more delta at its epsilon", less_noise_said_so(1))
    forged("discrete", "loses more delta at its epsilon", less_noise_said_so(3))


def verifier_text(number):
    return text_of(number) if verifier.digits_end(number) else str(number)


@sentence("a forged charge is found: less than is proved to be lost, in every measure")
def forged_charges():
    def charged_less(measure, name):
        def change(changed):
            measures = {r["account"]: r["measure"] for r in changed if r["kind"] == "account"}
            for place, record in enumerate(changed):
                for movement in record.get("movements", ()):
                    digits = verifier.grid_digits(measure)
                    if measures[movement["account"]] == measure and "spent_change" in movement:
                        less = verifier.quantity(movement["spent_change"]) - verifier.Fraction(1, 10**digits)
                        movement["spent_change"] = text_of(less)
                        balances_again(changed)
                        return place
            raise AssertionError(f"no {measure} in {name}")
        return change

    for name, measure in (("discrete", "epsilon"), ("discrete", "delta"), ("concentrated", "rho"),
                          ("concentrated", "rdp(2)"), ("concentrated", "rdp(2.5)"), ("concentrated", "rdp(64)"),
                          ("blocks", "rho"), ("blocks", "rdp(2.5)")):
        asked = measure in ("epsilon", "delta")
        forged(name, "another amount than was asked" if asked else f"less {measure} than is proved",
               charged_less(measure, name))


@sentence("a forged plan is found: another epsilon than was asked for, other sums, another unit or mechanism")
def forged_plans():
    def changed_to(text, name, *path):
        def change(changed):
            place = next(i for i, r in enumerate(changed) if "release" in r)
            said = changed[place]
            for step in path:
                said = said[step]
            said[name] = text
            return place
        return change

    for why, text, name, *path in (
            ("another epsilon than was asked for", "2", "epsilon", "question"),
            ("another epsilon than was asked for", "2", "requested", "release"),
            ("says charged what", "0.5", "charged", "release"), ("says adjusted what", "0.5", "adjusted", "release"),
            ("has not the unit", "row", "unit", "release"),
            ("has not the neighbours", "replace-one", "neighbours", "release"),
            ("is by another mechanism", "exact", "arithmetic", "release"),
            ("has not the cells", ["A", "B"], "cells", "release"),
            ("has not count where", "units", "statistic", "release", "components", 0)):
        forged("snapping", why, changed_to(text, name, *path))


@sentence("whatever stands in a line where something else belongs, it is a fault, and soon")
def confusion():
    junk = ([], {}, "", "x", 0, 2**53 - 1, True, "-1", "1/3", "9" * 400, ["x"], {"a": "b"}, {"hex": "ff"}, "a in (")

    def paths(value, path=()):
        steps = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
        for step, member in steps:
            yield (*path, step)
            yield from paths(member, (*path, step))

    for name in ("blocks", "waiting", "batches", "composed"):
        changed, seen = records(name), set()
        for place, record in enumerate(changed):
            for number, path in enumerate(paths(record)):
                form = (record["kind"], record.get("outcome"), *(step for step in path if isinstance(step, str)))
                if form in seen:
                    continue
                seen.add(form)
                confused = copy.deepcopy(record)
                said = confused
                for step in path[:-1]:
                    said = said[step]
                said[path[-1]] = junk[(number + place) % len(junk)]
                lines = rewritten([*changed[:place], confused, *changed[place + 1:place + 3]])
                verifier.Reader().read(io.BytesIO("".join(line + "\n" for line in lines).encode()))  # raises nothing


@sentence("a forged way around consent is found: an answer above what needs approvals, or above one release's limit")
def forged_consent():
    def lowered(changed):
        for record in changed:
            if record["kind"] == "policy":
                for dataset in record["implies"]["datasets"]:
                    dataset["approvals"]["above"][0]["limit"] = "0.2"

    def without_above(changed):
        for record in changed:
            if record["kind"] == "policy":
                for dataset in record["implies"]["datasets"]:
                    del dataset["approvals"]["above"]

    def one_release(measure):
        def change(changed):
            for limit in find_policy(changed)["implies"]["datasets"][0]["per_release"]:
                if limit["measure"] == measure:
                    limit["limit"] = "0.000000000001"
        return change

    def find_policy(changed):
        return changed[find(changed, kind="policy")]

    forged("waiting", "than may be lost without approval", lowered)
    forged("waiting", "which every request needs", without_above)
    forged("blocks", "more epsilon than one release may lose", one_release("epsilon"))
    forged("blocks", "more rho than one release may lose", one_release("rho"))
    forged("concentrated", "more delta than one release may lose", one_release("delta"))


@sentence("a request that nobody approved is found by both programs where its asker lost too much shortly before")
def forged_windows():
    def not_cancelled(changed):
        place = find(changed, outcome="voided")
        changed.pop(place)
        renumber(balances_again(changed))

    def not_approved(changed):
        changed.pop(find(changed, outcome="approved"))
        renumber(changed)

    def never_over(changed):
        """The request that waits is the only one of its asker."""
        for record in changed:
            if record["kind"] == "decision" and record["principal"] == "bob" and record["outcome"] == "pending":
                record["principal"] = "dave"

    for why, change in (("with what its asker lost before", not_cancelled),
                        ("with what its asker lost before", not_approved),
                        ("loses no more than may be lost without approval", never_over)):
        forged("windowed", why, change)
        changed = records("windowed")
        change(changed)
        assert by_command(rewritten(changed)) == "found", why
    assert by_command(lines_of("windowed")) == "no"


def make():
    """Every history."""
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir(parents=True)
    for history in histories.HISTORIES:
        lines = histories.export_of(history)
        (MADE / f"{history.__name__}.lines").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(TESTS, make=lambda more: make())
