"""Tests of what an auditor hands to the verifier, of its exit codes, and of rules that tie lines of a history together.

`expectations_test.py --list` names the tests, `expectations_test.py NAME` runs one. The histories are those of
verifier_test.py.
"""

import copy
import io
import json
import pathlib
import sys
import tempfile
import time
from contextlib import contextmanager, redirect_stdout

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]

from forging import balances_again, find, forge, moved_to, next_id, put_off, renumber, rewritten  # noqa: E402
from histories import DATASET, Ledger, policy  # noqa: E402
from sentences import collection, run  # noqa: E402
from verifier_test import (  # noqa: E402
    ACCEPT_ALL, NoteFile, SECRET, WITNESS, expect_fault, expect_good, forged, granted, lines_of, note, records,
    signed_line, verifier, verify, vkey)

TESTS, sentence = collection()


@contextmanager
def implied_by(changed):
    """The options that hand over what each policy version of these records implies."""
    with tempfile.TemporaryDirectory(prefix="epsilog-implies-") as folder:
        options = []
        for record in changed:
            if record["kind"] == "policy":
                path = pathlib.Path(folder, str(record["version"]))
                said = {"implies": record["implies"], "sha256": record["sha256"]}
                path.write_text(verifier.ENCODE(said) + "\n", encoding="utf-8")
                options += ["--implies", str(path)]
        yield options


def unchecked_kinds(said):
    return {entry["kind"]: entry["count"] for entry in said["unchecked"]}


@sentence("an exit code says whether all was checked, and what was not is accepted kind by kind")
def exit_codes():
    lines = lines_of("waiting")
    code, said = verify(lines)
    assert code == 4 and not said["ok"] and set(unchecked_kinds(said)) == {"implies", "vouching"}, said["unchecked"]
    assert verify(lines, "--accept-unchecked", "implies")[0] == 4
    assert verify(lines, "--accept-unchecked", "implies", "--accept-unchecked", "vouching")[0] == 0
    with implied_by(records("waiting")) as handed_over:
        code, said = verify(lines, *handed_over)
        assert code == 4 and set(unchecked_kinds(said)) == {"vouching"}
        code, said = verify(lines, *handed_over, "--accept-unchecked", "vouching")
        assert code == 0 and said["ok"] and {policy["implies"] for policy in said["policies"]} == {"as handed over"}
        code, said = verify(lines, *handed_over[:2], "--accept-unchecked", "vouching")
        assert code == 4 and {entry["what"] for entry in said["unchecked"] if not entry["accepted"]} == {
            f"implies of version {version}" for version in range(2, len(said["policies"]) + 1)}


@sentence("a file of what a policy implies is one line of canonical JSON, and anything else is refused")
def files_of_implied_objects():
    lines = lines_of("exact")
    policy = records("exact")[1]
    good = verifier.ENCODE({"implies": policy["implies"], "sha256": policy["sha256"]})
    with NoteFile() as path:
        for text, code in ((good, 4), (good + "\n", 4), (good.replace(":", ": ", 1), 6), ("{}", 6), ("[]", 6), ("", 6),
                           (good[:-1] + ',"version":1}', 6), (good.replace(policy["sha256"], "ab"), 6), (good + "\n\n", 6)):
            pathlib.Path(path).write_text(text, encoding="utf-8")
            assert verify(lines, "--implies", path)[0] == code, text[-60:]


@sentence("a policy whose implied object is dropped or edited is found where the published one is handed over")
def forged_implied_objects():
    def drop_implies(changed):
        for record in changed:
            record.pop("implies", None)

    def raise_limits(changed):
        for record in changed:
            for said in [record, *record.get("movements", ())]:
                if said.get("limit") == "100":
                    said["limit"] = "3000"
            for dataset in record.get("implies", {}).get("datasets", ()):
                for account in dataset["accounts"]:
                    account["limit"] = "3000" if account["limit"] == "100" else account["limit"]

    def fewer_approvals(changed):
        for dataset in changed[find(changed, kind="policy")]["implies"]["datasets"]:
            dataset["approvals"]["required"] = 1
        changed.pop(find(changed, outcome="approved", principal="bob"))
        renumber(changed)

    def approvals_deleted(changed):
        drop_implies(changed)
        changed.pop(find(changed, outcome="approved"))
        renumber(changed)

    def by_mallory(changed):
        drop_implies(changed)
        changed[granted(changed)]["principal"] = "mallory"

    honest = records("waiting")
    with implied_by(honest) as handed_over:
        for change, alone in ((drop_implies, 6), (raise_limits, 4), (fewer_approvals, 4), (approvals_deleted, 6),
                              (by_mallory, 6)):
            changed = copy.deepcopy(honest)
            change(changed)
            lines = rewritten(changed)
            code, said = verify(lines)
            assert code == alone, f"{change.__name__}: {code} {said['fault']}"
            assert alone == 6 or "implies" in unchecked_kinds(said)
            expect_fault(lines, "implies is not what was handed over", None, *handed_over)


