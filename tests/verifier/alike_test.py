"""Lines in another order and numbers at the end of their range × both programs: the verdicts are the same.

The history is that of members_test.py, with every kind of line. Lines and tree are made anew after each change, as
somebody could who may write every file.

`alike_test.py --list` names the tests, `alike_test.py NAME` runs one: by default one case of each kind of change, all
with EPSILOG_LONG set.
"""

import copy
import hashlib
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "verifier")]

import epsilog_verify as verifier  # noqa: E402
from forging import rewritten  # noqa: E402
from members_test import WHOLE, at, by_command, by_verifier, histories_of_members, places, variant_of  # noqa: E402
from sentences import collection, run  # noqa: E402

TESTS, sentence = collection()
# What the command finds alone, because it plans and decides again: a row of members.tsv says the same of each.
DECIDES_AGAIN = {("plan", "release.components.[].coordinates"), ("plan", "release.components.[].precision")}


def chosen(cases, name):
    """All, or of each kind of change one: those that differ in their place alone are of one kind."""
    if WHOLE:
        return cases
    seed = hashlib.sha256(pathlib.Path(__file__).read_bytes() + name.encode()).hexdigest()
    mixed = random.Random(seed).sample(cases, len(cases))
    return list({what[1:]: (what, lines) for what, lines in mixed}.values())


def compare(cases, name, implied, may_differ=frozenset()):
    """Cases: [(what, lines)], lines made when they are needed. Returns how many both find, and how many neither."""
    found, wrong = [0, 0], []
    for what, lines in chosen(cases, name):
        made = lines()
        verdicts = by_verifier(made, implied), by_command(made)
        if verdicts[0] == verdicts[1]:
            found[verdicts[0] != "found"] += 1
        elif what not in may_differ or verdicts != ("no", "found"):
            wrong.append(f"{what}: epsilog_verify.py says {verdicts[0]}, audit verify {verdicts[1]}")
    assert not wrong, "\n".join(wrong)
    return found


@sentence("two lines that change places are judged alike by both programs")
def neighbours():
    with histories_of_members() as (both, implied):
        records = both["today"]

        def swapped(place):
            changed = [*records[:place], records[place + 1], records[place], *records[place + 2:]]
            return lambda: rewritten(changed)

        cases = [((f"lines {place} and {place + 1}", variant_of(records[place]), variant_of(records[place + 1])),
                  swapped(place)) for place in range(len(records) - 1)]
        assert compare(cases, "neighbours", implied)[0] >= 10


@sentence("a line that is left out, or stands there twice, is judged alike by both programs")
def left_out_or_twice():
    with histories_of_members() as (both, implied):
        records = both["today"]

        def times(place, count):
            changed = [*records[:place], *[records[place]] * count, *records[place + 1:]]
            return lambda: rewritten(changed)

        cases = [((f"line {place}", variant_of(records[place]), f"{count} times"), times(place, count))
                 for place in range(len(records) - 1) for count in (0, 2)]
        assert compare(cases, "left out", implied)[0] >= 10


@sentence("a number that is the largest there can be is judged alike by both programs, and takes no memory")
def largest_numbers():
    with histories_of_members() as (both, implied):
        records = both["today"]

        def changed(index, steps):
            def make():
                forged = [*records[:index], copy.deepcopy(records[index]), *records[index + 1:]]
                at(forged[index], steps)[steps[-1]] = verifier.LARGEST_COUNT
                if steps != ("index",):
                    return rewritten(forged)
                return [verifier.ENCODE(record) for record in forged]
            return make

        cases = []
        for (variant, path), (index, steps) in places(records).items():
            value = at(records[index], steps)[steps[-1]]
            if isinstance(value, int) and not isinstance(value, bool) and "implies" not in steps:
                cases.append(((variant, path), changed(index, steps)))
        assert {("account", "account"), ("ledger", "index"), ("decision granted", "plan")} <= {case[0] for case in cases}
        compare(cases, "largest", implied, DECIDES_AGAIN)


if __name__ == "__main__":
    run(TESTS)
