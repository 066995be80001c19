"""Every scenario of command lines, by family, and the typing errors made of them."""

import random

from ledger_scenarios import asking, batches, begin, evidence, requests, upkeep
from text_scenarios import calculating, drafting, policies


def mistaken(draw, name):
    """Good command lines that one typing error makes bad."""
    donor = draw.choice([asking, requests, upkeep, calculating])(random.Random(draw.random()), name)
    scenario = begin(name, "minimal")
    for words, _ in draw.sample(donor.steps[1:], min(34, len(donor.steps) - 1)):
        words = [word for word in words if not word.startswith("{id")]
        at = draw.randrange(len(words))
        kind = draw.randrange(5)
        if kind == 0:
            words = words[:at] + words[at + 1 :]
        elif kind == 1:
            words = words[:at] + [words[at]] + words[at:]
        elif kind == 2 and len(words[at]) > 2:
            cut = draw.randrange(1, len(words[at]))
            words = words[:at] + [words[at][:cut] + words[at][cut + 1 :]] + words[at + 1 :]
        elif kind == 3:
            words = words[:at] + [draw.choice(["--frob", "", "0.1.2", "1e999", "clinic", "--help", "'"])] + words[at:]
        else:
            words = words + [draw.choice(["--epsilon", "--json=1", "more", "--where", "--key"])]
        if words and "serve" not in words:
            scenario.run(*words, *draw.choice([[], ["--json"]]), advance_ms=0)
    return scenario


FAMILIES = {
    "asking": (asking, 38),
    "requests": (requests, 14),
    "batches": (batches, 8),
    "evidence": (evidence, 6),
    "upkeep": (upkeep, 12),
    "calculating": (calculating, 6),
    "mistaken": (mistaken, 10),
    "policies": (policies, 6),
    "drafting": (drafting, 3),
}


def scenarios():
    """Every scenario, in order of their names."""
    return [
        make(random.Random(f"{family} {number}"), f"{family}-{number:02d}")
        for family, (make, count) in sorted(FAMILIES.items())
        for number in range(count)
    ]


if __name__ == "__main__":
    made = scenarios()
    print(len(made), "scenarios,", sum(len(one.steps) for one in made), "command lines")