@sentence("a policy that was not published is found by the hash of those that were")
def published_policies():
    lines = lines_of("versions")
    hashes = [record["sha256"] for record in records("versions") if record["kind"] == "policy"]
    options = [word for one in hashes for word in ("--policy-sha256", one)]
    assert verify(lines, *options)[0] == 4
    expect_fault(lines, "sha256 is of no policy that was published", None, *options[2:])
    assert [policy["sha256"] for policy in verify(lines)[1]["policies"]] == hashes


@sentence("two plans that ask the same are a fault, and so is a plan without a decision")
def plans_twice():
    def twice(changed):
        place = granted(changed)
        again = copy.deepcopy(changed[place])
        plan = copy.deepcopy(changed[find(changed, kind="plan", number=again["plan"])])
        later = max(place for place, record in enumerate(changed) if record["kind"] == "plan")
        plan["number"] = changed[later]["number"] + 1
        plan["policy_version"] = changed[later]["policy_version"]
        again.pop("key", None)
        again.update(plan=plan["number"], id=next_id(changed[-1]["id"]), time=changed[-1]["time"])
        changed += [plan, again]
        for record in changed[-2:]:
            record["time"] = changed[-3]["time"]
        renumber(changed)
        balances_again(changed)
        return len(changed) - 2

    def left_alone(changed):
        place = granted(changed)
        changed.pop(place)
        renumber(changed)
        return place

    forged("blocks", "is that of an earlier plan", twice)
    forged("exact", "does not decide what the line before plans", left_alone)


@sentence("an id is of the time of its decision, and no account is out of order")
def names_of_lines():
    def later_id(changed):
        place = granted(changed)
        changed[place]["id"] = changed[place]["id"][:8] + "ZZ" + changed[place]["id"][10:]
        return place

    def swapped_accounts(changed):
        place = find(changed, kind="account")
        assert changed[place + 1]["kind"] == "account"
        changed[place], changed[place + 1] = changed[place + 1], changed[place]
        return place

    forged("blocks", "id is not of the time", later_id)
    forged("blocks", "account is not 1", swapped_accounts)


@sentence("an approval that no credential vouches for is listed, and a fault once the ledger has credentials")
def vouched_approvals():
    honest = records("waiting")
    approval = find(honest, outcome="approved", principal="carol")

    def judged(via, *credentials, principal="carol"):
        changed = copy.deepcopy(honest)
        changed[approval]["via"] = via
        place = find(changed, kind="plan")
        for seq, said in enumerate(credentials, 1):
            kind, value, who = said
            changed.insert(place + seq - 1, {
                "blind": f"{seq:032x}", "by": "curator", "credential": f"c{seq}", "kind": "credential", "principal": who,
                "seq": seq, "time": changed[place - 1]["time"], "type": kind, "value": value})
        code, said = verify(rewritten(changed), "--accept-unchecked", "implies")
        return code, said, unchecked_kinds(said).get("vouching", 0)

    digest = "ab" * 32
    all_of_them = judged("claimed")[2]
    for via, credentials, code, listed in (
            ("claimed", (), 4, all_of_them), ("unix:0", (), 4, all_of_them), ("token:c9", (), 4, all_of_them),
            ("claimed", (("uid", "1000", "carol"),), 4, all_of_them),
            ("unix:1000", (("uid", "1000", "carol"),), 4, all_of_them - 1),
            ("token:c2", (("uid", "1000", "carol"), ("token", digest, "carol")), 4, all_of_them - 1)):
        found = judged(via, *credentials)
        assert (found[0], found[2]) == (code, listed), (via, credentials, found[0], found[1]["fault"], found[2])
    for via, credentials in (("unix:0", (("uid", "1000", "carol"),)), ("unix:1000", (("uid", "1000", "bob"),)),
                             ("token:c1", (("uid", "1000", "carol"),)), ("token:c9", (("token", digest, "carol"),)),
                             ("unix:c1", (("uid", "1000", "carol"),))):
        code, said, _ = judged(via, *credentials)
        assert code == 6 and "via_unfounded" in said["fault"]["why"], (via, credentials, said["fault"])
    for via in ("cert:x", "oidc:c1", "root", "unix:", ""):
        code, said, _ = judged(via)
        assert code == 6 and said["fault"]["member"] == "via", (via, said["fault"])


