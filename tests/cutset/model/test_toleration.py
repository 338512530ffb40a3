from typing import Any

import pytest
from tests.samples.campaign import choice, cut

from cutset.model.outcome import CallSeen, Outcome, Verdict
from cutset.model.point import Point
from cutset.model.toleration import EffectToleration, PointToleration, Toleration, tolerations

FAILED = Verdict.FAILED
CHARGE = Point("payment", "Charge")
HEALTHY = Outcome(frozenset(), Verdict.SURVIVED, seen=(CallSeen(CHARGE, "checkout/PlaceOrder", "200", 12),))


def call(status: str, milliseconds: int, caller: str = "checkout/PlaceOrder") -> CallSeen:
    return CallSeen(CHARGE, caller, status, milliseconds)


def of(*outcomes: Outcome, effects: tuple[str, ...] = ("abort(503)", "timeout")) -> PointToleration:
    (found,) = tolerations([CHARGE], choice(*effects), outcomes, [HEALTHY])
    return found


def why(effect: str, verdict: Verdict, *met: CallSeen, **fields: Any) -> str:
    outcome = Outcome(cut(f"payment/Charge:{effect}"), verdict, met=met, **fields)
    return of(outcome, effects=(effect,)).effects[0].why


def test_each_effect_that_is_possible_there_is_told_by_the_experiment_with_it_alone() -> None:
    found = of(
        Outcome(cut("payment/Charge"), Verdict.FAILED),
        Outcome(cut("payment/Charge:timeout"), Verdict.UNKNOWN, "never fired"),
        Outcome(cut("payment/Charge:empty", "cart/GetCart"), Verdict.FAILED),  # says nothing of either alone
        effects=("abort(503)", "timeout", "empty", "connection-refused"),
    )

    assert [(str(each.effect), each.toleration, each.why) for each in found.effects] == [
        ("abort(503)", Toleration.FATAL, ""),
        ("timeout", Toleration.UNKNOWN, "never fired"),
        ("empty", Toleration.NOT_TRIED, ""),
    ]


def test_what_was_tried_again_counts_as_it_came_out_last_unless_nobody_could_tell() -> None:
    fixed = [Outcome(cut("payment/Charge"), verdict) for verdict in (Verdict.FAILED, Verdict.SURVIVED, Verdict.UNKNOWN)]

    assert of(*fixed).effects[0].toleration is Toleration.TOLERATED


def test_it_is_telling_only_where_it_depends_on_the_effect() -> None:
    aborted, slow = cut("payment/Charge"), cut("payment/Charge:timeout")

    assert of(Outcome(aborted, Verdict.SURVIVED), Outcome(slow, Verdict.FAILED)).is_telling
    assert of(Outcome(aborted, Verdict.DEGRADED), Outcome(slow, Verdict.FAILED)).is_telling
    assert not of(Outcome(aborted, Verdict.FAILED), Outcome(slow, Verdict.FAILED)).is_telling
    assert not of(Outcome(aborted, Verdict.SURVIVED)).is_telling  # what was not tried tells nothing


def test_a_point_at_which_nothing_is_possible_has_no_row() -> None:
    assert tolerations([CHARGE], choice("connection-refused"), [], []) == ()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            why("timeout", Verdict.FAILED, call("0", 5000), late=True),
            "no timeout at checkout/PlaceOrder: waited for 5.0 s",
        ),
        (
            why("delay(2s)", FAILED, call("200", 2010, ""), late=True),
            "no timeout at the caller: waited for 2.0 s",
        ),
        (why("timeout", Verdict.FAILED, late=True), "no timeout at the caller"),
        (
            why("timeout", Verdict.FAILED, call("0", 2000), call("0", 2000), late=True),
            "given up after 2.0 s and tried again, for longer than the request may take",
        ),
        (why("timeout", Verdict.FAILED, call("0", 1500)), "given up after 1.5 s, and that is not tolerated"),
        (why("timeout", Verdict.SURVIVED, call("0", 300)), "given up after 0.3 s"),
        (why("delay(2s)", Verdict.SURVIVED, call("200", 2004)), "waited for 2.0 s"),
        (why("timeout", Verdict.FAILED), ""),
        (why("abort(503)", Verdict.SURVIVED, call("503", 1), call("503", 1)), "tried again"),
        (why("abort(503)", Verdict.FAILED, call("503", 1)), ""),
        (why("abort(503)", Verdict.FAILED, call("503", 1), call("503", 1)), "tried again, in vain"),
        (why("abort(503),attempts=1", Verdict.FAILED, call("503", 1)), "not tried again"),
        (why("abort(503),attempts=1", Verdict.FAILED, call("503", 1), call("500", 1)), "tried again, in vain"),
        (why("abort(503),attempts=2", Verdict.FAILED, call("503", 1), call("503", 1)), "tried again too seldom"),
        (why("garbled", Verdict.FAILED, call("200", 9)), "it is taken for an answer"),
        (why("garbled", Verdict.SURVIVED, call("200", 9)), ""),
    ],
)
def test_why_is_told_as_far_as_the_experiment_shows_it(told: str, words: str) -> None:
    assert told == words


def test_effects_are_found_by_what_they_do() -> None:
    timeout = EffectToleration(choice("timeout").usual[0], Toleration.FATAL)
    empty = EffectToleration(choice("empty").usual[0], Toleration.DEGRADED)
    found = PointToleration(CHARGE, (timeout, empty))

    assert found.those(Toleration.FATAL) == (timeout,)
    assert found.those(Toleration.TOLERATED, Toleration.DEGRADED) == (empty,)
