#!/usr/bin/env python3
"""Checks the history of an Epsilog ledger from its lines, without Epsilog.

    epsilog audit export --ledger L > L.lines
    epsilog_verify.py L.lines --checkpoint C --vkey VKEY

Written from docs/record_format.md and what that page cites (docs/ledger_format.md, sensitivity.md, filters.md,
reservations.md, the proofs), not from the program: no code and no constant of it is here. It needs Python 3.11 and
nothing else. All numbers are integers and fractions; there is no floating-point number in this file.

Exit codes: 0 nothing is wrong; 2 the command line; 3 a file cannot be read; 6 something is wrong, and printed is the
first line that shows it, and why.
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import json
import os
import re
import sys
from fractions import Fraction


class Fault(Exception):
    """What is wrong, and of which member; the line is known to who reads lines."""

    def __init__(self, why, member=""):
        super().__init__(why)
        self.why = why
        self.member = member


def require(holds, why, member=""):
    if not holds:
        raise Fault(why, member)


# Canonical JSON (record_format.md, "A line").

LARGEST_COUNT = 2**53 - 1
DEEPEST = 32
NAME = re.compile(r"[ !#-\[\]-~]*")


def not_json(_text):
    return None  # written again it is "null", which is not what stood there


DECODE = json.JSONDecoder(parse_float=not_json, parse_constant=not_json).decode
ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def parse_line(raw):
    """The object that the bytes `raw` are the canonical text of."""
    try:
        text = raw.decode("utf-8")
        value = DECODE(text)
        again = ENCODE(value)
    except (ValueError, RecursionError) as error:
        raise Fault(f"is no JSON: {error}") from error
    if again != text:
        raise Fault("is not canonical: written again it is another text", member_at_difference(text, again))
    require(isinstance(value, dict), "is no object")
    return value


def member_at_difference(text, again):
    """The outermost member of `text` in which, or before which, the texts begin to differ."""
    at = next((i for i, pair in enumerate(zip(text, again)) if pair[0] != pair[1]), min(len(text), len(again)))
    if text[at : at + 1].isspace():
        return ""
    member, depth = "", 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"(:?)|[\[{]|[\]}]', text):
        if token.start() > at:
            break
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif token[1] and depth == 1:
            member = token[0][1:-2]
    return member


def is_value(value, depth=1):
    """Whether a parsed value is one that lines may hold, `depth` levels below the line's own."""
    if isinstance(value, str) or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return 0 <= value <= LARGEST_COUNT
    if depth >= DEEPEST:
        return False
    if isinstance(value, list):
        return all(is_value(element, depth + 1) for element in value)
    if isinstance(value, dict):
        return all(NAME.fullmatch(name) and is_value(member, depth + 1) for name, member in value.items())
    return False


# Quantities.

DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]*[1-9]))?")
FRACTION = re.compile(r"-?([1-9][0-9]*)/([1-9][0-9]*)")
GRID_DIGITS = {"epsilon": 12, "delta": 18, "rho": 15}
LARGEST_AMOUNT = 2**61
MEASURE = re.compile(r"epsilon|delta|rho|rdp\((.+)\)")
QUANTITIES = {}


def remembered(table, key, value):
    """Keeps `value` in a table that does not grow without end."""
    if len(table) > 50000:
        table.clear()
    table[key] = value
    return value


def quantity(text):
    """The number that a quantity is, or None."""
    known = QUANTITIES.get(text) if isinstance(text, str) else None
    if known is not None or not isinstance(text, str):
        return known
    found = DECIMAL.fullmatch(text)
    if found:
        digits = found[3] or ""
        number = Fraction(int(found[2] + digits), 10 ** len(digits))
        if found[1]:
            if number == 0:
                return None
            number = -number
    else:
        found = FRACTION.fullmatch(text)
        if not found:
            return None
        number = Fraction(text)
        if str(number) != text or denominator_without_2_and_5(number) == 1:
            return None
    return remembered(QUANTITIES, text, number)


def denominator_without_2_and_5(number):
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest


def grid_digits(measure):
    """How many decimals amounts of a measure have; None of what is no measure."""
    if measure in GRID_DIGITS:
        return GRID_DIGITS[measure]
    found = MEASURE.fullmatch(measure) if isinstance(measure, str) else None
    if not found:
        return None
    order = quantity(found[1])
    return 12 if order is not None and 1 < order <= 1000000 else None


AMOUNTS = {}


def amount(text, measure, changes=False):
    """An amount of a measure in units of its grid, or None; of either sign if it `changes` something."""
    key = (text, measure) if isinstance(text, str) else None
    known = AMOUNTS.get(key)
    if known is None:
        found = DECIMAL.fullmatch(text) if isinstance(text, str) else None
        digits = grid_digits(measure)
        if not found or digits is None or len(found[3] or "") > digits or len(found[2]) > 20 or text == "-0":
            return None
        known = int(found[1] + found[2] + (found[3] or "").ljust(digits, "0"))
        remembered(AMOUNTS, key, known)
    return known if abs(known) <= LARGEST_AMOUNT and (known >= 0 or changes) else None


def on_grid_down(number, measure):
    return number.numerator * 10 ** grid_digits(measure) // number.denominator


# Forms of members (record_format.md, "Records"): each says whether a value has it.

HEX32 = re.compile(r"[0-9a-f]{32}")
HEX64 = re.compile(r"[0-9a-f]{64}")
HEX_BYTES = re.compile(r"(?:[0-9a-f]{2})+")
ID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)\.(\d{3})Z", re.ASCII)
VIA = re.compile(r"claimed|(?:unix|token|cert):.+", re.DOTALL)
USER_ID = re.compile(r"0|[1-9][0-9]{0,9}")
DAYS = {}


def is_count(value):
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def is_number(value):
    return type(value) is int and 0 < value <= LARGEST_COUNT


def is_text(value):
    return type(value) is str and value != ""


def is_bytes(value):
    if type(value) is str:
        return value != ""
    if type(value) is not dict or set(value) != {"hex"} or not is_text(value["hex"]):
        return False
    if not HEX_BYTES.fullmatch(value["hex"]):
        return False
    try:
        bytes.fromhex(value["hex"]).decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False  # what is UTF-8 is written as text


def is_bytes_or_empty(value):
    return value == "" or is_bytes(value)


def milliseconds(text):
    """A time in milliseconds since 1970, or None."""
    found = TIME.fullmatch(text) if type(text) is str else None
    if not found:
        return None
    day = DAYS.get(found[1])
    if day is None:
        try:
            day = datetime.date.fromisoformat(found[1]).toordinal() - 719163
        except ValueError:
            return None
        remembered(DAYS, found[1], day)
    if day < 0:
        return None
    return (((day * 24 + int(found[2])) * 60 + int(found[3])) * 60 + int(found[4])) * 1000 + int(found[5])


def is_time(value):
    return milliseconds(value) is not None


def is_quantity(value):
    return quantity(value) is not None


def is_quantities(value):
    return type(value) is list and value != [] and all(map(is_quantity, value))


def is_component_values(value):
    return type(value) is list and value != [] and all(type(v) is list and all(map(is_quantity, v)) for v in value)


def is_object(value):
    return type(value) is dict and value != {} and is_value(value)


def is_reasons(value):
    if type(value) is str:  # the text of an older schema: canonical JSON is not kept as a text
        try:
            return value != "" and not (ENCODE(DECODE(value)) == value and is_value(DECODE(value)))
        except (ValueError, RecursionError):
            return True
    return type(value) in (list, dict) and len(value) > 0 and is_value(value)


def is_build(value):
    return type(value) is dict and value != {} and set(value) <= {"commit", "version"} and all(
        map(is_bytes, value.values()))


def is_true(value):
    return value is True


def is_objects(value):
    return type(value) is list and value != [] and all(type(element) is dict for element in value)


def is_measure(value):
    return grid_digits(value) is not None


def is_cells(value):
    return type(value) is list and value != [] and all(map(is_bytes_or_empty, value))


def matching(pattern):
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


def one_of(*words):
    return lambda value: type(value) is str and value in words


def amount_of(measure, largest=LARGEST_AMOUNT):
    return lambda value: (amount(value, measure) or 0) <= largest if amount(value, measure) is not None else False