@sentence("a batch charged by a distribution of losses costs no less than one of its rows loses by itself")
def dearest_row():
    honest = records("composed")
    plans = {record["number"]: record for record in honest if record["kind"] == "plan"}
    measures = {record["account"]: record["measure"] for record in honest if record["kind"] == "account"}
    seen = 0
    for place, record in enumerate(honest):
        plan = plans.get(record.get("plan"))
        if record.get("outcome") != "granted" or plan["release"].get("composed", {}).get("accountant") != "pld":
            continue
        if any("spent_change" in movement and measures[movement["account"]] not in ("epsilon", "delta")
               for movement in record["movements"]) or "parent" in record:
            continue
        for charged in ("0.000000000001", "0.001"):
            changed = copy.deepcopy(honest)
            changed[changed.index(plan)]["release"]["charged"] = charged
            for movement in changed[place]["movements"]:
                if measures[movement["account"]] == "epsilon" and "spent_change" in movement:
                    movement["spent_change"] = charged
            balances_again(changed)
        code, said = verify(rewritten(changed))
        assert "is charged less than one of its rows loses by itself" in said["fault"]["why"], said["fault"]
        seen += 1
    assert seen, "no batch was charged so"

    def block_charged(charged):
        """The first answer to a batch of which a block is charged as one, but not for all rows."""
        def change(changed):
            blocks = {record["account"] for record in changed if record["kind"] == "account"
                      and record.get("scope", "").startswith("block:") and record["measure"] == "epsilon"}
            place, movement = next(
                (place, movement) for place, record in enumerate(changed) if record.get("outcome") == "granted"
                for movement in record["movements"] if movement["account"] in blocks and "spent_change" in movement
                and verifier.quantity(movement["spent_change"]) < verifier.quantity(
                    plans[record["plan"]]["release"]["charged"]))
            movement["spent_change"] = charged
            balances_again(changed)
            return place
        return change
    forged("composed", "is charged less than one of its rows loses by itself", block_charged("0.000000000001"))


@sentence("the time of a cosignature bounds the lines before it, and what is later is told and no fault")
def clocks_of_witnesses():
    lines = lines_of("exact")
    origin = "epsilog/" + json.loads(lines[0])["id"]
    key, witness = vkey(origin, SECRET), vkey("w.example", WITNESS, 4)
    last = verifier.milliseconds(json.loads(lines[19])["time"]) // 1000
    options = ["--vkey", key, "--witness", witness, "--accept-unchecked", "implies"]
    for at, skew, code in ((last + 60, None, 0), (last - 200, None, 0), (last - 10000, None, 4), (last - 200, 100, 4),
                           (last - 10000, 20000, 0), (0, None, 4)):
        text = note(lines[:20])
        body = text.partition("\n\n")[0].encode() + b"\n"
        with NoteFile(text + signed_line("w.example", WITNESS, body, at)) as path:
            found, said = verify(lines, "--checkpoint", path, *options, *(["--max-skew", skew] if skew else []))
            assert found == code, (at - last, skew, found, said["fault"])
            assert code == 0 or unchecked_kinds(said)["clock"] == 1
            assert verify(lines, "--checkpoint", path, *options, "--accept-unchecked", "clock")[0] == 0
    assert "the clock was ahead of the witness by" in json.dumps(said["unchecked"])


