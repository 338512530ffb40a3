"""Signs on made-up traces; that sidecars give them is seen in `tests/istio/test_harden.py`."""

import asyncio
from collections.abc import Iterator
from dataclasses import fields

import pytest

from cutset.errors import TargetError
from cutset.experiment.trial import Trial
from cutset.lineage.path import Lineage
from cutset.manifests.resources import Holding
from cutset.model.fault import Cut, Fault
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.request import Request, Response, Step
from cutset.model.span import Span
from cutset.verify import taken
from cutset.verify.observe import ObservingLaboratory
from cutset.verify.taken import Sign, await_taken, signs_of

REQUEST = Request("GET /", Step("GET", "/"))
SITE, GRPC = Point("backend", "GET /a"), Point("cart", "GetCart")
VS = "VirtualService shop/x"
RETRIES = Holding(SITE, "retries", {"attempts": 1}, VS, new=True)
TIMEOUT = Holding(SITE, "timeout", "1.5s", VS, new=True)


def cut(*faults: str) -> Cut:
    return frozenset(map(Fault.parse, faults))


def finding(*faults: str) -> Finding:
    return Finding("GET /", Outcome(cut(*faults), Verdict.FAILED, "503"))


def trial(attempts: int = 1, seconds: float = 0.1) -> Trial:
    spans = tuple(
        Span(
            trace_id="t",
            span_id=f"s{number}",
            parent_id="p",
            name="",
            service="backend",
            kind="server",
            start_ns=number,
            end_ns=number + round(seconds * 1e9),
            attributes={"cutset.service": "backend", "cutset.api": "GET /a", "cutset.attempt": str(number)},
        )
        for number in range(1, attempts + 1)
    )
    lineage = Lineage(**{each.name: frozenset() for each in fields(Lineage)})
    return Trial("t", "r", Response(503, seconds=0.1), lineage, spans, traced=True, missing="", abandoned=False)


def test_retries_are_seen_by_a_second_attempt_at_a_call_that_fails_at_every_replica() -> None:
    (sign,) = signs_of([TIMEOUT, RETRIES], [finding("backend/GET /a#pod-1")], [REQUEST])
    assert sign == Sign(REQUEST, cut("backend/GET /a"), SITE, "retries")
    assert sign.is_seen(trial(attempts=2))
    assert not sign.is_seen(trial(attempts=1))
    assert not sign.is_seen(trial(attempts=0))


def test_a_timeout_is_seen_by_a_call_that_ends_before_it_is_answered() -> None:
    (sign,) = signs_of([TIMEOUT], [finding("x/X", "backend/GET /a")], [REQUEST])
    assert sign.cut == cut("x/X", "backend/GET /a:delay(2500ms)")
    assert sign.is_seen(trial(seconds=1.6))
    assert not sign.is_seen(trial(seconds=2.6))
    assert not sign.is_seen(trial(attempts=0))


def test_the_smallest_cut_shows_it_and_what_was_there_shows_nothing() -> None:
    (sign,) = signs_of([RETRIES], [finding("x/X", "backend/GET /a"), finding("backend/GET /a")], [REQUEST])
    assert len(sign.cut) == 1
    there = Holding(SITE, "retries", {"attempts": 1}, VS, new=False)
    whole_service = Holding(None, "retryBudget", {}, VS, new=True)
    of_grpc = Holding(GRPC, "retries", {"attempts": 1}, VS, new=True)  # Istio makes some of its own
    found = [finding("backend/GET /a"), finding("cart/GetCart")]
    assert signs_of([there, whole_service, of_grpc], found, [REQUEST]) == []


class Mesh(ObservingLaboratory):
    def __init__(self, attempts: Iterator[int]) -> None:
        self.attempts = attempts

    async def observe(self, request: Request, cut: Cut) -> Trial:
        assert (request, cut) == (SIGN.request, SIGN.cut)
        return trial(next(self.attempts))


SIGN = Sign(REQUEST, cut("backend/GET /a"), SITE, "retries")


def test_it_is_waited_until_the_sign_is_seen_some_times_in_a_row() -> None:
    attempts = iter([1, 2, 1, 2, 2, 2, 1])
    asyncio.run(await_taken(Mesh(attempts), [SIGN]))
    assert list(attempts) == [1]


def test_who_never_follows_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(TargetError, match="Callers of backend/GET /a do not follow its new retries"):
        asyncio.run(await_taken(Mesh(iter([2, 2, 1])), [SIGN]))


def test_where_there_is_nothing_to_see_the_longest_delay_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(await_taken(Mesh(iter([])), []))
    assert waited == [taken.UNSEEN_SECONDS]
