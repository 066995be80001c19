"""What an attacker has who can rewrite every line of a history and the tree: records changed so that they add up."""

import copy
import datetime
import json
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "verifier")]

import epsilog_verify as verifier  # noqa: E402


def rewritten(changed):
    """Lines of records in canonical form, numbered anew: what is wrong in them, only the rules can tell."""
    lines = []
    for index, record in enumerate(changed):
        lines.append(verifier.ENCODE({**record, "index": index}))
    return lines


def find(changed, kind="decision", **members):
    for place, record in enumerate(changed):
        if record["kind"] == kind and all(record.get(name) == value for name, value in members.items()):
            return place
    raise AssertionError(f"no {kind} with {members}")


def balances_again(changed):
    """Makes movements add up again after a charge was changed."""
    sums = {}
    for record in changed:
        for movement in record.get("movements", ()):
            account = sums.setdefault(movement["account"], {"spent": 0, "reserved": 0})
            for name, balance in account.items():
                account[name] = balance + verifier.quantity(movement.get(name + "_change", "0"))
                movement[name] = text_of(account[name])
    return changed


def text_of(number):
    """The quantity of a fraction whose digits end."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole = f"{int(abs(number) * 10**digits):0{digits + 1}}"
    return ("-" if number < 0 else "") + (whole[:-digits] + "." + whole[-digits:] if digits else whole)


def renumber(changed):
    seq = 0
    for record in changed:
        if record["kind"] == "decision":
            seq += 1
            record["seq"] = seq
        elif "after_decision" in record:
            record["after_decision"] = seq


DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def moved_to(record, when):
    """A record of another time, of which its id is too."""
    record["time"] = when
    if record["kind"] == "decision":
        at = verifier.milliseconds(when)
        record["id"] = "".join(DIGITS[at >> 5 * place & 31] for place in range(9, -1, -1)) + record["id"][10:]


def put_off(changed, place, ms):
    """Moves all records from a place on to a later time."""
    def later(when):
        moment = datetime.datetime.fromisoformat(when[:-1]) + datetime.timedelta(milliseconds=ms)
        return moment.isoformat(timespec="milliseconds") + "Z"

    ids = {}
    for record in changed[place:]:
        before = record.get("id", "")
        moved_to(record, later(record["time"]))
        ids[before] = record.get("id", "")
        if "deadline" in record:
            record["deadline"] = later(record["deadline"])
        if "parent" in record:
            record["parent"] = ids.get(record["parent"], record["parent"])
    return place


def next_id(text):
    digits = DIGITS
    number = 1 + sum(digits.index(digit) << 5 * place for place, digit in enumerate(reversed(text)))
    return "".join(digits[number >> 5 * place & 31] for place in reversed(range(len(text))))


# The words of forgeries.tsv.

STEP = re.compile(r"(-?)([\w*]+(?:\.-?[\w*]+)*)(\+=|<>|=)?(.*)", re.DOTALL)


def split(text):
    """[(whether it is left out, steps of the path, what is done, with what)]."""
    found = (STEP.fullmatch(part).groups() for part in text.split("; ")) if text else ()
    return [(bool(out), steps_of(path), act, said) for out, path, act, said in found]


def steps_of(path):
    return [int(step) if step.lstrip("-").isdigit() else step for step in path.split(".")]


def holders(value, steps):
    """What holds the last step of a path; `*` is every element."""
    if len(steps) == 1:
        return [value]
    below = value if steps[0] == "*" else [value[steps[0]]] if has(value, steps[0]) else []
    return [holder for one in below for holder in holders(one, steps[1:])]


def has(value, step):
    return step in value if isinstance(value, dict) else isinstance(step, int) and step < len(value)


def chosen(changed, words):
    """The places of the records that are meant: `[after|every|last] KIND [CONDITION[; CONDITION]…]`."""
    first, _, rest = words.partition(" ")
    which, kind = (first, rest.partition(" ")[0]) if first in ("after", "every", "last") else ("first", first)
    conditions = split(rest.partition(" ")[2] if which != "first" else rest)
    plans = {record["number"]: record for record in changed if record["kind"] == "plan"}

    def holds(record, out, steps, act, said):
        found = [holder[steps[-1]] for holder in holders(record, steps) if has(holder, steps[-1])]
        return found == [json.loads(said)] if act else bool(found) != out

    places = []
    for place, record in enumerate(changed):
        decided = {**record, "plan": plans.get(record["plan"], {})} if "plan" in record else record
        if kind in (record["kind"], record.get("outcome")) and all(holds(decided, *one) for one in conditions):
            places.append(place)
    assert places, f"no {words}"
    return {"first": places[:1], "last": places[-1:], "every": places, "after": [places[0] + 1]}[which]


def edit(record, out, steps, act, said):
    last = steps[-1]
    for holder in holders(record, steps):
        if out:
            holder.pop(last, None) if isinstance(holder, dict) else holder.pop(last)
        elif act == "+=":
            holder[last] = holder[last] + (json.loads(said) if isinstance(holder[last], str) else [json.loads(said)])
        elif act == "<>":
            other = steps_of(said)[-1]
            holder[last], holder[other] = holder[other], holder[last]
        else:
            holder[last] = json.loads(said)


def forge(changed, words, change):
    """Does to records what a row says, and returns the place of the first of them."""
    places, honest = chosen(changed, words), copy.deepcopy(changed)
    for place in places:
        for step in split(change):
            if step[1] == ["removed"]:
                changed.pop(place)
                renumber(changed)
            elif step[1] == ["balanced"]:
                balances_again(changed)
            else:
                edit(changed[place], *step)
    assert changed != honest, f"{words}: {change} changes nothing"
    return places[0]
