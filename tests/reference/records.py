#!/usr/bin/env python3
"""Test vectors of the lines of docs/record_format.md, for any program that reads them.

usage: records.py [FILE]      default: ../vectors/records.json

Lines are what json.dumps makes of objects with their names in order, which for this grammar is RFC 8785; leaves and
roots are computed from the definitions of RFC 6962, section 2.1, with hashlib. Refused are lines in which one thing
was changed.

  measures   of the accounts that lines outside the history speak of
  accepted   lines, each for itself, with their leaves
  refused    lines, and the member that is wrong; "" if the line is none at all
  history    lines that follow on each other, and the root at every size from 0
"""

import base64
import copy
import datetime
import fractions
import hashlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
START = datetime.datetime(2026, 1, 5, 9, 0, tzinfo=datetime.timezone.utc)


def sha256(data):
    return hashlib.sha256(data).digest()


def line_of(record):
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def leaf(line):
    return sha256(b"\0" + line.encode())


def root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"")
    k = 1 << ((len(leaves) - 1).bit_length() - 1)
    return sha256(b"\1" + root(leaves[:k]) + root(leaves[k:]))


def moment(minute):
    return START + datetime.timedelta(minutes=minute)


def time(minute):
    return moment(minute).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def decision_id(minute, name):
    ms = int(moment(minute).timestamp() * 1000)
    digits = "".join(CROCKFORD[ms >> 5 * place & 31] for place in reversed(range(10)))
    return digits + "".join(CROCKFORD[byte & 31] for byte in sha256(name.encode())[:16])


def blind(index):
    return sha256(b"blind %d" % index)[:16].hex()


LEDGER = "0123456789abcdef0123456789abcdef"
RULES = 1
YAML = """version: 1
principals:
  ann: {roles: [research]}
  cleo: {roles: [custodian]}
datasets:
  visits:
    source: {csv: visits.csv}
    unit: {id: patient_id, max_rows: 3}
    rows: {max: 1000}
    neighbours: add-remove
    budget: {epsilon: %s}
%s    approvals: {required: 1, by: {roles: [custodian]}, above: {epsilon: 0.6}, expires: 24h}
    release: {default: {mechanism: discrete_laplace}}
    columns:
      cost: {type: int, bounds: [0, 100]}
    queries:
      score: {bounds: [0, 1], sensitivity: 1/300}
"""
YAML = [YAML % ("2", "    limits: [{principal: ann, epsilon: 2}]\n"), YAML % ("3", "")]
BUILD = {"revision": "0123456789ab", "version": "0.2.0"}
COUNT = {"adjusted": "0.5", "coordinates": 1, "epsilon": "0.5", "grid": "1", "grid_sensitivity": "3", "scale": "6",
         "sensitivity": "3", "statistic": "count"}
SUM = {**COUNT, "grid_sensitivity": "150", "scale": "300", "sensitivity": "150", "statistic": "sum_about_centre"}
SCORE = {**COUNT, "adjusted": "0.25", "epsilon": "0.25", "grid": "0.0009765625", "grid_sensitivity": "0.00390625",
         "scale": "0.015625", "sensitivity": "1/300", "statistic": "value"}
MEAN_OF_COSTS = str(50 + fractions.Fraction(-1203, 418))  # no decimal


