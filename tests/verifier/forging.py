"""What an attacker has who can rewrite every line of a history and the tree: records changed so that they add up."""

import datetime
import pathlib
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
