#!/usr/bin/env python3
"""Checks the history of an Epsilog ledger from its lines, without Epsilog.

    epsilog audit export --ledger L > L.lines
    epsilog_verify.py L.lines --checkpoint C --vkey VKEY

Written from docs/record_format.md and what that page cites (docs/ledger_format.md, sensitivity.md, filters.md,
reservations.md, the proofs), not from the program: no code and no constant of it is here. It needs Python 3.8 or later
and nothing else. All numbers are integers and fractions; there is no floating-point number in this file.

Exit codes: 0 all was checked, and nothing is wrong; 2 the command line; 3 a file cannot be read; 4 nothing is wrong,
but something was not checked (--accept-unchecked KIND accepts that); 5 the lines need a newer verifier; 6 something is
wrong, and printed is the first line that shows it, and why.
"""

import argparse
import base64
import bisect
import collections
import concurrent.futures
import datetime
import hashlib
import itertools
import json
import re
import sys
import zlib
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, isqrt, prod

class Fault(Exception):
    """What is wrong, and of which member; the line is known to who reads lines."""

    def __init__(self, why, member=""):
        super().__init__(why, member)
        self.why, self.member = why, member

class NeedsFeature(Exception):
    """A line announces a feature that this verifier does not know: it can judge nothing from there on."""

def require(holds, why, member=""):
    if not holds:
        raise Fault(why, member)

# Canonical JSON (record_format.md, "A line"). What is parsed as None is written as "null", which did not stand there.

LARGEST_COUNT = 2**53 - 1
QUANTITY_MAX = 20000  # characters; losses at 4096 bits have 5000 digits
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(QUANTITY_MAX)
RULES = 1  # the rules that decisions of today are made under
NAME = re.compile(r"[ !#-\[\]-~]*")
NO_NUMBERS = {"parse_float": lambda text: None, "parse_constant": lambda text: None}
DECODE = json.JSONDecoder(**NO_NUMBERS).decode
DECODE_LONG = json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 17 else None, **NO_NUMBERS).decode
MAY_BE_LONG = re.compile("[\\[,:][0-9]{17}").search  # a number of so many digits, or a text with such a part
ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

def parse_line(raw):
    """The object that the bytes `raw` are the canonical text of."""
    try:
        text = raw.decode("utf-8")
        value = (DECODE_LONG if MAY_BE_LONG(text) else DECODE)(text)
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
    member, depth = "", 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"(:?)|[\[{]|[\]}]', text):
        if token.start() > at or text[at : at + 1].isspace():
            break
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[1] and depth == 1:
            member = token[0][1:-2]
    return "" if text[at : at + 1].isspace() else member

def is_value(value, depth=0):
    """Whether a parsed value is one that a line may be, or hold `depth` levels below its own."""
    if isinstance(value, (str, bool)):
        return True
    if isinstance(value, int):
        return 0 <= value <= LARGEST_COUNT
    if isinstance(value, list):
        return depth < 32 and all(is_value(element, depth + 1) for element in value)
    if isinstance(value, dict):
        return depth < 32 and all(NAME.fullmatch(n) and is_value(v, depth + 1) for n, v in value.items())
    return False

# Quantities and amounts.

DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]*[1-9]))?")
FRACTION = re.compile(r"-?[1-9][0-9]*/[1-9][0-9]*")
RENYI = re.compile(r"rdp\((.+)\)")
GRID_DIGITS = {"epsilon": 12, "delta": 18, "rho": 15}
LARGEST_AMOUNT = 2**61
QUANTITIES, AMOUNTS, DAYS, LOSSES = {}, {}, {}, {}

def remembered(table, key, value, most=50000):
    """Keeps `value` in a table that does not grow without end."""
    if len(table) > most:
        table.clear()
    table[key] = value
    return value

LONG = 1000  # characters of a quantity from which on it is computed anew each time, so that no table grows large

def quantity(text):
    """The number that a quantity is, or None. Its form is checked before anything is computed."""
    known = QUANTITIES.get(text) if isinstance(text, str) else None
    if known is not None or not isinstance(text, str) or len(text) > QUANTITY_MAX:
        return known
    found, number = DECIMAL.fullmatch(text), None
    if found and text != "-0":
        number = Fraction(int(found[1] + found[2] + (found[3] or "")), 10 ** len(found[3] or ""))
    elif FRACTION.fullmatch(text):
        number = Fraction(text)
        number = None if str(number) != text or digits_end(number) else number
    return number if number is None or len(text) > LONG else remembered(QUANTITIES, text, number)

def number_in(text, member):
    """The number that a quantity of a policy or a condition is."""
    number = quantity(text)
    require(number is not None, f"holds {ENCODE(text)[:60]}, which is no quantity", member)
    return number

EXACT_BELOW = 10**4000  # numerators and denominators of sums
COARSE = 2**1024

