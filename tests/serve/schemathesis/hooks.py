"""What schemathesis cannot know of a ledger: its names, which requests can still be acted upon, and what was seen.

Strings of the document's formats are drawn as the grammar of each has them, so that a positive case is one; ids and
ETags of half of the positive cases are those of requests that are there. Every answer is counted.
"""

import json
import os
import random
import urllib.request

import schemathesis
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

STATE = json.loads(os.environ["EPSILOG_SCHEMATHESIS_STATE"])
POOLS = {name: list(ids) for name, ids in STATE["pools"].items()}
RANDOM = random.Random(STATE["seed"])
KEYS = iter(range(1 << 30))

COLUMNS = ["ward", "sex"]
CONDITIONS = ["age > 65", "age between 18 and 65", "ward = 'A'", "ward in ('A', 'B')", "age is missing", "cost >= 10.50"]
AMOUNTS = ["0.1", "0.25", "1/3", "1e-3", "2", "0.000001"]
FORMATS = {
    "dataset": st.sampled_from(["clinic"] * 9 + ["nosuch", "clinics"]),
    "statistic": st.sampled_from(["count", "units", "sum:cost", "mean:cost", "count:age", "sum:age", "mean:age", "value:score"]),
    "predicate": st.builds(lambda a, b, word: f"not ({a} {word} {b})", st.sampled_from(CONDITIONS),
                           st.sampled_from(CONDITIONS), st.sampled_from(["and", "or"])) | st.sampled_from(CONDITIONS),
    "columns": st.sampled_from(["ward", "sex", "ward,sex"]),
    "column": st.sampled_from(COLUMNS),
    "amount": st.sampled_from(AMOUNTS),
    "count": st.sampled_from(["1", "300", "5000"]),
    "probability": st.sampled_from(["0.05", "0.5", "1/20", "1e-6"]),
    "policy": st.sampled_from([STATE["policy"], *(f"{STATE['policy']}# {number}\n" for number in range(50))]),
    "id": st.from_regex(r"\A[0-9A-Z]{26}\Z") | st.sampled_from(STATE["pools"]["read"] or ["0"]),
}
for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE


def read(path):
    request = urllib.request.Request(STATE["url"] + path, headers=STATE["headers"])
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers.get("ETag"), json.load(answer)


def etag_of(path):
    try:
        return read(path)[0]
    except OSError:  # this role does not see it
        return None


def name_key(case):
    """A key stands in the body or in the header. Each case is a question of its own."""
    if not isinstance(case.body, dict) or "requests" in case.body:
        (case.headers or {}).pop("Idempotency-Key", None)
        for one in case.body.get("requests", []) if isinstance(case.body, dict) else []:
            one["key"] = f"{STATE['role']}-{STATE['seed']}-{next(KEYS)}"
        return
    key = f"{STATE['role']}-{STATE['seed']}-{next(KEYS)}"
    header = case.headers is not None and "Idempotency-Key" in case.headers
    if header:
        case.headers["Idempotency-Key"] = key
    if not header or case.body.get("key") is not None:
        case.body["key"] = key


def ask_what_the_policy_has(question):
    """What the document cannot say: mechanisms of this policy lose epsilon, a value is of no group of rows."""
    if question.get("rho") is not None:
        question["epsilon"], question["rho"] = question["rho"], None
    if "statistic" in question:
        question.pop("delta", None)
    if str(question.get("statistic")).startswith("value:"):
        for name in ("by", "where", "totals", "consistent", "suppress_below", "assume_count"):
            question.pop(name, None)
    if isinstance(question.get("epsilon"), (int, float)):  # a mean splits it, on a grid of 10^-12
        question["epsilon"] = max(question["epsilon"], 1e-9)
    if question.get("statistic") == "units":  # a unit counts in several cells, so units do not add up
        question.pop("consistent", None)
    for name in ("totals", "suppress_below"):  # of at most 40 characters in full
        if isinstance(question.get(name), (int, float)):
            question[name] = max(1e-6, min(round(question[name], 6), 1e6 if name == "suppress_below" else 0.999999))
    if isinstance(question.get("assume_count"), (int, float)):  # at most rows.max
        question["assume_count"] = min(question["assume_count"], 100_000)


def name_id(case, operation):
    """Most ids are those of a request that the operation can act upon, each of which is taken once."""
    pool = POOLS.get(operation)
    if operation == "commit" and RANDOM.random() < 0.5:
        pool = POOLS["value"]
    if operation == "issueToken":  # whatever else is on record has none
        case.path_parameters["id"] = pool.pop() if pool else "0" * 26
        return
    if not pool or RANDOM.random() < 0.2:
        pool = POOLS["read"]
    case.path_parameters["id"] = pool.pop() if pool is not POOLS["read"] else RANDOM.choice(pool)


@schemathesis.hook
def before_call(context, case, kwargs):
    if not is_positive(case):
        return
    operation = case.operation.definition.raw.get("operationId")
    linked = case.meta.phase.name == "stateful"  # to an id that an answer had
    if "id" in (case.path_parameters or {}) and (operation == "issueToken" or not linked and RANDOM.random() < 0.7):
        name_id(case, operation)
    if operation in ("plan", "release", "reserve"):
        name_key(case)
    if isinstance(case.body, dict):
        for question in [case.body, *case.body.get("rows", []), *case.body.get("requests", [])]:
            ask_what_the_policy_has(question)
    if operation == "commit":
        of_value = case.path_parameters["id"] in STATE["pools"]["value"]
        case.body = case.body if of_value and isinstance(case.body, dict) else {"value": 1} if of_value else {}
    if operation == "approve":
        case.headers["If-Match"] = etag_of(f"/v1/requests/{case.path_parameters['id']}") or '"none"'
    if operation == "applyPolicy":
        case.headers["If-Match"] = etag_of("/v1/policy")
    if case.query and "wait" in case.query:
        case.query["wait"] = 0 if RANDOM.random() < 0.9 else 1


@schemathesis.hook
def after_call(context, case, response):
    if case.operation.definition.raw.get("operationId") == "verify" and response.status_code == 201:
        POOLS["getVerification"] = POOLS["cancelVerification"] = [json.loads(response.content)["id"]] * 20
    with open(STATE["counts"], "a") as counts:
        positive = "positive" if is_positive(case) else "negative"
        counts.write(f"{STATE['role']}\t{case.operation.label}\t{positive}\t{response.status_code}\n")