@sentence("notes that no writer makes are refused, and those that mail changed with words that say so")
def notes():
    lines = lines_of("exact")
    text = note(lines[:9])
    body, _, signatures = text.partition("\n\n")
    origin = "epsilog/" + json.loads(lines[0])["id"]
    others = "".join(signed_line(f"n{number}", SECRET, b"x") for number in range(2))
    with NoteFile(text + others.partition("\n")[0] + "\n") as path:
        expect_good(lines, "--checkpoint", path, "--vkey", vkey(origin, SECRET))
    for count, code in ((99, 0), (100, 6)):
        with NoteFile(text + (signed_line("other.example", SECRET, b"x")) * count) as path:
            assert verify(lines, "--checkpoint", path, *ACCEPT_ALL)[0] == code, count
    for name in ("a\x01b", "a\x7fb", "a\x85b", "a b", "a+b", ""):
        try:
            verifier.VerifierKey(vkey(name, SECRET), 1)
        except verifier.Fault:
            continue
        raise AssertionError(f"read: {name!r}")
    for changed, why in ((text.replace("\n", "\r\n"), "CR LF"), ("\ufeff" + text, "byte order mark"),
                         (text + "\n\n", "blank lines"), (text + "\n", "blank line")):
        with NoteFile(changed) as path:
            expect_fault(lines, why, None, "--checkpoint", path)


@sentence("a number that is none, or is too long, is refused before anything is computed with it")
def numbers_that_take_long():
    def first(changed, statistic="count"):
        return next(place for place, record in enumerate(changed)
                    if record["kind"] == "plan" and record["question"].get("statistic") == statistic)

    def where(text):
        def change(changed):
            changed[first(changed)]["question"]["where"] = text
        return change

    def component(mechanism, **members):
        def change(changed):
            plan = next(record for record in changed if record.get("release", {}).get("mechanism") == mechanism)
            plan["release"]["components"][0].update(members)
        return change

    def implied(**members):
        def change(changed):
            for column in changed[1]["implies"]["datasets"][0]["columns"]:
                if "bins" in column or "per" in column:
                    column.update({name: value for name, value in members.items() if name in column})
        return change

    cases = [("blocks", where(f"age > {number}")) for number in (
        "1e9999999", "1e999999999", "-1e99999999999", "9" * 1001, "9" * 30000, "1/" + "7" * 30000)]
    cases += [("labelled", where(f"age > {number}")) for number in ("1e9999999", "9" * 30000)]
    cases += [("derived", implied(bins=["0", "1e999999999"])), ("derived", implied(bins=["0", "9" * 20001])),
              ("derived", implied(first="9998-01")), ("derived", implied(first="2024-13")),
              ("derived", implied(last="9999-12")), ("derived", implied(first="0000-01"))]
    long = ("1" + "0" * 3000, "1" + "0" * 15000, "9" * 19999)
    cases += [("discrete", component("discrete_gaussian", scale=number)) for number in long]
    cases += [("discrete", component("discrete_gaussian", grid="0." + "0" * 4999 + "1")),
              ("discrete", component("discrete_gaussian", grid_sensitivity_l2_squared="1" + "0" * 15000)),
              ("discrete", component("discrete_laplace", scale="7/" + "3" * 9000)),
              ("discrete", component("discrete_gaussian", epsilon="2305843.009213693952", adjusted="2305843.009213693952"))]
    for name, change in cases:
        changed = records(name)
        change(changed)
        began = time.process_time()
        code, said = verify(rewritten(changed), *ACCEPT_ALL)
        spent = time.process_time() - began
        # More noise than is needed is no fault.
        assert code == 6 or name == "discrete", f"{name}: {said['fault']}"
        assert spent < 2, f"{name}: {code} after {spent:.1f} s: {said['fault']}"
    line = lines_of("exact")[1].replace('"implies":{', '"implies":{"a":[' + ",".join(["9" * 19999] * 1000) + "],", 1)
    began = time.process_time()
    expect_fault([lines_of("exact")[0], line], "canonical", 2)
    assert time.process_time() - began < 2


