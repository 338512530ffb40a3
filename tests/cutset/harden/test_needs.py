from dataclasses import replace

import pytest
from tests.samples.campaign import MIXED, choice

from cutset.harden.needs import needs, softened_by_errors
from cutset.model.effect import Effect
from cutset.model.event import RequestFinished
from cutset.model.fault import Fault
from cutset.model.summary import summarise


def in_words(effect: str, *, softened: bool = False) -> list[str]:
    return [" + ".join(sorted(need)) for need in needs(Effect.parse(effect), softened=softened)]


@pytest.mark.parametrize(
    ("effect", "ways", "ways_if_softened"),
    [
        ("abort(503)", ["fallback"], ["fallback"]),
        ("connection-refused", ["fallback"], ["fallback"]),
        ("abort(503),attempts=1", ["retry", "fallback"], ["retry", "fallback"]),
        ("timeout", ["fallback + timeout"], ["timeout"]),
        ("delay(2s)", ["fallback + timeout"], ["timeout"]),
        ("delay(2s),attempts=1", ["retry + timeout", "fallback + timeout"], ["timeout"]),
        ("garbled", ["fallback + validation"], ["validation"]),
    ],
)
def test_what_it_takes_depends_on_the_effect(effect: str, ways: list[str], ways_if_softened: list[str]) -> None:
    assert in_words(effect) == ways
    assert in_words(effect, softened=True) == ways_if_softened


def test_an_error_is_survived_in_the_place_of_a_fault_if_no_finding_is_inside_what_then_fails() -> None:
    (request,) = summarise(MIXED).requests
    empty, timeout, joint = request.findings
    pairs = softened_by_errors(summarise(MIXED))

    assert {(empty.id, *empty.cut), (timeout.id, *timeout.cut)} == pairs  # not the joint one: size 2 is not decided
    decided = [
        RequestFinished(request="POST /pay", complete_up_to=2, reason="") if isinstance(each, RequestFinished) else each
        for each in MIXED
    ]
    assert (joint.id, Fault.parse("ledger/Book:timeout")) in softened_by_errors(summarise(decided))


def test_where_no_error_was_tried_nobody_knows_that_it_is_survived() -> None:
    started = replace(summarise(MIXED).started, effects=choice("timeout", "empty"))

    assert softened_by_errors(summarise([started, *MIXED[1:]])) == frozenset()