def sum_of_losses(numbers):
    """What answers, rows or calls of a mechanism lose together (record_format.md, "Sums"): exact while it is short."""
    total = Fraction(0)
    for number in numbers:
        total += number
        if max(abs(total.numerator), total.denominator) >= EXACT_BELOW:
            total = Fraction(-(-total.numerator * COARSE // total.denominator), COARSE)
    return total

def digits_end(number):
    return (10 ** number.denominator.bit_length()) % number.denominator == 0

def grid_digits(measure):
    """How many decimals amounts of a measure have; None of what is no measure."""
    found = RENYI.fullmatch(measure) if isinstance(measure, str) and measure not in GRID_DIGITS else None
    order = found and quantity(found[1])
    return 12 if order and 1 < order <= 1000000 else GRID_DIGITS.get(measure) if isinstance(measure, str) else None

def on_grid_down(text, measure):
    number = quantity(text)
    return number.numerator * 10 ** grid_digits(measure) // number.denominator

def amount(text, measure, changes=False):
    """An amount of a measure in units of its grid, or None; of either sign if it `changes` something."""
    if not isinstance(text, str):
        return None
    known = AMOUNTS.get((text, measure))
    if known is None:
        found, digits = DECIMAL.fullmatch(text), grid_digits(measure)
        if not found or digits is None or len(found[3] or "") > digits or len(found[2]) > 20 or text == "-0":
            return None
        known = remembered(AMOUNTS, (text, measure), int(found[1] + found[2] + (found[3] or "").ljust(digits, "0")))
    return known if abs(known) <= LARGEST_AMOUNT and (known >= 0 or changes) else None

TIME = re.compile(r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)\.(\d{3})Z", re.ASCII)

def milliseconds(text):
    """A time in milliseconds since 1970, or None."""
    found = TIME.fullmatch(text) if isinstance(text, str) else None
    day = found and DAYS.get(found[1])
    if found and day is None:
        try:
            day = remembered(DAYS, found[1], datetime.date.fromisoformat(found[1]).toordinal() - 719163)
        except ValueError:
            return None
    if not found or day < 0:
        return None
    return (((day * 24 + int(found[2])) * 60 + int(found[3])) * 60 + int(found[4])) * 1000 + int(found[5])

ID_DIGITS = str.maketrans("0123456789ABCDEFGHJKMNPQRSTVWXYZ", "0123456789ABCDEFGHIJKLMNOPQRSTUV")

def milliseconds_of_id(text):
    """The time that the first ten characters of an id are."""
    return int(text[:10].translate(ID_DIGITS), 32)

# Forms of members (record_format.md, "Records"): each says whether a value has it.

def matching(pattern):
    compiled = re.compile(pattern, re.DOTALL)
    return lambda value: type(value) is str and compiled.fullmatch(value) is not None

def one_of(*words):
    return lambda value: type(value) is str and value in words

def is_bytes(value):
    if type(value) is str:
        return value != ""
    if type(value) is not dict or set(value) != {"hex"} or not matching("(?:[0-9a-f]{2})+")(value["hex"]):
        return False
    try:
        bytes.fromhex(value["hex"]).decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False  # what is UTF-8 is written as text

def array_of(form, least=1):
    return lambda value: type(value) is list and len(value) >= least and all(map(form, value))

def in_order(form, key=lambda value: value, least=0):
    """Arrays of one form, in ascending byte order of what `key` finds in each, none twice."""
    def holds(value):
        if not array_of(form, least)(value):
            return False
        keys = [hashable(key(element)) for element in value]
        keys = [name.encode() if isinstance(name, str) else name for name in keys]
        return all(one < next_one for one, next_one in zip(keys, keys[1:]))
    return holds

def one_or_more(form):
    """One value of a form, or an array of several."""
    return lambda value: form(value) or type(value) is list and len(value) > 1 and all(map(form, value))

def hashable(name):
    """Bytes of a line as a key: text where they are UTF-8, else bytes."""
    return bytes.fromhex(name["hex"]) if isinstance(name, dict) else name

def is_reasons(value):
    """The reasons of a refusal: all of them, or the first of so many."""
    if type(value) is dict:
        return set(value) == {"count", "first"} and is_reasons(value["first"]) and is_number(value["count"]) and (
            len(value["first"]) < value["count"])
    return type(value) is list and 0 < len(value) <= 16 and all(type(reason) is dict for reason in value)

is_text_or_bytes = lambda value: value == "" or is_bytes(value)
is_keys = array_of(is_text_or_bytes)
is_number = lambda value: type(value) is int and 0 < value <= LARGEST_COUNT
is_count = lambda value: type(value) is int and 0 <= value <= LARGEST_COUNT
is_object = lambda value: type(value) is dict  # what is in it has a table of its own
is_named = lambda value: is_object(value) and is_bytes(value.get("name", ""))
is_quantity = lambda value: quantity(value) is not None
is_positive = lambda value: is_quantity(value) and quantity(value) > 0
is_share = lambda value: is_positive(value) and quantity(value) < 1
is_size = lambda value: type(value) is int and 0 < value <= 10**12
PERIODS = one_of("day", "week", "month", "quarter", "year")
IS = {
    "bytes": is_bytes, "reasons": is_reasons, "number": is_number, "decimal": matching(DECIMAL.pattern),
    "count": is_count, "text": lambda value: type(value) is str and value != "", "word": matching("[a-z][a-z0-9_]*"),
    "any_text": lambda value: type(value) is str, "any_bytes": is_text_or_bytes,
    "time": lambda value: milliseconds(value) is not None,
    "quantity": is_quantity, "positive": is_positive, "share": is_share,
    "object": lambda value: value != {} and is_object(value), "any_object": is_object,
    "true": lambda value: value is True, "bool": lambda value: type(value) is bool,
    "one": lambda value: is_number(value) and value == 1,
    "rules": lambda value: is_number(value) and value == RULES,
    "hex32": matching("[0-9a-f]{32}"), "hex64": matching("[0-9a-f]{64}"),
    "id": matching("[0-7][0-9A-HJKMNP-TV-Z]{25}"), "via": matching("claimed|(?:unix|token):.+"),
    "measure": lambda value: grid_digits(value) is not None,
    "epsilon": lambda value: amount(value, "epsilon") is not None,
    "delta": lambda value: amount(value, "delta") is not None and amount(value, "delta") <= 10**18,
    "objects": array_of(is_object), "any_objects": array_of(is_object, 0),
    "cells": lambda value: is_keys(value) or (type(value) is list and len(value) > 1 and all(map(is_keys, value))
                                              and prod(map(len, value)) <= 10000),
    "quantities": array_of(is_quantity), "rows": array_of(array_of(is_quantity, 0)), "keys": is_keys,
    "by": one_or_more(is_bytes), "set": in_order(is_bytes), "texts": in_order(is_text_or_bytes),
    "named": in_order(is_named, lambda value: value["name"], 1),
    "any_named": in_order(is_named, lambda value: value["name"]),
    "size": is_size, "seconds": lambda value: is_number(value) and 60 <= value <= 31536000, "kind": PERIODS,
    "precision": lambda value: is_number(value) and (value == 53 or 118 <= value <= 4096),
    "ends": lambda value: array_of(is_bytes)(value) and len(value) == 2,
}
MEMBERS = """  # kind: members and their forms; one with ! is always there, words with | are all that it may be
ledger: format! one, id! hex32
policy: after_decision! count, by! bytes, event! number, implies object, sha256! hex64, version! number, why bytes, \
  yaml bytes
location: base_dir bytes, policy_version! number
relocation: after_decision! count, by! bytes, event! number, seq! number, why bytes, dataset! bytes, path! bytes
account: account! number, dataset! bytes, scope bytes, limit! text, measure! measure
limit_change: account! number, policy_version! number, after_decision! count, by! bytes, seq! number, why bytes, \
  new! decimal, old! decimal
limit_removal: account! number, policy_version! number, after_decision! count, by! bytes, seq! number, why bytes
plan: number! number, policy_version! number, question! object, release object
decision: seq! number, id! id, principal! bytes, via! via, parent id, dataset! bytes, policy_version! number, \
  build! any_object, outcome! granted|refused|reserved|pending|approved|rejected|data_accessed|voided|forfeited, \
  decided_under! number, plan number, purpose bytes, reservation plain|data_token, deadline time, key bytes, \
  conflicting_key bytes, verb approve|reject|issue_token|read_source|cancel|expire, why bytes, reasons reasons, \
  component_values rows, values quantities, data_token_sha256 hex64, movements objects, rules! rules
clock: after_decision! count, event! number, seq! number, wall_clock! time, type! backwards|forwards|confirmed, by bytes
credential: by! bytes, seq! number, why bytes, credential! text, principal! bytes, type! uid|token, value! text, \
  until time
revocation: by! bytes, seq! number, why bytes, credential! text, principal! bytes, type! uid|token, revoked! true
key: by! bytes, seq! number, why bytes, verifier_key! text, retired true
recovery: by! bytes, seq! number, why bytes, cause! poisoned|behind_replica|rebuilt|restored|rolled_back, \
  restored_lines number, dropped_lines number, remembered_lines number, found_lines number
sealed: by! bytes, seq! number, why! bytes
unsealed: by! bytes, seq! number, why bytes
feature: name! text
a build: revision! bytes, version! bytes
a reason: code! policy_changed|principal_not_allowed|purpose_not_allowed|forbidden|statistic_not_allowed|\
column_not_allowed|key_conflict|measure_not_expressible|per_release_limit_exceeded|dataset_budget_exceeded|\
block_budget_exceeded|lifetime_budget_exceeded|principal_limit_exceeded|role_limit_exceeded|purpose_limit_exceeded, \
  message! any_text, charge any_text, fits any_text, limit any_text, measure any_text, over_by any_text, \
  scope any_bytes, spent any_text, reserved any_text, row number
a question: dataset! bytes, statistic bytes, by by, where bytes, totals quantity, consistent true, \
  suppress_below positive, epsilon quantity, delta quantity, rho quantity, rows objects
a release: mechanism! bytes, arithmetic bytes, requested! quantity, charged! epsilon, adjusted! quantity, unit! bytes, \
  published quantity, cells cells, neighbours! bytes, components! objects, post_processing object, rows objects, \
  composed object
a composed: accountant! sum|zcdp|pld, delta! delta
a row: mechanism! bytes, arithmetic bytes, requested! quantity, charged! epsilon, adjusted! quantity, \
  published quantity, cells cells, components! number, post_processing object
a component: adjusted! quantity, grid! quantity, scale! quantity, sensitivity! quantity, adjusted_delta quantity, \
  bound quantity, centre quantity, grid_sensitivity quantity, grid_sensitivity_l2_squared quantity, \
  published quantity, rho quantity, epsilon! epsilon, delta delta, sensitivity_l2_squared quantity, \
  coordinates! count, precision number, published_note bytes, statistic bytes
a post-processing: kind! mean_about|variance_about|rounded|proportion|ratio|totals|whole_totals|consistent_totals, \
  lower quantity, upper quantity, centre quantity
a movement: account! number, spent_change text, reserved_change text, limit! text, spent! text, reserved! text, \
  position number
an implied policy: datasets! named, principals any_named, version! one
an implied principal: name! bytes, roles set, purposes set, duties set
an implied dataset: accounts! objects, allow! any_object, approvals object, blocks object, columns! any_named, \
  forbid! any_objects, mean_split! share, name! bytes, neighbours! add-remove|replace-one, per_release! any_objects, \
  purposes set, queries! any_named, release! any_named, renews kind, reservations! object, rows object, source object, \
  unit! object
an implied account: measure! measure, limit! text, scope any_bytes, each period|block|principal|role|purpose, \
  stated object
an implied allow: by set, columns set, statistics! set, where set, principals set, roles set
an implied rule: by set, columns set, principals set, purposes set, roles set, statistics set, where set
an implied approvals: required! size, by! object, above any_objects, expires_seconds! seconds, within_seconds seconds
an implied approver: principals set, roles set
an implied cap: limit! text, measure! measure, if_uncounted true
an implied blocks: by! bytes, per kind, first text, last text
an implied column: name! bytes, type! int|decimal|double|string|bool|date, column bytes, step positive, bounds ends, \
  candidate_step positive, missing any_bytes, values keys, from bytes, bins quantities, per kind, first text, \
  last text, map objects, other any_bytes
an implied query: name! bytes, bounds! ends, sensitivity! positive, supplied_by set, undefined! quantity
an implied way: name! bytes, mechanism! bytes, arithmetic mpfr|exact, precision precision, bound positive, \
  binding_probability share, grid positive
an implied reservations: expires_seconds! seconds
an implied guarantee: epsilon! epsilon, delta! delta
an implied csv: format! bytes, delimiter! bytes, decimal! bytes, thousands bytes, null! texts, encoding! bytes, \\
  date_format! bytes, multiline! bool
an implied table: format! bytes, table! bytes
an implied label: label! any_bytes, value! any_bytes
an implied rows: max size, exact size
an implied unit: max_rows! size, id bytes, column bytes
"""

def tables(text):
    """{kind: (forms by name, the names that are always there)}."""
    found = {}
    for line in text.replace("\\\n", "").splitlines()[1:]:
        kind, _, members = line.partition(": ")
        members += "" if kind.startswith(("a ", "an ")) else ", blind! hex32, index! count, kind! text, time! time"
        pairs = [member.split() for member in members.split(",")]
        forms = [(name.rstrip("!"), one_of(*form.split("|")) if "|" in form else IS[form]) for name, form in pairs]
        found[kind] = (dict(forms),
                       frozenset(name[:-1] for name, form in pairs if name.endswith("!")))
    return found

TABLES = tables(MEMBERS)
RELEASE, COMPOSED, ROW, COMPONENT, POST_PROCESSING, MOVEMENT, BUILD, REASON, QUESTION = (
    TABLES["a " + name] for name in ("release", "composed", "row", "component", "post-processing", "movement", "build",
                                     "reason", "question"))
BATCH = "batch"
TOTALS = ("totals", "whole_totals", "consistent_totals")
KINDS = frozenset(kind for kind in TABLES if " " not in kind) - {"revocation"}

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

def check_record(record, measure_of):
    """Refuses what is no record; returns its kind, or the variant of it, and the movements of a decision."""
    kind = variant = record.get("kind")
    require(type(kind) is str and kind in KINDS, "is missing or none that is known", "kind")
    if kind == "credential" and "revoked" in record:
        variant = "revocation"
    check_members(record, TABLES[variant])
    if variant == "decision":
        check_members(record["build"], BUILD)
        reasons = record.get("reasons", [])
        for reason in reasons if isinstance(reasons, list) else reasons["first"]:
            check_members(reason, REASON)
        return variant, check_movements(record.get("movements", ()), measure_of)
    if variant == "policy":
        if "implies" in record:
            check_implied(record["implies"])
    elif variant == "plan":
        check_question(record["question"])
        if "release" in record:
            check_release(record["release"])
    elif variant == "account":
        require(amount(record["limit"], record["measure"]) is not None, "is no amount of its measure", "limit")
    elif variant == "limit_change":
        for name in ("new", "old"):
            of = measure_of(record["account"])
            require(amount(record[name], of) is not None, "is no amount of its account's measure", name)
    elif variant == "clock":
        require(("by" in record) == (record["type"] == "confirmed"), "is there for a confirmation and else never", "by")
    elif variant == "credential":
        value, by_id = record["value"], record["type"] == "uid"
        right = matching("0|[1-9][0-9]{0,9}")(value) and int(value) < 2**32 if by_id else IS["hex64"](value)
        require(right, "is no such credential", "value")
    return variant, ()

def check_question(question):
    """Refuses what is no question: other members, those of a batch beside those of one, no statistic or no loss."""
    check_members(question, QUESTION)
    if is_unread(question):
        return
    rows = question.get("rows", [])
    for row in rows:
        check_members({"dataset": question["dataset"], **row}, QUESTION)
        require("dataset" not in row and "rows" not in row, "has a row that is no question", "question")
    require(not rows or question.keys() <= {"dataset", "rows", "delta"}, "is no batch of rows", "question")
    for one in rows or [question]:
        losses = [name for name in ("epsilon", "rho") if quantity(one.get(name, "0")) > 0]
        require("statistic" in one and len(losses) == 1 == len({"epsilon", "rho"} & one.keys()) and not (
            losses == ["rho"] and "delta" in one), "asks for no statistic, or for no loss", "question")
        require(all(quantity(one[name]) > 0 for name in ("delta", "suppress_below") if name in one),
                "asks for a delta that is none", "question")

def is_unread(question):
    """Whether nothing is kept of a request but its dataset, because who asked may not ask that."""
    return question.keys() == {"dataset"}

def check_implied(implied):
    """Refuses what no policy implies: other members, or other forms of them."""
    def check(name, *values):
        for value in values:
            check_members(value, TABLES["an implied " + name])

    def check_caps(caps):
        check("cap", *caps)
        for cap in caps:
            require((amount(cap["limit"], cap["measure"]) or 0) > 0, "is no amount of its measure", "limit")

    try:
        check("policy", implied)
        check("principal", *implied.get("principals", ()))
        for said in implied["datasets"]:
            check("dataset", said)
            check("account", *said["accounts"])
            for entry in said["accounts"]:
                require(("scope" in entry) != ("each" in entry), "is of one scope or of each of a kind", "scope")
                require((amount(entry["limit"], entry["measure"]) or 0) > 0, "is no amount of its measure", "limit")
                if "stated" in entry:
                    check("guarantee", entry["stated"])
            check("allow", said["allow"])
            check("rule", *said["forbid"])
            check_caps(said["per_release"])
            for name in ("approvals", "blocks", "reservations", "rows", "unit"):
                if name in said:
                    check(name, said[name])
            if "per" in said.get("blocks", ()):
                collections.deque(periods(*(said["blocks"][name] for name in ("per", "first", "last"))), 0)
            if "approvals" in said:
                check("approver", said["approvals"]["by"])
                check_caps(said["approvals"].get("above", ()))
                require("above" in said["approvals"] or "within_seconds" not in said["approvals"],
                        "goes with above", "within_seconds")
            check("query", *said["queries"])
            check("way", *said["release"])
            if "source" in said:
                check("csv" if said["source"].get("format") == "csv" else "table", said["source"])
            check_implied_columns(said, check)
    except Fault as fault:
        raise Fault(f"implies `{fault.member}`, which {fault.why}", "implies") from fault

def check_implied_columns(said, check):
    """That columns have bounds of their type, and are derived from columns that are not derived."""
    check("column", *said["columns"])
    sources = {column["name"]: column for column in said["columns"] if "from" not in column}
    for column in said["columns"]:
        kind = column["type"]
        check("label", *column.get("map", ()))
        require("from" not in column or column["from"] in sources and kind == "string" and "values" in column and sum(
            name in column for name in ("bins", "per", "map")) == 1, "is derived from no column, or by no rule", "from")
        require("from" in column or not {"bins", "per", "map"} & column.keys(), "is derived from no column", "name")
        require("per" not in column or column.get("values") == [
            name for name, _, _ in periods(column["per"], column["first"], column["last"], 10000)],
                "are not the names of its periods", "values")
        edges = [quantity(edge) for edge in column.get("bins", ())]
        require(not edges or len(edges) > 1 and all(one < other for one, other in zip(edges, edges[1:])),
                "does not ascend", "bins")
        read = {"date": day_number}.get(kind, lambda text: number_in(text, "bounds"))
        low, high = [read(text) for text in column.get("bounds", ())] or (0, 1)
        require(low < high, "is no range", "bounds")
    for query in said["queries"]:
        low, high = (number_in(text, "bounds") for text in query["bounds"])
        require(low < high, "is no range", "bounds")

def check_release(release):
    check_members(release, RELEASE)
    for component in release.get("components", ()):
        check_members(component, COMPONENT)
    rows = release.get("rows", ())
    for row in rows:
        check_members(row, ROW)
    for part in (release, *rows):
        post = part.get("post_processing")
        if post:
            check_members(post, POST_PROCESSING)
            about = post["kind"] in ("mean_about", "variance_about")
            require(("centre" in post) == about, "is there for what is about it, and for nothing else", "centre")
            totals = post["kind"] in TOTALS
            for end in ("lower", "upper"):
                require((end in post) != totals, "is there, unless of totals", end)
            cells, components = part.get("cells"), part.get("components", ())
            components = components if part is not release else len(components)
            require(not totals or cells and len(columns_in(cells)) <= 3 and components == 2 ** len(columns_in(cells)),
                    "is of a table with a component for each of its margins", "post_processing")
    batch = release["mechanism"] == BATCH and not {"arithmetic", "cells", "post_processing"} & release.keys() and all(
        row["mechanism"] != BATCH for row in rows) and sum(row["components"] for row in rows) == len(
            release.get("components", ()))
    require(batch if rows else release["mechanism"] != BATCH, "are those of a batch, and share its components", "rows")
    if "composed" in release:
        check_members(release["composed"], COMPOSED)
        require(rows and 0 < amount(release["composed"]["delta"], "delta") < 10**18,
                "goes with the rows of a batch, and has a delta above 0 and below 1", "composed")

def check_movements(movements, measure_of):
    """Movements as [account, spent_change, reserved_change, limit, spent, reserved], in units of the grid."""
    checked, before = [], 0
    for movement in movements:
        check_members(movement, MOVEMENT)
        account = movement["account"]
        require(account > before, "stand not in the order of accounts, each once", "movements")
        before, measure = account, measure_of(account)
        require(measure is not None, f"speak of account {account}, which has no line", "movements")
        row = [account]
        for name in ("spent_change", "reserved_change"):
            change = amount(movement.get(name, "0"), measure, changes=True)
            require(change is not None and (change != 0 or name not in movement), "is no change of its measure", name)
            row.append(change)
        for name in ("limit", "spent", "reserved"):
            row.append(amount(movement[name], measure))
            require(row[-1] is not None, "is no amount of its measure", name)
        checked.append(row)
    return checked

# The tree (RFC 6962, section 2.1), and what its proofs show.

EMPTY_ROOT = hashlib.sha256(b"").digest()

def leaf_hash(raw):
    return hashlib.sha256(b"\0" + raw).digest()

def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()

class Tree:
    """A tree that grows by leaves and keeps its right edge only: full nodes, the largest first."""

    def __init__(self):
        self.size, self.edge = 0, []

    def append(self, leaf):
        size = self.size
        while size & 1:
            leaf = node_hash(self.edge.pop(), leaf)
            size >>= 1
        self.edge.append(leaf)
        self.size += 1

    def root(self):
        root = self.edge[-1] if self.edge else EMPTY_ROOT
        for node in reversed(self.edge[:-1]):
            root = node_hash(node, root)
        return root

def inclusion_holds(leaf, index, size, root, proof):
    """Whether the proof, PATH of section 2.1.1, leads from the leaf to the root; its last hash is the topmost."""
    def root_of(index, size, proof):
        if size == 1:
            require(not proof, "has hashes left over")
            return leaf
        require(proof, "lacks a hash")
        k = 1 << (size - 1).bit_length() - 1
        if index < k:
            return node_hash(root_of(index, k, proof[:-1]), proof[-1])
        return node_hash(proof[-1], root_of(index - k, size - k, proof[:-1]))
    try:
        return index < size and root_of(index, size, proof) == root
    except Fault:
        return False

def consistency_holds(old_size, old_root, new_size, new_root, proof):
    """Whether the proof, PROOF of section 2.1.2, shows both roots."""
    def roots_of(old, new, proof, known):
        if old == new:
            require(len(proof) == (not known), "has hashes left over, or lacks one")
            return (old_root, old_root) if known else (proof[0], proof[0])
        require(proof, "lacks a hash")
        k, last = 1 << (new - 1).bit_length() - 1, proof[-1]
        if old <= k:
            older, newer = roots_of(old, k, proof[:-1], known)
            return older, node_hash(newer, last)
        older, newer = roots_of(old - k, new - k, proof[:-1], False)
        return node_hash(last, older), node_hash(last, newer)
    if old_size == 0:  # says nothing about the newer root
        return not proof and old_root == EMPTY_ROOT and (new_size > 0 or new_root == EMPTY_ROOT)
    try:
        return old_size <= new_size and roots_of(old_size, new_size, proof, True) == (old_root, new_root)
    except Fault:
        return False

# What a policy implies (record_format.md, "The object a policy implies").

def period_of(kind, day):
    """The name and the first day of the period of a kind that a day lies in."""
    year, quarter = day.year, (day.month + 2) // 3
    if kind == "week":
        year, week, weekday = day.isocalendar()
        return f"{year:04}-W{week:02}", day - datetime.timedelta(weekday - 1)
    return {"day": (day.isoformat(), day), "month": (f"{year:04}-{day.month:02}", day.replace(day=1)),
            "quarter": (f"{year:04}-Q{quarter}", datetime.date(year, 3 * quarter - 2, 1)),
            "year": (f"{year:04}", datetime.date(year, 1, 1))}[kind]

def periods(kind, first, last, most=4096):
    """(name, first day, last day) of each period from the first named to the last; days as ordinals.

    A policy may have 4,096 blocks.
    """
    year = re.match("[0-9]{4}", first)
    starts = datetime.date(int(year[0]), 1, 1).toordinal() if year and year[0] != "0000" else 0
    days = range(max(1, starts - 7), min(starts + 372, datetime.date.max.toordinal())) if starts else ()
    day = next((day for day in map(datetime.date.fromordinal, days) if period_of(kind, day)[0] == first), None)
    require(day is not None, f"has {ENCODE(first)[:40]}, which is no {kind}", "implies")
    longest = datetime.timedelta({"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[kind])
    for _ in range(most):
        name, start = period_of(kind, day)
        next_day = min(start.toordinal() + longest.days, datetime.date.max.toordinal())
        day = period_of(kind, datetime.date.fromordinal(next_day))[1]
        require(day > start, "has periods after the year 9999", "implies")
        yield name, start.toordinal(), day.toordinal() - 1
        if name == last:
            return
    raise Fault("has more periods than a policy may have", "implies")

WORD = re.compile(r"""\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|!=|<=|>=|[<>=(),]|[^\s<>=!(),'"]+)""")
COMPARE = {"=": lambda a, b: a == b[0], "!=": lambda a, b: a != b[0], "<": lambda a, b: a < b[0],
           "<=": lambda a, b: a <= b[0], ">": lambda a, b: a > b[0], ">=": lambda a, b: a >= b[0],
           "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,  # and of a value, which is not missing:
           "is missing": lambda a, b: False, "is not missing": lambda a, b: True}
PARENTHESES_MAX = 32

class Condition:
    """The text of a condition, read from its first word to its last (record_format.md, "Conditions").

    A part is a comparison (column, operator, [constants]), or `all` or `any` of several: (all, [part, …]).
    """

    def __init__(self, where):
        self.words, self.at, self.comparisons = [], 0, []
        at = 0
        while at < len(where):
            word = WORD.match(where, at)
            require(word, "has a condition that is none", "question")
            self.words.append(word[1])
            at = word.end()
        self.whole = self.joined(0) if self.words else (all, [])
        require(self.at == len(self.words), "has a condition that is none", "question")

    def next(self, *expected):
        """The next word, one of those expected if there are any."""
        require(self.at < len(self.words), "has a condition that ends too early", "question")
        self.at += 1
        word = self.words[self.at - 1]
        require(not expected or word in expected, "has a condition that is none", "question")
        return word

    def follows(self, word):
        return self.at < len(self.words) and self.words[self.at] == word

    def joined(self, depth, how=any, word="or"):
        """`or` of `and`s."""
        parts = []
        while not parts or self.follows(word) and self.next():
            parts.append(self.joined(depth, all, "and") if how is any else self.term(depth))
        return (how, parts) if len(parts) > 1 else parts[0]

    def term(self, depth):
        if not self.follows("("):
            return self.comparison()
        require(depth < PARENTHESES_MAX, "has more parentheses within one another than a condition has", "question")
        self.next()
        part = self.joined(depth + 1)
        self.next(")")
        return part

    def comparison(self):
        column, operator, constants = self.next(), self.next(*COMPARE, "not", "is"), []
        require(column[0] not in "'<>=!(),", "has a condition that is none", "question")
        if column.startswith('"'):
            column = column[1:-1].replace('""', '"')
        if operator == "is":
            operator += " not missing" if self.next("not", "missing") == "not" and self.next("missing") else " missing"
        if operator == "not":
            operator += " " + self.next("in")
        if operator.endswith("in"):  # a parenthesis, then commas
            ends = self.next("(")
            while ends != ")":
                constants.append(self.next())
                ends = self.next(",", ")")
        elif operator in ("=", "!=", "<", "<=", ">", ">="):
            constants.append(self.next())
        self.comparisons.append((column, operator, constants))
        return self.comparisons[-1]

CONSTANT_MAX = 1000  # characters of a number

def unquoted(text):
    return text[1:-1].replace("''", "'") if text.startswith("'") else text

def comparable(kind, text):
    """What values of a type compare by: numbers as numbers, texts and dates as bytes."""
    return number_in(text, "question") if kind in ("int", "decimal", "double") else text.encode()

def constant(kind, text):
    """What a constant of a condition compares by; only texts are quoted."""
    right = (len(text) <= CONSTANT_MAX if kind in ("int", "decimal", "double") else
             text in ("false", "true") if kind == "bool" else DAY.fullmatch(text) if kind == "date" else True)
    require(right and text.startswith("'") == (kind == "string"), f"compares a {kind} with what is none", "question")
    return comparable(kind, unquoted(text))

# Cells of a column that others are derived from (record_format.md, "Derived columns"). But for texts all are numbers:
# days counted, false 0 and true 1.

LARGEST_DOUBLE = (2**53 - 1) * 2**971

DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")

def day_number(text):
    """0001-01-01 is 1; there is a year 0000 before it."""
    require(DAY.fullmatch(text), f"is {ENCODE(text)[:40]}, which is no day", "implies")
    year, month, day = (int(part) for part in text.split("-"))
    return datetime.date(year or 400, month, day).toordinal() - (0 if year else 146097)

def cell_value(kind, text):
    """What a cell is that a policy or a condition writes so, without quotes."""
    return (text.encode() if kind == "string" else day_number(text) if kind == "date" else
            int(text == "true") if kind == "bool" else number_in(text, "implies"))

def ends_of_cells(column):
    """The least cell of a column and the greatest."""
    kind = column["type"]
    last = (1 if kind == "bool" else datetime.date.max.toordinal() if kind == "date" else
            LARGEST_DOUBLE if kind == "double" else 10**36 * quantity(column["step"]))
    return {"bool": 0, "date": day_number("0000-01-01")}.get(kind, -last), last

def first_cell(column, bound, above):
    """The least number at or above a bound, or above it, that a cell of the column could be, however large."""
    step = quantity(column.get("step", "1"))
    if column["type"] == "double":
        size = abs(Fraction(bound))
        power = size.numerator.bit_length() - size.denominator.bit_length() if size else -1074
        power -= Fraction(2) ** power > size  # now 2^power <= size < 2^(power + 1)
        if above and bound < 0 and Fraction(2) ** power == size:
            power -= 1  # towards zero they lie closer
        step = Fraction(2) ** (max(power, -1022) - 52)
    places = Fraction(bound) / step
    return (places // 1 + 1 if above else -(-places // 1)) * step

class Labels:
    """Which label the cells of the column have that a derived one is a function of."""

    def __init__(self, column, source, null):
        kind = self.kind = source["type"]
        self.source, self.null = source, {b"", *(hashable(text).encode() for text in null if isinstance(text, str))}
        self.bins = [quantity(edge) for edge in column.get("bins", [])]
        self.values = [hashable(label) for label in column["values"]]
        if "per" in column:
            found = list(periods(column["per"], column["first"], column["last"]))
            self.bins = [first for _, first, _ in found] + [found[-1][2] + 1]
        self.map = {cell_value(kind, entry["value"]): hashable(entry["label"]) for entry in column.get("map", [])}
        self.other = hashable(column["other"]) if "other" in column else None

    def of(self, value):
        """The label of a value, None if it has none."""
        if not self.bins:
            return self.map.get(value, self.other)
        at = bisect.bisect_right(self.bins, value)
        return self.values[at - 1] if 0 < at < len(self.bins) else None

    def cells(self, named):
        """(value, label) of cells that have one: one at least of all that the values named do not tell apart."""
        points = {*self.bins, *self.map, *named}
        if self.kind == "string":
            found = {*points, b"x" * (max(map(len, points), default=0) + 1)} - self.null
        else:
            least, last = ends_of_cells(self.source)
            found = {least, *(first_cell(self.source, point, above) for point in points for above in (False, True))}
            found = {value for value in found if least <= value <= last}
        if "missing" in self.source:  # which is compared as it is written, a cell or not
            found.add(cell_value(self.kind, hashable(self.source["missing"])))
        return [(value, label) for value in found for label in [self.of(value)] if label is not None]

class Dataset:
    """What a policy version says of a dataset."""

    def __init__(self, said, principals):
        self.said, self.principals, self.covers, self.list = said, principals, {}, None
        self.entries = [(entry.get("each"), entry.get("scope"), entry["measure"],
                         amount(entry["limit"], entry["measure"])) for entry in said["accounts"]]
        require(all(limit is not None for *_, limit in self.entries), "has a limit that is no amount", "implies")
        self.own = {scope for each, scope, _, _ in self.entries if each is None}
        self.columns = {column["name"]: column for column in said["columns"]}
        with_delta = {entry[:2] for entry in self.entries if entry[2] == "delta"}
        self.counts_delta = bool(with_delta)
        self.counts_pure = any(entry[2] == "epsilon" and entry[:2] not in with_delta for entry in self.entries)

    def values(self, column):
        said = self.columns[column]
        return said.get("values") or (["false", "true"] if said["type"] == "bool" else None)

    def with_source(self, column):
        """The column, and the one that it is derived from (record_format.md, "Derived columns")."""
        return {column, self.columns[column].get("from", column)} if column in self.columns else {column}

    def keys(self, question):
        """Of the cells that rows are in; those of an answer are of several quantiles too."""
        return [self.values(column) for column in grouped_by(question)]

    def covered(self, question):
        """The blocks that a row which satisfies the condition could lie in; of a batch, of any of its conditions."""
        if "rows" in question:
            blocks = [block for row in question["rows"] for block in self.covered(row)]
            return [name for name in self.covered({"statistic": "count"}) if name in blocks]
        where = "" if question["statistic"].startswith("value:") else question.get("where", "")
        known = self.covers.get(where)
        return known if known is not None else remembered(self.covers, where, self.covered_by(where))

    def covered_by(self, where):
        blocks = self.said["blocks"]
        if "from" in self.columns[blocks["by"]]:
            return self.covered_labels(self.columns[blocks["by"]], where)
        kind = self.columns[blocks["by"]]["type"]
        condition = Condition(where)
        about = {id(part): [constant(kind, text) for text in part[2]]
                 for part in condition.comparisons if part[0] == blocks["by"]}

        def holds(value, part=condition.whole):
            if part[0] in (all, any):
                return part[0](holds(value, inner) for inner in part[1])
            return part[0] != blocks["by"] or COMPARE[part[1]](value, about[id(part)])

        if "per" not in blocks:
            return [value for value in self.values(blocks["by"]) if holds(comparable(kind, value))]
        named = [day_number(day.decode()) for days in about.values() for day in days]
        covered = []
        for name, first, last in periods(blocks["per"], blocks["first"], blocks["last"]):
            # between two days that the condition names, all days are alike to it
            days = {first, last} | {near for day in named for near in (day - 1, day, day + 1) if first <= near <= last}
            if any(holds(datetime.date.fromordinal(day).isoformat().encode()) for day in days):
                covered.append(name)
        return covered

    def covered_labels(self, column, where):
        """The same where blocks are labels: a cell of the column under `from` decides, and what is asked of both."""
        if not where:
            return self.values(column["name"])
        source = self.columns[column["from"]]
        condition, null = Condition(where), self.said.get("source", {}).get("null", [])
        about = {}  # of a comparison what it compares, the value or the label, and with which constants
        for part in condition.comparisons:
            if part[0] == column["name"]:
                about[id(part)] = 1, [unquoted(text) for text in part[2]]
            elif part[0] == column["from"]:
                about[id(part)] = 0, [cell_value(source["type"], unquoted(text)) for text in part[2]]
        named = [value for which, values in about.values() if which == 0 for value in values]

        def holds(cell, part=condition.whole):
            if part[0] in (all, any):
                return part[0](holds(cell, inner) for inner in part[1])
            which, values = about.get(id(part), (None, None))
            return which is None or COMPARE[part[1]](cell[which], values)

        found = {cell[1] for cell in Labels(column, source, null).cells(named) if holds(cell)}
        return [label for label in self.values(column["name"]) if hashable(label) in found]

    def roles(self, principal):
        return self.principals[principal].get("roles", []) if self.principals is not None else []

    def scopes(self, each, scope, names):
        """The scopes of one entry: its own, or one of each of the names given for its kind."""
        if each is None:
            kind, _, name = scope.partition(":")
            return [scope] if scope in ("", "lifetime") or name in names[kind] else []
        found = [f"{each}:{name}" if isinstance(name, str) else f"{each}:".encode() + name for name in names[each]]
        return found if each in ("period", "block") else [scope for scope in found if scope not in self.own]

    def debited(self, question, principal, purpose, day):
        """[(scope, measure, limit)] of the accounts that a request debits on a day of the calendar."""
        names = {"principal": [principal], "role": self.roles(principal),
                 "purpose": [purpose] if purpose is not None else [],
                 "period": [period_of(self.said["renews"], day)[0]] if "renews" in self.said else [],
                 "block": self.covered(question) if "blocks" in self.said else []}
        return [(found, measure, limit) for each, scope, measure, limit in self.entries
                for found in self.scopes(each, scope, names)]

    def listed(self):
        """{(scope, measure): limit} of the accounts that can be listed before anybody asks."""
        if self.list is not None:
            return self.list
        declared = self.principals or {}
        names = {"principal": list(declared), "role": [r for said in declared.values() for r in said.get("roles", [])],
                 "purpose": self.said.get("purposes", []), "period": [],
                 "block": self.covered({"statistic": "count"}) if "blocks" in self.said else []}
        self.list = {(found, measure): limit for each, scope, measure, limit in self.entries
                     for found in ([scope] if each is None else self.scopes(each, scope, names))}
        return self.list

    def limit_of(self, scope, measure):
        """The limit of an account, listed or opened when it is asked for; None if there is no such account."""
        kind = (scope if isinstance(scope, str) else scope.decode(errors="replace")).partition(":")[0]
        opened = kind == "period" or kind == "principal" and self.principals is None and scope not in self.own
        return self.listed().get((scope, measure)) or next(
            (limit for each, _, of, limit in self.entries if opened and each == kind and of == measure), None)

    def among(self, principal, said):
        """Whether somebody is among `principals` or has one of `roles`."""
        return principal in said.get("principals", ()) or any(r in said.get("roles", ()) for r in self.roles(principal))

    def may_approve(self, principal):
        approvals = self.said.get("approvals")
        return bool(approvals and self.principals and principal in self.principals) and self.among(
            principal, approvals["by"])

    def counted(self):
        """[(measure, limit, kind)] of approvals with a window: the accounts by which an asker's charges are summed."""
        approvals = self.said.get("approvals", {})
        of_all = {("lifetime" if scope == "lifetime" else "", measure) for each, scope, measure, _ in self.entries
                  if scope in ("", "lifetime") or each == "period"}
        found = []
        for cap in approvals.get("above", ()) if "within_seconds" in approvals else ():
            kind = next((kind for kind in ("lifetime", "") if (kind, cap["measure"]) in of_all), None)
            require(kind is not None, "sums a measure that no account of all requests counts", "within_seconds")
            found.append((cap["measure"], amount(cap["limit"], cap["measure"]), kind))
        return found

    def supplied_by(self, question):
        """Who alone hands in the value that is asked for; None if nobody is named."""
        kind, _, name = (question or {}).get("statistic", "").partition(":")
        return next((query.get("supplied_by") for query in self.said["queries"]
                     if kind == "value" and query["name"] == name), None)

    def check_asked(self, question):
        """Refuses a question that cannot be asked here: of an unknown statistic, column, query, key or constant."""
        for row in rows_of(question):
            statistic, name, rest = statistic_of(row["statistic"])
            known = statistic == "value" and any(hashable(query["name"]) == name for query in self.said["queries"])
            require(known or statistic in STATISTICS, "asks a statistic that is not known", "question")
            if statistic != "value":
                formed = bool(name) == (statistic not in ("count", "units")) and (
                    not rest or statistic in ("quantile", "proportion"))
                require(formed, "asks a statistic that is not known", "question")
                require(set(columns_of(row["statistic"])) <= self.columns.keys(),
                        "asks about a column that the policy does not declare", "question")
            quantiles_asked(row["statistic"])
            require(statistic != "proportion" or rest in (self.values(name) or ()),
                    "asks for a value that the policy does not declare", "question")
            require(all(column in self.columns and self.values(column) for column in grouped_by(row)),
                    "groups by a column that has no declared values", "question")
            require(statistic != "value" or not {"by", "where"} & row.keys(), "asks a value about a part", "question")
            for column, _, constants in Condition(row.get("where", "")).comparisons:
                require(column in self.columns, "compares a column that the policy does not declare", "question")
                for text in constants:
                    kind = self.columns[column]["type"]
                    value = constant(kind, text)
                    if kind == "date":
                        day_number(value.decode())
            check_suppression(row)
            check_totals(row)

    def permitted_as(self, question):
        """What allow has to name: a variance over a number of rows that is not said has a word of its own."""
        statistic = statistic_of(question["statistic"])[0]
        private = "exact" not in self.said.get("rows", ()) and "by" not in question
        return "private_variance" if statistic == "variance" and private else statistic

    def may_ask(self, principal):
        """Whether the policy lets somebody ask this dataset anything at all."""
        allow = self.said["allow"]
        declared = self.principals is None or principal in self.principals
        return declared and (not allow.keys() & {"principals", "roles"} or self.among(principal, allow))

    def why_not_allowed(self, question, principal, purpose):
        """Why the policy does not let somebody ask this, or None."""
        admitted = self.said.get("purposes")
        if not self.may_ask(principal):
            return f"{principal} is not among who may ask"
        if self.principals is not None and admitted is not None:
            own = self.principals[principal].get("purposes", admitted)
            admitted = [name for name in admitted if name in own]
        if (purpose is None) != (admitted is None) or admitted is not None and purpose not in admitted:
            return "its purpose is not one that the policy admits"
        whys = (self.why_question_not_allowed(row, principal, purpose) for row in rows_of(question))
        return next((why for why in whys if why is not None), None)

    def why_question_not_allowed(self, question, principal, purpose):
        allow = self.said["allow"]
        statistic, columns = self.permitted_as(question), columns_of(question["statistic"])
        used = {"statistics": [statistic], "columns": columns,
                "by": grouped_by(question),
                "where": [compared for compared, _, _ in Condition(question.get("where", "")).comparisons]}
        for what, names in used.items():
            if what in allow and not all(self.with_source(name) & set(allow[what]) for name in names):
                return f"{what} does not allow {', '.join(names)}"
            used[what] = [either for name in names for either in self.with_source(name)]
        used["statistics"] += [statistic_of(question["statistic"])[0]]
        used.update(principals=[principal], purposes=[purpose], roles=self.roles(principal))
        for number, rule in enumerate(self.said["forbid"], 1):
            if all(any(name in names for name in used[what]) for what, names in rule.items()):
                return f"rule {number} under forbid applies"
        return None

class Policy:
    """A policy version: what it implies. One that implies nothing declares no dataset, and so allows nothing."""

    def __init__(self, record):
        implied = record.get("implies", {})
        self.version, self.time, self.sha256 = record["version"], record["time"], record["sha256"]
        self.by, self.why = record["by"], record.get("why")
        self.implied = ENCODE(implied)
        principals = implied.get("principals")
        principals = None if principals is None else {hashable(entry["name"]): entry for entry in principals}
        self.datasets = {hashable(said["name"]): Dataset(said, principals) for said in implied.get("datasets", ())}

# Policies in words, and what a version loosened.

def said_scope(entry):
    return f"each {entry['each']}" if "each" in entry else str(hashable(entry["scope"])) or "the dataset"

def said_unit(said):
    unit = f"{said['unit']['id']}, at most {said['unit']['max_rows']} rows" if "id" in said["unit"] else "a row"
    return f"{unit}, {said['neighbours']}"

def said_approvers(said):
    approvals = said.get("approvals")
    if approvals is None:
        return "nobody"
    among = [*approvals["by"].get("principals", ()),
             *(f"whoever is {role}" for role in map(str, approvals["by"].get("roles", ())))]
    within = f" within {approvals['within_seconds']} s" if "within_seconds" in approvals else ""
    above = [f"{cap['measure']} above {cap['limit']}{within}" for cap in approvals.get("above", ())]
    return f"{approvals['required']} of {', '.join(map(str, among)) or 'nobody'}, for " + (
        " or ".join(above) or "every request")

def in_words(said):
    """A dataset of a policy version: its limits, its approvers and its unit."""
    limits = [f"{entry['measure']} {entry['limit']} of {said_scope(entry)}" for entry in said["accounts"]]
    return {"name": str(hashable(said["name"])), "limits": limits, "approvers": said_approvers(said),
            "unit": said_unit(said)}

def asks_less(old, new):
    """Whether approvals are needed of fewer, from more people, or of fewer requests."""
    if old is None or new is None:
        return old is not None
    def amounts(caps):
        return {cap["measure"]: amount(cap["limit"], cap["measure"]) for cap in caps}
    more = any(set(map(str, new["by"].get(name, ()))) - set(map(str, old["by"].get(name, ())))
               for name in ("principals", "roles"))
    above, now = amounts(old.get("above", ())), amounts(new.get("above", ()))
    fewer = bool(now) and (not above or any(now.get(measure, limit + 1) > limit for measure, limit in above.items()))
    shorter = bool(now) and new.get("within_seconds", 0) < old.get("within_seconds", 0)
    return new["required"] < old["required"] or more or fewer or shorter

def loosened(before, after):
    """What a policy version lets go of, dataset by dataset; both are datasets by name."""
    found = []
    for name, new in after.items():
        old = before.get(name)
        if old is None:
            found.append(f"{name}: a new dataset")
            continue
        limits = [{(said_scope(entry), entry["measure"]): entry["limit"] for entry in one.said["accounts"]}
                  for one in (old, new)]
        for (scope, measure), limit in limits[0].items():
            now = limits[1].get((scope, measure))
            if now is None or amount(now, measure) > amount(limit, measure):
                found.append(f"{name}: {measure} of {scope} was {limit}, is {now or 'not limited'}")
        if asks_less(old.said.get("approvals"), new.said.get("approvals")):
            found.append(f"{name}: approvers were {said_approvers(old.said)}; are {said_approvers(new.said)}")
        if said_unit(old.said) != said_unit(new.said):
            found.append(f"{name}: the unit was {said_unit(old.said)}; is {said_unit(new.said)}")
    return found

# Real numbers between two integers, in units of 2^-bits, rounded outward.

class Real:
    __slots__ = ("low", "high", "bits")

    def __init__(self, low, high, bits):
        self.low, self.high, self.bits = low, high, bits

    @staticmethod
    def of(number, bits):
        low, rest = divmod(number.numerator << bits, number.denominator)
        return Real(low, low + (rest > 0), bits)

    def __add__(self, other):
        return Real(self.low + other.low, self.high + other.high, self.bits)

    def __sub__(self, other):
        return Real(self.low - other.high, self.high - other.low, self.bits)

    def __mul__(self, other):
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Real(min(ends) >> self.bits, -(-max(ends) >> self.bits), self.bits)

    def __truediv__(self, other):
        require(other.low > 0, "leads to a division by what may be 0", "release")
        one = 1 << 2 * self.bits
        return self * Real(one // other.high, -(-one // other.low), self.bits)

    def over(self, n):
        return Real(self.low // n, -(-self.high // n), self.bits)

    def widened(self, error):
        return Real(self.low - error, self.high + error, self.bits)

    def at(self, bits):
        return Real(self.low >> self.bits - bits, -(-self.high >> self.bits - bits), bits)

    def is_small(self):
        return -1 <= self.low and self.high <= 1

def exp(number, bits):
    """e^number of a fraction: the series of a small part of it, squared again and again."""
    if number <= -bits:
        return Real(0, 1, bits)
    halvings = (abs(number) * 256).__ceil__().bit_length()
    work = bits + 2 * halvings + 16 + max(0, (number * 3 / 2).__ceil__())
    part = Real.of(number / 2**halvings, work)
    total = term = Real.of(Fraction(1), work)
    n = 0
    while not term.is_small():
        n += 1
        term = (term * part).over(n)
        total = total + term
    total = total.widened(2)  # each later term is less than half the one before it
    for _ in range(halvings):
        total = total * total
    return total.at(bits)

def ln(number, bits):
    """The logarithm of a fraction above 0: 2 artanh((m - 1)/(m + 1)) + k ln 2, m = number/2^k."""
    k = number.numerator.bit_length() - number.denominator.bit_length()
    m = number / Fraction(2) ** k
    logarithms = []
    for z in ((m - 1) / (m + 1), Fraction(1, 3)):  # at most 1/3, so that the rest is less than one term
        power, square, total, n = Real.of(2 * z, bits + 16), Real.of(z * z, bits + 16), Real(0, 0, bits + 16), 1
        while not power.is_small():
            total = total + power.over(n)
            power, n = power * square, n + 2
        logarithms.append(total.widened(2))
    return (logarithms[0] + logarithms[1] * Real.of(Fraction(k), bits + 16)).at(bits)

def at_most(number_of, bound):
    """Whether a real number, `number_of(bits)`, is at most a fraction; bits are added until that is certain."""
    for bits in (192, 384, 768, 1536, 3072):
        number, limit = number_of(bits), Real.of(bound, bits)
        if number.high <= limit.low or number.low > limit.high:
            return number.high <= limit.low
    return False

# Losses (snapping.md, discrete_mechanisms.md, gaussian_calibration.md; composition.md, section 8).

def is_power_of_two(number):
    return number > 0 and all(n & n - 1 == 0 for n in (number.numerator, number.denominator))

def snapping_epsilon(component, exact):
    """snapping.md, claim (1); the scale and the grid as its proof takes them."""
    scale, grid, bound, p, _ = (component[name] for name in ("scale", "grid", "bound", "precision", "centre"))
    require(is_power_of_two(grid), "has a grid that is no power of two", "release")
    if exact:
        return component["sensitivity"] / scale
    significand = scale.numerator // (scale.numerator & -scale.numerator)
    right = p and (p == 53 or 118 <= p <= 4096) and bound <= 2 ** (p - 7) * scale and significand.bit_length() <= p
    require(right and is_power_of_two(Fraction(scale.denominator)) and scale * Fraction(32, 33) <= grid <= 2 * scale,
            "has a precision, scale, grid or bound that the proof does not cover", "release")
    return component["sensitivity"] / scale + component["coordinates"] * (18 * bound / scale + 10) / 2**p

def on_grid_holds(component, said, gaussian, on_grid):
    """Whether `said` bounds the sensitivity after rounding to the grid: discrete_mechanisms.md, (3) and (4)."""
    d, g, m = (component[name] for name in ("sensitivity", "grid", "coordinates"))
    if not gaussian:
        return said >= (g * (d / g).__ceil__() if m == 1 else d if on_grid else d + m * g)
    d2 = component["sensitivity_l2_squared"]
    if m == 1:
        return said >= (g * root_up(d2 / g**2)) ** 2
    rest = said - d2 - (0 if on_grid else m * g**2)  # at least 2 g sqrt(m D2^2)
    return rest >= 0 and (on_grid or rest**2 >= 4 * g**2 * m * d2)

def root_up(number):
    """The least integer whose square is not below a number."""
    return isqrt(number.__ceil__() - 1) + 1 if number > 0 else 0

def discrete_gaussian_delta(scale, epsilon, distance, bits):
    """gaussian_calibration.md, (4): P(Y >= a) - e^epsilon P(Y >= a + d), in steps of the grid."""
    square = scale * scale
    a = (epsilon * square / distance - Fraction(distance, 2)).__floor__() + 1
    total = tail(0, scale, bits) + tail(0, scale, bits) - Real.of(Fraction(1), bits)
    second = exp(epsilon - (a + distance) ** 2 / (2 * square), bits) * tail(a + distance, scale, bits)
    first = exp(-(max(a, 1 - a) ** 2) / (2 * square), bits) * tail(max(a, 1 - a), scale, bits)
    return ((first if a > 0 else total - first) - second) / total

def tail(a, scale, bits):
    """The sum of f(x) = e^(-x^2/2s^2) over x >= a >= 0, in units of f(a)."""
    for order in (16, 32, 64, 256):
        error = remainder(a, scale, order, bits) if scale > 40 and a <= 80 * scale else None
        if error is not None:
            return tail_by_integral(a, scale, order, bits).widened(error)
    work, one = bits + 64, Real.of(Fraction(1), bits + 64)
    if scale > 200000:  # far out on a fine grid: between the first term and a geometric series
        return Real(one.low, (one / (one - exp(-max(a, 1) / (scale * scale), work))).high, work).at(bits)
    term = total = one
    ratio, step = exp(-(2 * a + 1) / (2 * scale * scale), work), exp(-1 / (scale * scale), work)
    while term.high > 1 << 32:
        term, ratio = term * ratio, ratio * step
        total = total + term
    rest = term * ratio / (one - ratio)
    return Real(total.low, total.high + rest.high, work).at(bits)

def remainder(a, scale, order, bits):
    """What Euler and Maclaurin's formula leaves after `order` derivatives, in units, if that is small.

    |R| <= 2 zeta(n)/(2 pi)^n int |f^(n)|, f^(n)(x) = (-s)^-n He_n(x/s) f(x), and by Cramer's inequality
    |He_n(t)| <= 1.09 sqrt(n!) e^(t^2/4): in units of f(a) at most 4 s sqrt(n!) (2 pi s)^-n e^(a^2/4s^2).
    """
    growth = exp(Fraction(a * a) / (4 * scale * scale), 32)
    s = min(scale * 1024 // 1, 2**64)  # the bound falls with s: a smaller one, in 1/1024, holds
    error = 4 * Fraction(s, 1024) * (isqrt(factorial(order)) + 1) / Fraction(628 * s, 102400) ** order
    error *= Fraction(growth.high, 2**32)
    units = (error * 2**bits).__ceil__()
    return units if units < 2**24 else None

def tail_by_integral(a, scale, order, bits):
    """int f + f(a)/2 - sum of B_2k/(2k)! f^(2k-1)(a), in units of f(a); He_(n+1)(t) = t He_n(t) - n He_(n-1)(t)."""
    work, square = bits + 64 + scale.__ceil__().bit_length(), scale * scale
    slope = Real.of(a / square, work)
    total = Real.of(scale, work) * mills_ratio(a / scale, work) + Real.of(Fraction(1, 2), work)
    before, hermite = Real.of(Fraction(1), work), slope  # He_n(a/s)/s^n for n = 0 and 1
    for n in range(1, order, 2):
        total = total + Real.of(bernoulli(n + 1) / factorial(n + 1), work) * hermite
        for m in (n, n + 1):
            before, hermite = hermite, slope * hermite - Real.of(m / square, work) * before
    return total.at(bits)

def mills_ratio(t, bits):
    """e^(t^2/2) int_t^oo e^(-u^2/2) du = sqrt(pi/2) e^(t^2/2) - sum of t^(2k+1)/(1 3 5 ... (2k+1))."""
    work, n = bits + 32 + (t * t * 3 / 2).__ceil__(), 1
    half_pi = pi_over_2(work)
    root = Real(isqrt(half_pi.low << work), isqrt(half_pi.high << work) + 1, work)
    square, term = Real.of(t * t, work), Real.of(t, work)
    total = term
    while not term.is_small() or n < 2 * t * t:
        n += 2
        term = (term * square).over(n)
        total = total + term
    return (root * exp(t * t / 2, work) - Real(total.low, total.high + 2, work)).at(bits)

@lru_cache(maxsize=64)
def pi_over_2(bits):
    """Machin: pi/4 = 4 arctan(1/5) - arctan(1/239)."""
    def arctan_of_inverse(x):
        term, total, n, sign = (1 << bits + 16) // x, 0, 1, 1
        while term:
            total += sign * (term // n)
            term, n, sign = term // (x * x), n + 2, -sign
        return total
    half = 8 * arctan_of_inverse(5) - 2 * arctan_of_inverse(239)  # each of its terms, fewer than bits + 16, is off by 2
    error = 40 * (bits + 16)
    return Real(half - error, half + error, bits + 16).at(bits)

@lru_cache(maxsize=None)
def bernoulli(n):
    return -sum(comb(n + 1, k) * bernoulli(k) for k in range(n)) / (n + 1) if n else Fraction(1)

def zcdp_ln_delta(rho, epsilon, bits):
    """gaussian_calibration.md, (6), at the order where it is least, nearly: any order is a bound."""
    low, high = Fraction(1, 2**40), Fraction(1)
    falls = lambda beta: ((1 + 2 * beta) * rho - epsilon) * 2**96 < ln(1 + 1 / beta, 96).low
    for _ in range(256):
        if not falls(high):
            break
        low, high = high, 2 * high
    for _ in range(56):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) else (low, middle)
    return (Real.of(low * ((1 + low) * rho - epsilon), bits) - Real.of(low, bits) * ln(1 + 1 / low, bits)
            - ln(1 + low, bits))

def response_divergence(epsilon, order, bits):
    """composition.md, section 8: the divergence of randomised response, which no pure mechanism exceeds."""
    def ln_of_1_and(real):
        low, high = (ln(Fraction(end + (1 << bits), 1 << bits), bits) for end in (real.low, real.high))
        return Real(low.low, high.high, bits)
    difference = ln_of_1_and(exp(-(2 * order - 1) * epsilon, bits)) - ln_of_1_and(exp(-epsilon, bits))
    return Real.of(epsilon, bits) + difference / Real.of(order - 1, bits)

FINEST = 2**2048  # how fine a grid may be beside the noise, for a delta to be computed
SELECTIONS = ("permute_and_flip", "exponential")
ON_GRID = {"discrete_laplace": "grid_sensitivity", "discrete_gaussian": "grid_sensitivity_l2_squared",
           "gaussian": "grid_sensitivity_l2_squared"}

class Loss:
    """What one call of a mechanism is proved to lose: epsilon and delta together, and rho."""

    def __init__(self, component, mechanism, arithmetic, on_grid, levels):
        self.gaussian = mechanism in ("discrete_gaussian", "gaussian")
        self.delta, charged, scale = component.get("delta", Fraction(0)), component["epsilon"], component["scale"]
        # That of another mechanism would be a claim that nothing checks.
        require(component.keys() & set(ON_GRID.values()) <= {ON_GRID.get(mechanism)},
                "has a sensitivity on the grid of another mechanism", "release")
        if mechanism == "snapping":
            self.epsilon = snapping_epsilon(component, arithmetic == "exact")
        elif mechanism in SELECTIONS:
            self.epsilon = 2 * component["sensitivity"] * levels / scale
        else:
            require(self.gaussian or mechanism == "discrete_laplace", "names a mechanism that is not known", "release")
            said = component.get(ON_GRID[mechanism])
            require(said is not None, "has no sensitivity on the grid", "release")
            require(on_grid_holds(component, said, self.gaussian, on_grid), "sensitivity on the grid is too low",
                    "release")
            self.epsilon = charged if self.gaussian else said / scale
        require(self.epsilon <= component["adjusted"] <= charged, f"is proved to lose {self.epsilon}, which is more "
                f"than the {component['adjusted']} that is said or the {charged} that is charged", "release")
        self.rho = said / (2 * scale**2) if self.gaussian else self.epsilon**2 / 2
        self.bounded = mechanism == "exponential"
        # what it loses at least, for some neighbours of those that its sensitivity allows: None of Gaussian noise
        self.least = (None if self.gaussian else self.epsilon / levels if self.bounded else
                      component["sensitivity"] / scale if mechanism == "snapping" else self.epsilon)
        if self.gaussian:
            steps = isqrt((said / component["grid"] ** 2).__floor__())
            self.in_steps = scale / component["grid"], steps
        if self.bounded:
            self.rho /= 4 * levels
            require(component["rho"] >= self.rho, "says less rho than its scale means", "release")
        if self.gaussian:
            require(component["rho"] >= self.rho, "says less rho than its scale means", "release")
            require(component["adjusted_delta"] <= self.delta, "says more delta than is charged", "release")
            require(self.delta > 0 and self.rho > 0, "has no delta, or no sensitivity", "release")
            require(self.delta_holds(component), "loses more delta at its epsilon than is charged, or may", "release")

    def delta_holds(self, component):
        if component["coordinates"] > 1:
            return at_most(lambda bits: zcdp_ln_delta(self.rho, self.epsilon, bits) - ln(self.delta, bits), Fraction(0))
        grid, squared = component["grid"], component["grid_sensitivity_l2_squared"]
        scale, steps = component["scale"] / grid, root_up(squared / grid**2)
        if max(scale, steps, 1 / scale) > FINEST:
            return False
        return at_most(lambda bits: discrete_gaussian_delta(scale, self.epsilon, steps, bits), self.delta)

    def divergence(self, order, bits):
        return response_divergence(self.epsilon, order, bits)

    def exact_divergence(self, order):
        """Where it is a fraction: order times rho of Gaussian noise, and of the exponential mechanism where that is
        the smaller of the two divergences that are proved (quantiles.md, (4))."""
        curve = order * self.rho
        if self.bounded and response_divergence(self.epsilon, order, 192).low < curve * 2**192:
            return None
        return curve if self.gaussian or self.bounded else None

def losses_at_most(losses, measure, limit):
    """Whether losses together are at most an amount, in units of its grid, of a measure."""
    limit = Fraction(limit, 10 ** grid_digits(measure))
    if measure in GRID_DIGITS:
        return sum_of_losses(getattr(loss, measure) for loss in losses) <= limit
    order = quantity(RENYI.fullmatch(measure)[1])
    exact = [loss.exact_divergence(order) for loss in losses]
    limit -= sum_of_losses(number for number in exact if number is not None)
    others = [loss for loss, number in zip(losses, exact) if number is None]
    if not others:
        return limit >= 0
    return at_most(lambda bits: sum((loss.divergence(order, bits) for loss in others), Real(0, 0, bits)), limit)

def loses_more(losses, epsilon, delta):
    """Whether calls certainly lose more than an epsilon at a delta, both in units of their grids.

    Let calls of Laplace noise, snapped or discrete, or of randomised response have losses that add up to e, and take of
    each the event whose probability is at least 1/2 and e^loss times that of the neighbour's: all n of them together
    have delta(c) >= (1 - e^(c - e))/2^n. One selection of the exponential mechanism that loses e, whose losses spread
    over e at the most, has delta(c) >= (1 - e^((c - e)/2))^2 at worst; a delta of Gaussian noise is computed.
    """
    epsilon, delta, bits = Fraction(epsilon, 10**12), Fraction(delta, 10**18), 192
    first, several = losses[0], len(losses) > 1
    if not several and first.gaussian:
        scale, steps = first.in_steps
        held = epsilon >= first.epsilon and delta >= first.delta or steps == 0
        return not held and (discrete_gaussian_delta(scale, epsilon, steps, bits) - Real.of(delta, bits)).low > 0
    if any(loss.gaussian or loss.bounded and several for loss in losses):
        return False
    loss, n = sum_of_losses(loss.least for loss in losses), len(losses)
    part = (1 - 2**n * delta if not first.bounded else
            1 - Fraction(isqrt((delta * 4**bits).__ceil__()) + 1, 2**bits))  # at most 1 - sqrt(delta)
    return loss > epsilon and part > 0 and (
        Real.of(loss - epsilon, bits) + ln(part ** (2 if first.bounded else 1), bits)).low > 0

def composed_by_zcdp(losses, epsilon, delta):
    """composition.md, (7): whether losses fixed in advance keep an epsilon at a delta, both in units of their grids."""
    return zcdp_keeps(sum_of_losses(loss.rho for loss in losses), Fraction(epsilon, 10**12), Fraction(delta, 10**18))

@lru_cache(maxsize=4096)
def zcdp_keeps(rho, epsilon, delta):
    return at_most(lambda bits: zcdp_ln_delta(rho, epsilon, bits) - ln(delta, bits), Fraction(0))

# Sensitivities (sensitivity.md, "The table", "Blocks" and "What answers are multiples of").

STATISTICS = ("count", "units", "sum", "mean", "variance", "quantile", "count_of", "proportion", "distinct", "ratio")

def rows_of(question):
    """The questions of a batch; of another request, itself."""
    if "rows" not in question:
        return [question]
    return [{**row, "dataset": question["dataset"]} for row in question["rows"]]

def statistic_of(statistic):
    """The policy's word for a statistic, its column or query, and what follows that."""
    kind, _, rest = statistic.partition(":")
    if kind == "value":
        return kind, rest, ""
    column, _, rest = rest.partition(":")
    word = {"quantiles": "quantile", "count": "count_of" if column else "count"}.get(kind, kind)
    return word, column, rest

def columns_of(statistic):
    """The columns that it aggregates: of a ratio two."""
    word, column, _ = statistic_of(statistic)
    return column.split(",") if word == "ratio" else [column] if column and word != "value" else []

def quantiles_asked(statistic):
    """No quantiles of another statistic."""
    kind = statistic.partition(":")[0]
    word, _, listed = statistic_of(statistic)
    if word != "quantile":
        return []
    wanted = [quantity(text) for text in listed.split(",")]
    require(None not in wanted and all(low < high for low, high in zip([Fraction(0), *wanted], [*wanted, Fraction(1)]))
            and (len(wanted) == 1 if kind == "quantile" else 2 <= len(wanted) <= 99),
            "asks for quantiles that are none", "question")
    return wanted

def largest_rank_sensitivity(wanted, k, replaced, cells):
    """The largest of any selection: of the middle quantile first, then of those on either side among its rows."""
    largest, waiting = 0, [(0, len(wanted), Fraction(0), Fraction(1), True)]
    for first, end, below, above, whole in waiting:
        middle = (first + end) // 2
        share = (wanted[middle] - below) / (above - below)
        farther = max(share, 1 - share)
        largest = max(largest, k if replaced and whole and cells == 1 else k * farther * (2 if replaced else 1))
        waiting += [part for part in ((first, middle, below, wanted[middle], False),
                                      (middle + 1, end, wanted[middle], above, False)) if part[0] < part[1]]
    return largest

def candidates_of(column):
    """The values that a quantile can be: listed, or (first, last, step). Days are counted from 1970-01-01."""
    dates = column["type"] == "date"
    read = (lambda text: Fraction(day_number(text) - day_number("1970-01-01"))) if dates else quantity
    if "values" in column:
        return [read(text) for text in column["values"]], None
    low, high = map(read, column["bounds"])
    step = Fraction(1) if dates else quantity(column.get("candidate_step") or column["step"])
    return None, (-(-low // step) * step, high // step * step, step)

def grouped_by(question):
    """The columns: one stands there as its name, several as a list."""
    if "by" not in question:
        return []
    by = question["by"]
    several = type(by) is list and all(type(one) is str for one in by) and len(set(by)) == len(by) in (2, 3)
    require(type(by) is str or several, "is grouped by what are no columns", "question")
    return [by] if type(by) is str else by

def check_suppression(question):
    """That cells are left out of an answer that counts them, below a number."""
    least = quantity(question["suppress_below"]) if "suppress_below" in question else 1
    counted = question["statistic"].partition(":")[0] in ("count", "units", "mean", "variance") and "by" in question
    require(least is not None and least > 0 and (counted or "suppress_below" not in question),
            "suppresses what is no counted cell", "question")
    require("suppress_below" not in question or "consistent" not in question,
            "hides cells that follow from what it shows, since they add up", "question")

def recorded_keys(lists):
    """As a record has them: one list without another around it."""
    return lists[0] if len(lists) == 1 else lists

def columns_in(keys):
    """The lists of keys of a table's columns."""
    return keys if type(keys[0]) is list else [keys]

def margins_of(keys):
    """The columns that the table keeps, then those of each margin: what keeps more stands first."""
    columns = range(len(columns_in(keys)))
    return [kept for size in range(len(columns), -1, -1) for kept in itertools.combinations(columns, size)]

def cells_of_margins(keys):
    return [prod(len(columns_in(keys)[column]) for column in kept) for kept in margins_of(keys)]

def check_totals(question):
    """That totals are asked for of cells which are counted or summed, and of what is to add up, that it does."""
    statistic = statistic_of(question["statistic"])[0]
    share, consistent = question.get("totals"), question.get("consistent", False)
    asked = "totals" in question
    share = quantity(share) if asked else None
    summed = share is not None and 0 < share < 1 and "by" in question and statistic in (
        "count", "count_of", "units", "sum")
    require(summed or not asked and not consistent, "asks for totals that are none", "question")
    require(consistent in (False, True) and not (consistent and statistic == "units"),
            "is to make add up what does not", "question")

def number_of_cells(keys):
    """Of one list of keys, or of all combinations of several."""
    return prod(map(len, keys)) if keys and type(keys[0]) is list else max(1, len(keys))

def expected_components(dataset, question):
    """[(statistic, D, square of D2, m, step or None, ends)] of each component; (centre, lower, upper) of the answer."""
    keys = dataset.keys(question)
    if "totals" not in question:
        return expected_of_cells(dataset, question, number_of_cells(keys))
    return [expected_of_cells(dataset, question, cells)[0][0] for cells in cells_of_margins(keys)], None

def expected_of_cells(dataset, question, cells):
    """As above, of so many cells."""
    said = dataset.said
    statistic, name, rest = statistic_of(question["statistic"])
    if statistic == "value":
        d = quantity(next(query for query in said["queries"] if query["name"] == name)["sensitivity"])
        return [("value", d, d * d, 1, None, None)], None
    k, rows = said["unit"]["max_rows"], said["rows"]
    n = rows.get("max") or rows["exact"]
    replace = said["neighbours"] == "replace-one" or (
        "blocks" in said and "id" in said["unit"] and len(dataset.covered(question)) > 1)
    groups, m = cells > 1, min(2 * k if replace else k, cells)
    whole = "exact" in rows and "by" not in question and "where" not in question

    def total(called, low, high, step):
        """A sum of at most k values of a unit, in [low, high], of n in all."""
        largest, span = max(abs(low), abs(high)), max(high, 0) - min(low, 0)
        d = k * span if replace and not groups else k * largest * (2 if replace else 1)
        d2 = max(k * k * span**2, 2 * k * k * largest**2) if replace else (k * largest) ** 2
        return called, d, d2 if groups else d * d, m, step, (n * min(low, 0), n * max(high, 0))

    def single(called, d, step=None, ends=None):
        return [(called, d, d * d, 1, step, ends)], None

    one = Fraction(1)
    if statistic in ("count", "count_of"):
        return [total("count", one, one, one)], None
    if statistic == "proportion":
        d, d2 = (2 * k, 2 * k * k) if replace else (k, k * k)
        m = min(2 * k if replace else k, 2 * cells)
        return [("rows_of_value", d, d2, m, one, (Fraction(0), Fraction(n)))], (None, 0, 1)
    if statistic == "distinct":
        declared = len(dataset.values(name) or ())
        require(declared, "asks for values of a column that declares none", "question")
        of_a_cell = min(k, declared)
        d = min(2 * k if replace else k, declared * cells) if groups else of_a_cell
        return [("distinct", d, of_a_cell * d, m, one, (Fraction(0), Fraction(min(declared, n))))], None
    if statistic == "units":
        d = Fraction((2 * k if replace else k) if groups else 1)
        return [("units", d, Fraction(m) if groups else one, m, one, (Fraction(0), Fraction(n)))], None
    wanted = quantiles_asked(question["statistic"])
    if wanted:
        drawn = "quantile_day" if dataset.columns[name]["type"] == "date" else "quantile"
        return [(drawn, largest_rank_sensitivity(wanted, k, replace, cells), 0, m, None, None)], None
    if statistic == "ratio":
        return expected_ratio(dataset, columns_of(question["statistic"]), n, total)
    column = dataset.columns[name]
    low, high = map(quantity, column["bounds"])
    span, centre, integers = high - low, (low + high) / 2, column.get("step") == "1"
    if statistic == "sum":
        step = one if integers else None
        ends = (n * min(low, 0), n * max(high, 0))
        return single("sum", k * span, step, ends) if whole else ([total("sum", low, high, step)], None)
    if whole and statistic == "mean":
        return single("mean", k * span / n)
    if whole:
        return single("variance", span**2 * k * (n - k) / Fraction(n) ** 2 if 2 * k <= n else span**2 / 4)
    half = Fraction(1, 1 if centre.denominator == 1 else 2)
    parts = [total("sum_about_centre", -span / 2, span / 2, half if integers else None), total("count", one, one, one)]
    if statistic == "mean":
        return parts, (centre, low, high)
    require(statistic == "variance", "asks a statistic that is not known", "question")
    squares = total("squares_about_centre", Fraction(0), span**2 / 4, half**2 if integers else None)
    return [squares, *parts], (centre, Fraction(0), span**2 / 4)

def expected_ratio(dataset, names, n, total):
    """As above, of the sums over two columns, and what a quotient of the two can be."""
    require(len(set(names)) == 2 == len(names), "asks for a ratio that is none", "question")
    above, below = (dataset.columns[name] for name in names)
    (low, high), (least, most) = (list(map(quantity, column["bounds"])) for column in (above, below))
    require(least > 0 or least == 0 and "step" in below, "divides by what may be below 0 or near it", "question")
    parts = [total(called, *map(quantity, column["bounds"]), Fraction(1) if column.get("step") == "1" else None)
             for called, column in (("numerator", above), ("denominator", below))]
    if least > 0:
        return parts, (None, low / (least if low < 0 else most), high / (most if high < 0 else least))
    least = quantity(below["step"])
    return parts, (None, n * min(low, 0) / least, n * max(high, 0) / least)

# Tables with totals that are made to add up (consistent_totals.md, "The closed form").

def fitted_table(keys, scales, drawn):
    """The table with the least sum of squares ((margin - drawn) / scale), and its margins."""
    sizes, margins = [len(keys) for keys in columns_in(keys)], margins_of(keys)
    cells_of = {kept: list(itertools.product(*(range(sizes[column]) for column in kept))) for kept in margins}
    weights = {kept: 1 / scale**2 for kept, scale in zip(margins, scales)}
    noisy = {kept: dict(zip(cells_of[kept], cells)) for kept, cells in zip(margins, drawn)}

    def summed(cells, kept, inner):
        sums, places = dict.fromkeys(cells_of[inner], Fraction(0)), [kept.index(column) for column in inner]
        for cell, number in cells.items():
            sums[tuple(cell[place] for place in places)] += number
        return sums

    def effect(of):
        total, among = dict.fromkeys(cells_of[of], Fraction(0)), prod(sizes[column] for column in of)
        outer, eigenvalue = [kept for kept in margins if set(kept) >= set(of)], Fraction(0)
        for kept in outer:
            cells = prod(sizes[column] for column in kept)
            eigenvalue += weights[kept] * prod(sizes) / cells
            for cell, number in summed(noisy[kept], kept, of).items():
                total[cell] += weights[kept] * among / cells * number
        for column in of:
            others = tuple(one for one in of if one != column)
            means, place = summed(total, of, others), of.index(column)
            total = {cell: number - means[cell[:place] + cell[place + 1:]] / sizes[column]
                     for cell, number in total.items()}
        return {cell: number / eigenvalue for cell, number in total.items()}

    effects = {kept: effect(kept) for kept in margins}
    return [Fraction(prod(sizes), prod(sizes[column] for column in kept)) * sum(
                effects[inner][tuple(cell[kept.index(column)] for column in inner)]
                for inner in margins if set(inner) <= set(kept))
            for kept in map(tuple, margins) for cell in cells_of[kept]]

# Plans and what was drawn.

class Together:
    """What calls of mechanisms lose together."""

    def __init__(self, losses):
        self.losses, self.fitting = losses, {}

    def fits(self, measure, limit):
        """Whether that is at most an amount."""
        known = self.fitting.get((measure, limit))
        return known if known is not None else remembered(
            self.fitting, (measure, limit), losses_at_most(self.losses, measure, limit))

class Plan:
    """A question under a policy version and, once it was answered, how."""

    def __init__(self, record, dataset):
        self.number, self.policy, self.dataset = record["number"], record["policy_version"], dataset
        self.question, self.release = record["question"], record.get("release")
        self.together, self.admitted, self.candidates = Together([]), set(), None
        self.rows, self.covering, self.delta, self.epsilon, self.proved = [], {}, None, None, True
        self.unread = is_unread(self.question)
        if self.unread:
            require(self.release is None, "answers a request of which no question is kept", "release")
            return
        dataset.check_asked(self.question)
        if "rows" in self.question:
            self.check_batch()
            if self.release:
                self.read_rows(record, self.release)
        elif self.release:
            require("rows" not in self.release, "is that of a batch", "release")
            self.read(self.release)
            self.check_losses(self.release)

    def require_admitted(self, dataset, asker, purpose):
        """Requires that a dataset of a policy version lets somebody ask this."""
        if (id(dataset), asker, purpose) in self.admitted:
            return
        why = dataset.why_not_allowed(self.question, asker, purpose)
        require(why is None, f"asks what the policy does not allow: {why}", "plan")
        self.admitted.add((id(dataset), asker, purpose))

    def check_batch(self):
        rows = self.question["rows"]
        require(not any(row["statistic"].startswith("value:") for row in rows),
                "has rows that are no questions to the source", "question")
        if "delta" in self.question:
            self.delta = on_grid_down(self.question["delta"], "delta")
            lost = sum(on_grid_down(row.get("delta", "0"), "delta") for row in rows)
            require(0 < self.delta < 10**18 and lost <= self.delta, "has a delta below what its rows lose", "question")
            require(self.dataset.counts_delta, "has a delta that no budget counts", "question")

    def read_rows(self, record, release):
        """Each row as a plan of its own; what they lose adds."""
        said, first, asked = release.get("rows", []), 0, rows_of(self.question)
        require(len(said) == len(asked), "has another number of rows than were asked", "release")
        for question, row in zip(asked, said):
            after = first + row["components"]
            parts = {**row, "components": release["components"][first:after]}
            parts.update((name, release[name]) for name in ("unit", "neighbours") if name in release)
            self.rows.append(Plan({"number": self.number, "policy_version": self.policy, "question": question,
                                   "release": parts}, self.dataset))
            first = after
        self.together = Together([loss for row in self.rows for loss in row.together.losses])
        composed = release.get("composed", {})
        require(amount(composed.get("delta", "0"), "delta") == (self.delta or 0),
                "is charged as one at another delta than was asked", "release")
        if composed:
            self.epsilon = amount(release["charged"], "epsilon")
            self.proved = self.check_composed("", self.epsilon, composed["accountant"])
        for name in ("requested", "charged", "adjusted", "published"):
            if composed and name == "charged":
                continue
            every = [row.get(name) for row in said]
            together = sum_of_losses(map(quantity, every)) if None not in every else None
            of_all = quantity(release[name]) if name in release else None
            require(of_all == together, f"says {name} what its rows do not add up to", "release")

    def computed(self):
        """Whether its statistic is computed by the program, from a source."""
        return "rows" in self.question or not self.question["statistic"].startswith("value:")

    def covers(self, question, scope):
        """Whether a question is charged to an account of that scope; a block's name is always text."""
        kind, _, block = scope.partition(":") if isinstance(scope, str) else ("", "", "")
        return kind != "block" or block in self.dataset.covered(question)

    def capped(self, measure, limit):
        """Whether neither all of it loses more than a cap allows, nor a row by itself."""
        whole = {"epsilon": self.epsilon, "delta": self.delta}.get(measure)
        if self.epsilon is None or measure == "epsilon" and self.dataset.counts_pure:
            whole = None
        fits = self.together.fits(measure, limit) if whole is None else whole <= limit
        return fits and all(row.capped(measure, limit) for row in self.rows)

    def lost_in(self, scope):
        """What is lost together in an account of that scope: of a batch and a block, by the rows that cover it."""
        kind, _, block = scope.partition(":") if isinstance(scope, str) else ("", "", "")
        if not self.rows or kind != "block":
            return self.together
        if block not in self.covering:
            self.covering[block] = Together([loss for row in self.rows if self.covers(row.question, scope)
                                             for loss in row.together.losses])
        return self.covering[block]

    def check_composed(self, scope, charge, by=None):
        """That an epsilon charged for rows as one, in an account of that scope, is no more than their sum or what all
        rows are charged; whether it is proved here to be no less than they lose. `by` is what is said of all rows."""
        rows = [row for row in self.rows if self.covers(row.question, scope)]
        sum_of_rows = sum(amount(row.release["charged"], "epsilon") for row in rows)
        require(0 < charge <= min(sum_of_rows, self.epsilon), "is charged as one, for more than the sum", "release")
        require(len(rows) < len(self.rows) or charge == self.epsilon, "is charged otherwise than all its rows",
                "release")
        require(by != "sum" or charge == sum_of_rows, "is not charged the sum, as it says", "release")
        losses = [loss for row in rows for loss in row.together.losses]
        proved = charge == sum_of_rows or composed_by_zcdp(losses, charge, self.delta)
        require(by != "zcdp" or proved, "is charged less than follows from its rho, as it says", "release")
        parts = {tuple(map(id, part)): part for row in rows for part in row.parts()}.values()
        require(proved or not any(loses_more(part, charge, self.delta) for part in parts),
                "is charged less than one of its rows loses by itself", "release")
        return proved or by is None and charge == self.epsilon and self.proved

    def parts(self):
        """The losses of each call by itself, and of all of the row together where they are several."""
        losses = self.together.losses
        return [[loss] for loss in losses] + [losses] * (len(losses) > 1)

    def as_asked(self, scope, measure, beside_delta):
        """What is charged in a measure that was asked for, in units of its grid; None of another, and of an epsilon
        that was found for rows as one."""
        if self.delta is not None and beside_delta:
            if measure == "delta":
                return self.delta
            return self.epsilon if all(self.covers(row, scope) for row in rows_of(self.question)) else None
        total = 0
        for question in rows_of(self.question):
            if not self.covers(question, scope):
                continue
            asked = question.get(measure, "0" if measure == "delta" else None)  # of rdp(...), nothing
            if asked is None or ("rho" in question) != (measure == "rho"):
                return None
            total += on_grid_down(asked, measure)
        return total

    def read(self, release):
        cells = release.get("cells", [])
        self.components = [{name: quantity(value) if name not in ("coordinates", "precision") else value
                            for name, value in {"precision": None, **said}.items()}
                           for said in release.get("components", ())]
        self.post = {name: quantity(value) if name != "kind" else value
                     for name, value in release.get("post_processing", {}).items()}
        totals = self.post.get("kind") in TOTALS
        self.drawn = cells_of_margins(cells) if totals else None
        self.cells = sum(self.drawn) if totals else number_of_cells(cells)
        self.recorded = 0 if self.post.get("kind") == "consistent_totals" else self.cells
        parts = {"mean_about": 2, "ratio": 2, "variance_about": 3}.get(self.post.get("kind"), 1)
        needed = len(self.drawn) if totals else parts
        require(len(self.components) == needed, "has another number of components than its answer", "release")
        for component in self.components:
            grid, bound, centre = component["grid"], component.get("bound", 1), component.get("centre", 0)
            require(grid > 0 and component["scale"] > 0 and bound > 0 and (centre / grid).denominator == 1,
                    "has a grid or a scale that is none, or a centre off its grid", "release")

    def check_losses(self, release):
        """That each component is calibrated to what one unit can change, and loses at most what it says."""
        mechanism, arithmetic = release["mechanism"], release.get("arithmetic")
        for name, of_each in (("charged", "epsilon"), ("adjusted", "adjusted")):
            together = sum_of_losses(component[of_each] for component in self.components)
            require(quantity(release[name]) == together, f"says {name} what its components do not add up to", "release")
        delta = sum_of_losses(component.get("delta", 0) for component in self.components)
        asked = Fraction(on_grid_down(self.question.get("delta", "0"), "delta"), 10**18)
        require("rho" in self.question or delta == asked, "charges another delta than was asked for", "release")
        asked = self.question.get("epsilon", release["requested"])
        charged = amount(release["charged"], "epsilon")
        as_asked = asked == release["requested"] and on_grid_down(asked, "epsilon") == charged
        require(as_asked, "charges another epsilon than was asked for", "release")
        said = self.dataset.said
        unit = f"{said['unit']['id']} max_rows={said['unit']['max_rows']}" if "id" in said["unit"] else "row"
        for name, declared in (("unit", unit), ("neighbours", said["neighbours"])):
            require(release.get(name) == declared, f"has not the {name} of the policy", "release")
        expected, post = expected_components(self.dataset, self.question)
        require(len(expected) == len(self.components), "has not the components of its statistic", "release")
        require(not post or [self.post.get(name) for name in ("centre", "lower", "upper")] == list(post),
                "follows otherwise from its components than its statistic", "release")
        statistic, name, rest = statistic_of(self.question["statistic"])
        wanted = quantiles_asked(self.question["statistic"])
        require(all((statistic == kind) == (self.post.get("kind") == kind) for kind in ("proportion", "ratio")),
                "follows otherwise from its components than its statistic", "release")
        self.check_margins(release)
        way = next(way for way in said["release"] if way["name"] == (name if statistic == "value" else statistic))
        require(way["mechanism"] == mechanism and way.get("arithmetic", "exact") == arithmetic and all(
            component["precision"] == way["precision"] for component in self.components if "precision" in way),
                "is by another mechanism than the policy's", "release")
        if wanted:
            self.candidates = candidates_of(self.dataset.columns[name])
        self.several = len(wanted)
        cells = recorded_keys(self.dataset.keys(self.question) + [rest.split(",")] * (len(wanted) > 1))
        require(cells == release.get("cells", []), "has not the cells that the policy declares", "release")
        levels = len(wanted).bit_length()
        for said, component, (statistic, d, d2, m, step, ends) in zip(release["components"], self.components, expected):
            on_grid = step is not None and all((n / component["grid"]).denominator == 1 for n in (step, *ends))
            require(said.get("statistic") == statistic, f"has not {statistic} where that is needed", "release")
            least = component["sensitivity"] >= d and component["coordinates"] >= m and (
                "gauss" not in mechanism or component["sensitivity_l2_squared"] >= d2)
            require(least, f"has a sensitivity below what one unit can change: {d} in {m} coordinates", "release")
            key = (ENCODE(said), mechanism, arithmetic, on_grid, levels)
            self.together.losses.append(LOSSES.get(key) or remembered(LOSSES, key, Loss(component, *key[1:]), 5000))

    def check_margins(self, release):
        """That an answer has totals if they are asked for, which have as much of the loss as was asked."""
        asked, kind = "totals" in self.question, self.post.get("kind")
        fitted = self.question.get("consistent", False)
        require(asked == (kind in TOTALS) and fitted == (kind == "consistent_totals"),
                "follows otherwise from its components than was asked", "release")
        for name in ("epsilon", "delta") if asked and "rho" not in self.question else ():
            parts = [amount(said[name], name) for said in release["components"] if name in said]
            share = quantity(self.question["totals"])
            of_each = [int(sum(parts) * share / (len(parts) - 1))] * (len(parts) - 2) if parts else []
            cells = [int(sum(parts) * (1 - share))] if parts else []
            require(parts[:-1] == cells + of_each, f"shares {name} out otherwise than was asked", "release")

    def check_values(self, component_values, values):
        """That what was drawn lies on the grid and in the range, and what was released follows from it."""
        if self.rows:
            for row in self.rows:
                drawn, told = component_values[:len(row.components)], values[:row.recorded]
                row.check_values(drawn, told)
                component_values, values = component_values[len(row.components):], values[row.recorded:]
            return require(not component_values and not values, "are of more rows than were asked", "values")
        pairs = self.post.get("kind") == "proportion"
        sizes = self.drawn or [self.cells * (1 + pairs)] * len(self.components)
        shape = sizes == [len(row) for row in component_values]
        require(shape, "are of another number of components or cells than the plan's", "component_values")
        drawn = []
        for component, row in zip(self.components, component_values):
            grid, bound, centre = component["grid"], component.get("bound"), component.get("centre", 0)
            drawn.append([quantity(text) for text in row])
            for number in drawn[-1]:
                require(self.can_be(number), f"holds {number}, which is no value that a quantile can have",
                        "component_values")
                offset = number - centre
                if bound is not None and abs(offset) >= bound:
                    require(abs(offset) == bound, f"holds {number}, which is out of the range", "component_values")
                elif offset.numerator * grid.denominator % (offset.denominator * grid.numerator):
                    raise Fault(f"holds {number}, which is not on the grid", "component_values")
        for at in range(0, len(drawn[0]) if self.several > 1 else 0, max(self.several, 1)):
            quantiles = drawn[0][at : at + self.several]
            require(quantiles == sorted(quantiles), "holds quantiles of one cell that descend", "component_values")
        require(len(values) == self.recorded, "are of another number of cells than the plan's", "values")
        for text, answer in zip(values, self.answers(drawn) if values else ()):
            if quantity(text) != answer:
                raise Fault(f"holds {text} where {answer} follows from what was drawn", "values")

    def answers(self, drawn):
        """What was released, as it follows from what was drawn; a table made consistent is recorded nowhere."""
        if self.rows:
            parts, answers = list(drawn), []
            for row in self.rows:
                answers += row.answers(parts[:len(row.components)])
                del parts[:len(row.components)]
            return answers
        if self.post.get("kind") == "consistent_totals":
            return fitted_table(self.release["cells"], [component["scale"] for component in self.components], drawn)
        if self.drawn:
            return [self.whole(component, number) for component, cells in zip(self.components, drawn)
                    for number in cells]
        pairs = self.post.get("kind") == "proportion"
        return map(self.answer, zip(drawn[0][::2], drawn[0][1::2]) if pairs else zip(*drawn))

    def whole(self, component, number):
        """What whole_totals shows of a draw: what is snapped to less than 1 is rounded within its range."""
        if self.post["kind"] != "whole_totals" or "bound" not in component or component["grid"] >= 1:
            return number
        least, most = (component.get("centre", 0) + sign * component["bound"] for sign in (-1, 1))
        least, most = least.__ceil__(), most.__floor__()
        return min(max((number + Fraction(1, 2)).__floor__(), least), most) if least <= most else number

    def can_be(self, number):
        listed, ends = self.candidates or (None, None)
        return (listed is None or number in listed) and (
            ends is None or ends[0] <= number <= ends[1] and ((number - ends[0]) / ends[2]).denominator == 1)

    def answer(self, drawn):
        if not self.post:
            return drawn[0]
        if self.post["kind"] == "rounded":
            answer = (drawn[0] + Fraction(1, 2)).__floor__()
        elif self.post["kind"] == "proportion":
            answer = drawn[0] / max(drawn[0] + drawn[1], 1)
        elif self.post["kind"] == "ratio":
            end = self.post["upper" if drawn[0] > 0 else "lower"] if drawn[0] else 0
            answer = drawn[0] / drawn[1] if drawn[1] > 0 else end
        elif self.post["kind"] == "mean_about":
            answer = self.post["centre"] + drawn[0] / max(drawn[1], 1)
        else:
            rows = max(drawn[2], 1)
            answer = drawn[0] / rows - (drawn[1] / rows) ** 2
        return min(max(answer, self.post["lower"]), self.post["upper"])

# The history.

class Account:
    def __init__(self, *name_and_limit):
        self.dataset, self.scope, self.measure, self.limit = name_and_limit
        self.spent, self.reserved, self.active = 0, 0, True

class Waiting:
    """A request that is reserved or pending, and not resolved."""

    def __init__(self, record, plan, charges):
        self.outcome, self.asker, self.via = record["outcome"], hashable(record["principal"]), record["via"]
        self.purpose = record.get("purpose") and hashable(record["purpose"])
        self.dataset, self.policy = hashable(record["dataset"]), record["policy_version"]
        self.holding, self.deadline = record.get("reservation"), milliseconds(record["deadline"])
        self.plan, self.charges = plan, charges
        self.approvals, self.token = [], None
        self.unasked = None  # of a reservation: under whose approvals it was made without enough of them

ACTS = {"approved": ("approve",), "rejected": ("reject",), "data_accessed": ("issue_token", "read_source"),
        "voided": ("cancel", "expire"), "forfeited": ("cancel", "expire")}
FOLLOWS = {"granted": ("reserved",), "refused": ("pending",), "reserved": ("pending",), "approved": ("pending",),
           "rejected": ("pending",), "data_accessed": ("reserved",), "voided": ("pending", "reserved"),
           "forfeited": ("reserved",)}
GO_WITH = {"component_values": ("granted",), "reasons": ("refused",), "verb": tuple(ACTS),
           "plan": ("granted", "refused", "reserved", "pending"), "deadline": ("reserved", "pending")}
COUNTERS = {"policy": "version", "account": "account", "plan": "number", "decision": "seq", "relocation": "seq",
            "limit_change": "seq", "limit_removal": "seq", "clock": "seq", "credential": "seq", "key": "seq",
            "recovery": "seq", "sealed": "seq"}
COUNTED_AS = {"revocation": "credential", "unsealed": "sealed"}  # kinds that share the numbers of another
KINDS_NOT_CHECKED = ("implies", "pld", "vouching", "clock")

class Expected:
    """What an auditor holds against a history from elsewhere: {hash: text} of implied objects, hashes of policies."""

    def __init__(self, implied=None, published=(), max_skew=300):
        self.implied, self.published, self.max_skew = implied or {}, frozenset(published), max_skew

LONGEST_WINDOW = 1000 * 31536000

class Window:
    """What one asker was charged of a dataset lately, and what its open reservations hold.

    Summed by accounts that all requests of the dataset are charged to: the dataset's, or those of its periods, and
    those of its lifetime. So a key is "" or "lifetime", and a measure.
    """

    def __init__(self):
        self.held = {}
        self.charged = collections.defaultdict(lambda: ([], [0]))  # times, and what was charged up to each

    def charge(self, now, counted):
        for key, charge in counted.items():
            times, sums = self.charged[key]
            times.append(now)
            sums.append(sums[-1] + charge)
            old = bisect.bisect_right(times, now - LONGEST_WINDOW)
            if old > 1000 and 2 * old > len(times):
                del times[:old], sums[:old]

    def before(self, key, began):
        """What was charged after an instant, and is held."""
        times, sums = self.charged[key]
        return sums[-1] - sums[bisect.bisect_right(times, began)] + sum(held[key] for held in self.held.values())

class History:
    """Folds records in the order of their lines; refuses what cannot follow."""

    def __init__(self, shown=None, expected=None):
        self.shown, self.values, self.held = shown, None, expected or Expected()
        self.ledger = self.active = self.fresh_plan = self.unconfirmed = self.sealed = None
        self.lines = self.time = 0
        self.settled = self.located = True
        self.last_id = ""
        self.counts, self.kinds, self.outcomes = (collections.Counter() for _ in range(3))
        self.unchecked = collections.defaultdict(collections.Counter)  # of each kind what was not checked
        self.policies, self.by_name, self.open, self.expected = {}, {}, {}, {}
        self.credentials, self.principals_of = {}, collections.defaultdict(set)
        self.accounts, self.plans, self.plans_in_use, self.asked = [None], [None], {}, set()
        self.keys, self.signers = {}, set()
        self.claimed, self.events, self.versions = [], [], []
        self.windows = collections.defaultdict(Window)  # of a dataset and who asks

    def measure_of(self, account):
        return self.accounts[account].measure if account < len(self.accounts) else None

    def add(self, record):
        kind, movements = check_record(record, self.measure_of)
        require(record["index"] == self.lines, f"is not {self.lines}, as the place of the line says", "index")
        now = milliseconds(record["time"])
        require(now >= self.time, "goes back", "time")
        require((kind == "ledger") == (self.lines == 0), "is that of the first line, and of no other", "kind")
        require(self.sealed is None or kind == "unsealed", "follows a seal, after which only unsealed is right", "kind")
        require(self.sealed is not None or kind != "unsealed", "follows no seal", "kind")
        if self.fresh_plan is not None:
            require(record.get("plan") == self.fresh_plan, "does not decide what the line before plans", "plan")
        if not self.located:
            require(kind == "location", "is not the location of the policy version in the line before", "kind")
        self.fresh_plan = None
        self.count(kind, record)
        if not self.settled and kind not in ("location", "account", "limit_change", "limit_removal"):
            self.settle()
        self.time = now
        if kind == "decision":
            self.decision(record, movements, now)
        else:
            getattr(self, "on_" + kind)(record)
        self.kinds[record["kind"]] += 1
        self.lines += 1

    def count(self, kind, record):
        """Numbers of each kind are 1, 2, …, and places among decisions and events are where the line stands."""
        counted = COUNTED_AS.get(kind, kind)
        self.counts[counted] += 1
        if counted in COUNTERS and record[COUNTERS[counted]] != self.counts[counted]:
            raise Fault(f"is not {self.counts[counted]}, the next of its kind", COUNTERS[counted])
        if "after_decision" in TABLES[kind][0]:
            last = self.counts["decision"]
            require(record["after_decision"] == last, "is not the last decision before", "after_decision")
        if "event" in TABLES[kind][0]:
            self.counts["event"] += 1
            require(record["event"] == self.counts["event"], "is not the next event's number", "event")

    def tell(self, record, what):
        """Something that the report tells, with who did it and why."""
        why = hashable(record.get("why", ""))
        self.events.append({"line": self.lines + 1, "time": record["time"], "what": what,
                            **({"by": str(hashable(record["by"]))} if "by" in record else {}),
                            **({"why": str(why)} if why else {})})

    def on_feature(self, record):
        raise NeedsFeature(record["name"])

    def on_ledger(self, record):
        self.ledger, self.created = record["id"], milliseconds(record["time"])

    def on_sealed(self, record):
        self.sealed = self.lines
        self.tell(record, "sealed")

    def on_unsealed(self, record):
        self.sealed = None
        self.tell(record, "unsealed")

    def on_policy(self, record):
        yaml = hashable(record.get("yaml", ""))
        text = yaml.encode() if isinstance(yaml, str) else yaml
        require(hashlib.sha256(text).hexdigest() == record["sha256"], "is not the SHA-256 of the text", "sha256")
        first = self.lines == 1 and milliseconds(record["time"]) == self.created
        require(first == (record["version"] == 1), "of the first version is that of the ledger, in the line before",
                "time")
        published = self.held.published
        require(not published or record["sha256"] in published, "is of no policy that was published", "sha256")
        before = {} if self.active is None else self.active.datasets
        self.active = self.policies[record["version"]] = policy = Policy(record)
        given = self.held.implied.get(policy.sha256)
        require(given in (None, policy.implied), "is not what was handed over for this text", "implies")
        self.unchecked["implies"][f"implies of version {policy.version}"] += given is None
        self.located = self.settled = False
        self.expected.clear()
        why = hashable(record.get("why", ""))
        self.versions.append({
            "version": policy.version, "line": self.lines + 1, "sha256": policy.sha256, "time": policy.time,
            "by": str(hashable(record["by"])), **({"why": str(why)} if why else {}),
            "implies": "as handed over" if given is not None else "not checked",
            "datasets": [in_words(dataset.said) for dataset in policy.datasets.values()],
            "loosened": loosened(before, policy.datasets) if policy.version > 1 else []})

    def on_location(self, record):
        after_it = not self.located and record["policy_version"] == self.active.version
        require(after_it, "is not in the line after its policy version", "policy_version")
        self.located = True

    def on_relocation(self, record):
        known = self.active and hashable(record["dataset"]) in self.active.datasets
        require(known, "is no dataset of the policy", "dataset")
        self.tell(record, f"source of {hashable(record['dataset'])} moved to {hashable(record['path'])}")

    def on_account(self, record):
        name = (hashable(record["dataset"]), hashable(record.get("scope", "")), record["measure"])
        require(name not in self.by_name, "is an account that has a line already", "account")
        limit, dataset = amount(record["limit"], record["measure"]), self.active and self.active.datasets.get(name[0])
        require(dataset, "is no dataset of the active policy", "dataset")
        declared = dataset.limit_of(name[1], name[2])
        require(declared is not None, "is no account of the active policy", "scope")
        require(declared == limit, "is not the limit of the active policy", "limit")
        self.by_name[name] = record["account"]
        self.accounts.append(Account(*name, limit))
        self.expected.clear()

    def limited(self, record):
        """The account that a line of a policy version is about, and the limit that the version declares for it."""
        last = self.active and record["policy_version"] == self.active.version
        require(last, "is not the last policy version", "policy_version")
        require(record["account"] < len(self.accounts), "is an account that has no line", "account")
        for name, of_version in (("time", self.active.time), ("by", self.active.by), ("why", self.active.why)):
            require(record.get(name) == of_version, "is not that of the policy version", name)
        self.expected.clear()
        account = self.accounts[record["account"]]
        dataset = self.active.datasets.get(account.dataset)
        return account, dataset and dataset.limit_of(account.scope, account.measure)

    def on_limit_change(self, record):
        account, declared = self.limited(record)
        new, old = amount(record["new"], account.measure), amount(record["old"], account.measure)
        require(old == account.limit, "is not the limit that the account had", "old")
        require(new >= account.spent + account.reserved, "is below what was spent and reserved", "new")
        require(new == declared, "is not what the policy declares", "new")
        account.limit, account.active = new, True

    def on_limit_removal(self, record):
        account, declared = self.limited(record)
        require(account.active, "is a limit that ended before", "account")
        require(declared is None, "is a limit that the policy declares", "account")
        account.active = False

    def settle(self):
        """That accounts are as the active policy says, once all lines that a version brings are read."""
        self.settled = True
        version = f"follows policy version {self.active.version}, "
        for name, dataset in self.active.datasets.items():
            for (scope, measure), limit in dataset.listed().items():
                account = self.accounts[self.by_name.get((name, scope, measure), 0)]
                require(account and account.limit == limit, version + f"of which the account {scope or name!r} of "
                        f"{measure} was not opened with its limit", "kind")
                account.active = True
        for account in self.accounts[1:]:
            dataset = self.active.datasets.get(account.dataset)
            declared = dataset and dataset.limit_of(account.scope, account.measure)
            require(not account.active or declared is not None, version + "which ended the limit "
                    f"{account.scope or account.dataset!r} of {account.measure} without a line", "kind")

    def on_plan(self, record):
        version = record["policy_version"]
        require(version in self.policies, "is a policy version that has no line", "policy_version")
        same = hashlib.sha256(ENCODE([version, record["question"], record.get("release")]).encode()).digest()
        require(same not in self.asked, "is that of an earlier plan", "question")
        self.asked.add(same)
        self.plans.append(zlib.compress(ENCODE(record).encode(), 1))
        self.fresh_plan = self.plan(record["number"]).number

    def plan(self, number):
        """A plan, which is checked when it is made; of those that are not asked for, the lines are kept."""
        if number not in self.plans_in_use:
            record = DECODE(zlib.decompress(self.plans[number]).decode())
            dataset = self.policies[record["policy_version"]].datasets.get(hashable(record["question"]["dataset"]))
            require(dataset, "is about a dataset that its policy version does not declare", "question")
            remembered(self.plans_in_use, number, Plan(record, dataset), 2000)
        return self.plans_in_use[number]

    def on_clock(self, record):
        if record["type"] == "forwards":
            self.unconfirmed = self.unconfirmed or milliseconds(record["time"])
        elif record["type"] == "confirmed":
            require(self.unconfirmed is not None, "confirms no clock that was set forwards", "type")
            self.unconfirmed = None
        self.tell(record, f"the clock went {record['type']}" if "by" not in record else "the clock was confirmed")

    def on_credential(self, record):
        require(record["credential"] not in self.credentials, "is an id that is taken", "credential")
        require("until" not in record or milliseconds(record["until"]) > milliseconds(record["time"]),
                "is over before it begins", "until")
        self.credentials[record["credential"]] = [record["principal"], record["type"]]
        via = f"unix:{record['value']}" if record["type"] == "uid" else f"token:{record['credential']}"
        self.principals_of[via].add(hashable(record["principal"]))
        self.tell(record, f"credential {via} of {hashable(record['principal'])} added")

    def on_revocation(self, record):
        valid = self.credentials.get(record["credential"]) == [record["principal"], record["type"]]
        require(valid, "is none that is valid", "credential")
        self.credentials[record["credential"]] = None
        self.tell(record, f"credential {record['credential']} of {hashable(record['principal'])} revoked")

    def on_key(self, record):
        try:
            key = VerifierKey(record["verifier_key"], LOG_KEY)
        except Fault as fault:
            raise Fault(fault.why, "verifier_key") from fault
        require(key.name == "epsilog/" + self.ledger, "is a key of another ledger", "verifier_key")
        known = record["verifier_key"] in self.signers
        require(known == ("retired" in record), "was added before, or never", "verifier_key")
        self.signers ^= {record["verifier_key"]}
        self.tell(record, f"key {key.id.hex()} " + ("retired" if "retired" in record else "added"))

    def on_recovery(self, record):
        restored, alone = record.get("restored_lines", 0), record["cause"] in ("poisoned", "rolled_back")
        require(restored == self.lines if record["cause"] == "rebuilt" else restored <= self.lines,
                "is not how many lines can stand before it", "restored_lines")
        require(not alone or ("why" in record and not restored and "dropped_lines" not in record),
                "has a reason, and no lines of a replica", "cause")
        both = ("remembered_lines" in record) == ("found_lines" in record)
        require(both, "stands beside the other number", "remembered_lines")
        require("found_lines" not in record or "why" in record, "has a reason where a rollback was accepted", "why")
        require(record.get("found_lines", 0) <= self.lines, "is more lines than stand before it", "found_lines")
        numbers = [f"{record[name + '_lines']} lines {name}" for name in ("restored", "dropped", "remembered", "found")
                   if name + "_lines" in record]
        self.tell(record, ", ".join(["recovery: " + record["cause"], *numbers]))

    def commit_ends(self):
        require(self.fresh_plan is None, "a plan is followed by no decision")
        require(self.located, "a policy version is followed by no location")
        if not self.settled:
            self.settle()

    def finish(self):
        require(self.lines > 0, "there is no line")
        self.commit_ends()

    # Decisions.

    def decision(self, record, movements, now):
        outcome, parent = record["outcome"], None
        self.outcomes[outcome] += 1
        require(record["id"] > self.last_id, "is not above the id before", "id")
        require(milliseconds_of_id(record["id"]) == now, "is not of the time of its decision", "id")
        self.last_id = record["id"]
        self.check_form(outcome, record)
        require(self.active, "is decided before there is a policy", "decided_under")
        require(record["decided_under"] == self.active.version, "is not the active version", "decided_under")
        if "parent" in record:
            parent = self.open.get(record["parent"])
            require(parent is not None, "is no request that is open", "parent")
            if parent.outcome not in FOLLOWS.get(outcome, ()):
                raise Fault(f"is {outcome}, which cannot follow {parent.outcome}", "outcome")
            same = (parent.dataset, parent.policy) == (hashable(record["dataset"]), record["policy_version"])
            require(same, "is not that of the request that it is about", "dataset")
        else:
            require(outcome not in ACTS, "is missing", "parent")
            require(record["policy_version"] == self.active.version, "is not the active version", "policy_version")
        plan = self.plan_of(record, parent)
        vouched = self.check_via(record, parent)
        self.bind_key(record)
        charges = self.fold(record, movements)
        (self.first if parent is None else self.later)(record, plan, charges, parent, now)
        if outcome == "approved":
            parent.approvals.append((hashable(record["principal"]), vouched))
            if "why" in record:
                self.tell(record, f"approved by {hashable(record['principal'])}: {record['parent']}")
        if outcome == "rejected":
            self.tell(record, f"rejected by {hashable(record['principal'])}: {record['parent']}")
        if outcome in ("reserved", "pending"):
            waiting = self.open[record["id"]] = Waiting(record, plan, charges)
            if outcome == "reserved":
                waiting.unasked = self.unasked
        if outcome == "granted":
            self.released(record, plan, charges, parent)
        self.count_charges(record, charges, parent, now)

    def check_form(self, outcome, record):
        """Which members go with which outcome."""
        for name, outcomes in GO_WITH.items():
            if (name in record) != (outcome in outcomes):
                raise Fault(f"is missing, or does not go with {outcome}", name)
        # Where all of them follow from what was drawn there are none.
        require("values" not in record or outcome == "granted", f"does not go with {outcome}", "values")
        require("why" not in record or outcome in ACTS, f"does not go with {outcome}", "why")
        if outcome in ACTS:
            require(record["verb"] in ACTS[outcome], "does not go with the outcome", "verb")
            for name in ("key", "conflicting_key", "purpose", "reservation"):
                require(name not in record, "does not go with an act", name)
        issued = ("data_token_sha256" in record) == (record.get("verb") == "issue_token")
        require(issued, "goes with a data token that is issued", "data_token_sha256")
        reasons = record.get("reasons", [])
        whole = isinstance(reasons, list)
        taken = any(reason["code"] == "key_conflict" for reason in (reasons if whole else reasons["first"]))
        said = "conflicting_key" in record
        require((said == taken or said and not whole and outcome == "refused") and not (said and "key" in record),
                "goes with a refusal for a key that was taken", "conflicting_key")
        shown = sorted(movement["position"] for movement in record.get("movements", ()) if "position" in movement)
        require(shown == list(range(1, len(shown) + 1)), "are not 1, 2, … among what the decision shows", "position")

    def plan_of(self, record, parent):
        if "plan" not in record:
            return parent.plan
        require(record["plan"] < len(self.plans), "is a plan that has no line", "plan")
        plan = self.plan(record["plan"])
        require(plan.policy == record["policy_version"], "is a plan of another policy version", "plan")
        require(plan.question["dataset"] == record["dataset"], "is about another dataset", "plan")
        require(record["outcome"] != "granted" or plan.release is not None, "does not say how it is answered", "plan")
        same = parent is None or plan.question == parent.plan.question
        require(same, "asks something else than the request waiting", "plan")
        return plan

    def check_via(self, record, parent):
        """Whether a credential of the ledger vouches for who this is; one that cannot is a fault once there is any.

        What nobody does by themselves, an end by a deadline and what a last approval decides, says what its request
        says.
        """
        via = record["via"]
        vouched = hashable(record["principal"]) in self.principals_of.get(via, ())
        by_itself = parent is not None and via == parent.via and (
            record.get("verb") == "expire" or record["outcome"] in ("reserved", "refused"))
        require(vouched or by_itself or via == "claimed" or not self.credentials,
                "is that of no credential of this principal (via_unfounded)", "via")
        return vouched

    def bind_key(self, record):
        bound = self.keys.setdefault(hashable(record["principal"]), set())
        if "key" in record:
            require("parent" not in record and hashable(record["key"]) not in bound, "is bound already", "key")
            bound.add(hashable(record["key"]))
        if "conflicting_key" in record:
            require(hashable(record["conflicting_key"]) in bound, "is not bound to another question", "conflicting_key")

    def fold(self, record, movements):
        """Adds movements to balances; returns what was charged or kept, by account."""
        outcome, dataset, charges = record["outcome"], hashable(record["dataset"]), {}
        spends = outcome in ("granted", "forfeited")
        settles = "parent" in record and outcome in ("granted", "forfeited", "voided")
        for number, spent_change, reserved_change, limit, spent, reserved in movements:
            account = self.accounts[number]
            account.spent += spent_change
            account.reserved += reserved_change
            if account.limit != limit or account.dataset != dataset:
                raise Fault(f"say a limit that account {number} does not have, or of another dataset", "limit")
            if (account.spent, account.reserved) != (spent, reserved):
                raise Fault(f"say of account {number} what does not add up", "spent")
            if spent + reserved > limit:
                raise Fault(f"pass the limit of account {number}", "movements")
            charge = spent_change if spends else abs(reserved_change)
            kept = -charge if settles else charge if outcome == "reserved" else 0
            if charge < 0 or (spent_change, reserved_change) != (charge if spends else 0, kept):
                raise Fault(f"do to account {number} what {outcome} does not", "movements")
            charges[number] = charge
        return charges

    def first(self, record, plan, charges, _parent, now):
        """A new request."""
        outcome, holding = record["outcome"], record.get("reservation")
        asker, purpose = hashable(record["principal"]), record.get("purpose") and hashable(record["purpose"])
        right = outcome in ("refused", "pending") or (holding is not None) == (outcome == "reserved")
        require(right, "goes with what waits, and with every reservation", "reservation")
        may_ask = plan.dataset.may_ask(asker)
        require(not plan.unread or not may_ask and self.turned_away(record),
                "keeps no question, which goes with a refusal of its asker alone", "plan")
        require(plan.unread or may_ask or outcome != "refused",
                "keeps the question of somebody who may not ask this dataset", "plan")
        if outcome != "refused":
            plan.require_admitted(plan.dataset, asker, purpose)
            if outcome != "granted":
                said = plan.dataset.said.get("approvals" if outcome == "pending" else "reservations")
                require(said, "waits for approvals that the policy does not ask for", "outcome")
                self.check_deadline(record, said, charges, now)
        if outcome in ("granted", "reserved"):
            self.debited(record, plan, charges, plan.dataset, (asker, purpose), now)
            self.asked_enough(plan, plan.dataset, asker, charges, now, 0)
        if outcome == "pending":
            self.require_reason_to_wait(plan, asker, now)

    def counted(self, charges):
        """{(kind, measure): amount} of those charges that a window may sum."""
        found = collections.Counter()
        for number, charge in charges.items():
            scope = self.accounts[number].scope
            if scope in ("", "lifetime") or isinstance(scope, str) and scope.startswith("period:"):
                found["lifetime" if scope == "lifetime" else "", self.accounts[number].measure] += charge
        return found

    def count_charges(self, record, charges, parent, now):
        """Adds what was charged, and what is held, to the window of who asked."""
        outcome = record["outcome"]
        if outcome not in ("granted", "forfeited", "reserved", "voided"):
            return
        reserved = parent is not None and parent.outcome == "reserved"
        asker = hashable(record["principal"]) if parent is None else parent.asker
        window = self.windows[hashable(record["dataset"]), asker]
        if reserved:
            window.held.pop(record["parent"], None)
        if outcome == "reserved":
            window.held[record["id"]] = self.counted(charges)
        elif outcome != "voided":
            window.charge(now, self.counted(charges))

    def asked_enough(self, plan, dataset, asker, charges, now, voters):
        """That as many agreed as the policy wants, as far as charges and question say what is lost; `unasked` is what
        an answer has to be looked at for."""
        approvals = dataset.said.get("approvals", {})
        self.unasked = approvals if voters < approvals.get("required", 0) else {}
        if not self.unasked:
            return
        said = f"has {voters} approvals of {approvals['required']}, "
        require("above" in approvals, said + "which every request needs", "outcome")
        for measure, limit, lost in self.known_losses(plan, dataset):
            require(lost is None or lost <= limit,
                    said + f"and loses more {measure} than may be lost without approval", "outcome")
        own = self.counted(charges)
        for key, limit, before in self.lost_before(dataset, asker, now):
            require(before + own[key] <= limit, said + f"and loses more {key[1]}, with what its asker lost before, "
                    "than may be lost without approval", "outcome")

    def known_losses(self, plan, dataset):
        """(measure, limit, loss) for each of `above`: of what was not asked for in that measure the loss is None."""
        beside = any(measure == "delta" for _, _, measure, _ in dataset.entries)
        for cap in dataset.said["approvals"]["above"]:
            lost = plan.as_asked("", cap["measure"], beside) if plan.delta is None else None
            yield cap["measure"], amount(cap["limit"], cap["measure"]), lost

    def lost_before(self, dataset, asker, now):
        """(key, limit, amount) for each measure of `above` that has a window."""
        approvals = dataset.said["approvals"]
        window = self.windows[hashable(dataset.said["name"]), asker]
        for measure, limit, kind in dataset.counted():
            yield (kind, measure), limit, window.before((kind, measure), now - 1000 * approvals["within_seconds"])

    def require_reason_to_wait(self, plan, asker, now):
        """That a request which waits has to, as far as its question says what it loses."""
        dataset = plan.dataset
        if "above" not in dataset.said["approvals"]:
            return
        losses = {measure: lost for measure, _, lost in self.known_losses(plan, dataset)}
        waits = any(lost is None or lost > limit for _, limit, lost in self.known_losses(plan, dataset)) or any(
            before + losses[key[1]] > limit for key, limit, before in self.lost_before(dataset, asker, now))
        require(waits, "waits, and loses no more than may be lost without approval", "outcome")

    def turned_away(self, record):
        """Whether a decision is the refusal of somebody who may not ask the dataset, and says nothing else."""
        codes = [reason["code"] for reason in record.get("reasons", ()) if isinstance(reason, dict)]
        return record["outcome"] == "refused" and codes == ["principal_not_allowed"] and not record.keys() & {
            "key", "conflicting_key", "purpose", "reservation", "movements"}

    def calendar_day(self, now):
        """The day that budgets renew by: it stands still from a clock set forwards until that is confirmed."""
        at = now if self.unconfirmed is None else min(now, self.unconfirmed)
        return datetime.date.fromordinal(at // 86400000 + 719163)

    def debited(self, record, plan, charges, dataset, who, now):
        """That exactly the accounts are debited that the policy says."""
        require(any(charges.values()), "charge nothing", "movements")
        day = self.calendar_day(now)
        key = (plan.number, who, day)
        debits = self.expected.get(key)
        if debits is None:
            debits, question = {}, plan.question
            touched = dataset.debited(question, *who, day)
            with_delta = {scope for scope, measure, _ in touched if measure == "delta"}
            for scope, measure, limit in touched:
                number = self.by_name.get((hashable(record["dataset"]), scope, measure))
                require(number, f"do not touch the account {scope or 'of the dataset'} of {measure}", "movements")
                require(self.accounts[number].limit == limit,
                        f"are under a limit of account {number} that is not the policy's", "movements")
                debits[number] = plan.as_asked(scope, measure, scope in with_delta)
            remembered(self.expected, key, debits)
        if debits.keys() != charges.keys():
            raise Fault(f"do not charge the accounts of the policy, {sorted(debits)}", "movements")
        for number, asked in debits.items():
            if asked is not None and asked != charges[number]:
                raise Fault(f"charge account {number} another amount than was asked for", "movements")

    def check_deadline(self, record, said, charges, now):
        """That a request waits as long as the policy says, or less if its period ends before."""
        latest, deadline = now + 1000 * said["expires_seconds"], milliseconds(record["deadline"])
        renews = record["outcome"] == "reserved" and any(
            str(self.accounts[number].scope).startswith("period:") for number in charges)
        require(now < deadline <= latest if renews else deadline == latest, "is not when the policy says", "deadline")

    def outlived_period(self, waiting, now):
        """Whether what a request reserved is of a period of its budget that is over."""
        for number in waiting.charges if waiting.outcome == "reserved" else ():
            scope = self.accounts[number].scope
            if isinstance(scope, str) and scope.startswith("period:"):
                day, name = self.calendar_day(now), scope[len("period:"):]
                return all(period_of(kind, day)[0] != name for kind in ("day", "week", "month", "quarter", "year"))
        return False

    def later(self, record, plan, charges, parent, now):
        """What becomes of a request that waits, under the policy that is active now."""
        outcome, principal, verb = record["outcome"], hashable(record["principal"]), record.get("verb")
        dataset = self.active.datasets.get(parent.dataset)
        begun = outcome == "granted" and parent.token == "read_source"  # in time; it has to end in its period alone
        overdue = self.outlived_period(parent, now) or now >= parent.deadline and not begun
        known = dataset or outcome in ("refused", "voided", "forfeited")
        require(known, "is of no dataset of the active policy", "dataset")
        asked = principal == parent.asker or not dataset or dataset.principals is None
        supplied_by = dataset.supplied_by(plan.question) if dataset else None
        posts = asked if supplied_by is None else principal in supplied_by
        require(overdue == (verb == "expire"), "is not before the deadline, or the end of the period" if overdue else
                "is before the deadline, and the end of the period", "time")
        if outcome in ("approved", "rejected"):
            require(principal != parent.asker, "is who asked", "principal")
            require(principal not in [name for name, _ in parent.approvals], "approved before", "principal")
            require(dataset.may_approve(principal), "may not approve", "principal")
        elif outcome == "reserved":
            require(record.get("reservation") == parent.holding, "is not how the request was to be kept", "reservation")
            self.check_deadline(record, dataset.said["reservations"], charges, now)
            plan.require_admitted(dataset, parent.asker, parent.purpose)
            self.asked_enough(plan, dataset, parent.asker, charges, now, self.voters(record, parent, dataset))
            self.debited(record, plan, charges, dataset, (parent.asker, parent.purpose), now)
        elif outcome == "data_accessed":
            require(parent.token is None, "is not the first token of its reservation", "outcome")
            wanted = "read_source" if plan.computed() else "issue_token"
            require(verb == wanted and (plan.computed() or parent.holding == "data_token"),
                    "issues another token than the reservation has", "verb")
            plan.require_admitted(dataset, parent.asker, parent.purpose)
            parent.token = verb
        elif outcome != "refused":
            kept = [{number: charge for number, charge in held.items() if charge} for held in (charges, parent.charges)]
            require(kept[0] == kept[1], "settle what was not reserved so", "movements")
        if outcome in ("granted", "data_accessed"):
            require(posts, "may not commit this" if supplied_by else "is not who asked", "principal")
        if outcome in ("reserved", "refused"):
            require(principal == parent.asker, "is not who asked", "principal")
        if "plan" in record:
            purpose = record.get("purpose") and hashable(record["purpose"])
            require(purpose == parent.purpose, "is not what was asked for", "purpose")
        if outcome == "granted":
            if not begun:
                plan.require_admitted(dataset, parent.asker, parent.purpose)
            require(record.get("reservation") == parent.holding, "is not how the request was kept", "reservation")
            covered = parent.token or not plan.computed() and parent.holding != "data_token"
            require(covered, "has no token before it", "parent")
        if verb in ("cancel", "expire"):
            may = asked or dataset.may_approve(principal) or posts and record.get("why") == "policy_changed"
            require(may if verb == "cancel" else principal == parent.asker, "may not end this", "principal")
            unseen = parent.token is None and (plan.computed() or parent.holding == "data_token")
            require(parent.outcome == "pending" or unseen == (outcome == "voided"),
                    "gives back what may have been seen, or keeps what was not", "outcome")
        if outcome not in ("approved", "data_accessed"):
            del self.open[record["parent"]]

    def voters(self, record, parent, dataset):
        """How many of those who agreed may; who did so without a credential is told."""
        needed = dataset.said.get("approvals", {}).get("required", 0)
        voters = [(name, vouched) for name, vouched in parent.approvals if not needed or dataset.may_approve(name)]
        names = [str(name) for name, vouched in voters if not vouched]
        if names:
            self.claimed.append({"line": self.lines + 1, "decision": record["id"], "approved_by": names})
            self.unchecked["vouching"]["approvals that no credential vouches for"] += len(names)
        return len(voters)

    def released(self, record, plan, charges, parent):
        """That an answer costs what it loses, no more than one release may, and is what was drawn."""
        with_delta = {self.accounts[number].scope for number in charges if self.accounts[number].measure == "delta"}
        proved = plan.proved
        for number, charge in charges.items():
            scope, measure = self.accounts[number].scope, self.accounts[number].measure
            if plan.epsilon is not None and scope in with_delta:
                if measure == "delta":
                    require(charge == plan.delta, f"charge account {number} another delta than was asked", "movements")
                else:
                    proved = plan.check_composed(scope, charge) and proved
            elif not plan.lost_in(scope).fits(measure, charge):
                raise Fault(f"charge account {number} less {measure} than is proved to be lost", "movements")
        self.unchecked["pld"]["answers charged by a distribution of losses (pld): that it is enough"] += not proved
        if parent is None:
            supplied_by = plan.dataset.supplied_by(plan.question)
            may = supplied_by is None or hashable(record["principal"]) in supplied_by
            require(may, "is an answer to a value that who asked may not hand in", "principal")
        counted = {self.accounts[number].measure for number in charges}
        asked = parent.unasked if parent else self.unasked
        for limits, what in ((plan.dataset.said["per_release"], "one release may lose"),
                             (asked.get("above", ()), "may be lost without approval")):
            for limit in limits:
                measure = limit["measure"]
                seen = not ("if_uncounted" in limit and "delta" in counted)
                if seen and not plan.capped(measure, amount(limit["limit"], measure)):
                    raise Fault(f"loses more {measure} than {what}", "plan")
        plan.check_values(record["component_values"], record.get("values", []))
        if record["id"] == self.shown:
            drawn = [[quantity(text) for text in component] for component in record["component_values"]]
            self.values = [str(answer) for answer in plan.answers(drawn)]

# Ed25519 (RFC 8032, section 5.1), as strict as libsodium: no cofactor, S below the order, no point of small order.

FIELD = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, FIELD) % FIELD
IDENTITY = (0, 1, 1, 0)

def point_add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * p[3] * q[3] * CURVE_D, 2 * p[2] * q[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD

def point_multiple(scalar, point):
    result = IDENTITY
    while scalar:
        result = point_add(result, point) if scalar & 1 else result
        point, scalar = point_add(point, point), scalar >> 1
    return result

def point_read(data):
    """The point of large order that 32 bytes encode, or None."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(CURVE_D * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    x = x if (x * x - square) % FIELD == 0 else x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    if y >= FIELD or (x * x - square) % FIELD:
        return None
    x = FIELD - x if x & 1 != sign else x
    point = (x, y, 1, x * y % FIELD)
    return None if point_write(point_multiple(8, point)) == point_write(IDENTITY) else point

def point_write(point):
    inverse = pow(point[2], -1, FIELD)
    x, y = point[0] * inverse % FIELD, point[1] * inverse % FIELD
    return (y | (x & 1) << 255).to_bytes(32, "little")

BASE = point_read((4 * pow(5, -1, FIELD) % FIELD).to_bytes(32, "little"))

def signature_holds(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    public, s = point_read(key), int.from_bytes(signature[32:], "little")
    if public is None or point_read(signature[:32]) is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    minus = (FIELD - public[0], public[1], 1, FIELD - public[3])
    return point_write(point_add(point_multiple(s, BASE), point_multiple(h, minus))) == signature[:32]

# Checkpoints: C2SP signed-note, tlog-checkpoint and tlog-cosignature.

LOG_KEY, WITNESS_KEY = 1, 4  # the first byte of their keys
SIGNATURES_MAX = 100  # of a note
KEY_NAME = r"[^\s+\x00-\x1f\x7f-\x9f]+"
VERIFIER_KEY = re.compile(rf"({KEY_NAME})\+([0-9a-f]{{8}})\+([A-Za-z0-9+/]+=*)")
SIGNATURE = re.compile(rf"— ({KEY_NAME}) ([A-Za-z0-9+/]+=*)")
SIZE = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)

def base64_bytes(text):
    """RFC 4648, section 4, padded; None of what another encoder would not have written."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None

class VerifierKey:
    def __init__(self, text, kind):
        found = VERIFIER_KEY.fullmatch(text)
        data = found and base64_bytes(found[3])
        require(data and len(data) == 33 and data[0] == kind, f"{text} is no verifier key of this kind")
        self.name, self.kind, self.key = found[1], kind, data[1:]
        self.id = hashlib.sha256(self.name.encode() + b"\n" + data).digest()[:4]
        require(self.id.hex() == found[2], f"{text} is no verifier key: its id is {self.id.hex()}")

    def holds(self, text, signature):
        if self.kind == LOG_KEY:
            return signature_holds(self.key, text, signature)
        at = self.time_of(signature)
        return at < 2**63 and signature_holds(self.key, b"cosignature/v1\ntime %d\n" % at + text, signature[8:])

    @staticmethod
    def time_of(signature):
        """The second at which a witness signed."""
        return int.from_bytes(signature[:8], "big")

class Checkpoint:
    """A note: its text, three lines and any more, and signatures [(name, key id, signature)]."""

    def __init__(self, body, signatures, place):
        root = base64_bytes(body[2]) if len(body) >= 3 and all(body) else None
        require(root and len(root) == 32 and SIZE.fullmatch(body[1]) and int(body[1]) <= LARGEST_COUNT,
                f"{place}: is no checkpoint")
        require(len(signatures) <= SIGNATURES_MAX, f"{place}: has more than {SIGNATURES_MAX} signatures")
        self.place, self.text = place, "".join(line + "\n" for line in body).encode()
        self.origin, self.size, self.root = body[0], int(body[1]), root
        self.signatures, self.signed, self.witnesses, self.cosigned_at = [], False, 0, None
        for line in signatures:
            found = SIGNATURE.fullmatch(line)
            data = found and base64_bytes(found[2])
            require(data and len(data) > 4, f"{place}: has a line that is no signature")
            self.signatures.append((found[1], data[:4], data[4:]))

    def signed_by(self, key):
        """Whether a key signed this; a signature under its name and id that does not hold is a fault."""
        found = [signature for name, key_id, signature in self.signatures if (name, key_id) == (key.name, key.id)]
        holds = all(key.holds(self.text, signature) for signature in found)
        require(holds, f"{self.place}: the signature of {key.name} does not hold")
        if key.kind == WITNESS_KEY and found:
            at = min(map(key.time_of, found))
            self.cosigned_at = at if self.cosigned_at is None else min(at, self.cosigned_at)
        return bool(found)

    def check(self, keys, witnesses, needed):
        self.signed = any([self.signed_by(key) for key in keys])
        require(self.signed or not keys, f"{self.place}: is not signed by the key of the log")
        self.witnesses = len({key.key for key in witnesses if self.signed_by(key)})
        require(self.witnesses >= needed, f"{self.place}: {self.witnesses} witnesses signed, {needed} are required")

def read_checkpoints(path):
    """The notes of a file, one empty line between two."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise Fault(f"{path}: is not UTF-8") from error
    blocks = [block.split("\n") for block in text[:-1].split("\n\n")]
    clean = not text.startswith("\ufeff") and not text.endswith("\n\n") and not any(c < " " and c != "\n" for c in text)
    require(text.endswith("\n") and len(blocks) % 2 == 0 and clean,
            f"{path}: is no series of signed notes" + (
                ": its lines end with CR LF, as mail and Windows write them" if "\r" in text else
                ": it begins with a byte order mark" if text.startswith("\ufeff") else
                ": it ends with a blank line, or blank lines" if text.endswith("\n\n") else ""))
    return [Checkpoint(blocks[i], blocks[i + 1], f"{path}, note {i // 2 + 1}") for i in range(0, len(blocks), 2)]

# Exports and replicas.

TRAILER = re.compile(rb"= (0|[1-9][0-9]{0,15}) ([A-Za-z0-9+/]{43}=)")

def is_trailer(raw):
    """Whether a line is a trailer by its form, whatever it says."""
    found = TRAILER.fullmatch(raw[:-1]) if raw.endswith(b"\n") else None
    return found is not None and int(found[1]) <= LARGEST_COUNT and base64_bytes(found[2].decode()) is not None

CHUNK = 1000
UNCHECKED = (
    "that what was handed over as implied follows from the published YAML (`epsilog policy implies` derives it)",
    "that what was refused had to be, and what refusals say",
    "that noise was drawn by the law that is stated, and once, and that answers come from the data",
    "that who asked, approved and applied is who the line says, beyond what `via` says of it",
)

def check_lines(lines, keep):
    """(leaves, records if they are to be kept, fault of the line after them) of lines that follow each other."""
    leaves, records = [], []
    for raw in lines:
        try:
            require(raw.endswith(b"\n"), "is not ended by a line feed")
            trailer = raw.startswith(b"= ")
            record = None if trailer else parse_line(raw[:-1])
        except Fault as fault:
            return leaves, records, fault
        leaves.append(None if trailer else leaf_hash(raw[:-1]))
        records.append(record if keep else None)
    return leaves, records, None

def checked_chunks(file, jobs):
    """Lines in chunks, and what `check_lines` says of them; by other processes if there are `jobs` for that."""
    chunks = iter(lambda: list(itertools.islice(file, CHUNK)), [])
    if jobs == 1:
        for lines in chunks:
            yield lines, check_lines(lines, True)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs - 1) as pool:
        ahead = collections.deque()
        for lines in chunks:
            ahead.append((lines, pool.submit(check_lines, lines, False)))
            if len(ahead) > 2 * jobs:
                lines, checked = ahead.popleft()
                yield lines, checked.result()
        for lines, checked in ahead:
            yield lines, checked.result()

def told(step, *given):
    """Takes a step; that a line says something else than what the documents have there is a fault as well."""
    try:
        step(*given)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration) as error:
        raise Fault(f"says what cannot be: {type(error).__name__} {str(error)[:80]}") from error

class Reader:
    """Takes lines one by one: records into tree and history, trailers and checkpoints against the tree."""

    def __init__(self, checkpoints=(), shown=None, expected=None):
        self.tree, self.history = Tree(), History(shown, expected)
        self.checkpoints = sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
        self.ahead = collections.deque(self.checkpoints)
        self.acknowledged, self.trailers, self.unacknowledged = None, 0, 0

    def take(self, raw, leaf, record):
        if leaf is None:
            self.trailer(raw)
            return
        told(self.history.add, DECODE(raw.decode()) if record is None else record)
        for checkpoint in self.checkpoints if self.tree.size == 0 else ():
            of_it = checkpoint.origin == "epsilog/" + self.history.ledger
            require(of_it, f"is of another ledger than {checkpoint.place}", "id")
        self.tree.append(leaf)
        while self.ahead and self.ahead[0].size <= self.tree.size:
            checkpoint = self.ahead.popleft()
            require(checkpoint.root == (self.tree.root() if checkpoint.size else EMPTY_ROOT),
                    f"ends {self.tree.size} lines that are not those of {checkpoint.place}")
            self.compare_clocks(checkpoint)

    def compare_clocks(self, checkpoint):
        """Tells that the last line of a checkpoint is later than a witness who cosigned it could have seen."""
        if checkpoint.cosigned_at is None or not checkpoint.size:
            return
        ahead = self.history.time - 1000 * checkpoint.cosigned_at
        if ahead > 1000 * self.history.held.max_skew:
            span = datetime.timedelta(seconds=ahead // 1000)
            self.history.unchecked["clock"][
                f"times up to line {checkpoint.size}: the clock was ahead of the witness by {span}"] += 1

    def trailer(self, raw):
        require(is_trailer(raw), "is no trailer")
        found = TRAILER.fullmatch(raw[:-1])
        require(int(found[1]) == self.tree.size, f"says {int(found[1])} lines, and {self.tree.size} stand before it")
        require(base64_bytes(found[2].decode()) == self.tree.root(), "says another root than the lines before it have")
        told(self.history.commit_ends)
        self.trailers, self.acknowledged = self.trailers + 1, self.tree.size

    def finish(self, left=0):
        """After all lines, or all but those `left` that no trailer acknowledges."""
        size = self.tree.size if self.acknowledged is None else self.acknowledged
        last = self.checkpoints[-1] if self.checkpoints else None
        require(last is None or last.size <= size, f"{size} lines are fewer than the {last and last.size} of "
                f"{last and last.place}")
        self.unacknowledged = self.tree.size - size + left
        if not self.unacknowledged:
            told(self.history.finish)

    def read(self, file, jobs=1, progress=False):
        """Reads all lines; returns the fault and the number of its line, if there is one."""
        number, chunks = 0, checked_chunks(file, jobs)
        try:
            for lines, (leaves, records, refused) in chunks:
                for raw, leaf, record in zip(lines, leaves, records):
                    number += 1
                    self.take(raw, leaf, record)
                if refused:
                    number += 1
                    raise refused
                if progress:
                    print(f"\r{number} lines", end="", file=sys.stderr, flush=True)
        except Fault as fault:
            rest = itertools.chain(lines[(number - 1) % CHUNK:], (raw for more, _ in chunks for raw in more))
            left = 0 if self.acknowledged is None else lines_of_torn_tail(rest)
            if not left:
                return fault, number
        else:
            left = 0
        try:
            self.finish(left)
            require(left or self.acknowledged in (None, self.tree.size),
                    "what follows the last trailer was written whole, and ends with none")
        except Fault as fault:
            return fault, None
        return None, None

def lines_of_torn_tail(rest):
    """How many lines are left where a replica was being written when something broke; 0 if what is left is damaged.

    What is torn holds a NUL or lacks its last line feed, and no trailer follows in it.
    """
    left, holds_nul, raw = 0, False, b""
    for raw in rest:
        if is_trailer(raw):
            return 0
        left, holds_nul = left + 1, holds_nul or b"\0" in raw
    return left if holds_nul or not raw.endswith(b"\n") else 0

def report_of(reader, fault, line, feature, accepted):
    """What was found, as an object."""
    history, size = reader.history, reader.tree.size
    unchecked = [{"kind": kind, "what": what, "count": n, "accepted": kind in accepted}
                 for kind in KINDS_NOT_CHECKED for what, n in sorted(history.unchecked[kind].items()) if n]
    verdict = 6 if fault else 5 if feature else 0 if all(entry["accepted"] for entry in unchecked) else 4
    return {"ok": verdict == 0, "exit_code": verdict, "ledger_id": history.ledger, "lines": size,
            "root": reader.tree.root().hex(), "kinds": dict(history.kinds), "outcomes": dict(history.outcomes),
            "policy_version": history.active and history.active.version, "policies": history.versions,
            "checkpoints": [{"origin": c.origin, "size": c.size, "signed": c.signed, "witnesses": c.witnesses}
                            for c in reader.checkpoints],
            "replica": None if reader.acknowledged is None else {
                "trailers": reader.trailers, "acknowledged": reader.acknowledged,
                "unacknowledged": reader.unacknowledged},
            "approved_by_claim": history.claimed, "events": history.events, "sealed": history.sealed is not None,
            "unchecked": unchecked, **({"values": history.values} if history.shown else {}),
            "needs_feature": feature, "never_checked": UNCHECKED, "fault": fault and {
                "line": line, "index": line and size, "member": fault.member, "why": fault.why}}

def rows_about_policies(policies):
    for policy in policies:
        why = f": {policy['why']}" if "why" in policy else ""
        yield "policy", f"version {policy['version']} by {policy['by']}, {policy['time']}{why}"
        yield "", f"SHA-256 {policy['sha256']}; what it implies: {policy['implies']}"
        for said in policy["datasets"]:
            yield "", f"{said['name']}: limits {', '.join(said['limits'])}"
            yield "", f"{said['name']}: approvers {said['approvers']}; unit {said['unit']}"
        for what in policy["loosened"]:
            yield "loosened", what

def print_report(said):
    fault = said["fault"]
    if fault:
        at = "" if fault["line"] is None else f"line {fault['line']} (index {fault['index']}): "
        print("WRONG: " + printable(at + (f"`{fault['member']}` " if fault["member"] else "") + fault["why"]))
        return
    counted = lambda counts: ", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "none"
    rows = [("ledger", said["ledger_id"]), ("lines", f"{said['lines']}, root {said['root']}"),
            ("records", counted(said["kinds"])), ("decisions", counted(said["outcomes"]))]
    rows += rows_about_policies(said["policies"])
    rows += [("checkpoint", f"size {found['size']}, {found['witnesses']} witnesses, "
              + ("signed" if found["signed"] else "unsigned: no --vkey was given")) for found in said["checkpoints"]]
    if not said["checkpoints"]:
        rows.append(("checkpoint", "none: that this is the history which others were shown is not known"))
    rows += [("replica", counted(said["replica"]))] if said["replica"] else []
    rows += [("by claim", f"{a['decision']}: " + ", ".join(a["approved_by"])) for a in said["approved_by_claim"]]
    rows += [("event", f"line {event['line']}, {event['time']}: {event['what']}"
              + (f", by {event['by']}" if "by" in event else "") + (f": {event['why']}" if "why" in event else ""))
             for event in said["events"]]
    rows += [("sealed", "the ledger goes on elsewhere, or nowhere")] if said["sealed"] else []
    rows += [("values", ", ".join(said["values"] or ["none"]))] if "values" in said else []
    rows += [("not checked", f"{entry['what']} ({entry['count']})" + (", accepted" if entry["accepted"] else ""))
             for entry in said["unchecked"]]
    rows += [("never", what) for what in said["never_checked"]]
    print("".join(f"{name:12} {printable(str(text))}\n" for name, text in rows), end="")
    kinds = dict.fromkeys(entry["kind"] for entry in said["unchecked"] if not entry["accepted"])
    if said["needs_feature"]:
        print(f"NEEDS FEATURE {printable(said['needs_feature'])}: use a newer verifier. Nothing from line "
              f"{said['lines'] + 1} on was looked at.")
    elif kinds:
        print(f"Nothing is wrong, but not checked: {', '.join(kinds)}.")
    else:
        print("Nothing is wrong.")

def printable(text):
    """A text on one line: characters that a terminal would act on are shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

def read_implied(path):
    """(hash of the policy's text, canonical text of what it implies) of a file of `epsilog policy implies`."""
    with open(path, "rb") as file:
        raw = file.read()
    try:
        said = parse_line(raw[:-1] if raw.endswith(b"\n") else raw)
        require(said.keys() == {"implies", "sha256"} and IS["hex64"](said["sha256"]) and is_value(said),
                'is no line {"implies": …, "sha256": …}')
    except Fault as fault:
        raise Fault(f"{path}: {fault.why}") from fault
    return said["sha256"], ENCODE(said["implies"])

def arguments(given):
    parser = argparse.ArgumentParser(prog="epsilog_verify.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("lines", help="an export or a replica; - is standard input")
    add("--checkpoint", action="append", default=[], metavar="FILE", help="signed notes that the lines must go on from")
    add("--vkey", action="append", default=[], help="the verifier key of the log; of several, one signed")
    add("--witness", action="append", default=[], metavar="VKEY", help="the key of a witness")
    add("--require", type=int, metavar="N", help="how many of the witnesses signed each checkpoint; without it all")
    add("--jobs", type=int, default=1, metavar="N", help="how many processes share the work")
    add("--implies", action="append", default=[], metavar="FILE",
        help="what a published policy implies, as `epsilog policy implies` prints it; one for each version")
    add("--policy-sha256", action="append", default=[], metavar="H",
        help="the hash of a published policy; every version is one of them")
    add("--max-skew", type=int, default=300, metavar="SECONDS", help="how far clocks of witnesses may be apart; 300")
    add("--accept-unchecked", action="append", default=[], choices=KINDS_NOT_CHECKED, metavar="KIND",
        help="exit with 0 where this was not checked: " + ", ".join(KINDS_NOT_CHECKED))
    add("--values", metavar="ID", help="also what that decision released, as it follows from what was drawn")
    add("--json", action="store_true", help="print one JSON object")
    add("--quiet", action="store_true", help="print only what is wrong")
    options = parser.parse_args(given)
    try:
        options.keys = [VerifierKey(text, LOG_KEY) for text in options.vkey]
        options.witnesses = [VerifierKey(text, WITNESS_KEY) for text in dict.fromkeys(options.witness)]
    except Fault as fault:
        parser.error(fault.why)
    different = len({key.key for key in options.witnesses})
    options.require = different if options.require is None else options.require
    if not 0 <= options.require <= different or options.jobs < 1:
        parser.error("--require needs as many different --witness keys, and --jobs is 1 or more")
    if not all(map(IS["hex64"], options.policy_sha256)) or options.max_skew < 0:
        parser.error("--policy-sha256 is 64 digits, and --max-skew is 0 or more seconds")
    if (options.vkey or options.witness) and not options.checkpoint:
        parser.error("--vkey and --witness go with --checkpoint")
    return options

def main(given=None):
    options = arguments(given)
    reader, line, fault, feature = Reader(), None, None, None
    try:
        expected = Expected(dict(map(read_implied, options.implies)), options.policy_sha256, options.max_skew)
        checkpoints = [note for path in options.checkpoint for note in read_checkpoints(path)]
        for checkpoint in checkpoints:
            checkpoint.check(options.keys, options.witnesses, options.require)
        reader = Reader(checkpoints, options.values, expected)
        progress = sys.stderr.isatty() and not options.json and not options.quiet
        with open(0 if options.lines == "-" else options.lines, "rb", closefd=options.lines != "-") as file:
            fault, line = reader.read(file, options.jobs, progress)
        if progress:
            print(end="\r", file=sys.stderr)
    except Fault as wrong:
        fault = wrong
    except NeedsFeature as needed:
        feature = str(needed)
    except OSError as error:
        if options.json:
            print(json.dumps({"error": {"code": "source_io", "message": str(error)}}))
        print(f"epsilog_verify.py: {error}", file=sys.stderr)
        return 3
    said = report_of(reader, fault, line, feature, options.accept_unchecked)
    if options.json:
        print(json.dumps(said, ensure_ascii=False, sort_keys=True))
    elif not options.quiet or said["exit_code"]:
        print_report(said)
    return said["exit_code"]

if __name__ == "__main__":
    sys.exit(main())
