"""Which exchanges belong together: the requests of one client, in order.

Two exchanges are of one client if an answer gave out a value to one request only, and the other request has it: a
session's cookie, a token, the id of an order. A cookie or credential that was given out before the recording began
counts too. What every client is given (a cookie with a language) tells nothing. A pause of half an hour ends a flow.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutset.model.exchange import Exchange
from cutset.workload.values.fields import fields, request_of, response_of
from cutset.workload.values.identifiers import COUNTED_SHAPES, MASKED, RANDOM_SHAPES, mask_segments, shape_of
from cutset.workload.values.times import is_near, time_in

PAUSE_SECONDS = 1800.0  # as in web statistics, where a visit ends after it
_SESSION_COOKIE = re.compile(r"sess|sid\b|auth|token|user|uid|login|jwt", re.IGNORECASE)
_LINKING_DIGITS = 4  # an answer has smaller numbers for many reasons
# Not the client's: what proxies and tracers add is another for each request, or the same for all.
_FOREIGN = re.compile(
    r"header/(traceparent|tracestate|baggage|b3|x-b3-.*|x-forwarded-.*|x-envoy-.*|host|user-agent|via)"
)


@dataclass(frozen=True, slots=True)
class ReadExchange:
    """An exchange and its fields."""

    exchange: Exchange
    name: str  # the request class
    request: Mapping[str, str]  # value by place
    response: Mapping[str, str]


def request_class(exchange: Exchange) -> str:
    """`GET /orders/*`"""
    return f"{exchange.method} {mask_segments(exchange.path)}"


def read(exchange: Exchange) -> ReadExchange:
    request = {place: value for place, value in fields(request_of(exchange)).items() if not _FOREIGN.match(place)}
    return ReadExchange(exchange, request_class(exchange), request, fields(response_of(exchange)))


def flows_of(readings: Sequence[ReadExchange]) -> list[list[ReadExchange]]:
    """Each in order of start; the flows too."""
    ordered = sorted(readings, key=lambda each: each.exchange.started_at)
    by_client: dict[int, list[ReadExchange]] = defaultdict(list)
    for client, reading in zip(_clients(ordered), ordered, strict=True):
        by_client[client].append(reading)
    flows = [flow for members in by_client.values() for flow in _split_at_pauses(members)]
    return sorted(flows, key=lambda flow: flow[0].exchange.started_at)


def _clients(ordered: Sequence[ReadExchange]) -> list[int]:
    """For each exchange the index of one that stands for its client."""
    leader = list(range(len(ordered)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    def join(indices: Sequence[int]) -> None:
        for index in indices[1:]:
            leader[find(index)] = find(indices[0])

    for members in _traces(ordered):
        join(members)
    holders, givers, credentials = _holders_and_givers(ordered)
    # Twice: what a client is given again, as in the list of its orders, shows as one client's when that is known.
    for _ in range(2):
        for value, indices in holders.items():
            clients = {find(index) for index in givers[value]}
            if len(clients) == 1 and _tells_apart(value, ordered[givers[value][0]]):
                join([*givers[value], *indices])
            elif not clients and value in credentials:
                join(indices)
    return [find(index) for index in range(len(ordered))]


def _traces(ordered: Sequence[ReadExchange]) -> Iterable[list[int]]:
    by_trace: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, reading in enumerate(ordered):
        if reading.exchange.trace_id:
            by_trace[reading.exchange.service, reading.exchange.trace_id].append(index)
    return by_trace.values()


def _holders_and_givers(ordered: Sequence[ReadExchange]) -> tuple[dict[str, list[int]], dict[str, list[int]], set[str]]:
    """By value the requests that have it and the answers that gave it to one that had not; and the credentials."""
    holders: dict[str, list[int]] = defaultdict(list)
    givers: dict[str, list[int]] = defaultdict(list)
    credentials: set[str] = set()
    for index, reading in enumerate(ordered):
        for place, value in reading.request.items():
            holders[value].append(index)
            if _is_credential(place, value):
                credentials.add(value)
        for value in set(reading.response.values()).difference(reading.request.values()):
            givers[value].append(index)
    return holders, givers, credentials


def _is_credential(place: str, value: str) -> bool:
    if place.startswith("cookie/"):
        return bool(_SESSION_COOKIE.search(place)) and len(value) >= 8
    return place.startswith("header/authorization") and value.startswith(MASKED)


def _tells_apart(value: str, giver: ReadExchange) -> bool:
    time = time_in(value)
    if time is not None and is_near(time, giver.exchange.started_at):
        return False
    shape = shape_of(value)
    if shape in COUNTED_SHAPES:
        return sum(map(str.isdigit, value)) >= _LINKING_DIGITS
    return shape in RANDOM_SHAPES or shape == "secret"


def _split_at_pauses(client: Sequence[ReadExchange]) -> list[list[ReadExchange]]:
    flows = [[client[0]]]
    for before, after in pairwise(client):
        if after.exchange.started_at - before.exchange.started_at - before.exchange.seconds > PAUSE_SECONDS:
            flows.append([])
        flows[-1].append(after)
    return flows