OUTCOMES = ("granted", "refused", "reserved", "pending", "approved", "rejected", "token_issued", "voided", "forfeited")

COMMON = {"blind!": matching(HEX32), "index!": is_count, "kind!": is_text, "time!": is_time}
WHO_WHY = {"by!": is_bytes, "seq!": is_number, "why": is_bytes}
ANY_AMOUNT = matching(DECIMAL)

FORMS = {  # a member with "!" is always there
    "ledger": {"format!": lambda value: value == 1 and is_count(value), "id!": matching(HEX32)},
    "policy": {"after": is_count, "by!": is_bytes, "event": is_number, "implies": is_object,
               "sha256!": matching(HEX64), "version!": is_number, "yaml": is_bytes},
    "location": {"base_dir": is_bytes, "policy!": is_number},
    "relocation": {"after!": is_count, "event!": is_number, "dataset!": is_bytes, "path!": is_bytes, **WHO_WHY},
    "account": {"account!": is_number, "dataset!": is_bytes, "scope": is_bytes, "measure!": is_measure,
                "limit!": is_text},
    "limit": {"account!": is_number, "policy!": is_number, "after!": is_count, "new!": ANY_AMOUNT,
              "old!": ANY_AMOUNT, **WHO_WHY},
    "removal": {"account!": is_number, "policy!": is_number, "after!": is_count, "removed!": is_true, **WHO_WHY},
    "plan": {"number!": is_number, "policy!": is_number, "question": is_object, "release": is_object},
    "decision": {
        "seq!": is_number, "id!": matching(ID), "principal!": is_bytes, "via!": matching(VIA),
        "outcome!": one_of(*OUTCOMES), "parent": matching(ID), "dataset!": is_bytes, "policy!": is_number,
        "decided_under": is_number, "plan": is_number, "purpose": is_bytes,
        "holding": one_of("plain", "data_token"), "deadline": is_time, "key": is_bytes,
        "conflicting_key": is_bytes, "verb": is_text, "why": is_bytes, "legacy_request": is_bytes,
        "reasons": is_reasons, "component_values": is_component_values, "values": is_quantities,
        "token_sha256": matching(HEX64), "movements": is_objects, "rules!": one_of, "build": is_build},
    "clock": {"after!": is_count, "event": is_number, "seq!": is_number, "wall_clock!": is_time,
              "what!": one_of("backwards", "forwards", "confirmed"), "by": is_bytes},
    "migration": {"after!": is_count, "event": is_number, "to!": lambda value: is_number(value) and value >= 2},
    "credential": {"credential!": is_text, "principal!": is_bytes, "type!": one_of("uid", "token"),
                   "value!": is_text, "until": is_time, **WHO_WHY},
    "revocation": {"credential!": is_text, "principal!": is_bytes, "type!": one_of("uid", "token"),
                   "revoked!": is_true, **WHO_WHY},
    "key": {"key!": is_text, "retired": is_true, **WHO_WHY},
    "recovery": {"cause!": one_of("poisoned", "behind_replica", "rebuilt"), "restored": is_number,
                 "dropped": is_number, **WHO_WHY},
}
RELEASE = {"mechanism!": is_bytes, "arithmetic": is_bytes, "requested!": is_quantity, "charged!": amount_of("epsilon"),
           "adjusted!": is_quantity, "published": is_quantity, "cells": is_cells, "unit": is_bytes,
           "relation": is_bytes, "components": is_objects, "post_processing": is_object}
COMPONENT = {"adjusted!": is_quantity, "grid!": is_quantity, "lambda!": is_quantity, "sensitivity!": is_quantity,
             "adjusted_delta": is_quantity, "bound": is_quantity, "centre": is_quantity, "inflated": is_quantity,
             "published": is_quantity, "rho": is_quantity, "sensitivity_l2_squared": is_quantity,
             "epsilon!": amount_of("epsilon"), "delta": amount_of("delta", 10**18), "coordinates!": is_count,
             "precision": is_number, "published_note": is_bytes, "statistic": is_bytes}
POST_PROCESSING = {"kind!": one_of("mean_about", "variance_about", "rounded"), "lower!": is_quantity,
                   "upper!": is_quantity, "centre": is_quantity}
MOVEMENT = {"account!": is_number, "spent_change": is_text, "reserved_change": is_text, "limit!": is_text,
            "spent!": is_text, "reserved!": is_text, "position": is_number}
FORMS["decision"]["rules!"] = lambda value: is_number(value) and value <= 3


def table_of(forms):
    """Forms by name, and the names that are always there."""
    return ({name.rstrip("!"): form for name, form in forms.items()},
            frozenset(name[:-1] for name in forms if name.endswith("!")))


TABLES = {kind: table_of({**COMMON, **forms}) for kind, forms in FORMS.items()}
RELEASE, COMPONENT, POST_PROCESSING, MOVEMENT = map(table_of, (RELEASE, COMPONENT, POST_PROCESSING, MOVEMENT))


def check_members(value, table):
    forms, always = table
    for name, member in value.items():
        form = forms.get(name)
        if form is None:
            raise Fault("is no member of this kind of record", name)
        if not form(member):
            raise Fault(f"has a value that is none of its form: {ENCODE(member)[:60]}", name)
    if not always <= value.keys():
        raise Fault("is missing", min(always - value.keys()))


VARIANTS = {"location": ("policy", "location", "relocation"), "limit": ("removed", "removal", "limit"),
            "credential": ("revoked", "revocation", "credential")}


def check_record(record, measure_of):
    """Refuses what is no record; returns its kind, or the variant of it, and the movements of a decision."""
    kind = record.get("kind")
    variant = kind
    if kind in VARIANTS:
        member, with_it, without = VARIANTS[kind]
        variant = with_it if member in record else without
    table = TABLES.get(variant) if type(kind) is str and kind in KINDS else None
    require(table is not None, "is missing or none that is known", "kind")
    check_members(record, table)
    if variant == "decision":
        return variant, check_movements(record.get("movements", ()), measure_of)
    if variant == "plan" and "release" in record:
        check_release(record["release"])
    elif variant == "account":
        require(amount(record["limit"], record["measure"]) is not None, "is no amount of its measure", "limit")
    elif variant == "limit":
        for name in ("new", "old"):
            of = measure_of(record["account"])
            require(amount(record[name], of) is not None, "is no amount of its account's measure", name)
    elif variant == "clock":
        require(("by" in record) == (record["what"] == "confirmed"), "is there for a confirmation and else never", "by")
    elif variant == "credential":
        right = HEX64 if record["type"] == "token" else USER_ID
        valid = right.fullmatch(record["value"]) and (right is HEX64 or int(record["value"]) < 2**32)
        require(valid, "is no such credential", "value")
    return variant, ()


KINDS = frozenset(FORMS) - {"relocation", "removal", "revocation"}


def check_release(release):
    check_members(release, RELEASE)
    for component in release.get("components", ()):
        check_members(component, COMPONENT)
    post = release.get("post_processing")
    if post:
        check_members(post, POST_PROCESSING)
        require(("centre" in post) == (post["kind"] != "rounded"), "is there but for what is rounded", "centre")


def check_movements(movements, measure_of):
    """Movements as (account, spent_change, reserved_change, limit, spent, reserved), in units of the grid."""
    checked = []
    before = 0
    for movement in movements:
        check_members(movement, MOVEMENT)
        account = movement["account"]
        require(account > before, "stand not in the order of accounts, each once", "movements")
        before = account
        measure = measure_of(account)
        require(measure is not None, f"speak of account {account}, which has no line", "movements")
        row = [account]
        for name in ("spent_change", "reserved_change"):
            change = amount(movement.get(name, "0"), measure, changes=True)
            require(change is not None and (change != 0 or name not in movement), "is no change of its measure", name)
            row.append(change)
        for name in ("limit", "spent", "reserved"):
            balance = amount(movement[name], measure)
            require(balance is not None, "is no amount of its measure", name)
            row.append(balance)
        checked.append(row)
    return checked