@sentence("a feature that is announced ends what this verifier judges, and what is not announced is a fault")
def features():
    lines = lines_of("exact")
    first = granted(records("exact")) + 1
    at = {"blind": "0" * 32, "index": first, "time": json.loads(lines[first - 1])["time"]}
    extra = {**at, "kind": "feature", "name": "federation"}

    def with_line(record, after=("no line at all",)):
        return [*lines[:first], verifier.ENCODE(record), *after]

    code, said = verify(with_line(extra))
    assert code == 5 and said["needs_feature"] == "federation" and said["lines"] == first and not said["ok"]
    for jobs in (1, 2):
        printed = io.StringIO()
        with NoteFile("\n".join(with_line(extra)) + "\n") as path, redirect_stdout(printed):
            assert verifier.main([path, "--quiet", "--jobs", str(jobs)]) == 5
        assert "NEEDS FEATURE federation: use a newer verifier" in printed.getvalue()
    with NoteFile(note(lines[:first])) as path:
        assert verify(with_line(extra), "--checkpoint", path)[0] == 5
    # What stands before it is judged, and so is its own form.
    broken = with_line(extra)
    broken[3] = broken[3].replace('"index":3', '"index":2')
    expect_fault(broken, "index is not 3", 4)
    for changed in ({"name": ""}, {"name": 1}, {"index": first + 1}, {"more": "x"}, {"time": "2020-01-01T00:00:00.000Z"}):
        expect_fault(with_line({**extra, **changed}), "", first + 1)
    # Reserved names are names, and nothing else yet.
    for kind in ("attachment", "measurement_result", "issuer_revocation", "migration", "checkpoint"):
        expect_fault(with_line({**extra, "kind": kind}), "kind is missing or none that is known", first + 1)
    decision = json.loads(lines[first - 1])
    place = decision["index"]
    for member, value in (("attachment", 1), ("legacy_request", "x"), ("max_rows", 3)):
        changed = [*lines[:place], verifier.ENCODE({**decision, member: value}), *lines[place + 1:]]
        expect_fault(changed, f"{member} is no member", place + 1)


@sentence("a sealed ledger goes on with nothing but unsealed, which follows nothing else")
def seals():
    lines = lines_of("exact")
    when = json.loads(lines[-1])["time"]

    def with_seals(*kinds, after=()):
        added = [{"blind": "0" * 32, "by": "cleo", "index": len(lines) + place, "kind": kind, "seq": place + 1,
                  "time": when, **({"why": "moved"} if kind == "sealed" else {})} for place, kind in enumerate(kinds)]
        return [*lines, *map(verifier.ENCODE, added), *after]

    said = expect_good(with_seals("sealed"))
    assert said["sealed"] and said["events"][-1]["what"] == "sealed" and said["events"][-1]["why"] == "moved"
    assert not expect_good(with_seals("sealed", "unsealed"))["sealed"]
    expect_good(with_seals("sealed", "unsealed", "sealed", "unsealed", "sealed"))
    expect_fault(with_seals("unsealed"), "follows no seal", len(lines) + 1)
    expect_fault(with_seals("sealed", "sealed"), "only unsealed is right", len(lines) + 2)
    expect_fault(with_seals("sealed", "unsealed", "unsealed"), "follows no seal", len(lines) + 3)
    expect_fault([line.replace('"seq":2', '"seq":1') for line in with_seals("sealed", "unsealed")], "seq is not 2")
    expect_fault([line.replace(',"why":"moved"', "") for line in with_seals("sealed")], "why is missing")
    clock = {"after_decision": 0, "blind": "0" * 32, "event": 1, "index": len(lines) + 1, "kind": "clock", "seq": 1,
             "time": when, "type": "forwards", "wall_clock": when}
    expect_fault(with_seals("sealed", after=[verifier.ENCODE(clock)]), "only unsealed is right", len(lines) + 2)