def implied(*accounts):
    """The object that each of the policies implies (docs/record_format.md)."""
    ways = [{"mechanism": "discrete_laplace", "name": name}
            for name in ("count", "mean", "score", "sum", "units", "variance")]
    dataset = {
        "accounts": [{"limit": limit, "measure": "epsilon", "scope": scope} for scope, limit in accounts],
        "allow": {"statistics": ["count", "mean", "sum", "units", "value", "variance"]},
        "approvals": {"above": [{"limit": "0.6", "measure": "epsilon"}], "by": {"principals": [], "roles": ["custodian"]},
                      "expires_seconds": 86400, "required": 1},
        "columns": [{"bounds": ["0", "100"], "column": "cost", "name": "cost", "step": "1", "type": "int"}],
        "forbid": [], "mean_split": "0.5", "name": "visits", "neighbours": "add-remove",
        "per_release": [{"if_uncounted": True, "limit": "0.000001", "measure": "delta"}],
        "queries": [{"bounds": ["0", "1"], "name": "score", "sensitivity": "1/300", "undefined": "0.5"}],
        "release": ways, "reservations": {"expires_seconds": 86400}, "rows": {"max": 1000},
        "source": {"date_format": "YYYY-MM-DD", "decimal": ".", "delimiter": ",", "encoding": "utf-8", "format": "csv",
                   "multiline": False, "null": [""]},
        "unit": {"column": "patient_id", "id": "patient_id", "max_rows": 3}}
    return {"datasets": [dataset], "version": 1,
            "principals": [{"name": "ann", "roles": ["research"]}, {"name": "cleo", "roles": ["custodian"]}]}


def verifier_key(name):
    """A verifier key of C2SP signed-note; its public key is a point of the curve that nobody has the secret of."""
    material = b"\x01" + (4 * pow(5, -1, 2**255 - 19) % (2**255 - 19)).to_bytes(32, "little")
    return f"{name}+{sha256(name.encode() + bytes([10]) + material)[:4].hex()}+{base64.b64encode(material).decode()}"


def release(components, charged, **more):
    return {"adjusted": charged, "arithmetic": "exact", "charged": charged, "components": components,
            "mechanism": "discrete_laplace", "neighbours": "add-remove", "requested": charged,
            "unit": "patient_id max_rows=3", **more}