# The tree (RFC 6962, section 2.1).

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(raw):
    return hashlib.sha256(b"\0" + raw).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """A tree that grows by leaves and keeps its right edge only: full nodes, the largest first."""

    def __init__(self):
        self.size = 0
        self.edge = []

    def append(self, leaf):
        size = self.size
        while size & 1:
            leaf = node_hash(self.edge.pop(), leaf)
            size >>= 1
        self.edge.append(leaf)
        self.size += 1

    def root(self):
        if not self.edge:
            return EMPTY_ROOT
        root = self.edge[-1]
        for node in reversed(self.edge[:-1]):
            root = node_hash(node, root)
        return root


def inclusion_holds(leaf, index, size, root, proof):
    """RFC 9162, section 2.1.3.2."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, leaf
    for p in proof:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node_hash(p, r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node_hash(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


def consistency_holds(old_size, old_root, new_size, new_root, proof):
    """RFC 9162, section 2.1.4.2, and the sizes that it leaves out (record_format.md, "Proofs")."""
    if old_size > new_size or (old_size == 0 and old_root != EMPTY_ROOT):
        return False
    if old_size == new_size:
        return not proof and old_root == new_root
    if old_size == 0:
        return not proof
    if not proof:
        return False
    path = list(proof) if old_size & (old_size - 1) else [old_root, *proof]
    fn, sn = old_size - 1, new_size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node_hash(c, fr), node_hash(c, sr)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == old_root and sr == new_root


# What a policy implies (record_format.md, "The object a policy implies").


def hashable(name):
    """Bytes of a line as a key: text where they are UTF-8, else bytes."""
    return bytes.fromhex(name["hex"]) if isinstance(name, dict) else name


def joined(prefix, name):
    return prefix + name if isinstance(name, str) else prefix.encode() + name


def first_day(kind, day):
    """The first day of the period of a kind that a day lies in, and its name."""
    year, month = day.year, day.month
    if kind == "day":
        return day, day.isoformat()
    if kind == "week":
        iso = day.isocalendar()
        return day - datetime.timedelta(iso.weekday - 1), f"{iso.year:04}-W{iso.week:02}"
    if kind == "month":
        return day.replace(day=1), f"{year:04}-{month:02}"
    if kind == "quarter":
        quarter = (month + 2) // 3
        return datetime.date(year, 3 * quarter - 2, 1), f"{year:04}-Q{quarter}"
    require(kind == "year", f"{kind} is no kind of period", "implies")
    return datetime.date(year, 1, 1), f"{year:04}"


def day_named(kind, name):
    """The first day of the period of that name."""
    if kind == "week":
        return datetime.date.fromisocalendar(int(name[:4]), int(name[6:]), 1)
    if kind == "quarter":
        return datetime.date(int(name[:4]), 3 * int(name[6:]) - 2, 1)
    return datetime.date.fromisoformat(name + {"day": "", "month": "-01", "year": "-01-01"}[kind])


def periods(kind, first, last):
    """(name, first day, last day) of each period from the first named to the last."""
    day, name = day_named(kind, first), None
    steps = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
    while name != last:
        start, name = first_day(kind, day)
        following = first_day(kind, start + datetime.timedelta(steps[kind]))[0]
        yield name, start.toordinal(), following.toordinal() - 1
        day = following


WORD = re.compile(r"\s*('(?:[^']|'')*'|!=|<=|>=|[<>=(),]|[^\s<>=!(),']+)")


def comparisons(where):
    """A condition as [(column, operator, [constants])]; `in` is an operator."""
    words = [found[1] for found in WORD.finditer(where)]
    require("".join(words) == re.sub(r"\s(?=(?:[^']*'[^']*')*[^']*$)", "", where), "has a condition that is none",
            "question")
    found = []
    while words:
        column, operator = words.pop(0), words.pop(0)
        constants = []
        if operator == "in":
            following = words.pop(0)  # the parenthesis, then commas
            while following != ")":
                constants.append(words.pop(0))
                following = words.pop(0)
        else:
            constants.append(words.pop(0))
        found.append((column, operator, constants))
        if words:
            require(words.pop(0) == "and", "has a condition that is none", "question")
    return found


def constant(kind, text):
    """What values of a type compare by: numbers as numbers, texts and dates as bytes."""
    if text.startswith("'"):
        text = text[1:-1].replace("''", "'")
    return Fraction(text) if kind in ("int", "decimal", "double") else text.encode()


COMPARE = {"=": lambda a, b: a == b[0], "!=": lambda a, b: a != b[0], "<": lambda a, b: a < b[0],
           "<=": lambda a, b: a <= b[0], ">": lambda a, b: a > b[0], ">=": lambda a, b: a >= b[0],
           "in": lambda a, b: a in b}


class Dataset:
    """What a policy version says of a dataset."""

    def __init__(self, said, principals):
        self.said = said
        self.principals = principals
        self.entries = []
        for entry in said["accounts"]:
            limit = amount(entry["limit"], entry["measure"])
            require(limit is not None, "has a limit that is no amount", "implies")
            self.entries.append((entry.get("each"), entry.get("scope"), entry["measure"], limit))
        self.own = {scope for each, scope, _, _ in self.entries if each is None}
        self.columns = {column["name"]: column for column in said["columns"]}
        self.covers = {}

    def values(self, column):
        said = self.columns[column]
        return said.get("values") or (["false", "true"] if said["type"] == "bool" else None)

    def covered(self, question):
        """The blocks that a row which satisfies the condition could lie in."""
        where = "" if question["statistic"].startswith("value:") else question.get("where", "")
        if where not in self.covers:
            remembered(self.covers, where, self.covered_by(where))
        return self.covers[where]

    def covered_by(self, where):
        blocks = self.said["blocks"]
        kind = self.columns[blocks["by"]]["type"]
        tests = [(COMPARE[operator], [constant(kind, text) for text in constants])
                 for column, operator, constants in comparisons(where) if column == blocks["by"]]
        holds = lambda value: all(compare(value, constants) for compare, constants in tests)
        if "per" not in blocks:
            return [value for value in self.values(blocks["by"]) if holds(constant(kind, value))]
        named = {day for _, constants in tests for day in constants}
        covered = []
        for name, first, last in periods(blocks["per"], blocks["first"], blocks["last"]):
            # between two days that the condition names, all days are alike to it
            days = {first, last}
            for text in named:
                day = datetime.date.fromisoformat(text.decode()).toordinal()
                days |= {d for d in (day - 1, day, day + 1) if first <= d <= last}
            if any(holds(datetime.date.fromordinal(day).isoformat().encode()) for day in days):
                covered.append(name)
        return covered

    def roles(self, principal):
        return self.principals[principal].get("roles", []) if self.principals is not None else []

    def debited(self, question, principal, purpose, day):
        """[(scope, measure, limit)] of the accounts that a request debits on a day of the calendar."""
        debited = []
        for each, scope, measure, limit in self.entries:
            if each is None:
                scopes = [scope] if self.touches(scope, principal, purpose) else []
            elif each == "period":
                scopes = ["period:" + first_day(self.said["renews"], day)[1]]
            elif each == "block":
                scopes = ["block:" + block for block in self.covered(question)]
            else:
                names = {"principal": [principal], "role": self.roles(principal),
                         "purpose": [purpose] if purpose is not None else []}[each]
                scopes = [s for s in (joined(each + ":", name) for name in names) if s not in self.own]
            debited += [(s, measure, limit) for s in scopes]
        return debited

    def touches(self, scope, principal, purpose):
        if scope in ("", "lifetime"):
            return True
        kind, _, name = scope.partition(":")
        return name == principal if kind == "principal" else (
            name in self.roles(principal) if kind == "role" else name == purpose)

    def listed(self):
        """{(scope, measure): limit} of the accounts that can be listed before anybody asks."""
        listed = {}
        for each, scope, measure, limit in self.entries:
            names = [scope] if each is None else []
            if each == "block":
                names = ["block:" + block for block in self.covered({"statistic": "count"})]
            elif each == "principal" and self.principals is not None:
                names = ["principal:" + name for name in self.principals]
            elif each == "role":
                names = ["role:" + role for said in self.principals.values() for role in said.get("roles", [])]
            elif each == "purpose":
                names = ["purpose:" + purpose for purpose in self.said["purposes"]]
            listed.update({(name, measure): limit for name in names if each is None or name not in self.own})
        return listed

    def limit_of(self, scope, measure):
        """The limit of an account, listed or not; None if there is no such account."""
        known = self.listed().get((scope, measure))
        if known is not None:
            return known
        kind = (scope if isinstance(scope, str) else scope.decode(errors="replace")).partition(":")[0]
        for each, _, of, limit in self.entries:
            if of == measure and each == kind and scope not in self.own and (
                    kind == "period" or kind == "principal" and self.principals is None):
                return limit
        return None

    def among(self, principal, said):
        """Whether somebody is among `principals` or has one of `roles`."""
        return principal in said.get("principals", ()) or any(r in said.get("roles", ()) for r in self.roles(principal))

    def may_approve(self, principal):
        approvals = self.said.get("approvals")
        return bool(approvals) and self.principals is not None and principal in self.principals and self.among(
            principal, approvals["by"])

    def why_not_allowed(self, question, principal, purpose):
        """Why the policy does not let somebody ask this, or None."""
        said, allow = self.said, self.said["allow"]
        if self.principals is not None and principal not in self.principals:
            return f"{principal} is no principal of the policy"
        if ("principals" in allow or "roles" in allow) and not self.among(principal, allow):
            return f"{principal} is not among who may ask"
        admitted = said.get("purposes")
        if self.principals is not None and admitted is not None:
            own = self.principals[principal].get("purposes", admitted)
            admitted = [name for name in admitted if name in own]
        if (purpose is None) != (admitted is None) or admitted is not None and purpose not in admitted:
            return "its purpose is not one that the policy admits"
        statistic, _, column = question["statistic"].partition(":")
        used = {"statistics": [statistic], "columns": [column] if column and statistic != "value" else [],
                "by": [question["by"]] if "by" in question else [],
                "where": [compared for compared, _, _ in comparisons(question.get("where", ""))]}
        for what, names in used.items():
            for name in names:
                if what in allow and name not in allow[what]:
                    return f"{what} does not allow {name}"
        used.update(principals=[principal], purposes=[purpose], roles=self.roles(principal))
        for number, rule in enumerate(said["forbid"], 1):
            if all(any(name in names for name in used[what]) for what, names in rule.items()):
                return f"rule {number} under forbid applies"
        return None


class Policy:
    def __init__(self, version, implied):
        self.version = version
        self.known = implied is not None
        principals = None
        if implied and "principals" in implied:
            principals = {entry["name"]: entry for entry in implied["principals"]}
        self.datasets = {said["name"]: Dataset(said, principals) for said in (implied or {"datasets": []})["datasets"]}


# Plans and what was drawn.


class Plan:
    """A question under a policy version and, once it was answered, how."""

    def __init__(self, record, dataset):
        self.number = record["number"]
        self.policy = record["policy"]
        self.question = record.get("question")
        self.release = record.get("release")
        self.dataset = dataset
        self.rounded_under = 0
        if self.release:
            self.read_release(self.release)

    def computed(self):
        """Whether its statistic is computed by the program, from a source; None if its question is not known."""
        return not self.question["statistic"].startswith("value:") if self.question else None

    def read_release(self, release):
        self.charged = on_grid_down(quantity(release["charged"]), "epsilon")
        self.cells = max(1, len(release.get("cells", ())))
        self.components = []
        for said in release.get("components", ()):
            self.components.append({name: quantity(value) for name, value in said.items()
                                    if name not in ("coordinates", "precision", "published_note", "statistic")}
                                   | {"coordinates": said["coordinates"], "precision": said.get("precision")})
        require(self.components, "has no components", "release")
        post = release.get("post_processing")
        self.post = post and {name: value if name == "kind" else quantity(value) for name, value in post.items()}
        needed = {"mean_about": 2, "variance_about": 3}.get(post and post["kind"], 1)
        require(len(self.components) == needed, "has another number of components than its answer", "release")
        for component in self.components:
            grid, bound, centre = component["grid"], component.get("bound"), component.get("centre", 0)
            require(grid > 0 and component["lambda"] > 0, "has a grid or a scale that is not above 0", "release")
            if bound is not None:
                require(bound > 0 and (centre / grid).denominator == 1, "has a centre off its grid", "release")

    def check_values(self, component_values, values):
        """That what was drawn lies on the grid and in the range, and what was released follows from it."""
        require(len(component_values) == len(self.components), "are of another number of components",
                "component_values")
        drawn = []
        for component, row in zip(self.components, component_values):
            require(len(row) == self.cells, "are of another number of cells than the plan's", "component_values")
            grid, bound, centre = component["grid"], component.get("bound"), component.get("centre") or 0
            numbers = [quantity(text) for text in row]
            for text, number in zip(row, numbers):
                offset = number - centre
                on_grid = (offset.numerator * grid.denominator) % (offset.denominator * grid.numerator) == 0
                if bound is not None:
                    require(abs(offset) <= bound, f"holds {text}, which is out of the range", "component_values")
                    on_grid = on_grid or abs(offset) == bound
                require(on_grid, f"holds {text}, which is not on the grid", "component_values")
            drawn.append(numbers)
        released = [self.answer(cell) for cell in zip(*drawn)]
        require(len(values) == len(released), "are of another number of cells than the plan's", "values")
        for text, number in zip(values, released):
            require(quantity(text) == number, f"holds {text} where {number} follows from what was drawn", "values")

    def answer(self, drawn):
        if self.post is None:
            return drawn[0]
        kind, centre = self.post["kind"], self.post.get("centre")
        if kind == "rounded":
            answer = (drawn[0] + Fraction(1, 2)).__floor__()
        elif kind == "mean_about":
            answer = centre + drawn[0] / max(drawn[1], 1)
        else:
            rows = max(drawn[2], 1)
            answer = drawn[0] / rows - (drawn[1] / rows) ** 2
        return min(max(answer, self.post["lower"]), self.post["upper"])


# The history.


class Account:
    __slots__ = ("dataset", "scope", "measure", "limit", "spent", "reserved", "active")

    def __init__(self, dataset, scope, measure, limit):
        self.dataset, self.scope, self.measure, self.limit = dataset, scope, measure, limit
        self.spent = self.reserved = 0
        self.active = True


class Waiting:
    """A request that is reserved or pending, and not resolved."""

    def __init__(self, record, plan, charges):
        self.outcome = record["outcome"]
        self.asker = hashable(record["principal"])
        self.purpose = record.get("purpose") and hashable(record["purpose"])
        self.dataset, self.policy = hashable(record["dataset"]), record["policy"]
        self.holding = record.get("holding")
        self.deadline = milliseconds(record["deadline"])
        self.plan, self.charges = plan, charges
        self.approvals = []
        self.token = None


ACTS = {"approved": ("approve",), "rejected": ("reject",), "token_issued": ("issue_token", "read_source"),
        "voided": ("cancel", "expire"), "forfeited": ("cancel", "expire")}
FOLLOWS = {"granted": ("reserved",), "refused": ("pending",), "reserved": ("pending",), "approved": ("pending",),
           "rejected": ("pending",), "token_issued": ("reserved",), "voided": ("pending", "reserved"),
           "forfeited": ("reserved",)}
COUNTERS = {"policy": "version", "account": "account", "plan": "number", "decision": "seq", "relocation": "seq",
            "limit": "seq", "removal": "seq", "clock": "seq", "credential": "seq", "key": "seq", "recovery": "seq"}


class History:
    """Folds records in the order of their lines; refuses what cannot follow."""

    def __init__(self):
        self.ledger = None
        self.lines = 0
        self.time = 0
        self.counts = dict.fromkeys([*COUNTERS, "event"], 0)
        self.kinds = {}
        self.outcomes = {}
        self.policies = {}
        self.active = None
        self.settled = True
        self.located = True
        self.accounts = [None]
        self.by_name = {}
        self.plans = [None]
        self.fresh_plan = None
        self.last_id = ""
        self.rules = 0
        self.schema = 0
        self.owed = {}
        self.open = {}
        self.keys = set()
        self.held_at = None
        self.unconfirmed = None
        self.expected = {}
        self.claimed = []
        self.unchecked = {}
        self.credentials = {}
        self.signers = set()
        self.recoveries = []

    def measure_of(self, account):
        return self.accounts[account].measure if account < len(self.accounts) else None

    def not_checked(self, what):
        self.unchecked[what] = self.unchecked.get(what, 0) + 1

    def add(self, record):
        kind, movements = check_record(record, self.measure_of)
        require(record["index"] == self.lines, f"is not {self.lines}, as the place of the line says", "index")
        now = milliseconds(record["time"])
        require(now >= self.time or self.is_old_version(kind, record), "goes back", "time")
        require((kind == "ledger") == (self.lines == 0), "is that of the first line, and of no other", "kind")
        if self.fresh_plan is not None:
            require(kind == "decision" and record.get("plan") == self.fresh_plan,
                    "is not the decision that the plan in the line before is for", "kind")
            self.fresh_plan = None
        if not self.located:
            require(kind == "location" and record["policy"] == self.active.version,
                    "is not the location of the policy version in the line before", "kind")
        self.count(kind, record)
        if not self.settled and kind not in ("location", "account", "limit", "removal"):
            self.settle()
        self.time = max(now, self.time)
        if kind == "decision":
            self.decision(record, movements)
        else:
            getattr(self, "on_" + kind)(record)
        self.kinds[record["kind"]] = self.kinds.get(record["kind"], 0) + 1
        self.lines += 1

    def is_old_version(self, kind, record):
        """Whether a line is of a policy version whose place older schemas did not record: it may be dated back."""
        if kind == "policy":
            return "event" not in record
        dated_back = self.active and not self.active.placed and record["time"] == self.active.time
        return dated_back and kind in ("location", "account", "limit")

    def count(self, kind, record):
        """Numbers of each kind are 1, 2, …, and places among decisions and events are where the line stands."""
        counted = "credential" if kind == "revocation" else kind
        if counted in COUNTERS:
            number = self.counts[counted] = self.counts[counted] + 1
            require(record[COUNTERS[counted]] == number, f"is not {number}, the next of its kind", COUNTERS[counted])
        if "after" in record:
            require(record["after"] == self.counts["decision"], "is not the number of the last decision before", "after")
        if kind in ("policy", "clock", "migration", "relocation"):
            if "event" in record:
                self.counts["event"] += 1
                require(record["event"] == self.counts["event"], "is not the next event's number", "event")
            else:
                before = self.counts["event"] == 0 or kind == "policy"
                require(before and self.schema < 4, "is missing, and was recorded by then", "event")
                self.owed[4] = "an event without its place"
            old = kind == "policy" and "event" not in record
            require("after" in record or old, "is missing", "after")

    def on_ledger(self, record):
        self.ledger = record["id"]

    def on_policy(self, record):
        implied = record.get("implies")
        yaml = record.get("yaml", "")
        text = hashable(yaml).encode() if isinstance(yaml, str) else hashable(yaml)
        require(hashlib.sha256(text).hexdigest() == record["sha256"], "is not the SHA-256 of the text", "sha256")
        self.active = Policy(record["version"], implied)
        self.active.time, self.active.placed = record["time"], "event" in record
        self.policies[self.active.version] = self.active
        self.located = False
        self.settled = implied is None or "event" not in record
        self.expected.clear()
        if implied is None:
            self.not_checked("policy versions without the object that they imply")

    def on_location(self, record):
        require(not self.located, "is not in the line after its policy version", "policy")
        self.located = True

    def on_relocation(self, record):
        known = not self.active.known or record["dataset"] in self.active.datasets
        require(known, "is no dataset of the active policy", "dataset")

    def on_account(self, record):
        dataset, scope = hashable(record["dataset"]), hashable(record.get("scope", ""))
        name = (dataset, scope, record["measure"])
        require(name not in self.by_name, "is an account that has a line already", "account")
        self.by_name[name] = record["account"]
        self.accounts.append(Account(*name, amount(record["limit"], record["measure"])))
        self.expected.clear()

    def limit_changes(self, record):
        require(self.active and record["policy"] == self.active.version, "is not the last policy version", "policy")
        require(record["account"] < len(self.accounts), "is an account that has no line", "account")
        require(record["time"] == self.active.time, "is not that of the policy version", "time")
        self.expected.clear()
        account = self.accounts[record["account"]]
        dataset = self.active.datasets.get(account.dataset)
        return account, dataset and dataset.limit_of(account.scope, account.measure)

    def on_limit(self, record):
        account, declared = self.limit_changes(record)
        new, old = amount(record["new"], account.measure), amount(record["old"], account.measure)
        require(old == account.limit, "is not the limit that the account had", "old")
        require(new >= account.spent + account.reserved, "is below what was spent and reserved", "new")
        if declared is not None:
            require(new == declared, "is not what the policy declares", "new")
        elif self.active.known:
            require(self.counts["event"] == 0 and new == account.spent + account.reserved,
                    "is a limit that the policy does not declare", "account")
        account.limit = new
        account.active = True

    def on_removal(self, record):
        account, declared = self.limit_changes(record)
        require(account.active, "is a limit that ended before", "account")
        require(declared is None or not self.active.known, "is a limit that the policy declares", "account")
        account.active = False

    def settle(self):
        """That accounts are as the active policy says, once all lines that a version brings are read."""
        self.settled = True
        for name, dataset in self.active.datasets.items():
            for (scope, measure), limit in dataset.listed().items():
                number = self.by_name.get((name, scope, measure))
                account = number and self.accounts[number]
                require(account and account.limit == limit, f"follows policy version {self.active.version}, of which "
                        f"the account {scope or name!r} of {measure} was not opened with its limit", "kind")
                account.active = True
        for account in self.accounts[1:]:
            dataset = self.active.datasets.get(account.dataset)
            declared = dataset and dataset.limit_of(account.scope, account.measure)
            require(not account.active or declared is not None, f"follows policy version {self.active.version}, which "
                    f"ended the limit {account.scope or account.dataset!r} of {account.measure} without a line", "kind")

    def on_plan(self, record):
        require(record["policy"] in self.policies, "is a policy version that has no line", "policy")
        question = record.get("question")
        dataset = None
        if question:
            dataset = self.policies[record["policy"]].datasets.get(question["dataset"])
        self.plans.append(Plan(record, dataset))
        self.fresh_plan = record["number"]

    def on_clock(self, record):
        if record["what"] == "forwards":
            self.unconfirmed = self.unconfirmed or milliseconds(record["time"])
        elif record["what"] == "confirmed":
            self.unconfirmed = None

    def on_migration(self, record):
        require(record["to"] > self.schema, "is not above the schema before", "to")
        self.schema = record["to"]
        self.owed = {schema: what for schema, what in self.owed.items() if schema > self.schema}
        if self.schema >= 3:
            self.rules = max(self.rules, 2)

    def on_credential(self, record):
        require(record["credential"] not in self.credentials, "is an id that is taken", "credential")
        self.credentials[record["credential"]] = (record["principal"], record["type"], True)

    def on_revocation(self, record):
        said = (record["principal"], record["type"], True)
        require(self.credentials.get(record["credential"]) == said, "is none that is valid", "credential")
        self.credentials[record["credential"]] = said[:2] + (False,)

    def on_key(self, record):
        retired = record.get("retired", False)
        require((record["key"] in self.signers) == retired, "is retired and was not added, or added twice", "key")
        (self.signers.discard if retired else self.signers.add)(record["key"])

    def on_recovery(self, record):
        self.recoveries.append(f"line {record['index']}: {record['cause']}, {record.get('dropped', 0)} lines dropped")

    # Decisions.

    def decision(self, record, movements):
        now, outcome = milliseconds(record["time"]), record["outcome"]
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        require(record["id"] > self.last_id, "is not above the id before", "id")
        self.last_id = record["id"]
        self.check_rules(record)
        self.check_members_of(outcome, record)
        require(record["policy"] in self.policies, "is a policy version that has no line", "policy")
        if "decided_under" in record:
            require(record["decided_under"] == self.active.version, "is not the active version", "decided_under")
        parent = None
        if "parent" in record:
            parent = self.open.get(record["parent"])
            require(parent is not None, "is no request that is open", "parent")
            require(parent.outcome in FOLLOWS.get(outcome, ()),
                    f"is {outcome}, which cannot follow {parent.outcome}", "outcome")
            same = (parent.dataset, parent.policy) == (hashable(record["dataset"]), record["policy"])
            require(same, "is not that of the request that it is about", "dataset")
        else:
            require(outcome in ("granted", "refused", "reserved", "pending"), "is missing", "parent")
            require(record["policy"] == self.active.version, "is not the active version", "policy")
        plan = self.plan_of(record, parent)
        self.keys_of(record)
        charges = self.fold(record, movements)
        if parent is None:
            self.first(record, plan, charges, now)
        else:
            self.later(record, plan, charges, parent, now)
        if outcome in ("reserved", "pending"):
            self.open[record["id"]] = Waiting(record, plan, charges)
        if outcome == "granted":
            plan.check_values(record["component_values"], record["values"])

    def check_rules(self, record):
        rules = record["rules"]
        require(rules >= self.rules, "falls", "rules")
        self.rules = rules
        if rules == 1:
            self.owed[3] = "a decision under rules 1"
            self.not_checked("decisions under rules 1: that they were decided under the active policy")
        for name in ("decided_under", "build"):
            require((name in record) == (rules > 1), "is there since rules 2, and always then", name)

    def check_members_of(self, outcome, record):
        """Which members go with which outcome."""
        answered = outcome == "granted"
        for name in ("component_values", "values"):
            require((name in record) == answered, "is there if an answer was released, and only then", name)
        for name, outcomes in (("plan", ("granted", "refused", "reserved", "pending")),
                               ("deadline", ("reserved", "pending")), ("reasons", ("refused",)),
                               ("verb", tuple(ACTS))):
            require((name in record) == (outcome in outcomes), f"does not go with {outcome}", name)
        if outcome in ACTS:
            require(record["verb"] in ACTS[outcome], f"does not go with {outcome}", "verb")
            for name in ("key", "conflicting_key", "purpose", "holding", "legacy_request"):
                require(name not in record, "does not go with an act", name)
        require("token_sha256" not in record or record.get("verb") == "issue_token",
                "goes with a data token that is issued", "token_sha256")
        require("conflicting_key" not in record or outcome == "refused" and "key" not in record,
                "goes with a refusal without a key", "conflicting_key")

    def plan_of(self, record, parent):
        if "plan" not in record:
            return parent.plan
        require(record["plan"] < len(self.plans), "is a plan that has no line", "plan")
        plan = self.plans[record["plan"]]
        require(plan.policy == record["policy"], "is a plan of another policy version", "plan")
        require((plan.question is None) == ("legacy_request" in record), "has a question, or the decision its text, "
                "and not both", "plan")
        if plan.question is None:
            self.not_checked("requests kept as texts: that accounts and losses follow from them")
        else:
            require(plan.question["dataset"] == record["dataset"], "is about another dataset", "plan")
        granted = record["outcome"] == "granted"
        require(not granted or plan.release is not None, "does not say how it is answered", "plan")
        if parent is not None:
            require(plan.question == parent.plan.question, "asks something else than the request waiting", "plan")
        return plan

    def keys_of(self, record):
        principal = hashable(record["principal"])
        if "key" in record:
            require("parent" not in record, "goes with a new request only", "key")
            bound = (principal, hashable(record["key"]))
            require(bound not in self.keys, "is bound already", "key")
            self.keys.add(bound)
        if "conflicting_key" in record:
            bound = (principal, hashable(record["conflicting_key"]))
            require(bound in self.keys, "is not bound to another question", "conflicting_key")

    def fold(self, record, movements):
        """Adds movements to balances; returns what was charged or kept, by account."""
        outcome = record["outcome"]
        dataset = hashable(record["dataset"])
        spends = outcome in ("granted", "forfeited")
        settles = "parent" in record and outcome in ("granted", "forfeited", "voided")
        charges = {}
        for number, spent_change, reserved_change, limit, spent, reserved in movements:
            account = self.accounts[number]
            require(account.dataset == dataset, f"touch account {number}, of another dataset", "movements")
            account.spent += spent_change
            account.reserved += reserved_change
            require(account.limit == limit, f"say a limit that account {number} does not have", "limit")
            require(account.spent == spent, f"say of account {number} what does not add up", "spent")
            require(account.reserved == reserved, f"say of account {number} what does not add up", "reserved")
            require(spent + reserved <= limit, f"pass the limit of account {number}", "movements")
            charge = spent_change if spends else abs(reserved_change)
            right = (spent_change == (charge if spends else 0) and charge >= 0 and reserved_change == (
                -charge if settles else charge if outcome == "reserved" else 0))
            require(right, f"do to account {number} what {outcome} does not", "movements")
            charges[number] = charge
        return charges

    def first(self, record, plan, charges, now):
        """A new request."""
        outcome = record["outcome"]
        holding = record.get("holding")
        if outcome != "refused":
            require(outcome != "granted" or holding is None, "goes with what waits", "holding")
            require(outcome != "reserved" or holding is not None, "is missing", "holding")
            if plan.dataset:
                self.admitted(record, plan, now)
        if outcome in ("granted", "reserved"):
            self.charged_right(record, plan, charges, now)

    def admitted(self, record, plan, now):
        principal, purpose = hashable(record["principal"]), record.get("purpose")
        why = plan.dataset.why_not_allowed(plan.question, principal, purpose and hashable(purpose))
        require(why is None, f"asks what the policy does not allow: {why}", "plan")

    def calendar_day(self, now):
        at = now if self.unconfirmed is None else min(now, self.unconfirmed)
        return datetime.date.fromordinal(at // 86400000 + 719163)

    def charged_right(self, record, plan, charges, now, dataset=None, asker=None, purpose=None):
        """That exactly the accounts are debited that the policy says."""
        dataset = dataset or plan.dataset
        require(any(charges.values()), "charge nothing", "movements")
        if dataset is None or plan.question is None:
            self.not_checked("charges of which the accounts are not known")
            return
        asker = hashable(record["principal"]) if asker is None else asker
        purpose = purpose if purpose is not None else record.get("purpose") and hashable(record["purpose"])
        key = (plan.number, id(dataset), asker, purpose, self.calendar_day(now))
        debits = self.expected.get(key)
        if debits is None:
            debits = {}
            for scope, measure, limit in dataset.debited(plan.question, asker, purpose, key[-1]):
                name = (hashable(record["dataset"]), scope, measure)
                number = self.by_name.get(name)
                require(number is not None, f"do not touch the account {scope or name[0]!r} of {measure}", "movements")
                if record["rules"] > 1 or dataset.said is self.active.datasets.get(name[0]):
                    require(self.accounts[number].limit == limit, f"are under a limit of account {number} that is not "
                            "the policy's", "movements")
                debits[number] = measure
            remembered(self.expected, key, debits)
        require(debits.keys() == charges.keys(), "do not charge the accounts that the policy says: "
                f"{sorted(debits)} are {sorted(charges)}", "movements")

    def later(self, record, plan, charges, parent, now):
        """What becomes of a request that waits."""
        outcome, principal = record["outcome"], hashable(record["principal"])
        under = self.policies[record["policy"]] if record["rules"] == 1 else self.active
        dataset = under.datasets.get(parent.dataset)
        expired = record.get("verb") == "expire"
        if outcome not in ("voided", "forfeited") and not (outcome == "granted" and parent.token):
            require(now < parent.deadline, "is not before the deadline", "time")
        if outcome in ("approved", "rejected"):
            require(principal != parent.asker, "is who asked", "principal")
            require(principal not in [name for name, _ in parent.approvals], "approved before", "principal")
            if dataset or under.known:
                require(dataset and dataset.may_approve(principal), "may not approve", "principal")
            if outcome == "approved":
                parent.approvals.append((principal, record["via"]))
        elif outcome == "reserved":
            require(principal == parent.asker, "is not who asked", "principal")
            require(record.get("holding") == parent.holding, "is not how the request was to be kept", "holding")
            self.approved_by_enough(record, parent, dataset)
            self.charged_right(record, plan, charges, now, dataset, parent.asker, parent.purpose)
        elif outcome == "token_issued":
            require(parent.token is None, "is not the first token of its reservation", "outcome")
            parent.token = record["verb"]
        elif outcome in ("granted", "forfeited", "voided"):
            kept = [{number: charge for number, charge in held.items() if charge} for held in (charges, parent.charges)]
            require(kept[0] == kept[1], "settle what was not reserved so", "movements")
        if outcome == "granted":
            require(parent.token or not plan.computed() and parent.holding != "data_token",
                    "has no token before it", "parent")
        if expired:
            require(now >= parent.deadline or "why" in record, "expires before its deadline", "time")
        if outcome in ("voided", "forfeited") and parent.outcome == "reserved" and plan.question:
            unseen = parent.token is None and (plan.computed() or parent.holding == "data_token")
            require(unseen == (outcome == "voided"), "gives back what may have been seen, or keeps what was not",
                    "outcome")
        if outcome not in ("approved", "token_issued"):
            del self.open[record["parent"]]

    def approved_by_enough(self, record, parent, dataset):
        if dataset is None or "approvals" not in dataset.said:
            self.not_checked("approvals under a policy that asks for none")
            return
        voters = [(name, via) for name, via in parent.approvals if dataset.may_approve(name)]
        needed = dataset.said["approvals"]["required"]
        require(len(voters) >= needed, f"has {len(voters)} approvals of {needed}", "parent")
        names = [f"{name}" for name, via in voters if via == "claimed"]
        if names:
            self.claimed.append({"line": self.lines, "decision": record["id"], "approved_by": names})

    def commit_ends(self):
        require(self.fresh_plan is None, "a plan is followed by no decision")
        require(self.located, "a policy version is followed by no location")
        if not self.settled:
            self.settle()

    def finish(self):
        require(self.lines > 0, "there is no line")
        self.commit_ends()
        for schema, what in self.owed.items():
            raise Fault(f"{what} is followed by no migration to schema {schema}")


# Ed25519 (RFC 8032, section 5.1), as strict as libsodium: no cofactor, S below the order, keys and R of large order.

FIELD = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, FIELD) % FIELD
ROOT_OF_MINUS_1 = pow(2, (FIELD - 1) // 4, FIELD)
IDENTITY = (0, 1, 1, 0)


def point_add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % FIELD, (p[1] + p[0]) * (q[1] + q[0]) % FIELD
    c, d = 2 * p[3] * q[3] * CURVE_D % FIELD, 2 * p[2] * q[2] % FIELD
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD


def point_multiple(scalar, point):
    result = IDENTITY
    while scalar > 0:
        if scalar & 1:
            result = point_add(result, point)
        point = point_add(point, point)
        scalar >>= 1
    return result


def point_read(data):
    """The point that 32 bytes encode, or None."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= FIELD:
        return None
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if (x * x - square) % FIELD:
        x = x * ROOT_OF_MINUS_1 % FIELD
    if (x * x - square) % FIELD or (x == 0 and sign):
        return None
    x = FIELD - x if x & 1 != sign else x
    return x, y, 1, x * y % FIELD