@sentence("a ledger that the command sealed, and one that goes on from its seal, are right to both programs")
def seals_of_the_command():
    with tempfile.TemporaryDirectory(prefix="epsilog-seals-") as folder:
        ledger = Ledger(folder, "version: 1\ndatasets:\n  clinic:\n" + DATASET + "    budget: {epsilon: 9}\n")

        def agree(sealed, kinds):
            ledger.run("audit", "verify", "--quiet")
            said = expect_good(ledger.export())
            assert said["sealed"] == sealed and {kind: said["kinds"].get(kind, 0) for kind in kinds} == kinds, said

        ledger.ask("clinic", "count", "--epsilon", "0.1")
        ledger.run("seal", "--why", "another machine", "--as", "cleo")
        agree(True, {"sealed": 1, "unsealed": 0})
        ledger.run("backup", "moved")
        sealed, ledger.path = ledger.path, ledger.folder / "next.epsilog"
        ledger.run("restore", "moved", "--sealed", "--as", "dora")
        agree(False, {"sealed": 1, "unsealed": 1})
        ledger.ask("clinic", "count", "--epsilon", "0.1")
        agree(False, {"sealed": 1, "unsealed": 1})
        lines = ledger.export()
        forgotten = [line for line in lines if '"kind":"unsealed"' not in line]
        expect_fault(rewritten([json.loads(line) for line in forgotten]), "only unsealed is right")
        ledger.path = sealed
        agree(True, {"sealed": 1, "unsealed": 0})


@sentence("the report tells both numbers of an accepted rollback with the reason")
def rollbacks():
    changed = records("recovered")
    place = forge(changed, 'recovery cause="rolled_back"', "remembered_lines=90; found_lines=7")
    event = next(event for event in expect_good(rewritten(changed))["events"] if event["line"] == place + 1)
    assert event["what"] == "recovery: rolled_back, 90 lines remembered, 7 lines found", event
    assert event["why"] == "both disks failed" and event["by"] == "cleo"


RENEWING = policy("renewing")


def renewing(end):
    """What the command records of a reservation that is cancelled, or committed with a value."""
    with tempfile.TemporaryDirectory(prefix="epsilog-verifier-") as folder:
        ledger = Ledger(folder, RENEWING)
        reserved = ledger.ask("s", "value:q", "--epsilon", "0.1", "--data-token", verb="reserve")
        if end == "commit":
            ledger.run("token", reserved, "--as", "ann")
        ledger.run(end, reserved, "--as", "ann", *(["--value", "1"] if end == "commit" else []))
        return [json.loads(line) for line in ledger.export()]


@sentence("a reservation ends with the period of its budget, before its deadline too, and nothing outlives that")
def periods():
    honest = {end: renewing(end) for end in ("cancel", "commit")}
    set_ahead, asked, confirmed = (f"2026-03-0{day}:00.000Z" for day in ("2T12:00", "3T12:00", "3T12:30"))

    def history(end, decisions_before, verb=None):
        """Reserved while the calendar is held on the second of March; so many decisions come before it is confirmed."""
        changed, events = copy.deepcopy(honest[end]), []
        for record in changed:
            seq = record.get("seq", 0)
            if record["kind"] == "plan":
                seq = changed[changed.index(record) + 1]["seq"]
            period = record.get("scope", "").startswith("period:")
            moved_to(record, confirmed if seq > decisions_before else asked if seq or period else set_ahead)
            if period:
                record["scope"] = "period:2026-03-02"
            if record.get("outcome") == "reserved":
                record["deadline"] = "2026-03-04T11:00:00.000Z"
            elif verb and "verb" in record:
                record["verb"] = verb
        reserved = changed[find(changed, outcome="reserved")]
        for number, (what, when) in enumerate((("forwards", set_ahead), ("confirmed", confirmed)), 1):
            events.append({"after_decision": 0, "blind": f"{number:032x}", "event": number + 1, "kind": "clock",
                           "seq": number, "time": when, "wall_clock": asked, "type": what})
        events[1]["by"] = "cleo"
        places = [place for place, record in enumerate(changed) if record["time"] == confirmed]
        changed.insert((places or [len(changed)])[0], events[1])
        changed.insert(next(place for place, record in enumerate(changed) if record["time"] == asked), events[0])
        last = ""
        for record in changed:
            if record["kind"] == "decision":
                if "parent" in record:
                    record["parent"] = reserved["id"]
                last = record["id"] = max(record["id"], next_id(last)) if last else record["id"]
        renumber(changed)
        return rewritten(changed)

    after, before = "is not before the deadline, or the end of the period", "is before the deadline, and the end"
    for end, decisions, verb in (("cancel", 1, "expire"), ("cancel", 2, None), ("commit", 3, None)):
        expect_good(history(end, decisions, verb))
    for end, decisions in (("cancel", 1), ("commit", 1), ("commit", 2)):
        expect_fault(history(end, decisions), after)
    expect_fault(history("cancel", 2, "expire"), before)