def history():
    """Two policy versions, five questions, what became of them, and all else that happens to a ledger.

    It keeps every rule of the page, as epsilog_verify.py finds.
    """
    events = []

    def add(minute, kind, **members):
        events.append({"blind": blind(len(events)), "index": len(events), "kind": kind, "time": time(minute),
                       **members})

    def decide(minute, name, outcome, **members):
        seq = 1 + sum(event["kind"] == "decision" for event in events)
        add(minute, "decision", build=BUILD, dataset="visits", decided_under=sum(e["kind"] == "policy" for e in events),
            id=decision_id(minute, name), outcome=outcome, rules=RULES, seq=seq,
            **{"policy_version": 1, "principal": "ann", "via": "unix:1000", **members})

    def moved(spent, reserved="0", limit="2", accounts=(1, 2), **changes):
        return [{"account": account, "limit": limit, "position": account, "reserved": reserved, "spent": spent, **changes}
                for account in accounts]

    def reason(code, scope, whose):
        return {"charge": "50", "code": code, "fits": "1.5", "limit": "2", "measure": "epsilon",
                "message": f"epsilon budget of {whose}: limit 2, spent 0.5, asked 50, over by 48.5; at most 1.5 fits",
                "over_by": "48.5", "scope": scope, "spent": "0.5"}

    def policy(minute, version, event, after, *accounts, **more):
        text = YAML[version - 1]
        add(minute, "policy", after_decision=after, by="cleo", event=event, implies=implied(*accounts),
            sha256=sha256(text.encode()).hex(), version=version, yaml=text, **more)
        add(minute, "location", base_dir="/srv/epsilog", policy_version=version)

    key = verifier_key("epsilog/" + LEDGER)
    add(0, "ledger", format=1, id=LEDGER)
    policy(0, 1, 1, 0, ("", "2"), ("principal:ann", "2"))
    add(0, "account", account=1, dataset="visits", limit="2", measure="epsilon")
    add(0, "account", account=2, dataset="visits", limit="2", measure="epsilon", scope="principal:ann")
    add(1, "credential", by="cleo", credential="c1", principal="ann", seq=1, type="uid", value="1000", why="joined")
    add(1, "credential", by="cleo", credential="c2", principal="cleo", seq=2, type="token",
        value=sha256(b"credential").hex(), why="joined")
    add(1, "key", by="cleo", verifier_key=key, seq=1)
    add(2, "plan", number=1, policy_version=1, question={"dataset": "visits", "epsilon": "0.5", "statistic": "count"},
        release=release([COUNT], "0.5"))
    decide(2, "granted", "granted", component_values=[["421"]], key="monday", movements=moved("0.5", spent_change="0.5"),
           plan=1, values=["421"])
    add(3, "plan", number=2, policy_version=1, question={"dataset": "visits", "epsilon": "50", "statistic": "count"})
    decide(3, "refused", "refused", movements=moved("0.5"), plan=2,
           reasons=[reason("dataset_budget_exceeded", "", "dataset 'visits'"),
                    reason("principal_limit_exceeded", "principal:ann", "dataset 'visits', principal:ann")])
    mean = {"dataset": "visits", "epsilon": "1", "statistic": "mean:cost"}
    add(4, "plan", number=3, policy_version=1, question=mean)
    decide(4, "pending", "pending", deadline=time(4 + 1440), movements=moved("0.5"), plan=3)
    decide(5, "approved", "approved", parent=decision_id(4, "pending"), principal="cleo", verb="approve", via="token:c2",
           why="needed for the report")
    decide(5, "the last approval reserves", "reserved", deadline=time(5 + 1440),
           movements=moved("0.5", "1", reserved_change="1"), parent=decision_id(4, "pending"), plan=3)
    decide(6, "begun", "data_accessed", parent=decision_id(5, "the last approval reserves"), verb="read_source")
    add(7, "clock", after_decision=6, event=2, seq=1, wall_clock=time(-600), type="backwards")
    add(8, "clock", after_decision=6, event=3, seq=2, wall_clock=time(6000), type="forwards")
    add(9, "clock", after_decision=6, by="cleo", event=4, seq=3, wall_clock=time(9), type="confirmed")
    add(9, "plan", number=4, policy_version=1, question=mean, release=release(
        [SUM, COUNT], "1", post_processing={"centre": "50", "kind": "mean_about", "lower": "0", "upper": "100"}))
    decide(9, "committed", "granted", component_values=[["-1203"], ["418"]],
           movements=moved("1.5", reserved_change="-1", spent_change="1"),
           parent=decision_id(5, "the last approval reserves"), plan=4, values=[MEAN_OF_COSTS])
    score = {"dataset": "visits", "epsilon": "0.25", "statistic": "value:score"}
    add(10, "plan", number=5, policy_version=1, question=score)
    decide(10, "reserved", "reserved", deadline=time(10 + 1440), reservation="data_token",
           movements=moved("1.5", "0.25", reserved_change="0.25"), plan=5)
    decide(11, "token", "data_accessed", parent=decision_id(10, "reserved"),
           data_token_sha256=sha256(b"32 random bytes of a data token.").hex(), verb="issue_token")
    policy(12, 2, 5, 9, ("", "3"), why="the board agreed")
    add(12, "limit_change", account=1, after_decision=9, by="cleo", new="3", old="2", policy_version=2, seq=1,
        why="the board agreed")
    add(12, "limit_removal", account=2, after_decision=9, by="cleo", policy_version=2, seq=1, why="the board agreed")
    add(13, "relocation", after_decision=9, by="cleo", dataset="visits", event=6, path="/mnt/new/visits.csv", seq=1,
        why="a new disk")
    add(14, "plan", number=6, policy_version=1, question=score, release=release([SCORE], "0.25"))
    decide(14, "posted", "granted", component_values=[["0.515625"]], reservation="data_token", movements=[
        *moved("1.75", limit="3", accounts=(1,), reserved_change="-0.25", spent_change="0.25"),
        *moved("1.75", accounts=(2,), reserved_change="-0.25", spent_change="0.25")],
           parent=decision_id(10, "reserved"), plan=6, values=["0.515625"])
    add(15, "credential", by="cleo", credential="c1", principal="ann", revoked=True, seq=3, type="uid", why="left")
    add(16, "recovery", by="cleo", cause="behind_replica", dropped_lines=1, restored_lines=2, seq=1)
    add(17, "recovery", by="cleo", cause="rolled_back", found_lines=24, remembered_lines=40, seq=2,
        why="the disk is gone")
    add(18, "sealed", by="cleo", seq=1, why="moves to another machine")
    add(19, "unsealed", by="cleo", seq=2)
    add(20, "key", by="cleo", verifier_key=key, retired=True, seq=2, why="a new one")
    return events