def point_write(point):
    inverse = pow(point[2], -1, FIELD)
    x, y = point[0] * inverse % FIELD, point[1] * inverse % FIELD
    return (y | (x & 1) << 255).to_bytes(32, "little")


def has_small_order(point):
    return point_write(point_multiple(8, point)) == point_write(IDENTITY)


BASE = point_read((4 * pow(5, -1, FIELD) % FIELD).to_bytes(32, "little"))


def signature_holds(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    public, r, s = point_read(key), point_read(signature[:32]), int.from_bytes(signature[32:], "little")
    if public is None or r is None or s >= ORDER or has_small_order(public) or has_small_order(r):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    minus = (FIELD - public[0], public[1], 1, FIELD - public[3])
    return point_write(point_add(point_multiple(s, BASE), point_multiple(h, minus))) == signature[:32]


# Checkpoints: C2SP signed-note, tlog-checkpoint and tlog-cosignature.

LOG_KEY, WITNESS_KEY = 1, 4
VERIFIER_KEY = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)")
SIGNATURE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+=*)")
SIZE = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)


def base64_bytes(text):
    """RFC 4648, section 4, padded; None of what another encoder would not have written."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


class VerifierKey:
    def __init__(self, text, kind):
        found = VERIFIER_KEY.fullmatch(text)
        data = found and base64_bytes(found[3])
        require(data and len(data) == 33, f"{text} is no verifier key of Ed25519")
        require(data[0] == kind, f"{text} is a key of another kind: its first byte is {data[0]}, not {kind}")
        self.text, self.name, self.kind, self.key = text, found[1], kind, data[1:]
        self.id = hashlib.sha256(self.name.encode() + b"\n" + data).digest()[:4]
        require(self.id.hex() == found[2], f"{text} is no verifier key: its id is {self.id.hex()}")

    def holds(self, text, signature):
        if self.kind == LOG_KEY:
            return signature_holds(self.key, text, signature)
        at = int.from_bytes(signature[:8], "big")
        signed = b"cosignature/v1\ntime %d\n" % at + text
        return at < 2**63 and signature_holds(self.key, signed, signature[8:])


class Checkpoint:
    """A note: its text, three lines and any more, and signatures [(name, key id, signature)]."""

    def __init__(self, body, signatures, place):
        self.place = place
        require(len(body) >= 3 and all(body), f"{place}: is no checkpoint")
        self.text = "".join(line + "\n" for line in body).encode()
        self.origin, root = body[0], base64_bytes(body[2])
        require(SIZE.fullmatch(body[1]) and root is not None and len(root) == 32, f"{place}: has no size and root")
        self.size, self.root = int(body[1]), root
        self.signatures = []
        for line in signatures:
            found = SIGNATURE.fullmatch(line)
            data = found and base64_bytes(found[2])
            require(data and len(data) > 4, f"{place}: has a line that is no signature")
            self.signatures.append((found[1], data[:4], data[4:]))
        require(signatures, f"{place}: has no signature")
        self.signed, self.witnesses = False, 0

    def signed_by(self, key):
        """Whether a key signed this; a signature under its name and id that does not hold is a fault."""
        found = [signature for name, key_id, signature in self.signatures if (name, key_id) == (key.name, key.id)]
        for signature in found:
            require(key.holds(self.text, signature), f"{self.place}: the signature of {key.name} does not hold")
        return bool(found)

    def check(self, keys, witnesses, needed):
        self.signed = any([self.signed_by(key) for key in keys])
        require(self.signed or not keys, f"{self.place}: is not signed by the key of the log")
        self.witnesses = sum([self.signed_by(key) for key in witnesses])
        require(self.witnesses >= needed, f"{self.place}: {self.witnesses} witnesses signed, {needed} are required")


def read_checkpoints(path):
    """The notes of a file, one empty line between two."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(f"{path}: is not UTF-8") from error
    require(text.endswith("\n"), f"{path}: does not end with a line feed")
    require(not any(c < " " and c != "\n" for c in text), f"{path}: has a control character")
    blocks = [block.split("\n") for block in text[:-1].split("\n\n")]
    require(len(blocks) % 2 == 0, f"{path}: is no series of signed notes")
    return [Checkpoint(blocks[i], blocks[i + 1], f"{path}, note {i // 2 + 1}") for i in range(0, len(blocks), 2)]