@sentence("what is overdue ends by its deadline, for who asked, and nothing else becomes of it")
def deadlines():
    def late(edit):
        def change(changed):
            place = next(place for place, record in enumerate(changed) if record.get("verb") == "cancel")
            edit(changed[place])
            return put_off(changed, place, 72 * 3600 * 1000)
        return change

    changed = records("waiting")
    late(lambda record: record.update(verb="expire"))(changed)
    expect_good(rewritten(changed))
    forged("waiting", "is not before the deadline", late(lambda record: None))
    forged("waiting", "may not end this", late(lambda record: record.update(verb="expire", principal="bob")))


@sentence("several quantiles of one cell may be equal")
def equal_quantiles():
    changed = records("quantiles")
    forge(changed, 'granted plan.question.statistic="quantiles:cost:0.2,0.4"; -plan.question.by',
          'component_values.0=["79.99","79.99"]; values=["79.99","79.99"]')
    expect_good(rewritten(changed))


@sentence("the report says in words what each policy version limits and loosened, and every reason that was given")
def reports():
    changed = records("versions")
    versions = [record for record in changed if record["kind"] == "policy"]
    for record in changed:
        brought = record["kind"] in ("policy", "limit_change", "limit_removal")
        version = record.get("version", record.get("policy_version")) if brought else 1
        if version > 1:
            record["why"] = f"reason {version}\u202e\x1b[2J"
    lines = rewritten(changed)
    said = expect_good(lines)
    assert [policy.get("why", "") for policy in said["policies"]] == ["", *(record["why"] for record in versions[1:])]
    assert said["policies"][0]["datasets"][0] == {
        "approvers": "nobody", "limits": ["epsilon 9 of the dataset", "epsilon 3 of each principal"], "name": "clinic",
        "unit": "patient, at most 3 rows, add-remove"}
    assert [policy["loosened"] for policy in said["policies"]][:3] == [
        [], ["clinic: epsilon of each principal was 3, is 4"], ["clinic: epsilon of each principal was 4, is not limited"]]
    assert any(event["why"] == "a new disk" and "moved to" in event["what"] for event in said["events"])
    said = expect_good(lines_of("waiting"))
    assert "clinic: approvers were 2 of dave, whoever is custodian, for epsilon above 0.5; are 1 of dave, whoever is " \
        "custodian, for epsilon above 0.5" in said["policies"][1]["loosened"], said["policies"][1]["loosened"]
    assert any(event.get("why") == "ask for fewer wards" for event in said["events"])
    printed = io.StringIO()
    with NoteFile("\n".join(lines) + "\n") as path, redirect_stdout(printed):
        assert verifier.main([path]) == 4
    text = printed.getvalue()
    assert "reason 2\\u202e\\x1b[2J" in text and versions[1]["sha256"] in text and "\x1b" not in text
    approved = records("waiting")
    place = find(approved, outcome="approved")
    approved[place]["why"] = "the board agreed"
    assert any(event.get("why") == "the board agreed" for event in expect_good(rewritten(approved))["events"])