def accepted():
    """Each kind, little and much; the ends of ranges; all kinds of text."""
    head = {"blind": blind(0), "index": 0, "time": time(0)}
    full = {**head, "index": 2**53 - 1}
    strange = "ü \" \\ / \b\t\n\f\r \u0001\u001f \u007f \U0001d11e"
    component = {**COUNT, "adjusted_delta": "1/3000000", "bound": "64", "centre": "-2.5", "delta": "0.000001",
                 "precision": 53, "published_note": "not a bound", "rho": "1/7", "sensitivity_l2_squared": "100"}
    decision = {**head, "dataset": "visits", "id": decision_id(0, "a"), "kind": "decision", "outcome": "voided",
                "build": BUILD, "decided_under": 1, "policy_version": 1, "principal": "ann", "rules": RULES, "seq": 1,
                "via": "claimed"}
    whole = {**decision, **full, "build": BUILD, "component_values": [["-2.5", "0"], ["1/3", "7"], []],
             "conflicting_key": "monday", "deadline": time(1), "decided_under": 2, "reservation": "plain",
             "key": strange,
             "movements": [
                 {"account": 1, "limit": "2305843.009213693952", "position": 2, "reserved": "0.000000000001",
                  "reserved_change": "-2305843.009213693952", "spent": "0", "spent_change": "2305843.009213693952"},
                 {"account": 2, "limit": "0.000000000000000001", "reserved": "0", "spent": "0"},
                 {"account": 3, "limit": "0.000000000000001", "reserved": "0", "spent": "0"},
                 {"account": 4, "limit": "10", "reserved": "0", "spent": "0.5", "spent_change": "-0.25"}],
             "parent": decision_id(-1, "b"), "plan": 12, "purpose": "audit",
             "reasons": [{"code": "forbidden", "message": "rule 1"}],
             "data_token_sha256": sha256(b"token").hex(), "values": ["22/7", "-1"], "verb": "cancel", "via": "token:t1",
             "why": {"hex": "ff0a"}}
    question = {"dataset": "visits", "epsilon": "0.5", "statistic": "count"}
    plan = {**head, "kind": "plan", "number": 1, "policy_version": 1, "question": question}
    lines = [
        ("ledger", {**head, "format": 1, "id": LEDGER, "kind": "ledger"}),
        ("policy, little", {**head, "after_decision": 0, "by": "cleo", "event": 1, "kind": "policy",
                            "sha256": sha256(b"").hex(), "version": 1}),
        ("policy, much", {**full, "after_decision": 9, "by": "cleo", "event": 3, "implies": implied(("", "2")),
                          "kind": "policy", "sha256": sha256(b"\xff\n").hex(), "version": 2, "why": "a typing error",
                          "yaml": {"hex": "ff0a"}}),
        ("place of a policy, little", {**head, "kind": "location", "policy_version": 1}),
        ("place of a policy, much", {**full, "base_dir": "/srv/Ä", "kind": "location", "policy_version": 2}),
        ("relocation", {**full, "after_decision": 0, "by": "cleo", "dataset": "visits", "event": 1,
                        "kind": "relocation", "path": {"hex": "2fff"}, "seq": 1, "why": "moved"}),
        ("account of a dataset", {**head, "account": 1, "dataset": "visits", "kind": "account", "limit": "0",
                                  "measure": "epsilon"}),
        ("account of a principal", {**full, "account": 2**53 - 1, "dataset": "visits", "kind": "account",
                                    "limit": "2305.843009213693952", "measure": "rho", "scope": "principal:ann"}),
        ("account of a Rényi divergence", {**head, "account": 3, "dataset": "visits", "kind": "account",
                                           "limit": "2305843.009213693952", "measure": "rdp(8)"}),
        ("limit that changes", {**head, "account": 2, "after_decision": 3, "by": "cleo", "kind": "limit_change",
                                "new": "1", "old": "0.000000000000000001", "policy_version": 2, "seq": 1}),
        ("limit that goes", {**full, "account": 1, "after_decision": 0, "by": "cleo", "kind": "limit_removal",
                             "policy_version": 2, "seq": 1, "why": "no longer needed"}),
        ("plan, little", plan),
        ("plan, much", {**plan, **full, "question": {**question, "by": "site", "delta": "0.000001", "where": "a = 1"},
                        "release": release([component, COUNT], "0.5", cells=["north", "", {"hex": "ff"}],
                                           post_processing={"kind": "rounded", "lower": "-1/3", "upper": "10.5"})}),
        ("plan, a ratio", {**plan, "question": {"dataset": "visits", "epsilon": "1", "statistic": "ratio:cost,days"},
                           "release": release([{**COUNT, "statistic": "numerator"},
                                               {**COUNT, "statistic": "denominator"}], "1",
                                              post_processing={"kind": "ratio", "lower": "-2", "upper": "22/7"})}),
        ("plan, by two columns", {**plan, "question": {**question, "by": ["site", "year"]},
                                  "release": release([COUNT], "0.5", cells=[["north", ""], ["2024", {"hex": "ff"}]])}),
        ("plan, with totals", {**plan, "question": {**question, "by": ["site", "year"], "totals": "0.2"},
                               "release": release([COUNT] * 4, "2", cells=[["north", ""], ["2024"]],
                                                  post_processing={"kind": "totals"})}),
        ("plan, consistent", {**plan, "question": {**question, "by": "site", "consistent": True, "totals": "1/3"},
                              "release": release([COUNT] * 2, "1", cells=["north", "south"],
                                                 post_processing={"kind": "consistent_totals"})}),
        ("decision, little", decision),
        ("decision, much", whole),
        ("decision, an approval with a reason", {**decision, "outcome": "approved", "parent": decision_id(-1, "b"),
                                                 "verb": "approve", "why": "agreed with the board"}),
        ("decision with the first of its reasons", {**decision, "reasons": {
            "count": 17, "first": [{"code": "forbidden", "message": ""}] * 16}}),
        ("clock", {**head, "after_decision": 0, "event": 2, "kind": "clock", "seq": 1, "type": "forwards",
                   "wall_clock": "9999-12-31T23:59:59.999Z"}),
        ("clock, confirmed", {**full, "after_decision": 1, "by": "cleo", "event": 2, "kind": "clock", "seq": 2,
                              "wall_clock": "1970-01-01T00:00:00.000Z", "type": "confirmed"}),
        ("credential of a user id", {**head, "by": "cleo", "credential": "c1", "kind": "credential",
                                     "principal": "ann", "seq": 1, "type": "uid", "value": "4294967295"}),
        ("credential of a token", {**full, "by": "cleo", "credential": "c2", "kind": "credential",
                                   "principal": {"hex": "ff"}, "seq": 2, "type": "token", "until": time(60),
                                   "value": sha256(b"credential").hex(), "why": "for the night"}),
        ("credential that goes", {**head, "by": "cleo", "credential": "c2", "kind": "credential",
                                  "principal": {"hex": "ff"}, "revoked": True, "seq": 3, "type": "token"}),
        ("key", {**head, "by": "cleo", "kind": "key", "seq": 1, "verifier_key": "epsilog/x+00000000+AQ=="}),
        ("key that goes", {**full, "by": "cleo", "kind": "key", "retired": True, "seq": 2,
                           "verifier_key": "epsilog/x+00000000+AQ==", "why": "lost"}),
        ("recovery, little", {**head, "by": "cleo", "cause": "rebuilt", "kind": "recovery", "seq": 1}),
        ("recovery, much", {**full, "by": "cleo", "cause": "poisoned", "dropped_lines": 1, "kind": "recovery",
                            "restored_lines": 2**53 - 1, "seq": 2, "why": "the disk came back"}),
        ("recovery, an accepted rollback", {**full, "by": "cleo", "cause": "rolled_back", "found_lines": 2**53 - 2,
                                            "kind": "recovery", "remembered_lines": 2**53 - 1, "seq": 3,
                                            "why": "no disk"}),
        ("seal", {**head, "by": "cleo", "kind": "sealed", "seq": 1, "why": {"hex": "ff"}}),
        ("seal that ends, little", {**head, "by": "cleo", "kind": "unsealed", "seq": 2}),
        ("seal that ends, much", {**full, "by": {"hex": "ff"}, "kind": "unsealed", "seq": 4, "why": "it is there"}),
        ("feature", {**head, "kind": "feature", "name": "any text"}),
    ]
    return dict(lines)