# Exports and replicas.

TRAILER = re.compile(rb"= (0|[1-9][0-9]{0,15}) ([A-Za-z0-9+/]{43}=)")
UNCHECKED = (
    "that the object a policy implies follows from its YAML (`epsilog audit verify` does that)",
    "that what was refused had to be, and what refusals say",
    "that noise was drawn by the law that is stated, and once, and that answers come from the data",
    "that who asked, approved and applied is who the line says, beyond what `via` says of it",
)


class Report:
    def __init__(self, reader, fault=None, line=None):
        self.reader, self.fault, self.line = reader, fault, line

    def as_object(self):
        reader, history = self.reader, self.reader.history
        said = {"ok": self.fault is None, "ledger_id": history.ledger, "lines": reader.tree.size,
                "root": reader.tree.root().hex(), "kinds": history.kinds, "outcomes": history.outcomes,
                "policy_version": history.active and history.active.version,
                "checkpoints": [{"origin": c.origin, "size": c.size, "signed": c.signed, "witnesses": c.witnesses,
                                 "checked": c.size <= reader.tree.size} for c in reader.checkpoints],
                "replica": None if reader.acknowledged is None else {
                    "trailers": reader.trailers, "acknowledged": reader.acknowledged,
                    "unacknowledged": reader.unacknowledged},
                "approved_by_claim": history.claimed, "recoveries": history.recoveries,
                "unchecked": [{"what": what, "count": n} for what, n in sorted(history.unchecked.items())],
                "never_checked": list(UNCHECKED), "fault": None}
        if self.fault:
            said["fault"] = {"line": self.line, "index": self.index(), "member": self.fault.member,
                             "why": self.fault.why}
        return said

    def index(self):
        return self.reader.tree.size if self.line is not None else None

    def print(self):
        said = self.as_object()
        if self.fault:
            at = "" if self.line is None else f"line {self.line} (index {self.index()}): "
            member = f"`{self.fault.member}` " if self.fault.member else ""
            print(f"WRONG: {at}{member}{self.fault.why}")
            return
        print(f"ledger       {said['ledger_id']}")
        print(f"lines        {said['lines']}, root {said['root']}")
        print("records      " + ", ".join(f"{n} {kind}" for kind, n in sorted(said["kinds"].items())))
        print("decisions    " + (", ".join(f"{n} {o}" for o, n in sorted(said["outcomes"].items())) or "none"))
        for checkpoint in said["checkpoints"]:
            signed = "signed" if checkpoint["signed"] else "unsigned: no --vkey was given"
            witnesses = f", {checkpoint['witnesses']} witnesses" if checkpoint["witnesses"] else ""
            print(f"checkpoint   size {checkpoint['size']}, {signed}{witnesses}")
        if not said["checkpoints"]:
            print("checkpoint   none: that this is the history which others were shown is not known")
        if said["replica"]:
            print(f"replica      {said['replica']['acknowledged']} lines acknowledged by {said['replica']['trailers']} "
                  f"trailers, {said['replica']['unacknowledged']} lines after the last one")
        for approval in said["approved_by_claim"]:
            print(f"by claim     {approval['decision']} was approved by " + ", ".join(approval["approved_by"]))
        for recovery in said["recoveries"]:
            print(f"recovery     {recovery}")
        for entry in said["unchecked"]:
            print(f"not checked  {entry['what']} ({entry['count']})")
        for what in said["never_checked"]:
            print(f"never        {what}")
        print("Nothing is wrong.")