@sentence("a policy that lets go of limits, approvers or units says so, and one that tightens them does not")
def what_is_loosened():
    def dataset(**members):
        said = {"name": "d", "accounts": [{"limit": "3", "measure": "epsilon", "scope": ""}], "neighbours": "add-remove",
                "unit": {"max_rows": 3, "id": "p"}, "columns": [],
                "approvals": {"required": 2, "by": {"principals": ["ann", "bob"], "roles": []},
                              "above": [{"limit": "1", "measure": "epsilon"}]}}
        said.update(members)
        return {"d": verifier.Dataset(said, None)}

    def approvals(**members):
        return {"approvals": {**dataset()["d"].said["approvals"], **members}}

    def limit(text, **more):
        return {"accounts": [{"limit": text, "measure": "epsilon", "scope": ""}], **more}

    for change, count in (
            ({}, 0), (limit("2"), 0), (limit("4"), 1), ({"accounts": []}, 1), ({"unit": {"max_rows": 4, "id": "p"}}, 1),
            ({"unit": {"max_rows": 1}}, 1), ({"neighbours": "replace-one"}, 1), (approvals(required=3), 0),
            (approvals(required=1), 1), (approvals(by={"principals": ["ann"], "roles": []}), 0),
            (approvals(by={"principals": ["ann", "bob"], "roles": ["all"]}), 1), (approvals(above=[]), 0),
            (approvals(above=[{"limit": "2", "measure": "epsilon"}]), 1),
            (approvals(above=[{"limit": "0.5", "measure": "epsilon"}, {"limit": "1", "measure": "rho"}]), 0),
            (approvals(above=[{"limit": "1", "measure": "rho"}]), 1), ({"approvals": None}, 1)):
        after = dataset(**change)
        if change.get("approvals", True) is None:
            del after["d"].said["approvals"]
        found = verifier.loosened(dataset(), after)
        assert len(found) == count, (change, found)
    assert verifier.loosened({}, dataset()) == ["d: a new dataset"]


@sentence("sums of losses are exact up to 4,000 digits, and the least multiple of 2^-1024 above beyond that")
def sums():
    read = verifier.Fraction
    total = verifier.sum_of_losses
    assert total([read(1, 3), read(1, 7)]) == read(10, 21) and total([]) == 0
    n = 2**1024 // 17
    assert total([read(1, 10**3999 + 1), read(1, 17)]) == read(n + 1, 2**1024)
    assert total([read(1, 10**4)] * 10**4) == 1
    parts = [read(1, 10**1500 + step) for step in range(1, 200, 2)]
    assert sum(parts) <= total(parts) <= sum(parts[:2]) + 98 * (parts[0] + read(1, 2**1024))
    assert max(abs(total(parts).numerator), total(parts).denominator) < 10**4000


@sentence("a refusal for more than 16 reasons keeps the first, and the reason of a taken key may be among the others")
def many_reasons():
    with tempfile.TemporaryDirectory(prefix="epsilog-verifier-") as folder:
        ledger = Ledger(folder, "version: 1\ndatasets:\n  clinic:\n" + DATASET + "    budget: {epsilon: 2, renew: month}\n"
                        "    lifetime: {epsilon: 90}\n    forbid: [{where: [age]}]\n")
        ledger.ask("clinic", "count", "--epsilon", "0.5", "--key", "k")
        ledger.ask("clinic", "count", "--epsilon", "1.75", expect=(4,))
        (ledger.folder / "batch.csv").write_text("statistic,where,epsilon\n" + "count,age > 3,0.01\n" * 20)
        for key in (("--key", "k"), ()):
            ledger.run("release", "clinic", "--batch", "batch.csv", "--as", "ann", *key, expect=(4,))
        lines = ledger.export()
    expect_good(lines)
    counts = [record["reasons"]["count"] for record in map(json.loads, lines) if isinstance(record.get("reasons"), dict)]
    assert counts == [21, 20], counts
    for place in (len(lines) - 2, len(lines) - 1):
        for change in (lambda said: said.update(count=16), lambda said: said["first"].append(said["first"][0]),
                       lambda said: said.pop("count"), lambda said: said["first"][0].update(code="bored")):
            changed = [json.loads(line) for line in lines]
            change(changed[place]["reasons"])
            expect_fault(rewritten(changed), "", place + 1)


@sentence("a key is a verifier key of this ledger")
def keys_of_the_ledger():
    lines = lines_of("exact")
    ledger, when = json.loads(lines[0])["id"], json.loads(lines[-1])["time"]

    def with_key(text):
        added = {"blind": "0" * 32, "by": "cleo", "index": len(lines), "kind": "key", "seq": 1, "time": when,
                 "verifier_key": text}
        return [*lines, verifier.ENCODE(added)]

    expect_good(with_key(vkey("epsilog/" + ledger, SECRET)))
    expect_fault(with_key(vkey("epsilog/" + ledger[::-1], SECRET)), "key of another ledger")
    for text in ("epsilog/" + ledger + "+00000000+AQ==", vkey("epsilog/" + ledger, SECRET, 4), "nonsense"):
        expect_fault(with_key(text), "is no verifier key")


if __name__ == "__main__":
    run(TESTS)