def refused(good):
    """(what was done, the member, the line)"""
    found = []

    def change(name, of, member, edit):
        record = copy.deepcopy(good[of])
        edit(record)
        found.append((name, member, line_of(record)))

    def put(of, path, value=None, member=None):
        def edit(record):
            for step in path[:-1]:
                record = record[step]
            if value is None:
                del record[path[-1]]
            else:
                record[path[-1]] = value
        what = "missing" if value is None else json.dumps(value)[:40]
        change(f"{of}: {'.'.join(map(str, path))} is {what}", of, member or path[-1], edit)

    for of in ["ledger", "policy, little", "relocation", "account of a dataset", "limit that changes", "plan, little",
               "decision, little", "clock", "credential of a user id", "key", "recovery, little", "seal",
               "seal that ends, little", "feature"]:
        for member in sorted(good[of].keys() - ({"why"} if of != "seal" else set())):
            put(of, [member])
    with open(os.path.join(HERE, "refused_records.tsv"), encoding="utf-8") as table:
        for row in table.read().splitlines()[1:]:
            of, path, *value_and_member = row.split("\t")
            path = [int(step) if step.isdigit() else step for step in path.split(" ")]
            put(of, path, *map(json.loads, value_and_member[:1]), *value_and_member[1:])
    line = line_of(good["ledger"])
    found += [
        ("members out of order", "kind", line.replace('"index":0,"kind":"ledger"', '"kind":"ledger","index":0')),
        ("a member twice", "index", line.replace('"index":0', '"index":0,"index":0')),
        ("a blank", "", line.replace(":", ": ", 1)),
        ("a line feed", "", line + "\n"),
        ("two lines", "", line + line),
        ("nothing", "", ""),
        ("no object", "", "[]"),
        ("half a line", "", line[:len(line) // 2]),
        ("a number that is no count", "index", line.replace('"index":0', '"index":0.0')),
        ("an escape that is not needed", "kind", line.replace('"ledger"', '"\\u006cedger"')),
    ]
    return found


def main(path):
    good = accepted()
    events = history()
    lines = [line_of(event) for event in events]
    leaves = [leaf(line) for line in lines]
    vectors = {
        "measures": {"1": "epsilon", "2": "delta", "3": "rho", "4": "rdp(8)"},
        "accepted": [{"name": name, "line": line_of(record), "leaf": leaf(line_of(record)).hex()}
                     for name, record in good.items()],
        "refused": [{"name": name, "member": member, "line": line} for name, member, line in refused(good)],
        "history": {"lines": lines, "roots": [root(leaves[:size]).hex() for size in range(len(lines) + 1)]},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(vectors, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../vectors/records.json"))