class Reader:
    """Takes lines one by one: records into tree and history, trailers and checkpoints against the tree."""

    def __init__(self, checkpoints=()):
        self.tree = Tree()
        self.history = History()
        self.checkpoints = sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
        self.ahead = list(self.checkpoints)
        self.acknowledged, self.trailers, self.unacknowledged = None, 0, 0

    def take(self, raw):
        require(raw.endswith(b"\n"), "is not ended by a line feed")
        raw = raw[:-1]
        if raw.startswith(b"= "):
            self.trailer(raw)
        else:
            self.record(raw)

    def record(self, raw):
        record = parse_line(raw)
        try:
            self.history.add(record)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError) as error:
            raise Fault(f"says what cannot be: {type(error).__name__} {error}") from error
        if self.tree.size == 0:
            self.check_origins(record["id"])
        self.tree.append(leaf_hash(raw))
        if self.ahead and self.ahead[0].size == self.tree.size:
            self.check_roots()

    def check_origins(self, ledger):
        for checkpoint in self.checkpoints:
            require(checkpoint.origin == "epsilog/" + ledger, f"is of another ledger than {checkpoint.place}", "id")

    def check_roots(self):
        while self.ahead and self.ahead[0].size <= self.tree.size:
            checkpoint = self.ahead.pop(0)
            require(checkpoint.root == self.tree.root(),
                    f"ends {self.tree.size} lines that are not those of {checkpoint.place}")

    def trailer(self, raw):
        found = TRAILER.fullmatch(raw)
        require(found, "is no trailer")
        require(int(found[1]) == self.tree.size, f"says {int(found[1])} lines, and {self.tree.size} stand before it")
        require(base64_bytes(found[2].decode()) == self.tree.root(), "says another root than the lines before it have")
        self.history.commit_ends()
        self.trailers += 1
        self.acknowledged = self.tree.size

    def finish(self):
        self.check_complete()
        if self.acknowledged is not None:
            self.unacknowledged = self.tree.size - self.acknowledged
        if not self.unacknowledged:
            self.history.finish()

    def check_complete(self):
        size = self.tree.size if self.acknowledged is None else self.acknowledged
        last = self.checkpoints[-1] if self.checkpoints else None
        require(last is None or last.size <= size, f"{size} lines are fewer than the {last and last.size} of "
                f"{last and last.place}")


