"""What each hostile neighbour does, until it is told to end. Each returns Swarm.heard()."""

import time

from client import Connection, Swarm, request

MEBIBYTE = 1 << 20
HUNDREDTHS = ",".join(f"0.{i:02d}" for i in range(1, 100))


def refused_batch(number):
    """A batch that is refused and costs its asker nothing: of 1,000 rows, each of all wards."""
    rows = [{"statistic": "count", "by": "ward", "epsilon": "0.5"} for _ in range(1000)]
    return {"dataset": "clinic", "rows": rows, "key": f"refused-{number}"}


def plan_of_quantiles(dataset, rows):
    question = {"statistic": "quantiles:age:" + HUNDREDTHS, "epsilon": "0.1"}
    return {"dataset": dataset, **question} if rows == 0 else {"dataset": dataset, "rows": [question] * rows}


def _kept_busy(swarm, wanted, make):
    """Keeps so many connections open, each of which asks again once it is answered."""
    while swarm.going_on():
        while swarm.count() < wanted and swarm.open(make()):
            pass
        swarm.turn()
    swarm.close_all()
    return swarm.heard()


def lists_of_batches(place, until):
    """An analyst whose refused batches are on record, and who lists them as often as she may."""
    lists = [request("GET", target) for target in ("/v1/decisions?limit=1000", "/v1/events?limit=1000", "/v1/pending")]
    turn = iter(range(1 << 30))
    return _kept_busy(Swarm(place.ask, until), 16, lambda: lambda: lists[next(turn) % 3])


def plans_of_quantiles(place, until, dataset, rows):
    """An analyst who plans what takes long to plan, as often and as many at once as she may."""
    plan = plan_of_quantiles(dataset, rows)
    asked = [request("POST", "/v1/plans", plan)] * 3
    if rows == 0:
        asked[2] = request("POST", "/v1/forecasts", plan)
    turn = iter(range(1 << 30))
    return _kept_busy(Swarm(place.ask, until), 16, lambda: lambda: asked[next(turn) % 3])


def plans_abandoned(place, until, dataset):
    """The same of a client that hangs up at once, and goes on to the next."""
    asked = request("POST", "/v1/plans", plan_of_quantiles(dataset, 50))
    swarm = Swarm(place.ask, until)
    while swarm.going_on():
        swarm.open(lambda: asked)
        swarm.turn(0.01)
        if swarm.count() >= 16:
            swarm.close_all()
        time.sleep(0.02)
    swarm.close_all()
    return swarm.heard()


def polls_abandoned(place, until):
    """Long polls of clients that go away, and as many as may be that stay."""
    swarm = Swarm(place.ask, until)
    poll = request("GET", "/v1/events?after=1000000&wait=60")
    while swarm.going_on():
        for _ in range(16):
            swarm.open(lambda: poll)
        swarm.turn(0.02)
        if swarm.count() > 48:
            swarm.close_all()
    swarm.close_all()
    return swarm.heard()


def bodies_never_sent(place, until):
    """Four principals of one user who each declare as large bodies as may be, and send none of them."""
    heads = [request("POST", "/v1/releases", headers=[f"Authorization: Bearer {token}"], declared=MEBIBYTE)
             for token in place.tokens]
    turn = iter(range(1 << 30))
    return _kept_busy(Swarm(place.ask, until), 64, lambda: once(heads[next(turn) % len(heads)]))


def commits_never_sent(place, until, size):
    """A supplier who declares the values of what is reserved, and sends none of them."""
    heads = [request("POST", f"/v1/requests/{one}/commit", declared=size) for one in place.reserved]
    turn = iter(range(1 << 30))
    return _kept_busy(Swarm(place.ask, until), 16, lambda: once(heads[next(turn) % len(heads)]))


def unknown_requests(place, until):
    """A user whom nothing maps, with requests as fast as they are answered, some with a token that is none."""
    plain = request("GET", "/v1/me")
    forged = request("GET", "/v1/me", headers=["Authorization: Bearer eps_" + "A" * 43])
    return _kept_busy(Swarm(place.ask, until), 64, lambda: burst(plain * 8 + forged * 8, 16))


def connections(place, until):
    """A user whom nothing maps, who connects and hangs up, connects and says nothing."""
    swarm = Swarm(place.ask, until)
    while swarm.going_on():
        for _ in range(256):
            swarm.open(lambda: b"")
        swarm.turn(0)
        if swarm.count() > 2048:
            swarm.close_all()
    swarm.close_all()
    return swarm.heard()


def once(text):
    """Sends it when the connection is made, and nothing afterwards."""
    left = [text]
    return lambda: left.pop() if left else None


def burst(text, answers):
    """Sends so many requests at once, and again when all of them are answered."""
    heard = [0]

    def following():
        heard[0] += 1
        return text if heard[0] % answers == 1 else None

    return following


# Who does it, in words of the table, as whom, and how.
ATTACKS = {
    "lists": ("analyst: lists of refused batches", "eve", lists_of_batches),
    "plans": ("analyst: plans of many quantiles", "mal", lambda p, u: plans_of_quantiles(p, u, "clinic", 0)),
    "batches": ("analyst: plans of 50 such rows", "mal", lambda p, u: plans_of_quantiles(p, u, "clinic", 50)),
    "forbidden": ("analyst: plans that are not allowed", "mal", lambda p, u: plans_of_quantiles(p, u, "closed", 50)),
    "abandoned": ("analyst: plans abandoned", "mal", lambda p, u: plans_abandoned(p, u, "clinic")),
    "polls": ("analyst: long polls abandoned", "eve", polls_abandoned),
    "bodies": ("analyst: bodies never sent", "eve", bodies_never_sent),
    "commits": ("supplier: large values never sent", "guard", lambda p, u: commits_never_sent(p, u, 20 * MEBIBYTE)),
    "places": ("supplier: small values never sent", "guard", lambda p, u: commits_never_sent(p, u, 10)),
    "unknown": ("unmapped uid: requests", "nobody", unknown_requests),
    "connections": ("unmapped uid: connections", "nobody", connections),
}


def prepare_refused_batches(place, count):
    """Puts refused batches on record, as the hostile analyst."""
    with Connection(place.ask, 120) as eve:
        for number in range(count):
            status, body = eve.ask("POST", "/v1/releases", refused_batch(number))
            if status != 403:
                raise RuntimeError(f"a batch that is to be refused was answered {status}: {body[:300]!r}")