def read(reader, file, progress):
    """Reads all lines; returns the fault and its line, if there is one."""
    number, rest = 0, iter(file)
    for raw in rest:
        number += 1
        try:
            reader.take(raw)
        except Fault as fault:
            if reader.acknowledged is None:
                return fault, number
            left = lines_without_trailer(rest)
            if left is None or raw.startswith(b"= ") and raw.endswith(b"\n"):
                return fault, number
            reader.unacknowledged = reader.tree.size - reader.acknowledged + left + 1
            try:
                reader.check_complete()
            except Fault as incomplete:
                return incomplete, None
            return None, None
        if progress and number % 20000 == 0:
            print(f"\r{number} lines", end="", file=sys.stderr, flush=True)
    try:
        reader.finish()
    except Fault as fault:
        return fault, None
    return None, None


def lines_without_trailer(rest):
    """How many lines are left if none of them is a trailer, else None: then what is wrong was acknowledged."""
    left = 0
    for raw in rest:
        if TRAILER.fullmatch(raw.rstrip(b"\n")):
            return None
        left += 1
    return left


def arguments(given):
    parser = argparse.ArgumentParser(prog="epsilog_verify.py", description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("lines", help="an export or a replica; - is standard input")
    parser.add_argument("--checkpoint", action="append", default=[], metavar="FILE",
                        help="signed notes, of each of which the lines must be a continuation")
    parser.add_argument("--vkey", action="append", default=[], help="the log's verifier key; one of several signed")
    parser.add_argument("--witness", nargs="+", action="extend", default=[], metavar="VKEY",
                        help="keys of witnesses")
    parser.add_argument("--require", type=int, default=0, metavar="N", help="how many witnesses signed each checkpoint")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print only what is wrong")
    options = parser.parse_args(given)
    try:
        options.keys = [VerifierKey(text, LOG_KEY) for text in options.vkey]
        options.witnesses = [VerifierKey(text, WITNESS_KEY) for text in dict.fromkeys(options.witness)]
    except Fault as fault:
        parser.error(fault.why)
    if options.require > len({key.key for key in options.witnesses}) or options.require < 0:
        parser.error("--require needs as many different --witness keys")
    if (options.vkey or options.witness) and not options.checkpoint:
        parser.error("--vkey and --witness go with --checkpoint")
    return options


def verify(options):
    """The report of what the arguments name."""
    checkpoints = []
    try:
        for path in options.checkpoint:
            checkpoints += read_checkpoints(path)
        for checkpoint in checkpoints:
            checkpoint.check(options.keys, options.witnesses, options.require)
    except Fault as fault:
        return Report(Reader(), fault)
    reader = Reader(checkpoints)
    progress = sys.stderr.isatty() and not options.json and not options.quiet
    if options.lines == "-":
        fault, line = read(reader, sys.stdin.buffer, progress)
    else:
        with open(options.lines, "rb") as file:
            fault, line = read(reader, file, progress)
    if progress:
        print("\r", end="", file=sys.stderr)
    return Report(reader, fault, line)


def main(given=None):
    options = arguments(given)
    try:
        report = verify(options)
    except OSError as error:
        if options.json:
            print(json.dumps({"error": {"code": "source_io", "message": str(error)}}))
        print(f"epsilog_verify.py: {error}", file=sys.stderr)
        return 3
    if options.json:
        print(json.dumps(report.as_object(), ensure_ascii=False, sort_keys=True))
    elif not options.quiet or report.fault:
        report.print()
    return 6 if report.fault else 0


if __name__ == "__main__":
    sys.exit(main())
